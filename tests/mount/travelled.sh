#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# travelled.sh - texts that other programs carried or wrote: line ends and byte order marks, whole numbers
# in any spelling, numbers rounded to float32, names in another form of their characters, files of other
# programs.
. "$(dirname "$0")/lib.sh"
make_game --files 1 --clips 2 --bones 6 --frames 8 --plain 0 --skeleton 1
F=$SRC/object/e0000/ranger.canm
cp "$F" "$WORK/orig"
animfs() { "$ANIMFS" "$@"; }
unchanged() { cmp "$WORK/orig" "$F"; }

# ---- a tree through git with core.autocrlf ----

animfs export "$SRC" "$WORK/ex" 2>/dev/null
cp -r "$WORK/ex" "$WORK/win"
# As git does it: what has no NUL is a text.
find "$WORK/win" -type f ! -name 'raw.*' ! -name '.animfs-export' -exec sed -i 's/$/\r/' {} +
animfs import -n "$WORK/win" "$SRC" >"$WORK/out" 2>&1
is "CRLF everywhere: nothing was edited" "$? $(grep -c generated "$WORK/out")" "0 0"
sed -i '2s/^0,0,[^,]*/0,0,0.02/' "$WORK/win/object/e0000/ranger.canm/walk/bones/hips.csv"
ok "one edit is saved" animfs import "$WORK/win" "$SRC"
fails "and it is there" unchanged
cp "$WORK/orig" "$F"
picture=$WORK/ex/object/e0000/ranger.canm/walk/clip.svg
sed -i '1s/^/\xef\xbb\xbf/' "$picture"
ok "a byte order mark before a picture" animfs import -n "$WORK/ex" "$SRC"
sed -i 's/x="/x="1/' "$picture"
fails "a picture that was changed" animfs import -n "$WORK/ex" "$SRC"

mount_animfs
for view in clip.svg clip.x3d frames/frame_00001.x3d; do
	sed 's/$/\r/' "$MNT/object/e0000/ranger.canm/walk/$view" >"$WORK/text"
	ok "$view with CRLF over its view" cp "$WORK/text" "$MNT/object/e0000/ranger.canm/walk/$view"
done
sed 's/x="/x="1/' "$MNT/object/e0000/ranger.canm/walk/clip.svg" >"$WORK/text"
fails "one that was changed is refused" cp "$WORK/text" "$MNT/object/e0000/ranger.canm/walk/clip.svg"
ok "the file is as it was" unchanged
umount_animfs

# ---- whole numbers ----

cp tests/data/ribbon/duplicate.anm "$SRC/d.anm"
cp tests/data/owanim/{small,oddrot}.006 "$SRC"
printf '<?xml version="1.0"?>\n<animation>\n<frame url="a.x3d" time="0"/>\n<frame url="b.x3d" time="0.5"/>\n</animation>\n' >"$SRC/k.kanim"
# each HOW: every number of a table as numpy.savetxt or a program with float32 writes it
each()
{
	python3 -c '
import struct, sys
def savetxt(name, x):
    return "%.18e" % float(x)
def float32(name, x):
    return x if name in ("frame", "time", "flags") else "%.9g" % struct.unpack("f", struct.pack("f", float(x)))
header, *lines = sys.stdin.read().splitlines()
names = header.split(",")
def cell(name, x):
    try:
        return globals()[sys.argv[1]](name, x) if x and "n" not in x else x
    except ValueError:
        return x
print(header)
for line in lines:
    print(",".join(map(cell, names, line.split(","))))' "$1"
}
for view in object/e0000/ranger.canm/walk/curves.csv object/e0000/ranger.canm/walk/bones/hips.csv d.anm/d/bones/object_002.csv \
	d.anm/d/curves.csv small.006/small/curves.csv k.kanim/frames.csv oddrot.006/oddrot/curves.csv; do
	file=$SRC/$(sed 's,/walk/.*\|/[a-z]*/bones/.*\|/[a-z]*/curves.csv\|/frames.csv,,' <<<"$view")
	for how in savetxt float32; do
		for form in "" --rotations=stored; do
			cp "$file" "$WORK/was"
			# shellcheck disable=SC2086 # no word where it is empty
			animfs cat $form "$SRC/$view" | each $how >"$WORK/text"
			ok "$how: $view $form" animfs put "$SRC/$view" "$WORK/text"
			ok "$how: $view $form: nothing changes" cmp "$WORK/was" "$file"
		done
	done
done
animfs cat "$F/walk/bones/hips.csv" >"$WORK/own"
for frame in 1.5 1e-1 1e20 -1 ''; do
	sed "s/^1,/$frame,/" "$WORK/own" >"$WORK/text"
	is "a frame '$frame'" "$(animfs put "$F/walk/bones/hips.csv" "$WORK/text" >/dev/null 2>&1; echo $?)" 1
done

# ---- names ----

