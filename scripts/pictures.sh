#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# pictures.sh - makes the pictures of README.md in docs/: mounts the sample game of the demo, plays a
# clip.html in chromium, frame by frame, and a clip.kanim in view3dscene, draws a bone's picture, and
# opens a bone's table in LibreOffice.
set -eu
cd "$(dirname "$0")/.."
BUILD=$(realpath "${BUILD:-build}")
export LC_ALL=C.UTF-8

work=$(mktemp -d /var/tmp/animfs-pictures.XXXXXX)
office=
clean_up()
{
	[ -z "$office" ] || kill "$office"
	! grep -q " $work/anim fuse" /proc/self/mounts || fusermount3 -uz "$work/anim"
	rm -rf "$work"
}
trap clean_up EXIT

"$BUILD/make_game" "$work/game" --files 4 --clips 3 --bones 24 --frames 31 --plain 4 --skeleton 1
mkdir "$work/anim"
"$BUILD/animfs" "$work/game" "$work/anim"
walk=$work/anim/object/e0000/ranger.canm/walk
mkdir -p docs

# Several moments side by side, of a clip of half a second.
shots=()
for moment in 0.01 0.1 0.2 0.3 0.4; do
	shots+=(--screenshot "$moment" "$work/$moment.png")
done
xvfb-run -a -s "-screen 0 400x480x24" view3dscene "$walk/clip.kanim" --geometry 400x480 \
	--hide-extras --hide-menu --no-sound "${shots[@]}"
convert "$work"/0.*.png -gravity center -crop 190x400+0+0 +repage +append "$work/kanim.png"

rsvg-convert "$walk/bones/leg_L.svg" >"$work/plot.png"

puppeteer=$BUILD/npm/node_modules/puppeteer-core
[ -e "$puppeteer" ] || npm install --silent --prefix "$BUILD/npm" puppeteer-core@24.10.0 >/dev/null
mkdir "$work/frames"
node tests/tools/player.mjs "$puppeteer" chromium frames \
	"$walk/clip.html#bone=foot_L&theme=dark&view=42,10,3.1,0,1,0" "$work/frames"
# Every other frame, and not the last, which is the first again. One palette for all: what stands still
# is then equal from frame to frame, and takes no space.
mapfile -t frames < <(printf '%s\n' "$work"/frames/*.png | sed -e '$d' -e 'n;d')
convert "${frames[@]}" -append +dither -colors 96 -unique-colors "$work/palette.png"
convert -delay 7 -loop 0 "${frames[@]}" +dither -remap "$work/palette.png" -layers Optimize -strip docs/player.gif
ls -l docs/player.gif

soffice "-env:UserInstallation=file://$work/profile" --headless --norestore \
	--accept="pipe,name=animfs$$;urp" >"$work/office" 2>&1 &
office=$!
timeout 60 /usr/bin/python3 tests/editors/calc.py "animfs$$" "$walk/bones/leg_L.csv" "print=$work/table.pdf"
pdftoppm -r 96 -f 1 -l 1 -singlefile -png "$work/table.pdf" "$work/table"

convert "$work/table.png" -trim -bordercolor white -border 12 "$work/table.png"

for picture in kanim plot table; do
	convert "$work/$picture.png" -colors 128 "PNG8:docs/$picture.png"
	optipng -quiet -o5 "docs/$picture.png"
	ls -l "docs/$picture.png"
done
