#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# fstab.sh - mount -t animfs, lines of /etc/fstab, and umount: mount(8) runs contrib/mount.animfs,
# which must be in /sbin. It is, for the processes of this test alone.
# alone: its copies of the mounts of other tests would keep their daemons from ending
. tests/mount/lib.sh

reason=$(can_mount) || skip_all "$reason"
[ "$(id -u)" -eq 0 ] || skip_all "only root mounts by /etc/fstab"
if [ "${OWN_SBIN:-}" != yes ]; then
	unshare --mount --propagation private true 2>/dev/null ||
		skip_all "mounts cannot be made for this test alone, as in a chroot"
	mkdir "$WORK/upper" "$WORK/tmp"
	cp contrib/mount.animfs "$WORK/upper"
	ln -s "$ANIMFS" "$WORK/upper/animfs"
	# rmdir: the second run of this script makes them.
	trap - EXIT
	rmdir "$SRC" "$MNT"
	exec unshare --mount --propagation private sh -c '
		mount -t overlay -o "lowerdir=$3,upperdir=$1/upper,workdir=$1/tmp" none "$3" || {
			echo "ok 1 - # SKIP no overlay can be mounted"
			echo 1..1
			exit
		}
		OWN_SBIN=yes exec bash "$2"' sh "$WORK" "$0" "$(realpath /sbin)"
fi

make_game --files 1 --clips 1 --bones 2 --frames 2 --plain 0
file=$(cd "$SRC" && find . -name '*.canm')
fstab=$WORK/fstab

options() { findmnt -n -o "$1" "$MNT"; }
daemon() { sed -n 's/^pid //p' "$MNT/.animfs/status"; }
# umount does not wait for the daemon, and the next mount of SOURCE should not meet it.
unmount()
{
	local pid
	pid=$(daemon)
	umount "$MNT" && wait_for 20 is_gone "$pid"
}

ok "mount -t animfs" mount -t animfs "$SRC" "$MNT"
is "its type" "$(options FSTYPE)" fuse.animfs
is "its source" "$(options SOURCE)" "$SRC"
ok "it shows a folder of texts" test -f "$MNT/$file/walk/bones/Scene_Root.csv"
ok "umount" unmount
ok "nothing is mounted then" test -z "$(options SOURCE)"

ok "mount -o" mount -t animfs "$SRC" "$MNT" -o ro,allow_other,nosuid,views=csv:json
like "its options" "$(options OPTIONS)" "^ro,nosuid,.*allow_other"
is "and animfs's own" "$(ls "$MNT/$file/walk")" "bones
clip.json"
ok "umount" unmount
ok "mount -s -v -n" mount -s -v -n -t animfs "$SRC" "$MNT"
ok "umount" unmount
ok "mount -f does not mount" mount -f -t animfs "$SRC" "$MNT"
ok "nothing is mounted" test -z "$(options SOURCE)"

for list in defaults _netdev,nofail,x-systemd.automount,noauto,user,exec \
	rw,relatime,lazytime,nodiratime,noatime,group,comment=x,X-mount.mkdir 'type=*.bin=canm'; do
	ok "-o $list" mount -t animfs "$SRC" "$MNT" -o "$list"
	ok "umount" unmount
done
fails "an option that nobody knows" mount -t animfs "$SRC" "$MNT" -o bogus
fails "a source that is not there" mount -t animfs "$WORK/none" "$MNT"
fails "no folder to mount at" mount -t animfs "$SRC" "$WORK/none"

cat >"$fstab" <<END
$SRC $MNT animfs ro,allow_other,nofail,x-systemd.requires-mounts-for=/home,_netdev 0 0
END
ok "mount -a" mount -a -T "$fstab"
like "its options" "$(options OPTIONS)" "^ro,.*allow_other"
ok "mount -a again does nothing" mount -a -T "$fstab"
is "it is mounted once" "$(findmnt -n -o TARGET "$MNT" | wc -l)" 1
ok "umount" unmount
echo "$SRC $MNT fuse.animfs defaults,views=csv 0 0" >"$fstab"
ok "the type fuse.animfs" mount -T "$fstab" "$MNT"
is "shows what the options say" "$(ls "$MNT/$file/walk")" bones
ok "umount" unmount

odd="$WORK/a b,c\$(x)'q"
mkdir "$odd"
cp "$SRC/$file" "$odd/odd.canm"
ok "a source with an odd name" mount -t animfs "$odd" "$MNT"
is "is shown" "$(ls "$MNT")" odd.canm
bones=$MNT/odd.canm/walk/bones
sed 's/^0,0,[^,]*/0,0,0.125/' "$bones/Scene_Root.csv" >"$WORK/new.csv"
ok "a save" cp "$WORK/new.csv" "$bones/Scene_Root.csv"
ok "umount" unmount
like "is in the file" "$("$ANIMFS" cat "$odd/odd.canm/walk/bones/Scene_Root.csv")" "0,0,0.125,"
