#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# test-export.sh - a mount that is served to others: by NFS (NFS-Ganesha, which keeps file handles of
# its own; the kernel's client where there is one) and by Samba. Wants root.
set -u
cd "$(dirname "$0")/.." || exit 1
[ "$(id -u)" -eq 0 ] || { echo "test-export.sh: only root can serve" >&2; exit 1; }
ANIMFS=$(realpath "${BUILD:-build}/animfs") exec tests/mount/run.sh tests/export/*.sh
