#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# meanwhile_back.sh - a save finds another program's file, which cannot be put back in its place: that file
# is not lost.
. "$(dirname "$0")/lib.sh"
has_faults || exit 0
BONE=walk/bones/Bone01.csv
export FAULT=$WORK/fault
mkdir "$SRC/.animfs" "$SRC/in"
FILE=$SRC/in/w.canm
"$ANIMFS" cat "tests/data/canm/wiki512.canm/$BONE" | sed 's/,1.5,-2,/,2.5,-2,/' >"$WORK/two.csv"
echo "another program's" >"$WORK/other"
is_held() { [ -e "$FAULT.held" ]; }

# begin NAME FAULT: a save; another program puts its file there before the exchange, then FAULT is set
begin()
{
	rm -f "$SRC"/in/.animfs* "$FAULT.held"
	cp tests/data/canm/wiki512.canm "$FILE"
	echo "rename hold $SRC/in" >"$FAULT"
	LD_PRELOAD=$FAULTS timeout 60 "$ANIMFS" put "$FILE/$BONE" "$WORK/two.csv" >/dev/null 2>&1 &
	saver=$!
	ok "$1: the exchange is held" wait_for 10 is_held
	cp "$WORK/other" "$WORK/theirs"
	mv "$WORK/theirs" "$FILE"
	rm "$FAULT.held"
	echo "$2" >"$FAULT"
}

begin "removed" "rename hold $SRC/in 1"
ok "the exchange back is held" wait_for 10 is_held
rm "$FILE" "$FAULT"
wait "$saver"
ok "the other's file has its name" same_file "$FILE" "$WORK/other"

begin "an error" "rename 5 $SRC/in"
wait "$saver"
rm "$FAULT"
is "the other's file is there by some name" "$(find "$SRC/in" -type f -exec cmp -s {} "$WORK/other" \; -print | wc -l)" 1
