#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# uml.sh - the first process of a User-mode Linux that has this machine's files as its root: runs the
# script $UML_RUN, then ends that machine. uml.py starts it, with the modules in $UML_MODULES.
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
mkdir -p /dev/shm /dev/pts
mount -t tmpfs none /dev/shm
mount -t devpts devpts /dev/pts
ln -s /proc/self/fd /dev/fd
mount -t tmpfs none /run
for module in fs/fuse/fuse fs/nls/nls_cp437 fs/nls/nls_ascii fs/nls/nls_iso8859-1 fs/fat/fat fs/fat/vfat \
	drivers/block/loop; do
	insmod "$UML_MODULES/kernel/$module.ko"
done
bash "$UML_RUN"
python3 -c 'import ctypes; ctypes.CDLL(None).reboot(0x4321fedc)' # LINUX_REBOOT_CMD_POWER_OFF
