# SPDX-License-Identifier: GPL-3.0-or-later
"""check_blender.py - imports each FOLDER/clip.gltf into Blender and compares what came of it with
the numbers of FOLDER/curves.csv, clip.json and skeleton.csv, which are put together here anew. Then
exports it again, for others to compare:

    same.gltf, same.glb     imported and exported as Blender does when nothing is chosen but the form
    straight.gltf           imported with bones as for another export, and exported
    small.gltf              exported with what changes nothing left out
    turned.gltf             where there is such a bone: TURNED turned by 30 degrees in frame 2

    blender -b --factory-startup -P tests/tools/check_blender.py -- FOLDER...
"""

import csv
import json
import math
import os
import sys

import numpy

# Blender 3.4's importer of meshes uses a name that numpy dropped in 1.24.
if "bool" not in vars(numpy):
    numpy.bool = bool

import bpy
from mathutils import Euler, Matrix, Quaternion, Vector

passed = failed = 0


def check(what, got, want):
    global passed, failed
    if got == want:
        passed += 1
    else:
        failed += 1
        print(f"not ok - {what}\n  got:  {got}\n  want: {want}")


# ---- what the texts say ----


def number(cell, rest):
    value = float(cell) if cell else rest
    return value if math.isfinite(value) else rest


def at_rest(joint):
    """Translation, rotation and scale of a row of skeleton.csv, or of no bone at all."""
    if not joint:
        return Vector(), Quaternion(), Vector((1, 1, 1))
    triple = lambda letter, rest: [number(joint[letter + axis], rest) for axis in "xyz"]
    angles = [math.radians(angle) for angle in triple("r", 0)]
    return Vector(triple("t", 0)), Euler(angles).to_quaternion(), Vector(triple("s", 1))


class Clip:
    def __init__(self, folder):
        with open(f"{folder}/clip.json", encoding="utf-8") as f:
            said = json.load(f)
        self.frames = said["frames"]
        self.seconds = said["seconds"]
        self.bones = [b["bone"] for b in said["bones"]]
        y_down = said["file"].endswith((".ff9anim", ".anim", ".anm"))
        self.upright = DOWNRIGHT if y_down else UPRIGHT
        self.joints = {}
        self.keys = {}
        if os.path.exists(f"{folder}/skeleton.csv"):
            with open(f"{folder}/skeleton.csv", encoding="utf-8", newline="") as f:
                self.joints = {row["bone"]: row for row in csv.DictReader(f) if row["tx"]}
        with open(f"{folder}/curves.csv", encoding="utf-8", newline="") as f:
            for row in csv.DictReader(f):
                channel = "rotation" if row["channel"] == "quaternion" else row["channel"]
                if row["frame"] and channel in ("translation", "rotation", "scale"):
                    key = [row[axis] for axis in "xyzw"[: 4 if row["w"] else 3]]
                    self.keys.setdefault((row["bone"], channel), {})[int(row["frame"])] = key
        self.step = "flags" in open(f"{folder}/curves.csv", encoding="utf-8").readline()

    def sample(self, bone, channel, frame, rest):
        keys = self.keys.get((bone, channel))
        if not keys:
            return rest
        before = max((f for f in keys if f <= frame), default=min(keys))
        after = min((f for f in keys if f >= frame), default=max(keys))
        a, b = self.value(keys[before], rest), self.value(keys[after], rest)
        if self.step or before == after:
            return a
        t = (frame - before) / (after - before)
        if channel != "rotation":
            return a.lerp(b, t)
        # Blender takes the straight way where glTF says the round one.
        b = b if a.dot(b) >= 0 else -b
        return (a * (1 - t) + b * t).normalized()

    def is_near(self, bone):
        """Blender keeps a bone's direction as two points in float32: far off there is none."""
        keys = self.keys.get((bone, "translation"), {}).values()
        return all(abs(number(cell, 0)) < FAR for key in keys for cell in key)

    @staticmethod
    def value(cells, rest):
        if not isinstance(rest, Quaternion):
            return Vector([number(cell, r) for cell, r in zip(cells, rest)])
        q = [float(cell) for cell in cells]
        if not all(map(math.isfinite, q)) or not any(q):
            return rest
        return Quaternion((q[3], *q[:3])).normalized()

    def world(self, bone, frame):
        if bone in self.bones:
            rests = zip(("translation", "rotation", "scale"), at_rest(self.joints.get(bone)))
            pose = [self.sample(bone, channel, frame, rest) for channel, rest in rests]
        else:
            pose = at_rest(self.joints[bone])
        local = Matrix.LocRotScale(*pose)
        parent = self.joints[bone]["parent"] if bone in self.joints else ""
        return self.world(parent, frame) @ local if parent else local

    def all_bones(self):
        """Those of the clip, and those between them and the root."""
        found = set()
        for bone in self.bones:
            while bone and bone not in found:
                found.add(bone)
                bone = self.joints[bone]["parent"] if bone in self.joints else ""
        return found


