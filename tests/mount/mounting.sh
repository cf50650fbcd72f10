#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# mounting.sh - the ways to mount: in the background, over SOURCE itself, by mount(8) as from
# /etc/fstab, and with other owners.
. "$(dirname "$0")/lib.sh"
cp tests/data/canm/wiki512.canm "$SRC"
reason=$(can_mount) || skip_all "$reason"
VIEW=wiki512.canm/walk/bones/Bone01.csv

status_pid() { sed -n 's/^pid //p' "$1/.animfs/status"; }
# in_background COMMAND...: mounts, and remembers the daemon for the end of the test
in_background()
{
	"$@" || return
	status_pid "$MNT" >>"$WORK/daemons"
}
ends() { "$ANIMFS" umount "$MNT" && ! is_mounted; }

ok "in the background" in_background "$ANIMFS" "$SRC" "$MNT"
ok "it is mounted when the command returns" test -f "$MNT/$VIEW"
ok "an edit" sed -i 2s/1.5,/2.5,/ "$MNT/$VIEW"
ok "unmounted" ends
like "is saved" "$("$ANIMFS" cat "$SRC/$VIEW")" 0,0,2.5,

ok "one thread" in_background "$ANIMFS" -s "$SRC" "$MNT"
ok "an edit in it" sed -i 2s/2.5,/3.5,/ "$MNT/$VIEW"
ok "unmounted after it" ends
ok "a number of threads" in_background "$ANIMFS" mount -o max_threads=3 "$SRC" "$MNT"
like "fsname and type are shown" "$(grep " $MNT " /proc/self/mounts)" "^$SRC $MNT fuse\.animfs "
ok "unmounted again" ends
ok "relative paths" in_background sh -c "cd '$WORK' && '$ANIMFS' src mnt"
ok "are found from the background" sed -i 2s/3.5,/4.5,/ "$MNT/$VIEW"
ok "unmounted from there" ends

# Over SOURCE: its own files are reached behind the mount.
MOUNTPOINT=$MNT
MNT=$SRC
ok "over SOURCE" in_background "$ANIMFS" "$SRC" "$SRC"
ok "its files are folders" test -f "$SRC/$VIEW"
ok "which can be edited" sed -i 2s/4.5,/5.5,/ "$SRC/$VIEW"
is "the state is not seen" "$(ls -A "$SRC")" wiki512.canm
ok "unmounted from SOURCE" ends
like "the edit is in the file" "$("$ANIMFS" cat "$SRC/$VIEW")" 0,0,5.5,

mkdir "$WORK/full"
touch "$WORK/full/file"
MNT=$WORK/full
ok "over a folder that is not empty, when asked to" in_background "$ANIMFS" -o nonempty "$SRC" "$MNT"
ok "unmounted from it" ends
MNT=$MOUNTPOINT

# mount.fuse3 finds the program in the path.
mkdir "$WORK/bin"
cp "$ANIMFS" "$WORK/bin/animfs"
if [ "$(id -u)" -eq 0 ] && command -v mount.fuse3 >/dev/null; then
	ok "mount.fuse3 with a type in the source" in_background env PATH="$WORK/bin:$PATH" mount.fuse3 "animfs#$SRC" "$MNT" -o views=csv:json,ro
	is "has the options" "$(ls "$MNT/wiki512.canm/walk")" "$(printf '%s\n' bones clip.json)"
	ok "unmounted with umount" umount "$MNT"
	ok "the daemon ends" wait_for 10 sh -c "! kill -0 $(tail -n 1 "$WORK/daemons") 2>/dev/null"
	ok "mount.fuse3 as from fstab" in_background env PATH="$WORK/bin:$PATH" mount.fuse3 "$SRC" "$MNT" -t fuse.animfs -o rw,dev,suid,beside,allow_other
	ok "has them, too" test -d "$MNT/wiki512.canm.d/walk"
	ok "unmounted by animfs umount" ends

	chmod 755 "$WORK"
	ok "uid, gid and umask" in_background "$ANIMFS" -o uid=1234,gid=1235,umask=027,allow_other "$SRC" "$MNT"
	is "are those of everything" "$(stat -c '%u %g %a' "$MNT/wiki512.canm" "$MNT/$VIEW" | tr '\n' ' ')" "1234 1235 750 1234 1235 640 "
	sed 2s/5.5,/6.5,/ "$MNT/$VIEW" >"$WORK/new.csv"
	ok "that user may edit" setpriv --reuid=1234 --regid=1235 --clear-groups cp "$WORK/new.csv" "$MNT/$VIEW"
	fails "another may not" setpriv --reuid=1236 --regid=1237 --clear-groups cat "$MNT/$VIEW"
	ok "unmounted after that" ends
else
	skip "mount.fuse3 needs root"
fi
