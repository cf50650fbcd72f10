#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# debug.sh [SOURCE [MOUNTPOINT]] - mounts SOURCE in the foreground with the debug build in $BUILD,
# under gdb where there is one; without SOURCE a sample game that is made for it. Ctrl-C unmounts.
set -u
cd "$(dirname "$0")/.." || exit 1
build=$(realpath "$BUILD") || exit 1
source=${1:-$build/game} mountpoint=${2:-$build/mnt}

[ $# -gt 0 ] || [ -d "$source" ] ||
	"$build/make_game" "$source" --files 4 --clips 3 --bones 24 --frames 31 || exit 1
mkdir -p "$mountpoint" || exit 1
echo "animfs serves $source on $mountpoint, messages follow; Ctrl-C unmounts."
if [ -t 0 ] && command -v gdb >/dev/null; then
	exec gdb -q -ex run --args "$build/animfs" -f "$source" "$mountpoint"
fi
exec "$build/animfs" -f "$source" "$mountpoint"
