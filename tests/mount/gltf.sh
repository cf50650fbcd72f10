#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# gltf.sh - a clip.gltf that was edited elsewhere is saved over the view, as text or as .glb: the keys are
# in the binary, and nothing else is; one that cannot be saved is refused with a reason.
. "$(dirname "$0")/lib.sh"
SAMPLE=tests/data/canm/wiki512.canm
SMALL=tests/data/owanim/small.006
mount_animfs

# move [--glb] BONE PATH KEY AXIS VALUE: the clip's glTF with one number of a bone's keys as VALUE,
# or with its times twice as late (KEY "late"); as text or as .glb.
cat >"$WORK/move.py" <<'END'
import base64, json, struct, sys

binary = sys.argv[1] == "--glb"
bone, path, key, axis, value = sys.argv[-5:]
gltf = json.load(sys.stdin)
animation = gltf["animations"][0]
data = bytearray(base64.b64decode(gltf["buffers"][0]["uri"].split(",")[1]))


def numbers(accessor):
    accessor = gltf["accessors"][accessor]
    width = {"SCALAR": 1, "VEC3": 3, "VEC4": 4}[accessor["type"]]
    return accessor["byteOffset"], accessor["count"], width


for channel in animation["channels"]:
    sampler = animation["samplers"][channel["sampler"]]
    node = gltf["nodes"][channel["target"]["node"]]["name"]
    if (node, channel["target"]["path"]) != (bone, path):
        continue
    if key == "late":
        at, count, _ = numbers(sampler["input"])
        times = [2 * t for t in struct.unpack_from(f"<{count}f", data, at)]
        struct.pack_into(f"<{count}f", data, at, *times)
    else:
        at, count, width = numbers(sampler["output"])
        struct.pack_into("<f", data, at + 4 * (int(key) * width + int(axis)), float(value))
if binary:
    del gltf["buffers"][0]["uri"]
    text = json.dumps(gltf).encode()
    text += b" " * (-len(text) % 4)
    data += bytes(-len(data) % 4)
    chunks = struct.pack("<I4s", len(text), b"JSON") + text
    chunks += struct.pack("<I4s", len(data), b"BIN\0") + data
    sys.stdout.buffer.write(struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks)
else:
    uri = "data:application/octet-stream;base64," + base64.b64encode(data).decode()
    gltf["buffers"][0]["uri"] = uri
    json.dump(gltf, sys.stdout)
END
move() { python3 "$WORK/move.py" "$@" <"$CLIP/clip.gltf" >"$WORK/moved.gltf"; }

fresh()
{
	cp "$SAMPLE" "$SRC/$1.canm"
	FILE=$SRC/$1.canm
	CLIP=$MNT/$1.canm/walk
}
changed()
{
	diff <("$ANIMFS" cat "$SAMPLE/walk/curves.csv") <("$ANIMFS" cat "$FILE/walk/curves.csv") |
		sed -n 's/^> *//p'
}

fresh text
before=$(stat -c %y "$FILE")
cp "$CLIP/clip.gltf" "$WORK/own"
ok "its own text comes back" cp "$WORK/own" "$CLIP/clip.gltf"
is "which writes nothing" "$(stat -c %y "$FILE")" "$before"
move hip translation 1 1 -1
ok "an edited one is saved" cp "$WORK/moved.gltf" "$CLIP/clip.gltf"
is "as the one key that it is" "$(changed)" "hip,translation,1,0.033333,0.5000076,-1,2.00001,"
like "the table says so" "$(<"$CLIP/bones/hip.csv")" $'\n1,0.033333,0.5000076,-1,2.00001,'
ok "the other clips are as they were" diff <("$ANIMFS" cat "$SAMPLE/Idle/curves.csv") \
	<("$ANIMFS" cat "$FILE/Idle/curves.csv")
ok "and the view is its own text again" diff "$CLIP/clip.gltf" <("$ANIMFS" cat "$FILE/walk/clip.gltf")

fresh figure
like "the bones wear a mesh" "$(<"$CLIP/clip.gltf")" '"meshes": .*"inverseBindMatrices": '
is "it is as large as it says" "$(stat -c %s "$CLIP/clip.gltf")" "$(wc -c <"$CLIP/clip.gltf")"
"$ANIMFS" cat --gltf=plain "$FILE/walk/clip.gltf" >"$WORK/plain.gltf"
is "a plain one has none" "$(grep -c -e '"meshes"' -e inverseBindMatrices "$WORK/plain.gltf")" 0
ok "it is saved over the other" cp "$WORK/plain.gltf" "$CLIP/clip.gltf"
python3 - "$CLIP/clip.gltf" >"$WORK/moved.gltf" <<'END'
import json, sys

