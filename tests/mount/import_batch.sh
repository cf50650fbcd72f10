# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
# animfs import reads the texts of a file as one batch: a copy that comes back says its edits, and
# an older tree over a newer file is that version. Each line, for an export and for a plain copy of
# what a mount shows, and for the texts in any order. Only the last lines need a mount.
. "$(dirname "$0")/lib.sh"
file=object/e0000/ranger.canm
OUT=$WORK/out

# set_cell FILE FRAME COLUMN VALUE
set_cell() { awk -F, -v OFS=, -v f="$2" -v c="$3" -v v="$4" '$1 == f { $c = v } 1' "$1" >"$WORK/cell" && cat "$WORK/cell" >"$1"; }
# cell BONE FRAME COLUMN
cell() { "$ANIMFS" cat "$SRC/$file/walk/bones/$1.csv" | awk -F, -v f="$2" -v c="$3" '$1 == f { printf "%.3f", $c }'; }
# put BONE FRAME COLUMN VALUE: as another program does
put()
{
	"$ANIMFS" cat "$SRC/$file/walk/bones/$1.csv" >"$WORK/put"
	set_cell "$WORK/put" "$2" "$3" "$4"
	"$ANIMFS" put "$SRC/$file/walk/bones/$1.csv" <"$WORK/put"
}
imported() { "$ANIMFS" import "$@" "$OUT" "$SRC" 2>&1 | grep -v '^animfs undo --batch='; }
sum() { md5sum <"$SRC/$file"; }

# The first version, and the tree of it: as it was exported; the same where nothing is known of the
# export; and made anew in another order of names in the folders and of times.
start()
{
	rm -rf "$SRC" "$OUT"
	cp -r "$WORK/first" "$SRC"
	mkdir "$SRC/.animfs"
	"$ANIMFS" export ${views:+--views=$views} "$SRC" "$OUT" 2>/dev/null
	case $kind in
	exported) ;;
	copied) find "$OUT" -name .animfs-export -delete ;;
	shuffled)
		find "$OUT" -name .animfs-export -delete
		mv "$OUT" "$WORK/ordered"
		(cd "$WORK/ordered" && find . -type f | sort -R) | while read -r one; do
			mkdir -p "$(dirname "$OUT/$one")" && cp "$WORK/ordered/$one" "$OUT/$one"
		done
		rm -r "$WORK/ordered"
		;;
	esac
	walk=$OUT/$file/walk
	bones=$walk/bones
}

make_game --files 1 --clips 2 --bones 5 --frames 8 --version mix
mkdir -p "$WORK/first"
cp -r "$SRC"/* "$WORK/first"

for kind in exported copied shuffled; do
	views=
	start
	set_cell "$bones/hips.csv" 1 3 0.011
	like "$kind: an edit" "$(imported)" '1 changed, 0 rejected'
	is "$kind: is there" "$(cell hips 1 3)" 0.011
	put neck 2 6 31
	set_cell "$bones/hips.csv" 1 3 0.012
	like "$kind: another value of it, after another program's edit of another bone" "$(imported)" '1 changed, 0 rejected'
	is "$kind: is there" "$(cell hips 1 3)" 0.012
	is "$kind: and theirs stays" "$(cell neck 2 6)" 31.000
	set_cell "$bones/spine.csv" 1 6 12
	like "$kind: another bone" "$(imported)" '1 changed, 0 rejected'
	is "$kind: all three" "$(cell hips 1 3) $(cell spine 1 6) $(cell neck 2 6)" '0.012 12.000 31.000'
	before=$(sum)
	like "$kind: the same copy again" "$(imported)" '0 changed, 0 rejected'
	is "$kind: moves nothing" "$(sum)" "$before"
	put hips 5 3 0.5
	imported >/dev/null
	is "$kind: when another program went on with that bone, the third stays" "$(cell neck 2 6)" 31.000

	start
	put hips 1 3 0.021
	set_cell "$bones/spine.csv" 1 6 13
	like "$kind: an edit of an older copy" "$(imported)" '1 changed, 0 rejected'
	is "$kind: both are there" "$(cell hips 1 3) $(cell spine 1 6)" '0.021 13.000'

	start
	sed -i 's/"loop": true/"loop": false/' "$walk/clip.json"
	set_cell "$bones/hips.csv" 1 3 0.031
	like "$kind: a loop and a bone" "$(imported)" '1 changed, 0 rejected'
	is "$kind: both" "$(cell hips 1 3) $("$ANIMFS" cat "$SRC/$file/walk/clip.json" | grep -c '"loop": false')" '0.031 1'

	start
	first=$(sum)
	put hips 1 3 0.041
	put spine 1 6 14
	like "$kind: an older tree over the file" "$(imported)" '1 changed, 0 rejected'
	is "$kind: is that version, to the byte" "$(sum)" "$first"
	is "$kind: and undo knows what was there" "$("$ANIMFS" undo "$SRC/$file" >/dev/null && cell hips 1 3)" 0.041

	start
	first=$(sum)
	put hips 1 3 0.041
	"$ANIMFS" forget "$SRC/$file" >/dev/null
	like "$kind: the same where nothing is known of any version" "$(imported)" '1 changed, 0 rejected'
	is "$kind: to the byte" "$(sum)" "$first"

	start
	set_cell "$bones/hips.csv" 1 3 0.051
	put hips 1 3 0.051
	like "$kind: an edit that is there already" "$(imported)" '1 files, 0 changed, 0 rejected'

	start
	cp "$bones/hips.csv" "$WORK/older.csv"
	put hips 1 3 0.061
	rm -r "$OUT"
	"$ANIMFS" export "$SRC" "$OUT" 2>/dev/null
	[ $kind = exported ] || find "$OUT" -name .animfs-export -delete
	cp "$WORK/older.csv" "$bones/hips.csv"
	like "$kind: one text of the present version set back" "$(imported)" '1 changed, 0 rejected'
	is "$kind: is set back" "$(cell hips 1 3)" "$(awk -F, '$1 == 1 { printf "%.3f", $3 }' "$WORK/older.csv")"

	start
	sed -i 's/"frames": 8/"frames": 10/' "$walk/clip.json"
	like "$kind: a longer clip" "$(imported)" '1 changed, 0 rejected'
	is "$kind: is longer" "$("$ANIMFS" cat "$SRC/$file/walk/clip.json" | grep -c '"frames": 10')" 1

	start
	set_cell "$bones/hips.csv" 1 3 0.071
	sed -i '0,/"frame": 1,/s/\("frame": 1,.*\[\)[^,]*/\10.072/' "$bones/hips.json"
	said=$(imported)
	like "$kind: two edits that disagree" "$said" '0 changed, 1 rejected'
	like "$kind: name one text" "$said" 'hips.csv: another edited text contradicts this one about hips'
	like "$kind: and the other" "$said" 'hips.json: another edited text contradicts this one about hips'

	# Of bones only one text each: nothing contradicts the others.
	views=csv
	start
	set_cell "$bones/hips.csv" 1 3 0.081
	set_cell "$bones/spine.csv" 1 6 15
	like "$kind: --views=csv" "$(imported)" '1 changed, 0 rejected'
	is "$kind: both" "$(cell hips 1 3) $(cell spine 1 6)" '0.081 15.000'
