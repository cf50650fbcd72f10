#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# skeleton.sh - skeleton.csv shows what files beside the animation say of its bones, stills follow it,
# and a change of those files is seen.
. "$(dirname "$0")/lib.sh"
cp tests/data/canm/wiki512.canm "$SRC"
cp tests/data/ff9anim/bones024.ff9anim "$SRC"
mount_animfs
HEAD=bone,parent,tx,ty,tz,rx,ry,rz,sx,sy,sz
SHOWN=$MNT/wiki512.canm/skeleton.csv
STILL=$MNT/wiki512.canm/walk/frames/frame_00000.x3d

# has FILE LINE: for wait_for
has() { grep -qxF -- "$2" "$1"; }
size_is_true() { [ "$(stat -c %s "$STILL")" = "$(cat "$STILL" | wc -c)" ]; }

is "nothing is known at first" "$(head -n 3 "$SHOWN")" "$HEAD"$'\n''Scene_Root,,,,,,,,,,'$'\n''Bone01,,,,,,,,,,'
like "bones are crosses" "$(<"$STILL")" IndexedLineSet
printf 'bone,parent,ty\nBone01,Scene_Root,1.5\nScene_Root,,\n' >"$SRC/skeleton.csv"
ok "the folder's table is seen" wait_for 3 has "$SHOWN" 'Bone01,Scene_Root,0,1.5,0,0,0,0,1,1,1'
like "bones are bodies" "$(<"$STILL")" IndexedFaceSet
ok "st_size is what is read" wait_for 3 size_is_true
printf 'bone,parent,ty\nBone01,Scene_Root,2\nScene_Root,,\n' >"$SRC/wiki512.canm.skeleton.csv"
ok "the file's own goes before it" wait_for 3 has "$SHOWN" 'Bone01,Scene_Root,0,2,0,0,0,0,1,1,1'
printf 'bone,parent,ty\nBone01,Nobody,2\n' >"$SRC/wiki512.canm.skeleton.csv"
ok "one that cannot be read stands in the way" wait_for 3 has "$SHOWN" 'Bone01,,,,,,,,,,'
rm "$SRC/wiki512.canm.skeleton.csv"
ok "until it is gone" wait_for 3 has "$SHOWN" 'Bone01,Scene_Root,0,1.5,0,0,0,0,1,1,1'

# Two bones, the second at the end of the first.
printf '\0\0\2\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\234\377\0\0' >"$SRC/bones024.ff9model"
ok "a model goes before the folder's table" wait_for 3 \
	has "$MNT/bones024.ff9anim/skeleton.csv" 'bone_001,bone_000,0,0,-100,0,0,0,1,1,1'

cp "$SHOWN" "$WORK/own.csv"
ok "its own text can be saved back" cp "$WORK/own.csv" "$SHOWN"
fails "it is not edited here" sed -i 's/1\.5/3/' "$SHOWN"
like "and says so" "$(<"$SHOWN.error")" 'skeleton.csv'
umount_animfs
