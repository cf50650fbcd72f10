#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# test-gltf.sh - every clip.gltf of the samples, and of a game, through the Khronos validator.
set -u
cd "$(dirname "$0")/.." || exit 1
. scripts/interchange.bash

validator=$BUILD/npm/node_modules/gltf-validator
if [ ! -e "$validator" ]; then
	npm install --silent --prefix "$BUILD/npm" gltf-validator@2.0.0-dev.3.10 >/dev/null || exit 1
fi
export_clips clip.gltf
find "$work/clips" -name clip.gltf -print0 | sort -z | xargs -0 node tests/check_gltf.js "$validator"
