#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# history_twice.sh - a program that saves a view twice has made two versions, also where the kernel
# has not yet said that the first handle is closed, which close() does not wait for.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/editing.bash"
cp "$SAMPLE" "$SRC"
F=$MNT/wiki512.canm/$BONE
sed 's/1\.5,-2/3.5,-2/' "$OLD" >"$WORK/second"
mount_animfs
# A duplicate is closed, which saves; the handle itself stays for a while.
python3 - "$F" "$NEW" "$WORK/second" <<'PYTHON'
import os, sys
kept = []
for text in sys.argv[2:]:
    fd = os.open(sys.argv[1], os.O_WRONLY | os.O_TRUNC)
    os.write(fd, open(text, "rb").read())
    os.close(os.dup(fd))
    kept.append(fd)
PYTHON
FILE=$SRC/wiki512.canm
is "each is a version" "$("$ANIMFS" log "$FILE" | grep -c 'Bone01 translation')" 2
ok "undo takes the second back alone" "$ANIMFS" undo "$FILE"
is "the first one is there" "$("$ANIMFS" cat "$FILE/$BONE")" "$("$ANIMFS" cat --version=2 "$FILE/$BONE")"
like "with what it said" "$("$ANIMFS" cat "$FILE/$BONE")" 0,0,2.5,-2
ok "undo again" "$ANIMFS" undo "$FILE"
ok "as it was, to the byte" cmp "$FILE" "$SAMPLE"
umount_animfs
