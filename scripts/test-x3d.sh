#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# test-x3d.sh - reads every clip.x3d of the samples, and of a game, with tovrmlx3d, which uses the
# code of view3dscene and must print no warning. Screenshots by view3dscene of some at several times
# must show the poses in the tables; and one without a loop must play in its window.
set -u
cd "$(dirname "$0")/.." || exit 1
. scripts/interchange.bash

. scripts/is.bash

export_clips clip.x3d
while IFS= read -r -d '' clip; do
	is "${clip#"$work/clips/"} loads" \
		"$({ tovrmlx3d "$clip" --encoding xml >"$work/read.x3d"; } 2>&1 || echo "status $?")" ""
done < <(find "$work/clips" -name clip.x3d -print0 | sort -z)

# play CLIP WHAT [ORDER]: what is seen of the clip, which must tell of WHAT
play()
{
	local folder=$work/played/${1//\//-} view said
	mkdir -p "$folder/frames"
	for view in clip.json clip.x3d curves.csv frames/frame_00000.x3d; do
		"$BUILD/animfs" cat "$work/src/$1/$view" >"$folder/$view"
	done
	"$BUILD/animfs" cat "$work/src/${1%/*}/skeleton.csv" >"$folder/skeleton.csv"
	said=$(tests/tools/check_pose.py "$folder" "$folder/skeleton.csv" clip.x3d ${3:+"$3"} 2>&1)
	case $said in
	*"$2"*) is "$1" "" "" ;;
	*) is "$1" "$said" "$2" ;;
	esac
	echo "  $1: $said"
}

cp tests/data/ribbon/objects024.anm "$work/src"
for clip in object/e0000/{ranger,diver}.canm/{walk,run} objects024.anm/objects024; do
	play "$clip" "show their poses"
done

# Long enough to be looked at.
slow=object/e0000/ranger.canm/run
"$BUILD/animfs" cat "$work/src/$slow/clip.json" |
	sed 's/"frame_time": 1,/"frame_time": 30,/' >"$work/slow.json"
"$BUILD/animfs" put "$work/src/$slow/clip.json" <"$work/slow.json"
is "a clip without a loop" "$("$BUILD/animfs" cat "$work/src/$slow/clip.x3d" | grep -c 'loop="false"')" 1
play "$slow" "the window shows frames" --live

echo "x3d: $passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
