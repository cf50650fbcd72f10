#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# test-soak.sh - reads, edits and changes a mount from outside for $SOAK_SECONDS (3600), and
# compares it with a model (tests/tools/soak.py); the daemon's memory must not grow. $SEED repeats a
# run.
set -u
cd "$(dirname "$0")/.." || exit 1
BUILD=${BUILD:-build}
work=$(mktemp -d /var/tmp/animfs-soak.XXXXXX) || exit 1
mkdir "$work/src" "$work/mnt"
daemon=
clean_up()
{
	umount "$work/mnt" 2>/dev/null || fusermount3 -uz "$work/mnt" 2>/dev/null
	[ -z "$daemon" ] || wait "$daemon"
	rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 130' INT TERM

"$BUILD/make_game" "$work/src" --files 4 --clips 3 --bones 10 --frames 20 --plain 2 --version 512 || exit 1
# Little room for decoded files, so that they come and go.
"$BUILD/animfs" -f --cache=1M --history=0 "$work/src" "$work/mnt" >"$work/log" 2>&1 &
daemon=$!
for ((i = 0; i < 200; i++)); do
	grep -q " $work/mnt fuse" /proc/self/mounts && break
	sleep 0.05
done
status=0
PYTHONDONTWRITEBYTECODE=1 python3 tests/tools/soak.py "$BUILD/animfs" "$work/src" "$work/mnt" "$daemon" \
	"${SOAK_SECONDS:-3600}" ${SEED:+"$SEED"} || status=1
if [ $status -ne 0 ]; then
	cat "$work/mnt/.animfs/errors" "$work/log"
fi
fusermount3 -u "$work/mnt" || status=1
wait "$daemon" || status=1
daemon=
[ $status -eq 0 ] && echo "soak: 1 passed, 0 failed" || echo "soak: 0 passed, 1 failed"
exit $status