animfs bone rename "$F/walk" head Zähne
cp "$F" "$WORK/orig"
animfs cat "$F/walk/curves.csv" | sed 's/^Zähne,/Za\xcc\x88hne,/' >"$WORK/text"
ok "a name with its marks apart" animfs put "$F/walk/curves.csv" "$WORK/text"
ok "is the same name" unchanged
sed -i 's/^\(Za[^,]*,translation,0,[^,]*\),[^,]*/\1,0.5/' "$WORK/text"
ok "an edit of that bone" animfs put "$F/walk/curves.csv" "$WORK/text"
like "is one" "$(animfs diff "$WORK/orig" "$F")" 'bone walk/Zähne'
ok "and so is a path" test -n "$(animfs cat "$F/walk/bones/$(printf 'Za\xcc\x88hne.csv')")"
is "and makes no other bone" "$(animfs ls "$F/walk/bones" | grep -c 'hne.csv')" 1
cp "$F" "$WORK/orig"
zwsp=$(printf 'hips\xe2\x80\x8b.csv')
is "a character that is not seen is shown" "$(animfs cat "$F/walk/bones/$zwsp" 2>&1)" \
	"animfs: $F/walk/bones/$zwsp: there is no \"$zwsp\" (hips<U+200B>.csv) in walk/bones"
is "of a bone, too" "$(animfs bone remove "$F/walk" "${zwsp%.csv}" 2>&1 | head -n 1)" \
	"animfs: $F/walk: there is no bone \"${zwsp%.csv}\" (hips<U+200B>)"
ok "a bone with its marks apart is renamed" animfs bone rename "$F/walk" "$(printf 'Za\xcc\x88hne')" Zahn
ok "and back" animfs bone rename "$F/walk" Zahn Zähne
ok "which changes nothing" unchanged
apart() { sed 's/Zähne/Za\xcc\x88hne/g'; }
for view in clip.json clip.bvh bones/Zähne.json; do
	animfs cat --bvh=lossy "$F/walk/$view" | apart >"$WORK/text"
	ok "$view: with its marks apart" animfs put --bvh=lossy "$F/walk/$view" "$WORK/text"
	ok "$view: the same name" unchanged
done
animfs cat "$F/walk/bones/Zähne.csv" >"$WORK/before"
bones=$(animfs ls "$F/walk/bones")
animfs cat "$F/walk/clip.json" | apart | sed '/"bone": "hips"/d' >"$WORK/text"
ok "a list without another bone" animfs put "$F/walk/clip.json" "$WORK/text"
is "leaves this one's curves" "$(animfs cat "$F/walk/bones/Zähne.csv")" "$(<"$WORK/before")"
is "and only removes the other" "$(animfs ls "$F/walk/bones" | sort)" \
	"$(grep -v '^hips' <<<"$bones" | sort)"
cp "$WORK/orig" "$F"
animfs cat --bvh=lossy "$F/walk/clip.bvh" | apart | sed 's/Za/Zo/' >"$WORK/text"
like "another name is refused in a BVH" "$(animfs put --bvh=lossy "$F/walk/clip.bvh" "$WORK/text" 2>&1)" \
	'no bone of this clip has this name'

# ---- two names that the disk takes for one ----

mkdir "$WORK/names"
cp "$F" "$WORK/names/ranger.canm"
ok "a file is exported" animfs export "$WORK/names" "$WORK/caseless"
mv "$WORK/names/ranger.canm" "$WORK/names/Ranger.canm"
mv "$WORK/caseless/ranger.canm" "$WORK/caseless/Ranger.canm" # as another case of it finds it there
is "one that differs in case: status" "$(animfs export "$WORK/names" "$WORK/caseless" >"$WORK/out" 2>&1; echo $?)" 1
like "and both are named" "$(<"$WORK/out")" 'Ranger\.canm: the folder of this name is that of "ranger\.canm"'

mkdir "$WORK/forms"
cp "$F" "$WORK/forms/$(printf 'Za\xcc\x88hne.canm')"
ok "a file with marks apart in its name is exported" animfs export "$WORK/forms" "$WORK/formless"
mv "$WORK"/forms/*.canm "$WORK/forms/Zähne.canm"
mv "$WORK"/formless/*.canm "$WORK/formless/Zähne.canm"
like "one whose name looks the same is not: the message has the code points" \
	"$(animfs export "$WORK/forms" "$WORK/formless" 2>&1)" \
	'is that of "[^"]*" \(it is written Za<U\+0308>hne\.canm and not Z<U\+00E4>hne\.canm\)'

# ---- files of other programs ----

mkdir "$WORK/other"
head -c 5000 /dev/zero >"$WORK/other/zeros.006"
head -c 4096 /dev/zero >"$WORK/other/zeros.anm"
head -c 400 /dev/zero >"$WORK/other/zeros.animation"
for ((i = 0; i < 40; i++)); do echo '2026-01-01 started'; done >"$WORK/other/log.006"
for file in "$WORK"/other/*; do
	is "${file##*/} is no animation" "$(animfs check "$file" >/dev/null 2>&1; echo $?)" 1
done
like "a log is not called an Overwatch file" "$(animfs check "$WORK/other/log.006" 2>&1)" \
	'log\.006:0x2: this is not the header of an animation'
