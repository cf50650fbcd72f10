#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""random_edits.py ANIMFS SOURCE MOUNT [OPERATIONS [SEED]]: random edits through a mount, against a model.

Chains of edits, of samples of all formats, each of a copy of its own: values, keys, rows, whole
tables, clip.json, texts that must be refused, texts that say nothing new. The model is what the
whole file says, as text; each operation changes it as the laws have it:

  PutGet    what is read is what was saved, to the nearest that the format stores
  GetPut    a text that says nothing new changes no byte and no time of the binary
  Locality  nothing that the edit did not name says anything else
  Refusal   a wrong text ends in EBADMSG, and nothing changed

and is compared with what `animfs cat` says of the binary and with what the mount says. When a chain
breaks a law, operations are left out of it as long as it still does, and what remains is printed,
with the texts. The seed is printed first; the same seed makes the same edits.
"""
import csv
import errno
import io
import json
import math
import os
import random
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "mount"))
from writers import save_errno  # noqa: E402

CHAIN = 25
SAMPLES = """canm/wiki512.canm canm/odd512.canm canm/edf6_768.canm canm/nan512.canm
cas/v200.cas cas/v203.cas cas/v204.cas
owanim/small.006 owanim/sparse.006 owanim/oddrot.006 owanim/tail.006
ff9anim/frames007_low.ff9anim ff9anim/tmask3.ff9anim ff9anim/frames002_low.ff9anim
ff9anim/shared.ff9anim ff9anim/frames008_nolow.ff9anim
ribbon/duplicate.anm ribbon/unsorted.anm ribbon/frames001.anm ribbon/flags0.anm""".split()

COLUMNS = {"translation": "tx ty tz".split(), "scale": "sx sy sz".split()}
EULER, QUATERNION = "rx ry rz".split(), "qx qy qz qw".split()
STEP = 360 / 4096


class Broken(Exception):
    """A law, and how."""


class Refused(Exception):
    """What was saved cannot be stored, as the format has it."""


def law(name, holds, what):
    if not holds:
        raise Broken(f"{name}: {what}")


# ---- formats ----


def float32_near(value):
    return abs(value) * 2.0**-23 + 1e-44


class Format:
    """What can be stored of a value: one to save, and how far from it what is read may be."""

    many_names = False  # bones have names of their own
    dense = True
    static = False

    def __init__(self):
        self.width = {}  # the widest range of numbers that a curve had in a column, in this chain

    def learn(self, curves):
        for (_, channel), rows in curves.items():
            for axis, name in zip("xyz", COLUMNS.get(channel, EULER)):
                numbers = [n for n in (float(row[axis]) for row in rows if row[axis]) if math.isfinite(n)]
                self.widen(name, numbers)

    def widen(self, name, numbers):
        if numbers:
            self.width[name] = max(self.width.get(name, 0), max(numbers) - min(numbers))

    def room(self, name, role, before, after):
        """Of one component: all its numbers before, all that were saved."""
        raise NotImplementedError

    def value(self, rng, role, width):
        raise NotImplementedError

    def apart(self, role, a, b):
        return abs(a - b)


class Canm(Format):
    many_names = True
    static = True

    def value(self, rng, role, width):
        if width == 4:
            return unit(rng)
        size = rng.choice((1, 10, 170) if role == "rotation" else (0.01, 1, 1000))
        return [rng.uniform(-size, size) for _ in range(3)]

    def room(self, name, role, before, after):
        numbers = [n for n in before + after if math.isfinite(n)]
        if not numbers:
            return 0
        # Half a step. A grid stays as wide as it had to be once, and has steps of at most twice the
        # 65,535th part of that: a part of the old step is taken where others keep their values so.
        self.widen(name, numbers)
        return 1.02 * self.width[name] / 65535 + float32_near(max(map(abs, numbers))) * 2


class Owanim(Format):
    dense = False

    def value(self, rng, role, width):
        if width == 4:
            return unit(rng)
        if role == "scale":
            return [rng.uniform(0.1, 30) for _ in range(3)]
        return [rng.uniform(-20, 20) for _ in range(3)]

    def room(self, name, role, before, after):
        if role == "scale":
            return 0.51 / 1024
        if role == "rotation":
            return 1e-4
        return float32_near(max(map(abs, after), default=0))


class Ff9(Format):
    def value(self, rng, role, width):
        if role == "translation":
            return [rng.randint(-32768, 32767) for _ in range(3)]
        return [rng.choice((rng.randrange(4096) * STEP, rng.uniform(0, 360))) for _ in range(3)]

    def room(self, name, role, before, after):
        return 0 if role == "translation" else STEP / 2 + 1e-9

    def apart(self, role, a, b):
        far = abs(a - b)
        return min(far % 360, 360 - far % 360) if role == "rotation" else far


class Ribbon(Format):
    dense = False

    def value(self, rng, role, width):
        if role == "translation":
            return [rng.randint(-32768, 32767) for _ in range(3)]
        limit = 7.99 if role == "scale" else 2879
        return [rng.uniform(-limit, limit) for _ in range(3)]

    def room(self, name, role, before, after):
        return {"translation": 0, "scale": 0.51 / 4096, "rotation": STEP / 2 + 1e-6}[role]


FORMATS = {"canm": Canm, "cas": Canm, "owanim": Owanim, "ff9anim": Ff9, "ribbon": Ribbon}


def unit(rng):
    q = [rng.gauss(0, 1) for _ in range(4)]
    length = math.sqrt(sum(c * c for c in q)) or 1
    return [c / length for c in q]


def number(rng, value):
    """As somebody may write it."""
    if isinstance(value, int):
        return rng.choice((str(value), f"{value}.0", f"{value:+d}"))
    return rng.choice((repr(value), f"{value:.17g}", f"{value:.14E}"))


# ---- texts ----


def read_csv(text):
    return list(csv.DictReader(io.StringIO(text)))


def write_csv(columns, rows, rng=None):
    """With a random choice of what spreadsheets make of a table."""
    out = io.StringIO()
    style = {}
    if rng and rng.random() < 0.3:
        style = rng.choice(
            ({"lineterminator": "\r\n"}, {"delimiter": ";"}, {"delimiter": "\t"}, {"quoting": csv.QUOTE_ALL})
        )
    writer = csv.DictWriter(out, columns, **{"lineterminator": "\n", "restval": "", **style})
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


class Table:
    """A bone's CSV: rows by (frame, occurrence), cells as text."""

    def __init__(self, text):
        self.columns = text.split("\n", 1)[0].split(",")
        self.rows = {}
        for row in read_csv(text):
            self.rows[self.key(row["frame"])] = row

    def key(self, frame):
        occurrence = 0
        while (int(frame), occurrence) in self.rows:
            occurrence += 1
        return int(frame), occurrence

    def copy(self):
        other = object.__new__(Table)
        other.columns = self.columns
        other.rows = {key: dict(row) for key, row in self.rows.items()}
        return other

    def roles(self):
        """Those that the bone can have, each with its columns."""
        found = {role: names for role, names in COLUMNS.items() if names[0] in self.columns}
        for names in EULER, QUATERNION:
            if names[0] in self.columns:
                found["rotation"] = names
        return found

    def has(self, key, names):
        return key in self.rows and any(self.rows[key].get(name) for name in names)

    def keys(self, names):
        return [key for key in self.rows if self.has(key, names)]

    def put(self, key, names, cells):
        row = self.rows.setdefault(key, dict.fromkeys(self.columns, "") | {"frame": str(key[0])})
        if "flags" in row and not row["flags"]:
            row["flags"] = "0"
        row.update(zip(names, cells))

    def text(self, rng=None):
        rows = list(self.rows.values())
        if rng and "flags" not in self.columns and rng.random() < 0.1:
            rng.shuffle(rows)
        else:
            rows = [self.rows[key] for key in sorted(self.rows)]
        return write_csv(self.columns, rows, rng)

    def numbers(self, name):
        return [float(row[name]) for row in self.rows.values() if row[name]]

    def said(self):
        """Rows that say something."""
        return {
            key: row
            for key, row in self.rows.items()
            if "flags" in row or any(v for c, v in row.items() if c not in ("frame", "time"))
        }


