#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# test-crash.sh - kills the daemon at every call of many saves, and at random moments, at least
# $CRASHES times (1000; with fewer than there are calls, only at some of them); then checks what a
# power cut leaves, if there are loop devices.
set -u
cd "$(dirname "$0")/.." || exit 1
ANIMFS=$(realpath "${BUILD:-build}/animfs")
CRASHES=${CRASHES:-1000}
export PYTHONDONTWRITEBYTECODE=1

# All calls are about 2300 kills.
stride=$((CRASHES < 1000 ? (2300 + CRASHES - 1) / (CRASHES ? CRASHES : 1) : 1))
tests/search/faults/crash.py --count "$CRASHES" --stride "$stride" \
	--moments $((CRASHES < 1000 ? 1 : 4)) "$ANIMFS"
status=$?
[ ! -f tests/search/faults/power.py ] || tests/search/faults/power.py "$ANIMFS" || status=1
exit $status
