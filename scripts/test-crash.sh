#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# test-crash.sh - the daemon is killed at every call of many saves, and at random moments, $CRASHES
# times or more (1000; for fewer than there are calls, only every few of them); then what a power
# cut leaves, where loop devices can be had.
set -u
cd "$(dirname "$0")/.." || exit 1
ANIMFS=$(realpath "${BUILD:-build}/animfs")
CRASHES=${CRASHES:-1000}
export PYTHONDONTWRITEBYTECODE=1

# All calls are about 2300 kills.
stride=$((CRASHES < 1000 ? (2300 + CRASHES - 1) / (CRASHES ? CRASHES : 1) : 1))
tests/faults/crash.py --count "$CRASHES" --stride "$stride" \
	--moments $((CRASHES < 1000 ? 1 : 4)) "$ANIMFS"
status=$?
[ ! -f tests/faults/power.py ] || tests/faults/power.py "$ANIMFS" || status=1
exit $status