class State:
    """All that a binary says, from `animfs cat`."""

    def __init__(self, animfs, binary, clips, bone=None):
        """`clips` are names that it may have; bone: CLIP/bones/BONE.csv, for the table of it."""
        self.clips = {}
        try:
            text = cat(animfs, *self.paths(binary, clips, bone))
        except Broken:
            text = cat(animfs, f"{binary}/file.json")
        names = [clip["clip"] for clip in json.loads(text[: text.index("\n}\n") + 3])["clips"]]
        if names != list(clips):
            text = cat(animfs, *self.paths(binary, names, bone))
        self.table = None
        if bone:
            text, _, table = text.rpartition("frame,time,")
            self.table = Table("frame,time," + table)
        for clip, text in zip(names, text.split("\n{\n")[1:]):
            text = "{\n" + text
            end = text.index("\n}\n") + 3
            self.clips[clip] = (text[:end], text[end:].rstrip("\n") + "\n")
        with open(binary, "rb") as f:
            self.bytes = f.read()
        st = os.stat(binary)
        self.stamp = st.st_ino, st.st_mtime_ns

    @staticmethod
    def paths(binary, clips, bone):
        inside = ["file.json"]
        for clip in clips:
            inside += [f"{clip}/clip.json", f"{clip}/curves.csv"]
        return [f"{binary}/{path}" for path in inside + ([bone] if bone else [])]

    def clip(self, name):
        return json.loads(self.clips[name][0])

    def rows(self, name, but=()):
        return [line for line in self.clips[name][1].split("\n") if line.split(",")[0] not in but]


