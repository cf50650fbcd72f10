#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# gltf_rate.sh - a clip.gltf or clip.bvh that a program wrote at another frame rate than the clip's is
# refused, and says both rates; --gltf-rate=resample takes it.
. "$(dirname "$0")/lib.sh"
SAMPLE=tests/data/ff9anim/frames256_low.ff9anim
NAME=frames256_low

# rewrite [--glb] RATE [DEGREES]: the clip's glTF with a key in each frame of another rate, as a
# program that plays it at that rate exports it, and the last bone turned by that much in all of
# them.
cat >"$WORK/rewrite.py" <<'END_OF_PYTHON'
import base64, json, math, struct, sys

arguments = sys.argv[1:]
binary = arguments[0] == "--glb"
rate = float(arguments[binary])
degrees = float(arguments[binary + 1]) if len(arguments) > binary + 1 else 0
gltf = json.load(sys.stdin)
data = base64.b64decode(gltf["buffers"][0]["uri"].split(",")[1])
out = bytearray()
accessors = []


def numbers(index):
    accessor = gltf["accessors"][index]
    width = {"SCALAR": 1, "VEC3": 3, "VEC4": 4}[accessor["type"]]
    flat = struct.unpack_from(f"<{accessor['count'] * width}f", data, accessor["byteOffset"])
    return [flat[i : i + width] for i in range(0, len(flat), width)]


def add(rows, kind):
    accessors.append({"bufferView": 0, "byteOffset": len(out), "componentType": 5126,
                      "count": len(rows), "type": kind})
    for row in rows:
        out.extend(struct.pack(f"<{len(row)}f", *row))
    return len(accessors) - 1


def at(times, values, time):
    i = next((i for i in range(len(times) - 1) if times[i + 1] > time), len(times) - 1)
    if i == len(times) - 1 or time <= times[i]:
        return values[i]
    part = (time - times[i]) / (times[i + 1] - times[i])
    row = [a + (b - a) * part for a, b in zip(values[i], values[i + 1])]
    size = math.hypot(*row) if len(row) == 4 else 1
    return [x / size for x in row]


animation = gltf["animations"][0]
samplers = [(numbers(s["input"]), numbers(s["output"])) for s in animation["samplers"]]
end = max(times[-1][0] for times, _ in samplers)
frames = [(frame / rate,) for frame in range(int(end * rate + 1e-4) + 1)]
last = max(c["target"]["node"] for c in animation["channels"] if c["target"]["path"] == "rotation")
for sampler, (times, values) in zip(animation["samplers"], samplers):
    flat = [t for t, in times]
    rows = [at(flat, values, time) for time, in frames]
    turned = {c["target"]["node"] for c in animation["channels"]
              if animation["samplers"][c["sampler"]] is sampler and c["target"]["path"] == "rotation"}
    if last in turned and degrees:
        s, c = math.sin(math.radians(degrees) / 2), math.cos(math.radians(degrees) / 2)
        rows = [(x * c + w * s, y * c + z * s, z * c - y * s, w * c - x * s) for x, y, z, w in rows]
    sampler["input"] = add(frames, "SCALAR")
    sampler["output"] = add(rows, "VEC4" if len(rows[0]) == 4 else "VEC3")
for mesh in ("meshes", "skins"):
    gltf.pop(mesh, None)
for node in gltf["nodes"]:
    node.pop("mesh", None)
    node.pop("skin", None)
gltf["accessors"] = accessors
gltf["bufferViews"] = [{"buffer": 0, "byteLength": len(out)}]
gltf["buffers"] = [{"byteLength": len(out)}]
if binary:
    text = json.dumps(gltf).encode()
    text += b" " * (-len(text) % 4)
    chunks = struct.pack("<I4s", len(text), b"JSON") + text
    chunks += struct.pack("<I4s", len(out), b"BIN\0") + out
    sys.stdout.buffer.write(struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks)
else:
    uri = "data:application/octet-stream;base64," + base64.b64encode(out).decode()
    gltf["buffers"][0]["uri"] = uri
    json.dump(gltf, sys.stdout, indent=1)
END_OF_PYTHON
rewrite() { python3 "$WORK/rewrite.py" "$@" <"$WORK/own.gltf"; }

cp "$SAMPLE" "$SRC"
FILE=$SRC/$NAME.ff9anim
CLIP=$MNT/$NAME.ff9anim/$NAME
F=$CLIP/clip.gltf
"$ANIMFS" cat --rate=ff9anim=60 "$FILE/$NAME/clip.gltf" >"$WORK/own.gltf"
rewrite 24 >"$WORK/at24.gltf"
rewrite --glb 24 >"$WORK/at24.glb"
rewrite 60 >"$WORK/at60.gltf"
rewrite 120 >"$WORK/at120.gltf"
rewrite 60 30 >"$WORK/turned60.gltf"
rewrite 24 30 >"$WORK/turned24.gltf"
again() { cp "$SAMPLE" "$FILE"; }
# refused NAME TEXT: it is not saved, is kept, and says which rates.
refused()
{
	fails "$1: it is refused" cp "$2" "$F"
	ok "$1: the file is as it was" cmp "$FILE" "$SAMPLE"
	ok "$1: the text is kept" cmp "$2" "$F.rejected"
	like "$1: both rates are said" "$(<"$F.error")" "$3"
	rm "$F.rejected" "$F.error"
}