# ---- what Blender has ----

FAR = 1e6
UPRIGHT = Matrix(((1, 0, 0), (0, 0, -1), (0, 1, 0)))  # y up to z up
DOWNRIGHT = Matrix(((1, 0, 0), (0, 0, 1), (0, -1, 0)))  # y down to z up
TURNED = "neck"


def load(path, clip, **settings):
    bpy.ops.wm.read_factory_settings(use_empty=True)
    rate = (clip.frames - 1) / clip.seconds if clip.seconds else 24
    bpy.context.scene.render.fps = max(1, min(32767, round(rate)))
    bpy.ops.import_scene.gltf(filepath=path, **settings)
    return [o for o in bpy.data.objects if o.type == "ARMATURE"]


def save(path, form="GLTF_EMBEDDED", **settings):
    bpy.ops.export_scene.gltf(filepath=path, export_format=form, **settings)


def save_again(folder, clip):
    """After load()."""
    save(f"{folder}/same.gltf")
    save(f"{folder}/same.glb", "GLB")
    save(f"{folder}/small.gltf", export_optimize_animation_size=True)
    armature = load(f"{folder}/clip.gltf", clip, bone_heuristic="BLENDER")[0]
    save(f"{folder}/straight.gltf")
    if TURNED in armature.pose.bones and clip.frames > 2:
        bone = armature.pose.bones[TURNED]
        bpy.context.scene.frame_set(2)
        bone.rotation_quaternion = bone.rotation_quaternion @ Euler((math.radians(30), 0, 0)).to_quaternion()
        bone.keyframe_insert("rotation_quaternion", frame=2)
        save(f"{folder}/turned.gltf")


def pose(armature, seconds):
    frame = seconds * bpy.context.scene.render.fps
    if abs(frame - round(frame)) < 1e-3:  # seconds are rounded
        frame = round(frame)
    bpy.context.scene.frame_set(math.floor(frame), subframe=frame - math.floor(frame))
    bpy.context.view_layer.update()
    return {b.name: armature.matrix_world @ b.matrix for b in armature.pose.bones}


def turned(now, first):
    return now.to_3x3().normalized() @ first.to_3x3().normalized().inverted_safe()


def difference(clip, frame, got, got_first):
    """The farthest that a bone is from its place, in sizes of the figure, and from its turn."""
    bones = filter(clip.is_near, clip.bones)
    worlds = {bone: (clip.world(bone, frame), clip.world(bone, 0)) for bone in bones}
    size = max(max(map(abs, m.translation)) for m, _ in worlds.values()) or 1
    place = turn = 0
    for bone, (now, first) in worlds.items():
        mine = got[bone[:63]]
        place = max(place, (mine.translation - clip.upright @ now.translation).length / size)
        if min(map(abs, now.to_scale())) > 1e-6 < min(map(abs, first.to_scale())):
            want = clip.upright @ turned(now, first) @ clip.upright.transposed()
            delta = turned(mine, got_first[bone[:63]]) - want
            turn = max(turn, max(abs(x) for row in delta for x in row))
    # What Blender keeps of a direction is coarse there, a thousandth of the way.
    return place / 50 if size > 1000 else place, turn


for folder in sys.argv[sys.argv.index("--") + 1 :]:
    clip = Clip(folder)
    armatures = load(f"{folder}/clip.gltf", clip)
    check(f"{folder}: one armature", len(armatures), 1)
    if len(armatures) != 1:
        continue
    names = sorted(b.name for b in armatures[0].data.bones)
    check(f"{folder}: its bones", names, sorted(b[:63] for b in clip.all_bones()))
    action = armatures[0].animation_data.action if armatures[0].animation_data else None
    check(f"{folder}: an action", action is not None, True)
    if not action:
        continue
    length = action.frame_range[1] - action.frame_range[0]
    wanted = clip.seconds * bpy.context.scene.render.fps
    if clip.frames > 1:
        check(f"{folder}: action length {length} of {wanted}", abs(length - wanted) < 0.01, True)
    first = pose(armatures[0], 0)
    for frame in (0, clip.frames // 2, clip.frames - 1):
        seconds = clip.seconds * frame / max(1, clip.frames - 1)
        place, turn = difference(clip, frame, pose(armatures[0], seconds), first)
        check(f"{folder}: places of frame {frame}, {place:.2g} off", place < 1e-3, True)
        check(f"{folder}: turns of frame {frame}, {turn:.2g} off", turn < 5e-3, True)
    save_again(folder, clip)

print(f"blender: {passed} passed, {failed} failed")
sys.stdout.flush()
os._exit(1 if failed or not passed else 0)
