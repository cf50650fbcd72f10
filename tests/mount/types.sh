#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# types.sh - --type assigns formats to names; without it only known patterns count.
. "$(dirname "$0")/lib.sh"
cp tests/data/canm/wiki512.canm "$SRC/MOTION.CANM"
cp tests/data/canm/wiki512.canm "$SRC/motion.bin"
cp tests/data/canm/wiki512.canm "$SRC/motion"
echo text >"$SRC/other.bin"
echo text >"$SRC/text"

mount_animfs
is "patterns ignore case" "$(cd "$MNT/MOTION.CANM" && echo *)" "Idle empty file.json raw.CANM skeleton.csv walk 攻撃_01"
ok "another name is a file" test -f "$MNT/motion.bin"
umount_animfs

mount_animfs --type '*.bin=canm'
ok "a pattern of one's own" test -d "$MNT/motion.bin/walk"
is "the raw view has the file's extension" "$(cd "$MNT/motion.bin" && echo raw.*)" raw.bin
ok "a file of that name that is none stays a file" test -f "$MNT/other.bin"
like "and is among the errors" "$(<"$MNT/.animfs/errors")" 'other\.bin'
ok "a name outside the pattern is a file" test -f "$MNT/motion"
umount_animfs

mount_animfs --type '*=auto'
ok "auto looks at every file" test -d "$MNT/motion/walk"
is "a name without extension has the format's" "$(cd "$MNT/motion" && echo raw.*)" raw.canm
is "what is no animation is what it is" "$(cat "$MNT/text" "$MNT/other.bin")" $'text\ntext'
is "and no error" "$(<"$MNT/.animfs/errors")" ""
umount_animfs

fails "an unknown format" "$ANIMFS" -f --type '*.x=jpeg' "$SRC" "$MNT"
fails "no format" "$ANIMFS" -f --type '*.x' "$SRC" "$MNT"
