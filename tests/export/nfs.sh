#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# nfs.sh - a mount served by NFS-Ganesha (FSAL_VFS: open_by_handle_at), used by the client programs of
# libnfs, and by the kernel's client where there is one: folders are listed, views read and saved,
# also after the server's kernel has forgotten them.
# shellcheck source-path=SCRIPTDIR/../..
. tests/mount/lib.sh
. tests/mount/editing.bash
[ "$(id -u)" -eq 0 ] || skip_all "only root can serve"
command -v ganesha.nfsd >/dev/null || skip_all "nfs-ganesha is not installed"

cp "$SAMPLE" "$SRC/walk.canm"
echo plain >"$SRC/plain.txt"
mount_animfs -o allow_other,noforget
mkdir "$WORK/nfs" "$WORK/client"
cat >"$WORK/nfs/ganesha.conf" <<CONF
NFS_CORE_PARAM {
	Protocols = 4;
	NFS_Port = 42049;
	MNT_Port = 42050;
	Enable_NLM = false;
	Enable_RQUOTA = false;
	Bind_addr = 127.0.0.1;
	fsid_device = true;
}
NFSv4 {
	RecoveryBackend = fs;
	RecoveryRoot = "$WORK/nfs";
	Grace_Period = 1;
	Lease_Lifetime = 2;
}
EXPORT {
	Export_Id = 7;
	Path = "$MNT";
	Pseudo = "/anim";
	Access_Type = RW;
	Squash = No_Root_Squash;
	SecType = sys;
	Filesystem_id = 7.7;
	FSAL { Name = VFS; }
}
CONF
ganesha.nfsd -F -f "$WORK/nfs/ganesha.conf" -L "$WORK/nfs/log" -p "$WORK/nfs/pid" -N EVENT >"$WORK/nfs/out" 2>&1 &
GANESHA=$!
end_server()
{
	umount -l "$WORK/client" 2>/dev/null
	kill $GANESHA 2>/dev/null
	wait $GANESHA 2>/dev/null
}
trap 'status=$?; end_server; (exit $status); finish' EXIT

served() { grep -q 'NFS SERVER INITIALIZED' "$WORK/nfs/log" 2>/dev/null; }
if ! wait_for 30 served; then
	skip_all "NFS-Ganesha does not start here: $(grep -hE 'CRIT|FATAL|WARN' "$WORK/nfs/log" "$WORK/nfs/out" | tail -n 1)"
fi
url() { echo "nfs://127.0.0.1/anim/$1?version=4&nfsport=42049"; }
if command -v nfs-ls >/dev/null; then
	is "files are listed" "$(timeout 20 nfs-ls "$(url '')" | awk '{ print $NF }' | sort | paste -sd ' ')" \
		"plain.txt walk.canm"
	is "and those of all folders" "$(timeout 60 nfs-ls -R "$(url '')" | awk '{ print $NF }' | sort)" \
		"$(cd "$MNT" && find . -mindepth 1 -printf '%P\n' | sort)"
	ok "a bone is read" cmp <(timeout 20 nfs-cat "$(url "walk.canm/$BONE")") "$OLD"
	echo 2 >/proc/sys/vm/drop_caches
	ok "and read again when the kernel has forgotten it" cmp \
		<(timeout 20 nfs-cat "$(url "walk.canm/$BONE")") "$OLD"
	is "libnfs saves" "$(timeout 20 python3 tests/export/nfs_save.py "$(url '')" "/walk.canm/$BONE" "$NEW" 2>&1)" ""
	ok "a bone is saved" wait_for 5 cmp -s "$SRC/walk.canm" "$EDITED"
	ok "and reads as it was saved" cmp <(timeout 20 nfs-cat "$(url "walk.canm/$BONE")") "$NEW"
	timeout 20 nfs-cp "$OLD" "$(url file.txt)" >"$WORK/nfs/cp" 2>&1
	ok "an ordinary file is made" cmp "$SRC/file.txt" "$OLD"
	cp "$SAMPLE" "$SRC/walk.canm"
else
	skip "libnfs-utils is not installed"
fi
is "the mount is exported" "$(grep -cE 'EXPORT.*(CRIT|failed)|resolve.*fail' "$WORK/nfs/log")" 0
grep -qw nfs4 /proc/filesystems || modprobe nfsv4 2>/dev/null
if ! grep -qw nfs4 /proc/filesystems; then
	skip "this kernel has no NFS client"
else
	if ! mount -t nfs4 -o vers=4.1,port=42049,soft,timeo=50,noac 127.0.0.1:/anim "$WORK/client" 2>"$WORK/nfs/mount"; then
		not_ok "the export can be mounted" "$(<"$WORK/nfs/mount")"
		exit 1
	fi
	like "files are listed" "$(ls "$WORK/client" | paste -sd ' ')" 'plain\.txt walk\.canm'
	ok "a bone is read" cmp "$WORK/client/walk.canm/$BONE" "$OLD"
	exec 7<"$WORK/client/walk.canm/$BONE"
	echo 2 >/proc/sys/vm/drop_caches
	is "what is open is read on" "$(head -n 1 <&7)" "$(head -n 1 "$OLD")"
	exec 7<&-
	cp "$NEW" "$WORK/client/walk.canm/$BONE"
	ok "a bone is saved" wait_for 5 cmp -s "$SRC/walk.canm" "$EDITED"
	echo more >"$WORK/client/plain.txt"
	is "an ordinary file is written" "$(<"$SRC/plain.txt")" more
	umount "$WORK/client"
fi
end_server
umount_animfs
