# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
# stat_calls.sh - how often the daemon asks for the attributes of an ordinary file: of one
# that a program creates, writes, gives attributes and closes, and of one that another changes.
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

python3 - "$MNT/folder" <<'END'
import os, sys
for i in range(10):
    fd = os.open(f"{sys.argv[1]}/made{i}", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
    os.write(fd, b"text")
    os.close(fd)
    fd = os.open(f"{sys.argv[1]}/given{i}", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    os.write(fd, b"text")
    os.utime(fd, (10**9, 10**9))
    os.fchmod(fd, 0o644)
    os.close(fd)
END
# Requests are cut off before the names in them.
seen() { wait_for 60 grep -q "read.*$1\\\\0" "$trace"; }
echo more >>"$SRC/folder/first"
ok "a change by another program is seen" seen first
echo more >>"$SRC/folder/last"
ok "and the one after it" seen last
watcher=$(sed -n 's/^\([0-9]*\) .*read.*first\\0.*/\1/p' "$trace" | head -n 1)
# stats_of NAME: those for requests, of the one of ten files that had the fewest: the kernel asks
# again for a file that waits longer than attributes are believed. Whether a file is known by when the
# watcher reads that it was created is a matter of time, too.
stats_of()
{
	local i
	for i in {0..9}; do
		grep -v "^$watcher " "$trace" |
			grep -cE "(statx|fstat|newfstatat)\([^\"]*(\"$1$i\"|/$1$i>)"
	done | sort -n | head -n 1
}
# The look-up and the reply to the create.
is "two stats of a file that is created, written and closed" "$(stats_of made)" 2
# The same, and the reply to each setattr.
is "one more for each attribute that is given to an open file" "$(stats_of given)" 4
is "which is not opened again for that" "$(grep -c 'openat([^"]*"given[0-9]"' "$trace")" 10
is "none of a file whose content changes" \
	"$(grep "^$watcher " "$trace" | grep -c 'statx([^"]*"first"')" 0
umount_animfs
