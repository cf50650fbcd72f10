#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# tree.sh - the tree of a mount: every view and no other name, with its exact size, and the same
# without a mount.
. "$(dirname "$0")/lib.sh"
cp tests/data/canm/{wiki512,odd512,nan512,edf6_768}.canm "$SRC"
make_game --files 4 --clips 3 --bones 12 --frames 9 --plain 3
mount_animfs --views=all

# views CLIP FRAMES BONE...: the names of a clip
views()
{
	local clip=$1 frames=$2 bone
	shift 2
	printf '%s\n' "$clip" "$clip"/{bones,clip.gltf,clip.html,clip.json,clip.kanim,clip.svg,clip.x3d,curves.csv,frames}
	for bone; do
		printf '%s\n' "$clip/bones/$bone".{csv,json,svg}
	done
	seq -f "$clip/frames/frame_%05.0f.x3d" 0 $((frames - 1))
}

is "all of wiki512, with names as the file has them" "$(cd "$MNT/wiki512.canm" && find . -mindepth 1 -printf '%P\n' | LC_ALL=C sort)" \
	"$( (
		printf '%s\n' file.html file.json raw.canm skeleton.csv empty empty/{bones,clip.json,curves.csv}
		views walk 3 Scene_Root Bone01 hip
		printf '%s\n' walk/bones/右手.{csv,json} # it has no keys
		views Idle 3 hip %
		views 攻撃_01 1 Bone01
		echo 攻撃_01/clip.bvh # the others scale or have no keys
	) | LC_ALL=C sort)"

is "equal names are numbered" "$(cd "$MNT/odd512.canm" && echo *)" "dup dup~2 file.html file.json raw.canm skeleton.csv"
is "the second of equal names has its own number of frames" "$(ls "$MNT/odd512.canm/dup~2/frames" | wc -l)" 9

# Sizes first: nothing has been rendered for a read yet.
find "$MNT" -type f -printf '%s %P\n' | sort >"$WORK/sizes"
while read -r _ path; do
	echo "$(cat "$MNT/$path" | wc -c) $path"
done <"$WORK/sizes" | sort >"$WORK/bytes"
ok "sizes are what is read" diff "$WORK/sizes" "$WORK/bytes"

differences()
{
	local path
	find "$MNT" -path '*.canm/*' -type f -printf '%P\n' | while read -r path; do
		"$ANIMFS" cat "$SRC/$path" | cmp -s - "$MNT/$path" || echo "$path"
	done
}
is "cat says the same without a mount" "$(differences)" ""

listing()
{
	local path
	find "$MNT" \( -path '*.canm/*' -o -name '*.canm' \) -type d -printf '%P\n' | while read -r path; do
		diff <("$ANIMFS" ls "$SRC/$path" | sed 's,/$,,' | sort) <(ls "$MNT/$path" | sort) >&2 || echo "$path"
	done
}
is "ls lists the same without a mount" "$(listing 2>&1)" ""

is "ordinary files are what they are" "$(diff -r "$SRC" "$MNT" -x '*.canm')" ""
is "folders count one link each" "$(find "$MNT" -path '*.canm*' -type d ! -links 1)" ""
is "inode numbers of all names differ" "$(find "$MNT" -printf '%i\n' | sort | uniq -d)" ""
is "inode numbers stay" "$(find "$MNT" -printf '%i %P\n' | sort)" \
	"$(find "$MNT" -printf '%i %P\n' | sort)"
fails "a view that is not there" cat "$MNT/wiki512.canm/empty/clip.kanim"
fails "a bone that is not there" cat "$MNT/wiki512.canm/walk/bones/nobody.csv"
fails "a name is not found by another case" cat "$MNT/wiki512.canm/Walk/clip.json"

ln -s wiki512.canm "$SRC/link.canm"
is "a symbolic link to an animation stays one" "$(readlink "$MNT/link.canm")" wiki512.canm
ok "and leads to the folder" cmp "$MNT/link.canm/walk/clip.json" "$MNT/wiki512.canm/walk/clip.json"
umount_animfs
