#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# kanim_source.sh - a kanim stays a file, as its stills and players need it; an edit in the folder beside it
# changes only the edited bytes.
. "$(dirname "$0")/lib.sh"
cp tests/data/kanim/* "$SRC"
cp tests/data/canm/wiki512.canm "$SRC"
cp "$SRC/stick.kanim" "$SRC/walk.Kanim"
printf '<animation loop="yes"><frame url="a.x3d" time="0"/></animation>' >"$SRC/bad.kanim"
mkdir "$SRC/stick_noloop.kanim.d"
touch "$SRC/stick_noloop.kanim.d/own"
mount_animfs
K=$MNT/stick.kanim D=$MNT/stick.kanim.d

is "a folder beside each, none for what the engine would refuse" \
	"$(cd "$MNT" && echo *anim*)" \
	"bad.kanim frames.castle-anim-frames frames.castle-anim-frames.d stick.kanim stick.kanim.d stick_backwards.kanim stick_backwards.kanim.d stick_noloop.kanim stick_noloop.kanim.d stick_noloop.kanim.d~2 utf16.kanim utf16.kanim.d walk.Kanim walk.Kanim.d"
is "other formats are folders themselves" "$(ls -d "$MNT"/wiki512*)" "$MNT/wiki512.canm"
like "the error says why" "$(<"$MNT/.animfs/errors")" 'bad\.kanim.*loop'
like "and so does its attribute" "$(getfattr --only-values -n user.animfs.error "$MNT/bad.kanim")" loop
is "a real entry of the folder's name wins" "$(ls "$MNT/stick_noloop.kanim.d")" own
is "what is in a folder" "$(ls "$D")" $'%\nfile.json\nframes.csv\nraw.kanim'
is "raw.* has the file's extension" "$(cd "$MNT" && echo walk.Kanim.d/raw.* frames.castle-anim-frames.d/raw.*)" \
	"walk.Kanim.d/raw.Kanim frames.castle-anim-frames.d/raw.castle-anim-frames"
ok "the file is the file" cmp "$K" "$SRC/stick.kanim"
ok "and so is raw.*" cmp "$D/raw.kanim" "$SRC/stick.kanim"
is "the table" "$(<"$D/frames.csv")" "animation,frame,time,url
%,0,0,frame_0.x3d
%,1,1,frame_1.x3d
%,2,2,frame_2.x3d"

# edited NAME SED...: the file is now the sample with this edit, and nothing else is different
edited()
{
	local name=$1
	shift
	ok "$name" cmp <(sed "$@" tests/data/kanim/stick.kanim) "$SRC/stick.kanim"
	ok "$name, seen through the mount" wait_for 2 cmp -s "$SRC/stick.kanim" "$K"
}

ok "a time, by sed -i" sed -i 's/^%,1,1,/%,1,1.25,/' "$D/frames.csv"
edited "only its bytes change" '4s/"1.0"/"1.25"/'
ok "a url, by a redirect" bash -c "text=\$(cat '$D/frames.csv') && printf '%s\n' \"\${text/frame_1/frame_0}\" >'$D/frames.csv'"
edited "only its bytes change then" '4s/"1.0"/"1.25"/; s/frame_1/frame_0/'
ok "a frame more, by >>" bash -c "echo '%,3,1.5,frame_2.x3d' >>'$D/frames.csv'"
is "is in its place" "$(grep -c . "$K")" 7
is "and counted by its time" "$(sed -n 4,5p "$D/frames.csv")" $'%,2,1.5,frame_2.x3d\n%,3,2,frame_2.x3d'
ok "and goes with its row" sed -i '/^%,2,/d' "$D/frames.csv"
edited "to the byte" '4s/"1.0"/"1.25"/; s/frame_1/frame_0/'
ok "attributes, by perl -pi" perl -pi -e 's/"loop": true/"loop": false/; s/"scenes_per_time": 30/"scenes_per_time": 12/' "$D/file.json"
edited "only their bytes change" '4s/"1.0"/"1.25"/; s/frame_1/frame_0/; s/"30"/"12"/; s/loop="true"/loop="false"/'
ok "the old text, by raw.*" cp tests/data/kanim/stick.kanim "$D/raw.kanim"
edited "brings all back" ''

is "what the engine refuses cannot be saved" "$(save_errno rename "$D/raw.kanim" '<animation/>')" EBADMSG
ok "and leaves the file" cmp "$SRC/stick.kanim" tests/data/kanim/stick.kanim
like "the error is beside it" "$(<"$D/raw.kanim.error")" 'no frame'
is "equal times neither" "$(save_errno close "$D/frames.csv" $'frame,time\n0,0\n1,2\n2,2\n')" EBADMSG
like "and both lines are told" "$(<"$D/frames.csv.error")" ':4:3: this time is that of line 3 too'
is "an animation keeps a frame" "$(save_errno fsync "$D/frames.csv" $'animation,frame,time,url\n')" EBADMSG
is "half a row is no row" "$(save_errno fsync "$D/frames.csv" $'frame,time\n0,0\n1')" EBADMSG
ok "the file stays" cmp "$SRC/stick.kanim" tests/data/kanim/stick.kanim
ok "a text in two parts" bash -c "{ sed -n 1,3p '$D/frames.csv' >$WORK/a; sed -n 4p '$D/frames.csv' >$WORK/b; { cat $WORK/a; cat $WORK/b; } >'$D/frames.csv'; }"
ok "is the whole text" cmp "$SRC/stick.kanim" tests/data/kanim/stick.kanim

ok "the file is written as any other" sed -i s/frame_1/frame_2/ "$K"
ok "which its folder shows" wait_for 2 grep -q '^%,1,1,frame_2' "$D/frames.csv"
ok "also what makes no sense" bash -c "echo '<animation>' >'$K'"
ok "without a folder then" wait_for 3 test ! -e "$D"
ok "until it does" cp tests/data/kanim/stick.kanim "$K"
ok "and has one again" wait_for 3 test -f "$D/frames.csv"
echo note >"$D/notes.txt"
ok "it moves" mv "$K" "$MNT/moved.kanim"
ok "and its folder is beside it" wait_for 3 test -f "$MNT/moved.kanim.d/frames.csv"
is "with what people put there" "$(cat "$MNT/moved.kanim.d/notes.txt")" note
ok "and no longer there" wait_for 3 test ! -e "$D"
is "the folder does not move alone" "$(mv "$MNT/moved.kanim.d" "$MNT/x.d" 2>&1 | grep -c 'not permitted')" 1

like "nor does it go alone" "$(rmdir "$MNT/moved.kanim.d" 2>&1)" 'not empty'

C=$MNT/frames.castle-anim-frames
ok "of its successor, too" sed -i 's/^run,1,0.5,/run,1,0.75,/' "$C.d/frames.csv"
ok "one value changes" cmp <(sed "s/time='0.5'/time='0.75'/" tests/data/kanim/frames.castle-anim-frames) "$SRC/frames.castle-anim-frames"
is "an inline still stays" "$(save_errno close "$C.d/frames.csv" "$(sed 's/^walk,1,1,/&x.x3d/' "$C.d/frames.csv")")" EBADMSG

ok "of UTF-16, too" sed -i 's/"loop": true/"loop": false/' "$MNT/utf16.kanim.d/file.json"
ok "in its own bytes" cmp <(iconv -f UTF-16 -t UTF-16BE tests/data/kanim/utf16.kanim | iconv -f UTF-16BE | sed 's/loop="true"/loop="false"/' | iconv -t UTF-16BE) <(tail -c +3 "$SRC/utf16.kanim")

is "without a mount" "$("$ANIMFS" ls "$SRC/moved.kanim")" $'raw.kanim\nfile.json\nframes.csv\nfile.html\n%/'
ok "the text can be saved" bash -c "'$ANIMFS' cat '$SRC/moved.kanim/frames.csv' | sed 's/^%,2,2,/%,2,3,/' | '$ANIMFS' put '$SRC/moved.kanim/frames.csv'"
ok "just so" cmp <(sed 's/"2.0"/"3"/' tests/data/kanim/stick.kanim) "$SRC/moved.kanim"
ok "every sample is encoded to itself" "$ANIMFS" check tests/data/kanim

(cd "$SRC" && find . -maxdepth 1 -type f -exec md5sum {} +) >"$WORK/sums"
cp -r "$MNT" "$WORK/out"
ok "a whole tree copied out and back" cp -r "$WORK/out/." "$MNT"
ok "by rsync" rsync -rI "$WORK/out/" "$MNT"
ok "changes no byte" sh -c "cd '$SRC' && md5sum --quiet -c '$WORK/sums'"
umount_animfs

rm "$SRC/bad.kanim"
cp "$SRC/moved.kanim" "$SRC/any"
mount_animfs --type '*=auto'
ok "found by its content, it stays a file" cmp "$MNT/any" "$SRC/any"
is "with its folder" "$(ls "$MNT/any.d")" $'%\nfile.json\nframes.csv\nraw.kanim'
is "which is listed" "$(cd "$MNT" && echo any*)" "any any.d"
ok "others do not" test -d "$MNT/wiki512.canm"
umount_animfs

mount_animfs --beside
ok "with --beside nothing is different" grep -q frame_1 "$MNT/moved.kanim.d/frames.csv"
umount_animfs
