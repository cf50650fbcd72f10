#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# test-static.sh - runs the program without shared libraries where there is nothing else.
set -u
cd "$(dirname "$0")/.." || exit 1
ANIMFS=$(realpath "${BUILD:-build/static}/animfs") exec tests/mount/run.sh tests/static/*.sh
