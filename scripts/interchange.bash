# SPDX-License-Identifier: GPL-3.0-or-later
# interchange.bash - for scripts that pass clips to other programs. Sets $work, which is removed at
# the end, and makes in $work/clips a folder for each clip of the samples of every format, and of a
# game with a skeleton, with the named views:
#
#	export_clips clip.gltf curves.csv
#
# Rotations are quaternions, unless $rotations names other options of animfs(1), or is empty.
BUILD=$(realpath "${BUILD:-build}")
work=$(mktemp -d /var/tmp/animfs-interchange.XXXXXX) || exit 1
trap 'rm -rf "$work"' EXIT

# A bone that no clip has ("mid") stands between others.
write_skeleton()
{
	cat <<-END
	bone,parent,tx,ty,tz,rx,ry,rz,sx,sy,sz
	Scene_Root,,0,0,0,0,0,0,1,1,1
	hips,Scene_Root,0,1,0,0,0,0,1,1,1
	mid,hips,0,0.3,0,0,0,90,1,1,1
	spine,mid,0,0.1,0,0,0,0,1,1,1
	spine1,spine,0,0.1,0,0,0,0,1,1,1
	arm_L,spine1,0.1,0,0,0,0,0,1,1,1
	forearm_L,arm_L,0.3,0,0,0,0,0,1,1,1
	右手,spine1,0,0.2,0,0,0,0,1,1,1
	END
}

# export_clip FILE CLIP VIEW...
export_clip()
{
	local from="$1/$2" to view
	to=$work/clips/$(basename "$1")/$2
	shift 2
	"$BUILD/animfs" ls "$from" | grep -qx "$1" || return 0
	mkdir -p "$to"
	for view; do
		# shellcheck disable=SC2086 # they are words
		"$BUILD/animfs" cat ${rotations---rotations=quaternion} "$from/$view" >"$to/$view"
	done
	"$BUILD/animfs" cat "$(dirname "$from")/skeleton.csv" >"$to/skeleton.csv"
}

export_clips()
{
	local file clip
	mkdir -p "$work/src"
	"$BUILD/make_game" "$work/src" --files 2 --clips 2 --frames 20 --version mix --plain 0 --skeleton 1
	write_skeleton >"$work/src/object/e0000/ranger.canm.skeleton.csv"
	for file in "$work"/src/object/*/*.canm \
		tests/data/{canm/*.canm,cas/*.cas,owanim/*.006,ff9anim/*.ff9anim,ribbon/*.anm}; do
		while IFS= read -r clip; do
			export_clip "$file" "${clip%/}" "$@"
		done < <("$BUILD/animfs" ls "$file" 2>/dev/null | grep '/$')
	done
}
