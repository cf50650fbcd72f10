# SPDX-License-Identifier: GPL-3.0-or-later
"""Overwatch animations: 80 bytes of header, a list of bones, a table with an entry for each bone (or,
as an old description has it, for each frame) and arrays of indices and data anywhere.
"""
import math
import struct
from dataclasses import dataclass
from fractions import Fraction

from formats.values import align, f32, nearest

HEADER = struct.Struct("<IffHHQQQQQQQQ")
ENTRY = struct.Struct("<4H6i")
ROLES = "str"  # scale, translation, rotation: the order in an entry
SIZE = {"s": 6, "t": 12, "r": 6}
LIMITS = ("frames", "count")  # the likelier first
SCALE = 1.41421


@dataclass
class Model:
    counter1: int
    duration: float
    fps: float
    flag: int
    unknown: int
    effect: int
    padding: int
    end1: int
    end2: int
    zero: int
    layout: str
    limit: str
    frames: int
    bones: list
    # For each bone a dict: role to a list of (frame, bytes) in stored order.
    keys: list
    # For each entry its flags, and its fields that say nothing because a count is 0.
    flags: list
    junk: list
    tail: bytes = b""
    data_first: bool = False


def rate_of(fps):
    return fps if math.isfinite(fps) and fps > 0 else 30.0


def frame_counts(duration, fps):
    """What the length may be, the likelier first."""
    if not (math.isfinite(duration) and duration >= 0 and math.isfinite(fps)):
        return []
    product = duration * fps
    counts = [math.trunc(f32(product)), math.floor(product + 0.5), math.trunc(product)]
    counts.append(math.trunc(math.trunc(fps) * duration))
    return [count + 1 for count in counts]


def width_of(limit, frames, bones, layout, count):
    if limit == "count":
        return 1 if count < 255 else 2
    return 1 if (frames if layout == "bone" else bones) <= 255 else 2


def arrays(data, layout, limit, frames):
    """All arrays of a file: (entry, role, width, start of indices, start of data, count)."""
    head = HEADER.unpack_from(data)
    bones, table = head[3], head[9]
    for i in range(bones if layout == "bone" else frames):
        start = table + ENTRY.size * i
        if start + ENTRY.size > len(data):
            raise ValueError("the table leaves the file")
        fields = ENTRY.unpack_from(data, start)
        for place, role in enumerate(ROLES):
            count = fields[place]
            if count == 0:
                continue
            width = width_of(limit, frames, bones, layout, count)
            indices = start + 4 * fields[4 + place]
            values = start + 4 * fields[7 + place]
            for at, size in ((indices, count * width), (values, count * SIZE[role])):
                if at < 0 or at + size > len(data):
                    raise ValueError("an array leaves the file")
            yield i, role, width, indices, values, count


def read(data, layout, limit, frames):
    """The model of a file of which the three things that it does not tell are known."""
    (counter1, duration, fps, bones, flag, unknown, effect, padding, list_at, table, end1, end2,
        zero) = HEADER.unpack_from(data)
    ids = [number[0] for number in struct.iter_unpack("<I", data[list_at : list_at + 4 * bones])]
    keys = [{role: [] for role in ROLES} for _ in ids]
    last = max(HEADER.size, list_at + 4 * bones)
    entries = bones if layout == "bone" else frames
    last = max(last, table + entries * ENTRY.size)
    before = False
    for i, role, width, indices, values, count in arrays(data, layout, limit, frames):
        numbers = struct.unpack_from(f"<{count}{'BH'[width - 1]}", data, indices)
        for k, index in enumerate(numbers):
            at = values + k * SIZE[role]
            frame, bone = (index, i) if layout == "bone" else (i, index)
            keys[bone][role].append((frame, data[at : at + SIZE[role]]))
        last = max(last, indices + count * width, values + count * SIZE[role])
        before = before or min(indices, values) < table
    flags, junk = [], []
    for i in range(entries):
        entry = ENTRY.unpack_from(data, table + ENTRY.size * i)
        flags.append(entry[3])
        junk.append([None if entry[p] else (entry[4 + p], entry[7 + p]) for p in range(3)])
    return Model(counter1, duration, fps, flag, unknown, effect, padding, end1, end2, zero, layout,
        limit, frames, ids, keys, flags, junk, data[last:], before)


