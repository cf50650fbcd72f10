#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""
additive.py same FILE BASE CLIP GLTF   does the glTF show CLIP on BASE, in each frame and bone?
additive.py turn GLTF OUT BONE FRAME   the same glTF with another rotation there
additive.py key A B CLIP BONE FRAME    do the bones of the clip in two files turn alike, but for this one there?
additive.py near A B                   do two glTF move alike, to a hundredth of a degree?

The clips have the same number of frames and the same frame time. Rotations are quaternions x y z w.
"""
import base64
import csv
import io
import json
import math
import os
import struct
import subprocess
import sys

from turning import product, quaternion


def curves(file, clip):
    text = subprocess.run([os.environ["ANIMFS"], "cat", f"{file}/{clip}/curves.csv"], check=True, capture_output=True,
                          text=True).stdout
    out = {}
    for row in csv.DictReader(io.StringIO(text)):
        if row["frame"]:
            out.setdefault((row["bone"], row["channel"]), {})[int(row["frame"])] = [float(row[axis]) for axis in "xyz"]
    return out


def at(keys, frame):
    return keys[max(key for key in keys if key <= frame)] if keys else None


class Gltf:
    def __init__(self, path):
        with open(path, encoding="utf-8") as text:
            self.root = json.load(text)
        self.uri, data = self.root["buffers"][0]["uri"].split(",", 1)
        self.data = bytearray(base64.b64decode(data))
        self.samplers = {}
        for channel in self.root["animations"][0]["channels"]:
            node = self.root["nodes"][channel["target"]["node"]]["name"]
            sampler = self.root["animations"][0]["samplers"][channel["sampler"]]
            self.samplers[node, channel["target"]["path"]] = self.root["accessors"][sampler["output"]]

    def place(self, accessor, key):
        width = {"VEC3": 3, "VEC4": 4}[accessor["type"]]
        return accessor["byteOffset"] + 4 * width * min(key, accessor["count"] - 1), f"<{width}f"

    def get(self, bone, path, frame):
        accessor = self.samplers.get((bone, path))
        if accessor is None:
            return None
        offset, form = self.place(accessor, frame)
        return list(struct.unpack_from(form, self.data, offset))

    def set(self, bone, path, frame, value):
        offset, form = self.place(self.samplers[bone, path], frame)
        struct.pack_into(form, self.data, offset, *value)

    def save(self, path):
        self.root["buffers"][0]["uri"] = self.uri + "," + base64.b64encode(self.data).decode()
        with open(path, "w", encoding="utf-8") as out:
            json.dump(self.root, out)


def angle(a, b):
    difference, total = math.dist(a, b), math.dist(a, [-x for x in b])
    return math.degrees(4 * math.atan2(min(difference, total), max(difference, total)))


def same(file, base, clip, path):
    gltf, under, over = Gltf(path), curves(file, base), curves(file, clip)
    bones = {bone for bone, channel in list(under) + list(over)}
    moved = 0
    for bone in bones:
        for frame in range(31):
            t = [at(c.get((bone, "translation")), frame) for c in (under, over)]
            r = [at(c.get((bone, "rotation")), frame) for c in (under, over)]
            s = at(under.get((bone, "scale")), frame)
            if t[0] or t[1]:
                want = [a + b for a, b in zip(t[0] or [0, 0, 0], t[1] or [0, 0, 0])]
                assert math.dist(want, gltf.get(bone, "translation", frame)) < 1e-5, (bone, frame)
            if r[0] or r[1]:
                want = product(quaternion(r[0] or [0, 0, 0]), quaternion(r[1] or [0, 0, 0]))
                got = gltf.get(bone, "rotation", frame)
                assert angle(want, got) < 0.01, (bone, frame, want, got)
                moved = max(moved, angle(quaternion(r[1] or [0, 0, 0]), got))
            if s:
                assert math.dist(s, gltf.get(bone, "scale", frame)) < 1e-5, (bone, frame)
            elif at(over.get((bone, "scale")), frame) and bone in {b for b, c in under}:
                assert gltf.get(bone, "scale", frame) is None, bone
    assert moved > 10, moved


def turn(path, out, bone, frame):
    gltf = Gltf(path)
    value = product(gltf.get(bone, "rotation", int(frame)), quaternion([25, 10, 5]))
    gltf.set(bone, "rotation", int(frame), value)
    gltf.save(out)


def key(file, other, clip, bone, frame):
    a, b = curves(file, clip), curves(other, clip)
    assert a.keys() == b.keys()
    for name, channel in a:
        for number in a[name, channel]:
            x, y = a[name, channel][number], b[name, channel][number]
            edited = (name, channel, number) == (bone, "rotation", int(frame))
            assert (math.dist(x, y) < 0.01) != edited, (name, channel, number, x, y)


def near(path, other):
    a, b = Gltf(path), Gltf(other)
    assert a.samplers.keys() == b.samplers.keys()
    for bone, kind in a.samplers:
        for frame in range(31):
            x, y = a.get(bone, kind, frame), b.get(bone, kind, frame)
            assert (angle(x, y) < 0.011 if kind == "rotation" else math.dist(x, y) < 1e-4), (bone, kind, frame, x, y)


if __name__ == "__main__":
    {"same": same, "turn": turn, "key": key, "near": near}[sys.argv[1]](*sys.argv[2:])
