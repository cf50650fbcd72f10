# SPDX-License-Identifier: GPL-3.0-or-later
"""Final Fantasy IX: every frame has its numbers; an edited block is laid out as the game does it."""
import copy

from formats import ff9anim
from formats.trial import Fault, Trial
from formats.values import DEGREES, TURN, exact, nearest


def bone_name(number):
    return f"bone_{number:03}"


class Ff9Trial(Trial):
    extension = "ff9anim"

    def invent(self):
        data, self.bone_count = ff9anim.random_file(self.rng)
        if ff9anim.derive_bones(data) != self.bone_count or self.rng.random() < 0.1:
            self.options = ["--type", f"*.ff9anim=ff9anim:{self.bone_count}"]
        return data

    def load(self, data):
        return ff9anim.read(data, self.bone_count if self.options else None)

    def bones(self, model):
        bones = {}
        for number, axes in enumerate(model.angles):
            rows = []
            for frame in range(model.frames):
                row = {"frame": frame, "r": [axis[frame] for axis in axes]}
                if number == 0:
                    row["t"] = [axis[frame] for axis in model.translation]
                rows.append(row)
            bones[bone_name(number)] = (["r"] if number else ["t", "r"], rows)
        return bones

    def says(self, role, cell, number):
        return exact(cell) == (number * DEGREES if role == "r" else number)

    def look_clip(self, clip):
        assert clip["frames"] == self.model.frames, "frames"
        assert clip["ff9anim"]["word0"] == self.model.word0, "word0"

    # Edits

    def random_cells(self, role):
        rng = self.rng
        if role == "t":
            return [str(rng.choice((0, -32768, 32767, rng.randint(-32768, 32767)))) for _ in range(3)]
        kind = rng.choice(("step", "high", "any"))
        if kind == "any":
            return [f"{rng.uniform(-900, 900):.4f}" for _ in range(3)]
        unit = 16 if kind == "high" else 1
        return [f"{float(rng.randrange(-4096, 8192) // unit * unit * DEGREES):.10f}" for _ in range(3)]

    def change(self, roles, rows, kind):
        rng = self.rng
        role = rng.choice(roles)
        row = rng.choice(rows)
        inner = [r for r in rows[1:-1] if r["frame"] not in (0, self.model.frames - 1)]
        what = rng.choice(("set", "set", "set", "component", "blank", "drop", "still"))
        if what == "blank" and inner:
            rng.choice(inner).pop(role, None)
        elif what == "drop" and inner:
            for gone in rng.sample(inner, rng.randint(1, len(inner))):
                rows.remove(gone)
        elif what == "still" and kind == "csv":
            for later in rows[1:]:
                later.pop(role, None)
        elif what == "component" and role in row:
            row[role][rng.randrange(3)] = self.random_cells(role)[0]
        elif what == "set" and self.is_free(rows, row, role):
            row[role] = self.random_cells(role)

    def is_free(self, rows, row, role):
        """Not a value after which there is none: a curve is whole or has one value in the first row."""
        return role in rows[-1] or row is rows[0]

    def spoil(self, roles, rows, kind):
        role = self.rng.choice(roles)
        what = self.rng.choice(("frame", "far", "end", "begin", "role"))
        if what == "frame":
            rows.append(dict(rows[0], frame=self.model.frames))
        elif what == "far" and "t" in rows[0]:
            rows[0]["t"][1] = self.rng.choice(("32768", "-32769", "1000000"))
        elif what == "end" and len(rows) > 2 and role in rows[-2]:
            rows.pop()
        elif what == "begin" and len(rows) > 1:
            rows.pop(0)
        elif what == "role":
            for row in rows:
                row.pop(role, None)
        else:
            return
        self.fault = f"{what} of {role}"

    def expect(self, model, changes):
        """The model, with (lowest, highest) in place of numbers that are filled in."""
        for name, (roles, _, rows) in changes.items():
            number = int(name[-3:])
            for role in roles:
                axes = model.translation if role == "t" else model.angles[number]
                for axis in range(3):
                    typed = {row["frame"]: row[role][axis] for row in rows if role in row}
                    axes[axis][:] = filled(typed, role, model.frames)
        return model

    def compare(self, want, before, data):
        got = self.load(data)
        lines = [f"{name} is {getattr(got, name)}, not {getattr(want, name)}"
            for name in ("word0", "frames", "mask", "tail") if getattr(got, name) != getattr(want, name)]
        lines += differing("translation", got.translation, want.translation, 0)
        if len(got.angles) != len(want.angles):
            return lines + [f"{len(got.angles)} bones, not {len(want.angles)}"]
        for number, (axes, wanted) in enumerate(zip(got.angles, want.angles)):
            lines += differing(bone_name(number), axes, wanted, TURN)
        if data == before:
            return lines
        want.translation, want.angles = got.translation, got.angles
        want.low = want.low or needs_low(got)
        bones = len(got.angles)
        want.masks = tuple((list(bits) + [0] * bones)[:bones] for bits in want.masks)
        if not lines and ff9anim.write(want) != data:
            lines.append("the block is not laid out as the game does it")
        return lines

    def clip_edit(self, clip):
        model = copy.deepcopy(self.model)
        what = self.rng.choice(("frames", "frames", "word0", "less", "more", "first", "name"))
        if what == "frames":
            clip["frames"] = model.frames = self.rng.choice((1, 2, self.rng.randint(1, 60)))
            for axes in [model.translation] + model.angles:
                for axis in axes:
                    axis[:] = (axis + axis[-1:] * model.frames)[: model.frames]
        elif what == "word0":
            clip["ff9anim"]["word0"] = model.word0 = self.rng.randrange(65536)
        elif what == "less" and len(model.angles) > 1:
            clip["bones"].pop()
            model.angles.pop()
        elif what == "more" and len(model.angles) < 255:
            clip["bones"].append({"bone": bone_name(len(model.angles))})
            model.angles.append([[0] * model.frames for _ in range(3)])
        elif what == "first" and len(model.angles) > 1:
            clip["bones"].pop(0)
            raise Fault("the first bone gone")
        elif what == "name":
            clip["bones"][-1] = {"bone": "bone_999", "was": clip["bones"][-1]["bone"]}
            raise Fault("a bone of another number")
        if self.options:
            self.bone_count = len(model.angles)
            self.options[1] = f"*.ff9anim=ff9anim:{self.bone_count}"
        return model


