#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# kanim_joined.sh - the stills of a kanim are joined into one scene that plays, clip.x3d, which follows
# them; if they cannot be joined, a message names the node that differs.
. "$(dirname "$0")/lib.sh"
cp tests/data/kanim/* "$SRC"
mkdir "$SRC/poses"
cp tests/data/kanim/*.x3d "$SRC/poses"
sed 's,url="frame,url="poses/frame,' "$SRC/stick.kanim" >"$SRC/apart.kanim"
sed 's/frame_2.x3d/frame_3.x3d/' "$SRC/stick.kanim" >"$SRC/lacks.kanim"
mount_animfs --views=all
D=$MNT/stick.kanim.d X=$MNT/stick.kanim.d/%/clip.x3d
A=$MNT/apart.kanim.d/%/clip.x3d

# sized FILE: as long as stat says
sized() { is "$1 is as long as it says" "$(stat -c %s "$MNT/$1")" "$(wc -c <"$MNT/$1")"; }

ls -lR "$MNT" >"$WORK/list"
is "the folder of a clip" "$(ls "$D/%")" $'clip.html\nclip.x3d'
is "each that can be joined" "$(cd "$MNT" && find . -name clip.x3d | sort)" "./apart.kanim.d/%/clip.x3d
./frames.castle-anim-frames.d/run/clip.x3d
./stick.kanim.d/%/clip.x3d
./stick_backwards.kanim.d/%/clip.x3d
./stick_noloop.kanim.d/%/clip.x3d
./utf16.kanim.d/%/clip.x3d"
for file in stick.kanim.d stick_backwards.kanim.d utf16.kanim.d apart.kanim.d; do
	sized "$file/%/clip.x3d"
	sized "$file/%/clip.html"
done
like "it plays" "$(<"$X")" '<TimeSensor DEF="join_clock" cycleInterval="2" loop="true"/>'
is "with an interpolator for all that moves" "$(grep -c 'Interpolator DEF=' "$X")" 5
is "without a mount the same" "$("$ANIMFS" cat "$SRC/stick.kanim/%/clip.x3d" | md5sum)" "$(md5sum <"$X")"
ok "it is a scene" xmllint --noout "$X"

P=$MNT/stick.kanim.d/%/clip.html
ok "and a page" grep -qi '<!doctype html>' "$P"
is "the same without a mount" "$("$ANIMFS" cat "$SRC/stick.kanim/%/clip.html" | md5sum)" "$(md5sum <"$P")"
printf '<X3D><Scene><Transform scaleOrientation="0 0 1 1"/></Scene></X3D>' >"$SRC/odd.x3d"
printf '<animation><frame url="odd.x3d" time="0"/></animation>' >"$SRC/odd.kanim"
is "where it can be drawn" "$(ls "$MNT/odd.kanim.d/%")" clip.x3d
like "or else it is said why not" "$("$ANIMFS" cat "$SRC/odd.kanim/%/clip.html" 2>&1)" 'has a Transform with a scaleOrientation'
page=$(TMPDIR=$WORK "$ANIMFS" view --no-open "$SRC/stick.kanim")
ok "animfs view" cmp "$page" "$P"
page=$(TMPDIR=$WORK "$ANIMFS" view --no-open "$SRC/frames.castle-anim-frames")
like "and of several" "$page" '/frames.castle-anim-frames/file.html$'
ok "with the page of one" test -s "${page%/*}/run/clip.html"
ok "one of them" test -s "$(TMPDIR=$WORK "$ANIMFS" view --no-open "$SRC/frames.castle-anim-frames/run")"

# A page of all clips, of those that can be played with a picture.
is "a page of each file of which something plays" "$(cd "$MNT" && find . -name file.html | sort)" "./apart.kanim.d/file.html
./frames.castle-anim-frames.d/file.html
./stick.kanim.d/file.html
./stick_backwards.kanim.d/file.html
./stick_noloop.kanim.d/file.html
./utf16.kanim.d/file.html"
for file in stick frames; do
	page=$(echo "$MNT/$file".*.d/file.html)
	sized "${page#"$MNT/"}"
	ok "the same without a mount" cmp "$page" <("$ANIMFS" cat "$SRC/$(basename "${page%.d/*}")/file.html")
	is "self-contained" "$(grep -o "<script src\|<link[^>]*>" "$page")" '<link rel="icon" href="data:,">'
done
before=$(sed -n 's/^texts //p' "$MNT/.animfs/status")
stat -c %s "$MNT"/*.d/file.html >"$WORK/sizes"
is "sizes are known without rendering" "$(sed -n 's/^texts //p' "$MNT/.animfs/status")" "$before"
like "none, and why" "$("$ANIMFS" cat "$SRC/odd.kanim/file.html" 2>&1)" 'has a Transform with a scaleOrientation'
like "or that a still lacks" "$("$ANIMFS" cat "$SRC/lacks.kanim/file.html" 2>&1)" 'frame_3.x3d: No such file'
F=$MNT/stick.kanim.d/file.html
sum=$(md5sum <"$F")
ok "its own text changes nothing" cp "$F" "$WORK/file.html"
ok "saved" cp "$WORK/file.html" "$F"
is "the page is as it was" "$(md5sum <"$F")" "$sum"
is "one that was changed is refused" "$(save_errno close "$F" "<html>")" EBADMSG
rm -f "$F".*

# ---- stills that others change ----

ok "a still is changed" sed -i 's/<Viewpoint/&/; s/0 1.9 0"/0 2.9 0"/' "$SRC/frame_1.x3d"
ok "and the scene with it" grep -q '0 1.9 0 0 2.9 0 0 1.9 0' "$X"
sized "stick.kanim.d/%/clip.x3d"
sized "stick.kanim.d/%/clip.html"
ok "the page, too" test "$("$ANIMFS" cat "$SRC/stick.kanim/%/clip.html" | md5sum)" = "$(md5sum <"$P")"
ok "times are those of the stills" test "$X" -nt "$SRC/stick.kanim"
ok "also of the page of the file" test "$F" -nt "$SRC/stick.kanim"
ok "which shows them" [ "$(md5sum <"$F")" != "$sum" ]
sized "stick.kanim.d/file.html"
ok "one in another folder" sed -i 's/0 1.9 0"/0 2.9 0"/' "$SRC/poses/frame_1.x3d"
ok "and its scene" wait_for 3 grep -q '0 1.9 0 0 2.9 0 0 1.9 0' "$A"
ok "which is as long as it says then" wait_for 3 test "$(wc -c <"$A")" = "$(stat -c %s "$A")"
ok "through the mount, too" sed -i 's/0 2.9 0"/0 3.9 0"/' "$MNT/frame_1.x3d"
ok "at once" grep -q '0 1.9 0 0 3.9 0 0 1.9 0' "$X"
exec 3<"$X"
ok "a still that is another scene" sed -i 's/<Sphere/<Box/' "$SRC/frame_1.x3d"
ok "cannot be joined" wait_for 3 test ! -e "$X"
ok "has no page, either" test ! -e "$F"
is "who reads reads on" "$(wc -c <&3)" "$(stat -Lc %s /proc/self/fd/3)"
exec 3<&-
is "and there is no folder" "$(ls "$D")" $'file.json\nframes.csv\nraw.kanim'
like "which is said, and why" "$(<"$MNT/.animfs/errors")" \
	'stick\.kanim/clip\.x3d: not joined: %: frame_1\.x3d:13:9: frame 1: Box stands where frame 0 has Sphere; accepted: frames that have the same nodes'
like "without a mount, too" "$("$ANIMFS" cat "$SRC/stick.kanim/%/clip.x3d" 2>&1)" \
	'frame_1\.x3d:13:9: frame 1: Box stands where frame 0 has Sphere'
cp tests/data/kanim/frame_1.x3d "$SRC"
ok "until it is mended" wait_for 3 test -e "$X"
ok "with the page of the file" test -e "$F"
is "and nothing is said then" "$(grep "stick.kanim/clip" "$MNT/.animfs/errors")" ""
ok "of each what holds for it" wait_for 3 grep -q \
	'lacks\.kanim/clip\.x3d: not joined: %: frame_3\.x3d: No such file' "$MNT/.animfs/errors"
cp tests/data/kanim/frame_2.x3d "$SRC/frame_3.x3d"
ok "a still that comes" wait_for 3 test -s "$MNT/lacks.kanim.d/%/clip.x3d"
rm "$SRC/frame_3.x3d"
ok "and goes" wait_for 3 test ! -e "$MNT/lacks.kanim.d/%"

# ---- the kanim that is changed ----

ok "another time" sed -i 's/^%,2,2,/%,2,4,/' "$D/frames.csv"
like "the scene takes as long" "$(<"$X")" 'cycleInterval="4" loop="true"/>'
ok "back and forth" sed -i 's/"backwards": false/"backwards": true/' "$D/file.json"
like "twice as long" "$(<"$X")" 'cycleInterval="8"'
ok "a name" sed -i 's/"name": ""/"name": "walk"/' "$D/file.json"
ok "is that of the folder" wait_for 3 test -s "$D/walk/clip.x3d"
ok "a folder's name" mv "$D/walk" "$D/run"
like "is that of the animation" "$(<"$SRC/stick.kanim")" 'name="run"'
cp tests/data/kanim/stick.kanim "$SRC"
ok "back again" wait_for 3 test -s "$X"

# ---- a text that is made of others ----

cp "$X" "$WORK/clip.x3d"
(cd "$SRC" && find . -maxdepth 1 -type f -exec md5sum {} +) >"$WORK/sums"
ok "it may come back" cp "$WORK/clip.x3d" "$X"
is "and not otherwise" "$(save_errno close "$X" '<X3D/>')" EBADMSG
like "the error says what to edit" "$(<"$X.error")" 'generated from the stills'
rm "$X.error" "$X.rejected"
is "a clip of stills stays" "$(rm -r "$D/%" 2>&1 | grep -c 'not permitted')" 1
ok "with its text" wait_for 4 test -s "$X"
is "none is made" "$(mkdir "$D/new" 2>&1 | grep -c 'not permitted')" 1
cp -r "$MNT" "$WORK/out"
ok "a whole tree copied out and back" cp -r "$WORK/out/." "$MNT"
ok "changes no byte" sh -c "cd '$SRC' && md5sum --quiet -c '$WORK/sums'"
umount_animfs

# ---- which views ----

mount_animfs --views=csv
is "not listed" "$(ls "$D")" $'%\nframes.csv'
is "nor in the clip" "$(ls "$D/%")" ""
ok "the page opens by its name" grep -q '^<!DOCTYPE html>' "$D/file.html"
ok "but there" test -s "$X"
umount_animfs
mount_animfs -o ro
ok "read-only" grep -q TimeSensor "$X"
ok "a still is changed there" sed -i 's/0 1.9 0"/0 2.5 0"/' "$SRC/frame_1.x3d"
ok "and the scene" wait_for 3 grep -q '0 1.9 0 0 2.5 0 0 1.9 0' "$X"
sized "stick.kanim.d/%/clip.x3d"
sed -i 's/0 1.9 0"/0 2.5 0"/' "$SRC/poses/frame_0.x3d"
ok "also of another folder" wait_for 3 grep -q ' 0 2.5 0' "$A"
umount_animfs

# ---- exported ----

ok "a site" "$ANIMFS" export --views=html "$SRC" "$WORK/site"
ok "has the page" test -s "$WORK/site/stick.kanim.d/%/clip.html"
ok "and that of the file" test -s "$WORK/site/stick.kanim.d/file.html"
names=$(perl -MMIME::Base64 -ne 'print decode_base64($1) if /id="data">([^<]*)/' "$WORK/site/index.html" | strings -n 3 | tr '\n' ' ')
like "which the index has" "$names" 'frames.castle-anim-frames.d.*kanim.*run.*stick.kanim.d.*utf16.kanim.d'
cksum "$WORK/site/index.html" >"$WORK/index"
ok "again" "$ANIMFS" export --update --views=html "$SRC" "$WORK/site"
ok "the index is the same" cmp "$WORK/index" <(cksum "$WORK/site/index.html")
ok "export" "$ANIMFS" export --views=x3d,csv "$SRC" "$WORK/exported"
ok "the same text" cmp "$WORK/exported/stick.kanim.d/%/clip.x3d" \
	<("$ANIMFS" cat "$SRC/stick.kanim/%/clip.x3d")
like "nothing to do" "$("$ANIMFS" export --update --views=x3d,csv "$SRC" "$WORK/exported" 2>&1)" '0 exported|nothing|up to date|current'
sed -i 's/0 2.5 0"/0 2.25 0"/' "$SRC/frame_1.x3d"
ok "with another still" "$ANIMFS" export --update --views=x3d,csv "$SRC" "$WORK/exported"
ok "it is exported again" grep -q '0 2.25 0' "$WORK/exported/stick.kanim.d/%/clip.x3d"
ok "import" "$ANIMFS" import "$WORK/exported" "$SRC"
rm "$WORK/sums"

# ---- what nobody means well with ----

printf '<animation name="../../%s"><frame url="frame_0.x3d" time="0"/></animation>' x >"$SRC/up.kanim"
{
	printf '<animations>'
	for i in {1..300}; do printf '<animation name="a%s"><frame url="none%s.x3d" time="0"/></animation>' "$i" "$i"; done
	printf '</animations>'
} >"$SRC/many.castle-anim-frames"
ln -s /etc/passwd "$SRC/passwd.x3d"
printf '<animation><frame url="passwd.x3d" time="0"/></animation>' >"$SRC/link.kanim"
printf '<animation><frame url="../../../../../etc/passwd.x3d" time="0"/></animation>' >"$SRC/out.kanim"
mkfifo "$SRC/fifo.x3d"
printf '<animation><frame url="fifo.x3d" time="0"/></animation>' >"$SRC/fifo.kanim"
mount_animfs
ls -lR "$MNT" >/dev/null
is "a name is one name" "$(cd "$MNT" && find up.kanim.d -name clip.x3d)" "up.kanim.d/%2E.%2F..%2Fx/clip.x3d"
like "a line for many" "$(grep many "$MNT/.animfs/errors")" 'a1: none1.x3d: No such file or directory \(and 299 more\)'
like "no link is followed" "$(grep 'link.kanim' "$MNT/.animfs/errors")" 'passwd\.x3d: Too many levels'
like "nor a way out" "$(grep 'out.kanim' "$MNT/.animfs/errors")" 'its url is no file that is read here'
like "a pipe is no still" "$(grep 'fifo.kanim' "$MNT/.animfs/errors")" 'fifo\.x3d: Invalid argument'
umount_animfs
