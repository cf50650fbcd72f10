#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# ff9clip.sh - clips of Final Fantasy IX on Steam: keys with tangents, bones by their paths, and
# copies to and from other formats.
. "$(dirname "$0")/lib.sh"

# has FILE PATTERN: a line of the file matches.
has() { like "${1##*/} has $2" "$(<"$1")" "$2"; }

# rounded: the quaternions of a table, with 4 decimals and w >= 0.
rounded()
{
	awk -F, -v OFS=, 'NR > 1 {
		sign = $8 < 0 ? -1 : 1
		for (i = 5; i <= 8; i++) $i = $i == "" ? "" : sprintf("%.4f", sign * $i + 0) + 0
	} 1'
}

data=$PWD/tests/data/ff9clip
cp "$data"/{walk,walk_json,odd,bad_bom}.anim "$SRC"
cp tests/data/ff9anim/frames008_nolow.ff9anim "$SRC/block.ff9anim"
mount_animfs --rotations=stored
clip=$MNT/walk.anim/walk

is "parents are in the paths" "$(cut -d, -f1,2 "$MNT/walk.anim/skeleton.csv")" \
	$'bone,parent\nbone000,\nbone001,bone000\nbone002,bone001\nbone003,bone000'
ok "a file with a byte order mark is a plain one" test -f "$MNT/bad_bom.anim"
like "and says why" "$(getfattr --absolute-names --only-values -n user.animfs.error "$MNT/bad_bom.anim")" \
	'byte order mark'

for name in walk walk_json odd; do
	for view in clip.json curves.csv clip.gltf bones/bone001.csv bones/bone001.json; do
		cp "$MNT/$name.anim/$name/$view" "$WORK/own"
		cp "$WORK/own" "$MNT/$name.anim/$name/$view"
	done
	ok "own texts of $name change nothing" cmp "$SRC/$name.anim" "$data/$name.anim"
done

# The bone's curve has central differences: the key that changes gets them too, no other does.
ok "a cell is saved" sed -i 's/^2,0.066667,,,,0.25881904/2,0.066667,,,,0.2588/' "$clip/bones/bone001.csv"
is "in 4 bytes of the binary, and 0 of the tangents, which the neighbours give" \
	"$(cmp -l "$SRC/walk.anim" "$data/walk.anim" | awk '{print int(($1 - 1) / 4)}' | sort -u | wc -l)" 1
ok "a tangent is saved" sed -i '0,/"in": \[5.5219383/s//"in": [1/' "$clip/bones/bone001.json"
has "$clip/bones/bone001.json" '"in": \[1, 0, 0, -0.51257557\], "out": \[5.5219383,'

ok "a bone is renamed" sed -i 's/{"bone": "bone001"/{"bone": "hip", "was": "bone001"/' "$clip/clip.json"
has "$clip/clip.json" '"name": "bone000/hip/bone002"'
ok "another length is refused" sh -c "! sed -i 's/\"frames\": 9/\"frames\": 8/' '$clip/clip.json' 2>&1"
has "$clip/clip.json.error" 'ends with its last key'
rm -f "$clip"/clip.json.{error,rejected}

umount_animfs
file=$SRC/walk.anim
like "--tangents adds columns" "$("$ANIMFS" cat --tangents "$file/walk/curves.csv" | head -n 1)" ',ix,iy,iz,iw,ox,oy,oz,ow$'
like "splines are in glTF" "$("$ANIMFS" cat "$file/walk/clip.gltf")" '"interpolation": "CUBICSPLINE"'
like "the root is turned" "$("$ANIMFS" cat "$file/walk/clip.gltf")" '"name": "walk.anim", "rotation": \[1, 0, 0, 0\]'
like "or mirrored" "$("$ANIMFS" cat --ff9clip-hand=left "$file/walk/clip.gltf")" '"name": "walk.anim", "scale": \[1, -1, 1\]'

ok "a block becomes a clip" "$ANIMFS" clip copy "$SRC/block.ff9anim/block" "$SRC/new.anim"
like "its bones are called as the game does" "$("$ANIMFS" cat "$SRC/new.anim/new/clip.json")" '"name": "bone000"'
ok "that comes back" "$ANIMFS" clip copy "$SRC/new.anim/new" "$SRC/back.ff9anim"
is "with the same angles" "$("$ANIMFS" cat "$SRC/back.ff9anim/back/curves.csv")" \
	"$("$ANIMFS" cat "$SRC/block.ff9anim/block/curves.csv")"
