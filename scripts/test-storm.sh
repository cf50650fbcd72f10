#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# test-storm.sh - tests/search/storm.sh with $STORM_SAVES saves (30000) from seed $STORM_SEED, on
# three builds below $BUILD: plain, with AddressSanitizer and UBSan (san), with ThreadSanitizer
# (tsan), and each change by itself for $STORM_EACH seconds (25). Root also makes the kernel forget
# names and files all the time. Takes about an hour.
set -u
cd "$(dirname "$0")/.." || exit 1
BUILD=${BUILD:-build}
export STORM_SAVES=${STORM_SAVES:-30000} STORM_SECONDS=${STORM_SECONDS:-1800} STORM_EACH=${STORM_EACH:-25}
export V=1 ASAN_OPTIONS=intercept_strstr=0 TSAN_OPTIONS=second_deadlock_stack=1
# In memory, where there is some: syncs of a disk are most of what a save takes.
if [ -z "${ANIMFS_TEST_DIR:-}" ] && [ -w /dev/shm ]; then
	export ANIMFS_TEST_DIR=/dev/shm
fi
[ ! -w /proc/sys/vm/drop_caches ] || export STORM_FORGET=1

status=0
for build in "$BUILD" "$BUILD/san" "$BUILD/tsan"; do
	echo "== $build"
	# ThreadSanitizer's memory must lie where it expects it: no random addresses.
	ANIMFS=$build/animfs setarch -R tests/mount/run.sh tests/search/storm.sh || status=1
done
[ $status -eq 0 ] && echo "storm: 3 builds passed" || echo "storm: some failed"
exit $status
