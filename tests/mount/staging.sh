#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# staging.sh - mkdir in a file's folder makes a clip: while texts are written into it the folder is an
# ordinary one, then it becomes the clip that they describe.
. "$(dirname "$0")/lib.sh"
cp tests/data/canm/wiki512.canm "$SRC"
cp tests/data/canm/wiki512.canm "$SRC/other.canm"
cp tests/data/canm/edf6_768.canm "$SRC/quat.canm"
cp tests/data/owanim/small.006 "$SRC/one.006"
mount_stopped
TOP=$MNT/wiki512.canm

clips() { "$ANIMFS" ls "$SRC/$1" | sed -n 's,/$,,p' | paste -sd ' '; }
has() { [[ " $(clips "$1") " == *" $2 "* ]]; }
has_not() { ! has "$@"; }
text() { "$ANIMFS" cat "$SRC/$1/curves.csv"; }
nothing_upper() { [ -z "$(find "$SRC/.animfs/extra" "$SRC/.animfs/staging" -type f 2>/dev/null)" ]; }

# slowly FROM TO: cp -r with 10 ms between its calls
cat >"$WORK/slowly.py" <<'PYTHON'
import os, sys, time

source, target = sys.argv[1:]
for folder, folders, files in os.walk(source):
    into = os.path.normpath(os.path.join(target, os.path.relpath(folder, source)))
    os.mkdir(into)
    for name in files:
        with open(os.path.join(folder, name), "rb") as f:
            text = f.read()
        time.sleep(0.01)
        with open(os.path.join(into, name), "wb") as f:
            f.write(text[:20])
            f.flush()
            time.sleep(0.01)
            f.write(text[20:])
PYTHON
slowly() { python3 "$WORK/slowly.py" "$@"; }

walk=$(text wiki512.canm/walk)
ok "cp -r of a clip" cp -r "$TOP/walk" "$TOP/walk2"
is "is a folder with its texts at once" "$(<"$TOP/walk2/curves.csv")" "$walk"
ok "and a clip when the batch is over" after 2000 has wiki512.canm walk2
is "that says the same" "$(text wiki512.canm/walk2)" "$walk"
like "under its own name" "$(<"$TOP/walk2/clip.json")" '"clip": "walk2", "name": "walk2"'
is "with the same views" "$(cd "$TOP/walk2" && find . | sort)" "$(cd "$TOP/walk" && find . | sort)"
is "behind the others" "$(clips wiki512.canm | grep -o 'walk2$')" walk2
ok "nothing is left over" after 0 nothing_upper
is "and nothing was refused" "$(<"$MNT/.animfs/errors")" ""
ok "a copy that is edited" sed -i 's/1\.5,-2/2.5,-2/' "$TOP/walk2/bones/Bone01.csv"
is "leaves the clip that it was copied from" "$(text wiki512.canm/walk)" "$walk"

ok "slowly, too" slowly "$TOP/walk" "$TOP/walk3"
ok "it is a clip" after 2000 has wiki512.canm walk3
is "that says the same" "$(text wiki512.canm/walk3)" "$walk"
two_slowly() { cp -r "$TOP/Idle" "$TOP/i2" && advance 1000 && cp -r "$TOP/Idle" "$TOP/i3"; }
ok "two at once, one slowly" two_slowly
ok "are clips" after 2000 has wiki512.canm i3
ok "both" has wiki512.canm i2

ok "into another file" cp -r "$TOP/walk" "$MNT/other.canm/copy"
ok "out of the mount" cp -r "$TOP/walk" "$WORK/walk"
ok "with a cell edited there" sed -i 's/1\.5,-2/3.5,-2/' "$WORK/walk/bones/Bone01.csv"
ok "and into one of another format version" cp -r "$WORK/walk" "$MNT/quat.canm/walk"
ok "the copy is there" after 2000 has other.canm copy
ok "and the edited one" has quat.canm walk
is "in as many frames" "$(grep -c '^Bone01,rotation' "$MNT/quat.canm/walk/curves.csv")" 3
like "with the edit" "$("$ANIMFS" cat "$SRC/quat.canm/walk/bones/Bone01.csv")" '0,0,3\.5,-2'
is "nothing was refused" "$(find "$SRC/.animfs/rejected" -type f 2>/dev/null)" ""