cp tests/data/ff9anim/bones024.ff9anim "$SRC/many.ff9anim"
"$ANIMFS" clip copy "$SRC/many.ff9anim/many" "$SRC/many.anim"
cp "$SRC/many.anim" "$WORK"
"$ANIMFS" cat "$SRC/many.ff9anim/many/bones/bone_007.csv" >"$WORK/block.csv"
# Quaternions, which take the angles nearest to the stored ones; angles are stored as they are typed.
"$ANIMFS" cat --rotations=stored "$SRC/many.anim/many/bones/bone007.csv" >"$WORK/clip.csv"
ok "a bone's text can be copied from a block" "$ANIMFS" put "$SRC/many.anim/many/bones/bone007.csv" "$WORK/block.csv"
ok "and says what the copied clip has" cmp "$SRC/many.anim" "$WORK/many.anim"
ok "the same angles change nothing in the block" \
	"$ANIMFS" put "$SRC/many.ff9anim/many/bones/bone_007.csv" "$WORK/block.csv"
ok "and so does the text of the clip" "$ANIMFS" put "$SRC/many.ff9anim/many/bones/bone_007.csv" "$WORK/clip.csv"
ok "as it was" cmp "$SRC/many.ff9anim" tests/data/ff9anim/bones024.ff9anim

# A model beside the block has the hierarchy: here, the parent of bone N is (N - 1) / 2.
mkdir "$SRC/model"
cp "$data/../ff9anim/bones024.ff9anim" "$SRC/model/many.ff9anim"
python3 -c 'import sys
sys.stdout.buffer.write(bytes([0, 0, 24]) + bytes(17) + b"".join(bytes([0, 0, 0, max(0, (n - 1) // 2)]) for n in range(24)))' \
	>"$SRC/model/many.ff9model"
ok "a block with a model becomes a clip" "$ANIMFS" clip copy "$SRC/model/many.ff9anim/many" "$SRC/model/paths.anim"
like "whose names are paths" "$("$ANIMFS" cat "$SRC/model/paths.anim/paths/clip.json")" \
	'"name": "bone000/bone001/bone004/bone009/bone019"'
is "and its parents those of the model" "$("$ANIMFS" cat "$SRC/model/paths.anim/skeleton.csv" | cut -d, -f1,2 | sort)" \
	"$("$ANIMFS" cat "$SRC/model/many.ff9anim/skeleton.csv" | cut -d, -f1,2 | sed 's/bone_/bone/g' | sort)"
ok "and back" "$ANIMFS" clip copy "$SRC/model/paths.anim/paths" "$SRC/model/many2.ff9anim"
is "all bones are in their order, with the same angles" \
	"$("$ANIMFS" cat --rotations=quaternion "$SRC/model/many2.ff9anim/many2/curves.csv" | rounded)" \
	"$("$ANIMFS" cat --rotations=quaternion "$SRC/model/many.ff9anim/many/curves.csv" | rounded)"
"$ANIMFS" export "$SRC/model" "$WORK/texts" 2>"$WORK/log"
mkdir "$WORK/to"
mv "$WORK/texts/many.ff9anim" "$WORK/to/texts.anim"
rm "$WORK/to/texts.anim/raw.ff9anim"
ok "so do its texts" "$ANIMFS" import "$WORK/to" "$SRC/model"
ok "with the skeleton among them" cmp <("$ANIMFS" cat "$SRC/model/texts.anim/texts/curves.csv") \
	<("$ANIMFS" cat "$SRC/model/paths.anim/paths/curves.csv")
like "in the paths" "$("$ANIMFS" cat "$SRC/model/texts.anim/texts/clip.json")" \
	'"name": "bone000/bone001/bone004/bone009/bone019"'
ok "and nowhere else" test ! -e "$SRC/model/texts.anim.skeleton.csv"

# angles FILE CLIP: those of all rotations in degrees
angles() { "$ANIMFS" cat --rotations=euler "$1/$2/curves.csv" | grep ',rotation,' | cut -d, -f5-7; }
"$ANIMFS" cat --rotations=euler "$SRC/many.anim/many/curves.csv" |
	awk -F, -v OFS=, '$2 == "rotation" { $5 += 0.03; $6 += 0.03; $7 += 0.03 } 1' >"$WORK/turned.csv"
ok "angles between those of a block" "$ANIMFS" put "$SRC/many.anim/many/curves.csv" "$WORK/turned.csv"
ok "can be copied to one" "$ANIMFS" clip copy "$SRC/many.anim/many" "$SRC/near.ff9anim"
is "where the nearest, within 0.044 degrees, take their place" "$(paste -d, <(angles "$SRC/many.anim" many) \
	<(angles "$SRC/near.ff9anim" near) | awk -F, '
		{ for (i = 1; i <= 3; i++) { d = ($i - $(i + 3) + 900) % 360 - 180; if (d < 0) d = -d; if (d > most) most = d } }
		END { print NR, (most > 0.02), (most < 0.044) }')" "168 1 1"
like "what a block has no room for is named" "$("$ANIMFS" clip copy "$SRC/odd.anim/odd" "$SRC/no.ff9anim" 2>&1)" \
	'^animfs: '
ok "and makes no file" test ! -e "$SRC/no.ff9anim"
