# SPDX-License-Identifier: GPL-3.0-or-later
"""Overwatch: a cell is a key; keys that an edit did not name keep their bytes and their order."""
import copy
import math
import struct

from formats import owanim
from formats.trial import Fault, Trial
from formats.values import exact, f32, nearest, same_f32, unchanged

ROLES = ["t", "q", "s"]
STORED = {"t": "t", "q": "r", "s": "s"}
# A packed rotation is computed; its text may be the shortest of what lies this near.
NEAR = 1e-7


def numbers(role, raw):
    if role == "t":
        return list(struct.unpack("<3f", raw))
    if role == "s":
        return [value / 1024 for value in struct.unpack("<3H", raw)]
    return owanim.decode(raw)


def occurrences(frames):
    """[(frame, how many of it stood before)]"""
    seen = {}
    places = []
    for frame in frames:
        places.append((frame, seen.setdefault(frame, 0)))
        seen[frame] += 1
    return places


def cells_of(rows, role):
    """{(frame, occurrence): cells} of one role."""
    there = [row for row in rows if role in row]
    return dict(zip(occurrences([row["frame"] for row in there]), (row[role] for row in there)))


class OwanimTrial(Trial):
    extension = "006"

    def invent(self):
        data = owanim.random_file(self.rng)[0]
        self.reading = owanim.fit(data)[0][1]
        return data

    def load(self, data):
        model = owanim.read(data, *self.reading)
        self.rate = owanim.rate_of(model.fps)
        return model

    def bones(self, model):
        return {f"bone_{number:04X}": (ROLES, self.rows(keys))
            for number, keys in zip(model.bones, model.keys)}

    def rows(self, keys):
        rows = {}
        for role in ROLES:
            stored = keys[STORED[role]]
            for place, (frame, raw) in zip(occurrences([key[0] for key in stored]), stored):
                row = rows.setdefault(place, {"frame": frame})
                row[role] = numbers(role, raw)
        return [rows[place] for place in sorted(rows)]

    def says(self, role, cell, number):
        return same_f32(cell, number) or (role == "q" and abs(float(cell) - number) <= NEAR)

    def look_clip(self, clip):
        model = self.model
        assert clip["frames"] == model.frames, f"{clip['frames']} frames, not {model.frames}"
        assert f32(clip["duration"]) == model.duration, "duration"
        assert [bone["bone"] for bone in clip["bones"]] == list(self.bones(model)), "bones"
        own = clip["owanim"]
        assert f32(own["fps"]) == model.fps, "fps"
        assert (own["counter1"], own["flag"]) == (model.counter1, model.flag), "counter1, flag"

    # Edits

    def random_cells(self, role):
        rng = self.rng
        if role == "q":
            return [f"{v:.7f}" for v in owanim.random_quaternion(rng)]
        if role == "t":
            return [f"{rng.uniform(-9, 9):.{rng.randint(1, 6)}f}" for _ in range(3)]
        return [f"{rng.uniform(0, 63.99):.4f}" for _ in range(3)]

    def is_odd(self, cells):
        return not all(math.isfinite(float(cell)) for cell in cells)

    def change(self, roles, rows, kind):
        rng = self.rng
        frames = self.model.frames
        role = rng.choice(roles)
        if not rows or rng.random() < 0.25:
            self.add_row(rows, rng.randrange(frames))
            return
        row = rng.choice(rows)
        same_frame = [r for r in rows if r["frame"] == row["frame"]]
        if any(self.is_odd(r[name]) for r in same_frame for name in roles if name in r):
            return
        what = rng.choice(("set", "set", "component", "nudge", "blank", "drop"))
        if what == "set" and (len(same_frame) == 1 or role in row):
            row[role] = self.random_cells(role)
        elif what == "component" and role in row and role != "q":
            row[role][rng.randrange(3)] = self.random_cells(role)[0]
        elif what == "nudge" and "q" in row:
            row["q"] = self.nudged(row["q"])
        elif what == "blank" and self.stay(rows, kind) and len([r for r in roles if r in row]) > 1:
            row.pop(role, None)
        elif what == "drop" and self.stay(rows, kind):
            rows.remove(row)

    def stay(self, rows, kind):
        """The last row of a table cannot just go: a header alone removes no keys."""
        return len(rows) > 1 or kind == "json"

    def nudged(self, cells):
        near = [float(cell) + self.rng.gauss(0, 0.01) for cell in cells]
        length = math.sqrt(sum(v * v for v in near))
        if length < 0.5:
            return cells
        off = self.rng.choice((1, 1, 0.993, 1.008))
        return [f"{v / length * off:.7f}" for v in near]

    def add_row(self, rows, frame):
        if any(row["frame"] == frame for row in rows):
            return
        row = {"frame": frame}
        for role in self.rng.sample(ROLES, self.rng.randint(1, 3)):
            row[role] = self.random_cells(role)
        rows.insert(self.rng.randint(0, len(rows)), row)

    def spoil(self, roles, rows, kind):
        what = self.rng.choice(("frame", "scale", "length", "again", "number"))
        row = self.rng.choice(rows)
        if what == "frame":
            rows.append({"frame": self.model.frames, "t": ["1", "2", "3"]})
        elif what == "scale":
            row["s"] = ["1", self.rng.choice(("64.1", "-0.1")), "1"]
        elif what == "length":
            row["q"] = self.rng.choice((["0", "0", "0", "0.9"], ["1", "1", "0", "0"]))
        elif what == "again" and kind == "csv":
            rows.extend({"frame": row["frame"], "t": ["1", "2", "3"]} for _ in range(4))
        elif what == "number" and kind == "csv":
            row["t"] = ["1", "2", self.rng.choice(("x", "1..2", "nan", "2024-01-02"))]
        else:
            return
        self.fault = f"{what} in frame {row['frame']}"

    def expect(self, model, changes):
        names = list(self.bones(model))
        self.may_refuse = self.is_told_by_keys(model)
        for name, (_, served, rows) in changes.items():
            keys = model.keys[names.index(name)]
            for role in ROLES:
                keys[STORED[role]] = self.edited(role, keys[STORED[role]], served, rows)
        return model

    def edited(self, role, old, served, rows):
        """The keys of a curve: those that stay in their order, each new one before the first larger."""
        was, typed = cells_of(served, role), cells_of(rows, role)
        out = []
        for place, (frame, raw) in zip(occurrences([key[0] for key in old]), old):
            if place in typed:
                out.append((frame, self.value(role, typed.pop(place), raw, was[place])))
        for place in sorted(typed):
            at = next((i for i, key in enumerate(out) if key[0] > place[0]), len(out))
            out.insert(at, (place[0], self.value(role, typed[place], None, None)))
        return out

    def value(self, role, cells, raw, served):
        """The bytes for the cells; those of a part that was not changed stay."""
        if served and all(unchanged(a, b) for a, b in zip(cells, served) if a != b):
            return raw
        if role == "q":
            return self.rotation(cells, raw)
        size = len(raw or bytes(owanim.SIZE[STORED[role]])) // 3
        out = b""
        for i, cell in enumerate(cells):
            if served and unchanged(cell, served[i]):
                out += raw[i * size : (i + 1) * size]
            elif role == "t":
                out += struct.pack("<f", float(cell))
            else:
                out += struct.pack("<H", nearest(exact(cell) * 1024))
        return out

    def rotation(self, cells, raw):
        typed = [float(cell) for cell in cells]
        length = math.sqrt(sum(v * v for v in typed))
        return owanim.encode_nearest([v / length for v in typed], raw)

    def compare(self, want, before, data):
        was, old = self.load(before), self.reading
        self.reading = owanim.fit(data)[0][1]
        if self.reading[::2] != (want.layout, want.frames):
            return [f"reads as {self.reading}, not in {want.frames} frames (was {old})"]
        got = self.load(data)
        lines = [f"{name} is {getattr(got, name)}, not {getattr(want, name)}"
            for name in ("counter1", "duration", "fps", "flag", "unknown", "effect", "padding", "zero",
                "bones", "data_first") if not same(getattr(got, name), getattr(want, name))]
        # What fills up to a multiple of 4 is not told from zeros that follow.
        if got.tail.lstrip(b"\0") != want.tail.lstrip(b"\0"):
            lines.append(f"tail is {got.tail.hex()}, not {want.tail.hex()}")
        if want.layout == "bone" and got.flags != want.flags:
            lines.append("other flags of entries")
        growth = len(data) - len(before)
        if (got.end1, got.end2) != (was.end1 + growth, was.end2 + growth):
            lines.append(f"end1, end2 are {got.end1}, {got.end2} after a growth of {growth}")
        for number, keys, wanted in zip(got.bones, got.keys, want.keys):
            for role in owanim.ROLES:
                if keys[role] != wanted[role]:
                    lines.append(f"bone_{number:04X} {role}: " + first_difference(keys[role], wanted[role]))
        return lines + self.fields_of_nothing(got, want)

    def fields_of_nothing(self, got, want):
        """Offsets of what has no elements are nobody's business."""
        return [f"entry {i}: the fields of an empty channel are {a}, not {b}"
            for i, (news, olds) in enumerate(zip(got.junk, want.junk))
            for a, b in zip(news, olds) if a and b and a != b]

    def clip_edit(self, clip):
        model = copy.deepcopy(self.model)
        self.may_refuse = self.is_told_by_keys(model)
        what = self.rng.choice(("frames", "edge", "duration", "own", "loop", "bones", "bones"))
        if what == "loop":
            clip["loop"] = True
            raise Fault("a loop")
        if what == "own":
            name = self.rng.choice(("flag", "counter1"))
            clip["owanim"][name] = self.rng.randrange(1, 0x10000)
            setattr(model, name, clip["owanim"][name])
        elif what == "bones" and model.layout == "bone":
            self.edit_list(clip, model)
        elif what in ("frames", "edge", "duration") and model.layout == "bone":
            self.edit_length(clip, model, what)
        return model

    def is_told_by_keys(self, model):
        """The readers' formula does not give the length, and what does may go with an edit."""
        return owanim.frame_counts(model.duration, model.fps)[0] != model.frames

    def edit_length(self, clip, model, what):
        count = self.rng.randint(253, 258) if what == "edge" else self.rng.randint(1, 400)
        if count == model.frames or (model.limit == "count" and count > 256):
            return
        model.frames = count
        model.duration = f32((count - 1) / self.rate)
        if what == "duration":
            clip["duration"] = model.duration
        else:
            clip["frames"] = count
        for keys in model.keys:
            for role in owanim.ROLES:
                keys[role] = [key for key in keys[role] if key[0] < count]
        self.may_refuse = self.is_told_by_keys(model)

    def edit_list(self, clip, model):
        """Bones in another order, one gone, one more, one of another number."""
        order = list(range(len(model.bones)))
        what = self.rng.choice(("order", "less", "more", "number"))
        if what == "order":
            self.rng.shuffle(order)
        elif what == "less" and len(order) > 1:
            order.pop(self.rng.randrange(len(order)))
        for name in ("bones", "keys", "flags", "junk"):
            setattr(model, name, [getattr(model, name)[i] for i in order])
        clip["bones"] = [clip["bones"][i] for i in order]
        number = self.rng.choice([n for n in range(0x3000, 0x3100) if n not in model.bones])
        if what == "more":
            clip["bones"].append({"bone": f"bone_{number:04X}"})
            model.bones.append(number)
            model.keys.append({role: [] for role in owanim.ROLES})
            model.flags.append(0)
            model.junk.append([None] * 3)
        elif what == "number":
            clip["bones"][0] = {"bone": f"bone_{number:04X}", "was": clip["bones"][0]["bone"]}
            model.bones[0] = number


def same(a, b):
    return a == b or (a != a and b != b)


def first_difference(keys, wanted):
    if [key[0] for key in keys] != [key[0] for key in wanted]:
        return f"frames {[key[0] for key in keys]}, not {[key[0] for key in wanted]}"
    for (frame, raw), (_, want) in zip(keys, wanted):
        if raw != want:
            return f"frame {frame} is {raw.hex()}, not {want.hex()}"
    return "?"
