#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# undo.sh - the file as it was before something was removed from it is kept, and comes back.
. "$(dirname "$0")/lib.sh"
mkdir "$SRC/obj"
cp tests/data/canm/wiki512.canm "$WORK/one"
FILE=$SRC/obj/w.canm
KEPT=$SRC/.animfs/backup/obj/w.canm
undo() { "$ANIMFS" undo "$@"; }
# So that the next removal is a run of its own.
end_run() { touch -d '3 seconds ago' "$KEPT/run"; }

# ---- through a mount ----
cp "$WORK/one" "$FILE"
bone=$MNT/obj/w.canm/walk/bones/Bone01.csv
hip=$MNT/obj/w.canm/walk/bones/hip.csv
mount_animfs
like "nothing kept" "$(undo "$FILE" 2>&1)" 'w.canm: there is no backup: nothing was removed'
sed -i 's/,0.5000076,/,0.25,/' "$hip"
fails "a value that changes is kept nowhere" test -e "$KEPT"
cp "$FILE" "$WORK/two"
sed -i 's/,1.5,-2,0.25,/,,,,/' "$bone"
fails "the position of a bone is gone" grep -q 1.5,-2,0.25 "$bone"
ok "the file before that is kept" cmp "$KEPT/last" "$WORK/two"
sed -i 's/^\([12]\),\([^,]*\),[^,]*,[^,]*,[^,]*,/\1,\2,,,,/' "$hip"
ok "what is removed right after belongs to it" cmp "$KEPT/last" "$WORK/two"
cp "$FILE" "$WORK/three"
ok "undo" undo "$FILE"
ok "undo: the file" cmp "$FILE" "$WORK/two"
ok "undo: the mount shows it" wait_for 3 grep -q 1.5,-2,0.25 "$bone"
ok "undo of the undo" undo "$FILE"
ok "undo of the undo: the file" cmp "$FILE" "$WORK/three"
ok "undo again" undo "$FILE"
ok "undo again: the file" cmp "$FILE" "$WORK/two"
ok "undo again: the mount" wait_for 3 grep -q 1.5,-2,0.25 "$bone"
sed -i 's/,1.5,-2,0.25,/,,,,/' "$bone"
ok "what is removed after an undo is kept anew" cmp "$KEPT/last" "$WORK/two"
end_run
cp "$FILE" "$WORK/four"
cp "$WORK/one" "$WORK/other.canm"
"$ANIMFS" clip remove --state="$WORK/elsewhere" "$WORK/other.canm/Idle" 2>/dev/null
cat "$WORK/other.canm" >"$MNT/obj/w.canm/raw.canm"
ok "a whole file with fewer clips" cmp "$FILE" "$WORK/other.canm"
ok "keeps the one before" cmp "$KEPT/last" "$WORK/four"
like "undo of a folder of the mount says which file is meant" "$(undo "$MNT/obj/w.canm" 2>&1)" \
	'in the folder that is mounted'
umount_animfs
ok "without the mount" undo "$FILE"
ok "without the mount: the file" cmp "$FILE" "$WORK/four"
like "the list" "$(undo --list "$FILE")" '^last +20[0-9-]+ [0-9:]+ +[0-9]+ bytes$'

# ---- the mount's option ----
rm -rf "$SRC/.animfs"
cp "$WORK/one" "$FILE"
mount_animfs --backup none
sed -i 's/,1.5,-2,0.25,/,,,,/' "$bone"
umount_animfs
fails "--backup=none keeps nothing in a mount" test -e "$KEPT"
cp "$WORK/one" "$FILE"
mount_animfs -o backup=numbered
sed -i 's/,1.5,-2,0.25,/,,,,/' "$bone"
umount_animfs
ok "-o backup=numbered" cmp "$KEPT/1" "$WORK/one"
fails "an unknown way to back up" "$ANIMFS" -f --backup=all "$SRC" "$MNT"

# ---- without one ----
put() { "$ANIMFS" put "$@" >/dev/null; }
remove() { "$ANIMFS" cat "$FILE/$1" | sed "$2" | put --backup="$3" "$FILE/$1"; }
rm -rf "$SRC/.animfs" "$FILE"
mkdir "$SRC/.animfs"
cp "$WORK/one" "$FILE"
chmod 640 "$FILE"
position='s/,1.5,-2,0.25,/,,,,/'
remove walk/bones/Bone01.csv "$position" none
fails "--backup=none keeps nothing" test -e "$KEPT/last"
fails "and cannot be undone" undo "$FILE"
cp "$WORK/one" "$FILE"
remove walk/bones/Bone01.csv "$position" numbered
ok "--backup=numbered: the first" cmp "$KEPT/1" "$WORK/one"
end_run
cp "$FILE" "$WORK/second"
"$ANIMFS" clip remove --backup=numbered "$FILE/Idle" 2>/dev/null
ok "--backup=numbered: the second" cmp "$KEPT/2" "$WORK/second"
ok "undo puts the second back" undo "$FILE"
ok "the second" cmp "$FILE" "$WORK/second"
ok "undo --number puts the first back" undo --number=1 "$FILE"
ok "the first" cmp "$FILE" "$WORK/one"
is "the mode stays" "$(stat -c %a "$FILE")" 640
is "four of them" "$(undo --list "$FILE" | sed 's/ .*//' | sort | paste -sd ' ')" "1 2 3 4"
like "a number that is not there" "$(undo --number=7 "$FILE" 2>&1)" 'no backup of that number'
rm "$FILE"
ok "a file that was removed comes back" undo --number=2 "$FILE"
ok "as it was" cmp "$FILE" "$WORK/second"
is "with its mode" "$(stat -c %a "$FILE")" 640

# ---- several commands at once take their turn ----
cp "$WORK/one" "$FILE"
for bone in Scene_Root hip Bone01; do
	"$ANIMFS" bone remove "$FILE/walk" "$bone" &
done
wait
is "each did what it had to" "$("$ANIMFS" ls "$FILE/walk/bones" | grep -c csv)" 1
fails "no temporaries are left" compgen -G "$SRC/obj/.animfs-*"

fails "an unknown way" "$ANIMFS" put --backup=all "$FILE/walk/clip.json"
"$ANIMFS" undo >/dev/null 2>&1
is "without a file the call is wrong" $? 2
like "help" "$("$ANIMFS" undo --help)" '^Usage: animfs undo'
