#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# test-svg.sh - draws pictures of curves of every format with rsvg-convert and chromium: both must
# look alike, and differ from other pictures, which shows that the comparison means something. On
# black, since every picture has its own background, which must be dark if the viewer prefers dark.
set -u
cd "$(dirname "$0")/.." || exit 1
. scripts/interchange.bash

passed=0 failed=0
verdict()
{
	if [ "$2" = 1 ]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		printf 'not ok - %s\n' "$1"
	fi
}

browse()
{
	chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir="$work/chromium" "$@" \
		>/dev/null 2>&1
}

# draw SVG: $1.r.png, $1.c.png and, where dark is preferred, $1.d.png
draw()
{
	local width height
	width=$(sed -n 's/.*<svg [^>]* width="\([0-9]*\).*/\1/p' "$1" | head -n 1)
	height=$(sed -n 's/.*<svg [^>]* height="\([0-9]*\).*/\1/p' "$1" | head -n 1)
	rsvg-convert --background-color black "$1" >"$1.r.png"
	browse --screenshot="$1.c.png" --window-size="$width,$height" "file://$1"
	browse --blink-settings=preferredColorScheme=0 --screenshot="$1.d.png" \
		--window-size="$width,$height" "file://$1"
}
# How far two pictures are from each other, from 0 to 1. Letters have other edges in each program.
distance() { convert "$1" "$2" -blur 0x2 -metric RMSE -compare -format '%[distortion]' info:; }
below() { awk "BEGIN {print ($1 < $2)}"; }

mkdir "$work/src"
"$BUILD/make_game" "$work/src" --files 2 --clips 2 --frames 31 --version mix --plain 0
# take FILE VIEW: one of the pictures
take()
{
	"$BUILD/animfs" cat "$1/$2" >"$work/${1##*/}-${2//\//-}"
	pictures+=("$work/${1##*/}-${2//\//-}")
}
pictures=()
for bone in hips leg_L arm_R; do
	take "$work/src/object/e0000/ranger.canm" "walk/bones/$bone.svg"
	take "$work/src/object/e0000/diver.canm" "run/bones/$bone.svg"
done
take "$work/src/object/e0000/ranger.canm" walk/clip.svg
for file in canm/wiki512.canm owanim/{walk,sparse}.006 ff9anim/frames033_low.ff9anim ribbon/frames030.anm; do
	clip=$("$BUILD/animfs" ls "tests/data/$file" | sed -n 's,/$,,p' | head -n 1)
	take "tests/data/$file" "$clip/clip.svg"
done

last=
for picture in "${pictures[@]}"; do
	draw "$picture"
	apart=$(distance "$picture.r.png" "$picture.c.png")
	echo "  ${picture##*/}: $apart"
	verdict "${picture##*/}: rsvg-convert and chromium draw alike" "$(below "$apart" 0.008)"
	verdict "${picture##*/}: dark where dark is preferred" \
		"$(convert "$picture.d.png" -format '%[pixel:p{1,1}]' info: | grep -c '(27,27,27[,)]')"
	if [ -n "$last" ] && [ "$(identify -format %wx%h "$last.r.png")" = "$(identify -format %wx%h "$picture.c.png")" ]; then
		other=$(distance "$last.r.png" "$picture.c.png")
		echo "  ${picture##*/} is not ${last##*/}: $other"
		verdict "${picture##*/} is not ${last##*/}" "$(below "0.02" "$other")"
	fi
	last=$picture
done
echo "svg: $passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