# ---- as it comes ----

mount_animfs --rate=ff9anim=60
is "the clip has 60 frames a second" "$(grep -o '"fps": [0-9]*' "$F")" '"fps": 60'
refused "24" "$WORK/at24.gltf" \
	'clip.gltf:[0-9]+:[0-9]+: these keys \(accessor [0-9]+\) were written at 24 frames a second, and the clip has 60: '
cp "$WORK/at24.gltf" "$F" 2>/dev/null
like "where to set it" "$(<"$F.error")" 'keys at 60 frames a second: in Blender, .*Output Properties > Frame Rate'
like "and what takes it" "$(<"$F.error")" '--gltf-rate=resample'
rm "$F.rejected" "$F.error"
refused "24, binary" "$WORK/at24.glb" 'at 24 frames a second, and the clip has 60: '
refused "24, edited" "$WORK/turned24.gltf" 'at 24 frames a second, and the clip has 60: '
ok "its own text is taken" cp "$WORK/own.gltf" "$F"
ok "and one at its own rate" cp "$WORK/at60.gltf" "$F"
ok "and one at the double" cp "$WORK/at120.gltf" "$F"
ok "which change nothing" cmp "$FILE" "$SAMPLE"
ok "an edit at its own rate is taken" cp "$WORK/turned60.gltf" "$F"
fails "and is one" cmp "$FILE" "$SAMPLE"
umount_animfs

# ---- as it is asked for ----

# taken SPELLING OPTION...: a mount that resamples.
taken()
{
	local name=$1
	shift
	again
	mount_animfs --rate=ff9anim=60 "$@"
	ok "$name: a text at 24 is taken" cp "$WORK/turned24.gltf" "$F"
	fails "$name: and changes the file" cmp "$FILE" "$SAMPLE"
	ok "$name: nothing is kept beside it" test ! -e "$F.rejected"
	umount_animfs
}
taken "long" --gltf-rate=resample
taken "-o" -o gltf-rate=resample
again
mount_animfs --rate=ff9anim=60 --gltf-rate=match
fails "match is as it comes" cp "$WORK/at24.gltf" "$F"
umount_animfs
rm -rf "$SRC/.animfs"

# ---- without a mount ----

put() { "$ANIMFS" put --rate=ff9anim=60 "$@"; }
again
fails "put refuses it" put "$FILE/$NAME/clip.gltf" "$WORK/at24.gltf"
like "and says why" "$(put "$FILE/$NAME/clip.gltf" "$WORK/at24.gltf" 2>&1)" 'at 24 frames a second, and the clip has 60'
ok "put takes it" put --gltf-rate=resample "$FILE/$NAME/clip.gltf" "$WORK/turned24.gltf"
fails "if there is another word, not" put --gltf-rate=24 "$FILE/$NAME/clip.gltf" "$WORK/at24.gltf"

# A whole tree: import says of which file.
again
"$ANIMFS" export --rate=ff9anim=60 "$SRC" "$WORK/texts"
cp "$WORK/turned24.gltf" "$WORK/texts/$NAME.ff9anim/$NAME/clip.gltf"
fails "import refuses it" "$ANIMFS" import --rate=ff9anim=60 "$WORK/texts" "$SRC"
ok "and the file stays" cmp "$FILE" "$SAMPLE"
ok "import takes it" "$ANIMFS" import --rate=ff9anim=60 --gltf-rate=resample "$WORK/texts" "$SRC"
fails "as an edit" cmp "$FILE" "$SAMPLE"

# ---- BVH ----

again
"$ANIMFS" cat --rate=ff9anim=60 "$FILE/$NAME/clip.bvh" >"$WORK/own.bvh"
sed 's/^Frame Time: .*/Frame Time: 0.041667/; $s/[^ ]*$/45/' "$WORK/own.bvh" >"$WORK/at24.bvh"
why=$(put "$FILE/$NAME/clip.bvh" "$WORK/at24.bvh" 2>&1)
like "a BVH says so, too" "$why" 'these rows were written at 23.9998 frames a second, and the clip has 60'
like "and where it is set" "$why" 'Update Scene FPS'
ok "its file is as it was" cmp "$FILE" "$SAMPLE"
ok "it is taken where that is asked for" put --gltf-rate=resample "$FILE/$NAME/clip.bvh" "$WORK/at24.bvh"
fails "as an edit that it is" cmp "$FILE" "$SAMPLE"
