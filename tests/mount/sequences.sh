#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# sequences.sh - a list of Vib-Ribbon files, NAME.sequence.csv, has a folder beside it that shows
# them as one clip, read-only; it follows the list and the files.
. "$(dirname "$0")/lib.sh"

# list [FILE...] prints a list of them
list() { printf '%s\n' file "$@"; }

cp tests/data/ribbon/{frames030,flags7,empty_mid,objects024,bad_decreasing}.anm "$SRC"
list frames030.anm flags7.anm frames030.anm >"$SRC/jump.sequence.csv"
list flags7.anm gone.anm >"$SRC/gone.sequence.csv"
list flags7.anm '' bad_decreasing.anm >"$SRC/bad.sequence.csv"
list ../flags7.anm >"$SRC/above.sequence.csv"
printf 'name\nflags7.anm\n' >"$SRC/column.sequence.csv"
: >"$SRC/empty.sequence.csv"
list >"$SRC/header.sequence.csv"
list flags7.anm >"$SRC/own.sequence.csv"
mkdir "$SRC/own.sequence.d"
touch "$SRC/own.sequence.d/mine"
mount_animfs
D=$MNT/jump.sequence.d

is "a folder beside each list that can be read" "$(cd "$MNT" && echo *.sequence.d*)" \
	"jump.sequence.d own.sequence.d own.sequence.d~2"
ok "the list is the file that it is" cmp "$MNT/jump.sequence.csv" "$SRC/jump.sequence.csv"
is "a real entry of the folder's name wins" "$(ls "$MNT/own.sequence.d")" mine
is "what is in a folder" "$(ls "$D")" $'file.json\njump\nparts.csv\nraw.csv\nskeleton.csv'
is "the files, and where each begins" "$(<"$D/parts.csv")" "file,frame,time,frames
frames030.anm,0,0,30
flags7.anm,30,1,2
frames030.anm,32,1.066667,30"
like "one clip" "$(<"$D/jump/clip.json")" '"frames": 62,.*"seconds": 2.033333'
is "that can be drawn" "$(cd "$D/jump" && ls clip.*)" \
	"$(cd "$MNT/frames030.anm/frames030" && ls clip.*)"
is "with a still for each frame" "$(ls "$D/jump/frames" | wc -l)" 62

# rows FILE CLIP FIRST prints the rows of its curves.csv as of a clip that it begins at FIRST
rows()
{
	awk -F, -v OFS=, -v first="$3" 'NR > 1 && $3 != "" { $3 += first; $4 = ""; print }' \
		"$MNT/$1/$2/curves.csv"
}
is "the rows are those of the files, frames counted through" \
	"$(rows jump.sequence.d jump 0 | sort)" \
	"$({ rows frames030.anm frames030 0 && rows flags7.anm flags7 30 && rows frames030.anm frames030 32; } | sort)"

E=$(<"$MNT/.animfs/errors")
like "a file that is not there, by its row" "$E" 'gone\.sequence\.csv.*line 3, column 1: gone\.anm: No such file'
like "one that does not decode" "$E" 'bad\.sequence\.csv.*line 4, column 1: bad_decreasing\.anm: byte 10: frame 1 ends before it begins'
like "one elsewhere" "$E" 'above\.sequence\.csv.*line 2, column 1: "\.\./flags7\.anm" is no file beside the list; accepted: the name of a file in the same folder'
like "another column" "$E" 'column\.sequence\.csv.*line 1, column 1: "name" is not a column; accepted: file'
like "no text" "$E" 'empty\.sequence\.csv.*the text is empty'
like "no file" "$E" 'header\.sequence\.csv.*line 2, column 1: the list names no file'
fails "that a sequence is read-only is nothing to say" grep -q 'jump\.sequence' "$MNT/.animfs/errors"

