# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
# user.bash - what the tests about other users share. Skips what cannot be tested here; then
# /dev/fuse can be opened by anybody, until the test ends, and $USER_ANIMFS is a copy of the program
# that anybody can run.
#
#   as_user COMMAND...         runs it as an ordinary user, who has no name: $USER_ID
#   as_other COMMAND...        as another one, $OTHER_ID
#   needs_fusermount           skips the test where ordinary users cannot mount
[ "$(id -u)" -eq 0 ] || skip_all "only root can become another user"
reason=$(can_mount) || skip_all "$reason"

USER_ID=65534
OTHER_ID=64999
as_user() { setpriv --reuid=$USER_ID --regid=$USER_ID --clear-groups -- "$@"; }
as_other() { setpriv --reuid=$OTHER_ID --regid=$OTHER_ID --clear-groups -- "$@"; }

needs_fusermount()
{
	[ -u "$(command -v fusermount3)" ] || skip_all "fusermount3 is not set-uid"
	[ -e /etc/mtab ] || skip_all "fusermount3 needs /etc/mtab"
}

# One such test at a time: the first that ends would take the device from the others.
exec {device_lock}</dev/fuse
flock "$device_lock"
fuse_mode=$(stat -c %a /dev/fuse)
restore_device()
{
	local status=$?
	chmod "$fuse_mode" /dev/fuse
	flock -u "$device_lock"
	(exit "$status")
	finish
}
trap restore_device EXIT
chmod 666 /dev/fuse

chmod 755 "$WORK"
mkdir "$WORK/bin"
USER_ANIMFS=$WORK/bin/animfs
cp "$ANIMFS" "$USER_ANIMFS"
