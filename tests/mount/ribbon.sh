#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# ribbon.sh - Vib-Ribbon files: a folder each; edits of clip.json are in the binary, and bytes that no text
# shows are kept.
. "$(dirname "$0")/lib.sh"

# file WORD2 GAP REST FRAME... writes a file; a FRAME is "OBJECT:FLAGS:NUMBER,NUMBER... ...".
file()
{
	python3 - "$@" <<'PYTHON'
import struct, sys

word2, gap, rest = int(sys.argv[1]), bytes.fromhex(sys.argv[2]), bytes.fromhex(sys.argv[3])
frames = []
for text in sys.argv[4:]:
    frame = b""
    for key in text.split():
        object, flags, numbers = key.split(":")
        numbers = [int(n) for n in numbers.split(",") if n]
        frame += struct.pack("<BB%dh" % len(numbers), int(object), int(flags), *numbers)
    frames.append(frame)
places = [8 + 2 * len(frames) + len(gap)]
for frame in frames:
    places.append(places[-1] + len(frame))
sys.stdout.buffer.write(struct.pack("<3H", 0x8000, word2, len(frames))
    + b"".join(struct.pack("<H", p // 2) for p in places) + gap + b"".join(frames) + rest)
PYTHON
}

# Several keyframes of an object in a frame, one without parts, an empty frame, a gap, odd bytes.
first='7:129:4096,-1024,1 2:0: 7:6:4096,2048,-4096,10,-20,30'
last='200:7:1,2,3,4,5,6,7,8,9 2:4:-1,-2,-3'
file 15 abcdabcd 010203 "$first" '' "$last" >"$SRC/dance.anm"
cp tests/data/ribbon/*.anm "$SRC"
cp "$SRC/dance.anm" "$WORK/dance.anm"
mount_animfs

ok "a file's own bytes" cmp "$MNT/dance.anm/raw.anm" "$WORK/dance.anm"
is "one clip, named after the file" "$(ls "$MNT/dance.anm")" "$(printf '%s\n' dance file.json raw.anm skeleton.csv)"
is "bones by their numbers" "$(cd "$MNT/dance.anm/dance/bones" && echo *.csv)" \
	"object_002.csv object_007.csv object_200.csv"
is "stills of every frame" "$(ls "$MNT/dance.anm/dance/frames" | wc -l)" 3
for sample in tests/data/ribbon/*.anm; do
	name=${sample##*/}
	case $name in
	bad_*) ok "$name stays a file" test -f "$MNT/$name" ;;
	*) ok "$name is a folder" cmp "$MNT/$name/raw.anm" "$sample" ;;
	esac
done

clip=$MNT/dance.anm/dance/clip.json
like "the clip" "$(<"$clip")" '"frames": 3, "time_unit": "1/30 s", "seconds": 0.066667,'
like "has a field of its own" "$(<"$clip")" '"ribbon": \{"word2": 15\}'
fails "no loop" sed -i 's/"frames": 3/"loop": true, "frames": 3/' "$clip"
fails "no word2 past its end" sed -i 's/"word2": 15/"word2": 65536/' "$clip"
like "say why" "$(<"$clip.error")" '65536'
ok "nothing of that is in the binary" cmp "$SRC/dance.anm" "$WORK/dance.anm"

ok "clip.json: word2" sed -i 's/"word2": 15/"word2": 60/' "$clip"
file 60 abcdabcd 010203 "$first" '' "$last" >"$WORK/want"
ok "is in the binary" cmp "$SRC/dance.anm" "$WORK/want"

ok "clip.json: more frames" sed -i 's/"frames": 3/"frames": 5/' "$clip"
file 60 abcdabcd 010203 "$first" '' "$last" '' '' >"$WORK/want"
ok "are empty" cmp "$SRC/dance.anm" "$WORK/want"
ok "stills come along" wait_for 2 test -e "$MNT/dance.anm/dance/frames/frame_00004.x3d"

ok "clip.json: fewer frames" sed -i 's/"frames": 5/"frames": 2/' "$clip"
file 60 abcdabcd 010203 "$first" '' >"$WORK/want"
ok "take what is past the end along" cmp "$SRC/dance.anm" "$WORK/want"
ok "with the bones that were there alone" wait_for 2 test ! -e "$MNT/dance.anm/dance/bones/object_200.csv"

ok "clip.json: a bone's number" sed -i 's/{"bone": "object_002", "name": "object_002"}/{"bone": "object_255", "was": "object_002"}/' "$clip"
file 60 abcdabcd 010203 "${first/ 2:0:/ 255:0:}" '' >"$WORK/want"
ok "is in the binary, in its place" cmp "$SRC/dance.anm" "$WORK/want"
fails "a bone has no name here" sed -i 's/{"bone": "object_255", "name": "object_255"}/{"bone": "hips", "was": "object_255"}/' "$clip"
fails "nor comes one without keyframes" sed -i 's/"bones": \[/"bones": [{"bone": "object_000"},/' "$clip"
ok "the binary stays" cmp "$SRC/dance.anm" "$WORK/want"

ok "raw.anm: another file's bytes" cp tests/data/ribbon/flags7.anm "$MNT/dance.anm/raw.anm"
ok "are the file's" cmp "$SRC/dance.anm" tests/data/ribbon/flags7.anm
fails "raw.anm: bytes that do not decode" cp tests/data/ribbon/bad_decreasing.anm "$MNT/dance.anm/raw.anm"
like "say why" "$(<"$MNT/dance.anm/raw.anm.error")" 'frame 1 ends before it begins'
umount_animfs
