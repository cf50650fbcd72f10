#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# clip_renames.sh - a clip's folder is renamed while programs have its texts open, or in their
# memory: what they save is saved, as in any folder that is renamed.
. "$(dirname "$0")/lib.sh"
cp tests/data/canm/wiki512.canm "$SRC"
mount_stopped
TOP=$MNT/wiki512.canm

says() { "$ANIMFS" cat "$SRC/$1"; }
fresh()
{
	cp tests/data/canm/wiki512.canm "$SRC"
	after 3000 test -d "$TOP/walk" && cmp -s "$TOP/raw.canm" "$SRC/wiki512.canm"
}
# while_open FILE WAS IS COMMAND: writes FILE with IS for the first WAS, runs COMMAND, closes it
while_open()
{
	python3 - "$@" <<'PYTHON'
import os, subprocess, sys

name, was, now, command = sys.argv[1:]
fd = os.open(name, os.O_RDWR)
text = os.read(fd, 1 << 20).decode()
assert was in text, text
text = text.replace(was, now, 1).encode()
os.ftruncate(fd, 0)
assert os.pwrite(fd, text, 0) == len(text)
subprocess.run(["sh", "-ec", command], check=True)
os.close(fd)
PYTHON
}

old=$WORK/hip.json
cp "$TOP/walk/bones/hip.json" "$old"
ok "a clip is renamed" mv "$TOP/walk" "$TOP/stroll"
ok "a text read before is saved" cp "$old" "$TOP/stroll/bones/hip.json"
sed -i '0,/"value": \[0,/s//"value": [0.5,/' "$old"
ok "and an edit of it" cp "$old" "$TOP/stroll/bones/hip.json"
like "which is there" "$(says wiki512.canm/stroll/bones/hip.csv)" $'\n0,0,0\\.5[0-9]*,'

fresh
ok "a bone's JSON is open while its clip is renamed" \
	while_open "$TOP/walk/bones/hip.json" '"value": [0,' '"value": [0.5,' "mv '$TOP/walk' '$TOP/stroll'"
like "and saved there" "$(says wiki512.canm/stroll/bones/hip.csv)" $'\n0,0,0\\.5[0-9]*,'

fresh
ok "a clip's text is open while that is renamed" \
	while_open "$TOP/walk/clip.json" '"loop": true' '"loop": false' "mv '$TOP/walk' '$TOP/stroll'"
like "is saved there" "$(says wiki512.canm/stroll/clip.json)" '"loop": false'
fails "and does not rename it back" test -d "$TOP/walk"

fresh
is "a text with a fault is written once its clip is renamed, and refused" "$(python3 - "$TOP" <<'PYTHON'
import errno, os, sys

top = sys.argv[1]
fd = os.open(top + "/walk/curves.csv", os.O_RDWR)
text = os.read(fd, 1 << 20).replace(b"1.5,-2", b"1.5,x", 1)
os.rename(top + "/walk", top + "/limp")
os.ftruncate(fd, 0)
os.pwrite(fd, text, 0)
try:
    os.close(fd)
except OSError as e:
    print(errno.errorcode[e.errno])
PYTHON
)" EBADMSG
like "with the place" "$(<"$TOP/limp/curves.csv.error")" '^wiki512.canm/limp/curves.csv:4:28: y: "x" is not a number'
ok "its clip is there" test -d "$TOP/limp/bones"
rm "$TOP"/limp/curves.csv.{rejected,error}

fresh
rotation=$(says wiki512.canm/walk/bones/Bone01.json | grep -m 1 -o '"value": \[-180,')
is "a rotation to edit" "$rotation" '"value": [-180,'
ok "a text is open while others save another curve and rename the clip" \
	while_open "$TOP/walk/bones/Bone01.json" '"value": [-180,' '"value": [-170,' \
	"sed -i 's/^0,0,[^,]*,/0,0,7,/' '$TOP/walk/bones/Bone01.csv'; mv '$TOP/walk' '$TOP/stroll'"
like "its own edit is there" "$(says wiki512.canm/stroll/bones/Bone01.csv)" ',-1(70|69\.9)'
like "and theirs" "$(says wiki512.canm/stroll/bones/Bone01.csv)" $'\n0,0,7,'

fresh
umount_animfs

if has_faults; then
	LD_PRELOAD=$FAULTS FAULT=$WORK/fault mount_animfs -o unconfined
	wait_for 3 test -d "$TOP/walk"
	mkdir "$TOP/vacant"
	echo "rename 5 $SRC" >"$WORK/fault" # EIO
	fails "a clip is renamed onto an empty folder, and the file cannot be stored" mv -T "$TOP/walk" "$TOP/vacant"
	rm "$WORK/fault"
	ok "the folder is still there" sh -c "echo note >'$TOP/vacant/note'"
	ok "and the clip" test -d "$TOP/walk/bones"
	echo note >"$TOP/walk/note.txt"
	echo "rename 5 $SRC/.animfs/extra" >"$WORK/fault" # EIO
	ok "a clip is renamed, but not its folder of ordinary files" mv "$TOP/walk" "$TOP/amble"
	rm "$WORK/fault"
	is "these can be had by the old name" "$(<"$TOP/walk/note.txt")" note
	like "which is said" "$(<"$MNT/.animfs/errors")" \
		'wiki512.canm/walk: files beside its views stay under this name: .*Input/output error'
	umount_animfs
fi
