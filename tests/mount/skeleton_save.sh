#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# skeleton_save.sh - skeleton.csv is edited like every view: a save writes NAME.skeleton.csv beside the
# animation and never the animation; a text that changes nothing makes no file.
. "$(dirname "$0")/lib.sh"
SAMPLE=tests/data/canm/wiki512.canm
EDITED=Bone01,Scene_Root,1.5,0,0,0,0,0,1,1,1
mount_stopped

# fresh NAME: a file of its own, F its skeleton.csv and OWN what is saved of it
fresh()
{
	cp "$SAMPLE" "$SRC/$1.canm"
	touch -d '2001-02-03 04:05' "$SRC/$1.canm"
	F=$MNT/$1.canm/skeleton.csv
	OWN=$SRC/$1.canm.skeleton.csv
}
has() { grep -qxF -- "$2" "$1"; }
untouched()
{
	cmp "$SAMPLE" "${OWN%.skeleton.csv}" && [ "$(date -r "${OWN%.skeleton.csv}" +%Y)" = 2001 ]
}
# edits NAME COMMAND...: with what comes of it in $NEW, and the text as it was typed in $TYPED
edits()
{
	fresh "$1"
	TYPED=$NEW
	# Not in a subshell: it says what it typed.
	if "${@:2}"; then pass "$1: ends well"; else not_ok "$1: ends well"; fi
	ok "$1: the text beside it" wait_for 3 cmp "$OWN" "$NEW"
	ok "$1: the view says it" wait_for 3 cmp -s "$F" "$TYPED"
	is "$1: and so does a new look" "$("$ANIMFS" cat "${OWN%.skeleton.csv}/skeleton.csv")" "$(<"$NEW")"
	ok "$1: the animation is as it was" untouched
}

fresh first
NEW=$WORK/new.csv
sed "s/^Bone01,.*/$EDITED/; s/^Scene_Root,.*/Scene_Root,,0,0,0,0,0,0,1,1,1/" "$F" >"$NEW"

by_redirection() { cat "$NEW" >"$F"; }
by_parts() { { head -n 2 "$NEW"; tail -n +3 "$NEW"; } >"$F"; }
by_sed()
{
	local edit='s/^Bone01,.*/Bone01,Scene_Root,1.5,,,,,,,,/'
	TYPED=$WORK/typed.sed
	sed "$edit" "$F" >"$TYPED" && sed -i "$edit" "$F"
}
by_rename() { cp "$NEW" "$F.new" && mv "$F.new" "$F"; }
by_remove() { cp --remove-destination "$NEW" "$F"; }
by_put() { "$ANIMFS" put "${OWN%.skeleton.csv}/skeleton.csv" <"$NEW"; }
by_raw_file() { cp "$NEW" "$MNT/${OWN##*/}"; }
by_spreadsheet()
{
	TYPED=$WORK/typed.spreadsheet
	{ printf '\xef\xbb\xbf' && sed 's/,/;/g; s/\([0-9]\)\.\([0-9]\)/\1,\2/g; s/^[^;]*/"&"/; s/$/\r/' "$NEW"; } >"$TYPED"
	cat "$TYPED" >"$F"
}
by_vim()
{
	TYPED=$WORK/typed.vim
	sed "s/^Bone01,.*/$EDITED/" "$F" >"$TYPED"
	vim -es -c "%s/^Bone01,.*/$EDITED/" -c wq "$F" </dev/null
}
by_mapping()
{
	cat "$NEW" >"$F" || return
	python3 - "$F" <<'PYTHON'
import mmap, sys
with open(sys.argv[1], "r+b") as f:
    m = mmap.mmap(f.fileno(), 0)
    m[m.find(b"1.5")] = ord("2")
    m.flush()
PYTHON
	grep -qx "${EDITED/1.5/2.5}" "$F" && sed -i s/2.5/1.5/ "$F"
}
for how in redirection parts sed rename remove put raw_file spreadsheet vim mapping; do
	case $how in
	vim) command -v vim >/dev/null || { skip "vim is not installed"; continue; } ;;
	esac
	edits "$how" "by_$how"
done