def cat(animfs, *paths):
    run = subprocess.run([animfs, "cat", "--rotations=stored", *paths], capture_output=True)
    law("Reading", run.returncode == 0, run.stderr.decode())
    return run.stdout.decode()


# ---- one file in the mount ----


class Copy:
    """A copy of a sample, and what is known of it."""

    def __init__(self, world, sample):
        self.world = world
        self.sample = sample
        self.state = None
        self.format = FORMATS[sample.split("/")[0]]()
        self.kind = sample.split("/")[0]
        world.copies += 1
        folder = f"copy{world.copies}"
        os.mkdir(f"{world.source}/{folder}")
        self.inside = f"{folder}/{os.path.basename(sample)}"
        self.binary = f"{world.source}/{self.inside}"
        shutil.copy(f"tests/data/{sample}", self.binary)
        self.mount = f"{world.mount}/{self.inside}"
        self.look()
        for clip in self.state.clips:
            self.format.learn(rows_by_key(self.state.clips[clip][1]))

    def remove(self):
        shutil.rmtree(os.path.dirname(self.binary))

    def read(self, view):
        with open(f"{self.mount}/{view}", newline="", encoding="utf-8") as f:
            return f.read()

    def cat(self, view):
        return cat(self.world.animfs, f"{self.binary}/{view}")

    def write(self, view, text, how):
        """The errno, or 0. By a program of its own: what one program saves is read together."""
        child = os.fork()
        if child == 0:
            os._exit(save_errno(f"{self.mount}/{view}", text, how))
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

    def look(self, bone=None):
        clips = self.state.clips if self.state else ()
        self.state = State(self.world.animfs, self.binary, clips, bone)

    def save(self, view, text, how, bone=None):
        """It is taken; the state before it."""
        before = self.state
        number = self.write(view, text, how)
        if number:
            said = ""
            if os.path.exists(f"{self.mount}/{view}.error"):
                with open(f"{self.mount}/{view}.error") as f:
                    said = f.read()
            # A duration is a float32, from which the frames are counted.
            if self.kind == "owanim" and "would be read as" in said:
                for name in ".rejected", ".error":
                    os.unlink(f"{self.mount}/{view}{name}")
                raise Refused
            raise Broken(f"PutGet: {view}: {errno.errorcode[number]}: {said}")
        self.look(bone)
        return before

    def other_clips_stay(self, before, clip):
        for name, texts in before.clips.items():
            if name != clip:
                law("Locality", self.state.clips.get(name) == texts, f"clip {name} says something else")


# ---- operations: each gets a copy and a source of choices ----


def choose(copy, rng, need=1):
    """A clip, a bone in it and the bone's table."""
    clips = [c for c in copy.state.clips if len(copy.state.clip(c)["bones"]) >= need]
    if not clips:
        return None
    clip = rng.choice(clips)
    bone = rng.choice(copy.state.clip(clip)["bones"])["bone"]
    return clip, bone, Table(copy.cat(f"{clip}/bones/{bone}.csv"))


def change_values(copy, rng, table):
    """Some keys have other values."""
    changed = {}
    for role, names in table.roles().items():
        for key in table.keys(names):
            if rng.random() < 0.4 and len(changed) < 5:
                changed[key, role] = [
                    number(rng, v) for v in copy.format.value(rng, role, len(names))
                ]
    return changed


