#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# rotations.sh - rotations are shown in the chosen form; texts of either form can be saved in any mount, and
# unedited values keep their bits.
. "$(dirname "$0")/lib.sh"
cp tests/data/canm/{wiki512,edf6_768,nan512,odd512}.canm "$SRC"
BODY=$MNT/edf6_768.canm/turn/bones/body.csv
BONE01=$MNT/wiki512.canm/walk/bones/Bone01.csv

# The files that are not what they were.
changed()
{
	local file
	for file in "$SRC"/*.canm; do
		cmp -s "$file" "tests/data/canm/${file##*/}" || echo "${file##*/}"
	done
}

# Every text of bones to $WORK/$1.
keep() { (cd "$MNT" && tar -c ./*/*/bones) | (mkdir "$WORK/$1" && tar -C "$WORK/$1" -x); }

for form in euler quaternion; do
	mount_animfs --rotations=$form
	keep $form
	is "$form: all texts are saved" "$(cp -r "$WORK/$form/." "$MNT" 2>&1)" ""
	is "$form: and change nothing" "$(changed)" ""
	umount_animfs
done
is "no bone has quaternions" "$(grep -lr ,qx, "$WORK/euler")" ""
is "no bone has angles" "$(grep -lr ,rx, "$WORK/quaternion")" ""
like "a quaternion in degrees" "$(<"$WORK/euler/edf6_768.canm/turn/bones/body.csv")" \
	$'\n1,0.016667,0.003,1.008,2.015,0,90,0,0.003,'

# A mount that shows what is stored reads both.
mount_animfs
for form in euler quaternion; do
	is "texts in $form are saved" "$(cp -r "$WORK/$form/." "$MNT" 2>&1)" ""
	is "and change nothing" "$(changed)" ""
done
stored() { "$ANIMFS" cat "$SRC/edf6_768.canm/turn/bones/body.csv"; }
before=$(stored | grep -v ^1,)
ok "a table of a bone with angles onto one with quaternions" \
	cp "$WORK/euler/edf6_768.canm/turn/bones/body.csv" "$WORK/text"
sed -i 's/,0,90,0,/,180,0,0,/' "$WORK/text"
ok "is saved" cp "$WORK/text" "$BODY"
like "as a quaternion" "$(stored)" $'\n1,0.016667,0.003,1.008,2.015,1,0,0,0,0.003,'
is "and the rest is as it was" "$(stored | grep -v ^1,)" "$before"
umount_animfs

mount_animfs --rotations quaternion
before=$(grep -v ^2, "$BONE01")
ok "an edit of a quaternion" \
	sed -i 's/0.9791772,0.19675918,-0.048999704,0.009846138/0.70710677,0,0,0.70710677/' "$BONE01"
is "leaves the other keys" "$(grep -v ^2, "$BONE01")" "$before"
like "and is shown" "$(<"$BONE01")" $'\n2,0.066667,,,,0.70710677,0,0,0.70710677,'
is "half a unit is refused" "$(save_errno close "$BONE01" $'frame,qx,qy,qz,qw\n0,0,0,0,0.5\n2,0,0,0,1\n')" \
	EBADMSG
umount_animfs
is "angles are stored, the nearest that the file can hold" \
	"$("$ANIMFS" cat "$SRC/wiki512.canm/walk/bones/Bone01.csv" | sed -n 4p)" \
	2,0.066667,,,,89.99863,0,0,1.0000076,1.0000153,1.0000229

# Without a mount.
like "cat shows either form" \
	"$("$ANIMFS" cat --rotations=euler "$SRC/edf6_768.canm/turn/bones/body.csv")" ,180,0,0,0.003,
ok "and put reads it" "$ANIMFS" put "$SRC/edf6_768.canm/turn/bones/body.csv" \
	<"$WORK/euler/edf6_768.canm/turn/bones/body.csv"
is "an edit that is undone is undone" "$(changed)" wiki512.canm
fails "another form is none" "$ANIMFS" cat --rotations=matrix "$SRC/edf6_768.canm/file.json"
