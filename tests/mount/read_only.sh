#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# read_only.sh - a read-only mount, by -o ro or because SOURCE cannot be written, shows everything, reports
# that it is read-only, and refuses every change with EROFS.
. "$(dirname "$0")/lib.sh"
cp tests/data/canm/*.canm "$SRC"
echo text >"$SRC/plain"

refuses_changes()
{
	local f=$MNT/wiki512.canm/walk/bones/Bone01.csv
	like "$1: reads" "$(<"$f")" 0,0,1.5,-2
	is "$1: is the size" "$(stat -c %s "$f")" 207
	like "$1: says so" "$(<"$MNT/.animfs/status")" 'read_only yes'
	like "$1: as a mount option" "$(grep " $MNT fuse" /proc/self/mounts)" ' ro,'
	is "$1: a save" "$(save_errno close "$f" x)" EROFS
	for change in "rm $f" "mv $f $f.x" "touch $f.new" "mkdir $MNT/d" "chmod 600 $f" \
		"truncate -s 0 $f" "rm $MNT/plain" "cp /dev/null $MNT/plain" "ln -s x $MNT/x" \
		"touch $MNT/wiki512.canm" "rm $MNT/wiki512.canm/raw.canm" "rmdir $MNT/wiki512.canm" \
		"mv $MNT/wiki512.canm $MNT/w.canm" "setfattr -n user.x -v y $f"; do
		like "$1: ${change%% *}" "$($change 2>&1)" 'Read-only file system'
	done
	is "$1: leaves no state" "$(find "$SRC" -name '.animfs*')" ""
	like "$1: damaged files say why" "$(getfattr --absolute-names --only-values -n user.animfs.error "$MNT/bad_version.canm")" version
}

mount_animfs -o ro
refuses_changes "-o ro"
umount_animfs

if [ "$(id -u)" -eq 0 ]; then
	mount --bind "$SRC" "$SRC" && mount -o remount,ro,bind "$SRC"
	mount_animfs
	refuses_changes "read-only SOURCE"
	like "read-only SOURCE: the mount says so" "$(<"$LOG")" 'read-only'
	f=$MNT/wiki512.canm/walk/bones/Bone01.csv
	is "read-only SOURCE: views have no write bits" "$(stat -c %a "$f")" 444
	umount_animfs

	mkdir "$WORK/state"
	mount_animfs --state="$WORK/state"
	is "with --state ordinary files can be written" "$(echo hi >"$MNT/wiki512.canm/note"; cat "$MNT/wiki512.canm/note")" hi
	is "but no save is possible" "$(save_errno fsync "$MNT/wiki512.canm/walk/bones/Bone01.csv" "$(sed s/1.5,/2.5,/ "$MNT/wiki512.canm/walk/bones/Bone01.csv")")" EROFS
	umount_animfs
	umount "$SRC"
else
	skip "a read-only bind mount needs root"
fi
