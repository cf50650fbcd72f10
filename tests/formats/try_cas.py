# SPDX-License-Identifier: GPL-3.0-or-later
"""CAS: its texts are those of the CANM in it, and an edit does to that just what it does to a CANM
of its own, beside which the same edits are made; records and names of the container stay.
"""
import glob
import json
import os
import re

from formats import cas, texts
from formats.program import File, Refused
from formats.trial import Trial, Wrong

CANM = os.path.join(os.path.dirname(__file__), "..", "data", "canm")


def samples():
    return [path for path in sorted(glob.glob(f"{CANM}/*.canm"))
        if not os.path.basename(path).startswith("bad_")]


class CasTrial(Trial):
    extension = "cas"

    def __init__(self, animfs, path, rng):
        with open(rng.choice(samples()), "rb") as file:
            self.canm = file.read()
        twin = path.removesuffix(".cas") + ".canm"
        with open(twin, "wb") as file:
            file.write(self.canm)
        self.twin = File(animfs, twin)
        super().__init__(animfs, path, rng)
        self.clips = [name[:-1] for name in self.file.ls() if name.endswith("/")]
        self.clip = self.rng.choice(self.clips)

    def invent(self):
        clips = int.from_bytes(self.canm[8:12], "little")
        self.made = cas.random_file(self.canm, clips, self.rng)
        return self.made.data

    def load(self, data):
        return cas.read(data)

    def places(self):
        bones = self.some(self.bone_texts(), 8)
        return ["clip.json", "curves.csv"] + [f"bones/{name}" for name in bones]

    def look(self):
        for file in (self.file, self.twin):
            said = file.check()
            if said:
                raise Wrong(f"check: {said}")
        for clip in self.clips:
            self.clip = clip
            places = [self.place(name) for name in self.places()]
            for place, ours, theirs in zip(places, self.file.cat(*places), self.twin.cat(*places)):
                if as_canm(ours) != theirs:
                    raise Wrong(f"{place} is not that of the CANM")
        self.clip = self.rng.choice(self.clips)

    def bones(self, model):
        return {name.removesuffix(".csv"): None
            for name in self.bone_texts() if name.endswith(".csv")}

    def edit(self):
        name = self.rng.choice(list(self.bones(None)) or [None])
        if name is None or self.rng.random() < 0.4:
            place, text = self.changed_clip()
        else:
            place, text = self.changed_bone(name)
        self.history.append((place, text))
        before = self.file.bytes()
        ours, theirs = self.put_both(place, text)
        grown = len(self.twin.bytes()) != len(self.canm)
        refuse = self.made.closed or (self.made.fixed and grown)
        if refuse and ours and not theirs:
            self.twin.put("raw.canm", self.canm)
            theirs = ours
        if bool(ours) != bool(theirs):
            raise Wrong(f"{place}: the container says {ours}, the CANM {theirs}")
        if ours:
            self.refusals += 1
            return
        self.edits += 1
        problem = self.difference(before, self.file.bytes())
        if problem:
            raise Wrong(f"{place}: {problem}")
        if refuse and self.file.bytes() != before:
            raise Wrong(f"{place}: accepted, and should be refused")
        self.canm = self.twin.bytes()

    def put_both(self, place, text):
        said = []
        for file, words in ((self.file, text), (self.twin, as_canm(text))):
            try:
                file.put(place, words)
                said.append("")
            except Refused as refused:
                said.append(str(refused))
        return said

    def changed_clip(self):
        place = self.place("clip.json")
        clip = json.loads(self.file.cat(place)[0])
        what = self.rng.choice(("duration", "frames", "loop", "bone", "more", "less"))
        if what == "duration":
            clip["duration"] = self.rng.randint(1, 900) / 10
        elif what == "frames":
            clip["frames"] = self.rng.randint(1, 20)
        elif what == "loop":
            clip["loop"] = not clip["loop"]
        elif what == "bone" and clip["bones"]:
            bone = self.rng.choice(clip["bones"])
            new = "n" + str(self.rng.randrange(1000))
            bone.update({"was": bone["bone"], "bone": new})
            del bone["name"]
        elif what == "more":
            clip["bones"].append({"bone": "added%d" % self.rng.randrange(1000)})
        elif what == "less" and clip["bones"]:
            clip["bones"].pop()
        return place, json.dumps(clip)

    def changed_bone(self, name):
        place = self.place(f"bones/{name}.csv")
        roles, rows = texts.read_bone(self.file.cat(place)[0])
        for row in rows:
            for role in roles:
                if role in row and role != "q" and self.rng.random() < 0.3:
                    row[role] = [f"{self.rng.uniform(-90, 90):.3f}" for _ in row[role]]
        return place, texts.in_dialect(texts.bone_cells(roles, rows, False), self.rng)

    def difference(self, before, data):
        """What is not as it must be after the CANM has become what its twin is."""
        start, canm = cas.canm_at(before), self.twin.bytes()
        if cas.canm_at(data) != start:
            return "the CANM has moved"
        if data[start : start + len(canm)] != canm:
            return "the CANM in it is not what the same edit makes of one of its own"
        tail = before[start + len(self.canm) + len(self.canm) % 2 :]
        rest = data[start + len(canm) + len(canm) % 2 :]
        if not rest.startswith(tail) or (len(rest) > len(tail) and not self.made.borrowed):
            return "what follows the CANM has changed"
        if cas.read(data) != self.model:
            return "another record or name"
        moved = [at for at in range(0, start, 4) if data[at : at + 4] != before[at : at + 4]]
        if set(moved) - set(cas.name_fields(before)):
            return "words of the container have changed that are no names"
        return None


def as_canm(text):
    """A text of the container as the CANM beside it has it."""
    text = re.sub(r'("file": "[^"]*)\.cas"', r'\1.canm"', text, count=1)
    return text.replace('"cas": {', '"canm": {')
