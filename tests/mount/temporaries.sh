#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# temporaries.sh - a temporary file that is renamed onto a view, as by most editors: another program's file
# of its name is left alone, and openers of the temporary write to the view.
. "$(dirname "$0")/lib.sh"
has_faults || exit 0
cp tests/data/canm/wiki512.canm "$SRC/a.canm"
LD_PRELOAD=$FAULTS FAULT=$WORK/fault mount_animfs -o unconfined
BONES=$MNT/a.canm/walk/bones
F=$BONES/hip.csv
edited() { sed "s/^0,0,[^,]*/0,0,$1/" "$F"; }

edited 0.5 >"$MNT/tmp"
echo "rename hold $SRC" >"$WORK/fault"
mv "$MNT/tmp" "$F" &
mover=$!
ok "the save is under way" wait_for 10 test -e "$WORK/fault.held"
echo precious >"$WORK/precious"
mv "$WORK/precious" "$SRC/tmp"
rm "$WORK/fault"
wait "$mover"
is "it ends well" $? 0
like "the text is saved" "$(<"$F")" $'\n0,0,0.5'
is "another program's new file of that name stays" "$(cat "$SRC/tmp")" precious

edited 0.25 >"$BONES/tmp"
exec 3<>"$BONES/tmp"
ok "an open temporary becomes the view" mv "$BONES/tmp" "$F"
ok "which is moved away" mv "$F" "$F~"
printf 'LAST WORD' >&3
is "who has it open writes to it" "$(head -c 9 "$F~")" "LAST WORD"
printf ' AND MORE' >&3
exec 3>&-
is "until he closes it" "$(head -c 18 "$F~")" "LAST WORD AND MORE"
umount_animfs
