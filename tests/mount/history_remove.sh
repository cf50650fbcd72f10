#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# history_remove.sh - a file is removed while other programs, which take no lock, put theirs in its place:
# those stay, or become versions of their own.
. "$(dirname "$0")/lib.sh"
reason=$(can_mount) || skip_all "$reason"
has_faults || exit 0
SAMPLE=tests/data/canm/wiki512.canm
OTHER=tests/data/canm/edf6_768.canm
BONE=walk/bones/Bone01.csv
export FAULT=$WORK/fault
mount_faulty() { LD_PRELOAD=$FAULTS mount_animfs -o unconfined "$@"; }
# put_there FILE: as another program that saves by rename
put_there() { cp "$1" "$WORK/theirs" && mv "$WORK/theirs" "$SRC/x.canm"; }
is_held() { [ -e "$FAULT.held" ]; }
held() { ok "the call is held" wait_for 10 is_held; }
release()
{
	rm -f "$FAULT.held"
	echo "${1-}" >"$FAULT"
}
kept_as() { find "$SRC/.animfs/history" -type f -regex '.*/[0-9]+' -exec cmp -s {} "$1" \; -printf '%f '; }
cp "$SAMPLE" "$SRC/x.canm"
"$ANIMFS" cat "$SRC/x.canm/$BONE" | sed 's/,1.5,-2,/,2.5,-2,/' >"$WORK/two.csv"

# ---- its bytes are kept as another version, so it is only unlinked ----
"$ANIMFS" put "$SRC/x.canm/$BONE" "$WORK/two.csv"
"$ANIMFS" undo "$SRC/x.canm"
for option in 1G 0; do
	[ $option = 1G ] || cp "$SAMPLE" "$SRC/x.canm"
	mount_faulty --history=$option
	ls "$MNT/x.canm" >/dev/null
	echo "unlink hold $SRC" >"$FAULT"
	rm -r "$MNT/x.canm" 2>/dev/null &
	held
	ok "--history=$option: another program's file" put_there "$OTHER"
	release
	wait $!
	ok "--history=$option: stays" same_file "$SRC/x.canm" "$OTHER"
	is "--history=$option: beside nothing" "$(find "$SRC" -maxdepth 1 -name '.animfs-*')" ""
	rm -f "$FAULT"
	umount_animfs
	rm "$SRC/x.canm"
done

# ---- another program's file is moved into history, and its name is taken before it is moved back ----
rm -rf "$SRC/.animfs"
cp "$SAMPLE" "$SRC/x.canm"
"$ANIMFS" put "$SRC/x.canm/$BONE" "$WORK/two.csv"
cp "$SRC/x.canm" "$WORK/two"
mount_faulty
ls "$MNT/x.canm" >/dev/null
echo "rename hold $SRC" >"$FAULT"
timeout 60 rm -r "$MNT/x.canm" 2>/dev/null &
held
ok "another program's file, before it is moved" put_there "$OTHER"
release "rename hold $SRC 1"
held
ok "and a third, before it is moved back" put_there "$WORK/two"
release
wait $!
is "the other's is a version of its own" "$(kept_as "$OTHER")" "3 "
like "of which the log says so" "$("$ANIMFS" log "$SRC/x.canm")" '3 .*changed by another program'
rm -f "$FAULT"
umount_animfs
