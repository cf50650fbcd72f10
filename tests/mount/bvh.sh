#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# bvh.sh - clip.bvh is present if it loses nothing, or with --bvh=lossy; an edited one that is saved changes
# exactly the edited values.
. "$(dirname "$0")/lib.sh"
cp tests/data/canm/wiki512.canm tests/data/ff9anim/bones024.ff9anim "$SRC"
printf 'bone,parent,ty\nScene_Root,,\nBone01,Scene_Root,1.5\nhip,Bone01,2\n' >"$SRC/wiki512.canm.skeleton.csv"
SCALED=wiki512.canm/walk/clip.bvh
STILL=wiki512.canm/walk/frames/frame_00000.x3d

# ---- which there are ----

mount_animfs
ok "where nothing is lost it is there" test -s "$MNT/bones024.ff9anim/bones024/clip.bvh"
ok "and else not" test ! -e "$MNT/$SCALED"
fails "cat has none either" "$ANIMFS" cat "$SRC/$SCALED"
why=$("$ANIMFS" cat "$SRC/$SCALED" 2>&1)
like "but says why" "$why" 'a BVH has no scale, and "Bone01" is scaled in frame 1'
like "and what would do" "$why" '--bvh=lossy'
like "bones are bodies" "$(<"$MNT/$STILL")" IndexedFaceSet
umount_animfs

# either SPELLING OPTION...: a mount where both options are given.
either()
{
	local spelling=$1
	shift
	mount_animfs "$@"
	like "$spelling: a lossy one" "$(<"$MNT/$SCALED")" \
		$'\n    JOINT Bone01\n    [{]\n      OFFSET 1.5 -2 0.25\n      CHANNELS 3 .*JOINT hip\n *[{]\n *OFFSET 0 -1 2\n *CHANNELS 6 '
	is "$spelling: is as large as it says" "$(stat -c %s "$MNT/$SCALED")" "$(wc -c <"$MNT/$SCALED")"
	ok "$spelling: it is listed" grep -qx clip.bvh <(ls "$MNT/${SCALED%/*}")
	ok "$spelling: none for a clip without keys" test ! -e "$MNT/wiki512.canm/empty/clip.bvh"
	like "$spelling: bones are lines" "$(<"$MNT/$STILL")" IndexedLineSet
	ok "$spelling: and no bodies" sh -c "! grep -q IndexedFaceSet '$MNT/$STILL'"
	cp "$MNT/$SCALED" "$WORK/lossy.bvh"
	umount_animfs
}
either "long" --bones=lines --bvh=lossy
either "words" --bones lines --bvh lossy
either "-o" -o bones=lines,bvh=lossy
is "cat shows the same" "$("$ANIMFS" cat --bvh=lossy "$SRC/$SCALED")" "$(<"$WORK/lossy.bvh")"
ok "ls lists it" grep -qx clip.bvh <("$ANIMFS" ls --bvh=lossy "$SRC/${SCALED%/*}")
ok "cat draws lines" sh -c "'$ANIMFS' cat --bones=lines '$SRC/$STILL' | grep -q IndexedLineSet"
fails "nothing else is a shape of bones" "$ANIMFS" cat --bones=boxes "$SRC/$STILL"

# ---- the way back ----

# A chain of two, and many roots.
printf 'bone,parent,tx,ty,tz\nbone_000,,,,\nbone_001,bone_000,10,-200,5\n' \
	>"$SRC/bones024.ff9anim.skeleton.csv"
cp "$SRC/bones024.ff9anim" "$WORK/before"
CLIP=$MNT/bones024.ff9anim/bones024
F=$CLIP/clip.bvh
mount_animfs --bvh=lossy
cp "$F" "$WORK/own.bvh"
like "a bone hangs from another" "$(<"$F")" $'\n    JOINT bone_001\n    [{]\n      OFFSET 10 -200 5\n      CHANNELS 3 '
is "there is one root, which turns all upright" "$(grep -c ROOT "$F") $(grep -c '^0 0 180 ' "$F")" "1 7"
ok "its own text is saved" cp "$WORK/own.bvh" "$F"
ok "and what a mocap tool on another system makes of it" \
	sh -c "sed 's/  */\t/g; s/\$/\r/' '$WORK/own.bvh' >'$F'"
