#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# truncate.sh - cutting a text by its name is a save of its own, done when the call returns.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/editing.bash"
cp "$SAMPLE" "$SRC"
mount_stopped
F=$MNT/wiki512.canm/$BONE

by_name() { perl -e 'truncate($ARGV[0], $ARGV[1]) or die "$!\n"' "$F" "$1"; }

# The edited value is the very last cell.
printf '%s\n' frame,ty,tz,tx 0,-2,0.25,2.55 >"$WORK/long"
ok "a text to be cut" cp "$WORK/long" "$F"
like "is saved" "$("$ANIMFS" cat "$SRC/wiki512.canm/$BONE")" '0,0,2\.55,-2,0\.25'
ok "cut by its last digit" by_name 28
ok "it is saved when the call returns" cmp "$SRC/wiki512.canm" "$EDITED"
is "and reads as it was cut" "$(<"$F")" "$(head -c 28 "$WORK/long")"
fails "cut in the middle it is refused" by_name 20
ok "and the binary stays" cmp "$SRC/wiki512.canm" "$EDITED"
like "with an error" "$(<"$F.error")" 'Bone01\.csv:2:'
fails "made longer it is refused" by_name 400
ok "and the binary stays, too" cmp "$SRC/wiki512.canm" "$EDITED"

ok "through a handle it is part of what the handle writes" cp "$NEW" "$F"
{ cat "$NEW"; echo 'oops'; } >"$WORK/longer"
ok "and is saved with it" python3 -c '
import os, sys
path, longer, size = sys.argv[1:]
fd = os.open(path, os.O_WRONLY)
os.write(fd, open(longer, "rb").read())
os.ftruncate(fd, int(size))
os.close(fd)' "$F" "$WORK/longer" "$(stat -c %s "$NEW")"
ok "the view" cmp "$F" "$NEW"
umount_animfs
