#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# history_kinds.sh - old versions where a file cannot be moved to them: without renameat2's flags a
# link is made first; where links are refused, or lead to another filesystem, it is a copy.
. "$(dirname "$0")/lib.sh"
reason=$(can_mount) || skip_all "$reason"
[ "$(id -u)" -eq 0 ] || skip_all "only root can mount what this needs"
FAULT_SO=$(dirname "$ANIMFS")/fault.so
SAMPLE=$PWD/tests/data/canm/wiki512.canm
TOP=$SRC
bone=walk/bones/Bone01.csv

# Old versions that have another name.
shared() { find "$1" -path '*/history/*' -type f -links +1; }

# history NAME [OPTION...]: SOURCE is $SRC, the state directory $STATE.
history()
{
	local name=$1 file=$SRC/w.canm m=$MNT/w.canm
	shift
	cp "$SAMPLE" "$file"
	mount_animfs "$@"
	sed -i 's/,1.5,-2,0.25,/,2.5,-2,0.25,/' "$m/$bone"
	cp "$file" "$WORK/two"
	sed -i 's/,2.5,-2,0.25,/,3.5,-2,0.25,/' "$m/$bone"
	cp "$file" "$WORK/three"
	is "$name: versions" "$("$ANIMFS" log "$m" | wc -l)" 3
	is "$name: none is the file" "$(shared "$STATE")" ""
	ok "$name: undo" "$ANIMFS" undo "$m"
	ok "$name: the file" cmp "$file" "$WORK/two"
	ok "$name: undo again" "$ANIMFS" undo "$m"
	ok "$name: the file again" cmp "$file" "$SAMPLE"
	ok "$name: redo" "$ANIMFS" redo "$m"
	is "$name: none is the file then" "$(shared "$STATE")" ""
	ok "$name: the mount" wait_for 3 grep -q ,2.5,-2, "$m/$bone"
	sed -i 's/,2.5,-2,0.25,/,4.5,-2,0.25,/' "$m/$bone"
	ok "$name: an edit ends redo" test "$("$ANIMFS" redo "$m" 2>/dev/null; echo $?)" = 1
	rm -r "$m"
	fails "$name: removed" test -e "$file"
	ok "$name: and back" "$ANIMFS" undo "$m"
	like "$name: as it was" "$("$ANIMFS" cat "$file/$bone")" ,4.5,-2,
	is "$name: none is the file at the end" "$(shared "$STATE")" ""
	umount_animfs
	fails "$name: no temporaries are left" compgen -G "$SRC/.animfs-*"
	rm -rf "${SRC:?}"/* "$SRC/.animfs"
}

# ---- calls that fail ----
if [ -f "$FAULT_SO" ]; then
	STATE=$SRC
	export FAULT=$WORK/fault
	for fault in "flags 22" "flags 38" "poor 22"; do # EINVAL, ENOSYS
		echo "$fault $SRC" >"$FAULT"
		LD_PRELOAD=$FAULT_SO
		export LD_PRELOAD
		history "$fault" -o unconfined
		unset LD_PRELOAD
	done
	unset FAULT
else
	skip "fault.so is not built"
fi

# ---- another filesystem ----
STATE=$WORK/state
mkdir "$STATE"
if mount -t tmpfs tmpfs "$STATE"; then
	history "a state directory on another filesystem" --state="$STATE"
	umount "$STATE"
else
	skip "no tmpfs can be mounted"
fi
STATE=$WORK/beside
history "a state directory elsewhere" --state="$STATE"

# ---- exFAT ----
image=$WORK/image SRC=$WORK/exfat
mkdir "$SRC"
if command -v mount.exfat-fuse >/dev/null && truncate -s 64M "$image" &&
	mkfs.exfat "$image" >/dev/null && loop=$(losetup -f --show "$image"); then
	mount.exfat-fuse "$loop" "$SRC" 2>/dev/null
	losetup -d "$loop"
fi
if mountpoint -q "$SRC"; then
	STATE=$SRC
	history exfat-fuse
	umount "$SRC"
else
	skip "no exFAT can be mounted"
fi
SRC=$TOP