done

# What only the stamp of an export says: which texts were not edited.
kind=exported views=csv
start
put spine 1 6 16
set_cell "$bones/hips.csv" 1 3 0.091
like "of an export, what was not edited says nothing" "$(imported)" '1 changed, 0 rejected'
is "also where nothing else says so" "$(cell hips 1 3) $(cell spine 1 6)" '0.091 16.000'
like "nor does it when it comes again" "$(imported)" '0 changed, 0 rejected'
is "so that theirs stays" "$(cell spine 1 6)" 16.000

# Texts that say nothing are counted, and named where that is asked for.
kind=copied views=
start
put neck 2 6 32
set_cell "$bones/hips.csv" 1 3 0.101
like "old texts are counted" "$(imported -n)" 'old texts say nothing: they are copies, and others were edited \(-v names them\)'
like "and named" "$(imported -v)" "$file/walk/bones/neck.csv: an old text, which says nothing; it would have changed walk neck"
is "theirs stays" "$(cell hips 1 3) $(cell neck 2 6)" '0.101 32.000'

# Two edits of the same curve by two people are a conflict, of different ones in one text are not.
kind=exported
start
put hips 5 6 20
set_cell "$bones/hips.csv" 1 3 0.111
like "another curve of the same bone was edited meanwhile" "$(imported)" '1 changed, 0 rejected'
is "both are there" "$(cell hips 1 3) $(cell hips 5 6)" '0.111 20.000'
start
put hips 5 3 0.5
before=$(sum)
set_cell "$bones/hips.csv" 1 3 0.121
like "the same curve" "$(imported)" 'hips.csv: the animation file says something else here since'
is "is refused" "$(sum)" "$before"

# A mount stores what it knows of the versions that it has shown only after a while. (Until then texts
# without exact values, glTF and BVH, are not recognized.)
! reason=$(can_mount) || {
	rm -rf "$SRC" "$OUT"
	cp -r "$WORK/first" "$SRC"
	mount_animfs --views=csv,json
	cp -r "$MNT" "$OUT"
	set_cell "$OUT/$file/walk/bones/hips.csv" 1 3 0.013
	set_cell "$MNT/$file/walk/bones/neck.csv" 2 6 32
	like "beside a mount: an edit in a copy" "$(imported)" '1 changed, 0 rejected'
	is "beside a mount: is there" "$(cell hips 1 3)" 0.013
	is "beside a mount: and so is what a program had saved since" "$(cell neck 2 6)" 32.000
	umount_animfs
}
