# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
# stat_calls.sh - how often the daemon asks for the attributes of an ordinary file.
. "$(dirname "$0")/lib.sh"
if ! command -v strace >/dev/null; then
	skip "strace is not installed"
	exit
fi
trace=$WORK/trace
printf '#!/bin/sh\nexec strace -D -f -y -e trace=statx,newfstatat,fstat,openat,read -o "%s" "%s" "$@"\n' \
	"$trace" "$ANIMFS" >"$WORK/traced"
chmod +x "$WORK/traced"
mkdir "$SRC/folder"
echo text | tee "$SRC/folder/"{first,last} >/dev/null
ANIMFS=$WORK/traced mount_animfs
ok "the folder is watched" cat "$MNT/folder/"{first,last}

# Requests are cut off before the names in them.
seen() { wait_for 60 grep -q "read.*$1\\\\0" "$trace"; }
echo more >>"$SRC/folder/first"
ok "a change by another program is seen" seen first
echo more >>"$SRC/folder/last"
ok "and the one after it" seen last
watcher=$(sed -n 's/^\([0-9]*\) .*read.*first\\0.*/\1/p' "$trace" | head -n 1)
is "none of a file whose content changes" \
	"$(grep "^$watcher " "$trace" | grep -c 'statx([^"]*"first"')" 0
umount_animfs