def change_one(copy, rng, table):
    """A component of a key has another value."""
    found = [(k, r) for r, names in table.roles().items() for k in table.keys(names) if len(names) == 3]
    if not found:
        return {}
    key, role = rng.choice(found)
    names = table.roles()[role]
    cells = [table.rows[key][name] for name in names]
    axis = rng.randrange(3)
    cells[axis] = number(rng, copy.format.value(rng, role, 3)[axis])
    return {(key, role): cells}


def change_keys(copy, rng, table, frames):
    """Keys come and go."""
    format = copy.format
    role, names = rng.choice(sorted(table.roles().items()))
    there = sorted(table.keys(names))

    def fresh():
        return [number(rng, v) for v in format.value(rng, role, len(names))]

    if "flags" in table.columns:
        key = rng.choice(sorted(table.rows) + [(rng.randrange(frames), 0)])
        return {(key, role): [""] * len(names) if table.has(key, names) else fresh()}
    if not format.dense:
        if len(there) > 1 and rng.random() < 0.5:
            return {(rng.choice(there), role): [""] * len(names)}
        return {((rng.randrange(frames), 0), role): fresh()}
    if not format.static or not there or frames < 2:
        return {}
    if len(there) == 1:
        return {((frame, 0), role): fresh() for frame in range(frames)}
    if len(there) == frames:
        return {(key, role): [""] * len(names) for key in there[1:]}
    return {}


def expected(copy, table, changed):
    wanted = table.copy()
    for (key, role), cells in changed.items():
        wanted.put(key, table.roles()[role], cells)
    return wanted


def as_bone_csv(copy, rng, clip, bone, wanted, changed):
    return f"{clip}/bones/{bone}.csv", wanted.text(rng)


def as_bone_json(copy, rng, clip, bone, wanted, changed):
    view = f"{clip}/bones/{bone}.json"
    text = json.loads(copy.cat(view))
    if "keyframes" in text:
        return None
    for role in {role for _, role in changed}:
        channel = text["channels"].setdefault(role, {"keys": []})
        names = wanted.roles()[role]
        keys = {key["frame"]: key for key in channel["keys"]}
        for (frame, _), other in changed:
            if other != role:
                continue
            cells = changed[(frame, 0), role]
            keys.pop(frame, None)
            if cells[0] or any(cells):
                if not all(math.isfinite(float(c)) for c in cells):
                    return None
                keys[frame] = {"frame": frame, "value": [float(c) for c in cells]}
        channel["keys"] = [keys[frame] for frame in sorted(keys)]
        if "static" in channel and copy.format.static:
            channel["static"] = len(wanted.keys(names)) == 1
    return view, json.dumps(text, indent=rng.choice((None, 2)))


def as_curves_csv(copy, rng, clip, bone, wanted, changed):
    rows = read_csv(copy.state.clips[clip][1])
    columns = copy.state.clips[clip][1].split("\n", 1)[0].split(",")
    taken = any(not any(cells) for cells in changed.values())
    # A long table has no blank rows to say that a text with fewer keys is whole.
    if "flags" in columns or not any(wanted.said()) or (taken and copy.format.dense):
        return None
    others = [r for r in rows if r["bone"] != bone]
    place = next((i for i, r in enumerate(rows) if r["bone"] == bone), len(rows))
    place -= sum(r["bone"] == bone for r in rows[:place])
    own = []
    for role, names in wanted.roles().items():
        for key in sorted(wanted.keys(names)):
            cells = [wanted.rows[key][name] for name in names]
            own.append({"bone": bone, "channel": role, "frame": key[0]} | dict(zip("xyzw", cells)))
    return f"{clip}/curves.csv", write_csv(columns, others[:place] + own + others[place:], rng)


def check_table(copy, table, wanted, changed, got):
    """What is read of the bone is what was wanted, and what was not named is what it was."""
    a, b = wanted.said(), got.said()
    law("PutGet", a.keys() == b.keys(), f"keys {sorted(b)}, not {sorted(a)}")
    roles = {role for _, role in changed}
    for role, names in got.roles().items():
        for axis, name in enumerate(names):
            whole = role in roles and len(names) == 4
            touched = whole or any(
                cells[axis] != table.rows.get(key, {}).get(name)
                for (key, r), cells in changed.items()
                if r == role
            )
            check_column(copy, role, name, touched, table, a, b, changed)
    if "flags" in got.columns:
        for key, row in a.items():
            law("PutGet", b[key]["flags"] == row["flags"], f"flags of {key}: {b[key]['flags']}")


