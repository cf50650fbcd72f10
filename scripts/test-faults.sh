#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# test-faults.sh - lets calls and allocations fail, one by one, while files are read, saved and
# mounted, and fills filesystems.
set -u
cd "$(dirname "$0")/.." || exit 1
ANIMFS=$(realpath "${BUILD:-build}/animfs")
export PYTHONDONTWRITEBYTECODE=1
exec tests/search/faults/faults.py "$ANIMFS"
