#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# forget.sh - `animfs forget` removes all versions of a file and their digests, and none of them comes back.
. "$(dirname "$0")/lib.sh"
cp tests/data/canm/wiki512.canm "$SRC/w.canm"
M=$MNT/w.canm
left() { find "$SRC/.animfs/history" -mindepth 1 ! -name .gitignore ! -name .count; }
set_x() { sed -i "2s/^\([^,]*,[^,]*\),[^,]*/\1,$1/" "$M/walk/bones/hip.csv"; }

# ---- beside a mount, which keeps what it knows of the versions 2 s after a save ----
mount_stopped
set_x 2.5
like "a save is kept" "$(left)" history
ok "forget" "$ANIMFS" forget "$M"
is "nothing is left" "$(left)" ""
advance 3000
is "3 s later" "$(left)" ""
set_x 3.5
advance 3000
like "the next save is kept" "$("$ANIMFS" log "$M")" 'walk: hip translation'
ok "forget, when all is stored" "$ANIMFS" forget "$SRC/w.canm"
is "nothing is left then" "$(left)" ""
umount_animfs
is "nor after the mount" "$(left)" ""

# ---- what an export notes of texts, with no version ----
"$ANIMFS" export "$SRC" "$WORK/out" 2>/dev/null
like "an export notes texts" "$(left)" history
"$ANIMFS" forget "$SRC/w.canm" 2>/dev/null
is "there were no versions" $? 1
is "but nothing is left" "$(left)" ""
