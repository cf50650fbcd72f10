#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the joints of clip.html must be seen: computed from curves.csv and skeleton.csv, as for
check_pose.py, and held against what a browser showed (tests/tools/player.mjs).

    check_player.py plan FOLDER... > PLAN       frames and views of each clip, for the browser
    check_player.py judge PLAN SEEN             SEEN: where the browser's marks were
"""
import json
import math
import sys
from pathlib import Path

from check_pose import Clip, of_euler, turned, around, product

WIDTH, HEIGHT = 760, 420  # of the picture of the figure
NEAR = 2  # pixels
AWAY = 6  # a joint that far elsewhere is another frame's
AT_ONCE = 24  # joints that are looked at in a picture; in the next ones the others
Y_DOWN = (".ff9anim", ".anm")
VIEWS = [(25, 15), (-70, 50)]  # yaw and pitch


class Stored(Clip):
    """As stored: what is not finite is as at rest, angle by angle."""

    def __init__(self, folder):
        super().__init__(folder, folder / "skeleton.csv")
        self.sign = -1 if self.facts["file"].endswith(Y_DOWN) else 1

    def read(self, row):
        bone = self.bones.get(row["bone"])
        cells = [row[axis] for axis in "xyzw" if row[axis]]
        numbers = [float(cell) for cell in cells]
        if numbers and not all(map(math.isfinite, numbers)) and bone:
            rest = {"translation": bone.rest["translation"], "scale": bone.rest["scale"],
                    "rotation": (0, 0, 0), "quaternion": bone.rest["rotation"]}[row["channel"]]
            row = {**row, **{axis: repr(n if math.isfinite(n) and len(numbers) == 3 else rest[i])
                             for i, (axis, n) in enumerate(zip("xyzw", numbers))}}
        super().read(row)

    def places(self, frame):
        """Of the joints that are drawn, with Y up."""
        pose, _ = self.pose(frame)
        names = [name for name in self.order() if not self.bones[name].animated or self.is_drawn(name, frame)]
        return {name: (pose[name][0], self.sign * pose[name][1], self.sign * pose[name][2]) for name in names}

    def order(self):
        """The bones of the clip, and those that they hang from."""
        names = [name for name, bone in self.bones.items() if bone.animated]
        for name in names:
            parent = self.bones[name].parent
            if parent and parent not in names:
                names.append(parent)
        return names


class Eye:
    """Looks at a point from a distance: 45 degrees of the height of the picture."""

    def __init__(self, view):
        yaw, pitch, self.distance, *self.target = view
        turn = product(around((0, 1, 0), math.radians(yaw)), around((1, 0, 0), -math.radians(pitch)))
        self.back = (-turn[0], -turn[1], -turn[2], turn[3])
        self.focus = HEIGHT / 2 / math.tan(math.pi / 8)

    def pixel(self, place):
        x, y, z = turned(self.back, [a - b for a, b in zip(place, self.target)])
        away = self.distance - z
        if away <= self.distance / 100:
            return None
        return WIDTH / 2 + self.focus * x / away, HEIGHT / 2 - self.focus * y / away


def frames_of(clip):
    count = clip.facts["frames"]
    return sorted({round(part * (count - 1)) for part in (0, 0.25, 0.4, 0.75, 1)})


def view_of(clip, yaw, pitch):
    """The whole clip."""
    places = [place for frame in frames_of(clip) for place in clip.places(frame).values()] or [(0, 0, 0)]
    least, most = (tuple(f(axis) for axis in zip(*places)) for f in (min, max))
    radius = math.dist(least, most) / 2 or 1
    return (yaw, pitch, radius * 1.15 / math.sin(math.pi / 8), *((a + b) / 2 for a, b in zip(least, most)))


def plan(folders):
    clips = []
    for folder in map(Path, folders):
        clip = Stored(folder)
        names, pictures = clip.order(), []
        for frame in frames_of(clip):
            for angles in VIEWS:
                begin = len(pictures) * AT_ONCE
                chosen = [names[(begin + i) % len(names)] for i in range(min(AT_ONCE, len(names)))]
                pictures.append({"frame": frame, "view": view_of(clip, *angles), "bones": chosen})
        clips.append({"folder": str(folder.resolve()), "pictures": pictures})
    json.dump({"width": WIDTH, "height": HEIGHT, "clips": clips}, sys.stdout)


def is_inside(pixel):
    return pixel and 8 <= pixel[0] <= WIDTH - 8 and 8 <= pixel[1] <= HEIGHT - 8


def fault(eye, places, bones, seen):
    """What is wrong with the marks as those of these places; and how far the farthest is."""
    farthest = 0
    for name in bones:
        pixel, mark = eye.pixel(places[name]) if name in places else None, seen.get(name)
        if not is_inside(pixel):
            if mark and name not in places:
                return f"{name} is marked and not drawn in this frame", math.inf
            continue
        if not mark:
            return f"{name} has no mark", math.inf
        farthest = max(farthest, math.dist(pixel, mark))
        if farthest > NEAR:
            return f"the mark of {name} is {farthest:.1f} pixels away from its joint", farthest
    return "", farthest


def judge(plan_path, seen_path):
    clips = json.loads(Path(plan_path).read_text())["clips"]
    seen = json.loads(Path(seen_path).read_text())
    marks = refuted = 0
    for clip, pictures in zip(clips, seen, strict=True):
        model = Stored(Path(clip["folder"]))
        poses = {frame: model.places(frame) for frame in frames_of(model)}
        for picture, found in zip(clip["pictures"], pictures, strict=True):
            eye, bones, own = Eye(picture["view"]), picture["bones"], poses[picture["frame"]]
            wrong, _ = fault(eye, own, bones, found)
            assert not wrong, f"{clip['folder']}: frame {picture['frame']}: {wrong}"
            marks += len(found)
            for frame, other in poses.items():
                both = [name for name in bones if name in own and name in other
                        and is_inside(eye.pixel(own[name])) and is_inside(eye.pixel(other[name]))]
                if max((math.dist(eye.pixel(own[n]), eye.pixel(other[n])) for n in both), default=0) > AWAY:
                    assert fault(eye, other, bones, found)[0], \
                        f"{clip['folder']}: frame {picture['frame']} might as well be {frame}"
                    refuted += 1
    assert marks > 1000 and refuted > 100, (marks, refuted)
    print(f"{len(clips)} clips: {marks} marks are at their joints, and refute {refuted} other frames")


if __name__ == "__main__":
    if sys.argv[1] == "plan":
        plan(sys.argv[2:])
    else:
        judge(*sys.argv[2:])
