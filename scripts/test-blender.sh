#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# test-blender.sh - imports every clip.gltf of the samples, and of a game, into Blender: the result
# must be an armature with the clip's bones, and an action as long as the clip, with the poses in
# the tables. And back: Blender's export, copied over the view in a mounted copy, must not change
# the file, and after an edit in Blender the tables must show the edit. Skipped without Blender.
set -u
cd "$(dirname "$0")/.." || exit 1
if ! command -v blender >/dev/null || ! /usr/bin/python3 -c 'import numpy' 2>/dev/null; then
	echo 'blender: 0 passed, 0 failed, 1 skipped (blender and python3-numpy are not installed)'
	exit 0
fi
. scripts/interchange.bash

export_clips clip.gltf curves.csv clip.json
export_clip tests/data/ff9clip/walk.anim walk clip.gltf curves.csv clip.json
mapfile -d '' folders < <(find "$work/clips" -name clip.gltf -printf '%h\0' | sort -z)
blender -b --factory-startup -P tests/tools/check_blender.py -- "${folders[@]}" >"$work/log" 2>&1
status=$?
grep -v -e 'glTF import finished' -e '^Data are loaded' -e '^Blender ' -e '^$' -e ' | INFO: ' -e Draco "$work/log"

passed=0 failed=0
# check NAME COMMAND...
check()
{
	local name=$1 output
	shift
	if output=$("$@" 2>&1); then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		printf 'not ok - %s\n%s\n' "$name" "$output"
	fi
}

# The clips' files, plain and mounted; those of the game with their skeletons beside them.
mkdir -p "$work/old/samples" "$work/mnt"
cp tests/data/{canm/*.canm,cas/*.cas,owanim/*.006,ff9anim/*.ff9anim,ff9clip/walk.anim} "$work/old/samples"
cp -r "$work/src" "$work/old/game"
cp -r "$work/old" "$work/new"
"$BUILD/animfs" "$work/new" "$work/mnt" || exit 1
trap '"$BUILD/animfs" umount "$work/mnt"; rm -rf "$work"' EXIT

# file_of FOLDER: prints the path of the clip's file, which is also mounted.
file_of() { (cd "$work/old" && find . -name "$(basename "$(dirname "$1")")" -printf '%P\n'); }

# Vib-Ribbon's clips cannot be saved as glTF.
for folder in "${folders[@]}"; do
	clip=$(basename "$folder")
	file=$(file_of "$folder")
	[ -n "$file" ] || continue
	for again in same.gltf same.glb straight.gltf small.gltf; do
		check "$file/$clip: $again is accepted" cp "$folder/$again" "$work/mnt/$file/$clip/clip.gltf"
		check "$file/$clip: $again changes nothing" cmp "$work/old/$file" "$work/new/$file"
	done
done
for edited in "$work"/clips/*/*/turned.gltf; do
	folder=$(dirname "$edited")
	clip=$(basename "$folder")
	file=$(file_of "$folder")
	check "$file/$clip: an edit is accepted" cp "$edited" "$work/mnt/$file/$clip/clip.gltf"
	check "$file/$clip: and is what was edited" tests/tools/check_turned.py "$BUILD/animfs" \
		"$work/old/$file/$clip/curves.csv" "$work/new/$file/$clip/curves.csv"
done
echo "blender and back: $passed passed, $failed failed"
[ "$status" -eq 0 ] && [ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