gltf = json.load(open(sys.argv[1]))
mesh = gltf["nodes"][-1]
assert mesh["mesh"] == 0, mesh
mesh["translation"] = [1, 2, 3]
gltf["meshes"][0]["primitives"][0]["mode"] = 0
json.dump(gltf, sys.stdout)
END
ok "so is one whose mesh was edited" cp "$WORK/moved.gltf" "$CLIP/clip.gltf"
ok "neither changes the file" cmp "$FILE" "$SAMPLE"
"$ANIMFS" export --gltf=plain "$SRC" "$WORK/exported"
ok "export writes plain ones" cmp "$WORK/plain.gltf" "$WORK/exported/figure.canm/walk/clip.gltf"
fails "there is no third form" "$ANIMFS" cat --gltf=bones "$FILE/walk/clip.gltf"

fresh binary
move --glb Bone01 scale 2 0 1.5
ok "a .glb is saved" cp "$WORK/moved.gltf" "$CLIP/clip.gltf"
like "with its edit" "$(changed)" $'(^|\n)Bone01,scale,2,0.066667,1.5,'
is "and nothing else" "$(changed | grep -vc ^Bone01,scale)" 0
is "and the view is text" "$(head -c 1 "$CLIP/clip.gltf")" "{"

fresh rename
move Bone01 translation 0 2 0.75
cp "$WORK/moved.gltf" "$CLIP/.clip.gltf.new"
ok "a file is renamed onto the view" mv "$CLIP/.clip.gltf.new" "$CLIP/clip.gltf"
is "which is the same" "$(changed)" "Bone01,translation,0,0,1.5,-2,0.75,"

fresh put
move hip translation 2 0 0
ok "animfs put saves it too" sh -c "'$ANIMFS' put '$FILE/walk/clip.gltf' <'$WORK/moved.gltf'"
is "in the file" "$(changed)" "hip,translation,2,0.066667,0,-1,2.65535,"

fresh refused
move hip translation late 0 0
fails "keys past the end are refused" cp "$WORK/moved.gltf" "$CLIP/clip.gltf"
ok "the file is as it was" cmp "$FILE" "$SAMPLE"
ok "the text is kept" cmp "$WORK/moved.gltf" "$CLIP/clip.gltf.rejected"
like "and the reason says what to edit" "$(<"$CLIP/clip.gltf.error")" 'the motion ends at 0.133333 s, in frame 4.*clip.json'
rm "$CLIP"/clip.gltf.{rejected,error}
sed 's/"name": "hip"/"name": "hips"/; s/"name": "[SB]/&x/; s/"name": "右/&x/' "$CLIP/clip.gltf" >"$WORK/moved.gltf"
fails "bones of other names are refused" cp "$WORK/moved.gltf" "$CLIP/clip.gltf"
like "and the reason names the right ones" "$(<"$CLIP/clip.gltf.error")" ':5:12: no node has the name.*Scene_Root, Bone01, hip'
rm "$CLIP"/clip.gltf.{rejected,error}
head -c 900 "$WORK/own" >"$CLIP/.half"
fails "half a text is refused" mv "$CLIP/.half" "$CLIP/clip.gltf"
ok "the file is as it was then, too" cmp "$FILE" "$SAMPLE"

cp "$SMALL" "$SRC"
FILE=$SRC/small.006
CLIP=$MNT/small.006/small
move bone_1BB5 translation 1 0 -3
ok "a sparse curve is edited" cp "$WORK/moved.gltf" "$CLIP/clip.gltf"
is "and keeps its keys where they are" "$(diff <("$ANIMFS" cat "$SMALL/small/curves.csv") \
	<("$ANIMFS" cat "$FILE/small/curves.csv") | sed -n 's/^> *//p')" \
	"bone_1BB5,translation,3,0.1,-3,-2.3531814,-1.2545826,"

cp tests/data/ribbon/frames030.anm "$SRC"
CLIP=$MNT/frames030.anm/frames030
cp "$CLIP/clip.gltf" "$WORK/own"
ok "what Vib-Ribbon says there comes back" cp "$WORK/own" "$CLIP/clip.gltf"
move object_000 translation 0 0 5
fails "but is for reading" cp "$WORK/moved.gltf" "$CLIP/clip.gltf"
like "and the reason says where it is edited" "$(<"$CLIP/clip.gltf.error")" 'bones/object_000.csv'
ok "the file is as it was, also there" cmp tests/data/ribbon/frames030.anm "$SRC/frames030.anm"
umount_animfs

# plain WORD...: a mount with these options.
plain()
{
	mount_animfs "$@"
	CLIP=$MNT/figure.canm/walk
	ok "$*: a plain mount shows the plain one" cmp "$WORK/plain.gltf" "$CLIP/clip.gltf"
	is "$*: as large as it says" "$(stat -c %s "$CLIP/clip.gltf")" "$(wc -c <"$CLIP/clip.gltf")"
	ok "$*: and takes the other" cp "$WORK/figure.gltf" "$CLIP/clip.gltf"
	ok "$*: which changes nothing" cmp "$SRC/figure.canm" "$SAMPLE"
	umount_animfs
}
"$ANIMFS" cat "$SRC/figure.canm/walk/clip.gltf" >"$WORK/figure.gltf"
plain --gltf=plain
plain -o gltf=plain