def check_column(copy, role, name, touched, table, wanted, got, changed):
    names = got and table.roles()[role]
    room = copy.format.room(
        name,
        role,
        [float(row[name]) for row in table.rows.values() if row[name]],
        [float(row[name]) for row in wanted.values() if row[name]],
    )
    if "odd512" in copy.sample:
        room *= 8  # keys that are not shown have their part in a grid
    # Of a quaternion that was named with others only the named one may move.
    rederived = copy.format.static and touched and len(names) == 3
    sign = {}
    for key, row in wanted.items():
        cell, read = row[name], got[key][name]
        named = (key, role) in changed
        if not named and not rederived:
            law("Locality", cell == read, f"{name} of frame {key[0]}: {read}, was {cell}")
            continue
        law("PutGet", (cell == "") == (read == ""), f"{name} of frame {key[0]}: {read!r}, not {cell!r}")
        if cell == "":
            continue
        saved, now = float(cell), float(read)
        if len(names) == 4:
            # Up to the sign of the whole.
            dot = sum(float(row[n]) * float(got[key][n]) for n in names)
            sign[key] = -1 if dot < 0 else 1
            now *= sign[key]
        if not math.isfinite(saved):
            law("Locality", cell == read, f"{name} of frame {key[0]}: {read}, was {cell}")
            continue
        law(
            "PutGet",
            copy.format.apart(role, saved, now) <= room,
            f"{name} of frame {key[0]}: {read}, saved {cell}, {abs(saved - now):g} away of {room:g}",
        )


def edit_bone(change, copy, rng):
    chosen = choose(copy, rng)
    if not chosen:
        return None
    clip, bone, table = chosen
    frames = copy.state.clip(clip)["frames"]
    if not frames:
        return None
    changed = change(copy, rng, table, frames)
    if not changed:
        return None
    wanted = expected(copy, table, changed)
    if not wanted.said() and not copy.format.dense:
        return None
    views = [as_bone_csv, as_bone_csv, as_bone_json, as_curves_csv]
    made = rng.choice(views)(copy, rng, clip, bone, wanted, changed)
    if not made:
        return None
    view, text = made
    how = rng.choice(("close", "fsync", "rename"))
    copy.what = f"{how} {view}\n{text}"
    before = copy.save(view, text, how, f"{clip}/bones/{bone}.csv")
    check_table(copy, table, wanted, changed, copy.state.table)
    copy.other_clips_stay(before, clip)
    law("Locality", copy.state.clips[clip][0] == before.clips[clip][0], "clip.json says something else")
    law("Locality", copy.state.rows(clip, {bone}) == before.rows(clip, {bone}), "another bone says something else")
    # Texts of a whole clip are read as they would be written; those of a bone as they were saved,
    # as long as the kernel does not forget the file, which it may at any time.
    shown = copy.state.clips[clip][1] if view.endswith("curves.csv") else text
    read = copy.read(view)
    if read != shown:
        law("PutGet", read == copy.cat(view), f"the view does not say what was saved, but\n{read}")
    return view


def op_values(copy, rng):
    return edit_bone(lambda c, r, t, n: change_values(c, r, t), copy, rng)


def op_one(copy, rng):
    return edit_bone(lambda c, r, t, n: change_one(c, r, t), copy, rng)


def op_keys(copy, rng):
    return edit_bone(change_keys, copy, rng)


def nothing_changed(copy, before, name):
    law(name, copy.state.bytes == before.bytes, "the binary has other bytes")
    law(name, copy.state.stamp == before.stamp, "the binary was written")


def any_view(copy, rng, need=1):
    chosen = choose(copy, rng, need)
    if not chosen:
        return None
    clip, bone, _ = chosen
    return f"{clip}/" + rng.choice(
        ("clip.json", "curves.csv", f"bones/{bone}.csv", f"bones/{bone}.csv", f"bones/{bone}.json")
    )


def op_own_text(copy, rng):
    """GetPut, of what the view says or of what it would say of itself."""
    view = any_view(copy, rng)
    if not view:
        return None
    text = copy.read(view) if rng.random() < 0.5 else copy.cat(view)
    how = rng.choice(("close", "fsync", "rename"))
    copy.what = f"{how} {view}, its own text\n{text}"
    before = copy.save(view, text, how)
    nothing_changed(copy, before, "GetPut")
    return view


