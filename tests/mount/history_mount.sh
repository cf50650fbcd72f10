#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# history_mount.sh - log, undo, redo, cat --version and diff with paths in a mount and in SOURCE, of files
# and of single views: the changes that they take back, those that they keep, and the users that they
# refuse.
. "$(dirname "$0")/lib.sh"
FILE=$SRC/w.canm
M=$MNT/w.canm
A=walk/bones/Bone01.csv
B=walk/bones/hip.csv
undo() { "$ANIMFS" undo "$@"; }
redo() { "$ANIMFS" redo "$@"; }
# set_a X, set_b X: the first number of a bone's translation
set_a() { sed -i "2s/^\([^,]*,[^,]*\),[^,]*/\1,$1/" "$M/$A"; }
set_b() { sed -i "2s/^\([^,]*,[^,]*\),[^,]*/\1,$1/" "$M/$B"; }
# Rounded, since the format stores steps.
x_in() { awk -F, 'NR == 2 { printf "%.3f\n", $3 }'; }
x_of() { "$ANIMFS" cat "$FILE/$1" | x_in; }
# says NAME "A B": what both are, in the binary and in the mount
now() { echo "$(x_of $A) $(x_of $B)"; }
shown() { echo "$(x_in <"$M/$A") $(x_in <"$M/$B")"; }
shows() { [ "$(shown)" = "$1" ]; }
says()
{
	is "$1: the binary" "$(now)" "$2"
	ok "$1: the mount" wait_for 3 shows "$2"
}

# ---- one bone, and the other stays ----
cp tests/data/canm/wiki512.canm "$FILE"
mount_animfs
set_a 2.5
set_b 0.25
set_a 3.5
set_b 0.125
cp "$FILE" "$WORK/last"
says "four edits" "3.500 0.125"
ok "undo of a bone by its path in the mount" undo "$M/$A"
says "one back" "2.500 0.125"
ok "and by that in SOURCE" undo "$FILE/$A"
says "two back" "1.500 0.125"
like "there is no more of it" "$(undo "$M/$A" 2>&1)" 'nothing to undo'
ok "the other bone" undo "$FILE/$B"
says "one back of the other" "1.500 0.250"
ok "again" undo "$M/$B"
says "as it was found" "1.500 0.000"
ok "redo of the first" redo "$FILE/$A"
says "its own" "2.500 0.000"
ok "all of it" redo "$M/$A"
ok "redo of the other" redo "$M/$B"
ok "all of it" redo "$FILE/$B"
says "all is redone" "3.500 0.125"
ok "and the file is what it was" cmp "$FILE" "$WORK/last"
sed -i 's/"loop": true/"loop": false/' "$M/walk/clip.json"
set_a 4.5
ok "undo of clip.json" undo "$M/walk/clip.json"
like "is its own" "$("$ANIMFS" cat "$FILE/walk/clip.json")" '"loop": true'
says "and no curve's" "4.500 0.125"

# ---- the same words for both paths ----
for view in '' /$A /walk/clip.json /walk/curves.csv; do
	is "log of ${view:-the file}" "$("$ANIMFS" log "$M$view")" "$("$ANIMFS" log "$FILE$view")"
done
ok "log of a bone is shorter than that of the file" test \
	"$("$ANIMFS" log "$M/$B" | wc -l)" -lt "$("$ANIMFS" log "$M" | wc -l)"
for n in 1 2 3; do
	is "cat --version=$n" "$("$ANIMFS" cat --version=$n "$M/$A")" "$("$ANIMFS" cat --version=$n "$FILE/$A")"
	is "diff --version=$n" "$("$ANIMFS" diff --version=$n "$M/$A" | tail -n +3)" \
		"$("$ANIMFS" diff --version=$n "$FILE/$A" | tail -n +3)"