fresh mode
chmod 604 "$SRC/mode.canm"
[ "$(id -u)" -ne 0 ] || chown 12:34 "$SRC/mode.canm"
cp "$NEW" "$F"
is "a new one is as the animation is" "$(stat -c %a:%u:%g "$OWN")" "$(stat -c %a:%u:%g "$SRC/mode.canm")"
chmod 640 "$OWN"
sed -i s/1.5/2.5/ "$F"
is "one that is there keeps its own mode" "$(stat -c %a "$OWN")" 640
is "and is seen in the mount" "$(cat "$MNT/mode.canm.skeleton.csv")" "$(cat "$OWN")"
ok "its time is the view's" [ "$(stat -c %Y "$F")" = "$(stat -c %Y "$OWN")" ]
ok "and that of what follows it" [ "$(stat -c %Y "$MNT/mode.canm/walk/frames/frame_00000.x3d")" = "$(stat -c %Y "$OWN")" ]
is "but of nothing else" "$(date -r "$MNT/mode.canm/walk/clip.json" +%Y)" 2001
like "stills follow" "$(<"$MNT/mode.canm/walk/frames/frame_00000.x3d")" IndexedFaceSet

# ---- nothing new ----
fresh same
cp "$F" "$WORK/own.csv"
ok "its own text" cp "$WORK/own.csv" "$F"
ok "with other cells' quotes" sed -i 's/^Bone01/"&"/; s/$/\r/' "$F"
printf 'bone,parent,tx\nBone01,Scene_Root,3\nScene_Root,,\n' >"$SRC/skeleton.csv"
ok "the folder's table" after 250 has "$F" Bone01,Scene_Root,3,0,0,0,0,0,1,1,1
ok "its text" sed -i s/^Bone01/Bone01/ "$F"
ok "make no file" [ ! -e "$OWN" ]
ok "an edit does" sed -i /^Bone01/s/3/4/ "$F"
ok "which goes before the folder's" after 250 has "$F" Bone01,Scene_Root,4,0,0,0,0,0,1,1,1
ok "without it" rm "$MNT/same.canm.skeleton.csv"
ok "the folder's is back" after 250 has "$F" Bone01,Scene_Root,3,0,0,0,0,0,1,1,1
ok "a view that is removed" rm "$F"
ok "is there again" after 2000 test -e "$F"
ok "and has the folder's still" has "$F" Bone01,Scene_Root,3,0,0,0,0,0,1,1,1
rm "$SRC/skeleton.csv"

# ---- refused ----
fresh bad
bad() { printf 'bone,parent,tx\nBone01,%s,%s\nScene_Root,%s,\n' "$@"; }
for how in close fsync rename; do
	is "a bad number, $how" "$(save_errno $how "$F" "$(bad '' 1..5 '')"$'\n')" EBADMSG
done
is "the text is kept" "$(<"$F.rejected")" "$(bad '' 1..5 '')"
like "and where the fault is" "$(<"$F.error")" 'bad.canm/skeleton.csv:2:9: tx: .1..5. is not a number'
is "an unknown parent" "$(save_errno close "$F" "$(bad Nobody 1 '')"$'\n')" EBADMSG
like "is named" "$(<"$F.error")" ':2:8: there is no bone "Nobody"'
is "a circle" "$(save_errno close "$F" "$(bad Scene_Root 1 Bone01)"$'\n')" EBADMSG
like "is told" "$(<"$F.error")" 'is its own ancestor'
is "an unknown column" "$(save_errno close "$F" $'bone,qx\nBone01,1\n')" EBADMSG
is "a bone twice" "$(save_errno close "$F" $'bone,tx\nBone01,1\nBone01,1\n')" EBADMSG
ok "made no file" [ ! -e "$OWN" ]
is "half a text" "$(save_errno close "$F" $'bone,parent,tx\nBone01,Scene_R')" EBADMSG
ok "no file either" [ ! -e "$OWN" ]
ok "half a text by a child is waited for" sh -ec "{ head -c 50 '$NEW'; tail -c +51 '$NEW'; } >'$F'"
ok "with the rest of it, it is the text" cmp "$OWN" "$NEW"
ok "which takes the refusals away" [ ! -e "$F.error" ]
is "a bone that is forgotten" "$(save_errno close "$F" $'bone,tx\nBone01,1\n')" EBADMSG
like "is named" "$(<"$F.error")" 'no row for the bone Scene_Root'
ok "the text stays" cmp "$OWN" "$NEW"
ok "a column that is not there" sh -c "printf 'bone,ty\nBone01,7\nScene_Root,\n' >'$F'"
ok "leaves what it says" has "$OWN" Bone01,Scene_Root,1.5,7,0,0,0,0,1,1,1
ok "bones that no clip has" sh -c "echo 'floor,-1' >>'$F'"
ok "are kept" has "$OWN" floor,,0,-1,0,0,0,0,1,1,1
echo bone,bone >"$OWN"
ok "a text that cannot be read" after 250 has "$F" Bone01,,,,,,,,,,
is "is not lost" "$(save_errno close "$F" "$(<"$NEW")"$'\n')" EBADMSG
is "" "$(<"$OWN")" bone,bone
rm "$OWN"

