# SPDX-License-Identifier: GPL-3.0-or-later
"""One invented file through all its texts: what they say, their own text saved back, and edits.

A format's Trial says what this module cannot know of it:

    invent()                 makes the bytes of a file; self.options says how to read it
    load(data)               its model
    bones(model)             {name: (roles, rows)}, the rows with numbers in place of texts
    says(role, cell, number) is the cell what one writes for the number?
    change(roles, rows, kind)  one random change of rows as texts, for a text of this kind
    spoil(roles, rows, kind)   something that must be refused; self.fault says why
    expect(model, changes)   what {name: (roles, old rows, new rows)} makes of a model; Fault if that
                             must be refused
    compare(want, data)      lines about what is not as it was expected
    clip_edit(clip)          a random change of clip.json; returns what it makes of the model
"""
import copy
import json
import os
import re
from fractions import Fraction

from formats import texts
from formats.program import File, Refused

# Line and column, or what only the whole file shows to be impossible, by name.
PLACE = r"^\S+:\d+:\d+: |^\S+: (clip |bone_|object_|there is a header and no row|%s)"


class Fault(Exception):
    """An edit that must be refused."""


class Wrong(Exception):
    """The program did what it must not."""


class Trial:
    keyframes = False
    rate = 30

    def __init__(self, animfs, path, rng):
        self.rng = rng
        self.options = []
        data = self.invent()
        with open(path, "wb") as file:
            file.write(data)
        self.file = File(animfs, path, self.options)
        self.clip = os.path.basename(path).rsplit(".", 1)[0]
        self.model = self.load(data)
        self.edits = self.refusals = 0
        self.history = []

    def place(self, name):
        return f"{self.clip}/{name}"

    # What the texts say

    def look(self):
        """Every number of the texts against the model."""
        said = self.file.check()
        if said:
            raise Wrong(f"check: {said}")
        bones = self.bones(self.model)
        listed = set(self.bone_texts())
        wanted = {f"{name}.{kind}" for name in bones for kind in ("csv", "json")}
        if listed != wanted:
            raise Wrong(f"bones listed: {sorted(listed ^ wanted)[:4]} of {len(wanted)}")
        some = self.some(bones, 12)
        places = [self.place("clip.json"), self.place("curves.csv")]
        places += [self.place(f"bones/{name}.{kind}") for name in some for kind in ("csv", "json")]
        clip, curves, *rest = self.file.cat(*places)
        self.look_clip(json.loads(clip))
        self.look_curves(texts.read_curves(curves), bones)
        for i, name in enumerate(some):
            roles, rows = texts.read_bone(rest[2 * i])
            self.look_rows(name, roles, rows, bones[name])
            self.look_json(name, json.loads(rest[2 * i + 1]), bones[name])

    def bone_texts(self):
        """The names of the texts of bones; pictures are not looked at."""
        names = self.file.ls(f"/{self.clip}/bones")
        return [name for name in names if name.endswith((".csv", ".json"))]

    def some(self, names, most):
        names = list(names)
        return names if len(names) <= most else self.rng.sample(names, most)

    def look_rows(self, name, roles, rows, wanted):
        if roles != wanted[0]:
            raise Wrong(f"{name}.csv has the columns {roles}, not {wanted[0]}")
        if len(rows) != len(wanted[1]):
            raise Wrong(f"{name}.csv has {len(rows)} rows, not {len(wanted[1])}")
        for row, want in zip(rows, wanted[1]):
            where = f"{name}.csv frame {want['frame']}"
            if row["frame"] != want["frame"] or row.get("flags") != want.get("flags"):
                raise Wrong(f"{where}: {row}, not {want}")
            if abs(Fraction(row["time"]) - Fraction(want["frame"]) / Fraction(self.rate)) > 1e-6:
                raise Wrong(f"{where}: time {row['time']}")
            for role in roles:
                self.look_value(where, role, row.get(role), want.get(role))

    def look_value(self, where, role, cells, numbers):
        if (cells is None) != (numbers is None):
            raise Wrong(f"{where}: {role} is {cells}, not {numbers}")
        for cell, number in zip(cells or [], numbers or []):
            if not self.says(role, cell, number):
                raise Wrong(f"{where}: {role} is {cells}, not {numbers}")

    def look_curves(self, curves, bones):
        if sorted(curves) != sorted(bones):
            raise Wrong(f"curves.csv has other bones: {list(curves)}, not {list(bones)}")
        for name, (roles, rows) in bones.items():
            wanted = self.curve_keys(roles, rows)
            got = {(key[0], key[1], int(key[4] or 0), i): key for i, key in enumerate(curves[name])}
            for (channel, frame, occurrence, _), key in got.items():
                place = (channel, frame, occurrence)
                where = f"curves.csv {name} {place}"
                if not wanted.get(place):
                    raise Wrong(f"{where}: should not be there")
                role, row = wanted[place].pop(0)
                if key[3] is not None and int(key[3]) != row["flags"]:
                    raise Wrong(f"{where}: flags {key[3]}, not {row['flags']}")
                if role:
                    self.look_value(where, role, key[2], row[role])
            missing = [place for place, left in wanted.items() if left]
            if missing:
                raise Wrong(f"curves.csv {name}: {missing[:3]} are missing")

    def curve_keys(self, roles, rows):
        """{(channel, frame, occurrence): [(role, row)]}; occurrences are counted for keyframes."""
        keys, seen = {}, {}
        for row in rows:
            occurrence = seen.setdefault(row["frame"], 0) if self.keyframes else 0
            if self.keyframes:
                seen[row["frame"]] += 1
            there = [role for role in roles if role in row]
            for role in there or [None] * self.keyframes:
                place = (texts.ROWS.get(role, "none"), row["frame"], occurrence)
                keys.setdefault(place, []).append((role, row))
        return keys

    def look_json(self, name, whole, wanted):
        roles, rows = wanted
        if whole["bone"] != name:
            raise Wrong(f"{name}.json is of {whole['bone']}")
        if self.keyframes:
            keys = [{r: key.get(m) for r, m in texts.PARTS.items()} for key in whole["keyframes"]]
            if [(k["frame"], k["flags"]) for k in whole["keyframes"]] != [
                (row["frame"], row["flags"]) for row in rows
            ]:
                raise Wrong(f"{name}.json has other keyframes")
            for key, row in zip(keys, rows):
                for role, value in key.items():
                    cells = value and [repr(number) for number in value]
                    self.look_value(f"{name}.json {row['frame']}", role, cells, row.get(role))
            return
        for role in roles:
            keys = whole["channels"].get(texts.CHANNELS[role], {"keys": []})["keys"]
            there = [row for row in rows if role in row]
            if sorted(key["frame"] for key in keys) != [row["frame"] for row in there]:
                raise Wrong(f"{name}.json has other {role} keys")
            keys = sorted(keys, key=lambda key: key["frame"])
            for key, row in zip(keys, there):
                cells = ["nan" if v is None else repr(v) for v in key["value"]]
                if "raw" not in key:
                    self.look_value(f"{name}.json {row['frame']}", role, cells, row[role])

    def look_clip(self, clip):
        """A format says more of it."""

    # Own texts saved back

    def save_own(self):
        before = self.file.bytes()
        stamp = os.stat(self.file.path).st_mtime_ns
        places = [self.place("clip.json"), self.place("curves.csv"), "file.json"]
        for name in self.some(self.bones(self.model), 2):
            places += [self.place(f"bones/{name}.csv"), self.place(f"bones/{name}.json")]
        for form in ([], ["--rotations=euler"], ["--rotations=quaternion"]):
            self.file.options = self.options + form
            for place, text in zip(places, self.file.cat(*places)):
                self.same_after(place, text, before, stamp, form)
            self.file.options = self.options

    def same_after(self, place, text, before, stamp, form):
        try:
            self.file.put(place, text)
        except Refused as refused:
            raise Wrong(f"{place} {form}: its own text is refused: {refused}") from None
        if self.file.bytes() != before:
            raise Wrong(f"{place} {form}: its own text changes the file")
        if os.stat(self.file.path).st_mtime_ns != stamp:
            raise Wrong(f"{place} {form}: its own text moves the time of the file")

    # Edits

    def edit(self):
        self.may_refuse = False
        if self.rng.random() < 0.2:
            place, text, want = self.edit_clip()
        else:
            place, text, want = self.edit_bones()
        self.history.append((place, text))
        before = self.file.bytes()
        try:
            self.file.put(place, text)
        except Refused as refused:
            self.refusals += 1
            if not re.search(PLACE % self.clip, str(refused)):
                raise Wrong(f"refused without a place: {refused}") from None
            if want is not None and not self.may_refuse:
                raise Wrong(f"{place}: refused: {refused}") from None
            return
        self.edits += 1
        if want is None:
            raise Wrong(f"{place}: accepted, and should be refused: {self.why}")
        data = self.file.bytes()
        problems = self.compare(want, before, data)
        if problems:
            raise Wrong(f"{place}: " + "; ".join(problems[:4]))
        self.model = self.load(data)

    def edit_bones(self):
        names = list(self.bones(self.model))
        kind = self.rng.choice(("csv", "csv", "json", "curves"))
        if not names:
            return self.edit_clip()
        if kind == "curves":
            place, served, changed = self.edit_curves(names)
        else:
            place, served, changed = self.edit_bone(self.rng.choice(names), kind)
        try:
            self.fault = None
            for name in changed:
                roles, _, rows = served[name]
                for _ in range(self.rng.randint(1, 4)):
                    self.change(roles, rows, kind)
                if not rows and self.keyframes:
                    self.fault = "an object without keyframes"
            if rows and self.rng.random() < 0.08:
                self.spoil(roles, rows, kind)
            if self.fault:
                raise Fault(self.fault)
            want = self.expect(copy.deepcopy(self.model), {n: served[n] for n in changed})
        except Fault as fault:
            want, self.why = None, str(fault)
        return place, self.render(kind, served, changed), want

    def read_bone(self, name):
        table, whole = self.file.cat(*(self.place(f"bones/{name}.{k}") for k in ("csv", "json")))
        roles, rows = texts.read_bone(table)
        texts.keep_raw(rows, whole)
        return whole, roles, rows

    def edit_bone(self, name, kind):
        self.whole, roles, rows = self.read_bone(name)
        served = {name: (roles, rows, copy.deepcopy(rows))}
        return self.place(f"bones/{name}.{kind}"), served, [name]

    def edit_curves(self, names):
        served = {}
        for name in names:
            _, roles, rows = self.read_bone(name)
            served[name] = (roles, rows, copy.deepcopy(rows))
        some = set(self.rng.sample(names, min(len(names), 2)))
        return self.place("curves.csv"), served, [name for name in names if name in some]

    def render(self, kind, served, changed):
        if kind == "json":
            roles, _, rows = served[changed[0]]
            return texts.to_json(self.whole, roles, rows)
        if kind == "csv":
            roles, _, rows = served[changed[0]]
            lines = texts.bone_cells(roles, rows, self.keyframes)
        else:
            lines = texts.curves_cells(served, self.keyframes)
        return texts.in_dialect(lines, self.rng)

    def edit_clip(self):
        place = self.place("clip.json")
        clip = json.loads(self.file.cat(place)[0])
        try:
            want = self.clip_edit(clip)
        except Fault as fault:
            want, self.why = None, str(fault)
        return place, json.dumps(clip), want