# Nothing of it is edited.
fails "a table cannot be opened for writing" su -s /bin/sh nobody -c "echo >'$D/jump/curves.csv'"
is "its mode says so" "$(stat -c %a "$D/jump/curves.csv" "$D/raw.csv" "$D/jump/clip.json" | sort -u)" 444
sum=$(md5sum <"$SRC/jump.sequence.csv" && cat "$SRC"/*.anm | md5sum)
is "not even by root" "$(save_errno rename "$D/jump/curves.csv" "$(sed '2s/^\([^,]*,[^,]*,0,0\),[^,]*/\1,5/' "$D/jump/curves.csv")"$'\n')" EBADMSG
like "who reads why" "$(<"$D/jump/curves.csv.error")" 'a sequence is not edited: its files are, and the list of them'
is "nor all of it" "$(save_errno rename "$D/raw.csv" "$(list flags7.anm)"$'\n')" EBADMSG
is "its own text is one" "$(save_errno rename "$D/jump/curves.csv" "$(<"$D/jump/curves.csv")"$'\n')" 0
is "nothing changed" "$(md5sum <"$SRC/jump.sequence.csv" && cat "$SRC"/*.anm | md5sum)" "$sum"
rm -f "$D"/jump/curves.csv.* "$D"/raw.csv.*

# Changes show within a second, by whoever makes them.
frames() { sed -n 's/.*"frames": \([0-9]*\).*/\1/p' "$1/clip.json"; }
has_frames() { [ "$(frames "$1")" = "$2" ]; }
ok "the list, in SOURCE" sed -i '$d' "$SRC/jump.sequence.csv"
ok "shows" wait_for 1 has_frames "$D/jump" 32
ok "a file, in SOURCE" cp "$SRC/frames030.anm" "$SRC/flags7.anm"
ok "shows, too" wait_for 1 has_frames "$D/jump" 60
ok "replaced by a rename" sh -c "cp tests/data/ribbon/flags7.anm '$SRC/new' && mv '$SRC/new' '$SRC/flags7.anm'"
ok "as well" wait_for 1 has_frames "$D/jump" 32
before=$(stat -c %y "$D/jump/curves.csv")
exec 9<"$D/jump/curves.csv"
value() { awk -F, '$1 == "object_000" && $2 == "translation" && $3 == 0 { print $5 }' "$@"; }
ok "an edit of a file through its own folder" sed -i '/^object_000,translation,0,/s/^\([^,]*,[^,]*,[^,]*,[^,]*\),[^,]*/\1,77/' "$MNT/frames030.anm/frames030/curves.csv"
is "shows at once in the file" "$(value "$MNT/frames030.anm/frames030/curves.csv")" 77
shows() { [ "$(value "$D/jump/curves.csv")" = "$1" ]; }
ok "and in the sequence" wait_for 1 shows 77
fails "at a later time" test "$(stat -c %y "$D/jump/curves.csv")" = "$before"
fails "who has it open reads on in what it was" test "$(value /dev/fd/9)" = 77
exec 9<&-
ok "a file that goes" mv "$SRC/flags7.anm" "$SRC/elsewhere"
ok "takes the folder along" wait_for 2 test ! -e "$D"
like "and says so" "$(<"$MNT/.animfs/errors")" 'jump\.sequence\.csv.*line 3, column 1: flags7\.anm: No such file'
ok "which comes back" mv "$SRC/elsewhere" "$SRC/flags7.anm"
ok "with it" wait_for 2 has_frames "$D/jump" 32
ok "the list, through the mount" sh -c "printf 'file\nempty_mid.anm\n' >'$MNT/jump.sequence.csv'"
ok "shows like any change" wait_for 1 sh -c "grep -q empty_mid '$D/parts.csv'"
ok "a list in any dialect" sh -c "printf '\\357\\273\\277\"file\"\\r\\n\"flags7.anm\"\\r\\n' >'$MNT/jump.sequence.csv'"
ok "is one" wait_for 1 grep -q flags7 "$D/parts.csv"
ok "a file that was not there" cp "$SRC/frames030.anm" "$SRC/gone.anm"
ok "makes a folder" wait_for 2 test -d "$MNT/gone.sequence.d"
ok "which is listed" sh -c "ls '$MNT' | grep -qx gone.sequence.d"
ok "the list moves" mv "$MNT/gone.sequence.csv" "$MNT/there.sequence.csv"
ok "and its folder" wait_for 2 has_frames "$MNT/there.sequence.d/there" 32
is "which does not move alone" "$(mv "$MNT/there.sequence.d" "$MNT/x" 2>&1 | grep -c 'not permitted')" 1
ok "a folder of such a name is one" mkdir "$MNT/made.sequence.csv"
ok "and stays one" rmdir "$MNT/made.sequence.csv"
note=$MNT/jump.sequence.d/notes.txt
ok "what people put there" sh -c "echo note >'$note'"
is "is there" "$(<"$note")" note

# Without a mount, and by its path in one.
list flags7.anm empty_mid.anm >"$SRC/jump.sequence.csv"
is "animfs ls" "$("$ANIMFS" ls "$SRC/jump.sequence.csv/jump" | head -2)" $'clip.json\ncurves.csv'
ok "animfs cat" wait_for 2 cmp <("$ANIMFS" cat "$SRC/jump.sequence.csv/jump/curves.csv") "$D/jump/curves.csv"
is "by its path in the mount" "$("$ANIMFS" cat "$D/parts.csv")" "$(<"$D/parts.csv")"
like "a fault has its place" "$("$ANIMFS" ls "$SRC/bad.sequence.csv" 2>&1)" 'bad\.sequence\.csv:4:1: bad_decreasing\.anm: byte 10: frame 1'
like "animfs check" "$("$ANIMFS" check "$SRC/jump.sequence.csv" 2>&1)" '1 checked, 0 failed'
printf 'id,name\n0,root\n' >"$SRC/bone-names.csv"
is "bones have the names that those of its files have" \
	"$("$ANIMFS" cat "$SRC/jump.sequence.csv/jump/curves.csv" | grep -c '^root,')" \
	"$("$ANIMFS" cat "$SRC/flags7.anm/flags7/curves.csv" "$SRC/empty_mid.anm/empty_mid/curves.csv" | grep -c '^root,')"
rm "$SRC/bone-names.csv"
is "and frames their rate" "$("$ANIMFS" cat --rate=ribbon=60 "$SRC/jump.sequence.csv/parts.csv" | sed -n 3p)" \
	"$(printf 'empty_mid.anm,2,0.033333,%d' "$("$ANIMFS" ls "$SRC/empty_mid.anm/empty_mid/frames" | wc -l)")"
page=$(TMPDIR=$WORK "$ANIMFS" view --no-open "$SRC/jump.sequence.csv")
ok "animfs view" grep -q '<html' "$page"
umount_animfs

rm "$SRC"/{bad,above,column,empty,header}.sequence.csv "$SRC/bad_decreasing.anm"
ok "animfs export" "$ANIMFS" export --all --views=csv,curves,json,parts "$SRC" "$WORK/exported"
ok "has the folder beside the list" cmp "$WORK/exported/jump.sequence.csv" "$SRC/jump.sequence.csv"
is "with its tables" "$(sed -n 2p "$WORK/exported/jump.sequence.d/parts.csv")" flags7.anm,0,0,2
ok "animfs export --update" "$ANIMFS" export --update --all --views=csv,curves,json,parts "$SRC" "$WORK/exported"
cp tests/data/ribbon/frames030.anm "$SRC/flags7.anm"
ok "sees a file that changed" "$ANIMFS" export --update --all --views=csv,curves,json,parts "$SRC" "$WORK/exported"
is "and writes its tables" "$(sed -n 2p "$WORK/exported/jump.sequence.d/parts.csv")" flags7.anm,0,0,30
ok "animfs import takes unchanged tables for what they are" "$ANIMFS" import "$WORK/exported" "$SRC"

# A kernel that opens nothing.
mount_animfs -o ro
ok "read-only" has_frames "$D/jump" 33
ls "$MNT" >/dev/null
rm "$SRC/gone.anm"
ok "a file that goes takes the folder" wait_for 2 sh -c "! ls '$MNT' | grep -q there.sequence.d"
cp tests/data/ribbon/flags7.anm "$SRC/gone.anm"
ok "and brings it" wait_for 2 sh -c "ls '$MNT' | grep -q there.sequence.d"
ok "with what it says" wait_for 1 has_frames "$MNT/there.sequence.d/there" 32
umount_animfs

# Who may read the list reads nothing in it that he could not have read himself.
chmod 600 "$SRC/empty_mid.anm"
mount_animfs -o allow_other
fails "a file that not everybody may read is none" test -e "$D"
like "and says so" "$(<"$MNT/.animfs/errors")" 'empty_mid\.anm: not everybody who may read jump\.sequence\.csv may read it'
chmod 600 "$SRC/jump.sequence.csv"
ok "for a list that fewer may read it is one" wait_for 2 test -d "$D"
umount_animfs

printf 'file\n' >"$SRC/long.sequence.csv"
yes flags7.anm | head -1024 >>"$SRC/long.sequence.csv"
is "many files" "$("$ANIMFS" cat "$SRC/long.sequence.csv/parts.csv" | wc -l)" 1025
echo flags7.anm >>"$SRC/long.sequence.csv"
like "up to a number" "$("$ANIMFS" cat "$SRC/long.sequence.csv/parts.csv" 2>&1)" ':1026:1: the list has more than 1024 files'
like "and a size" "$("$ANIMFS" cat --max-file=100 "$SRC/jump.sequence.csv/parts.csv" 2>&1)" ':2:1: flags7\.anm: the files of the list are too large together'
