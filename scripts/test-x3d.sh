#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# test-x3d.sh - every clip.x3d of the samples, and of a game, through tovrmlx3d, which reads it with
# the code of view3dscene and must not say a word; and one with a skeleton played by that, which must
# show another picture at another time.
set -u
cd "$(dirname "$0")/.." || exit 1
. scripts/interchange.bash

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

export_clips clip.x3d
while IFS= read -r -d '' clip; do
	is "${clip#"$work/clips/"} loads" \
		"$({ tovrmlx3d "$clip" --encoding xml >"$work/read.x3d"; } 2>&1 || echo "status $?")" ""
done < <(find "$work/clips" -name clip.x3d -print0 | sort -z)

clip=$work/clips/ranger.canm/walk/clip.x3d
half=$(sed -n 's/.*cycleInterval="\([^"]*\)".*/\1/p' "$clip" | awk '{print $1 / 2}')
said=$(xvfb-run -a -s "-screen 0 800x600x24" view3dscene "$clip" --geometry 320x320 --hide-extras \
	--hide-menu --no-sound --screenshot 0 "$work/first.png" --screenshot "$half" "$work/half.png" 2>&1)
is "view3dscene plays it without a word" "$said" ""
is "another pose at another time" "$(cmp -s "$work/first.png" "$work/half.png"; echo $?)" 1

echo "x3d: $passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
