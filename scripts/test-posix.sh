#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# test-posix.sh [PART...] - checks that ordinary files behave the same in a mount and on the plain
# filesystem: matrix (posix_matrix.c), random (random_ops.c, $OPS operations in four runs, from seed
# $SEED on), stress-ng, fio and dbench; storms (concurrent.sh and source_changes.sh, longer). All
# parts without PART. Needs root.
set -u
cd "$(dirname "$0")/.." || exit 1
BUILD=$(realpath "${BUILD:-build}")
OPS=${OPS:-1000000}
SEED=${SEED:-$((RANDOM * 4))}
SECONDS_EACH=${SECONDS_EACH:-2}

if [ "$(id -u)" -ne 0 ]; then
	echo "test-posix.sh: only root can be several users" >&2
	exit 1
fi

passed=0 failed=0
work=$(mktemp -d /var/tmp/animfs-posix.XXXXXX) || exit 1
image=
clean_up()
{
	umount "$work/mnt" 2>/dev/null || umount -l "$work/mnt" 2>/dev/null
	umount "$work/fs" 2>/dev/null || umount -l "$work/fs" 2>/dev/null
	rm -rf "$work" "$image"
}
trap clean_up EXIT
trap 'exit 130' INT TERM

# Unconfined: the bare filesystem has devices, too. A filesystem of its own, of the kind that is compared with: ext4, in memory where there is enough.
mkdir "$work/fs" "$work/mnt"
image=$(mktemp /dev/shm/animfs-posix.XXXXXX 2>/dev/null || mktemp "$work/image.XXXXXX")
truncate -s 2G "$image"
if ! { mkfs.ext4 -q -F "$image" && mount -o loop "$image" "$work/fs"; } 2>/dev/null; then
	echo "  no ext4 image can be mounted: $work itself is the bare filesystem"
fi
mkdir "$work/fs/src" "$work/fs/bare"
chmod 777 "$work/fs" "$work/fs/src" "$work/fs/bare" "$work"
"$BUILD/animfs" -o allow_other,unconfined "$work/fs/src" "$work/mnt" || exit 1

# verdict STATUS NAME LOG
verdict()
{
	if [ "$1" -eq 0 ]; then
		passed=$((passed + 1))
		echo "ok - $2"
	else
		failed=$((failed + 1))
		echo "not ok - $2 (status $1)"
		tail -n 40 "$3" | sed 's/^/    /'
	fi
}

# on SIDE COMMAND...: runs it there in a new folder
on()
{
	local side=$1 top
	shift
	top=$([ "$side" = bare ] && echo "$work/fs/bare" || echo "$work/mnt")
	mkdir "$top/run" && chmod 777 "$top/run" && (cd "$top/run" && "$@")
	set -- $?
	rm -rf "$top/run"
	return "$1"
}

# both NAME COMMAND...: ends well on the bare filesystem and in the mount
both()
{
	local name=$1 side
	shift
	for side in bare mount; do
		on $side "$@" >"$work/log" 2>&1
		verdict $? "$name, $side" "$work/log"
	done
}

part_matrix()
{
	mkdir "$work/fs/bare/matrix" "$work/mnt/matrix"
	"$BUILD/posix_matrix" "$work/fs/bare/matrix" "$work/mnt/matrix" >"$work/log" 2>&1
	verdict $? "matrix: $(tail -n 1 "$work/log")" "$work/log"
	rm -rf "$work/fs/bare/matrix" "$work/mnt/matrix"
}

part_random()
{
	local i
	for i in 0 1 2 3; do
		mkdir "$work/fs/bare/random" "$work/mnt/random"
		"$BUILD/random_ops" "$work/fs/bare/random" "$work/mnt/random" $((OPS / 4)) \
			$((SEED + i)) >"$work/log" 2>&1
		verdict $? "random, seed $((SEED + i)): $(tail -n 1 "$work/log")" "$work/log"
		rm -rf "$work/fs/bare/random" "$work/mnt/random"
	done
}

# Without those that need something that neither side has (binderfs, verity), mount something over
# it, or have nothing to do with filesystems.
part_stress()
{
	on mount stress-ng --class filesystem --exclude binderfs,verity,bind-mount,procfs,ioprio,eventfd \
		--verify --seq 2 --timeout "$SECONDS_EACH" --temp-path . >"$work/log" 2>&1
	local status=$?
	# 4: a kind of call is not available (FS_IOC_FIEMAP), and reported as skipped.
	[ $status -ne 4 ] || grep -qE 'fail:|error:' "$work/log" || status=0
	verdict $status "stress-ng" "$work/log"
	# These found something once.
	on mount stress-ng --fstat 2 --xattr 2 --dentry 2 --rename 2 --verify --timeout 10 --temp-path . \
		>"$work/log" 2>&1
	verdict $? "stress-ng: fstat, xattr, dentry, rename at once" "$work/log"
}

part_fio()
{
	local kind
	for kind in write randwrite; do
		both "fio: $kind with verify" fio --name=v --rw=$kind --size=16M --bs=3k --numjobs=2 \
			--verify=crc32c --verify_fatal=1 --fallocate=keep --ioengine=psync --fsync=64 --minimal
	done
	both "fio: mapped, with verify" fio --name=m --rw=randwrite --size=16M --bs=4k \
		--verify=md5 --verify_fatal=1 --ioengine=mmap --minimal
	both "fio: several at once, with verify" fio --name=l --rw=randrw --size=8M --bs=1k-16k --numjobs=4 \
		--verify=sha1 --verify_fatal=1 --ioengine=libaio --iodepth=8 --minimal
}

part_dbench()
{
	both "dbench" dbench -t 10 -c /usr/share/dbench/client.txt 4
	both "dbench, with extended attributes and syncs" dbench -t 5 -x -s -S -c /usr/share/dbench/client.txt 2
}

part_storms()
{
	ROUNDS=4 ANIMFS=$BUILD/animfs tests/mount/run.sh tests/mount/concurrent.sh \
		tests/mount/source_changes.sh >"$work/log" 2>&1
	verdict $? "storms: $(tail -n 1 "$work/log")" "$work/log"
}

[ $# -gt 0 ] || set -- matrix stress fio dbench storms random
for part in "$@"; do
	start=$SECONDS
	"part_$part" || failed=$((failed + 1))
	echo "  $part: $((SECONDS - start)) s"
done
if ! umount "$work/mnt"; then
	echo "not ok - the mount ends"
	failed=$((failed + 1))
fi
echo "posix: $passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
