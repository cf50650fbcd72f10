#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# still_clips.sh - a small file can claim as many frames as can be shown: if nothing moves in them, they
# cost no more than their names.
. "$(dirname "$0")/lib.sh"
make_game --files 1 --clips 1 --bones 60 --frames 1 --plain 0 --skeleton 1 --version 512
FILE=$SRC/object/e0000/ranger.canm
"$ANIMFS" cat "$FILE/walk/clip.json" |
	sed 's/"frames": 1, "frame_time": 0, "duration": 0/"frames": 65535, "frame_time": 1, "duration": 65534/' >"$WORK/clip.json"
ok "a clip of many frames" "$ANIMFS" put "$FILE/walk/clip.json" <"$WORK/clip.json"
is "in a small file" "$(find "$FILE" -size -8)" "$FILE"
mount_animfs
WALK=$MNT/object/e0000/ranger.canm/walk

# made: how many texts were made so far, to be read or to tell their size
made() { sed -n 's/^texts //p' "$MNT/.animfs/status"; }

find "$WALK/frames" -type f -printf '%s\n' | sort | uniq -c >"$WORK/sizes"
is "every still is there" "$(awk '{sum += $1} END {print sum}' "$WORK/sizes")" 65535
is "all of one size" "$(wc -l <"$WORK/sizes")" 1
ok "that was found out once" test "$(made)" -lt 10
for frame in 00000 00001 40000 65534; do
	is "it is what is read of $frame" "$(cat "$WALK/frames/frame_$frame.x3d" | wc -c)" "$(awk '{print $2}' "$WORK/sizes")"
done
for view in clip.x3d clip.gltf clip.svg curves.csv clip.json bones/hips.{csv,json,svg}; do
	is "$view is short" "$(find "$WALK/$view" -size -256k)" "$WALK/$view"
	is "$view has its size" "$(stat -c %s "$WALK/$view")" "$(cat "$WALK/$view" | wc -c)"
done
is "clip.bvh, with a row for each frame, is not there" "$(ls "$WALK" | grep -c bvh)" 0
is "clip.kanim names the stills" "$(grep -c '<frame ' "$WALK/clip.kanim")" 65535

# What moves has a text for each frame; of two in which the same bone moves both are right.
ok "a bone that moves" sh -c "sed '\$a 65534,0,1,2,3,,,,,,' '$WALK/bones/hips.csv' >'$WORK/hips.csv' && cp '$WORK/hips.csv' '$WALK/bones/hips.csv'"
for frame in 00000 00777 65534; do
	still=$WALK/frames/frame_$frame.x3d
	is "still $frame has its size" "$(stat -c %s "$still")" "$(cat "$still" | wc -c)"
done
umount_animfs