def evidence(data, layout, limit, frames):
    """How much speaks against a reading: bad indices, overlaps, bytes of no array. None: all."""
    head = HEADER.unpack_from(data)
    bones, list_at, table = head[3], head[8], head[9]
    entries = bones if layout == "bone" else frames
    bad, ranges = 0, {(0, HEADER.size)}
    ranges |= {(list_at, list_at + 4 * bones), (table, table + ENTRY.size * entries)}
    try:
        for _, role, width, indices, values, count in arrays(data, layout, limit, frames):
            numbers = struct.unpack_from(f"<{count}{'BH'[width - 1]}", data, indices)
            bad += sum(n >= (frames if layout == "bone" else bones) for n in numbers)
            ranges.add((indices, indices + count * width))
            ranges.add((values, values + count * SIZE[role]))
    except (ValueError, struct.error):
        return None
    overlap = unexplained = end = 0
    for first, last in sorted(ranges):
        overlap += max(0, min(end, last) - first)
        gap = data[end:first]
        if len(gap) > 4 or any(gap):
            unexplained += len(gap)
        end = max(end, last)
    return bad + overlap + unexplained


def fit(data):
    """[(what speaks against it, (layout, limit, frames))], the best first."""
    head = HEADER.unpack_from(data)
    best = []
    for frames in dict.fromkeys(frame_counts(head[1], head[2])):
        for layout in ("bone", "frame"):
            for limit in LIMITS:
                against = evidence(data, layout, limit, frames)
                if against is not None:
                    best.append((against, (layout, limit, frames)))
    best.sort(key=lambda one: one[0])
    return best


# Rotations


def decode(raw):
    a, b, c = struct.unpack("<3H", raw)
    slot = (b >> 15) << 1 | a >> 15
    rest = [
        SCALE * ((a & 0x7FFF) - 0x4000) / 0x8000,
        SCALE * ((b & 0x7FFF) - 0x4000) / 0x8000,
        SCALE * (c - 0x8000) / 0x10000,
    ]
    w2 = 1 - rest[0] * rest[0] - rest[1] * rest[1] - rest[2] * rest[2]
    rest.insert(slot, math.sqrt(w2) if w2 > 0 else 0.0)
    return rest


