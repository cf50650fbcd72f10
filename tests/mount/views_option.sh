#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# views_option.sh - --views selects the listed views; all others open and save by name.
. "$(dirname "$0")/lib.sh"
cp tests/data/canm/wiki512.canm "$SRC"
mount_animfs --views=csv

is "only bones' CSV is listed" "$(find "$MNT" -type f ! -name '*.csv')" ""
is "and not the same again in curves.csv" "$(find "$MNT" -name "*.csv" | wc -l)" 7
ok "JSON opens" cmp "$MNT/wiki512.canm/walk/bones/hip.json" \
	<("$ANIMFS" cat "$SRC/wiki512.canm/walk/bones/hip.json")
ok "and saves" sed -i s/1.5,/2.5,/ "$MNT/wiki512.canm/walk/bones/Bone01.json"
like "the CSV follows" "$(<"$MNT/wiki512.canm/walk/bones/Bone01.csv")" 0,0,2.5,-2,
ok "a still opens" grep -q X3D "$MNT/wiki512.canm/walk/frames/frame_00001.x3d"
ok "raw.canm opens" cmp "$MNT/wiki512.canm/raw.canm" "$SRC/wiki512.canm"
umount_animfs

mount_animfs -o views=json:kanim
is "as a mount option, with colons" "$(cd "$MNT/wiki512.canm" && echo * walk/*)" \
	"Idle empty file.json walk 攻撃_01 walk/bones walk/clip.json walk/clip.kanim walk/frames"
umount_animfs

fails "a view that there is none of" "$ANIMFS" -f --views=csv,jpeg "$SRC" "$MNT"
