# SPDX-License-Identifier: GPL-3.0-or-later
"""Clips of Final Fantasy IX (Steam): Unity's AnimationClip as the game's mods read it, and its JSON.

A key is (time, values, tangents), each as the bits of float32s: bytes, so that all of them compare.
"""
import copy
import json
import struct
from dataclasses import dataclass, field

from formats.values import f32

ROLES = "qts"  # rotation, position, scale: the order in a file
WIDTH = {"q": 4, "t": 3, "s": 3}
LISTS = {"q": "localRotation", "t": "localPosition", "s": "localScale"}
AXES = "xyzw"


@dataclass
class Curve:
    path: str
    keys: list
    before: int = 2
    after: int = 2


@dataclass
class Model:
    json: bool
    name: str
    rate: float
    curves: dict  # role: list of curves in stored order
    wrap: int = 0
    head: bytes = b""  # flags
    middle: bytes = b""  # float and pointer curves
    tail: bytes = b""
    more: dict = field(default_factory=dict)  # JSON: unknown members


def bits(*numbers):
    return struct.pack(f"<{len(numbers)}f", *numbers)


def numbers(raw):
    return list(struct.unpack(f"<{len(raw) // 4}f", raw))


def time_of(key):
    return numbers(key[0])[0]


# ---- binary ----


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, size):
        if self.at + size > len(self.data):
            raise ValueError("the file is cut")
        self.at += size
        return self.data[self.at - size : self.at]

    def u32(self):
        return struct.unpack("<I", self.take(4))[0]

    def string(self):
        text = self.take(self.u32())
        self.take(-self.at % 4)
        return text

    def curve(self, width):
        keys = [(self.take(4), self.take(4 * width), self.take(8 * width)) for _ in range(self.u32())]
        before, after = struct.unpack("<ii", self.take(8))
        return Curve(self.string().decode(), keys, before, after)


def read_binary(data):
    r = Reader(data)
    name = r.string().decode()
    head = r.take(4)
    curves = {}
    for role in ROLES:
        curves[role] = [r.curve(WIDTH[role]) for _ in range(r.u32())]
        if role == "q" and r.u32():
            raise ValueError("compressed curves")
    start = r.at
    for _ in range(r.u32()):
        r.take(16 * r.u32() + 8)
        r.string(), r.string(), r.take(16)
    if r.u32():
        raise ValueError("pointer curves are not made here")
    middle = data[start : r.at]
    rate = struct.unpack("<f", r.take(4))[0]
    wrap = struct.unpack("<i", r.take(4))[0] if len(data) - r.at >= 4 else None
    return Model(False, name, rate, curves, wrap, head, middle, data[r.at :])


def write_string(text):
    raw = text.encode()
    return struct.pack("<I", len(raw)) + raw + bytes(-len(raw) % 4)


def write_curve(curve):
    out = struct.pack("<I", len(curve.keys)) + b"".join(b"".join(key) for key in curve.keys)
    return out + struct.pack("<ii", curve.before, curve.after) + write_string(curve.path)


def write_binary(m):
    out = write_string(m.name) + m.head
    for role in ROLES:
        out += struct.pack("<I", len(m.curves[role])) + b"".join(map(write_curve, m.curves[role]))
        out += bytes(4) if role == "q" else b""
    out += m.middle + struct.pack("<f", m.rate)
    return out if m.wrap is None else out + struct.pack("<i", m.wrap) + m.tail


# ---- JSON ----


def read_json(data):
    whole = json.loads(data)
    curves = {role: [] for role in ROLES}
    for entry in whole["transform"]:
        for role in ROLES:
            if LISTS[role] in entry:
                keys = [read_key(key, WIDTH[role]) for key in entry[LISTS[role]]]
                curves[role].append(Curve(entry["bone"], keys))
    more = {name: value for name, value in whole.items() if name not in ("name", "frameRate", "transform")}
    paths = [entry["bone"] for entry in whole["transform"]]
    return Model(True, whole.get("name", ""), f32(float(whole.get("frameRate", 30))), curves, more=[more, paths])


def read_key(key, width):
    value = [float(key[a]) for a in AXES[:width]]
    tangents = [float(key[f"{a}{side}Tangent"]) for side in ("Inner", "Outer") for a in AXES[:width]]
    return bits(float(key["time"])), bits(*value), bits(*tangents)


def write_key(key, width, say):
    whole = {"time": say(time_of(key))}
    whole.update(zip(AXES, map(say, numbers(key[1]))))
    names = [f"{a}{side}Tangent" for side in ("Inner", "Outer") for a in AXES[:width]]
    whole.update(zip(names, map(say, numbers(key[2]))))
    return whole


def write_json(m, rng):
    say = rng.choice((float, repr, lambda number: int(number) if number == int(number) else number))
    entries = {path: {"bone": path} for path in m.more[1]}
    for role in ROLES:
        for curve in m.curves[role]:
            keys = [write_key(key, WIDTH[role], say) for key in curve.keys]
            entries[curve.path][LISTS[role]] = keys
    whole = {"name": m.name, "frameRate": m.rate, **m.more[0], "transform": list(entries.values())}
    return json.dumps(whole, indent=rng.choice((None, 1, 4))).encode()


