#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# damaged.sh - a file that does not decode is shown as a plain file, with the reason in three places.
. "$(dirname "$0")/lib.sh"
cp tests/data/canm/*.canm "$SRC"
mount_animfs

ls -l "$MNT" >"$WORK/listing"
for name in negframes truncated unterminated version; do
	file=bad_$name.canm
	ok "$name: the file as it is" cmp "$MNT/$file" "$SRC/$file"
	like "$name: listed as a file" "$(<"$WORK/listing")" "-rw-r--r-- [^"$'\n'"]* $file"
	reason=$(sed -n "s/^$file: shown as it is: //p" "$MNT/.animfs/errors")
	like "$name: a reason among the errors" "$reason" ...
	is "$name: the same without a mount, and where" \
		"$("$ANIMFS" ls "$SRC/$file" 2>&1 | sed -E 's/:0x[0-9a-f]+: /: at: /')" "animfs: $SRC/$file: at: $reason"
	like "$name: and in the log" "$(<"$LOG")" "$file: shown as it is: "
	is "$name: and in an attribute" "$(getfattr --only-values -n user.animfs.error "$MNT/$file")" "$reason"
	like "$name: which is listed" "$(getfattr "$MNT/$file" 2>/dev/null)" user.animfs.error
done
if has_faults; then
	umount_animfs
	LD_PRELOAD=$FAULTS FAULT=$WORK/fault mount_animfs -o unconfined
	listed() { getfattr "$MNT/bad_version.canm" 2>/dev/null | grep user.animfs.error; }
	sleep 0.1 # so that the file's times are no longer new
	ok "listed by what the file says" listed
	echo "read 5 $SRC" >"$WORK/fault"
	ok "and then without reading it" listed
	rm "$WORK/fault"
	umount_animfs
	mount_animfs
fi
is "others have no such attribute" "$(getfattr -d "$MNT/wiki512.canm/raw.canm")" ""

cp tests/data/canm/wiki512.canm "$SRC/bad_version.canm"
ok "replaced by a good one it is a folder" wait_for 3 test -d "$MNT/bad_version.canm/walk"
fails "and no error any more" grep bad_version "$MNT/.animfs/errors"
cp tests/data/canm/bad_version.canm "$SRC/bad_version.canm"
ok "damaged again it is a file" wait_for 3 test -f "$MNT/bad_version.canm"
ok "with its error" wait_for 3 grep bad_version "$MNT/.animfs/errors"

ok "a damaged file can be written" cp tests/data/canm/wiki512.canm "$MNT/bad_version.canm"
ok "and is a folder then" wait_for 3 test -d "$MNT/bad_version.canm/walk"
umount_animfs
