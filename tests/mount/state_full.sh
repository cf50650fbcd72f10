#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# state_full.sh - a refused text cannot be put beside its view, since the state directory is full, read-only
# or broken: the caller gets the real errno, the view keeps showing the text, also to later openers, and
# .animfs/errors has the reason; nothing typed is lost.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/editing.bash"
reason=$(can_mount) || skip_all "$reason"
STATE=$WORK/state
mkdir "$STATE"
cp "$SAMPLE" "$SRC"
F=$MNT/wiki512.canm/$BONE
errors() { cat "$MNT/.animfs/errors"; }
unchanged() { cmp "$SRC/wiki512.canm" "$SAMPLE"; }
fill_state() { dd if=/dev/zero of="$STATE/filler" bs=4k 2>/dev/null; }
sed s/-180,/1x,/ "$OLD" >"$WORK/bad.csv"

# refused_save ERRNO: of $WORK/bad.csv, which is nowhere else when the state cannot have it.
refused_save()
{
	is "$1: fsync says so" "$(save_errno fsync "$F" "$(<"$WORK/bad.csv")"$'\n')" "$1"
	ok "$1: the view still says it" cmp "$F" "$WORK/bad.csv"
	like "$1: .animfs/errors says why" "$(errors)" 'Bone01\.csv: not saved: .*"1x" is not.*cannot be put'
	is "$1: close says so" "$(save_errno close "$F" "$(<"$WORK/bad.csv")"$'\n')" "$1"
	advance 2500 # what is half-written or waits for more ends then
	ok "$1: and later" cmp "$F" "$WORK/bad.csv"
	ok "$1: the file is as it was" unchanged
	is "$1: so does a rename" "$(save_errno rename "$F" "$(<"$WORK/bad.csv")"$'\n')" "$1"
}

mount -t tmpfs -o size=256k tmpfs "$STATE" || skip_all "no tmpfs can be mounted"
mount_stopped --state="$STATE"
ok "the state directory is used" cp "$OLD" "$F"
fill_state
refused_save ENOSPC
is "another program may go on with it" "$(sed -n 2p "$F" | grep -c 1x,)" 1
rm "$STATE/filler"
is "once there is room" "$(save_errno fsync "$F" "$(<"$WORK/bad.csv")"$'\n')" EBADMSG
ok "it is put beside the view" cmp "$F.rejected" "$WORK/bad.csv"
ok "which says what the file says" after 2000 cmp "$F" "$OLD"
is "and is one error" "$(errors | grep -c Bone01)" 1
rm -f "$F.rejected" "$F.error" "$F.new~"

fill_state
is "full again" "$(save_errno close "$F" "$(<"$WORK/bad.csv")"$'\n')" ENOSPC
rm "$STATE/filler"
ok "what was not kept can be put right" sed -i s/1x,/-180,/ "$F"
ok "and is no edit then" unchanged
is "and no error" "$(errors)" ""
fill_state
is "full once more" "$(save_errno close "$F" "$(<"$WORK/bad.csv")"$'\n')" ENOSPC
rm "$STATE/filler"
umount_animfs
mount_stopped --state="$STATE"
ok "with room again the end of the mount keeps it" cmp "$F.rejected" "$WORK/bad.csv"
rm "$F.rejected" "$F.error"

# Busy while a file that was removed there still ends.
ok "read-only" wait_for 60 mount -o remount,ro "$STATE"
refused_save EROFS
is "a good text cannot be saved either" "$(save_errno close "$F" "$(<"$NEW")"$'\n')" EROFS
ok "and is what the view says" cmp "$F" "$NEW"
ok "writable" mount -o remount,rw "$STATE"
ok "then it is saved" cp "$NEW" "$F"
ok "as by any other save" cmp "$SRC/wiki512.canm" "$EDITED"
is "without an error left" "$(errors)" ""
umount_animfs
umount "$STATE"

if has_faults; then
	cp "$SAMPLE" "$SRC"
	export LD_PRELOAD=$FAULTS FAULT=$WORK/fault
	mount_stopped -o unconfined --state="$STATE"
	unset LD_PRELOAD
	ok "the same state, without faults" test "$(save_errno fsync "$F" "$(<"$WORK/bad.csv")"$'\n')" = EBADMSG
	rm "$F.rejected" "$F.error"
	for call in create write rename fsync; do
		echo "$call 5 $STATE" >"$FAULT" # EIO
		is "a $call there fails" "$(save_errno fsync "$F" "$(<"$WORK/bad.csv")"$'\n')" EIO
		ok "$call: the view still says it" cmp "$F" "$WORK/bad.csv"
		rm "$FAULT"
		is "$call: then it is kept" "$(save_errno fsync "$F" "$(<"$WORK/bad.csv")"$'\n')" EBADMSG
		ok "$call: beside the view" cmp "$F.rejected" "$WORK/bad.csv"
		rm -f "$F.rejected" "$F.error"
	done
	# As fusefat, which knows no modes.
	echo "attribute 95 $STATE" >"$FAULT" # EOPNOTSUPP
	is "without modes there" "$(save_errno fsync "$F" "$(<"$WORK/bad.csv")"$'\n')" EBADMSG
	ok "without modes there: it is kept" cmp "$F.rejected" "$WORK/bad.csv"
	rm "$FAULT"
	umount_animfs
fi