def read(data):
    return read_json(data) if data[:1] == b"{" else read_binary(data)


# ---- invention ----


def tangents_by(rule, times, values):
    """The tangents of all keys by a rule; values are lists."""
    width, last = len(values[0]), len(times) - 1

    def slope(a, b, axis):
        return f32((values[b][axis] - values[a][axis]) / (times[b] - times[a])) if a != b else 0.0

    out = []
    for i in range(len(times)):
        before, after = max(i - 1, 0), min(i + 1, last)
        inner, outer = (before, after), (before, after)
        if rule == "linear" and before < i < after:
            inner, outer = (before, i), (i, after)
        out.append([slope(*inner, axis) for axis in range(width)] + [slope(*outer, axis) for axis in range(width)])
    return out


def random_quaternion(rng):
    while True:
        q = [rng.gauss(0, 1) for _ in range(4)]
        length = sum(v * v for v in q) ** 0.5
        if length > 0.1:
            return [f32(v / length) for v in q]


def random_values(role, rng):
    if role == "q":
        return random_quaternion(rng)
    return [f32(rng.uniform(-300, 300) if role == "t" else rng.uniform(0.1, 3)) for _ in range(3)]


def random_curve(path, role, frames, rate, rng, plain):
    count = rng.choice((1, 2, frames, rng.randint(1, frames)))
    chosen = sorted(rng.sample(range(frames), min(count, frames)))
    times = [f32(frame / rate) for frame in chosen]
    if rng.random() < 0.3:
        times = [f32(round(time, 6)) for time in times]
    values = [random_values(role, rng) for _ in times]
    rule = rng.choice(("central", "linear", "own"))
    tangents = tangents_by(rule, times, values)
    if rule == "own":
        tangents = [[f32(rng.gauss(0, 50)) for _ in row] for row in tangents]
        if not plain and rng.random() < 0.2:
            tangents[0][0] = rng.choice((float("inf"), float("-inf"), float("nan")))
    keys = [(bits(t), bits(*v), bits(*g)) for t, v, g in zip(times, values, tangents)]
    hold = rng.choice(((2, 2), (2, 2), (1, 0)))
    return Curve(path, keys, *((2, 2) if plain else hold))


def random_paths(rng):
    paths = ["bone000"]
    for i in range(1, rng.randint(1, 7)):
        paths.append(f"{rng.choice(paths)}/bone{i:03d}")
    if rng.random() < 0.2:
        paths.remove(rng.choice(paths))  # a bone in between, or none at all
    return paths


def usual_tail():
    """As Hades Workshop's source says it; counted here from the muscle clip's own fields."""
    def transform():
        return bits(0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1)

    def hand():
        return transform() + struct.pack("<I", 20) + bytes(80 + 16)

    out = bytes(28) + transform() + bytes(32) + struct.pack("<I", 4) + 4 * (transform() + bytes(28))
    out += 2 * hand() + struct.pack("<I", 52) + bytes(4 * 52) + struct.pack("<I", 7) + bytes(16 * 7)
    out += 3 * transform() + bytes(16) + bytes(8) + bytes(20) + bytes(4) + bytes(4)
    out += bits(0, 1, 0, 0, 0, 0) + struct.pack("<I", 155) + b"\xff" * 4 * 155 + bytes(4)
    return out + bytes(7) + b"\1" + bytes(4) + bytes(12)


def random_model(rng):
    plain = rng.random() < 0.4
    rate = rng.choice((30.0, 30.0, 30.0, 24.0, 60.0, 15.0))
    frames = rng.choice((1, 2, rng.randint(2, 40)))
    paths = random_paths(rng)
    curves = {role: [] for role in ROLES}
    for role in ROLES:
        for path in paths:
            if rng.random() < (0.9 if role == "q" else 0.5):
                curves[role].append(random_curve(path, role, frames, rate, rng, plain))
    if not plain and rng.random() < 0.3:
        for role in ROLES:
            rng.shuffle(curves[role])
    model = Model(plain, rng.choice(("", "ANH_MAIN", "walk")), rate, curves)
    if plain:
        model.more = [rng.choice(({}, {"extra": [1, {"a": None}]})), paths]
        return model
    model.name = model.name or "x"
    model.head = bytes(rng.choice(((1, 0, 1, 0), (0, 0, 0, 0), (1, 1, 0, 0))))
    model.middle = bytes(8)
    if rng.random() < 0.2:
        model.middle = struct.pack("<II", 1, 1) + rng.randbytes(16) + struct.pack("<ii", 2, 2)
        model.middle += write_string("m_Enabled") + write_string("bone000") + rng.randbytes(16) + bytes(4)
    model.wrap = rng.choice((0, 0, 1, 2, 4, 8, None))
    model.tail = usual_tail() + rng.choice((b"", b"", rng.randbytes(9)))
    if model.wrap is None:
        model.tail = b""
    return model


def random_file(rng):
    model = random_model(rng)
    return write_json(model, rng) if model.json else write_binary(copy.deepcopy(model))
