#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# test-batches.sh - tests programs that write several views of a file: all rules with all programs,
# in $BATCH_SEEDS orders (10) from $BATCH_FIRST (1); git with $BATCH_STEPS random commands (300); a
# Samba server; the known limit; storms of copied-back folders and of undo. Takes about 15 minutes.
set -u
cd "$(dirname "$0")/.." || exit 1
ANIMFS=$(realpath "${BUILD:-build}/animfs")
export ANIMFS BATCH_SEEDS=${BATCH_SEEDS:-10} BATCH_FIRST=${BATCH_FIRST:-1} BATCH_STEPS=${BATCH_STEPS:-300}
export BATCH_OPEN=1 # what is known to be wrong still, too
export STORM_STRUCTURES=tree-back,undo STORM_SECONDS=${STORM_SECONDS:-120} STORM_SAVES=${STORM_SAVES:-30000}
exec tests/mount/run.sh tests/mount/{batches,batches_git,batches_limit,history_mount}.sh tests/search/storm.sh tests/export/samba_batches.sh
