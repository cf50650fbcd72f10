#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# options.sh - options set limits, the length of a game frame, the largest file and the place of the state
# directory.
. "$(dirname "$0")/lib.sh"
cp tests/data/canm/wiki512.canm "$SRC"
make_game --files 12 --clips 2 --bones 20 --frames 30 --plain 0
F=$MNT/wiki512.canm/walk/bones/Bone01.csv

mount_animfs --cache=0
cat "$MNT"/*/*/*/*/bones/* >"$WORK/all"
ok "without a cache all is read as well" test -s "$WORK/all"
like "and little is kept" "$(<"$MNT/.animfs/status")" $'\ncache_bytes 0\n'
ok "edits work" sed -i 2s/1.5,/2.5,/ "$F"
like "as ever" "$(<"$F")" 0,0,2.5,
umount_animfs
mount_animfs --cache=64K
is "with a small one, too" "$(cat "$MNT"/*/*/*/*/bones/* | cmp - "$WORK/all")" ""
kept=$(sed -n 's/^cache_bytes //p' "$MNT/.animfs/status")
ok "and no more is kept than it says" test "$kept" -le 65536
umount_animfs

mount_animfs --rate canm=30
like "a frame lasts longer at a lower rate" "$(<"$F")" $'\n2,0.133333,'
ok "an edit of a value" sed -i 2s/2.5,/1.5,/ "$F"
is "is the same at any rate" "$("$ANIMFS" cat "$SRC/wiki512.canm/walk/bones/Bone01.csv")" \
	"$("$ANIMFS" cat tests/data/canm/wiki512.canm/walk/bones/Bone01.csv)"
is "cat knows it, too" "$("$ANIMFS" cat --rate canm=30 "$SRC/wiki512.canm/walk/bones/Bone01.csv")" "$(<"$F")"
umount_animfs

mount_animfs --max-file=500
ok "what is larger than --max-file is a file" test -f "$MNT/wiki512.canm"
like "and an error" "$(<"$MNT/.animfs/errors")" 'wiki512\.canm: .*500'
umount_animfs

mount_animfs --max-text=1000
is "a text larger than --max-text is not taken" "$(save_errno close "$F" "$(head -c 2000 /dev/zero | tr '\0' ' ')")" EFBIG
ok "and the view is back a moment later" wait_for 4 grep -q 0,0,1.5, "$F"
umount_animfs

rm -rf "$SRC/.animfs"
mount_animfs --state="$WORK/state"
ok "with --state an extra file" sh -c "echo note >'$MNT/wiki512.canm/note'"
ok "and a save" sed -i 2s/1.5,/3.5,/ "$F"
ok "leave nothing in SOURCE" test ! -e "$SRC/.animfs"
ok "but there" test -f "$WORK/state/extra/wiki512.canm/note"
umount_animfs
ok "which is kept" test -f "$WORK/state/extra/wiki512.canm/note"

# A SOURCE inside another has a state of its own, and is an ordinary folder of the other.
mkdir "$SRC/inner"
mv "$SRC/wiki512.canm" "$SRC/inner"
SRC=$SRC/inner
mount_animfs
sh -c "echo inner >'$MNT/wiki512.canm/note'"
umount_animfs
SRC=${SRC%/inner}
mount_animfs
ok "the state of a SOURCE within is its own" test -f "$SRC/inner/.animfs/extra/wiki512.canm/note"
ok "and not this one's" test ! -e "$MNT/inner/wiki512.canm/note"
umount_animfs
