#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# test-kanim.sh - every clip.kanim of a mount through tovrmlx3d, which reads it with the engine's own
# code: it must load without a word, bake a scene for each frame, and move in between when asked for
# four scenes a frame (a viewer that finds the stills unequal holds each one and jumps).
set -u
cd "$(dirname "$0")/.." || exit 1
BUILD=$(realpath "${BUILD:-build}")
work=$(mktemp -d /var/tmp/animfs-kanim.XXXXXX) || exit 1
clean_up()
{
	! grep -q " $work/mnt fuse" /proc/self/mounts || fusermount3 -uz "$work/mnt"
	rm -rf "$work"
}
trap clean_up EXIT

passed=0 failed=0
is()
{
	if [ "$2" = "$3" ]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		printf 'not ok - %s\n  got:  %s\n  want: %s\n' "$1" "$2" "$3"
	fi
}

# What the reader says to a kanim; nothing when it is content. The scenes go to $work/baked.x3d.
bake() { { tovrmlx3d "$1" --encoding xml >"$work/baked.x3d"; } 2>&1 || echo "status $?"; }
scenes() { grep -A3 '<IntegerSequencer' "$work/baked.x3d" | sed -n 's/.*keyValue="\([^"]*\)".*/\1/p' | wc -w; }
poses() { grep -A1 '<Coordinate' "$work/baked.x3d" | grep 'point=' | sort -u | wc -l; }

mkdir "$work/src" "$work/mnt"
"$BUILD/make_game" "$work/src" --files 2 --clips 2 --frames 20 --version mix --plain 0
cp tests/data/canm/*.canm "$work/src"
"$BUILD/animfs" "$work/src" "$work/mnt" || exit 1

while read -r kanim; do
	name=${kanim#"$work/mnt/"}
	frames=$(grep -c '<frame ' "$kanim")
	is "$name loads" "$(bake "$kanim")" ""
	is "$name: a scene a frame" "$(scenes)" "$frames"
	case $name in object/*) ;; *) continue ;; esac

	rm -rf "$work/clip"
	cp -r "$(dirname "$kanim")" "$work/clip"
	rate=$(sed -n 's/.*scenes_per_time="\([0-9]*\)".*/\1/p' "$kanim")
	sed -i "s/scenes_per_time=\"$rate\"/scenes_per_time=\"$((rate * 4))\"/" "$work/clip/clip.kanim"
	is "$name loads with scenes between" "$(bake "$work/clip/clip.kanim")" ""
	is "$name: four scenes a frame" "$(scenes)" $(((frames - 1) * 4 + 1))
	# The walk closes: its last pose may be its first again.
	is "$name: every scene in between is another pose" \
		"$(($(poses) >= (frames - 1) * 4))" 1
done < <(find "$work/mnt" -name clip.kanim | sort)
"$BUILD/animfs" umount "$work/mnt"
echo "kanim: $passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
