#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# More folders and files than the daemon may have descriptors.
. "$(dirname "$0")/lib.sh"
ulimit -n 64
mount_animfs

make_folders() { seq -f "$1/folder %.0f/a/b/c" 1000 | tr '\n' '\0' | xargs -0 mkdir -p; }
ok "4,000 folders through the mount" make_folders "$MNT"
is "are there" "$(find "$SRC" -type d | wc -l)" 4001
write_all()
{
	local i
	for ((i = 1; i <= 1000; i++)); do
		echo "$i" >"$MNT/folder $i/a/b/c/file" || return
	done
}
ok "a file in each" write_all
is "read back" "$(find "$MNT" -name file -exec cat {} + | awk '{ sum += $1 } END { print sum }')" 500500
# From all sides at once.
walkers=()
for i in 1 2 3 4; do
	find "$MNT" -name file -exec cat {} + >"$WORK/walk.$i" 2>&1 &
	walkers+=($!)
done
wait "${walkers[@]}"
is "by four at once" "$(cat "$WORK"/walk.* | awk '{ sum += $1 } END { print sum }')" 2002000
ok "all removed" rm -r "$MNT"/folder*
is "nothing left" "$(find "$SRC" -mindepth 1 -not -path '*/.animfs*' | wc -l)" 0
umount_animfs