mv "$WORK/walk" "$WORK/synced"
ok "by rsync under a new name" rsync -a "$WORK/synced" "$MNT/other.canm/"
ok "by tar under a new name" sh -c "mv '$WORK/synced' '$WORK/tarred' && tar -C '$WORK' -c tarred | tar -C '$MNT/other.canm' -x"
ok "is a clip" after 2000 has other.canm synced
ok "is one, too" has other.canm tarred
like "with the edit, too" "$(text other.canm/tarred)" 'Bone01,translation,0,0,3\.5,-2'

# What the folder is while it is filled.
ok "an empty folder" mkdir "$TOP/new"
ok "with other files" sh -c "cp '$WORK/tarred/bones/Bone01.csv' '$TOP/new/x.csv'; mkdir '$TOP/new/bones' && mv '$TOP/new/x.csv' '$TOP/new/bones/first.csv'"
ok "a text that will be refused" sh -c "sed 's/3.5,-2/3..5,-2/' '$WORK/tarred/bones/Bone01.csv' >'$TOP/new/bones/second.csv'"
echo note >"$TOP/new/bones/notes"
cd "$TOP/new/bones" || exit 1
exec 5<first.csv
ok "becomes a clip at fsync" python3 -c '
import os, sys
fd = os.open(sys.argv[1], os.O_RDONLY)
os.fsync(fd)
os.close(fd)' "$TOP/new"
ok "at once" has wiki512.canm new
ok "whoever is in it stays there" grep -q '^0,0,3.5,-2' first.csv
cd - >/dev/null || exit 1
exec 5<&-
is "what is no text is there still" "$(<"$TOP/new/bones/notes")" note
ok "what was refused is kept" grep -q '3\.\.5' "$TOP/new/bones/second.csv.rejected"
like "with the reason" "$(<"$TOP/new/bones/second.csv.error")" '"3..5" is not a number'
like "without a clip.json it has its length from the texts" "$(<"$TOP/new/clip.json")" '"frames": 3, "frame_time": 2,'
ok "mkdir alone" mkdir "$TOP/bare"
ok "makes an empty clip" after 2000 has wiki512.canm bare
ok "which takes bones" sh -c "printf 'bone,channel,frame,time,x,y,z,w\nhip,translation,0,0,1,2,3,\n' >'$TOP/bare/curves.csv'"
like "as any other" "$(text wiki512.canm/bare)" 'hip,translation,0,0,1,2,3'
ok "renamed while it is filled" sh -c "cp -r '$TOP/walk' '$TOP/early' && mv '$TOP/early' '$TOP/late'"
ok "it is a clip by the new name" after 2000 has wiki512.canm late
ok "and by no other" has_not wiki512.canm early
ok "removed while it is filled" sh -c "cp -r '$TOP/walk' '$TOP/gone' && rm -r '$TOP/gone'"
advance 3000
ok "it is none" has_not wiki512.canm gone
ok "and nothing is left of it" sh -c "! ls '$SRC'/.animfs/*/wiki512.canm/gone"

