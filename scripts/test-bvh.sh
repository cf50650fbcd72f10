#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# test-bvh.sh - sends clip.bvh of every sample, and of a tree of bones, through Blender and back:
# without an edit no byte of the animation file may change, whether Blender rotated it to Z up or
# not; with an edit only the edited bone may change. Skipped without Blender.
set -u
cd "$(dirname "$0")/.." || exit 1
if ! command -v blender >/dev/null || ! /usr/bin/python3 -c 'import numpy' 2>/dev/null; then
	echo 'bvh: 0 passed, 0 failed, 1 skipped (blender and python3-numpy are not installed)'
	exit 0
fi
. scripts/interchange.bash
passed=0 failed=0

# check NAME COMMAND...
check()
{
	local name=$1
	shift
	if "$@" >"$work/said" 2>&1; then
		((++passed))
	else
		((++failed))
		echo "not ok - $name"
		sed 's/^/  /' "$work/said"
	fi
}

# A tree of numbered bones with offsets of all kinds.
write_tree()
{
	echo bone,parent,tx,ty,tz,rx,ry,rz
	printf 'bone_000,,,,,,,\n'
	for ((i = 1; i < 255; i++)); do
		printf 'bone_%03d,bone_%03d,%d.25,%d,%d,,,\n' $i $(((i - 1) / 2)) $((i % 7)) $((100 - i)) $((i % 5 * 30))
	done
}

# skeleton_of FILE: a skeleton in which only roots move.
skeleton_of()
{
	case $1 in
	*.canm) write_skeleton | sed 's/^hips,Scene_Root/hips,/' ;;
	*) write_tree ;;
	esac
}

# without_scales FILE CLIP: so that more clips have a clip.bvh.
without_scales()
{
	local bone
	"$BUILD/animfs" ls "$1/$2/bones" | grep '\.csv$' | while IFS= read -r bone; do
		"$BUILD/animfs" cat "$1/$2/bones/$bone" | sed '2,$s/,[^,]*,[^,]*,[^,]*$/,,,/' |
			"$BUILD/animfs" put --history=0 "$1/$2/bones/$bone"
	done
}

# A folder for each clip that has a clip.bvh: the view, and the clip's file.
n=0
"$BUILD/make_game" "$work/src" --files 2 --clips 2 --frames 20 --version mix --plain 0 --skeleton 1
for file in "$work"/src/object/*/*.canm tests/data/{canm/*.canm,cas/*.cas,owanim/*.006,ff9anim/*.ff9anim,ribbon/*.anm}; do
	while IFS= read -r clip; do
		for hung in '' hung; do
			[ -z "$hung" ] || [[ $file == *.ff9anim || $file == */ranger.canm ]] || continue
			to=$work/clips/$((n++))
			mkdir -p "$to"
			cp "$file" "$to"
			[[ $file == *.anm || $file == *.ff9anim ]] || without_scales "$to/${file##*/}" "${clip%/}" 2>/dev/null
			echo "${file##*/}" >"$to/file"
			echo "${clip%/}" >"$to/clip"
			[ -z "$hung" ] || skeleton_of "$file" >"$to/skeleton.csv"
			"$BUILD/animfs" cat "$to/${file##*/}/$clip/clip.bvh" >"$to/clip.bvh" 2>/dev/null || rm -r "$to"
		done
	done < <("$BUILD/animfs" ls "$file" 2>/dev/null | grep '/$')
done
mapfile -d '' folders < <(find "$work/clips" -name clip.bvh -printf '%h\0' | sort -z)
check "Blender" blender -b --factory-startup -P tests/tools/blender_bvh.py -- "${folders[@]}"

# put TEXT: saves it.
put() { "$BUILD/animfs" put --history=0 "$at/$file/$clip/clip.bvh" <"$at/$1.bvh"; }
# Bones whose tables have changed.
changed()
{
	local bone
	"$BUILD/animfs" ls "$at/$file/$clip/bones" | grep '\.csv$' | while IFS= read -r bone; do
		cmp -s <("$BUILD/animfs" cat "$at/$file/$clip/bones/$bone") \
			<("$BUILD/animfs" cat "$at/before/$file/$clip/bones/$bone") || echo "$bone"
	done
}

for at in "${folders[@]}"; do
	file=$(<"$at/file") clip=$(<"$at/clip")
	mkdir "$at/before"
	cp "$at/$file" "$at/before"
	for text in z_up y_up; do
		check "$file/$clip, $text" put $text
		check "$file/$clip, $text: changes nothing" cmp "$at/$file" "$at/before/$file"
		cp "$at/before/$file" "$at"
	done
	check "$file/$clip, turned" put turned
	check "$file/$clip, turned: changes that bone" [ "$(changed)" = "$(<"$at/turned").csv" ]
done
echo "bvh: $passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 1 ]
