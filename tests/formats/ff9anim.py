# SPDX-License-Identifier: GPL-3.0-or-later
"""Final Fantasy IX: the translation of bone 0 and, in a high and a low table, the angles of all."""
import struct
from dataclasses import dataclass

from formats.values import align

HEADER = 0x14
RECORD = 8


@dataclass
class Model:
    word0: int
    frames: int
    # translation[axis][frame]; angles[bone][axis][frame]
    translation: list
    angles: list
    low: bool
    # The bits above the three of each mask: the header's, and those of the records of each table.
    mask: int
    masks: tuple
    tail: bytes = b""


def length(kind, frames):
    return {"place": 2 * frames, "high": frames, "low": (frames + 1) // 2}[kind]


def stream(data, at, kind, frames):
    part = data[at : at + length(kind, frames)]
    if len(part) != length(kind, frames) or at < HEADER:
        raise ValueError("a stream leaves the block")
    if kind == "place":
        return list(struct.unpack(f"<{frames}h", part))
    if kind == "high":
        return list(part)
    return [part[f // 2] >> 4 * (f % 2) & 15 for f in range(frames)]


def constant(value, kind):
    if kind == "place":
        return value - 0x10000 if value & 0x8000 else value
    return value & (0xFF if kind == "high" else 15)


def read_parts(data, fields, mask, kind, frames, ends):
    """The three parts of a record, in each frame; adds where their streams end to `ends`."""
    parts = []
    for axis, value in enumerate(fields):
        if mask >> axis & 1:
            parts.append([constant(value, kind)] * frames)
        else:
            parts.append(stream(data, value, kind, frames))
            ends.append(value + length(kind, frames))
    return parts


def bones_in(data, table, other):
    """How many records of a table stand before whatever follows it."""
    limit = other if other > table else len(data)
    count = 0
    while table + RECORD * (count + 1) <= limit:
        *fields, mask = struct.unpack_from("<4H", data, table + RECORD * count)
        count += 1
        for axis, value in enumerate(fields):
            if not mask >> axis & 1 and value >= table:
                limit = min(limit, value)
    return count


def derive_bones(data):
    high, low = struct.unpack_from("<2I", data, 0x0C)
    count = bones_in(data, high, low)
    return min(count, bones_in(data, low, high)) if low else count


def read(data, bones=None):
    word0, frames, x, y, z, mask, high, low = struct.unpack_from("<6H2I", data)
    bones = derive_bones(data) if bones is None else bones
    ends = [HEADER]
    translation = read_parts(data, (x, y, z), mask, "place", frames, ends)
    tables, masks = [], []
    for kind, table in (("high", high), ("low", low)):
        parts, bits = [], []
        for bone in range(bones if table else 0):
            *fields, record = struct.unpack_from("<4H", data, table + RECORD * bone)
            parts.append(read_parts(data, fields, record, kind, frames, ends))
            bits.append(record & 0xFFF8)
            ends.append(table + RECORD * (bone + 1))
        tables.append(parts)
        masks.append(bits)
    angles = []
    for bone in range(bones):
        lows = tables[1][bone] if low else [[0] * frames] * 3
        angles.append([[h << 4 | n for h, n in zip(*axis)] for axis in zip(tables[0][bone], lows)])
    return Model(word0, frames, translation, angles, low != 0, mask & 0xFFF8, tuple(masks),
        data[align(max(ends)) :])


# The layout of the game


def pack_stream(values, kind):
    if kind == "place":
        return struct.pack(f"<{len(values)}h", *values)
    if kind == "high":
        return bytes(values)
    values = values + [0]
    return bytes(a | b << 4 for a, b in zip(values[::2], values[1::2]))


def pack_constant(value, kind):
    return (value - 256 if kind == "high" and value > 127 else value) & 0xFFFF


def pack_record(parts, high_bits, kind, at):
    """(record, streams): the streams begin at `at`; a part that is the same throughout has none."""
    fields, mask, streams = [], high_bits, b""
    for axis, values in enumerate(parts):
        if len(set(values)) == 1:
            mask |= 1 << axis
            fields.append(pack_constant(values[0], kind))
        else:
            if at + len(streams) > 0xFFFF:
                raise OverflowError("a stream past 0xFFFF")
            fields.append(at + len(streams))
            streams += pack_stream(values, kind)
    return struct.pack("<4H", *fields, mask), streams


def pack_table(parts, high_bits, kind, at):
    records, streams = b"", b""
    at += RECORD * len(parts)
    for bone, bits in zip(parts, high_bits):
        record, more = pack_record(bone, bits, kind, at + len(streams))
        records += record
        streams += more
    return pad(records + streams)


def pad(data):
    return data + bytes(-len(data) % 4)


def write(model):
    head, streams = pack_record(model.translation, model.mask, "place", HEADER)
    data = pad(bytes(HEADER) + streams)
    tables = [len(data), 0]
    data += pack_table([[[a >> 4 for a in axis] for axis in bone] for bone in model.angles],
        model.masks[0], "high", tables[0])
    if model.low:
        tables[1] = len(data)
        lows = [[[a & 15 for a in axis] for axis in bone] for bone in model.angles]
        data += pack_table(lows, model.masks[1] or [0] * len(lows), "low", tables[1])
    start = struct.pack("<2H", model.word0, model.frames) + head + struct.pack("<2I", *tables)
    return start + data[HEADER:] + model.tail


# Blocks as nobody lays them out


class Heap:
    """Streams put somewhere in a block, with gaps, shared and stored without need."""

    def __init__(self, rng):
        self.rng = rng
        self.gaps = rng.random() < 0.3
        self.share = rng.random() < 0.4
        self.junk = rng.random() < 0.3
        self.constants = rng.random() < 0.3
        self.data = bytes(HEADER)
        self.places = {}

    def fill(self, unit):
        if self.gaps and self.rng.random() < 0.3:
            self.data += self.rng.randbytes(self.rng.randint(1, 7))
        self.data += bytes(-len(self.data) % unit)

    def add(self, content, unit):
        if self.share and content in self.places:
            return self.places[content]
        self.fill(unit)
        self.places[content] = len(self.data)
        self.data += content
        return self.places[content]

    def record(self, parts, kind, high_bits):
        fields, mask = [], high_bits
        for axis, values in enumerate(parts):
            if len(set(values)) == 1 and not (self.constants and self.rng.random() < 0.4):
                mask |= 1 << axis
                fields.append(self.with_junk(values[0], kind))
            else:
                fields.append(self.add(self.with_pad(values, kind), 2 if kind == "place" else 1))
        if any(value > 0xFFFF for value in fields):
            raise OverflowError("a stream past 0xFFFF")
        return struct.pack("<4H", *fields, mask)

    def with_junk(self, value, kind):
        bits = {"place": 16, "high": 8, "low": 4}[kind]
        if self.junk and bits < 16:
            return value | self.rng.randrange(1 << 16 - bits) << bits
        return pack_constant(value, kind)

    def with_pad(self, values, kind):
        content = pack_stream(values, kind)
        if self.junk and kind == "low" and len(values) % 2:
            content = content[:-1] + bytes([content[-1] | self.rng.randrange(16) << 4])
        return content

    def table(self, parts, kind, high_bits):
        """Reserves the records, puts the streams anywhere behind, fills the records in."""
        self.fill(4)
        at = len(self.data)
        self.data += bytes(RECORD * len(parts))
        for bone, (three, bits) in enumerate(zip(parts, high_bits)):
            record = self.record(three, kind, bits)
            place = at + RECORD * bone
            self.data = self.data[:place] + record + self.data[place + RECORD :]
        return at


def write_odd(model, rng):
    heap = Heap(rng)
    head = heap.record(model.translation, "place", model.mask)
    tables = {"low": 0}
    highs = [[[a >> 4 for a in axis] for axis in bone] for bone in model.angles]
    lows = [[[a & 15 for a in axis] for axis in bone] for bone in model.angles]
    order = [("high", highs, model.masks[0])]
    if model.low:
        order.append(("low", lows, model.masks[1]))
    if rng.random() < 0.3:
        order.reverse()
    for kind, parts, bits in order:
        tables[kind] = heap.table(parts, kind, bits)
    data = heap.data
    if rng.random() < 0.7:
        data = pad(data)
    start = struct.pack("<2H", model.word0, model.frames) + head
    data = start + struct.pack("<2I", tables["high"], tables["low"]) + data[HEADER:]
    return data + (bytes(-len(data) % 4) + model.tail if model.tail else b"")


def random_part(frames, bits, rng):
    top = (1 << bits) - 1
    kind = rng.choice(("still", "still", "any", "slow"))
    if kind == "any":
        return [rng.randint(0, top) for _ in range(frames)]
    value = rng.choice((0, top, rng.randint(0, top)))
    step = 0 if kind == "still" else rng.randint(-9, 9)
    return [(value + step * f) & top for f in range(frames)]


def random_model(rng, odd):
    frames = rng.choice((1, 2, 3, rng.randint(4, 40), rng.randint(4, 40), rng.randint(40, 300)))
    most = max(1, min(255, 15000 // (5 * frames)))
    bones = rng.choice((1, 2, rng.randint(1, min(12, most)), rng.randint(1, most)))
    low = rng.random() < 0.6
    angles = []
    for _ in range(bones):
        angles.append([random_part(frames, 12, rng) for _ in range(3)])
    if not low:
        angles = [[[a & 0xFF0 for a in axis] for axis in bone] for bone in angles]
    places = [[v - 32768 for v in random_part(frames, 16, rng)] for _ in range(3)]
    masks = ([0] * bones, [0] * bones if low else [])
    model = Model(0, frames, places, angles, low, 0, masks)
    if odd:
        add_oddities(model, rng)
    return model


def add_oddities(model, rng):
    if rng.random() < 0.3:
        model.word0 = rng.randrange(0x10000)
    if rng.random() < 0.3:
        model.mask = 8 * rng.randrange(0x2000)
    if rng.random() < 0.3:
        model.masks = tuple([8 * rng.randrange(0x2000) for _ in bits] for bits in model.masks)
    if rng.random() < 0.3:
        model.tail = rng.randbytes(rng.randint(1, 30))


def random_file(rng):
    """(bytes, number of bones): a block as the game has them, or an odd one."""
    while True:
        odd = rng.random() < 0.5
        model = random_model(rng, odd)
        try:
            return (write_odd(model, rng) if odd else write(model)), len(model.angles)
        except OverflowError:
            continue
