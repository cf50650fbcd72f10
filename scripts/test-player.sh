#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# test-player.sh [BROWSER...] - opens the pages of every sample and of a game in headless chromium
# and firefox, from disk and without a network: every joint must be where the tables put it, and all
# controls must work.
set -u
cd "$(dirname "$0")/.." || exit 1
rotations=--rotations=stored
. scripts/interchange.bash

puppeteer=$BUILD/npm/node_modules/puppeteer-core
if [ ! -e "$puppeteer" ]; then
	npm install --silent --prefix "$BUILD/npm" puppeteer-core@24.10.0 >/dev/null || exit 1
fi
browsers=("$@")
[ $# -gt 0 ] || browsers=(chromium firefox)
export PYTHONDONTWRITEBYTECODE=1
status=0

export_clips clip.html curves.csv clip.json
find "$work/clips" -name clip.html -printf '%h\0' | sort -z |
	xargs -0 tests/tools/check_player.py plan >"$work/plan" || exit 1

# A folder as in a mount, large pages, and names to be escaped.
"$BUILD/make_game" "$work/game" --files 2 --clips 3 --frames 31 --bones 24 --plain 0 --skeleton 1
"$BUILD/make_game" "$work/many" --files 1 --clips 40 --frames 60 --bones 200 --plain 0 --skeleton 1
"$BUILD/animfs" export --views=csv,gltf "$work/game" "$work/texts" >/dev/null || exit 1
use=$work/texts/object/e0000/ranger.canm
for page in file.html {walk,run}/clip.html; do
	"$BUILD/animfs" cat "$work/game/object/e0000/ranger.canm/$page" >"$use/$page"
done
"$BUILD/animfs" export --views=html "$work/game" "$use/site" >/dev/null || exit 1
"$BUILD/animfs" cat "$work"/many/object/e0000/ranger.canm/file.html >"$use/many.html"
"$BUILD/animfs" cat tests/data/canm/wiki512.canm/攻撃_01/clip.html >"$use/still.html"
"$BUILD/animfs" cat tests/data/ribbon/frames001.anm/frames001/clip.html >"$use/still-ribbon.html"
"$BUILD/animfs" cat tests/data/ff9anim/bones024.ff9anim/bones024/clip.html >"$use/turns.html"
"$BUILD/animfs" cat tests/data/canm/nan512.canm/n/clip.html >"$use/gaps.html"
cp "$work/game/object/e0000/ranger.canm" "$work/hostile.canm"
b=$(printf 'b%.0s' {1..40})
c=$(printf 'c%.0s' {1..40})
"$BUILD/animfs" clip rename "$work/hostile.canm/run" "$c" &&
	"$BUILD/animfs" bone rename "$work/hostile.canm" hips "$b" || exit 1
"$BUILD/animfs" cat "$work/hostile.canm/$c/clip.html" >"$use/hostile.html"
"$BUILD/animfs" cat "$work/hostile.canm/file.html" >"$use/hostile-file.html"

# still NUMBER X Y COLOUR: a point and a line (player.mjs, STILLS).
still()
{
	cat >"$work/stills/still_$1.x3d" <<-END
	<X3D><Scene><Transform center="1 0 0" rotation="0 0 1 1.5707963"><Transform translation="$2 0 0"><Shape>
	<Appearance><Material emissiveColor="1 0 1"/></Appearance><PointSet><Coordinate point="0 $3 0"/></PointSet>
	</Shape></Transform></Transform><Shape><Appearance><Material emissiveColor="$4"/></Appearance>
	<IndexedLineSet coordIndex="0 1"><Coordinate point="0 1.5 0, 0 3 0"/></IndexedLineSet></Shape></Scene></X3D>
	END
}
mkdir "$work/stills"
still 0 -2 0 "1 0 0"
still 1 0 1 "0.6666667 0 0.3333333"
still 2 2 0 "0 0 1"
printf '<animation loop="true" backwards="true">%s</animation>' '<frame url="still_0.x3d" time="4"/>
	<frame url="still_1.x3d" time="5"/><frame url="still_2.x3d" time="7"/>' >"$work/stills/walk.kanim"
"$BUILD/animfs" cat "$work/stills/walk.kanim/%/clip.html" >"$use/stills.html" || exit 1
# The same as one of several, of which one cannot be played.
kanim=$work/stills/stills.castle-anim-frames
sed 's,<animation ,<animations>&name="walk" ,; $s,$,<animation name="lost"><frame url="none.x3d" time="0"/></animation></animations>,' \
	"$work/stills/walk.kanim" >"$kanim"
"$BUILD/animfs" export --views=html "$work/stills" "$use/stills" >/dev/null || exit 1

for browser in "${browsers[@]}"; do
	node tests/tools/player.mjs "$puppeteer" "$browser" marks "$work/plan" "$work/seen" &&
		tests/tools/check_player.py judge "$work/plan" "$work/seen" || status=1
	node tests/tools/player.mjs "$puppeteer" "$browser" use "$use" || status=1
done
exit $status
