# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
# editing.bash - for tests of what programs do when they save, after lib.sh:
#
#   . "$(dirname "$0")/lib.sh"
#   . "$(dirname "$0")/editing.bash"
#   mount_animfs
#   by_sed() { sed -i s/1.5,-2/2.5,-2/ "$F"; }
#   edits sed-i by_sed
#
# There is one edit, of $BONE in the sample: a static value becomes 2.5. Whatever program makes it
# must leave exactly the bytes that `animfs put` leaves.
#
#   edits NAME FUNCTION [LEFT...]
#             checks that FUNCTION, which makes the edit of $F, ends well, and that binary, view and
#             folder are then as they should be. LEFT are the files that the program leaves in the
#             folder for good. $OLD and $NEW are files with the text before and after.
#   leaves NAME FUNCTION [LEFT...]
#             the same for a FUNCTION after which all is as it was

BONE=walk/bones/Bone01.csv
SAMPLE=tests/data/canm/wiki512.canm
OLD=$WORK/old.csv
NEW=$WORK/new.csv
EDITED=$WORK/edited/wiki512.canm

# What the edit must leave. That it is right is checked here, once, by what every other view says.
prepare_edit()
{
	mkdir "$WORK/edited"
	cp "$SAMPLE" "$EDITED"
	"$ANIMFS" cat "$SAMPLE/$BONE" >"$OLD"
	sed 's/1\.5,-2/2.5,-2/' "$OLD" >"$NEW"
	ok "the edit is accepted" "$ANIMFS" put "$EDITED/$BONE" <"$NEW"
	ok "the edit reads as it was saved" diff "$NEW" <("$ANIMFS" cat "$EDITED/$BONE")
	is "the edit changes one line of the whole text" \
		"$(diff <("$ANIMFS" cat "$SAMPLE/walk/curves.csv") \
			<("$ANIMFS" cat "$EDITED/walk/curves.csv") | grep -c '^>')" 1
}

# as_wanted NAME FUNCTION BINARY TEXT [LEFT...]
as_wanted()
{
	local name=$1 function=$2 binary=$3 text=$4 folder names
	shift 4
	cp "$SAMPLE" "$SRC/$name.canm"
	F=$MNT/$name.canm/$BONE
	folder=${F%/*}
	names=$( (ls -A "$folder" && printf '%s\n' "$@") | sed '/^$/d' | sort)
	ok "$name: ends well" "$function"
	ok "$name: the binary" wait_for 3 cmp -s "$SRC/$name.canm" "$binary"
	ok "$name: the view" cmp "$F" "$text"
	is "$name: the folder" "$(ls -A "$folder" | sort)" "$names"
}

edits() { as_wanted "$1" "$2" "$EDITED" "$NEW" "${@:3}"; }
leaves() { as_wanted "$1" "$2" "$SAMPLE" "$OLD" "${@:3}"; }

prepare_edit