done
is "cat --version: the first" "$("$ANIMFS" cat --version=1 "$M/$A")" "$("$ANIMFS" cat tests/data/canm/wiki512.canm/$A)"
ok "cat --version of raw.canm" cmp <("$ANIMFS" cat --version=1 "$M/raw.canm") tests/data/canm/wiki512.canm
like "diff of two versions" "$("$ANIMFS" diff --version=1:2 "$M/$A")" '\+  translation all 2.5 '
is "of the whole file, in the mount" "$("$ANIMFS" diff --version=1:3 "$M" | tail -n +3)" \
	"$("$ANIMFS" diff --version=1:3 "$FILE" | tail -n +3)"
ok "diff with the present" test -n "$("$ANIMFS" diff --version=1 "$M/$A")"

# ---- beside a program that saves another bone ----
set_b 0.5
touch "$WORK/saving"
while [ -e "$WORK/saving" ]; do
	for value in 0.25 0.5; do set_b $value; done
done 2>/dev/null &
saver=$!
undone=0
for _ in {1..30}; do
	set_a 6.5 && undo "$M/$A" 2>>"$WORK/undo" && ((undone++))
	# What a mount does not show yet cannot be edited.
	wait_for 3 grep -q ,4.5,-2, "$M/$A"
done
rm "$WORK/saving"
wait "$saver"
is "undo of a bone beside saves of another" "$undone $(sort -u "$WORK/undo")" "30 "
is "is that bone's" "$(x_of $A)" 4.500

# ---- owner, mode, attributes, times ----
chmod 640 "$FILE"
[ "$(id -u)" -ne 0 ] || chown 1234:1235 "$FILE"
setfattr -n user.note -v kept "$FILE" 2>/dev/null
setfacl -m u:4321:r "$FILE" 2>/dev/null
facts()
{
	stat -c '%u %g %a %h' "$FILE"
	getfattr --absolute-names -d "$FILE" 2>/dev/null
	getfacl --absolute-names -n "$FILE" 2>/dev/null
}
before=$(facts)
for command in undo redo "undo --number=1" undo; do
	mtime=$(stat -c %Y "$FILE")
	# shellcheck disable=SC2086
	ok "$command" "$ANIMFS" $command "$M"
	is "$command: owner, mode, ACL and attributes stay" "$(facts)" "$before"
	ok "$command: no time goes back" test "$(stat -c %Y "$FILE")" -ge "$mtime"
done
umount_animfs

# ---- what was removed ----
mount_animfs
before=$(facts)
cp "$FILE" "$WORK/removed"
rm -r "$M"
fails "a removed file is gone" test -e "$FILE"
like "its log is not" "$("$ANIMFS" log "$M" | head -n 1)" '  removed  \[rm\]  batch '
ok "undo by its path in SOURCE" undo "$FILE"
ok "to the byte" cmp "$FILE" "$WORK/removed"
is "with owner, mode, ACL and attributes" "$(facts)" "$before"
ok "in the mount" wait_for 3 test -f "$M/$A"
rm -r "$M/Idle"
gone() { ! "$ANIMFS" ls "$FILE" | grep -q Idle; }
ok "a removed clip is gone" wait_for 10 gone
ok "undo of it" undo "$M"
ok "to the byte" cmp "$FILE" "$WORK/removed"
ok "in the mount" wait_for 3 test -f "$M/Idle/clip.json"
rm -r "$M/walk"
sync "$M"
ok "a clip that is synced is gone" "$ANIMFS" ls "$FILE"
like "undo of a view of it" "$(undo "$M/$A" 2>&1; x_of $A 2>&1)" '.'
ok "undo of the file" undo "$FILE"
ok "is all of it" cmp "$FILE" "$WORK/removed"
mkdir "$SRC/sub"
cp "$WORK/removed" "$SRC/sub/v.canm"
wait_for 3 test -d "$MNT/sub/v.canm"
rm -r "$MNT/sub"
fails "a folder with a file in it is gone" test -e "$SRC/sub"
ok "undo makes the folder again, or says what is missing" sh -c "
	'$ANIMFS' undo '$SRC/sub/v.canm' 2>'$WORK/said' || { grep -q 'sub' '$WORK/said' && mkdir '$SRC/sub' && '$ANIMFS' undo '$SRC/sub/v.canm'; }"
