#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# test-probe.sh [DIR...] - counts the ordinary files that --type '*=auto' takes for animations, and
# checks that they encode to the same bytes. Some formats have no magic number: more than a handful
# is too many.
set -u
cd "$(dirname "$0")/.." || exit 1
ANIMFS=$(realpath "${BUILD:-build}/animfs")
[ $# -gt 0 ] || set -- /usr/lib /usr/share

said=$("$ANIMFS" check --type '*=auto' "$@" 2>&1 | tail -n 1)
taken=${said%% checked*}
echo "probe: $taken of $(find "$@" -type f | wc -l) files are taken for animations"
[[ $taken =~ ^[0-9]+$ ]] && ((taken < 5))
