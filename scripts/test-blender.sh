#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# test-blender.sh - every clip.gltf of the samples, and of a game, into Blender: it must come out as
# an armature with the clip's bones, and an action as long as the clip that poses them as the tables
# say. Skipped where there is no Blender.
set -u
cd "$(dirname "$0")/.." || exit 1
if ! command -v blender >/dev/null || ! /usr/bin/python3 -c 'import numpy' 2>/dev/null; then
	echo 'blender: 0 passed, 0 failed, 1 skipped (blender and python3-numpy are not installed)'
	exit 0
fi
. scripts/interchange.bash

export_clips clip.gltf curves.csv clip.json
mapfile -d '' folders < <(find "$work/clips" -name clip.gltf -printf '%h\0' | sort -z)
blender -b --factory-startup -P tests/check_blender.py -- "${folders[@]}" >"$work/log" 2>&1
status=$?
grep -v -e 'glTF import finished' -e '^Data are loaded' -e '^Blender ' -e '^$' "$work/log"
exit "$status"