ok "to the byte" cmp "$SRC/sub/v.canm" "$WORK/removed"
umount_animfs

# ---- an import of a tree ----
rm -rf "${SRC:?}"/* "$SRC/.animfs"
make_game --files 6 --clips 2 --bones 4 --frames 4 --plain 1
files=$(cd "$SRC" && find . -name '*.canm' | sort)
cp -a "$SRC" "$WORK/game"
cp tests/data/canm/wiki512.canm "$SRC/made.canm"
"$ANIMFS" export "$SRC" "$WORK/out" 2>/dev/null
rm "$SRC/made.canm"
bone=$(cd "$WORK/out" && find . -path '*/walk/bones/hips.csv' | sort | head -n 1)
find "$WORK/out" -path '*/walk/bones/hips.csv' -exec sed -i '2s/^\([^,]*,[^,]*\),[^,]*/\1,0.25/' {} +
mount_animfs
"$ANIMFS" import "$WORK/out" "$SRC" >"$WORK/said" 2>&1
like "an import" "$(cat "$WORK/said")" '7 files, 7 changed'
id=$(sed -n 's/.*undo --batch=\([0-9a-f]*\).*/\1/p' "$WORK/said")
# as_before FILE...: those are what they were, the others are not
as_before()
{
	local file wrong=()
	for file in $files; do
		cmp -s "$SRC/$file" "$WORK/game/$file"
		[ $? -eq "$1" ] || wrong+=("$file")
	done
	echo "${wrong[*]}"
}
is "all have changed" "$(as_before 1)" ""
ok "undo --batch of one of them" undo --batch="$id" "$MNT/${bone%/walk/*}"
ok "is back" cmp "$SRC/${bone%/walk/*}" "$WORK/game/${bone%/walk/*}"
ok "redo of it" redo "$SRC/${bone%/walk/*}"
is "all have changed again" "$(as_before 1)" ""
ok "--dry-run" undo --dry-run --batch="$id" "$MNT"
is "does nothing" "$(as_before 1)" ""
ok "undo --batch of all, by the mount" undo --batch="$id" "$MNT"
is "all are what they were" "$(as_before 0)" ""
fails "what was made is gone" test -e "$SRC/made.canm"
ok "the mount shows it" wait_for 3 cmp -s "$MNT/$bone" <("$ANIMFS" cat "$WORK/game/$bone")
# Another one, and then an edit of one of its files.
rm -r "$WORK/out"
"$ANIMFS" export "$SRC" "$WORK/out" 2>/dev/null
find "$WORK/out" -path '*/walk/bones/hips.csv' -exec sed -i '2s/^\([^,]*,[^,]*\),[^,]*/\1,0.125/' {} +
"$ANIMFS" import "$WORK/out" "$SRC" >"$WORK/said" 2>&1
id=$(sed -n 's/.*undo --batch=\([0-9a-f]*\).*/\1/p' "$WORK/said")
is "all have changed once more" "$(as_before 1)" ""
clip=${bone%/bones/*}/clip.json
sed -i 's/"loop": true/"loop": false/' "$MNT/$clip"
fails "a file that was edited since is not taken back" undo --batch="$id" "$SRC"
like "it keeps its edit" "$("$ANIMFS" cat "$SRC/$clip")" '"loop": false'
ok "with --merge it is" undo --merge --batch="$id" "$SRC/${bone%/walk/*}"
like "it has its edit still" "$("$ANIMFS" cat "$SRC/$clip")" '"loop": false'
is "and the import is gone" "$("$ANIMFS" cat "$SRC/$bone")" "$("$ANIMFS" cat "$WORK/game/$bone")"
sed -i 's/"loop": false/"loop": true/' "$MNT/$clip"
is "everywhere" "$(as_before 0)" ""
umount_animfs

# ---- as they come ----
rm -rf "${SRC:?}"/* "$SRC/.animfs"
cp tests/data/canm/wiki512.canm "$FILE"
mount_animfs
follow() { "$ANIMFS" log --follow "$1" >"$2" & followers+=($!); }
followers=()
follow "$M" "$WORK/file"
follow "$FILE" "$WORK/source"
follow "$M/$A" "$WORK/bone"
"$ANIMFS" errors -f "$MNT" >"$WORK/errors" &
followers+=($!)
# They have read what there was, and wait for more.
are_waiting()
{
	local pid
	for pid in "${followers[@]}"; do
		grep -q nanosleep "/proc/$pid/wchan" || return 1
	done
}
# Where the kernel does not say what a process waits for, this only gives them time.
if [ "$(cat "/proc/$$/wchan")" = 0 ]; then sleep 0.9; else wait_for 10 are_waiting; fi
for i in 1 2 3; do
	set_a "$((i + 1)).5"
	has() { [ "$(grep -c 'Bone01 translation' "$1")" -ge "$2" ]; }
	ok "save $i: log --follow" wait_for 5 has "$WORK/file" $i
	ok "save $i: by the path in SOURCE" wait_for 5 has "$WORK/source" $i
	ok "save $i: of the bone" wait_for 5 has "$WORK/bone" $i
done
set_b 0.5
ok "another bone" wait_for 5 grep -q 'hip translation' "$WORK/file"
undo "$M" >/dev/null
ok "an undo is a line, too" wait_for 5 grep -q 'undo' "$WORK/file"
is "no line is listed twice" "$(sort "$WORK/file" | uniq -d)" ""
fails "nothing of it is the first bone's" grep -q 'hip translation' "$WORK/bone"
for i in 1 2; do
	save_errno close "$M/$A" "nonsense $i" >/dev/null
	refused() { [ "$(grep -c 'Bone01' "$WORK/errors")" -ge "$i" ]; }
	ok "refusal $i: errors -f" wait_for 5 refused
done
kill "${followers[@]}"
is "errors has the last of them" "$("$ANIMFS" errors "$MNT" | tail -n 1)" "$(tail -n 1 "$WORK/errors")"
umount_animfs

# ---- other users ----
. "$(dirname "$0")/user.bash"
mount_animfs -o allow_other
chmod 755 "$WORK" "$SRC" "$MNT"
[ "$(stat -c %a "$FILE")" = 644 ] || chmod 644 "$FILE"
denied()
{
	local command
	for command in log undo redo "cat --version=1" "diff --version=1"; do
		for path in "$M" "$M/$A"; do
			[ "$command" != "cat --version=1" ] || [ "$path" != "$M" ] || path=$M/raw.canm
			# shellcheck disable=SC2086
			like "$1: $command ${path#"$MNT/"}" "$(as_user "$USER_ANIMFS" $command "$path" 2>&1; echo $?)" \
				'Permission denied.*[12]$'
		done
	done
	ok "$1: nothing has changed" cmp "$FILE" "$WORK/mine"
}
cp "$FILE" "$WORK/mine"
chmod 600 "$FILE"
denied "no rights to the file"
chmod 644 "$FILE"
wait_for 3 as_user test -r "$M/raw.canm"
for command in undo redo "undo --number=1" forget; do
	# shellcheck disable=SC2086
	like "rights to read it alone: $command" "$(as_user "$USER_ANIMFS" $command "$M" 2>&1; echo $?)" \
		'(Permission denied|belong).*[12]$'
done
ok "rights to read it alone: nothing has changed" cmp "$FILE" "$WORK/mine"
fails "the old versions cannot be read beside the mount" as_user ls "$SRC/.animfs/history"
fails "nor in it" as_user ls "$MNT/.animfs/history"
umount_animfs
