#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# samples.sh - every sample of every format: the views have the stored values, saving each view's own text
# changes nothing, and a refused file stays a plain file with a reason.
. "$(dirname "$0")/lib.sh"
for format in ff9anim ribbon owanim; do
	for file in tests/data/"$format"/*; do
		case $file in
		*.json) ;;
		*) cp "$file" "$SRC/" ;;
		esac
	done
done
(cd "$SRC" && md5sum -- *) >"$WORK/before"
mount_animfs --rotations=stored
is "every number of every sample" "$(python3 tests/mount/samples.py tests/data "$MNT" 2>&1)" ""
umount_animfs
mount_animfs
for file in "$SRC"/bad_*; do
	like "${file##*/} has its reason" \
		"$(getfattr --only-values -n user.animfs.error "$MNT/${file##*/}")" .
done

good=("$SRC"/[!b]*)
cp -r "$MNT" "$WORK/out"
ok "a whole tree copied out and back" cp -r "$WORK/out/." "$MNT"
ok "by rsync" rsync -rI "$WORK/out/" "$MNT"
ok "changes no byte" sh -c "cd '$SRC' && md5sum --quiet -c '$WORK/before'"
ok "check finds every sample sound" "$ANIMFS" check "${good[@]}"
umount_animfs
