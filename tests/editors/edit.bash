# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash disable=SC2034 # its variables are for who reads it in
# edit.bash - the views that are edited and what each edit must leave, after lib.sh:
#
#   VIEWS           their names, in the order of the tables
#   prepare VIEW    sets SAMPLE (the binary), INSIDE (the view in it), RE and TO (the edit, see
#                   programs.bash), OLD and NEW (texts), EDITED (the binary that the edit makes)
#   fresh NAME      sets BINARY, a new copy of SAMPLE in the mount's SOURCE, and F, the view in it
#
# With EDIT_ARCHIVE=1 a sample is in the archive of a game, and BINARY is the loose file that an edit
# makes.
#
# EDITED is made without a mount. That it is right is checked here, once, by all that its views say:
# the text of the view is NEW, and in all clips no more lines of curves.csv differ than the edit
# changes curves.

HERE=$(realpath "$(dirname "$0")")

# SAMPLE INSIDE CURVES RE TO, with _ for a space
declare -A EDITS=(
	[canm/bone.csv]='canm/wiki512.canm walk/bones/Bone01.csv 1 1\.5,-2 2.5,-2'
	[canm/bone.json]='canm/wiki512.canm walk/bones/Bone01.json 1 \[1\.5,_-2 [2.5,_-2'
	[canm/clip.json]='canm/wiki512.canm walk/clip.json 0 "loop":_true "loop":_false'
	[canm/curves.csv]='canm/wiki512.canm walk/curves.csv 1 ^Bone01,translation,0,0,1\.5 Bone01,translation,0,0,2.5'
	[canm/skeleton.csv]='canm/wiki512.canm skeleton.csv 0 ^Bone01,,, Bone01,,1.5,'
	[cas/bone.csv]='cas/v203.cas walk/bones/Bone01.csv 1 1\.5,-2 2.5,-2'
	[owanim/curves.csv]='owanim/walk.006 walk/curves.csv 1 ,2,0\.066667,0\.8535156 ,2,0.066667,0.8544922'
	[ff9anim/bone.csv]='ff9anim/frames007_low.ff9anim frames007_low/bones/bone_000.csv 1 ,24591,9605 ,24592,9605'
	[ribbon/bone.json]='ribbon/frames030.anm frames030/bones/object_000.json 1 \[11949, [11950,'
	[ribbon/curves.csv]='ribbon/frames030.anm frames030/curves.csv 1 ,11949,418 ,11950,418'
)
VIEWS=(canm/bone.csv canm/bone.json canm/clip.json canm/curves.csv canm/skeleton.csv cas/bone.csv
	owanim/curves.csv ff9anim/bone.csv ribbon/bone.json ribbon/curves.csv)

# All curves of a file in one text.
curves_of()
{
	local clip
	for clip in $("$ANIMFS" ls "$1" | grep /); do
		"$ANIMFS" cat "$1/${clip}curves.csv" || return
	done
}

prepare()
{
	local folder=$WORK/edit/$1 curves
	read -r SAMPLE INSIDE curves RE TO <<<"${EDITS[$1]}"
	SAMPLE=tests/data/$SAMPLE
	RE=${RE//_/ }
	TO=${TO//_/ }
	# Programs that write elsewhere use the names of the real ones.
	mkdir -p "$folder"
	OLD=$folder/old
	NEW=$folder/new
	EDITED=$folder/${SAMPLE##*/}
	cp "$SAMPLE" "$EDITED"
	"$ANIMFS" cat "$SAMPLE/$INSIDE" >"$OLD"
	sed "s/$RE/$TO/" "$OLD" >"$NEW"
	ok "$1: the edit is accepted" "$ANIMFS" put "$EDITED/$INSIDE" <"$NEW"
	is "$1: the edit changes nothing but that" \
		"$(diff <(curves_of "$SAMPLE") <(curves_of "$EDITED") | grep -c '^>')" "$curves"
	# Members that follow from others are written anew, and what blank cells stand for.
	"$ANIMFS" cat "$EDITED/$INSIDE" >"$folder/canonical"
	if [[ $1 != */clip.json && $1 != */skeleton.csv ]]; then
		ok "$1: the edit reads as it was saved" cmp "$folder/canonical" "$NEW"
	fi
	CANONICAL=$folder/canonical
}

# A file of its own for each program, under the sample's name in a folder.
fresh()
{
	if [ -n "${EDIT_ARCHIVE:-}" ]; then
		local packed=$WORK/packed/$1
		mkdir -p "$SRC/$1" "$packed/OBJECT" && cp "$SAMPLE" "$packed/OBJECT"
		python3 "$HERE/../mount/pack.py" cpk "$SRC/$1/Root.cpk" "$packed"
		touch "$SRC/$1/EDF6.exe"
		BINARY=$SRC/$1/Mods/OBJECT/${SAMPLE##*/}
		F=$MNT/$1/Root.cpk.d/OBJECT/${SAMPLE##*/}/$INSIDE
		return
	fi
	mkdir -p "$SRC/$1" && cp "$SAMPLE" "$SRC/$1/"
	BINARY=$SRC/$1/${SAMPLE##*/}
	F=$MNT/$1/${SAMPLE##*/}/$INSIDE
}
