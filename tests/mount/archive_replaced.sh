#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# archive_replaced.sh - while a member of a RAB is saved with --rebuild, another program replaces the
# archive by one with other members: the save is refused, and no other member gets its bytes.
. "$(dirname "$0")/lib.sh"
has_faults || exit 0
SAMPLE=tests/data/canm/wiki512.canm
BONE=walk/bones/Bone01.csv
export FAULT=$WORK/fault
for name in one more fewer; do
	mkdir -p "$WORK/$name/ANIMATION"
	cp "$SAMPLE" "$WORK/$name/ANIMATION/a.canm"
done
cp "$SAMPLE" "$WORK/one/ANIMATION/b.canm"
cp "$SAMPLE" "$WORK/more/ANIMATION/b.canm"
echo first >"$WORK/more/ANIMATION/0.txt"
for name in one more fewer; do
	python3 tests/mount/pack.py rab "$WORK/$name.mrab" "$WORK/$name"
done
is_held() { [ -e "$FAULT.held" ]; }

"$ANIMFS" cat "$SAMPLE/$BONE" | sed 's/,1.5,-2,/,2.5,-2,/' >"$WORK/two.csv"

for name in more fewer; do
	rm -rf "$SRC/.animfs" "$FAULT.held"
	mkdir "$SRC/.animfs"
	cp "$WORK/one.mrab" "$SRC/x.mrab"
	echo "mkdir hold $SRC" >"$FAULT"
	LD_PRELOAD=$FAULTS timeout 60 "$ANIMFS" put --rebuild "$SRC/x.mrab/ANIMATION/b.canm/$BONE" "$WORK/two.csv" 2>"$WORK/said" &
	ok "$name members: the save is held" wait_for 10 is_held
	cp "$WORK/$name.mrab" "$WORK/theirs"
	ok "the archive is replaced" mv "$WORK/theirs" "$SRC/x.mrab"
	rm "$FAULT"
	status=0
	wait $! || status=$?
	is "the save is refused" "$status" 1
	is "nothing is rebuilt" "$(find "$SRC" -path '*overlay*' -type f)" ""
	ok "the archive is the other's" same_file "$SRC/x.mrab" "$WORK/$name.mrab"
	like "the reason is said" "$(cat "$WORK/said")" 'x.mrab has other members by now'
done
