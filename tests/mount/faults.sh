#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# faults.sh - some of what make test-faults does: a call or an allocation fails.
# limit: 7200
. "$(dirname "$0")/lib.sh"
reason=$(can_mount) || skip_all "$reason"
[ "$(id -u)" -eq 0 ] || skip_all "only root can end what a killed daemon leaves"
[ -f "$(dirname "$ANIMFS")/fault.so" ] || skip_all "fault.so is not built"
export ANIMFS_TEST_DIR=$WORK PYTHONDONTWRITEBYTECODE=1

ok "a save: something fails" timeout 1800 tests/search/faults/faults.py --every 1 --jobs 1 \
	--only "wiki512.canm/walk/bones/Bone01.csv, fsync" --calls 24 --allocations 24 "$ANIMFS"
ok "reading: something fails" timeout 1800 tests/search/faults/faults.py --every 1 --jobs 1 \
	--only "reading walk.006" --calls 6 --allocations 6 "$ANIMFS"
