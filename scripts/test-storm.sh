#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# test-storm.sh - tests/search/storm.sh with $STORM_SAVES saves (30000) from seed $STORM_SEED, on three
# builds below $BUILD: plain, with AddressSanitizer and UBSan (san), with ThreadSanitizer (tsan).
# STRICT=1: known failures fail, too. Takes about half an hour.
set -u
cd "$(dirname "$0")/.." || exit 1
BUILD=${BUILD:-build}
export STORM_SAVES=${STORM_SAVES:-30000} STORM_SECONDS=${STORM_SECONDS:-1800}
export ASAN_OPTIONS=intercept_strstr=0 TSAN_OPTIONS=second_deadlock_stack=1
# In memory, where there is some: syncs of a disk are most of what a save takes.
if [ -z "${ANIMFS_TEST_DIR:-}" ] && [ -w /dev/shm ]; then
	export ANIMFS_TEST_DIR=/dev/shm
fi

status=0
for build in "$BUILD" "$BUILD/san" "$BUILD/tsan"; do
	echo "== $build"
	# ThreadSanitizer's memory must lie where it expects it: no random addresses.
	ANIMFS=$build/animfs setarch -R tests/mount/run.sh tests/search/storm.sh || status=1
done
[ $status -eq 0 ] && echo "storm: 3 builds passed" || echo "storm: some failed"
exit $status
