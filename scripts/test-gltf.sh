#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# test-gltf.sh - checks every clip.gltf of the samples, and of a game, with the Khronos validator.
set -u
cd "$(dirname "$0")/.." || exit 1
. scripts/interchange.bash

validator=$BUILD/npm/node_modules/gltf-validator
if [ ! -e "$validator" ]; then
	npm install --silent --prefix "$BUILD/npm" gltf-validator@2.0.0-dev.3.10 >/dev/null || exit 1
fi
export_clips clip.gltf
# Also with a rest scale of 0, and without a mesh.
mkdir "$work/odd"
cp "$work/src/object/e0000/ranger.canm" "$work/odd"
write_skeleton | sed '/^hips/s/1,1,1$/0,1,1/' >"$work/odd/ranger.canm.skeleton.csv"
mkdir -p "$work/clips/odd" && "$BUILD/animfs" cat "$work/odd/ranger.canm/walk/clip.gltf" >"$work/clips/odd/clip.gltf"
mkdir -p "$work/clips/plain"
"$BUILD/animfs" cat --gltf=plain "$work/odd/ranger.canm/walk/clip.gltf" >"$work/clips/plain/clip.gltf"
find "$work/clips" -name clip.gltf -print0 | sort -z | xargs -0 node tests/tools/check_gltf.js "$validator"
