#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Plays clip.kanim or clip.x3d of a clip's folder in view3dscene, and holds the pictures against the
poses that curves.csv and skeleton.csv say, computed here and nowhere else.

A picture shows a pose when there is something of the figure all along every bone, and nothing of it
where no bone is. It must show the pose of its own time; and every other frame's, where a bone stands
visibly elsewhere, must be refuted by it, so that no picture passes for want of care.

    check_pose.py FOLDER SKELETON.csv clip.kanim|clip.x3d    (in FOLDER curves.csv, clip.json, frames/)

With --live the viewer's window is looked at, as a user sees it, from when it opens until it shows the
last pose and stays there: a clip.x3d without a loop, of some length, must show one pose after another in
the order of time.
"""
import csv
import json
import math
import re
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from PIL import Image, ImageChops, ImageDraw, ImageFilter

SIZE = 600  # pixels of a picture, to either side
FOCUS = SIZE / 2 / math.tan(math.pi / 8)  # of the default field of view, 45 degrees
AWAY = 16  # pixels: a bone that stands so far elsewhere is another pose
MANY = 1000  # pictures of a window: more are a viewer that hangs
DISPLAY = ["xvfb-run", "-a", "-s", f"-screen 0 {SIZE}x{SIZE}x24"]
PLACES = {"translation": "t", "rotation": "r", "scale": "s"}


# ---- turns and vectors ----

def product(a, b):
    (ax, ay, az, aw), (bx, by, bz, bw) = a, b
    return (aw * bx + ax * bw + ay * bz - az * by, aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw, aw * bw - ax * bx - ay * by - az * bz)


def around(axis, angle):
    length = math.hypot(*axis) or 1
    return (*(math.sin(angle / 2) * c / length for c in axis), math.cos(angle / 2))


def of_euler(degrees):
    x, y, z = (math.radians(d) for d in degrees)
    return product(around((0, 0, 1), z), product(around((0, 1, 0), y), around((1, 0, 0), x)))


def turned(q, v):
    return product(product(q, (*v, 0)), (-q[0], -q[1], -q[2], q[3]))[:3]


def between(a, b, part, turn):
    if not turn:
        return tuple(x + (y - x) * part for x, y in zip(a, b))
    dot = sum(x * y for x, y in zip(a, b))
    b, dot = (b, dot) if dot >= 0 else (tuple(-y for y in b), -dot)
    angle = math.acos(min(dot, 1))
    if angle < 1e-6:
        return a
    return tuple((math.sin((1 - part) * angle) * x + math.sin(part * angle) * y) / math.sin(angle)
                 for x, y in zip(a, b))


# ---- what the tables say ----

class Bone:
    def __init__(self, row):
        self.parent = row.get("parent", "")
        number = lambda name, none: float(row.get(name) or none)
        self.rest = {"translation": tuple(number("t" + a, 0) for a in "xyz"),
                     "rotation": of_euler([number("r" + a, 0) for a in "xyz"]),
                     "scale": tuple(number("s" + a, 1) for a in "xyz")}
        self.keys = {}
        self.frames = set()  # that say anything
        self.animated = False

    def local(self, channel, frame, steps):
        keys = self.keys.get(channel)
        if not keys:
            return self.rest[channel]
        after = next((i for i, (at, _) in enumerate(keys) if at > frame), len(keys))
        if after == 0 or after == len(keys) or steps:
            return keys[max(after - 1, 0)][1]
        (begin, a), (end, b) = keys[after - 1], keys[after]
        return between(a, b, (frame - begin) / (end - begin), channel == "rotation")


class Clip:
    def __init__(self, folder, skeleton):
        self.folder = folder
        self.facts = json.loads((folder / "clip.json").read_text())
        self.bones = {row["bone"]: Bone(row) for row in csv.DictReader(skeleton.open())}
        with (folder / "curves.csv").open() as file:
            table = csv.DictReader(file)
            self.steps = "flags" in table.fieldnames
            for row in table:
                self.read(row)
        places = [place for frame in range(self.facts["frames"])
                  for name, place in self.pose(frame)[0].items() if self.bones[name].animated]
        self.size = max(max(axis) - min(axis) for axis in zip(*places)) or 1

    def read(self, row):
        bone = self.bones.setdefault(row["bone"], Bone({}))
        bone.animated = True
        if row["frame"]:
            bone.frames.add(int(row["frame"]))
        if not row["x"]:
            return
        value = tuple(float(row[a]) for a in "xyzw" if row[a])
        if row["channel"] == "rotation":
            value = of_euler(value)
        channel = "rotation" if row["channel"] == "quaternion" else row["channel"]
        bone.keys.setdefault(channel, []).append((int(row["frame"]), value))

    def pose(self, frame):
        """Where every bone is, by its name, and by how much it is larger than at rest."""
        spaces = {}
        for name in self.bones:
            self.space(name, frame, spaces)
        axes = ((1, 0, 0), (0, 1, 0), (0, 0, 1))
        places = {name: space((0, 0, 0)) for name, space in spaces.items()}
        return places, {name: max(math.dist(space(axis), places[name]) for axis in axes)
                        for name, space in spaces.items()}

    def is_drawn(self, name, frame):
        """Where keyframes are data, stills show the bones that have one."""
        bone = self.bones[name]
        return bone.animated and (not self.steps or frame in bone.frames)

    def space(self, name, frame, spaces):
        if name in spaces:
            return spaces[name]
        bone = self.bones[name]
        above = self.space(bone.parent, frame, spaces) if bone.parent else lambda v: v
        t, r, s = (bone.local(channel, frame, self.steps) for channel in PLACES)

        def place(v):
            scaled = turned(r, [a * b for a, b in zip(v, s)])
            return above([a + b for a, b in zip(scaled, t)])
        spaces[name] = place
        return place

    def above(self, name, still):
        """The parent; in stills the nearest that the clip has."""
        parent = self.bones[name].parent
        while still and parent and not self.bones[parent].animated:
            parent = self.bones[parent].parent
        return parent

    def drawn(self, still):
        """Bones of the clip; where nothing is baked, all that they hang from as well."""
        names = [name for name, bone in self.bones.items() if bone.animated]
        for name in names:
            parent = self.above(name, still)
            if parent and parent not in names:
                names.append(parent)
        return names


# ---- what the pictures show ----

def viewpoint(text):
    words = re.search(r"<Viewpoint [^>]*>", text).group()
    numbers = lambda name: [float(n) for n in re.search(rf'{name}="([^"]*)"', words).group(1).split()]
    return numbers("position"), around(*(lambda o: (o[:3], o[3]))(numbers("orientation")))


class Camera:
    def __init__(self, text):
        self.position, turn = viewpoint(text)
        self.back = (-turn[0], -turn[1], -turn[2], turn[3])

    def project(self, point):
        """Pixels from the left and from the top, and how many a unit of length has there."""
        x, y, z = turned(self.back, [a - b for a, b in zip(point, self.position)])
        assert z < 0, "the figure reaches behind the camera"
        return SIZE / 2 - FOCUS * x / z, SIZE / 2 + FOCUS * y / z, -FOCUS / z


def figure_of(picture):
    """White where the picture is not as in its corner."""
    image = Image.open(picture).convert("RGB")
    assert image.size == (SIZE, SIZE), image.size
    empty = Image.new("RGB", image.size, image.getpixel((0, 0)))
    difference = ImageChops.difference(image, empty).convert("L")
    return difference.point(lambda v: 255 if v > 16 else 0)


def along(a, b, part):
    return tuple(x + (y - x) * part for x, y in zip(a, b))


class Drawing:
    """Where a pose must be seen, and where alone anything may be."""

    def __init__(self, clip, camera, frame, still):
        self.frame = frame
        pose, growth = clip.pose(frame)
        drawn = clip.drawn(still)
        seen = {name: camera.project(pose[name]) for name in drawn}
        self.places = {name: place[:2] for name, place in seen.items()}
        self.points, self.lines, self.discs = [], [], []
        for name in drawn:
            # A cross and a mark are at most a fiftieth of the figure; marks grow with their bones.
            mark = clip.size * (0.025 if still else 0.02 * growth[name])
            self.discs.append((*self.places[name], mark * seen[name][2] + 3))
            parent = clip.above(name, still)
            if parent:
                width = 0.11 * math.dist(pose[parent], pose[name]) * seen[name][2]
                self.add_line(self.places[parent], self.places[name], width if still else 0)
            elif not still or clip.is_drawn(name, frame):
                self.points.append(self.places[name])

    def add_line(self, a, b, width):
        self.lines.append((a, b, width + 4))
        if math.dist(a, b) > 15:
            self.points += [along(a, b, part / 10) for part in range(1, 7)]

    def allowed(self):
        mask = Image.new("L", (SIZE, SIZE), 0)
        draw = ImageDraw.Draw(mask)
        for a, b, width in self.lines:
            draw.line([a, b], fill=255, width=round(2 * width))
        for x, y, r in self.discs + [(*end, width) for a, b, width in self.lines for end in (a, b)]:
            draw.ellipse((x - r, y - r, x + r, y + r), fill=255)
        return mask

    def fault(self, figure, near):
        """What is wrong with the picture as one of this pose; `near` has its figure widened."""
        missing = sum(1 for x, y in self.points if not near.getpixel((round(x), round(y))))
        if missing:
            return f"{missing} of {len(self.points)} points of bones show nothing"
        whole = figure.histogram()[255]
        stray = ImageChops.subtract(figure, self.allowed()).histogram()[255]
        if stray > 0.01 * whole:
            return f"{stray} of {whole} pixels are where no bone is"
        return ""

    def distance(self, other):
        return max(math.dist(place, other.places[name]) for name, place in self.places.items())


# ---- the viewer ----

def view3dscene(path):
    return ["view3dscene", str(path), "--geometry", f"{SIZE}x{SIZE}+0+0", "--hide-extras", "--hide-menu",
            "--no-sound"]


def in_display(words):
    done = subprocess.run([*DISPLAY, *words], capture_output=True, text=True, check=False)
    assert not done.stderr and done.returncode == 0, done.stderr


def shoot(path, text, times, work):
    """Pictures of these times count from 0, where a clip without a loop must start."""
    if path.name == "clip.x3d":
        path = Path(work, path.name)
        path.write_text(re.sub(r'<ROUTE [^>]*toField="startTime"/>', "", text))
    pictures = [f"{work}/{i}.png" for i in range(len(times))]
    orders = [word for time, picture in zip(times, pictures)
              for word in ("--screenshot", f"{time:.9f}", picture)]
    in_display([*view3dscene(path), *orders])
    return pictures


def watch(path, work, enough):
    """Pictures of the window, one after the other, until enough() says so of one: however long the viewer
    takes to open."""
    stop = Path(work, "stop")
    look = f"""
        {shlex.join(view3dscene(path))} &
        i=0
        while [ ! -e {stop} ] && [ $i -lt {MANY} ]; do
            sleep 0.3
            import -window root {work}/new.png && mv {work}/new.png {work}/$i.png && i=$((i + 1))
        done
        kill $!
        wait 2>/dev/null
        true"""
    with subprocess.Popen([*DISPLAY, "sh", "-c", look], stderr=subprocess.PIPE, text=True) as viewer:
        try:
            for picture in (Path(work, f"{i}.png") for i in range(MANY)):
                while not picture.exists():
                    assert viewer.poll() is None, "the viewer ended"
                    time.sleep(0.05)
                if enough(picture):
                    break
        finally:
            stop.touch()
            _, said = viewer.communicate()
    assert not said and viewer.returncode == 0, said


# ---- the verdict ----

def moments(clip, view, text):
    """Times, and the frame that is on then: a kanim gives every still an equal share of the cycle."""
    frames = clip.facts["frames"]
    if view == "clip.kanim":
        last = float(re.findall(r'time="([^"]*)"', text)[-1])
        chosen = sorted({0, frames // 4, frames // 2, frames * 3 // 4, frames - 1})
        return [((frame + 0.5) / frames * last, frame) for frame in chosen]
    cycle = float(re.search(r'cycleInterval="([^"]*)"', text).group(1))
    return [(part * cycle, part * (frames - 1)) for part in (0, 0.23, 0.5, 0.61, 0.9)]


def camera_of(clip):
    """The same for all that is drawn of the clip."""
    paths = [*(clip.folder / "frames").iterdir(), clip.folder / "clip.x3d"]
    found = {re.search(r"<Viewpoint [^>]*>", path.read_text()).group() for path in paths if path.exists()}
    assert len(found) == 1, "not the same Viewpoint everywhere"
    return Camera(found.pop())


def check_picture(picture, own, others):
    """How many other poses the picture refutes; fails where it does not show its own alone."""
    figure = figure_of(picture)
    near = figure.filter(ImageFilter.MaxFilter(5))
    fault = own.fault(figure, near)
    assert not fault, f"frame {own.frame:g}: {fault}"
    away = [other for other in others if own.distance(other) > AWAY]
    for other in away:
        assert other.fault(figure, near), f"frame {own.frame:g} might as well be {other.frame}"
    return len(away)


def check_times(clip, view, camera):
    text = (clip.folder / view).read_text()
    drawing = lambda frame: Drawing(clip, camera, frame, view == "clip.kanim")
    others = [drawing(frame) for frame in range(clip.facts["frames"])]
    shown = moments(clip, view, text)
    with tempfile.TemporaryDirectory() as work:
        pictures = shoot(clip.folder / view, text, [time for time, _ in shown], work)
        refuted = sum(check_picture(picture, drawing(frame), others)
                      for picture, (_, frame) in zip(pictures, shown))
    return f"{len(shown)} pictures show their poses and refute {refuted} others"


def check_live(clip, camera):
    """A clip without a loop goes on and stays at its end."""
    poses = [Drawing(clip, camera, frame / 4, False) for frame in range(clip.facts["frames"] * 4 - 3)]
    end = clip.facts["frames"] - 2
    seen = []

    def is_over(picture):
        figure = figure_of(picture)
        near = figure.filter(ImageFilter.MaxFilter(5))
        fits = [pose.frame for pose in poses if not pose.fault(figure, near)]
        assert fits or not seen, f"a picture behind that of frame {seen[-1]:g} shows no pose"
        assert not seen or max(fits) > seen[-1] - 1, f"it goes back from frame {seen[-1]:g} to {max(fits):g}"
        seen.extend([fit for fit in fits if not seen or fit >= seen[-1]][:1])
        return len(seen) > 2 and seen[-3] >= end or len(seen) > MANY / 10

    with tempfile.TemporaryDirectory() as work:
        watch(clip.folder / "clip.x3d", work, is_over)
    assert seen and seen[-1] >= end, f"it does not reach its end: {seen}"
    assert len(set(seen)) >= 3, f"it does not move: {seen}"
    return f"the window shows frames {', '.join(f'{frame:g}' for frame in seen)}"


def main():
    folder, skeleton, view, *live = sys.argv[1:]
    clip = Clip(Path(folder), Path(skeleton))
    try:
        camera = camera_of(clip)
        print(check_live(clip, camera) if live else check_times(clip, view, camera))
    except AssertionError as fault:
        sys.exit(f"{folder}/{view}: {fault}")


if __name__ == "__main__":
    main()
