#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# meanwhile.sh - another program saves after a program's save was decided, while its temporary file is being
# made: the outcome is as if the other save had come first, and that save stays.
. "$(dirname "$0")/lib.sh"
has_faults || exit 0
cp tests/data/canm/wiki512.canm "$WORK/start"
cp "$WORK/start" "$SRC/a.canm"
LD_PRELOAD=$FAULTS FAULT=$WORK/fault mount_animfs -o unconfined
TOP=$MNT/a.canm
BONES=$SRC/a.canm/walk/bones

# One program writes each FILE with what is in $WORK/new/FILE; the last save is held.
save_all()
{
	python3 - "$TOP" "$WORK/new" "$WORK/fault" "create hold $SRC" "$@" <<'PYTHON'
import os, sys

top, new, fault, line, *names = sys.argv[1:]
for name in names:
    with open(f"{new}/{name}", "rb") as f:
        text = f.read()
    fd = os.open(f"{top}/{name}", os.O_WRONLY | os.O_TRUNC)
    os.write(fd, text)
    if name == names[-1]:
        with open(fault, "w") as f:
            f.write(line)
    os.close(fd)
PYTHON
}

# meanwhile WHAT FILE...: the files are saved by one program, and hip's curve by another
meanwhile()
{
	local what=$1 saver
	shift
	save_all "$@" 2>"$WORK/said" &
	saver=$!
	ok "$what: the last save is under way" wait_for 10 test -e "$WORK/fault.held"
	"$ANIMFS" cat "$BONES/hip.csv" | sed 's/^0,0,0[^,]*,-1,/0,0,0.5,-1,/' >"$WORK/hip"
	ok "$what: another program saves" "$ANIMFS" put "$BONES/hip.csv" "$WORK/hip"
	rm "$WORK/fault"
	wait "$saver"
	is "$what: it succeeds" "$? $(<"$WORK/said")" "0 "
	rm "$WORK/fault.held"
	like "$what: the other program's is there" "$("$ANIMFS" cat "$BONES/hip.csv")" $'\n0,0,0.5[0-9]*,-1,'
	is "$what: nothing was refused" "$(find "$SRC/.animfs/rejected" -type f 2>/dev/null)" ""
}
has() { like "$1" "$("$ANIMFS" cat "$BONES/Bone01.csv")" $'\n0,0,'"$2"; }
# The file as it was, shown; texts of it in $WORK/new, with another value of Bone01 in a table.
fresh()
{
	cp "$WORK/start" "$SRC/a.canm"
	wait_for 5 cmp -s "$TOP/raw.canm" "$WORK/start"
	rm -rf "$WORK/new"
	mkdir -p "$WORK/new"
	cp -r "$TOP/." "$WORK/new"
	sed -i "s/^0,0,1\\.5,/0,0,$1,/" "$WORK/new/walk/bones/Bone01.csv"
}
edit() { sed -i "s/^0,0,1\\.5,/0,0,$1,/" "$TOP/walk/bones/Bone01.csv"; }

fresh 3.5
edit 2.5
meanwhile "an older file" raw.canm
has "which it is again" '1\.5[0-9]*,'

fresh 4.5
meanwhile "a table" walk/bones/Bone01.csv
has "which is stored" '4\.5[0-9]*,'

fresh 5.5
edit 2.5
meanwhile "a table, then an older file" walk/bones/Bone01.csv raw.canm
has "the file counts" '1\.5[0-9]*,'

fresh 6.5
edit 2.5
meanwhile "an older file, then a table" raw.canm walk/bones/Bone01.csv
has "the table counts" '6\.5[0-9]*,'

fresh 7.5
edit 2.5
meanwhile "a folder that is copied back" file.json walk/clip.json walk/curves.csv raw.canm \
	walk/bones/Scene_Root.csv walk/bones/Bone01.csv
has "the table counts" '7\.5[0-9]*,'
umount_animfs
