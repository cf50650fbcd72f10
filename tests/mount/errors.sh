#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# errors.sh - .error after a mistake has the place, the reason and an accepted form, for each view that can
# be edited and each kind of format.
. "$(dirname "$0")/lib.sh"
mount_animfs --rotations=stored

# view SAMPLE VIEW: the one that the following slips are made in
view()
{
	SAMPLE=$1
	VIEW=$2
	cp "tests/data/$SAMPLE" "$SRC/"
	F=$MNT/${SAMPLE##*/}/$VIEW
}

# cell_at LINE:COLUMN: what a spreadsheet calls the cell at that character of a text with commas
cell_at()
{
	awk -F, -v line="${1%%:*}" -v column="$(cut -d: -f2 <<<"$1")" '
		NR == 1 { split($0, names) }
		NR == line {
			i = split(substr($0, 1, column - 1) "x", before)
			printf "%c%d%s\n", 64 + i, line, (line > 1 && i in names ? ", column " names[i] : "")
		}'
}

# slip SED PLACE MESSAGE [ACCEPTED]: the edit is refused, in these words; the binary stays
slip()
{
	local want
	want=${SAMPLE##*/}/$VIEW$2' '$3
	[ -z "${4:-}" ] || want+=$'\n'"accepted here: $4"
	sed "$1" "$F" >"$WORK/slip"
	is "$VIEW: $1" "$(save_errno rename "$F" "$(<"$WORK/slip")"$'\n')" EBADMSG
	# The line at fault and the caret under it are other tests' subject.
	is "$VIEW: $1: in words" "$(sed -e '/^  /d' -e '/^cell /d' -e '/^the binary is unchanged/d' "$F.error")" "$want"
	[[ $VIEW != *.csv || $2 != :*:* ]] ||
		is "$VIEW: $1: the cell" "$(sed -n 's/^cell //p' "$F.error")" "$(cell_at "${2#:}" <"$WORK/slip")"
	ok "$VIEW: $1: the binary" cmp "$SRC/${SAMPLE##*/}" "tests/data/$SAMPLE"
	rm -f "$F.rejected" "$F.error" "$F.new~"
}

NUMBER='a decimal number such as 12.5, or nothing where there is no key'
CLIP='the number of frames is edited in clip.json'

# ---- a bone's CSV ----

view canm/wiki512.canm walk/bones/Bone01.csv
slip '2s/1\.5/1..5/' :2:5: 'tx: "1..5" is not a number' "$NUMBER"
slip '2s/-180/#VALUE!/' :2:17: 'rx: "#VALUE!" is not a number' "${NUMBER/,/ (degrees),}"
slip '2s/1\.5/2026-05-01/' :2:5: 'tx: "2026-05-01" looks like a date that a spreadsheet made of a number' "$NUMBER"
slip '2s/1\.5/1-May/' :2:5: 'tx: "1-May" looks like a date that a spreadsheet made of a number' "$NUMBER"
slip '2s/1\.5/12:30/' :2:5: 'tx: "12:30" looks like a clock time that a spreadsheet made of a number' "$NUMBER"
slip '3s/0\.033333/00:00:00/' :3:3: 'only the time was changed, and time is read-only' \
	'another frame_time in clip.json; a key is moved by its frame'
slip '4s/22\.72/22,72/' :4:58: '"1.0000229" stands in a column without a name' \
	'as many cells as the first line has; between commas, decimals have a point or stand in quotes'
slip '1s/tx/x/' :1:12: '"x" is not a column' 'frame, time, tx, ty, tz, rx, ry, rz, sx, sy, sz'
slip '2s/^0/0.5/' :2:1: 'frame: "0.5" is not a frame number' 'a whole number such as 12'
slip '4s/^2/3/' :4:1: 'frame 3 is not in the clip, which has 3 frames' "a frame from 0 to 2; $CLIP"
slip '4s/^2/1/' :4:1: 'frame 1 is given twice, first in line 3' 'each frame once'
slip '4d' :3:1: 'frame 2 is missing, the last that the rotation needs' \
	'a key there (gaps between keys are filled in), or no key at all (that removes the rotation); a clip gets shorter in clip.json'
slip '2s/-2//' :2:9: 'ty of frame 0 is blank, but another part of its translation is given' \
	'tx, ty and tz together, or none of them'
slip '2s/1\.5/nan/' :2:5: 'tx cannot become infinite or nan' 'a finite number'
slip '2s/1\.5/1e39/' :2:5: 'this number is too large to be stored' 'a number from -3.4e38 to 3.4e38'
slip '1s/sz/sz,qw/' :1:39: 'there are Euler and quaternion columns in one text' 'rx, ry, rz'

view owanim/walk.006 walk/bones/bone_0F30.csv
slip '2,$d' : 'there is a header and no row' 'rows; keys are removed by blank cells in the rows'
slip '2s/21\.447266/99/' :2:53: 'owanim cannot store 99 as sx' 'a number from 0 to 63.999023'
slip '2s/0\.84444327/0.5/' :2:8: 'the quaternion has length 0.732745, not 1' \
	'0.026386938, 0.288901626, 0.670982126, 0.682365420; or angles in degrees, which --rotations=euler shows'

view ff9anim/frames007_low.ff9anim frames007_low/bones/bone_000.csv
slip 's/,24591/,99999/' :2:5: 'ff9anim cannot store 99999 as tx' 'a number from -32768 to 32767'
slip '1s/$/,sx,sy,sz/; 2,$s/$/,1,1,1/' :2:64: 'ff9anim stores no scale for this bone'

view ribbon/frames030.anm frames030/bones/object_000.csv
slip '2s/,0$/,3/' :2:95: '"3" are no flags' \
	'0, or the sum of some of 8, 16, 32, 64, 128; the other flags follow from the cells'

# ---- a bone's JSON ----

view canm/wiki512.canm walk/bones/Bone01.json
slip 's/"static": true/"static": 1/' :6:72: '"static" must be true or false'
slip 's/\[1.5, -2/[1,5, -2/' :7:40: '"value" must have 3 components, not 4' \
	'3 numbers between commas; decimals have a point'
slip 's/"unit": "m"/"unit": "cm"/' :6:30: '"unit" cannot be changed here' '"m", as it was, or the member left out'
slip 's/"translation"/"position"/' :6:5: 'there is no member "position" here' 'translation, rotation, scale'
slip 's/"value": \[1.5/"values": [1.5/' :7:31: 'there is no member "values" here' 'frame, time, value, raw'
slip 's/"frame": 2,/"frame": 3,/' :12:17: 'frame 3 is not in the clip, which has 3 frames' "a frame from 0 to 2; $CLIP"
slip "2s/\"/'/g" :2:3: 'this is not JSON' \
	'a name in double quotes, or "}"'
slip '$d' :20:1: 'the text ends before its JSON does' 'the whole text, closed by "}"'

# ---- all curves of a clip ----

view canm/wiki512.canm walk/curves.csv
slip '/^hip/d' :12:1: 'the rows of hip are gone' 'rows of every bone; clip.json removes bones'
slip 's/translation/position/' :2:12: '"position" is not a channel' 'translation, rotation (degrees), quaternion or scale'
slip 's/^hip,/a:b,/' :11:1: '"a:b" cannot be the file name of a clip or bone' '"a%3Ab"'
slip '$a new,scale,0,,1,2,3,4' :18:20: 'a scale has no w' 'a blank cell'
slip '3s/,0,0,0,0,$/,0,0,0,0,0/' :3:25: 'the quaternion has length 0, not 1' \
	'four numbers whose squares add up to 1, such as 0, 0, 0, 1; or angles in degrees, which --rotations=euler shows'
view owanim/walk.006 walk/curves.csv
slip '$a hips,translation,0,0,1,2,3,' :1000:1: 'owanim files store the number of a bone, and "hips" has none' \
	'a name such as "bone_0012", or one of bone-names.csv'

# ---- the clip ----

view canm/wiki512.canm walk/clip.json
slip 's/"loop": true/"loop": "yes"/' :4:11: '"loop" must be true or false'
slip 's/"frames": 3/"frames": 0/' :4:27: '"frames" cannot be 0' 'a whole number from 1 to 65535'
slip 's/"clip": "walk"/"clip": "Idle"/' :3:35: 'another clip of this file is called "Idle"' 'a name that no other clip has'
slip 's/"name": "walk"/"name": "run"/' :3:51: '"name" cannot be changed here' '"walk", as it was, or the member left out'
slip 's/"seconds": 0.066667/"seconds": 1/' :4:96: '"seconds" cannot be changed here' '0.066667, as it was, or the member left out'
slip 's/"frame_time"/"fps"/' :4:30: 'there is no member "fps" here' \
	'format, file, clip, name, loop, frames, frame_time, duration, time_unit, seconds, canm, bones'
slip 's/"name": "hip"/"name": "hop"/' :9:29: '"name" cannot be changed here' \
	'another "bone", with "was" to say which bone is renamed'
slip 's/{"bone": "hip", "name": "hip"}/{"bone": "hop", "was": "hup"}/' :9:28: 'the clip has no bone "hup"' \
	'the name that the bone has now; a new bone has no "was"'
slip 's/"bone": "hip"/"bone": "Bone01"/' :9:14: '"Bone01" is in the list twice' \
	'each bone once, each under a name of its own'
view owanim/walk.006 walk/clip.json
slip 's/"frames": 63/"loop": true, "frames": 63/' :4:11: 'owanim files store no "loop"' 'the member left out'
slip 's/"clip": "walk"/"clip": "run"/' :3:31: 'owanim files store no name for their clip' '"walk", as the file is called'

# ---- the file, what is generated, and the bytes themselves ----

view canm/wiki512.canm file.json
slip 's/"version": 512/"version": 768/' :3:54: '"version" cannot be changed here' '512, as it was, or the member left out'
view canm/wiki512.canm walk/clip.kanim
slip 's/time="0.033333335"/time="0.05"/' :4:45: 'the times of a clip begin at 0 and are even' \
	'each time a multiple of one step; keys are moved in bones/NAME.csv'
slip 's/loop="true"/loop="maybe"/' :2:39: 'this is neither true nor false' 'true or false'
view canm/wiki512.canm raw.canm
sed 's/^CANM/XXXX/' "$F" >"$WORK/slip"
fails "raw.canm: other bytes" cp "$WORK/slip" "$F"
like "raw.canm: in words" "$(<"$F.error")" 'wiki512\.canm/raw\.canm: byte 0: the file does not begin with CANM'
umount_animfs
