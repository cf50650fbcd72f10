# SPDX-License-Identifier: GPL-3.0-or-later
"""Final Fantasy IX (Steam): sparse keys with tangents; what an edit did not name keeps its bits."""
import copy

import math

from formats import ff9clip
from formats.ff9clip import ROLES, WIDTH, bits, numbers, time_of
from formats.trial import Fault, Trial
from formats.values import f32, same_f32, unchanged

SHOWN = ["t", "q", "s"]
# A tangent that is derived comes from float32s in another order of operations.
NEAR = 2e-3

def label(path):
    return path.rsplit("/", 1)[-1]

def same_slopes(raw, wanted):
    return all(abs(a - b) <= NEAR * max(1, abs(b)) for a, b in zip(numbers(raw), wanted))

class Ff9clipTrial(Trial):
    extension = "anim"

    def invent(self):
        return ff9clip.random_file(self.rng)

    def load(self, data):
        model = ff9clip.read(data)
        self.rate = model.rate
        return model

    def paths(self, model):
        found = {curve.path for role in ROLES for curve in model.curves[role]}
        return sorted(found | set(model.more[1] if model.json else ()), key=str.encode)

    def bones(self, model):
        return {label(path): (SHOWN, self.rows(model, path)) for path in self.paths(model)}

    def frame(self, key):
        return math.floor(time_of(key) * self.rate + 0.5)

    def stand_at_frames(self, keys):
        """Each within 0.001 of a frame of its own, which ascend."""
        moments = [time_of(key) * self.rate for key in keys]
        frames = [self.frame(key) for key in keys]
        near = all(abs(moment - frame) <= 0.001 for moment, frame in zip(moments, frames))
        return near and all(a < b for a, b in zip([-1, *frames], frames))

    def rows(self, model, path):
        rows = {}
        for role in ROLES:
            for curve in model.curves[role]:
                for key in curve.keys if curve.path == path else ():
                    row = rows.setdefault(self.frame(key), {"frame": self.frame(key)})
                    row[role] = numbers(key[1])
        return [rows[frame] for frame in sorted(rows)]

    def says(self, role, cell, number):
        return same_f32(cell, number)

    def look_clip(self, clip):
        model, own = self.model, clip["ff9clip"]
        last = [self.frame(key) for role in ROLES for c in model.curves[role] for key in c.keys]
        assert clip["frames"] == max(last, default=0) + 1, f"{clip['frames']} frames"
        assert f32(own["rate"]) == model.rate, "rate"
        assert own["name"] == model.name, "name"
        assert own["form"] == ("json" if model.json else "binary"), "form"
        on_grid = all(self.stand_at_frames(c.keys) for role in ROLES for c in model.curves[role])
        assert own["grid"] == ("frames" if on_grid else "times"), "grid"
        assert own.get("wrap") == (None if model.json else model.wrap), "wrap"
        assert [bone["name"] for bone in clip["bones"]] == self.paths(model), "bones"
        if not model.json:
            tail = "none" if model.wrap is None else "usual"
            tail = tail if model.tail in (b"", ff9clip.usual_tail()) else "other"
            assert own["tail"] == tail, f"tail {own['tail']}"

    # Edits

    def random_cells(self, role):
        return [f"{v:.{self.rng.randint(5, 8)}f}" for v in ff9clip.random_values(role, self.rng)]

    def change(self, roles, rows, kind):
        rng = self.rng
        role = rng.choice(roles)
        if not rows or rng.random() < 0.25:
            self.add_row(rows, rng.randrange(50))
            return
        row = rng.choice(rows)
        what = rng.choice(("set", "set", "component", "blank", "drop"))
        if what == "set":
            row[role] = self.random_cells(role)
        elif what == "component" and role in row and role != "q":
            row[role][rng.randrange(3)] = self.random_cells(role)[0]
        elif what == "blank" and len([r for r in roles if r in row]) > 1:
            row.pop(role, None)
        elif what == "drop" and (len(rows) > 1 or kind == "json"):
            rows.remove(row)

    def add_row(self, rows, frame):
        if any(row["frame"] == frame for row in rows):
            return
        row = {"frame": frame}
        for role in self.rng.sample(SHOWN, self.rng.randint(1, 3)):
            row[role] = self.random_cells(role)
        rows.insert(self.rng.randint(0, len(rows)), row)

    def spoil(self, roles, rows, kind):
        what = self.rng.choice(("between", "length", "again", "number"))
        row = self.rng.choice(rows)
        if what == "between":
            rows.append({"frame": 0.5, "t": ["1", "2", "3"]})
        elif what == "length":
            row["q"] = self.rng.choice((["0", "0", "0", "0.9"], ["0", "0", "0", "0"]))
        elif what == "again" and kind == "csv":
            rows.extend({"frame": row["frame"], "t": ["1", "2", "3"]} for _ in range(3))
        elif what == "number" and kind == "csv":
            row["t"] = ["1", "2", self.rng.choice(("x", "1..2", "inf", "2024-01-02"))]
        else:
            return
        self.fault = f"{what} in frame {row['frame']}"

    def expect(self, model, changes):
        # A clip without any key may get them anywhere.
        self.may_refuse = False
        for name, (_, served, rows) in changes.items():
            path = next(path for path in self.paths(model) if label(path) == name)
            for role in ROLES:
                self.edit_curve(model, path, role, served, rows)
            self.keep_bone(model, path)
        return model

    def edit_curve(self, model, path, role, served, rows):
        """Values are exact here; tangents of changed and new keys are left to compare()."""
        old = next((c for c in model.curves[role] if c.path == path), None)
        was = {row["frame"]: row[role] for row in served if role in row}
        keys = []
        for row in sorted(rows, key=lambda row: row["frame"]):
            if role not in row:
                continue
            kept = next((k for k in old.keys if self.frame(k) == row["frame"]), None) if old else None
            keys.append(self.key(role, row, kept, was.get(row["frame"])))
        if old and (keys or not old.keys or model.json):
            old.keys = keys
        elif old:
            model.curves[role].remove(old)
        elif keys:
            model.curves[role].append(ff9clip.Curve(path, keys, *self.hold(model)))

    def hold(self, model):
        """What holds before and after in all curves, or what is usual."""
        if model.json:
            return 2, 2
        curves = [c for role in ROLES for c in self.model.curves[role]]
        out = []
        for name in ("before", "after"):
            found = {getattr(c, name) for c in curves}
            out.append(found.pop() if len(found) == 1 else 2)
        return out

    def keep_bone(self, model, path):
        """A bone without keys keeps a curve without any."""
        if not model.json and not any(c.path == path for role in ROLES for c in model.curves[role]):
            old = next((c for c in self.model.curves["q"] if c.path == path), None)
            hold = (old.before, old.after) if old else self.hold(model)
            common = self.hold(model)
            model.curves["q"].append(ff9clip.Curve(path, [], *(hold if old else common)))

    def key(self, role, row, kept, served):
        cells = row[role]
        if not kept:
            return bits(f32(row["frame"] / self.rate)), bits(*(float(c) for c in cells)), None
        value = b""
        for i, cell in enumerate(cells):
            value += kept[1][4 * i : 4 * i + 4] if unchanged(cell, served[i]) else bits(float(cell))
        if role == "q" and all(unchanged(a, b) for a, b in zip(cells, served)):
            value = kept[1]
        return (kept[0], value, kept[2] if value == kept[1] else None)

    def compare(self, want, before, data):
        got = self.load(data)
        lines = [f"{name} is {getattr(got, name)}, not {getattr(want, name)}"
            for name in ("json", "name", "rate", "wrap", "head", "middle", "tail")
            if getattr(got, name) != getattr(want, name)]
        if want.json and got.more[0] != want.more[0]:
            lines.append("other unknown members")
        if want.json and sorted(got.more[1]) != sorted(want.more[1]):
            lines.append(f"entries {got.more[1]}, not {want.more[1]}")
        for role in ROLES:
            lines += self.compare_role(role, got, want)
        return lines

    def compare_role(self, role, got, want):
        mine, theirs = ({c.path: c for c in m.curves[role]} for m in (got, want))
        if sorted(mine) != sorted(theirs) or len(mine) != len(got.curves[role]):
            return [f"{role} of {sorted(mine)}, not of {sorted(theirs)}"]
        lines = []
        for path, curve in mine.items():
            wanted = theirs[path]
            if (curve.before, curve.after) != (wanted.before, wanted.after):
                lines.append(f"{path} {role} holds {curve.before}, {curve.after}")
            if [k[:2] for k in curve.keys] != [k[:2] for k in wanted.keys]:
                lines.append(f"{path} {role}: other times or values")
                continue
            for i, (key, was) in enumerate(zip(curve.keys, wanted.keys)):
                if was[2] is None:
                    lines += self.compare_slopes(path, role, curve, i)
                elif key[2] != was[2]:
                    lines.append(f"{path} {role} key {i}: tangents {numbers(key[2])}, not {numbers(was[2])}")
        return lines

    def compare_slopes(self, path, role, curve, i):
        """A changed key has its old tangents, or those of a rule."""
        times = [time_of(key) for key in curve.keys]
        values = [numbers(key[1]) for key in curve.keys]
        got = curve.keys[i][2]
        old = [k for c in self.model.curves[role] if c.path == path for k in c.keys if k[0] == curve.keys[i][0]]
        if old and old[0][2] == got:
            return []
        if any(same_slopes(got, ff9clip.tangents_by(rule, times, values)[i]) for rule in ("central", "linear")):
            return []
        return [f"{path} {role} key {i} has the tangents {numbers(got)} of no rule"]

    def clip_edit(self, clip):
        model = copy.deepcopy(self.model)
        what = self.rng.choice(("rate", "wrap", "before", "frames", "loop", "name", "less", "more"))
        own = clip["ff9clip"]
        if what == "loop":
            clip["loop"] = True
            raise Fault("a loop")
        if what == "frames":
            clip["frames"] += self.rng.choice((1, -1)) if clip["frames"] > 1 else 1
            raise Fault("another length")
        if what == "rate" and model.rate <= 60:
            model.rate = own["rate"] = 2 * model.rate
        elif what == "wrap" and "wrap" in own:
            model.wrap = own["wrap"] = self.rng.choice((0, 1, 2, 4, 8))
        elif what == "before" and "before" in own and any(model.curves.values()):
            own["before"] = self.rng.choice((0, 1, 2))
            for curve in (c for role in ROLES for c in model.curves[role]):
                curve.before = own["before"]
        elif what in ("name", "less", "more") and clip["bones"]:
            self.edit_list(clip, model, what)
        return model

    def edit_list(self, clip, model, what):
        entry = self.rng.choice(clip["bones"])
        path = entry["name"]
        if what == "less":
            clip["bones"].remove(entry)
            for role in ROLES:
                model.curves[role] = [c for c in model.curves[role] if c.path != path]
            if model.json:
                model.more[1].remove(path)
        elif what == "more":
            new = f"{path}/new{self.rng.randrange(10**6)}"
            clip["bones"].append({"bone": label(new), "name": new})
            if model.json:
                model.more[1].append(new)
            else:
                model.curves["q"].append(ff9clip.Curve(new, [], *self.hold(model)))
        else:
            new = f"other{self.rng.randrange(10**6)}"
            entry["was"], entry["bone"] = entry["bone"], new
            whole = path[: len(path) - len(label(path))] + new
            self.rename(model, path, whole)

    def rename(self, model, old, new):
        """What is below goes along."""
        def moved(path):
            return new + path[len(old) :] if path == old or path.startswith(old + "/") else path

        for role in ROLES:
            for curve in model.curves[role]:
                curve.path = moved(curve.path)
        if model.json:
            model.more[1] = [moved(path) for path in model.more[1]]
