#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# test-export.sh - serves a mount by Samba. Needs root.
set -u
cd "$(dirname "$0")/.." || exit 1
[ "$(id -u)" -eq 0 ] || { echo "test-export.sh: only root can serve" >&2; exit 1; }
ANIMFS=$(realpath "${BUILD:-build}/animfs") exec tests/mount/run.sh tests/export/*.sh
