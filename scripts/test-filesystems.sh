#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# test-filesystems.sh [FILESYSTEM...] - saves, structure, changes by others and kills with SOURCE on
# each filesystem that can be had, or on those named; then the table of what each has, which must be
# that of animfs(1). Only root can mount them. Takes a few minutes.
set -u
cd "$(dirname "$0")/.." || exit 1
export PYTHONDONTWRITEBYTECODE=1

if [ "$(id -u)" -ne 0 ]; then
	echo "test-filesystems.sh: only root can mount images" >&2
	exit 1
fi
# Where images lie on a disk, its syncs are most of what a save takes.
if [ -z "${ANIMFS_TEST_DIR:-}" ] && [ -w /dev/shm ]; then
	export ANIMFS_TEST_DIR=/dev/shm
fi
only=()
for name in "$@"; do
	only+=(--only "$name")
done
exec tests/filesystems/filesystems.py "${only[@]}" --manual man/animfs.1 "${BUILD:-build}/animfs"
