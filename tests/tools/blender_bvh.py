# SPDX-License-Identifier: GPL-3.0-or-later
"""blender_bvh.py - imports each FOLDER/clip.bvh into Blender and exports it as it came, with Z up as
Blender has it unless told otherwise (FOLDER/z_up.bvh) and with axes as they are (FOLDER/y_up.bvh);
and once more with one bone turned by a right angle in the last frame (FOLDER/turned.bvh; its name is
in FOLDER/turned).

    blender -b --factory-startup -P tests/tools/blender_bvh.py -- FOLDER...
"""

import builtins
import math
import os
import sys

import bpy

# Debian's Python has dropped a mode that the importer of its Blender still asks for.
builtin_open = builtins.open
builtins.open = lambda file, mode="r", *args, **kwargs: builtin_open(
    file, mode.replace("U", ""), *args, **kwargs
)

AS_THEY_ARE = {"axis_forward": "Y", "axis_up": "Z"}


def frames_of(path):
    with open(path, encoding="utf-8") as f:
        return next(int(line.split()[1]) for line in f if line.startswith("Frames:"))


def load(path, **axes):
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.import_anim.bvh(filepath=path, update_scene_fps=True, **axes)
    return bpy.context.object


def save(path, frames):
    bpy.ops.export_anim.bvh(filepath=path, frame_start=1, frame_end=frames)


def turn_a_bone(armature, frame):
    """The last one, since nothing hangs from it."""
    bone = armature.pose.bones[-1]
    bone.rotation_mode = "XYZ"
    bone.rotation_euler.x += math.pi / 2
    bone.keyframe_insert("rotation_euler", frame=frame)
    return bone.name


for folder in sys.argv[sys.argv.index("--") + 1 :]:
    text = f"{folder}/clip.bvh"
    count = frames_of(text)
    load(text)
    save(f"{folder}/z_up.bvh", count)
    armature = load(text, **AS_THEY_ARE)
    save(f"{folder}/y_up.bvh", count)
    bpy.context.scene.frame_set(count)
    name = turn_a_bone(armature, count)
    save(f"{folder}/turned.bvh", count)
    with open(f"{folder}/turned", "w", encoding="utf-8") as f:
        f.write(name)

sys.stdout.flush()
os._exit(0)
