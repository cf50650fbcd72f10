#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# enosys.sh - a filesystem below that lacks a call must not make the kernel leave out flushes: after ENOSYS
# to one request, the kernel never sends that kind of request again, for any file.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/editing.bash"
[ -e "$FAULTS" ] || skip_all "fault.so is not built"
cp "$SAMPLE" "$SRC"
F=$MNT/wiki512.canm/$BONE
LD_PRELOAD=$FAULTS FAULT=$WORK/fault mount_animfs -o unconfined

echo "rename 38 $SRC" >"$WORK/fault"
is "a call that is not there" "$(save_errno close "$F" "$(<"$NEW")")" ENOTSUP
is "once more" "$(save_errno close "$F" "$(<"$NEW")")" ENOTSUP
rm "$WORK/fault"
is "a text that is no table is refused after that" "$(save_errno close "$F" 'no table')" EBADMSG
ok "and a save is one" cp "$NEW" "$F"
ok "in the binary" cmp "$SRC/wiki512.canm" "$EDITED"
umount_animfs
