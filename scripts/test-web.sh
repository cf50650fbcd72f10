#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# test-web.sh - the WebAssembly of the page against the program, over all samples: the same names and
# texts, edits that give the same bytes or the same message, and what the fuzzers found; then the page
# itself in chromium and firefox, from disk and without a network.
set -u
cd "$(dirname "$0")/.." || exit 1
BUILD=${BUILD:-build}
work=$(mktemp -d /var/tmp/animfs-web.XXXXXX) || exit 1
trap 'rm -rf "$work"' EXIT
status=0

web()
{
	local mode=$1
	shift
	node tests/tools/web.mjs "$(realpath "$BUILD/animfs")" "$BUILD/web/animfs.wasm" "$mode" "$work/$mode" "$@" ||
		status=1
}

samples=(tests/data/{canm,cas,ff9anim,ff9clip,owanim,ribbon}/*)
files=()
for file in "${samples[@]}"; do
	case $file in *.json) ;; *) files+=("$file") ;; esac
done
# With a rest pose beside it, and a list of others.
mkdir "$work/beside"
cp tests/data/canm/wiki512.canm tests/data/ribbon/{frames030,flags7}.anm "$work/beside"
printf 'bone,parent,tx,ty,tz,rx,ry,rz,sx,sy,sz\nScene_Root,,0,0,0,0,0,0,1,1,1\nhip,Scene_Root,0,1,0,0,30,0,1,1,1\n' \
	>"$work/beside/wiki512.canm.skeleton.csv"
printf 'file\nframes030.anm\nflags7.anm\nframes030.anm\n' >"$work/beside/jump.sequence.csv"
files+=("$work"/beside/{wiki512.canm,jump.sequence.csv})
size=$(stat -c %s "$BUILD/web/animfs.wasm")
echo "animfs.wasm: $size bytes"
[ "$size" -le 700000 ] || { echo "more than 700000"; status=1; }
web core tests/data/canm/wiki512.canm
web desk tests/data/canm/wiki512.canm
"$BUILD/make_game" "$work/large" --files 1 --clips 1 --frames 15000 --bones 800 --plain 0 --skeleton 0
find "$work/large" -name '*.canm' -exec mv {} "$work/large/large.canm" ';'
web large "$work/large/large.canm"
web texts "${files[@]}"
web edits "${files[@]}"
web damaged tests/search/fuzz/corpus tests/data

size=$(stat -c %s "$BUILD/web/animfs.html")
echo "animfs.html: $size bytes"
[ "$size" -le 1500000 ] || { echo "more than 1500000"; status=1; }
puppeteer=$BUILD/npm/node_modules/puppeteer-core
if [ ! -e "$puppeteer" ]; then
	npm install --silent --prefix "$BUILD/npm" puppeteer-core@24.10.0 >/dev/null || exit 1
fi
mkdir "$work/page"
"$BUILD/make_game" "$work/many" --files 1 --clips 1 --frames 900 --bones 200 --plain 0 --skeleton 0
find "$work/many" -name '*.canm' -exec cp {} "$work/page/many.canm" ';'
for browser in chromium firefox; do
	node tests/tools/web_page.mjs "$(realpath "$puppeteer")" "$browser" "$BUILD/web/animfs.html" \
		"$(realpath "$BUILD/animfs")" "$work/page" || status=1
done
exit $status
