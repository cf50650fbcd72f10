#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# additive.sh - --base: clips shown on top of another in pictures, player, X3D and glTF, and glTF saved
# back; CSV and JSON show the file's own values. additive.py, which reads CSV and glTF by itself, composes
# the expected poses.
. "$(dirname "$0")/lib.sh"
tool=$(dirname "$0")/additive.py
tool=$(realpath "$tool")
make_game --files 1 --clips 3 --bones 24 --frames 31 --plain 0 --skeleton 1 --version 512
mv "$SRC"/object/*/* "$SRC"
rm -r "$SRC/object"
cd "$SRC" || exit 1
f=ranger.canm
"$ANIMFS" clip rename $f/run nod_add
"$ANIMFS" clip rename $f/待機 still
"$ANIMFS" bone remove $f/nod_add leg_L
rm -rf .animfs
cp $f "$WORK/before.canm"
base=--base='*_add=walk'
cat() { "$ANIMFS" cat "$@"; }

for view in clip.gltf clip.x3d clip.svg clip.html frames/frame_00007.x3d bones/arm_L.svg; do
	cat $f/nod_add/$view >plain
	cat "$base" $f/nod_add/$view >composed
	fails "$view is another one" cmp -s plain composed
	is "$view of what is no such clip is not" "$(cat "$base" $f/still/$view | cksum)" "$(cat $f/still/$view | cksum)"
	is "$view of the base is not" "$(cat "$base" $f/walk/$view | cksum)" "$(cat $f/walk/$view | cksum)"
done
fails "nor is file.html the same" test "$(cat $f/file.html | cksum)" = "$(cat "$base" $f/file.html | cksum)"
for view in clip.json curves.csv bones/arm_L.csv bones/arm_L.json clip.bvh; do
	is "$view is what the file says" "$(cat --bvh=lossy "$base" $f/nod_add/$view | cksum)" \
		"$(cat --bvh=lossy $f/nod_add/$view | cksum)"
done
is "--base=CLIP alone: on all others" "$(cat --base=walk $f/nod_add/clip.gltf | cksum)" "$(cat "$base" $f/nod_add/clip.gltf | cksum)"
fails "also on this" test "$(cat --base=walk $f/still/clip.gltf | cksum)" = "$(cat $f/still/clip.gltf | cksum)"
is "the first rule that matches" \
	"$(cat --base='nod*=still' --base='*=walk' $f/nod_add/clip.gltf | cksum)" "$(cat --base=still $f/nod_add/clip.gltf | cksum)"
is "a file without such a clip is shown as it is" "$(cat --base='*=none' $f/nod_add/clip.gltf | cksum)" \
	"$(cat $f/nod_add/clip.gltf | cksum)"
for wrong in '' '=walk' 'x='; do
	said=$(cat --base="$wrong" $f/nod_add/clip.gltf 2>&1)
	is "--base='$wrong'" "$? $(grep -c 'expected CLIP' <<<"$said")" "2 1"
done
cat "$base" $f/nod_add/clip.gltf >composed
ok "every pose is base and additive together" python3 "$tool" same $f walk nod_add composed

# ---- and back ----
ok "its own text" "$ANIMFS" put "$base" $f/nod_add/clip.gltf composed
ok "changes nothing" cmp $f "$WORK/before.canm"
python3 "$tool" turn composed edited arm_L 10 || exit 1
ok "an edited one" "$ANIMFS" put "$base" $f/nod_add/clip.gltf edited
is "only that bone of that clip changes" "$("$ANIMFS" diff "$WORK/before.canm" $f | grep '^bone')" "bone nod_add/arm_L"
ok "and in it one key, by more than its steps" python3 "$tool" key "$WORK/before.canm" $f nod_add arm_L 10
cat "$base" $f/nod_add/clip.gltf >again
ok "it is what was saved" python3 "$tool" near edited again
ok "every pose is still both together" python3 "$tool" same $f walk nod_add again
said=$("$ANIMFS" put $f/nod_add/clip.gltf edited 2>&1)
is "without --base it is refused" "$? $(grep -c 'this is the motion on top of "walk"' <<<"$said")" "1 1"
cat $f/nod_add/clip.gltf >plain
said=$("$ANIMFS" put "$base" $f/nod_add/clip.gltf plain 2>&1)
is "and with it, what was shown without" "$? $(grep -c 'shown by itself' <<<"$said")" "1 1"
python3 "$tool" turn composed edited leg_L 10 || exit 1
said=$("$ANIMFS" put "$base" $f/nod_add/clip.gltf edited 2>&1)
is "a bone that only the base has" "$? $(grep -c 'leg_L is not in nod_add: it moves as in walk' <<<"$said")" "1 1"
cp "$WORK/before.canm" $f

# ---- export ----
"$ANIMFS" export "$base" --views=gltf,csv . "$WORK/texts" 2>/dev/null
is "export shows it" "$(cksum <"$WORK/texts/$f/nod_add/clip.gltf")" "$(cat "$base" $f/nod_add/clip.gltf | cksum)"
"$ANIMFS" export -u --views=gltf,csv . "$WORK/texts" 2>/dev/null
is "an export without it is another one" "$(cksum <"$WORK/texts/$f/nod_add/clip.gltf")" "$(cat $f/nod_add/clip.gltf | cksum)"
"$ANIMFS" export -u "$base" --views=gltf,csv . "$WORK/texts" 2>/dev/null
python3 "$tool" turn "$WORK/texts/$f/nod_add/clip.gltf" "$WORK/texts/$f/nod_add/clip.gltf" arm_L 12
ok "import takes it" "$ANIMFS" import "$base" "$WORK/texts" .
is "as an edit of that bone" "$("$ANIMFS" diff "$WORK/before.canm" $f | grep '^bone')" "bone nod_add/arm_L"
cp "$WORK/before.canm" $f
rm -f plain composed edited again
cd / || exit 1

# ---- a mount ----
mount_animfs "$base"
clip=$MNT/$f/nod_add
is "a mount shows it" "$(cksum <"$clip/clip.gltf")" "$("$ANIMFS" cat "$base" "$SRC/$f/nod_add/clip.gltf" | cksum)"
is "and the CSV of the file" "$(cksum <"$clip/bones/arm_L.csv")" "$("$ANIMFS" cat "$SRC/$f/nod_add/bones/arm_L.csv" | cksum)"
cp "$clip/clip.gltf" "$WORK/own"
cp "$WORK/own" "$clip/clip.gltf"
ok "its own text back changes nothing" cmp "$SRC/$f" "$WORK/before.canm"
svg=$(cksum <"$clip/clip.svg") bone=$(cksum <"$clip/bones/arm_L.svg") csv=$(cksum <"$clip/bones/arm_L.csv")
sed -i '/^10,/s/,\([-0-9.]*\),\([-0-9.]*\),\([-0-9.]*\)\(,[^,]*,[^,]*,[^,]*\)$/,40,\2,\3\4/' "$MNT/$f/walk/bones/arm_L.csv"
like "an edit of the base" "$(sed -n 12p "$MNT/$f/walk/bones/arm_L.csv")" ',40,'
fails "shows in the clip's picture" test "$(cksum <"$clip/clip.svg")" = "$svg"
fails "and in its bone's" test "$(cksum <"$clip/bones/arm_L.svg")" = "$bone"
is "and not in its CSV" "$(cksum <"$clip/bones/arm_L.csv")" "$csv"
is "the sizes are those of the texts" "$(stat -c %s "$clip/clip.svg" "$clip/clip.html" "$clip/clip.gltf" | xargs)" \
	"$(for text in clip.svg clip.html clip.gltf; do wc -c <"$clip/$text"; done | xargs)"
python3 "$tool" turn "$clip/clip.gltf" "$WORK/edited" arm_L 20
ok "a glTF that was edited elsewhere" cp "$WORK/edited" "$clip/clip.gltf"
cp "$clip/clip.gltf" "$WORK/again"
ok "is what it shows" python3 "$tool" near "$WORK/edited" "$WORK/again"
"$ANIMFS" undo "$MNT/$f" >/dev/null
cp -r "$clip" "$MNT/$f/two_add"
is "a copy of its folder is a copy of the clip" "$(cksum <"$MNT/$f/two_add/curves.csv") $(ls "$MNT/$f/two_add" | grep -c error)" \
	"$(cksum <"$clip/curves.csv") 0"
is "and is shown on the base, too" "$(sed 's/two_add/nod_add/' "$MNT/$f/two_add/clip.gltf" | cksum)" "$(cksum <"$clip/clip.gltf")"
umount_animfs