ok "half of it first" sh -c "{ head -n 20 '$WORK/own.bvh'; tail -n +21 '$WORK/own.bvh'; } >'$F'"
ok "nothing of that changes a byte" cmp "$SRC/bones024.ff9anim" "$WORK/before"

(cd "$CLIP/bones" && sha256sum -- *.csv) >"$WORK/bones"
row=$(($(grep -n '^Frame Time' "$F" | cut -d: -f1) + 3))
ok "an angle of bone_001 is edited" sed -i -E "${row}s/^(([^ ]+ ){9})[^ ]+/\\145/" "$F"
is "and arrives" "$(sed -n 4p "$CLIP/bones/bone_001.csv" | cut -d, -f5)" 45
is "the other bones are as they were" \
	"$(cd "$CLIP/bones" && sha256sum -c "$WORK/bones" 2>/dev/null | grep -v ': OK$')" \
	"bone_001.csv: FAILED"
is "and the other frames" "$(diff "$WORK/own.bvh" "$F" | grep -c '^>')" 1
ok "another program's text undoes it" cp "$WORK/own.bvh" "$F"
ok "to the byte" cmp "$SRC/bones024.ff9anim" "$WORK/before"

# refused NAME SED REGEX: an edit that is not saved, and what is said.
refused()
{
	fails "$1" sed -i "$2" "$F"
	like "$1: says so" "$(<"$F.error")" "$3"
	rm "$F.error" "$F.rejected"
}
refused "another name" 's/JOINT bone_001/JOINT Bone_001/' 'clip.bvh:10:11: no bone of this clip'
refused "another offset" 's/OFFSET 10 /OFFSET 11 /' 'clip.bvh:12:14: "bone_001" has another offset'
refused "another turn of the whole" 's/^0 0 180 /0 0 170 /' 'the root above the bones moves in frame 0'
refused "more frames" 's/Frames: 7/Frames: 8/' 'Frames: 7; .*clip.json'
refused "another frame time" 's/^Frame Time: .*/Frame Time: 1/' 'clip.bvh:[0-9]*:13: these rows were written at 1 frames a second, and the clip has 30'
refused "a row less" '$d' 'the text ends before frame 6 of 7'
refused "a number less" '$s/ [^ ]*$//' 'the row of frame 6 ends after'
refused "no number" '$s/ [^ ]*$/ x/' '"x" stands where there is to be a decimal number'
ok "and nothing of that is in the binary" cmp "$SRC/bones024.ff9anim" "$WORK/before"

LOSSY=$MNT/$SCALED
cp "$SRC/wiki512.canm" "$WORK/before"
ok "a lossy one takes its own text" cp "$WORK/lossy.bvh" "$LOSSY"
fails "and no other" sed -i '$s/0/1/' "$LOSSY"
like "since it leaves something out" "$(<"$LOSSY.error")" '"Bone01" is scaled in frame 1'
ok "the binary stays" cmp "$SRC/wiki512.canm" "$WORK/before"
umount_animfs

sed -E "${row}s/^(([^ ]+ ){9})[^ ]+/\\145/" "$WORK/own.bvh" >"$WORK/edited.bvh"
ok "put saves one without a mount" sh -c "'$ANIMFS' put '$SRC/bones024.ff9anim/bones024/clip.bvh' <'$WORK/edited.bvh'"
is "and cat shows it" "$("$ANIMFS" cat "$SRC/bones024.ff9anim/bones024/clip.bvh")" "$(<"$WORK/edited.bvh")"
why=$("$ANIMFS" put "$SRC/bones024.ff9anim/bones024/clip.bvh" <"$0" 2>&1)
like "what is no BVH is refused" "$why" 'HIERARCHY'