def needs_low(model):
    """For angles between high steps; and to part bytes behind all from a table without streams."""
    axes = [axis for bone in model.angles for axis in bone]
    still = all(len({a >> 4 for a in axis}) == 1 for axis in axes)
    return any(a & 15 for axis in axes for a in axis) or (still and model.tail != b"")


def stored(role, cell):
    if role == "r":
        return nearest(exact(cell) / DEGREES) % TURN
    value = nearest(exact(cell))
    if not -32768 <= value <= 32767:
        raise Fault(f"{cell} is past 16 bits")
    return value


def filled(typed, role, frames):
    """A value for each frame; where none was typed, what lies between as (lowest, highest)."""
    known = {frame: stored(role, cell) for frame, cell in typed.items()}
    if list(known) == [0]:
        return [known[0]] * frames
    out = []
    for frame in range(frames):
        if frame in known:
            out.append(known[frame])
            continue
        first = max(f for f in known if f < frame)
        last = min(f for f in known if f > frame)
        share = (frame - first) / (last - first)
        out.append(between(known[first], known[last], share, role))
    return out


def between(a, b, share, role):
    """Half a step for each of the two, which were typed between steps, and half for the one between."""
    step = b - a
    if role == "r":
        step = (step + TURN // 2) % TURN - TURN // 2
        if abs(step) == TURN // 2:
            return 0, TURN
    middle = a + step * share
    return middle - 1.01, middle + 1.01


def differing(what, axes, wanted, turn):
    for axis, values, wants in zip("xyz", axes, wanted):
        for frame, (value, want) in enumerate(zip(values, wants)):
            if not is_within(value, want, turn):
                yield f"{what} {axis} frame {frame} is {value}, not {want}"


def is_within(value, want, turn):
    if not isinstance(want, tuple):
        return value == want
    return any(want[0] <= value + whole <= want[1] for whole in (-turn, 0, turn))