def op_rewritten(copy, rng):
    """A table as another program writes it."""
    view = any_view(copy, rng)
    if not view or not view.endswith(".csv"):
        return None
    rows = read_csv(copy.cat(view))
    if not rows:
        return None
    for row in rows:
        row["time"] = rng.choice((row["time"], "", "0"))
        for name, cell in row.items():
            if name not in ("bone", "channel", "time", "frame") and cell not in ("", "nan", "inf", "-inf"):
                row[name] = rng.choice((f"{float(cell):.15g}", cell))
    if all(a["time"] == b["time"] for a, b in zip(rows, read_csv(copy.cat(view)))):
        pass
    else:
        # A save that changes nothing but times is refused, and says where time is edited.
        for row, own in zip(rows, read_csv(copy.cat(view))):
            row["time"] = own["time"]
    text = write_csv(list(rows[0]), rows, rng)
    copy.what = f"close {view}, rewritten\n{text}"
    before = copy.save(view, text, "close")
    nothing_changed(copy, before, "GetPut")
    return view


def spoil_csv(rng, text):
    lines = text.rstrip("\n").split("\n")
    at = rng.randrange(1, len(lines)) if len(lines) > 1 else 0
    cells = lines[at].split(",")
    kind = rng.randrange(5)
    if kind == 0 or at == 0:
        lines[0] += ",unknown"
        lines[1:] = [line + ",1" for line in lines[1:]]
    elif kind == 1:
        filled = [i for i, c in enumerate(cells) if i > 1 and c and lines[0].split(",")[i] not in ("bone", "channel")]
        if not filled:
            return None
        cells[rng.choice(filled)] = rng.choice(("1.2.3", "12:30", "abc", "--1", "0x10", "1,,5"))
        lines[at] = ",".join(cells)
    elif kind == 2:
        cells[lines[0].split(",").index("frame")] = rng.choice(("100000", "-1", "0.5"))
        lines[at] = ",".join(cells)
    elif kind == 3 and "flags" not in lines[0]:
        if not any(cells[1:]):
            return None  # a bone without keys, twice
        lines.insert(at, lines[at])
    else:
        lines[at] = lines[at] + ",5,5,5,5,5"
    return "\n".join(lines) + "\n"


def spoil_json(rng, text):
    kind = rng.randrange(4)
    if kind == 0:
        return text.replace('"format"', '"frmat"', 1)
    if kind == 1:
        return text[: rng.randrange(1, len(text) - 3)]
    if kind == 2:
        return text.replace('"format": "animfs', '"format": "other', 1)
    return text.replace("[", "[,", 1)


def op_wrong(copy, rng):
    view = any_view(copy, rng)
    if not view:
        return None
    text = copy.cat(view)
    wrong = spoil_csv(rng, text) if view.endswith(".csv") else spoil_json(rng, text)
    if wrong in (None, text):
        return None
    how = rng.choice(("fsync", "rename", "close"))
    copy.what = f"{how} {view}, wrong\n{wrong}"
    shown = copy.read(view)
    before = copy.state
    number = copy.write(view, wrong, how)
    copy.look()
    nothing_changed(copy, before, "Refusal")
    if number == 0 and how == "close" and view.endswith(".json"):
        # It may only have begun: such a text waits.
        copy.write(view, shown, "close")
        return view
    law("Refusal", number == errno.EBADMSG, f"ends with {errno.errorcode.get(number, number)}")
    law("Refusal", copy.read(view) in (shown, text), "the view says something else")
    if how == "rename":
        os.unlink(f"{copy.mount}/{view}.new~")
    for name in ".rejected", ".error":
        os.unlink(f"{copy.mount}/{view}{name}")
    return view


# ---- clips ----


def edit_clip(copy, rng, clip, change):
    """clip.json is saved with a change; the state before it."""
    text = copy.state.clip(clip)
    change(text)
    text = json.dumps(text, indent=1, ensure_ascii=rng.random() < 0.5)
    how = rng.choice(("close", "fsync", "rename"))
    copy.what = f"{how} {clip}/clip.json\n{text}"
    return copy.save(f"{clip}/clip.json", text, how)


def op_loop(copy, rng):
    clip = rng.choice(sorted(copy.state.clips))
    if "loop" not in copy.state.clip(clip):
        return None
    loop = not copy.state.clip(clip)["loop"]
    before = edit_clip(copy, rng, clip, lambda text: text.update(loop=loop))
    law("PutGet", copy.state.clip(clip)["loop"] == loop, "the loop is the old one")
    law("Locality", copy.state.clips[clip][1] == before.clips[clip][1], "curves say something else")
    copy.other_clips_stay(before, clip)
    return clip


