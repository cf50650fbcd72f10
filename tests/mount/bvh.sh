#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# bvh.sh - clip.bvh is there where nothing is lost by it, or where a lossy one is asked for.
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
		$'\n  JOINT Bone01\n  [{]\n    OFFSET 1.5 -2 0.25\n    CHANNELS 3 .*JOINT hip\n *[{]\n *OFFSET 0 -1 2\n *CHANNELS 6 '
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
