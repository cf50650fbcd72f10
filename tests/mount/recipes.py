#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""
recipes.py RECIPE BEFORE AFTER - checks that this recipe of docs/GUIDE.md made AFTER of the file BEFORE as the
guide says. It reads the texts of both and shares no code with the recipes: rotations are quaternions here.
"""
import csv
import io
import json
import math
import os
import subprocess
import sys

from turning import product, quaternion

ANIMFS = os.environ["ANIMFS"]


def cat(file, path):
    return subprocess.run([ANIMFS, "cat", f"{file}/{path}"], check=True, capture_output=True, text=True).stdout


class Clip:
    """What a clip says: curves[bone, channel] is {frame: [x, y, z]}."""

    def __init__(self, file, name):
        self.facts = json.loads(cat(file, name + "/clip.json"))
        self.frames = self.facts["frames"]
        self.curves = {}
        for row in csv.DictReader(io.StringIO(cat(file, name + "/curves.csv"))):
            if row["frame"]:
                keys = self.curves.setdefault((row["bone"], row["channel"]), {})
                keys[int(row["frame"])] = [float(row[axis]) for axis in "xyz"]
        self.parents, self.rest = {}, {}
        for row in csv.DictReader(io.StringIO(cat(file, "skeleton.csv"))):
            self.parents[row["bone"]] = row["parent"]
            self.rest[row["bone"]] = [float(row[axis] or 0) for axis in ("tx", "ty", "tz")]

    def at(self, bone, channel, frame):
        """The last key holds."""
        keys = self.curves.get((bone, channel))
        if keys is None:
            return self.rest[bone] if channel == "translation" else [0, 0, 0]
        return keys[max(key for key in keys if key <= frame)]

    def turn(self, bone, frame):
        return quaternion(self.at(bone, "rotation", frame))

    def place(self, bone, frame):
        """Of a bone in the space of the model."""
        at = self.at(bone, "translation", frame)
        while self.parents.get(bone):
            bone = self.parents[bone]
            at = [a + b for a, b in zip(turned(self.turn(bone, frame), at), self.at(bone, "translation", frame))]
        return at


def turned(q, v):
    return product(product(q, v + [0]), [-q[0], -q[1], -q[2], q[3]])[:3]


def angle(a, b):
    """Between two rotations, in degrees."""
    return 2 * math.degrees(math.acos(min(1, abs(sum(x * y for x, y in zip(a, b))))))


def near(a, b, by):
    assert math.dist(a, b) <= by, f"{a} is not within {by} of {b}"


def slow(before, after):
    was, now = Clip(before, "walk"), Clip(after, "walk")
    near([now.facts["frame_time"], now.facts["seconds"]], [2 * was.facts["frame_time"], 2 * was.facts["seconds"]], 1e-6)
    assert now.curves == was.curves


def hold(before, after):
    was, now = Clip(before, "walk"), Clip(after, "walk")
    assert now.frames == was.frames + 15
    for bone in was.parents:
        for frame in range(now.frames):
            for channel in ("translation", "rotation"):
                near(now.at(bone, channel, frame), was.at(bone, channel, min(frame, was.frames - 1)), 0)


def mirror(before, after):
    was, now = Clip(before, "walk"), Clip(after, "walk")
    other = {"L": "R", "R": "L"}
    moved = 0
    for bone in was.parents:
        twin = bone[:-1] + other[bone[-1]] if bone[-2:] in ("_L", "_R") else bone
        if bone == "武器":  # what is held in one hand stays there
            continue
        for frame in range(was.frames):
            x, y, z = was.place(bone, frame)
            near(now.place(twin, frame), [-x, y, z], 1e-3)
            moved = max(moved, math.dist(now.place(bone, frame), was.place(bone, frame)))
    assert moved > 0.05, moved


def alike(now, was, bones):
    """All curves but the rotations of these bones are the same."""
    for key, keys in was.curves.items():
        if key[0] not in bones or key[1] != "rotation":
            assert now.curves[key] == keys, key


def scale(before, after):
    was, now = Clip(before, "walk"), Clip(after, "walk")
    alike(now, was, ["shin_L"])
    for frame in range(was.frames):
        x, y, z = was.at("shin_L", "rotation", frame)
        near(now.at("shin_L", "rotation", frame), [0.6 * x, y, z], 0.02)


def shift(before, after):
    was, now = Clip(before, "walk"), Clip(after, "walk")
    alike(now, was, ["arm_L"])
    assert now.frames == was.frames == 31
    for frame in range(31):
        assert angle(now.turn("arm_L", frame), was.turn("arm_L", (frame - 3) % 30)) < 0.02, frame


def posed(before, after):
    was, want, now = Clip(before, "walk"), Clip("posed.canm", "walk"), Clip(after, "walk")
    alike(now, was, ["arm_L"])
    assert angle(want.turn("arm_L", 3), was.turn("arm_L", 3)) > 5
    for frame in range(was.frames):
        assert angle(now.turn("arm_L", frame), want.turn("arm_L", frame)) < 0.05, frame


def cell(before, after):
    was, now = Clip(before, "walk"), Clip(after, "walk")
    alike(now, was, ["leg_L"])
    for frame in range(was.frames):
        x, y, z = was.at("leg_L", "rotation", frame)
        near(now.at("leg_L", "rotation", frame), [12.5 if frame == 3 else x, y, z], 0.02)


def taller(before, after):
    was, now = Clip(before, "walk"), Clip(after, "walk")
    for bone in ("head", "hand_L", "foot_R"):
        for frame in range(was.frames):
            near(now.place(bone, frame), [1.1 * a for a in was.place(bone, frame)], 1e-3)
            assert angle(now.turn(bone, frame), was.turn(bone, frame)) < 0.01


def jitter(before, after):
    """BEFORE has noise in what is smooth in smooth.canm."""
    clean, was, now = Clip("smooth.canm", "walk"), Clip(before, "walk"), Clip(after, "walk")
    frames = range(2, clean.frames - 2)

    def noise(clip, bone):
        return sum(angle(clip.turn(bone, f), clean.turn(bone, f)) for f in frames) / len(frames)

    for bone in ("arm_L", "hips"):
        assert noise(was, bone) > 2 and noise(now, bone) < 0.7 * noise(was, bone), (noise(was, bone), noise(now, bone))
    assert noise(now, "leg_L") < 1.5, noise(now, "leg_L")  # had none


def arm(before, after):
    was, run, now = Clip(before, "walk"), Clip(before, "run"), Clip(after, "walk")
    moved = 0
    assert now.frames == was.frames == 31
    for bone in was.parents:
        for frame in range(31):
            want = run if bone in ("arm_L", "forearm_L", "hand_L") else was
            assert angle(now.turn(bone, frame), want.turn(bone, frame % want.frames)) < 0.02, (bone, frame)
            moved = max(moved, angle(now.turn(bone, frame), was.turn(bone, frame)))
    assert moved > 5, moved


def seam(before, after):
    was, now = Clip(before, "walk"), Clip(after, "walk")
    last = was.frames - 1
    assert max(angle(was.turn(bone, last), was.turn(bone, 0)) for bone in was.parents) > 5
    for bone in was.parents:
        assert angle(now.turn(bone, last), now.turn(bone, 0)) < 0.05, bone
        near(now.at(bone, "translation", last), now.at(bone, "translation", 0), 1e-3)
        for frame in range(last - 8):
            assert angle(now.turn(bone, frame), was.turn(bone, frame)) < 0.05, (bone, frame)


def cut(before, after):
    was, kept, now = Clip(before, "walk"), Clip(after, "walk"), Clip(after, "step")
    assert kept.curves == was.curves and now.frames == 16
    for bone in was.parents:
        for frame in range(16):
            assert angle(now.turn(bone, frame), was.turn(bone, frame + 10)) < 0.02
            near(now.at(bone, "translation", frame), was.at(bone, "translation", frame + 10), 1e-3)


def blend(before, after):
    walk, run, now = Clip(before, "walk"), Clip(before, "run"), Clip(after, "jog")
    assert Clip(after, "walk").curves == walk.curves
    for bone in ("hips", "arm_L", "leg_R", "head"):
        for frame in range(walk.frames):
            for channel in ("translation", "rotation"):
                a, b = walk.at(bone, channel, frame), run.at(bone, channel, frame)
                keyed = len(walk.curves.get((bone, channel), {0: 0})) > 1 or len(run.curves.get((bone, channel), {0: 0})) == 1
                if channel == "translation" and keyed:
                    near(now.at(bone, channel, frame), [(x + y) / 2 for x, y in zip(a, b)], 1e-3)
            p, q = walk.turn(bone, frame), run.turn(bone, frame)
            if angle(p, q) < 30:  # where the mean of small angles is the middle of the rotations
                half = [x + math.copysign(1, sum(i * j for i, j in zip(p, q))) * y for x, y in zip(p, q)]
                size = math.hypot(*half)
                assert angle(now.turn(bone, frame), [x / size for x in half]) < 0.1 * angle(p, q) + 0.1, (bone, frame)


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
