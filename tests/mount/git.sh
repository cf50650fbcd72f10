#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# git.sh - git of the game folder and git in a mount: the commands of docs/GUIDE.md and animfs-save(7), and
# merges with the driver that animfs git-setup sets.
. "$(dirname "$0")/lib.sh"
command -v git >/dev/null || skip_all "git is not installed"
PATH=$(dirname "$ANIMFS"):$PATH
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b
export GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b GIT_PAGER=cat GIT_EDITOR=true
root=$PWD
make_game --files 1 --clips 3 --bones 24 --frames 12 --plain 0 --version 512
mv "$SRC"/object/*/* "$SRC"
rm -r "$SRC/object"
cp -r "$SRC" "$WORK/fresh"
file=ranger.canm
ok "there is a file" test -f "$SRC/$file"

# cell CLIP BONE LINE: the first cell behind the time; set_cell CLIP BONE LINE NUMBER
cell() { animfs cat "${4:-$file}/$1/bones/$2.csv" | sed -n "$3p" | cut -d, -f6; }
set_cell()
{
	animfs cat "$file/$1/bones/$2.csv" | awk -F, -v OFS=, -v n="$3" -v v="$4" 'NR == n { $6 = v } 1' |
		animfs put "$file/$1/bones/$2.csv"
}
clean() { [ -z "$(git status --porcelain)" ]; }
# Two branches from main: `ours`, which is checked out, and `theirs`, each with one commit.
fork()
{
	git switch -qf main && git branch -qD ours theirs 2>/dev/null
	git switch -qc theirs && "$2" && git commit -qam theirs &&
		git switch -qc ours main && "$1" && git commit -qam ours
}

# ---- setting it up ----
cd "$SRC" || exit 1
fails "git-setup where there is no repository" animfs git-setup
git init -qb main .
printf '*.png binary' >.gitattributes
said=$(animfs git-setup)
like "git-setup says what it sets" "$said" "git config merge.animation.driver 'animfs git-merge %O %A %B %P'"
is "a line of somebody else stays" "$(head -n 1 .gitattributes)" "*.png binary"
is "in any case of letters" "$(git check-attr merge -- a.CAS b.cas x/c.canm d.Anm e.006 g.kanim | sed 's/.*: //' | xargs)" \
	"animation animation animation animation animation unspecified"
before=$(cat .gitattributes .git/config .git/info/exclude)
animfs git-setup >/dev/null
is "git-setup once more changes nothing" "$(cat .gitattributes .git/config .git/info/exclude)" "$before"
mkdir sub
animfs git-setup sub >/dev/null
ok "git-setup in a folder of it is about all of it" test ! -e sub/.gitattributes
rmdir sub
git add -A && git commit -qm first
is "the state directory is not in it" "$(git ls-files | grep -c animfs)" 0

# ---- merges ----
hips() { set_cell walk hips 2 10.5; }
leg() { set_cell walk leg_L 3 20.5; }
fork hips leg
ok "two curves: git merges" git merge -q -m merged theirs
git show HEAD^1:$file >../ours.canm
git show HEAD^2:$file >../theirs.canm
is "both edits are there" "$(cell walk hips 2) $(cell walk leg_L 3)" \
	"$(cell walk hips 2 ../ours.canm) $(cell walk leg_L 3 ../theirs.canm)"
like "they are what was saved" "$(cell walk hips 2) $(cell walk leg_L 3)" '^10\.(4|5)[0-9]* 20\.(4|5)[0-9]*$'
ok "the result is a file as the game has it" animfs check "$file"
is "nothing else differs from ours" "$(animfs diff ../ours.canm $file | grep '^bone')" "bone walk/leg_L"
is "nor from theirs" "$(animfs diff ../theirs.canm $file | grep '^bone')" "bone walk/hips"
ok "and the tree is clean" clean

far() { set_cell walk hips 7 11.5; }
same() { hips && leg; }
fork hips same
ok "the same edit on both sides is none of a conflict" git merge -q -m merged theirs

new_clip() { animfs clip copy $file/walk $file/stride; }
gone() { animfs bone remove $file/run leg_L; }
fork hips new_clip
ok "theirs has one more clip" git merge -q -m merged theirs
like "it is there, and so is the edit" "$(animfs ls $file) $(cell walk hips 2)" 'stride.* 10\.'
fork new_clip hips
ok "ours has one more clip" git merge -q -m merged theirs
like "it is there, and so is the other edit" "$(animfs ls $file) $(cell walk hips 2)" 'stride.* 10\.'
fork hips gone
ok "theirs has a bone less in another clip" git merge -q -m merged theirs
like "it is gone, and the edit is there" "$(animfs ls $file/run/bones | grep -c leg_L) $(cell walk hips 2)" '^0 10\.'
ok "that file is good, too" animfs check "$file"

fork hips leg
git rebase -q theirs >/dev/null 2>&1
is "rebase" "$(git log --format=%s | xargs) $(cell walk leg_L 3 | cut -c1-3)" "ours theirs first 20."
fork hips leg
git cherry-pick theirs >/dev/null 2>&1
like "cherry-pick" "$(cell walk hips 2) $(cell walk leg_L 3)" '^10\.[0-9]* 20\.[0-9]*$'

# ---- conflicts ----
ours() { hips && set_cell run leg_L 4 30.5; }
theirs() { far && leg && set_cell run leg_L 4 31.5 && set_cell run leg_L 5 31.5 && set_cell run leg_L 6 31.5; }
fork ours theirs
git merge -q theirs >"$WORK/merge" 2>&1
is "the same curve: a conflict" "$?" 1
is "the file is as ours is" "$(git show ours:$file | cksum)" "$(cksum <$file)"
is "what both changed" "$(cat $file.conflicts.csv)" "clip,bone,role,frames_ours,frames_theirs
walk,hips,rotation,0,5
run,leg_L,rotation,2,2-4"
like "and where that is said" "$(cat "$WORK/merge")" "ours stays, $file\\.conflicts\\.csv lists it"
is "git knows of the conflict, and not of the table" "$(git status --porcelain)" "UU $file"
git merge --abort
rm $file.conflicts.csv

loop() { animfs cat $file/walk/clip.json | sed 's/"duration": [0-9.]*/"duration": 20/' | animfs put $file/walk/clip.json; }
other_loop() { animfs cat $file/walk/clip.json | sed 's/"duration": [0-9.]*/"duration": 30/' | animfs put $file/walk/clip.json; }
fork loop other_loop
git merge -q theirs >/dev/null 2>&1
is "a value of a clip" "$? $(grep -c '^walk,,frame time,,$' $file.conflicts.csv)" "1 1"
git merge --abort
two_clips() { animfs clip copy $file/walk $file/amble; }
fork new_clip two_clips
git merge -q theirs >/dev/null 2>&1
is "both added clips" "$? $(sed -n 2p $file.conflicts.csv)" "1 ,,list of clips,,"
git merge --abort
removed() { animfs bone remove $file/walk hips; }
fork removed hips
git merge -q theirs >/dev/null 2>&1
is "one removed what the other edited" "$? $(sed -n 2p $file.conflicts.csv)" "1 walk,hips,removed by ours,,"
git merge --abort
damage() { printf damaged >$file; }
fork hips damage
git merge -q theirs >"$WORK/merge" 2>&1
is "theirs does not decode: a conflict" "$? $(git show ours:$file | cksum)" "1 $(cksum <$file)"
like "and why" "$(cat "$WORK/merge")" "animfs: $file:"
git merge --abort
git switch -qf main

