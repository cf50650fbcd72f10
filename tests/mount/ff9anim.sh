#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# ff9anim.sh - Final Fantasy IX blocks: edits are laid out as in the game's own files, a low table is added
# when an angle needs one, and the number of bones comes from an option or a model.
. "$(dirname "$0")/lib.sh"

# block WORD0 LOW X,Y,Z... -- ANGLES... writes a block as the game has them: the translation of each
# frame, then for each bone and axis its angles, one a frame.
block()
{
	python3 - "$@" <<'PYTHON'
import struct, sys

word0, low, cut = int(sys.argv[1]), int(sys.argv[2]), sys.argv.index("--")
places = [[int(n) for n in text.split(",")] for text in sys.argv[3:cut]]
angles = [[int(n) for n in text.split(",")] for text in sys.argv[cut + 1:]]
frames = len(places)

def pad(data):
    return data + bytes(-len(data) % 4)

# Records for streams that begin at `at`, and these.
def table(parts, at, one, many):
    records, streams = b"", b""
    for bone in range(0, len(parts), 3):
        fields, mask = [], 0
        for axis, part in enumerate(parts[bone:bone + 3]):
            if len(set(part)) == 1:
                fields.append(one(part[0]) & 0xFFFF)
                mask |= 1 << axis
            else:
                fields.append(at + len(streams))
                streams += many(part)
        records += struct.pack("<4H", *fields, mask)
    return records, streams

def nibbles(part):
    part = part + [0]
    return bytes(part[i] | part[i + 1] << 4 for i in range(0, frames, 2))

size = 8 * len(angles) // 3
head, data = table(list(zip(*places)), 0x14, lambda v: v, lambda p: struct.pack("<%dh" % frames, *p))
data = pad(bytes(0x14) + data)
tables = [len(data), 0]
records, streams = table([[a >> 4 for a in p] for p in angles], len(data) + size,
    lambda v: v - 256 if v > 127 else v, bytes)
data = pad(data + records + streams)
if low:
    tables[1] = len(data)
    records, streams = table([[a & 15 for a in p] for p in angles], len(data) + size,
        lambda v: v, nibbles)
    data = pad(data + records + streams)
sys.stdout.buffer.write(struct.pack("<2H", word0, frames) + head + struct.pack("<2I", *tables) + data[0x14:])
PYTHON
}

places=('-1,2,300' '-1,2,400' '-1,2,-500')
still=('16,16,16' '4080,4080,4080' '0,0,0')
block 0 0 "${places[@]}" -- 1024,1040,1056 0,0,0 2048,2048,2048 "${still[@]}" >"$SRC/walk.ff9anim"
cp "$SRC/walk.ff9anim" "$WORK/walk"
mkdir "$SRC/model"
block 0 0 1,2,3 -- "${still[@]//,*/}" >"$SRC/still.bin"
printf 'end' >>"$SRC/still.bin"
cp "$SRC/still.bin" "$SRC/model/still.ff9anim"
mount_animfs --type '*.bin=ff9anim:1'

bones=$MNT/walk.ff9anim/walk/bones
is "angles are exact" "$(<"$bones/bone_000.csv")" "frame,time,tx,ty,tz,rx,ry,rz
0,0,-1,2,300,90,0,180
1,0.033333,-1,2,400,91.40625,0,180
2,0.066667,-1,2,-500,92.8125,0,180"
is "only the first bone is placed" "$(head -n1 "$bones/bone_001.csv")" "frame,time,rx,ry,rz"
ok "raw.ff9anim holds the block" cmp "$MNT/walk.ff9anim/raw.ff9anim" "$WORK/walk"

ok "an edit between high steps" sed -i 's/91\.40625/-268.5/' "$bones/bone_000.csv"
block 0 1 "${places[@]}" -- 1024,1041,1056 0,0,0 2048,2048,2048 "${still[@]}" >"$WORK/want"
ok "makes a low table" cmp "$SRC/walk.ff9anim" "$WORK/want"
ok "an edit that needs none" sed -i 's/-268\.5/91.40625/' "$bones/bone_000.csv"
block 0 1 "${places[@]}" -- 1024,1040,1056 0,0,0 2048,2048,2048 "${still[@]}" >"$WORK/want"
ok "leaves it there" cmp "$SRC/walk.ff9anim" "$WORK/want"
fails "a translation past 16 bits" sed -i 's/,400,/,40000,/' "$bones/bone_000.csv"
like "says what can be stored" "$(<"$bones/bone_000.csv.error")" '-32768 to 32767'
fails "a bone without rotations" sh -c "sed 's/,[^,]*,[^,]*,[^,]*\$/,,,/;1s/.*/frame,time,rx,ry,rz/' '$bones/bone_001.csv' >'$WORK/none' && cp '$WORK/none' '$bones/bone_001.csv'"
ok "nothing of that is in the binary" cmp "$SRC/walk.ff9anim" "$WORK/want"

clip=$MNT/walk.ff9anim/walk/clip.json
like "the clip" "$(<"$clip")" '"frames": 3, "time_unit": "1/30 s"'
ok "clip.json: fewer frames" sed -i 's/"frames": 3/"frames": 2/' "$clip"
block 0 1 "${places[@]:0:2}" -- 1024,1040 0,0 2048,2048 "${still[@]%,*}" >"$WORK/want"
ok "are in the binary" cmp "$SRC/walk.ff9anim" "$WORK/want"
ok "clip.json: word0" sed -i 's/"word0": 0/"word0": 258/' "$clip"
block 258 1 "${places[@]:0:2}" -- 1024,1040 0,0 2048,2048 "${still[@]%,*}" >"$WORK/want"
ok "is in the binary" cmp "$SRC/walk.ff9anim" "$WORK/want"
ok "clip.json: the last bone taken out" sed -i 's/"bone_000"},/"bone_000"}/; /bone_001/d' "$clip"
block 258 1 "${places[@]:0:2}" -- 1024,1040 0,0 2048,2048 >"$WORK/want"
ok "is gone from the binary" cmp "$SRC/walk.ff9anim" "$WORK/want"
fails "a bone is known by its place" sed -i 's/{"bone": "bone_000", "name": "bone_000"}/{"bone": "bone_005", "was": "bone_000"}/' "$clip"
like "says so" "$(<"$clip.error")" 'identified by their place'

ok "a number of bones by --type" test -d "$MNT/still.bin/still/bones"
ok "is missing elsewhere" test -f "$MNT/model/still.ff9anim"
like "and said to be" "$(getfattr --absolute-names --only-values -n user.animfs.error "$MNT/model/still.ff9anim")" \
	'how many bones it has: give the number with --type'
python3 -c 'import sys; sys.stdout.buffer.write(bytes([0, 0, 1]) + bytes(21))' >"$SRC/model/any.ff9model"
ok "a model beside it says it" wait_for 4 test -d "$MNT/model/still.ff9anim"
is "with one bone" "$(cd "$MNT/model/still.ff9anim/still/bones" && echo *.csv)" bone_000.csv
umount_animfs
