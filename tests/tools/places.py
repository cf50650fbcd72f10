#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""places.py - where every bone of a clip is, in several of its frames, as its tables say. The numbers
come from curves.csv and skeleton.csv by way of check_pose.py, and from no view that is to be checked.

    places.py FOLDER...    (in FOLDER curves.csv, clip.json, skeleton.csv, file)

Prints a line of JSON for each folder: {"folder", "upright", "steps", "frame_time", "frames",
"bones": [...], "places": {bone: [[x, y, z], ...]}, "room"}, or {"folder", "skipped": why}. "upright"
says whether glTF and BVH turn the figure by half a turn about X; "room" is how far a place may be off in
float32.
"""
import json
import math
import sys
from pathlib import Path

from check_pose import Clip

Y_DOWN = (".ff9anim", ".anim", ".anm")
VIEWS = ("clip.gltf", "clip.bvh", "clip.x3d")
FARTHEST = 1e6  # float32 has no fractions of a unit much farther away


class Told(Clip):
    """What a table leaves open cannot be computed. Rotations of any length but 0 mean a turn."""

    def read(self, row):
        if not row["frame"]:
            super().read(row)
            return
        assert row["frame"].isdigit(), "keys are between frames"
        cells = [row[a] for a in ("xyzw" if row["channel"] == "quaternion" else "xyz")]
        assert all(cells) or not any(cells), "a key lacks a number"
        assert all(math.isfinite(float(cell)) for cell in cells if cell), "a number is not finite"
        # Beside a key that is far away, a rounding error of time is far, too.
        assert all(abs(float(cell)) < FARTHEST for cell in cells if cell), "a number is too large for float32"
        super().read(row)
        if row["channel"] != "quaternion" or not all(cells):
            return
        keys = self.bones[row["bone"]].keys["rotation"]
        frame, value = keys[-1]
        length = math.hypot(*value)
        assert length > 0, "a rotation has no length"
        keys[-1] = frame, tuple(c / length for c in value)


def check_sampling(clip):
    """Between the keys of a spline the tables say nothing: it must have a key in every frame."""
    if clip.facts.get("ff9clip", {}).get("tangents") != "kept":
        return
    for name, bone in clip.bones.items():
        for keys in bone.keys.values():
            frames = [frame for frame, _ in keys]
            assert len(frames) == 1 or frames == list(range(frames[0], frames[0] + len(frames))), \
                f'"{name}" has splines between frames'


def places_of(folder):
    clip = Told(folder, folder / "skeleton.csv")
    check_sampling(clip)
    count = clip.facts["frames"]
    frames = sorted({0, 1, count // 3, count // 2, count - 1} & set(range(count)))
    poses = [clip.pose(frame)[0] for frame in frames]
    names = [name for name, bone in clip.bones.items() if bone.animated]
    farthest = max(abs(c) for pose in poses for place in pose.values() for c in place)
    assert farthest < FARTHEST, "a bone is too far from the origin for float32"
    upright = (folder / "file").read_text().strip().endswith(Y_DOWN)
    return {"folder": str(folder), "upright": upright, "steps": clip.steps,
            "frame_time": clip.facts["seconds"] / max(count - 1, 1), "count": count, "frames": frames,
            "bones": [bone["bone"] for bone in clip.facts["bones"]],
            "places": {name: [pose[name] for pose in poses] for name in names},
            "room": 1e-5 + 2e-5 * farthest}


def main():
    for folder in sys.argv[1:]:
        if not any((Path(folder) / view).exists() for view in VIEWS):
            continue
        try:
            print(json.dumps(places_of(Path(folder))))
        except AssertionError as why:
            print(json.dumps({"folder": folder, "skipped": str(why)}))


if __name__ == "__main__":
    main()