def encode(quaternion, slot):
    """(bytes, whether a code was clamped) with this component dropped."""
    sign = -1 if quaternion[slot] < 0 else 1
    rest = [Fraction(v) * sign for i, v in enumerate(quaternion) if i != slot]
    clamped, codes = False, []
    for value, steps in zip(rest, (0x8000, 0x8000, 0x10000)):
        code = nearest(value / Fraction(SCALE) * steps + steps // 2)
        clamped |= not 0 <= code < steps
        codes.append(min(max(code, 0), steps - 1))
    codes[0] |= (slot & 1) << 15
    codes[1] |= (slot >> 1) << 15
    return struct.pack("<3H", *codes), clamped


def encode_nearest(quaternion, old=None):
    """The bytes for a quaternion, in the slot of the old ones where that fits."""
    if old is not None:
        a, b, _ = struct.unpack("<3H", old)
        slot = (b >> 15) << 1 | a >> 15
        raw, clamped = encode(quaternion, slot)
        if abs(quaternion[slot]) >= 0.5 and not clamped:
            return raw
    return encode(quaternion, max(range(4), key=lambda i: abs(quaternion[i])))[0]


def angle_between(p, q):
    """Degrees between two rotations."""
    length = math.sqrt(sum(v * v for v in p) * sum(v * v for v in q))
    dot = abs(sum(a * b for a, b in zip(p, q))) / length
    chord = math.sqrt(max(0.0, 2 - 2 * min(1.0, dot)))
    return math.degrees(4 * math.asin(min(1.0, chord / 2)))


# Files


@dataclass
class Shape:
    """How a file is to be laid out."""

    data_first: bool = False
    usual: bool = True
    share: float = 0.0
    list_last: bool = False
    shift: int = 0


def write(model, shape, rng):
    entries = len(model.bones) if model.layout == "bone" else model.frames
    per_entry = [{role: [] for role in ROLES} for _ in range(entries)]
    for bone, roles in enumerate(model.keys):
        for role, keys in roles.items():
            for frame, raw in keys:
                entry, index = (bone, frame) if model.layout == "bone" else (frame, bone)
                per_entry[entry][role].append((index, raw))
    blocks = blocks_of(model, per_entry)
    if not shape.usual:
        rng.shuffle(blocks)
    bone_list = struct.pack(f"<{len(model.bones)}I", *model.bones)
    before = bytes(shape.shift) + (b"" if shape.list_last else bone_list)
    start = HEADER.size + len(before)
    size = ENTRY.size * entries
    arrays_at = start if shape.data_first else start + size
    body, places = place(blocks, arrays_at, start % 4, shape, rng)
    table = start + align(len(body)) if shape.data_first else start
    body += bytes(-len(body) % 4)
    packed = b""
    for i, roles in enumerate(per_entry):
        packed += entry_bytes(model, i, roles, table + i * ENTRY.size, places)
    middle = body + packed if shape.data_first else packed + body
    data = before + middle
    list_at = HEADER.size + (len(data) if shape.list_last else shape.shift)
    data += bone_list if shape.list_last else b""
    end = HEADER.size + len(data)
    return HEADER.pack(model.counter1, model.duration, model.fps, len(model.bones), model.flag,
        model.unknown, model.effect, model.padding, list_at, table, end - 12 * (model.flag & 1),
        end, model.zero) + data + model.tail


def blocks_of(model, per_entry):
    """[(names of those who use it, bytes)]: for each entry three arrays of indices, three of data."""
    blocks = []
    for i, roles in enumerate(per_entry):
        for kind in ("index", "data"):
            for role in ROLES:
                keys = roles[role]
                if not keys:
                    continue
                if kind == "data":
                    content = b"".join(raw for _, raw in keys)
                else:
                    width = width_of(model.limit, model.frames, len(model.bones), model.layout,
                        len(keys))
                    content = b"".join(index.to_bytes(width, "little") for index, _ in keys)
                blocks.append(((i, kind, role), content))
    return blocks


def place(blocks, start, phase, shape, rng):
    """The blocks one after another, each on a multiple of 4 from the table; equal ones shared."""
    body, places, seen = b"", {}, {}
    for name, content in blocks:
        if content in seen and rng.random() < shape.share:
            places[name] = seen[content]
            continue
        body += bytes((phase - start - len(body)) % 4)
        places[name] = seen[content] = start + len(body)
        body += content
    return body, places


def entry_bytes(model, i, roles, at, places):
    offsets = []
    for kind, which in (("index", 0), ("data", 1)):
        for place_, role in enumerate(ROLES):
            if roles[role]:
                offsets.append((places[i, kind, role] - at) // 4)
            else:
                offsets.append(model.junk[i][place_][which])
    return ENTRY.pack(*(len(roles[role]) for role in ROLES), model.flags[i], *offsets)


def random_keys(role, frames, rng):
    """Keys of one curve: mostly ascending frames, sometimes unordered or repeated ones."""
    how_many = rng.choice((0, 0, 1, rng.randint(1, min(frames, 8)), rng.randint(1, frames)))
    numbers = sorted(rng.sample(range(frames), how_many))
    if numbers and rng.random() < 0.1:
        numbers += rng.choices(numbers, k=rng.randint(1, 2))
        numbers.sort()
    if rng.random() < 0.1:
        rng.shuffle(numbers)
    return [(frame, random_value(role, rng)) for frame in numbers]


def random_value(role, rng):
    if role == "t":
        odd = rng.choice((0x7FC00000, 0xFF800001, 0x7F800000, 0x80000000, 1, 0x7F7FFFFF))
        bits = [struct.unpack("<I", struct.pack("<f", rng.uniform(-5, 5)))[0] for _ in range(3)]
        if rng.random() < 0.03:
            bits[rng.randrange(3)] = odd
        return struct.pack("<3I", *bits)
    if role == "s":
        return struct.pack("<3H", *(rng.choice((1024, rng.randrange(65536))) for _ in range(3)))
    if rng.random() < 0.3:
        return rng.randbytes(6)
    return encode_nearest(random_quaternion(rng))


def random_quaternion(rng):
    while True:
        numbers = [rng.gauss(0, 1) for _ in range(4)]
        length = math.sqrt(sum(n * n for n in numbers))
        if length > 0.1:
            return [n / length for n in numbers]


def random_model(rng):
    layout = rng.choice(("bone",) * 6 + ("frame",))
    frames = rng.choice((1, 2, 3, rng.randint(4, 60), rng.randint(4, 60), 254, 255, 256, 257,
        rng.randint(258, 700)))
    bones = rng.randint(1, 8)
    if layout == "frame":
        frames, bones = rng.randint(1, 40), rng.choice((rng.randint(1, 12), 254, 255, 256, 257))
    fps = rng.choice((30.0, 30.0, 30.0, 60.0, 24.0, 15.0, f32(29.97)))
    duration = f32((frames - 1) / fps)
    ids = rng.sample(range(0x2000), bones)
    if rng.random() < 0.2:
        ids[0] = rng.choice((0xFFFFFFFF, 0x80000000, 0xABCDEF01))
    keys = [{role: random_keys(role, frames, rng) for role in ROLES} for _ in ids]
    if layout == "frame":
        # Each frame lists its bones once, in the order of the list.
        keys = [{r: sorted(dict(k).items()) for r, k in roles.items()} for roles in keys]
    if rng.random() < 0.3 and layout == "bone":
        again = rng.randrange(bones)
        keys[rng.randrange(bones)] = {r: list(k) for r, k in keys[again].items()}
    entries = bones if layout == "bone" else frames
    limit = "frames"
    if (frames if layout == "bone" else bones) <= 256 and rng.random() < 0.2:
        limit = "count"
    junk = [[(rng.randint(-(1 << 31), (1 << 31) - 1), rng.randint(-99, 999)) for _ in ROLES]
        for _ in range(entries)]
    flags = [rng.choice((0, 0, rng.randrange(65536))) for _ in range(entries)]
    model = Model(rng.choice((160, 288, 164, 7)), duration, fps, rng.choice((0, 1, 0xFFFF)),
        rng.choice((0, rng.getrandbits(64))), rng.getrandbits(64), rng.choice((0, 2**64 - 1)), 0, 0,
        0, layout, limit, frames, ids, keys, flags, junk)
    if rng.random() < 0.3:
        model.tail = rng.randbytes(rng.randint(1, 40))
    return model


def random_file(rng):
    """(bytes, layout, limit, frames) of a file that can be read in one way only."""
    while True:
        model = random_model(rng)
        shape = Shape(rng.random() < 0.3, rng.random() < 0.7, rng.choice((0, 0.5, 1)),
            rng.random() < 0.2, rng.choice((0, 0, 4)))
        data = write(model, shape, rng)
        truth = (model.layout, model.limit, model.frames)
        if is_plain(data, truth):
            return data, *truth


def is_plain(data, truth):
    """Is there nothing against this reading, and does every one that is as likely read the same?"""
    model = read(data, *truth)
    seen = False
    for against, other in fit(data):
        if against:
            return seen
        seen = seen or other == truth
        likelier = not seen or (other[1], truth[1]) == LIMITS
        if likelier and (other[2] != truth[2] or read(data, *other).keys != model.keys):
            return False
    return seen
