#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# test-places.sh - reads clip.gltf and clip.bvh of every sample of every format with three.js, and
# clip.x3d with x3dom in chromium: each bone must be where its tables say, in several frames.
set -u
cd "$(dirname "$0")/.." || exit 1
. scripts/interchange.bash

modules=$BUILD/npm/node_modules
for package in three@0.187.0 x3dom@1.8.3 puppeteer-core@24.10.0; do
	if ! grep -qs "\"version\": \"${package#*@}\"" "$modules/${package%@*}/package.json"; then
		npm install --silent --prefix "$BUILD/npm" "$package" >/dev/null || exit 1
	fi
done
export PYTHONDONTWRITEBYTECODE=1

views=(clip.gltf clip.bvh clip.x3d curves.csv clip.json)
# What is said is why a clip has no clip.bvh; then the file is empty, and not read.
export_clips "${views[@]}" 2>"$work/absent"
for file in tests/data/ff9clip/*.anim; do
	while IFS= read -r clip; do
		export_clip "$file" "${clip%/}" "${views[@]}" 2>>"$work/absent"
	done < <("$BUILD/animfs" ls "$file" 2>/dev/null | grep '/$')
done
# What a clip is of says which way is up.
find "$work/clips" -name curves.csv -printf '%h\0' | while IFS= read -r -d '' folder; do
	basename "$(dirname "$folder")" >"$folder/file"
done
find "$work/clips" -name curves.csv -printf '%h\0' | sort -z | xargs -0 tests/tools/places.py >"$work/plan" || exit 1
node tests/tools/places.mjs "$modules" "$work/plan"
