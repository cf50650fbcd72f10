#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# history.sh - every version that a save replaces is kept, and can be restored.
. "$(dirname "$0")/lib.sh"
mkdir "$SRC/obj"
cp tests/data/canm/wiki512.canm "$WORK/one"
FILE=$SRC/obj/w.canm
undo() { "$ANIMFS" undo "$@"; }
redo() { "$ANIMFS" redo "$@"; }
log() { "$ANIMFS" log "$@"; }
numbers() { log "$@" | sed 's/^\*\? *\([0-9]*\) .*/\1/' | paste -sd ' '; }
# What another program replaced is shown a moment later.
shows() { after 250 grep -q -- "$2" "$MNT/obj/w.canm/$1"; }

# ---- each kind of save, through a mount, and back ----
cp "$WORK/one" "$FILE"
chmod 640 "$FILE"
touch -d '2001-02-03 04:05' "$FILE"
M=$MNT/obj/w.canm
bone=walk/bones/Bone01.csv
mount_stopped
like "nothing is known yet" "$(undo "$M" 2>&1)" 'no versions are known of it'
sed 's/,1.5,-2,0.25,/,2.5,-2,0.25,/' "$M/$bone" >"$WORK/text"
cat "$WORK/text" >"$M/$bone"
like "the log says what changed" "$(log "$M")" 'walk: Bone01 translation'
cp "$FILE" "$WORK/two"
sed -i 's/"loop": true/"loop": false/' "$M/walk/clip.json"
like "a clip's value" "$(log "$M" | head -n 1)" 'walk: clip.json loop'
cp "$FILE" "$WORK/three"
is "versions" "$(numbers "$M")" "3 2 1"
is "by the path in SOURCE, too" "$(log "$FILE" | sort)" "$(log "$M" | sort)"
ok "undo" undo "$M"
ok "undo: the file" cmp "$FILE" "$WORK/two"
ok "undo: the mount" shows walk/clip.json '"loop": true'
ok "undo again" undo "$M"
ok "undo again: the file" cmp "$FILE" "$WORK/one"
ok "undo again: the mount" shows $bone ,1.5,-2,0.25,
is "its mode stays" "$(stat -c %a "$FILE")" 640
like "there is no more" "$(undo "$M" 2>&1)" 'nothing to undo'
is "status 1" "$(undo "$M" 2>/dev/null; echo $?)" 1
ok "redo" redo "$M"
ok "redo: the file" cmp "$FILE" "$WORK/two"
ok "redo by the path in SOURCE" redo "$FILE"
ok "redo: all of it" cmp "$FILE" "$WORK/three"
like "nothing is left" "$(redo "$M" 2>&1)" 'nothing to redo'
ok "the mount shows it" shows walk/clip.json '"loop": false'

# ---- one view ----
ok "undo of one bone" undo "$M/$bone"
ok "that bone" shows $bone ,1.5,-2,0.25,
ok "and that alone" grep -q '"loop": false' "$M/walk/clip.json"
ok "redo of it" redo "$M/$bone"
ok "is back" cmp "$FILE" "$WORK/three"
is "versions of a view that did not change" "$(log "$M/Idle/clip.json" | wc -l)" 1
is "cat of a version" "$("$ANIMFS" cat --version=1 "$M/$bone")" "$("$ANIMFS" cat "$FILE/$bone" | sed s/,2.5,-2,/,1.5,-2,/)"
ok "the whole file" cmp <("$ANIMFS" cat --version=1 "$FILE/raw.canm") "$WORK/one"
like "a version that is not there" "$("$ANIMFS" cat --version=99 "$M/$bone" 2>&1)" 'no version 99'
like "diff with a version" "$("$ANIMFS" diff --version=1 "$M")" '\+  loop false'
like "of two versions" "$("$ANIMFS" diff --version=1:2 "$M/$bone")" '\+  translation all 2.5 -2 0.25'
is "of the same" "$("$ANIMFS" diff --version=3 "$FILE"; echo $?)" 0
before=$(numbers "$M")
like "--dry-run shows it" "$(undo --dry-run "$M")" 'Bone01'
is "and does nothing" "$(numbers "$M")" "$before"
is "--list is the log" "$(undo --list "$M" | wc -l)" "$(log "$M" | wc -l)"
ok "--number" undo --number=1 "$M"
ok "--number: the file" cmp "$FILE" "$WORK/one"
ok "undo takes it back" undo "$M"
ok "as it was" cmp "$FILE" "$WORK/three"

# ---- removals ----
shows walk/clip.json '"loop": false'
rm -r "$M/Idle"
sync "$M"
like "a removed clip" "$(log "$M" | head -n 1)" 'clip Idle removed'
like "undo of it says where it went" "$(undo "$M/Idle" 2>&1)" 'version [0-9]+ removed it: undo of the whole file'
like "so does that of a view in it" "$(undo "$M/Idle/clip.json" 2>&1)" 'removed it: undo of the whole file'
like "but not of what never was" "$(undo "$M/Idel" 2>&1)" 'there is no "Idel"'
ok "comes back" undo "$M"
ok "to the byte" cmp "$FILE" "$WORK/three"
ok "in the mount" after 250 test -d "$M/Idle"
rm -r "$M"
fails "a removed file is gone" test -e "$FILE"
ok "undo of a removed file by its path in the mount" undo "$M"
ok "as it was" cmp "$FILE" "$WORK/three"
is "with its mode" "$(stat -c %a "$FILE")" 640
ok "in the mount" after 250 test -d "$M/walk"
ok "redo removes it" redo "$M"
fails "it is gone" test -e "$FILE"
ok "and back" undo "$FILE"