# ---- others ----
meanwhile() { save_around "$F" "$NEW" "$@"; }
fresh conflict
is "another program's meanwhile" "$(meanwhile sh -c "sed s/1.5/9/ '$NEW' >'$OWN'")" EBADMSG
like "is told" "$(<"$F.error")" 'meantime'
ok "and stays" has "$F" "${EDITED/1.5/9}"
is "the same one" "$(meanwhile cp "$NEW" "$OWN")" 0
is "an edit of the animation is none" "$(meanwhile sed -i 2s/0,0,0,0/0,0,7,0/ "$MNT/conflict.canm/walk/bones/Scene_Root.csv")" 0
mkdir "$WORK/second"
MNT=$WORK/second mount_animfs
sed -i s/1.5/5/ "$WORK/second/conflict.canm/skeleton.csv"
ok "a second mount's is seen" after 250 has "$F" "${EDITED/1.5/5}"
is "and no conflict for who opens it then" "$(meanwhile true)" 0
ok "nor there" wait_for 3 has "$WORK/second/conflict.canm/skeleton.csv" "$EDITED"
MNT=$WORK/second umount_animfs

# ---- undone ----
blank=$(sed -E '2,$s/^([^,]*).*/\1,,,,,,,,,,/' "$NEW")
echo "$blank" >"$F"
ok "bones without a place" has "$OWN" Bone01,,,,,,,,,,
is "are what differs" "$("$ANIMFS" diff "$SRC"/{redirection,conflict}.canm/skeleton.csv | tail -n +3)" \
	$'-Scene_Root,,0,0,0,0,0,0,1,1,1\n'"-$EDITED"
ok "are undone" "$ANIMFS" undo "$SRC/conflict.canm/skeleton.csv"
ok "which is seen" after 250 has "$F" "$EDITED"
ok "and nothing differs" "$ANIMFS" diff "$SRC"/{redirection,conflict}.canm/skeleton.csv
ok "done again" "$ANIMFS" redo "$OWN"
ok "they have none" after 250 has "$F" Bone01,,,,,,,,,,
ok "and again" "$ANIMFS" undo "$OWN"

# ---- copied and moved ----
ok "a copy" cp -r "$MNT/conflict.canm" "$MNT/copy.canm"
ok "has it" after 2000 cmp "$SRC/copy.canm.skeleton.csv" "$OWN"
ok "and says so" after 250 has "$MNT/copy.canm/skeleton.csv" "$EDITED"
ok "one of a file without" cp -r "$MNT/first.canm" "$MNT/copy2.canm"
ok "is a file" after 2000 test -f "$SRC/copy2.canm"
ok "and has none" [ ! -e "$SRC/copy2.canm.skeleton.csv" ]
ok "it moves" mv "$MNT/copy.canm" "$MNT/moved.canm"
ok "along" cmp "$SRC/moved.canm.skeleton.csv" "$OWN"
ok "and is not left" [ ! -e "$SRC/copy.canm.skeleton.csv" ]
ok "the view goes on" after 250 has "$MNT/moved.canm/skeleton.csv" "$EDITED"
echo bone >"$SRC/copy.canm.skeleton.csv"
ok "over nobody's" mv "$MNT/moved.canm" "$MNT/copy.canm"
is "" "$(<"$SRC/copy.canm.skeleton.csv")" bone
ok "what is removed" rm -r "$MNT/conflict.canm"
ok "leaves it to undo" test -e "$OWN"
is "nothing is refused or in the way" "$(grep -v 'bad.canm\|conflict.canm\|copy.canm' "$MNT/.animfs/errors")" ""
umount_animfs

mount_animfs -o ro
is "nothing is saved read-only" "$(save_errno close "$MNT/first.canm/skeleton.csv" x)" EROFS
umount_animfs