is "a name that no clip can have" "$(mkdir "$TOP/a:b" 2>&1 | grep -o 'Invalid.*')" "Invalid or incomplete multibyte or wide character"
like "and the right one is told" "$(<"$MNT/.animfs/errors")" 'wiki512.canm/a:b: .*a%3Ab'
is "a name like an animation file's" "$(mkdir "$TOP/b.canm" 2>&1 | grep -o 'Oper.*')" "Operation not permitted"
fails "a second clip where there is one" mkdir "$MNT/one.006/two"
ok "a leading dot makes an ordinary folder" mkdir "$TOP/.git"
ok "deeper down, too" mkdir "$TOP/walk/bones/sub"
advance 3000
ok "for good" has_not wiki512.canm .git
fails "mv out of a format with another clip" mv "$MNT/one.006/one" "$MNT/one.006/two"
ok "mv from there" mv "$MNT/one.006/one" "$TOP/from_ow"
advance 3000
ok "is a copy" has wiki512.canm from_ow
advance 2500 # the clip that was moved away comes back
ok "cp -r from another format" cp -r "$MNT/one.006/one" "$TOP/texts_of_ow"
ok "is a clip" after 2000 has wiki512.canm texts_of_ow
is "that says the same" "$(text wiki512.canm/texts_of_ow | cut -d, -f1-4 | sort)" \
	"$(text wiki512.canm/from_ow | cut -d, -f1-4 | sort)"
is "and nothing but a clip that stays is an error" "$(grep -v 'a:b\|b.canm\|second.csv' "$MNT/.animfs/errors" | cut -d: -f1,2)" "one.006/one: not removed"

# Who knows a text of the folder finds the view of that name at once.
ok "each text of a new clip is there right after fsync" python3 - "$TOP/from_ow" <<'PYTHON'
import os, shutil, sys

for i in range(40):
    clip = "%s.%d" % (sys.argv[1], i)
    shutil.copytree(sys.argv[1], clip)
    fd = os.open(clip, os.O_RDONLY)
    os.fsync(fd)
    os.close(fd)
    for folder, _, names in os.walk(clip):
        for name in names:
            with open(os.path.join(folder, name)) as text:
                text.read()
    shutil.rmtree(clip)
PYTHON

# Ends that are not those of a batch.
ok "filled and unmounted at once" cp -r "$TOP/walk" "$TOP/last"
umount_animfs
ok "is a clip" has wiki512.canm last
mount_stopped
ok "filled, and the daemon killed" copying "$TOP/walk" "$TOP/killed" kill -KILL "${DAEMON[$MNT]}"
wait "${DAEMON[$MNT]}" 2>/dev/null
unset "DAEMON[$MNT]"
fusermount3 -u "$MNT" || umount -l "$MNT"
ok "is none" has_not wiki512.canm killed
mount_stopped
ok "before the next mount" after 0 has wiki512.canm killed
is "and says the same" "$(text wiki512.canm/killed)" "$walk"
python3 "$WORK/slowly.py" "$TOP/walk" "$TOP/short" &
ok "a copy has begun" wait_for 5 [ -s "$TOP/short/clip.json" ]
kill $!
wait $! 2>/dev/null
ok "is a clip of what came" after 2000 has wiki512.canm short
ok "and nothing is left to fill" test -z "$(find "$SRC/.animfs/staging" -type f)"
ok "fsync reads a folder again that changed meanwhile" python3 - "$TOP" <<'PYTHON'
import os, shutil, sys

top = sys.argv[1]
text = open(top + "/walk/bones/Bone01.csv").read()
for i in range(100):
    folder = top + "/again%d" % i
    os.makedirs(folder + "/bones")
    with open(folder + "/bones/Bone01.csv", "w") as f:
        f.write(text)
    fd = os.open(folder, os.O_RDONLY)
    os.fsync(fd)
    os.close(fd)
    shutil.rmtree(folder)
PYTHON
umount_animfs

# A refused text that there is no room for is not hidden by the view of its name.
mount_stopped --rejected-max=4K
cp -r "$TOP/walk" "$WORK/full"
sed -i 's/1\.5,-2/1..5,-2/' "$WORK/full/curves.csv"
ok "a clip with a text that is refused" cp -r "$WORK/full" "$TOP/full"
ok "is one" after 2000 has wiki512.canm full
ok "the text is there under another name" cmp "$TOP/full/curves.csv.~1~" "$WORK/full/curves.csv"
like "as the list says" "$(<"$MNT/.animfs/errors")" 'full/curves.csv: kept under another name: it was refused, and cannot be kept as .rejected: No space'
umount_animfs