# ---- a whole file, a renamed one ----
after 250 test -d "$M/walk"
cat "$WORK/one" >"$M/raw.canm"
ok "raw.canm" cmp "$FILE" "$WORK/one"
mv "$M" "$MNT/obj/v.canm"
ok "a renamed file has its versions" undo "$MNT/obj/v.canm"
ok "the one before" cmp "$SRC/obj/v.canm" "$WORK/three"
mv "$MNT/obj" "$MNT/other"
ok "and in a renamed folder" redo "$SRC/other/v.canm"
ok "again" cmp "$SRC/other/v.canm" "$WORK/one"

# ---- a name that another file gets ----
V=$MNT/other/v.canm
cp "$WORK/three" "$SRC/other/w.canm"
ok "another file" after 250 test -d "$MNT/other/w.canm/walk"
cat "$WORK/one" >"$MNT/other/w.canm/raw.canm"
rm -r "$V"
mv "$MNT/other/w.canm" "$V"
like "log names the file that was removed" "$(log "$V" | tail -n 1)" '^earlier files of this name: v~1~.canm$'
is "--json does not" "$(log --json "$V" | grep -c earlier)" 0
ok "undo brings that back" undo "$MNT/other/v~1~.canm"
ok "as it was" cmp "$SRC/other/v~1~.canm" "$WORK/one"
ok "and goes back in the other" undo "$V"
ok "to what that was" cmp "$SRC/other/v.canm" "$WORK/three"
ok "redo" redo "$V"
rm -r "$V"
mv "$MNT/other/v~1~.canm" "$V"
like "also where that one takes its name again" "$(log "$V" | tail -n 1)" '^earlier files of this name: v~2~.canm$'
if [ "$(id -u)" -eq 0 ]; then
	umount_animfs
	chown 1234 "$SRC/other/v.canm"
	is "but not to another owner" "$(log "$V" 2>&1 | grep -c earlier)" 0
	chown 0 "$SRC/other/v.canm"
	mount_animfs
fi

mv "$SRC/other" "$SRC/obj" # by somebody else
like "others' renames are not followed" "$(log "$SRC/obj/v.canm" 2>&1)" 'no versions'
umount_animfs
is "nothing in it is called like an animation" "$(find "$SRC" -name '*.canm*' | wc -l)" 1
is "it is nobody else's" "$(stat -c %a "$SRC/.animfs/history")" 700
is "and not for git" "$(cat "$SRC/.animfs/history/.gitignore")" '*'
fails "no temporaries are left" compgen -G "$SRC/obj/.animfs-*"

# ---- other programs' changes ----
rm -rf "${SRC:?}"/* "$SRC/.animfs"
mkdir -p "$SRC/obj" "$SRC/.animfs"
cp "$WORK/one" "$FILE"
put() { "$ANIMFS" cat "$FILE/$1" | sed "$2" | "$ANIMFS" put "$FILE/$1"; }
put $bone 's/,1.5,-2,/,2.5,-2,/'
cp "$WORK/three" "$FILE"
like "a file that others changed is left alone" "$(undo "$FILE" 2>&1)" 'another program changed it'
is "each time" "$(undo "$FILE" 2>/dev/null; echo $?)" 1
is "a view of it, too" "$(undo "$FILE/$bone" 2>/dev/null; echo $?)" 1
ok "by its number it goes" undo --number=1 "$FILE"
ok "that version" cmp "$FILE" "$WORK/one"
ok "undo" undo "$FILE"
ok "what the others left was kept" cmp "$FILE" "$WORK/three"

# ---- taking back one of several ----
"$ANIMFS" forget "$FILE"
is "forget" "$(log "$FILE" 2>/dev/null; echo $?)" 1
cp "$WORK/one" "$FILE"
put $bone 's/,1.5,-2,/,2.5,-2,/'
put walk/clip.json 's/"loop": true/"loop": false/'
ok "--merge of the first" undo --merge --number=2 "$FILE"
like "that bone is back" "$("$ANIMFS" cat "$FILE/$bone")" ,1.5,-2,
like "what came after is there" "$("$ANIMFS" cat "$FILE/walk/clip.json")" '"loop": false'
like "the log" "$(log "$FILE" | head -n 1)" 'undo of 2: walk: Bone01 translation'

# ---- a batch ----
"$ANIMFS" forget "$FILE"
cp "$WORK/one" "$FILE"
cp "$WORK/one" "$SRC/obj/second.canm"
cp "$WORK/one" "$SRC/obj/new.canm"
"$ANIMFS" export "$SRC" "$WORK/out" 2>/dev/null
rm "$SRC/obj/new.canm"
for file in w second; do
	sed -i 's/,1.5,-2,/,2.5,-2,/' "$WORK/out/obj/$file.canm/$bone"
done
"$ANIMFS" import "$WORK/out" "$SRC" >"$WORK/said" 2>&1
is "an import" "$(sed -n 's/^.* files, \([0-9]*\) changed.*/\1/p' "$WORK/said")" 3
id=$(log "$FILE" | sed -n '1s/.* batch \([0-9a-f]*\).*/\1/p')
is "is one batch" "$(log "$SRC/obj/second.canm" | sed -n '1s/.* batch \([0-9a-f]*\).*/\1/p')" "$id"
like "says so" "$(cat "$WORK/said")" "undo --batch=$id"
fails "an unknown batch" undo --batch=1234 "$SRC"
cp "$FILE" "$WORK/imported"
mount_animfs
ok "undo --batch, in the mount" undo --batch="$id" "$MNT"
ok "the first" cmp "$FILE" "$WORK/one"
ok "the second" cmp "$SRC/obj/second.canm" "$WORK/one"
fails "the new one" test -e "$SRC/obj/new.canm"
ok "redo of one of them" redo "$MNT/obj/w.canm"
ok "as it was imported" cmp "$FILE" "$WORK/imported"
umount_animfs