def rows_by_key(text):
    rows = {}
    for row in read_csv(text):
        if row["frame"] == "":
            continue
        rows.setdefault((row["bone"], row["channel"]), []).append(row)
    return rows


def op_frames(copy, rng):
    """More frames hold the last value, or are empty; fewer cut."""
    clip = rng.choice(sorted(copy.state.clips))
    old = copy.state.clip(clip)["frames"]
    new = old + rng.choice((-2, -1, 1, 2, 3))
    if new < 2 or old < 2 or "odd" in copy.sample:
        return None
    before = edit_clip(copy, rng, clip, lambda text: text.update(frames=new))
    law("PutGet", copy.state.clip(clip)["frames"] == new, f"{copy.state.clip(clip)['frames']} frames, not {new}")
    copy.other_clips_stay(before, clip)
    was, now = rows_by_key(before.clips[clip][1]), rows_by_key(copy.state.clips[clip][1])
    for curve, rows in was.items():
        kept = [{**r, "time": ""} for r in rows if int(r["frame"]) < new]
        # Where a curve may have fewer keys than its clip has frames, its last one holds as it is.
        if copy.kind == "ff9anim" and new > old:
            kept += [{**kept[-1], "frame": str(frame)} for frame in range(old, new)]
        got = [{**r, "time": ""} for r in now.pop(curve, [])]
        law("PutGet", got == kept, f"{' '.join(curve)}: {got[-3:]}, not {kept[-3:]}")
    law("Locality", not now, f"there are curves {list(now)}")
    return clip


def op_bones(copy, rng):
    """Bones in another order, one with another name, one less."""
    chosen = choose(copy, rng, 2)
    if not chosen or not copy.format.many_names:
        return None
    clip, bone, _ = chosen
    names = [b["bone"] for b in copy.state.clip(clip)["bones"]]
    kind = rng.choice(("order", "name", "less"))
    new = f"bone{rng.randrange(10**6)}"
    wanted = list(names)

    def change(text):
        if kind == "order":
            rng.shuffle(text["bones"])
            wanted[:] = [b["bone"] for b in text["bones"]]
        elif kind == "name":
            at = names.index(bone)
            text["bones"][at] = {"bone": new, "was": bone}
            wanted[at] = new
        else:
            del text["bones"][names.index(bone)]
            wanted.remove(bone)

    before = edit_clip(copy, rng, clip, change)
    got = [b["bone"] for b in copy.state.clip(clip)["bones"]]
    law("PutGet", got == wanted, f"bones {got}, not {wanted}")
    copy.other_clips_stay(before, clip)
    for name in wanted:
        was = bone if name == new else name
        mine = [line.split(",", 1)[1] for line in copy.state.rows(clip) if line.split(",")[0] == name]
        old = [line.split(",", 1)[1] for line in before.rows(clip) if line.split(",")[0] == was]
        law("Locality", mine == old, f"{name} says something else")
    return clip


def op_clip_name(copy, rng):
    # Of equal names the first one keeps its form, whichever that is then.
    if not copy.format.many_names or "odd512" in copy.sample:
        return None
    clip = rng.choice(sorted(copy.state.clips))
    new = f"clip{rng.randrange(10**6)}"
    before = edit_clip(copy, rng, clip, lambda text: text.update(clip=new))
    law("PutGet", new in copy.state.clips and clip not in copy.state.clips, f"clips {list(copy.state.clips)}")
    law("Locality", copy.state.clips[new][1] == before.clips[clip][1], "curves say something else")
    copy.other_clips_stay(before, clip)
    return new


def op_new_bone(copy, rng):
    """curves.csv with a bone more, which comes last."""
    chosen = choose(copy, rng)
    if not chosen or not copy.format.many_names:
        return None
    clip = chosen[0]
    rows = read_csv(copy.state.clips[clip][1])
    columns = copy.state.clips[clip][1].split("\n", 1)[0].split(",")
    bone = f"bone{rng.randrange(10**6)}"
    cells = [number(rng, v) for v in copy.format.value(rng, "translation", 3)]
    new = {"bone": bone, "channel": "translation", "frame": 0} | dict(zip("xyz", cells))
    text = write_csv(columns, rows + [new], rng)
    copy.what = f"close {clip}/curves.csv\n{text}"
    before = copy.save(f"{clip}/curves.csv", text, "close")
    law("Locality", copy.state.rows(clip, {bone}) == before.rows(clip), "another bone says something else")
    copy.other_clips_stay(before, clip)
    mine = [row for row in read_csv(copy.state.clips[clip][1]) if row["bone"] == bone]
    law(
        "PutGet",
        len(mine) == 1 and all(abs(float(mine[0][c]) - float(v)) <= float32_near(float(v)) for c, v in zip("xyz", cells)),
        f"{bone} says {mine}",
    )
    return clip


