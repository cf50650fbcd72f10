#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# files_staged.sh - a folder with raw.* under the name of an animation file becomes that file: copied
# within the mount, out of it and back, with edits, of every format; without raw.* it stays a folder.
. "$(dirname "$0")/lib.sh"
cp tests/data/canm/{wiki512,edf6_768,nan512}.canm "$SRC"
cp tests/data/owanim/small.006 tests/data/ff9anim/frames007_low.ff9anim tests/data/ribbon/duplicate.anm \
	tests/data/cas/v203.cas "$SRC"
originals=("$SRC"/*)
mkdir "$SRC/sub"
mount_stopped

became() { [ -f "$SRC/$1" ]; }
like_file() { after 2000 cmp -s "$SRC/$1" "$SRC/$2"; }
nothing_aside() { [ -z "$(find "$SRC" -name '.animfs-*')" ]; }
nothing_left()
{
	nothing_aside && [ -z "$(find "$SRC/.animfs" -type f ! -path '*/mounts/*' ! -path '*/history/*' \
		! -name README ! -name lock)" ]
}

kill_mount()
{
	kill -KILL "${DAEMON[$MNT]}"
	wait "${DAEMON[$MNT]}" 2>/dev/null
	unset "DAEMON[$MNT]"
	fusermount3 -u "$MNT" || umount -l "$MNT"
}

for file in "${originals[@]}"; do
	name=${file##*/}
	copy=copy.${name##*.}
	[[ ! -e $MNT/$copy ]] || copy=copy2.${name##*.}
	[[ ! -e $MNT/$copy ]] || copy=copy3.${name##*.}
	ok "$name: cp -r within the mount" cp -r "$MNT/$name" "$MNT/$copy"
	ok "$name: is the same file when the batch is over" like_file "$copy" "$name"
	ok "$name: shown as one" test -f "$MNT/$copy/file.json"
	ok "$name: cp -r out of the mount" cp -r "$MNT/$name" "$WORK/$name"
	ok "$name: and back under a new name" cp -r "$WORK/$name" "$MNT/sub/$copy"
	ok "$name: is the same file, too" like_file "sub/$copy" "$name"
done
ok "nothing is left" after 0 nothing_left
is "and nothing was refused" "$(<"$MNT/.animfs/errors")" ""

ok "with a cell edited outside" sed -i 's/1\.5,-2/2.5,-2/' "$WORK/wiki512.canm/walk/bones/Bone01.csv"
ok "by tar" sh -c "mkdir '$WORK/t' && cp -r '$WORK/wiki512.canm' '$WORK/t/tar.canm' && tar -C '$WORK/t' -c tar.canm | tar -C '$MNT/sub' -x"
ok "by rsync" rsync -a "$WORK/wiki512.canm/" "$MNT/sub/rsync.canm"
ok "both are files" after 2000 became sub/rsync.canm
ok "both" became sub/tar.canm
cp "$SRC/wiki512.canm" "$WORK/wanted.canm"
"$ANIMFS" put "$WORK/wanted.canm/walk/bones/Bone01.csv" <"$WORK/wiki512.canm/walk/bones/Bone01.csv"
ok "that edit and nothing else" cmp "$WORK/wanted.canm" "$SRC/sub/tar.canm"
ok "in both" cmp "$WORK/wanted.canm" "$SRC/sub/rsync.canm"
is "and nothing was refused" "$(find "$SRC/.animfs/rejected" -type f 2>/dev/null)" ""

ok "without the raw bytes" rm "$WORK/wiki512.canm/raw.canm"
ok "by cp -r" cp -r "$WORK/wiki512.canm" "$MNT/made.canm"
ok "it stays a folder, and the reason is told" after 2000 \
	grep -q 'made.canm: not an animation yet: there is no raw.canm.*animfs import' "$MNT/.animfs/errors"
ok "with all that is in it" diff -r "$WORK/wiki512.canm" "$MNT/made.canm"
fails "sync says that it is none" sync "$MNT/made.canm"
ok "once raw.canm is in it" cp "$MNT/wiki512.canm/raw.canm" "$MNT/made.canm/raw.canm"
cd "$MNT/made.canm/walk" || exit 1
ok "it is a file" after 2000 became made.canm
like "with the edit" "$("$ANIMFS" cat "$SRC/made.canm/walk/bones/Bone01.csv")" '0,0,2\.5,-2'
ok "whoever is in it stays there" grep -q '"clip": "walk"' clip.json
cd - >/dev/null || exit 1
fails "and nothing is told" grep made.canm "$MNT/.animfs/errors"
cp -r "$WORK/wiki512.canm/walk" "$WORK/more"
echo note >"$WORK/more/note"
ok "a clip beside raw.canm that it lacks" sh -c "mkdir '$MNT/more.canm' && cp '$MNT/wiki512.canm/raw.canm' '$MNT/more.canm' && cp -r '$WORK/more' '$MNT/more.canm'"
ok "is one of the file" after 2000 became more.canm
is "a further one" "$("$ANIMFS" ls "$SRC/more.canm" | grep -c /)" $(($("$ANIMFS" ls "$SRC/wiki512.canm" | grep -c /) + 1))
is "what is no text is there still" "$(<"$MNT/more.canm/more/note")" note
ok "raw bytes that are no animation, beside clips" sh -c "mkdir '$MNT/sub/odd.canm' && echo none >'$MNT/sub/odd.canm/raw.canm' && cp -r '$WORK/wiki512.canm/walk' '$MNT/sub/odd.canm'"
ok "are told" after 2000 grep -q 'sub/odd.canm: not an animation yet: ' "$MNT/.animfs/errors"
ok "and the folder stays" grep -qx none "$MNT/sub/odd.canm/raw.canm"
ok "and is removed" rm -r "$MNT/sub/odd.canm"

ok "an ordinary folder of such a name" mkdir "$MNT/sub/plain.canm"
echo text >"$MNT/sub/plain.canm/text"
cp "$SRC/wiki512.canm" "$MNT/sub/plain.canm/a.canm"
advance 3000
ok "stays one" test -d "$SRC/sub/plain.canm"
ok "in which animations are shown" test -d "$MNT/sub/plain.canm/a.canm/walk"
ok "rm -r while it is filled" sh -c "cp -r '$MNT/wiki512.canm' '$MNT/sub/gone.canm' && rm -r '$MNT/sub/gone.canm'"
ok "renamed while it is filled" sh -c "cp -r '$MNT/wiki512.canm' '$MNT/sub/early.canm' && mv '$MNT/sub/early.canm' '$MNT/sub/late.canm'"
ok "it is a file by its new name" like_file sub/late.canm wiki512.canm
fails "and nothing by the old ones" ls -d "$SRC/sub/early.canm" "$SRC/sub/gone.canm"
fails "an animation's folder does not go into another's" cp -r "$MNT/edf6_768.canm" "$MNT/wiki512.canm"
# Names as long as any, and so that the state directory cannot store them otherwise.
repeat() { printf "$1%.0s" $(seq "$2"); }
long=$(repeat x 250).canm
for name in "$long" "$(repeat 日 83).canm" "$(repeat '\xff' 250).canm"; do
	ok "a name of $(printf %s "$name" | wc -c) bytes" cp -r "$MNT/wiki512.canm" "$MNT/sub/$name"
	ok "is the same file" like_file "sub/$name" wiki512.canm
	ok "which takes ordinary files" sh -c "echo note >'$MNT/sub/$name/note'"
	is "and has them" "$(<"$MNT/sub/$name/note")" note
	ok "renamed" mv "$MNT/sub/$name" "$MNT/sub/renamed.canm"
	is "they go with it" "$(<"$MNT/sub/renamed.canm/note")" note
	ok "and removed" rm -r "$MNT/sub/renamed.canm"
done
ok "nothing is left aside" nothing_aside
ok "rm -r of a file and cp -r in its place" sh -c "cp -r '$MNT/edf6_768.canm' '$WORK/q' && rm -r '$MNT/edf6_768.canm' && cp -r '$WORK/q' '$MNT/edf6_768.canm'"
ok "is the same file" after 2000 cmp -s "$SRC/edf6_768.canm" tests/data/canm/edf6_768.canm

cp -r "$MNT/wiki512.canm" "$WORK/slip"
sed -i 's/"version": 512/"version": 513/' "$WORK/slip/file.json"
printf 'bone,parent\nBone01,nobody\n' >"$WORK/slip/skeleton.csv"
ok "texts of the file that are wrong" cp -r "$WORK/slip" "$MNT/sub/slip.canm"
ok "leave the file" like_file sub/slip.canm wiki512.canm
ok "and are kept" cmp -s "$WORK/slip/file.json" "$MNT/sub/slip.canm/file.json.rejected"
ok "each with its reason" grep -q ':2:8: there is no bone "nobody"' "$MNT/sub/slip.canm/skeleton.csv.error"
fails "and come to nothing" test -e "$SRC/sub/slip.canm.skeleton.csv"

ok "filled and unmounted" cp -r "$MNT/wiki512.canm" "$MNT/sub/last.canm"
umount_animfs
ok "is a file" cmp "$SRC/wiki512.canm" "$SRC/sub/last.canm"
mount_stopped
# By two programs, so that it is a folder until the clock is moved.
fill() { mkdir "$2" && cp -r "$1/." "$2"; }
ok "filled, and the daemon killed" fill "$MNT/wiki512.canm" "$MNT/sub/killed.canm"
kill_mount
ok "is a folder" test -d "$SRC/sub/killed.canm"
# What a kill leaves while the file is put in the folder's place.
set_aside()
{
	mkdir -p "$SRC/.animfs/mounts"
	printf 'sub\0' >"$SRC/.animfs/mounts/0123456789abcdef"
	mv "$SRC/sub/killed.canm" "$SRC/sub/.animfs-0123456789abcdef-to-killed.canm"
}
set_aside
mount_stopped
ok "before the next mount" after 0 cmp -s "$SRC/wiki512.canm" "$SRC/sub/killed.canm"
ok "nothing is left aside" nothing_aside

if has_faults; then
	umount_animfs
	LD_PRELOAD=$FAULTS FAULT=$WORK/fault mount_stopped -o unconfined
	ok "filled once more" fill "$MNT/wiki512.canm" "$MNT/sub/faulty.canm"
	echo "rename kill $SRC/sub 2" >"$WORK/fault"
	fails "the daemon is killed with the folder aside" sync "$MNT/sub/faulty.canm"
	rm "$WORK/fault"
	kill_mount
	fails "it is aside" nothing_aside
	mount_stopped
	ok "the next mount makes the file" after 0 cmp -s "$SRC/wiki512.canm" "$SRC/sub/faulty.canm"
	ok "nothing is left aside" nothing_aside
fi

rm "$SRC/sub/killed.canm"
cp -r "$MNT/wiki512.canm" "$WORK/theirs"
fill "$WORK/theirs" "$MNT/sub/killed.canm"
kill_mount
set_aside
cp "$SRC/nan512.canm" "$SRC/sub/killed.canm"
echo notes >"$SRC/sub/killed.canm.~1~"
before=$(stat -c %i:%Y "$SRC/sub/killed.canm")
mount_animfs
ok "a file that came by the name before the next mount stays" cmp "$SRC/nan512.canm" "$SRC/sub/killed.canm"
is "that very file" "$(stat -c %i:%Y "$SRC/sub/killed.canm")" "$before"
ok "and is shown" test -f "$MNT/sub/killed.canm/file.json"
ok "the folder is beside it, with all its texts" diff -r "$WORK/theirs" "$SRC/sub/killed.canm.~2~"
is "what was there stays, too" "$(<"$SRC/sub/killed.canm.~1~")" notes
umount_animfs
mount_animfs
ok "the mount after that leaves all of it" test -f "$SRC/sub/killed.canm" -a -d "$SRC/sub/killed.canm.~2~"
umount_animfs
