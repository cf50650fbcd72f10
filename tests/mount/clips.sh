#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# clips.sh - the folder of a clip is the clip: removing, renaming and moving it does that to the
# clip, in the binary, once for all that happens in one batch. Into another file its texts move.
. "$(dirname "$0")/lib.sh"
cp tests/data/canm/wiki512.canm "$SRC"
cp tests/data/canm/wiki512.canm "$SRC/other.canm"
cp tests/data/canm/edf6_768.canm "$SRC/quat.canm"
mount_stopped
TOP=$MNT/wiki512.canm

# The clips of a binary, as nothing but the binary says.
clips() { "$ANIMFS" ls "$SRC/$1" | sed -n 's,/$,,p' | paste -sd ' '; }
has() { [[ " $(clips "$1") " == *" $2 "* ]]; }
has_not() { ! has "$@"; }
all=$(clips wiki512.canm)
text() { "$ANIMFS" cat "$SRC/$1/curves.csv"; }
keys() { text "$1" | cut -d, -f1-3; }
refused() { find "$SRC/.animfs/rejected" -type f 2>/dev/null; }

# slowly FOLDER: rm -r with 10 ms between its calls
slowly()
{
	python3 - "$1" <<'PYTHON'
import os, sys, time

for folder, folders, files in os.walk(sys.argv[1], topdown=False):
    for name in files:
        os.unlink(os.path.join(folder, name))
        time.sleep(0.01)
    for name in folders:
        os.rmdir(os.path.join(folder, name))
        time.sleep(0.01)
os.rmdir(sys.argv[1])
PYTHON
}

before=$(text wiki512.canm/Idle)
inode=$(stat -c %i "$SRC/wiki512.canm")
echo note >"$TOP/walk/note.txt"
fails "a clip with its views cannot be removed by rmdir" rmdir "$TOP/walk"
ok "rm -r of a clip" rm -r "$TOP/walk"
fails "the folder is gone" ls "$TOP/walk"
fails "and is not listed" ls -d "$TOP"/w*
all_there() { [ "$(clips wiki512.canm)" = "$all" ]; }
ok "the binary has it still" after 1999 all_there
ok "until the batch is over" after 1 has_not wiki512.canm walk
is "the other clips stay, in their order" "$(clips wiki512.canm)" \
	"$(echo " $all " | sed 's/ walk / /; s/^ //; s/ $//')"
is "and say what they said" "$(text wiki512.canm/Idle)" "$before"
is "what was put into it is gone" "$(find "$SRC/.animfs/extra" -name note.txt 2>/dev/null)" ""
fails "and does not come back" ls "$TOP/walk"

cp tests/data/canm/wiki512.canm "$SRC"
ok "slowly, too" slowly "$TOP/walk"
fails "it is gone" ls "$TOP/walk"
ok "from the binary" after 2000 has_not wiki512.canm walk

cp tests/data/canm/wiki512.canm "$SRC"
advance 300
ok "fsync of the file's folder does it at once" python3 -c '
import os, shutil, sys
shutil.rmtree(sys.argv[1] + "/walk")
fd = os.open(sys.argv[1], os.O_RDONLY)
os.fsync(fd)
os.close(fd)' "$TOP"
ok "and so it is" has_not wiki512.canm walk

cp tests/data/canm/wiki512.canm "$SRC"
advance 300
inode=$(stat -c %i "$SRC/wiki512.canm")
ok "all clips at once" sh -c "rm -r '$TOP'/*/"
advance 2000
ok "are one save" test "$(stat -c %i "$SRC/wiki512.canm")" != "$inode"
is "leave a file without clips" "$(clips wiki512.canm)" ""
is "which shows none" "$(cd "$TOP" && ls -d -- */ 2>/dev/null)" ""
cp tests/data/canm/wiki512.canm "$SRC"
advance 300

ok "a clip removed and made again from a copy" sh -c \
	"cp -r '$TOP/walk' '$WORK/walk' && rm -r '$TOP/walk' && cp -r '$WORK/walk' '$TOP'"
advance 3000
ok "is as it was" cmp "$SRC/wiki512.canm" tests/data/canm/wiki512.canm
is "with nothing refused" "$(find "$SRC/.animfs/rejected" -type f 2>/dev/null)" ""
ok "bones/ too" sh -c "rm -r '$TOP/walk/bones' && cp -r '$WORK/walk/bones' '$TOP/walk'"
advance 3000
ok "is as it was, too" cmp "$SRC/wiki512.canm" tests/data/canm/wiki512.canm

walk=$(keys wiki512.canm/walk)
echo note >"$TOP/walk/bones/note.txt"
ok "a clip moved into another file" mv "$TOP/walk" "$MNT/other.canm/walk2"
fails "is no longer here" test -e "$TOP/walk"
is "what people put there is with it" "$(<"$MNT/other.canm/walk2/bones/note.txt")" note
ok "the clip is there" after 2000 has other.canm walk2
ok "and no longer here" has_not wiki512.canm walk
is "with the same keys" "$(keys other.canm/walk2)" "$walk"
ok "its texts are saved there" sed -i 's/"loop": true/"loop": false/' "$MNT/other.canm/walk2/clip.json"
like "in the binary" "$("$ANIMFS" cat "$SRC/other.canm/walk2/clip.json")" '"loop": false'
ok "moved back under its name" mv "$MNT/other.canm/walk2" "$TOP/walk"
ok "it is there" after 2000 has wiki512.canm walk
is "with its keys" "$(keys wiki512.canm/walk)" "$walk"
ok "the other file is as it was" has_not other.canm walk2

