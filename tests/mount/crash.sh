#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# crash.sh - some of what make test-crash does: the daemon is killed in the place of a call. (Kills at
# moments of the clock are a search.)
# limit: 7200
. "$(dirname "$0")/lib.sh"
reason=$(can_mount) || skip_all "$reason"
[ "$(id -u)" -eq 0 ] || skip_all "only root can end what a killed daemon leaves"
[ -f "$(dirname "$ANIMFS")/fault.so" ] || skip_all "fault.so is not built"
export ANIMFS_TEST_DIR=$WORK PYTHONDONTWRITEBYTECODE=1

for saves in "Bone01.csv, rename" "refused text, close" "rm -r of a clip" "file with raw.canm"; do
	ok "$saves: killed at every few calls" \
		timeout 1800 tests/search/faults/crash.py --only "$saves" --stride 7 --moments 0 --count 0 "$ANIMFS"
done
