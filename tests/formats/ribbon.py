# SPDX-License-Identifier: GPL-3.0-or-later
"""Vib-Ribbon: a table of frames, in each frame keyframes of objects with up to three parts."""
import struct
from dataclasses import dataclass

PARTS = (("r", 1), ("s", 2), ("t", 4))
LONGEST = 2 * 0xFFFF


@dataclass
class Model:
    word2: int
    gap: bytes
    # For each frame its keyframes, dicts: object, flags (the bits that tell no part), parts.
    frames: list
    tail: bytes


def read(data):
    magic, word2, count = struct.unpack_from("<3H", data)
    if magic != 0x8000:
        raise ValueError("no Vib-Ribbon file")
    table = [2 * place for place in struct.unpack_from(f"<{count + 1}H", data, 6)]
    frames = [read_frame(data[a:b]) for a, b in zip(table, table[1:])]
    return Model(word2, data[8 + 2 * count : table[0]], frames, data[table[-1] :])


def read_frame(data):
    keys, at = [], 0
    while at < len(data):
        key = {"object": data[at], "flags": data[at + 1] & 0xF8}
        flags, at = data[at + 1], at + 2
        for role, bit in PARTS:
            if flags & bit:
                key[role] = list(struct.unpack_from("<3h", data, at))
                at += 6
        keys.append(key)
    return keys


def write(model):
    frames = [b"".join(write_key(key) for key in keys) for keys in model.frames]
    at = 8 + 2 * len(frames) + len(model.gap)
    table = [at // 2]
    for frame in frames:
        at += len(frame)
        table.append(at // 2)
    head = struct.pack(f"<3H{len(table)}H", 0x8000, model.word2, len(frames), *table)
    return head + model.gap + b"".join(frames) + model.tail


def write_key(key):
    flags, data = key["flags"], b""
    for role, bit in PARTS:
        if role in key:
            flags |= bit
            data += struct.pack("<3h", *key[role])
    return bytes((key["object"], flags)) + data


def random_number(rng):
    return rng.choice((0, 4096, -32768, 32767, rng.randint(-32768, 32767), rng.randint(-99, 99)))


def random_keyframe(number, rng):
    key = {"object": number, "flags": rng.choice((0, 0, 0, 8 * rng.randrange(32)))}
    for role, _ in PARTS:
        if rng.random() < 0.6:
            key[role] = [random_number(rng) for _ in range(3)]
    return key


def random_file(rng):
    objects = rng.sample(range(256), rng.randint(1, 6))
    frames = []
    for _ in range(rng.choice((0, 1, 2, rng.randint(3, 40), rng.randint(3, 40)))):
        shown = [n for n in objects if rng.random() < 0.7]
        if shown and rng.random() < 0.2:
            shown += rng.choices(shown, k=rng.randint(1, 3))
        if rng.random() < 0.4:
            rng.shuffle(shown)
        frames.append([random_keyframe(number, rng) for number in shown])
    gap = rng.randbytes(2 * rng.choice((0, 0, 0, rng.randint(1, 9))))
    tail = rng.randbytes(rng.choice((0, 0, rng.randint(1, 9))))
    return write(Model(rng.choice((1, 15, 20, 30, 60, rng.randrange(65536))), gap, frames, tail))