# Before it has left its file the clip that was there comes back, and the copies say no more of it.
cp tests/data/canm/wiki512.canm "$SRC"
advance 300
order=$(clips wiki512.canm)
ok "a clip moved into another file" mv "$TOP/walk" "$MNT/other.canm/walk2"
ok "which is synced" sync "$MNT/other.canm"
ok "and has it" has other.canm walk2
ok "it is moved back" mv "$MNT/other.canm/walk2" "$TOP/walk"
is "its text names its file" "$(grep -c '"file": "wiki512.canm", "clip": "walk"' "$TOP/walk/clip.json")" 1
advance 3000
is "where it was" "$(clips wiki512.canm)" "$order"
is "with its keys" "$(keys wiki512.canm/walk)" "$walk"
ok "the other file is as it was" has_not other.canm walk2
is "nothing is refused" "$(refused)" ""
ok "there and back in one go" sh -c "mv '$TOP/walk' '$MNT/other.canm/walk2' && mv '$MNT/other.canm/walk2' '$TOP/walk'"
advance 3000
is "has its keys" "$(keys wiki512.canm/walk)" "$walk"
ok "the other file is as it was" has_not other.canm walk2
is "nothing is refused" "$(refused)" ""

mkdir -p "$TOP/walk/bones"
echo note >"$TOP/walk/bones/note.txt"
fails "onto a clip it cannot be moved" mv -T "$TOP/walk" "$MNT/other.canm/walk"
mkdir "$TOP/walk/full" "$TOP/full" "$TOP/vacant"
echo other >"$TOP/full/other.txt"
like "onto a folder with something in it neither" "$(mv -T "$TOP/walk" "$TOP/full" 2>&1)" \
	'Directory not empty'
ok "that folder has what it had" test -f "$TOP/full/other.txt"
ok "onto an empty folder it can" mv -T "$TOP/walk" "$TOP/vacant"
is "with what people put there, too" "$(<"$TOP/vacant/bones/note.txt")" note
ok "moved back" mv "$TOP/vacant" "$TOP/walk"
rm -r "$TOP/full" "$TOP/walk/full"
ok "into a file of another kind of rotations" mv "$MNT/other.canm/Idle" "$MNT/quat.canm/idle"
ok "the clip is there" after 2000 has quat.canm idle
ok "and gone from where it was" has_not other.canm Idle
fails "a name that no clip can have" mv "$MNT/quat.canm/idle" "$MNT/quat.canm/a:b"
like "and the right one is told" "$(<"$MNT/.animfs/errors")" 'quat.canm/a:b: .*a%3Ab'
fails "a name like an animation file's" mv "$MNT/quat.canm/idle" "$MNT/quat.canm/a.canm"

ok "rm -r of the whole folder" rm -r "$MNT/other.canm"
fails "removes the file" test -e "$SRC/other.canm"
fails "and the folder" ls "$MNT/other.canm"
umount_animfs

# A format with one clip; and a folder beside its file.
rm -r "${SRC:?}"/*
cp tests/data/ff9anim/*.ff9anim "$SRC" 2>/dev/null
one=$(find tests/data/owanim -name '*.006' | head -n 1)
cp "$one" "$SRC/one.006"
cp tests/data/canm/wiki512.canm "$SRC"
mount_stopped
ok "the one clip of a format" rm -r "$MNT/one.006/one"
fails "goes for a moment" ls "$MNT/one.006/one"
ok "and comes back" after 2000 test -d "$MNT/one.006/one"
like "with a word why" "$(<"$MNT/.animfs/errors")" 'one.006/one: not removed: '
exec 5<>"$MNT/one.006/one/clip.json"
cd "$MNT/one.006/one" || exit 1
ok "the file renamed" mv "$MNT/one.006" "$MNT/two.006"
is "renames its clip" "$(ls -d "$MNT"/two.006/*/)" "$MNT/two.006/two/"
ok "whoever is in it stays there" test -f clip.json
ok "what is open says what it said" grep -q '"clip": "one"' /proc/self/fd/5
ok "what is opened says so" grep -q '"clip": "two"' clip.json
exec 5>&-
cd - >/dev/null || exit 1
umount_animfs

mount_stopped --beside
ok "rm -r of the folder beside a file" rm -r "$MNT/wiki512.canm.d"
fails "it is absent" ls "$MNT/wiki512.canm.d"
ok "the file stays" cmp "$SRC/wiki512.canm" "$MNT/wiki512.canm"
ok "and the folder comes back" after 2000 test -d "$MNT/wiki512.canm.d/walk"
ok "with all its clips" cmp "$SRC/wiki512.canm" tests/data/canm/wiki512.canm
umount_animfs

rm -r "${SRC:?}"/*
cp tests/data/canm/wiki512.canm "$SRC"
mount_stopped
ok "removed and unmounted at once" rm -r "$TOP/walk"
umount_animfs
ok "is removed" has_not wiki512.canm walk