OPERATIONS = [op_one] * 4 + [op_values] * 4 + [op_keys] * 4 + [op_own_text] * 2 + [op_rewritten] * 2
OPERATIONS += [op_wrong] * 3 + [op_loop, op_frames, op_frames, op_bones, op_bones, op_clip_name, op_new_bone]


def agree(copy, rng):
    """What the mount says of a bone in one form it says in all others."""
    chosen = choose(copy, rng)
    if not chosen:
        return
    clip, bone, table = chosen
    csv_text = copy.read(f"{clip}/bones/{bone}.csv")
    curves = copy.read(f"{clip}/curves.csv")
    with open(f"{copy.mount}/{clip}/bones/{bone}.json", encoding="utf-8") as f:
        text = json.load(f)
    law("Views", os.stat(f"{copy.mount}/{clip}/curves.csv").st_size == len(curves.encode()), "st_size of curves.csv")
    law("Views", Table(csv_text.replace(";", ",").replace("\t", ",").replace('"', "")).said().keys() == table.said().keys(),
        "the CSV has other keys than the binary")
    for role, channel in text.get("channels", {}).items():
        names = table.roles()[role]
        law("Views", len(channel["keys"]) == len(table.keys(names)), f"the JSON has other keys of {role}")


# ---- chains ----


class World:
    def __init__(self, animfs, source, mount):
        self.animfs, self.source, self.mount = animfs, source, mount
        self.copies = 0
        self.counts = {}


def run_chain(world, sample, seeds, count=False):
    """None, or what broke after how many operations, with what was saved."""
    copy = Copy(world, sample)
    done = []
    try:
        for seed in seeds:
            rng = random.Random(seed)
            operation = rng.choice(OPERATIONS)
            copy.what = ""
            try:
                made = operation(copy, rng)
            except Refused:
                made = None
            if made:
                done.append(f"{operation.__name__} {copy.what}")
                if count:
                    key = copy.kind, operation.__name__
                    world.counts[key] = world.counts.get(key, 0) + 1
                if rng.random() < 0.2:
                    agree(copy, rng)
    except (Broken, OSError, ValueError, KeyError) as error:
        return len(done) + 1, f"{type(error).__name__}: {error}", done + [f"{operation.__name__} {copy.what}"]
    finally:
        copy.remove()
    return None


def shrink(world, sample, seeds):
    """Operations are left out one by one as long as what remains still breaks a law."""
    at = 0
    while at < len(seeds):
        fewer = seeds[:at] + seeds[at + 1 :]
        if run_chain(world, sample, fewer):
            seeds = fewer
        else:
            at += 1
    return seeds


def main(animfs, source, mount, operations="10000", seed=None):
    seed = int(seed) if seed else random.randrange(10**9)
    print(f"seed {seed}", flush=True)
    rng = random.Random(seed)
    world = World(animfs, source, mount)
    chain = 0
    while sum(world.counts.values()) < int(operations):
        sample = SAMPLES[chain % len(SAMPLES)]
        chain += 1
        seeds = [rng.randrange(10**12) for _ in range(CHAIN)]
        broken = run_chain(world, sample, seeds, count=True)
        if not broken:
            continue
        seeds = shrink(world, sample, seeds[: broken[0] + CHAIN])
        again = run_chain(world, sample, seeds) or broken
        print(f"{sample}: {again[1]}")
        for step in again[2]:
            print("  " + step.replace("\n", "\n    "))
        sys.exit(1)
    for kind in FORMATS:
        named = {name: n for (k, name), n in sorted(world.counts.items()) if k == kind}
        print(f"{kind:8} {sum(named.values()):6}: " + ", ".join(f"{n} {name[3:]}" for name, n in named.items()))
    print(f"{sum(world.counts.values())} operations in {chain} chains, no law broken")


if __name__ == "__main__":
    main(*sys.argv[1:])
