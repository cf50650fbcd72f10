# SPDX-License-Identifier: GPL-3.0-or-later
"""Vib-Ribbon: rows are keyframes, and every byte of an edited file is known."""
import copy

from formats import ribbon
from formats.trial import Fault, Trial
from formats.values import DEGREES, TURN, exact, nearest, same_f32

ROLES = ["t", "r", "s"]


def stored(role, cell):
    number = exact(cell)
    value = nearest(number / DEGREES if role == "r" else number * TURN if role == "s" else number)
    if not -32768 <= value <= 32767:
        raise Fault(f"{role} {cell} is past 16 bits")
    return value


def number_of(name):
    return int(name.removeprefix("object_"))


class RibbonTrial(Trial):
    extension = "anm"
    keyframes = True

    def invent(self):
        return ribbon.random_file(self.rng)

    def load(self, data):
        return ribbon.read(data)

    def bones(self, model):
        bones = {}
        for frame, keys in enumerate(model.frames):
            for key in keys:
                row = {"frame": frame, "flags": key["flags"]}
                row.update({role: key[role] for role in ROLES if role in key})
                bones.setdefault(f"object_{key['object']:03}", (ROLES, []))[1].append(row)
        return dict(sorted(bones.items()))

    def says(self, role, cell, number):
        if role == "r":
            return exact(cell) == number * DEGREES
        return same_f32(cell, number / TURN) if role == "s" else exact(cell) == number

    def look_clip(self, clip):
        assert clip["frames"] == len(self.model.frames), "frames"
        assert clip["ribbon"]["word2"] == self.model.word2, "word2"

    def random_cells(self, role):
        span = {"r": 2880, "s": 8, "t": 32767}[role]
        digits = self.rng.choice((0, 1, 3, 6)) if role != "t" else 0
        cells = []
        for _ in range(3):
            value = self.rng.uniform(-span, span * 0.999)
            cells.append(f"{value:.{digits}f}" if digits else str(int(value * 0.99)))
        return cells

    def change(self, roles, rows, kind):
        rng = self.rng
        frames = len(self.model.frames)
        row = rng.choice(rows) if rows else self.add_row(rows, rng.randrange(frames))
        role = rng.choice(roles)
        what = rng.choice(("set", "set", "component", "part", "flags", "add", "again", "drop"))
        if what == "set":
            row[role] = self.random_cells(role)
        elif what == "component" and role in row:
            row[role][rng.randrange(3)] = self.random_cells(role)[0]
        elif what == "part":
            row.pop(role, None)
        elif what == "flags":
            row["flags"] = 8 * rng.randrange(32)
        elif what == "add":
            self.add_row(rows, rng.randrange(frames))
        elif what == "again":
            self.add_row(rows, row["frame"])
        elif what == "drop":
            rows.remove(row)

    def add_row(self, rows, frame):
        row = {"frame": frame, "flags": 8 * self.rng.randrange(32)}
        for role in ROLES:
            if self.rng.random() < 0.5:
                row[role] = self.random_cells(role)
        place = [i for i, other in enumerate(rows) if other["frame"] <= frame]
        rows.insert(place[-1] + 1 if place else 0, row)
        return row

    def spoil(self, roles, rows, kind):
        row, role = self.rng.choice(rows), self.rng.choice(roles)
        what = self.rng.choice(("flags", "frame", "far") + (("half", "text") if kind == "csv" else ()))
        if what == "flags":
            row["flags"] = self.rng.choice((1, 7, 12, 256, -8))
        elif what == "frame":
            row["frame"] = len(self.model.frames)
        else:
            row[role] = self.random_cells(role)
            row[role][1] = {"far": "40000", "half": "", "text": "1..5"}[what]
        self.fault = f"{what} in frame {row['frame']}"

    def expect(self, model, changes):
        for name, (_, _, rows) in changes.items():
            number = number_of(name)
            typed = {}
            for row in rows:
                key = {"object": number, "flags": row["flags"]}
                key.update({r: [stored(r, cell) for cell in row[r]] for r in ROLES if r in row})
                typed.setdefault(row["frame"], []).append(key)
            for frame, keys in enumerate(model.frames):
                model.frames[frame] = replaced(keys, number, typed.get(frame, []))
        if len(ribbon.write(model)) - len(model.tail) > ribbon.LONGEST:
            raise Fault("too long")
        return model

    def compare(self, want, before, data):
        if ribbon.write(want) == data:
            return []
        got = ribbon.read(data)
        lines = [f"{name} is {getattr(got, name)}, not {getattr(want, name)}"
            for name in ("word2", "gap", "tail") if getattr(got, name) != getattr(want, name)]
        if len(got.frames) != len(want.frames):
            lines.append(f"{len(got.frames)} frames, not {len(want.frames)}")
        return lines + [f"frame {i}: {a}, not {b}"
            for i, (a, b) in enumerate(zip(got.frames, want.frames)) if a != b]

    def clip_edit(self, clip):
        model = copy.deepcopy(self.model)
        what = self.rng.choice(("frames", "word2", "number", "loop"))
        if what == "frames":
            clip["frames"] = self.rng.randint(0 if self.rng.random() < 0.1 else 1, 50)
            if clip["frames"] == 0 and model.frames:
                raise Fault("no frames")
            cut = model.frames[: clip["frames"]]
            model.frames = cut + [[] for _ in range(clip["frames"] - len(cut))]
        elif what == "word2":
            clip["ribbon"]["word2"] = model.word2 = self.rng.randrange(65536)
        elif what == "loop":
            clip["loop"] = True
            raise Fault("a loop")
        elif clip["bones"]:
            self.renumber(clip, model)
        return model

    def renumber(self, clip, model):
        there = [bone["bone"] for bone in clip["bones"]]
        bone = self.rng.choice(clip["bones"])
        free = [n for n in range(256) if f"object_{n:03}" not in there]
        number = self.rng.choice(free)
        old = number_of(bone["bone"])
        bone.update({"was": bone["bone"], "bone": f"object_{number:03}"})
        del bone["name"]
        for keys in model.frames:
            for key in keys:
                if key["object"] == old:
                    key["object"] = number


def replaced(keys, number, typed):
    """A frame with these keyframes of one object: in the old ones' places, the further ones last."""
    typed = list(typed)
    out = []
    for key in keys:
        if key["object"] != number:
            out.append(key)
        elif typed:
            out.append(typed.pop(0))
    return out + typed
