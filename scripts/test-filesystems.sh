#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# test-filesystems.sh [FILESYSTEM...] - tests saves, changes of structure, changes by others and
# kills with SOURCE on each available filesystem, or on those named; then prints the table of what
# each supports, which must equal that of animfs-mount(1). Needs root to mount them. Takes a few
# minutes.
set -u
cd "$(dirname "$0")/.." || exit 1
export PYTHONDONTWRITEBYTECODE=1

if [ "$(id -u)" -ne 0 ]; then
	echo "test-filesystems.sh: only root can mount images" >&2
	exit 1
fi
# With images on a disk, most of a save's time is syncing.
if [ -z "${ANIMFS_TEST_DIR:-}" ] && [ -w /dev/shm ]; then
	export ANIMFS_TEST_DIR=/dev/shm
fi
only=()
for name in "$@"; do
	only+=(--only "$name")
done
exec tests/filesystems/filesystems.py "${only[@]}" --manual man/animfs-mount.1 "${BUILD:-build}/animfs"
