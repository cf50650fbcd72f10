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

# The unmounter is such a child: its allocations would be taken for those of the daemon.
ok "allocations of a forked child are its own" python3 - "$ANIMFS" "$WORK/board" <<'PYTHON'
import os, subprocess, sys
sys.path.insert(0, "tests/search/faults")
from mounts import NEVER, Board
animfs, path = sys.argv[1:]
preload = os.path.join(os.path.dirname(os.path.realpath(animfs)), "fault.so")
COUNT = 20000

def counted(in_child):
    """What a program holds and has allocated at its end, whose child ends without freeing."""
    board = Board(path)
    board["fail_at"] = NEVER
    program = f"""
import os
if os.fork() == 0:
    held = [bytearray(1000) for i in range({in_child})]
    os._exit(0)
os.wait()
"""
    subprocess.run([sys.executable, "-c", program], check=True, env=dict(
        os.environ, LD_PRELOAD=preload, FAULT_BOARD=path, PYTHONHASHSEED="0"))
    return board["live"], board["allocations"]

for without, given in zip(counted(0), counted(COUNT)):
    assert 0 < without and given < without + COUNT / 2, (without, given)
PYTHON
