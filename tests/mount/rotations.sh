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

for form in euler quaternion stored; do
	mount_animfs --rotations=$form
	keep $form
	is "$form: all texts are saved" "$(cp -r "$WORK/$form/." "$MNT" 2>&1)" ""
	is "$form: and change nothing" "$(changed)" ""
	umount_animfs
done
mount_animfs
keep default
is "by default all texts are saved" "$(cp -r "$WORK/default/." "$MNT" 2>&1)" ""
is "by default they change nothing" "$(changed)" ""
umount_animfs
# nan512 has quaternions that are none: they have no angles.
tables() { (cd "$WORK/$1" && find . -name '*.csv' ! -path './nan512*' -exec cksum {} + | sort -k3); }
jsons() { (cd "$WORK/$1" && find . -name '*.json' -exec cksum {} + | sort -k3); }
is "by default tables have degrees" "$(tables default)" "$(tables euler)"
is "and JSON what is stored" "$(jsons default)" "$(jsons stored)"
is "no table has quaternions, but what has no angles" \
	"$(cd "$WORK/default" && grep -lr --include='*.csv' ,qx, . | grep -v '^./nan512')" ""
is "no bone has quaternions" "$(grep -lr --include='*.csv' ,qx, "$WORK/euler" | grep -v /nan512)" ""
is "no bone has angles" "$(grep -lr ,rx, "$WORK/quaternion")" ""
like "a quaternion in degrees" "$(<"$WORK/euler/edf6_768.canm/turn/bones/body.csv")" \
	$'\n1,0.016667,0.003,1.008,2.015,0,90,0,0.003,'

# A mount that shows what is stored reads both.
mount_animfs --rotations=stored
for form in euler quaternion default; do
	is "texts in $form are saved" "$(cp -r "$WORK/$form/." "$MNT" 2>&1)" ""
	is "and change nothing" "$(changed)" ""
done
stored() { "$ANIMFS" cat --rotations=stored "$SRC/edf6_768.canm/turn/bones/body.csv"; }
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
	"$("$ANIMFS" cat --rotations=stored "$SRC/wiki512.canm/walk/bones/Bone01.csv" | sed -n 4p)" \
	2,0.066667,,,,89.99863,0,0,1.0000076,1.0000153,1.0000229

# A bone without angles is in file.json, which is as old as the last change of that list.
cp tests/data/canm/edf6_768.canm "$SRC/turn.canm"
zeros=$(LC_ALL=C grep -obUaP '\xf3\x04\x35\x3f' "$SRC/turn.canm" | cut -d: -f1)
for at in $zeros; do
	printf '\0\0\0\0' | dd of="$SRC/turn.canm" bs=1 seek="$at" conv=notrunc status=none
done
touch -d '2 hours ago' "$SRC/turn.canm"
mount_animfs
BODY=$MNT/turn.canm/turn/bones/body.csv
FILE=$MNT/turn.canm/file.json
is "its table has quaternions" "$(head -n 1 "$BODY" | cut -d, -f6-9)" qx,qy,qz,qw
listed=$(<"$FILE")
like "file.json lists it" "$listed" '"without_angles": \[
    \{"clip": "turn", "bone": "body"\}
  \],'
was=$(stat -c %Y "$FILE")
ok "another number is edited" sed -i '3s/,0.003,/,0.006,/' "$BODY"
is "which changes no list" "$(stat -c %Y "$FILE") $(<"$FILE")" "$was $listed"
ok "the bone gets angles" sed -i '3s/,0,0,0,0,/,0,0,0,1,/' "$BODY"
is "and is in no list" "$(grep -c without_angles "$FILE")" 0
fails "file.json is as new as that" test "$(stat -c %Y "$FILE")" = "$was"
is "and its table has degrees" \
	"$("$ANIMFS" cat "$SRC/turn.canm/turn/bones/body.csv" | head -n 1 | cut -d, -f6-8)" rx,ry,rz
ok "the list from before can be copied back" cp /dev/stdin "$FILE" <<<"$listed"
is "and says nothing" "$(grep -c without_angles "$FILE")" 0
umount_animfs
rm "$SRC/turn.canm"

# curves.csv: a channel means one thing.
channels() { "$ANIMFS" cat "$@" | awk -F, '$2 == "rotation" { print "rotation", $8 == "" ? "without w" : "with w" }
	$2 == "quaternion" { print $2, $8 == "" ? "without w" : "with w" }' | sort -u | paste -sd,; }
is "degrees are the channel rotation" "$(channels "$SRC/edf6_768.canm/turn/curves.csv")" "rotation without w"
is "quaternions the channel quaternion" "$(channels --rotations=stored "$SRC/edf6_768.canm/turn/curves.csv")" \
	"quaternion with w"
"$ANIMFS" cat --rotations=stored "$SRC/edf6_768.canm/turn/curves.csv" >"$WORK/curves.csv"
cp "$SRC/edf6_768.canm" "$WORK/edf.canm"
sed -i 's/,quaternion,/,rotation,/' "$WORK/curves.csv"
ok "a rotation with a w is a quaternion, as in older texts" \
	"$ANIMFS" put "$SRC/edf6_768.canm/turn/curves.csv" "$WORK/curves.csv"
ok "and changes nothing" cmp "$SRC/edf6_768.canm" "$WORK/edf.canm"
"$ANIMFS" cat "$SRC/edf6_768.canm/turn/curves.csv" | sed '/,rotation,1,/s/,rotation,/,quaternion,/' >"$WORK/mixed.csv"
like "both in one bone are refused" "$("$ANIMFS" put "$SRC/edf6_768.canm/turn/curves.csv" "$WORK/mixed.csv" 2>&1)" \
	'rows of both rotation and quaternion'

# Without a mount.
like "cat shows either form" \
	"$("$ANIMFS" cat --rotations=euler "$SRC/edf6_768.canm/turn/bones/body.csv")" ,180,0,0,0.003,
ok "and put reads it" "$ANIMFS" put "$SRC/edf6_768.canm/turn/bones/body.csv" \
	<"$WORK/euler/edf6_768.canm/turn/bones/body.csv"
is "an edit that is undone is undone" "$(changed)" wiki512.canm
fails "another form is none" "$ANIMFS" cat --rotations=matrix "$SRC/edf6_768.canm/file.json"
