#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# history_sync.sh - before a save replaces a file, the path to the old version is durable: if a sync of it
# fails, the save fails, and the file is unchanged.
. "$(dirname "$0")/lib.sh"
has_faults || exit 0
SAMPLE=tests/data/canm/wiki512.canm
BONE=walk/bones/Bone01.csv
export FAULT=$WORK/fault
mkdir "$SRC/.animfs"
cp "$SAMPLE" "$SRC/w.canm"
"$ANIMFS" cat "$SRC/w.canm/$BONE" | sed 's/,1.5,-2,/,2.5,-2,/' >"$WORK/two.csv"
"$ANIMFS" cat "$SRC/w.canm/$BONE" | sed 's/,1.5,-2,/,3.5,-2,/' >"$WORK/three.csv"
cp "$SRC/w.canm" "$WORK/one"
faulty() { LD_PRELOAD=$FAULTS "$ANIMFS" "$@"; }
# refused NAME CALL TEXT OLD [OPTION]: of what is below the folder $STATE
refused()
{
	echo "$2" >"$FAULT"
	like "$1: the save fails" "$(faulty put "$SRC/w.canm/$BONE" "$3" 2>&1)" 'Input/output error'
	rm "$FAULT"
	ok "$1: the file is as it was" same_file "$SRC/w.canm" "$4"
}

refused "the path" "fsync 5 $SRC/.animfs/partial" "$WORK/two.csv" "$WORK/one"
refused "the first line" "fsync 5 $SRC/.animfs/history" "$WORK/two.csv" "$WORK/one"
ok "then it is saved" faulty put "$SRC/w.canm/$BONE" "$WORK/two.csv"
cp "$SRC/w.canm" "$WORK/two"
refused "the next line" "fsync 5 $SRC/.animfs/history" "$WORK/three.csv" "$WORK/two"
ln "$SRC/w.canm" "$WORK/other"
refused "a copy" "fsync 5 $SRC/.animfs/partial" "$WORK/three.csv" "$WORK/two"
refused "its name" "syncdir 5 $SRC/.animfs/history" "$WORK/three.csv" "$WORK/two"
echo "fsync 5 $SRC/.animfs/history" >"$FAULT"
ok "nothing of it with --history=0" faulty put --history=0 "$SRC/w.canm/$BONE" "$WORK/three.csv"