mkdir "a folder"
git mv $file "a folder/it's one.canm"
git commit -qm moved
file="a folder/it's one.canm"
fork hips leg
ok "names that a shell would read" git merge -q -m merged theirs
like "are merged" "$(cell walk hips 2) $(cell walk leg_L 3)" '^10\.[0-9]* 20\.[0-9]*$'
fork hips far
git merge -q theirs >/dev/null 2>&1
is "and their tables are beside them" "$(sed -n 2p "$file.conflicts.csv")" "walk,hips,rotation,0,5"

# ---- the commands in the manuals ----
# In docs/GUIDE.md: the code below one of the repositories in bold; in animfs-save(7): literal displays.
guide()
{
	awk -v name="A repository $1" '/^### / { inside = $0 == "### git" }
		inside && /\*\*A repository/ { found = index($0, "**" name "**") > 0 }
		/^```$/ { code = 0 }
		inside && found && code
		/^```sh$/ { code = 1 }' "$root/docs/GUIDE.md"
}
manual() { sed -n "/^\.Sh GIT $1/,/^\.Sh SEVERAL\|^\.Sh GIT I/{/^\.Bd/,/^\.Ed/{/^\.\|^clip,\|^walk,/d;s/\\\\e/\\\\/g;p}}" "$root/man/animfs-save.7"; }

# play NAME: runs standard input, line by line, where game and anim are
play()
{
	local line
	rm -rf "$WORK/play"
	mkdir -p "$WORK/play/anim"
	cp -r "$WORK/fresh" "$WORK/play/game"
	cd "$WORK/play" || exit 1
	while IFS= read -r line <&3; do
		eval "$line" >"$WORK/said" 2>&1 || not_ok "$1: $line" "$(cat "$WORK/said")"
		[[ $line != "git diff" ]] || diff=$(cat "$WORK/said")
	done 3<&0
}
file=ranger.canm diff=
play "GUIDE, the game folder" < <(guide "of the game's folder")
is "GUIDE: the game folder is a repository of binaries" "$(git ls-files)" "$(printf '%s\n' .gitattributes $file)"
is "with the merge driver" "$(git check-attr merge $file) $(git config merge.animation.driver)" \
	"$file: merge: animation animfs git-merge %O %A %B %P"
play "manual, the game folder" < <(manual OF)
like "animfs-save(7): git diff says what changed" "$diff" $'\n\\+  scale all 2 2 2'
is "the merge brought it" "$(git log --format=%s | head -n 1) $(animfs cat $file/walk/bones/hips.csv | sed -n 2p | cut -d, -f9-)" \
	"wide hips 2,2,2"
cd "$root" || exit 1
reason=$(can_mount) || { skip "$reason"; exit; }

play "GUIDE, in a mount" < <(guide "in a mount")
is "GUIDE: a repository of texts" "$(git ls-files | grep -c "^$file/walk/bones/hips.csv\$")" 1
ok "its tree is clean" clean
cd "$root" && animfs umount "$WORK/play/anim"
play "manual, in a mount" < <(manual IN)
is "animfs-save(7): the merge is in the binary" \
	"$(animfs cat ../game/$file/walk/bones/hips.csv | sed -n 2p | cut -d, -f9-)" 2,2,2
ok "and the tree is clean" clean
cd "$root" && animfs umount "$WORK/play/anim"
