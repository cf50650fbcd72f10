#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# control.sh - .animfs at the top of the mount opens by name, shows the state of the mount, and is not
# listed.
. "$(dirname "$0")/lib.sh"
cp tests/data/canm/wiki512.canm "$SRC"
mkdir "$SRC/sub"
mount_animfs

is "not listed" "$(ls -A "$MNT")" $'sub\nwiki512.canm'
is "its files" "$(ls "$MNT/.animfs")" $'errors\nformats\nstatus'
like "status: who serves the mount" "$(<"$MNT/.animfs/status")" "pid ${DAEMON[$MNT]}"
like "status: what is mounted" "$(<"$MNT/.animfs/status")" "source $SRC"
like "formats" "$(<"$MNT/.animfs/formats")" 'canm'
is "no errors" "$(<"$MNT/.animfs/errors")" ""

sed s/1.5,-2/oops,-2/ "$MNT/wiki512.canm/walk/bones/Bone01.csv" >"$WORK/bad"
save_errno close "$MNT/wiki512.canm/walk/bones/Bone01.csv" "$(<"$WORK/bad")" >"$WORK/errno"
is "errors has its size at once" "$(stat -c %s "$MNT/.animfs/errors")" "$(cat "$MNT/.animfs/errors" | wc -c)"
like "and the refused text" "$(<"$MNT/.animfs/errors")" 'wiki512\.canm/walk/bones/Bone01\.csv:2:5: '

fails "status cannot be written" sh -c "echo x >'$MNT/.animfs/status'"
fails "nothing can be made there" touch "$MNT/.animfs/new"
fails "nothing can be removed" rm "$MNT/.animfs/status"
fails "it cannot be moved" mv "$MNT/.animfs" "$MNT/other"
fails "elsewhere there is none" ls "$MNT/sub/.animfs"
ok "and the name is free" mkdir "$MNT/sub/.animfs"
ok "the refused text lies in the state directory" grep -rq oops "$SRC/.animfs/rejected"
umount_animfs