# ---- a skeleton ----
printf 'bone,parent\nhip,\nBone01,hip\n' >"$FILE.skeleton.csv"
put skeleton.csv 's/Bone01,hip/Bone01,/'
like "a skeleton" "$(log "$FILE/skeleton.csv")" 'skeleton: Bone01'
ok "undo" undo "$FILE/skeleton.csv"
like "is back" "$(cat "$FILE.skeleton.csv")" 'Bone01,hip'

# ---- options ----
rm -rf "${SRC:?}"/* "$SRC/.animfs"
mkdir "$SRC/obj"
cp "$WORK/one" "$FILE"
mount_animfs --history=0
sed -i 's/,1.5,-2,0.25,/,2.5,-2,0.25,/' "$M/$bone"
like "--history=0 keeps nothing" "$(log "$M" 2>&1)" 'no versions are known'
umount_animfs
mount_stopped --state="$WORK/state" -o history=1M
sed -i 's/,2.5,-2,0.25,/,3.5,-2,0.25,/' "$M/$bone"
ok "with a state directory elsewhere" undo "$M"
ok "the mount says which" shows $bone ,2.5,-2,
umount_animfs
fails "an unknown size" "$ANIMFS" put --history=much "$FILE/$bone"

# ---- beside the file ----
mount_animfs --beside
sed -i 's/,2.5,-2,0.25,/,3.5,-2,0.25,/' "$M.d/$bone"
ok "undo of a view beside the file" undo "$M.d/$bone"
ok "the mount shows it" wait_for 3 grep -q ,2.5,-2, "$M.d/$bone"
is "the folder stands for the file" "$(log "$M.d")" "$(log "$M")"
umount_animfs

# ---- mounted over SOURCE ----
if [ "$(id -u)" -eq 0 ]; then
	MNT=$SRC mount_animfs -o nonempty
	sed -i 's/,2.5,-2,0.25,/,3.5,-2,0.25,/' "$SRC/obj/w.canm/$bone"
	ok "undo where the mount hides SOURCE" undo "$SRC/obj/w.canm"
	ok "the mount shows it" wait_for 3 grep -q ,2.5,-2, "$SRC/obj/w.canm/$bone"
	MNT=$SRC umount_animfs
else
	skip "only root can look below a mount"
fi

# ---- other users ----
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
	chmod 755 "$WORK" "$SRC" "$SRC/obj"
	cp "$ANIMFS" "$WORK/animfs"
	"$ANIMFS" bone remove "$FILE/walk" hip
	for command in log undo "cat --version=1" forget; do
		# shellcheck disable=SC2086
		like "$command by somebody else" "$(setpriv --reuid 65534 --regid 65534 --clear-groups \
			--inh-caps=-all "$WORK/animfs" $command "$FILE" 2>&1)" 'belong to the user who mounts it'
	done
else
	skip "only root can be somebody else"
fi

# ---- as it comes ----
mount_animfs
"$ANIMFS" log --follow "$M" >"$WORK/follow" &
follower=$!
sleep 0.5
sed -i 's/,2.5,-2,0.25,/,4.5,-2,0.25,/' "$M/$bone"
ok "log --follow" wait_for 5 grep -q 'Bone01 translation' "$WORK/follow"
kill "$follower"
"$ANIMFS" errors -f "$MNT" >"$WORK/errors" &
follower=$!
save_errno close "$M/$bone" nonsense >/dev/null
ok "errors -f" wait_for 5 grep -q Bone01 "$WORK/errors"
kill "$follower"
like "errors" "$("$ANIMFS" errors "$MNT")" Bone01
umount_animfs
is "errors of no mount" "$("$ANIMFS" errors "$MNT" 2>/dev/null; echo $?)" 1

for command in log undo redo forget errors; do
	"$ANIMFS" $command >/dev/null 2>&1
	is "$command without an operand" $? 2
done
