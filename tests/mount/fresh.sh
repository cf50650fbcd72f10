#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# fresh.sh - no reply is older than its request: while a save is being published, and after it, readers get
# the text that other programs have stored since.
. "$(dirname "$0")/lib.sh"
has_faults || exit 0
cp tests/data/canm/wiki512.canm "$SRC/a.canm"
LD_PRELOAD=$FAULTS FAULT=$WORK/fault mount_animfs -o unconfined
BONES=$MNT/a.canm/walk/bones
OTHER=$SRC/a.canm/walk/bones

# stored BONE VALUE: another program stores it; of VALUE in the first cell of the first row
stored() { "$ANIMFS" cat "$OTHER/$1.csv" | sed "2s/^0,0,[^,]*/0,0,$2/" | "$ANIMFS" put "$OTHER/$1.csv"; }
first() { awk -F, 'NR == 2 { printf "%.2f\n", $3 }'; }
cell() { first <"$BONES/$1.csv"; }
# The same of Bone01, in a text of another folder: during a rename the kernel looks up no name in its folder.
during() { awk -F, '/^Bone01,translation,/ { printf "%.2f\n", $5; exit }' "$MNT/a.canm/walk/curves.csv"; }

close_it() { cat "$WORK/new" >"$BONES/hip.csv"; }
rename_it() { cp "$WORK/new" "$BONES/hip.tmp" && mv "$BONES/hip.tmp" "$BONES/hip.csv"; }

# A save is held after its commit, where it removes the text that was refused before.
saves()
{
	local how=$1 saver
	! echo "no table" 2>/dev/null >"$BONES/hip.csv"
	ok "$how: a text is refused" test -e "$BONES/hip.csv.rejected"
	sed "2s/^0,0,[^,]*/0,0,$2/" "$BONES/hip.csv" >"$WORK/new"
	echo "unlink hold $SRC/.animfs/rejected" >"$WORK/fault"
	"${how}_it" &
	saver=$!
	ok "$how: a save is committed" wait_for 10 test -e "$WORK/fault.held"
	ok "$how: another program saves another bone" stored Bone01 "$3"
	is "$how: which shows at once" "$(during)" "$3"
	ok "$how: and the same bone" stored hip "$4"
	is "$how: which counts for the next" "$(during)" "$3"
	rm "$WORK/fault"
	wait "$saver"
	is "$how: the save ends well" $? 0
	rm "$WORK/fault.held"
	is "$how: the last one shows" "$(cell hip)" "$4"
	is "$how: and is there" "$("$ANIMFS" cat "$OTHER/hip.csv" | first)" "$4"
	ok "$how: and what is read can be saved" sh -c "cat '$BONES/hip.csv' >'$WORK/back' && cat '$WORK/back' >'$BONES/hip.csv'"
	is "$how: without taking it back" "$(cell hip)" "$4"
}
saves close 0.50 0.25 0.75
saves rename 1.50 1.25 1.75
umount_animfs
