# SPDX-License-Identifier: GPL-3.0-or-later
"""CANM files that are made and read without the program, and the texts that it must show of them.

A file is a list of clips; a clip has a name and for each bone the values of its positions: one, or
one a frame. Every curve has its own channel, so an edited value is that value in the bytes and
nothing else.
"""
import struct
from dataclasses import dataclass, field, replace

VERSION = 0x200
NONE = 0xFFFF
FRAMES_A_SECOND = 60
CHANNEL = struct.Struct("<HH6fi")
ANIMATION = struct.Struct("<iiffiIi")


@dataclass(frozen=True)
class Clip:
    name: str
    # bone: positions, each x y z that a float32 and 7 digits hold alike
    bones: dict = field(default_factory=dict)

    def moved(self, bone, x):
        """The same with another x in the first position of a bone."""
        first, *rest = self.bones[bone]
        return replace(self, bones={**self.bones, bone: [(x, *first[1:]), *rest]})

    def frames(self):
        return max((len(keys) for keys in self.bones.values()), default=1)


def sample(x=1.5, other=0.5):
    """Two clips; `x` is what the tests edit, `other` what they edit elsewhere meanwhile."""
    return [
        Clip("walk", {"root": [(0.0, 1.0, 0.0)], "hips": [(x, -2.0, 0.25)], "hand": [(other, 4.0, 8.0)]}),
        Clip("idle", {"root": [(0.0, 2.0, 0.0)], "hips": [(3.0, -2.0, 0.5)]}),
    ]


def large(x=1.5):
    """A file that is written in several pieces."""
    keys = [(float(i % 512), float(i % 64), 0.5) for i in range(12000)]
    return [Clip("walk", {"hips": [(x, -2.0, 0.25)], **{f"bone{i}": keys for i in range(4)}})]


def with_x(clips, x, bone="hips"):
    """The first clip's edit."""
    return [clips[0].moved(bone, x), *clips[1:]]


# ---- to bytes ----

def base_and_step(keys):
    """Steps of half a unit hold all that the samples have."""
    lowest = [min(key[i] for key in keys) for i in range(3)]
    return lowest, [0.5, 0.5, 0.5]


class Writer:
    def __init__(self, clips):
        self.clips = clips
        self.names = list(dict.fromkeys(bone for clip in clips for bone in clip.bones))
        self.channels = [keys for clip in clips for keys in clip.bones.values()]

    def keys(self):
        """All keys, and where those of each channel begin."""
        packed, places = b"", []
        for keys in self.channels:
            places.append(len(packed))
            if len(keys) > 1:
                base, step = base_and_step(keys)
                packed += b"".join(struct.pack("<3H", *(round((key[i] - base[i]) / step[i]) for i in range(3)))
                                   for key in keys)
        return packed + b"\0" * (-len(packed) % 4), places

    def channel(self, i, to_keys):
        keys = self.channels[i]
        if len(keys) == 1:
            return CHANNEL.pack(0, 1, *keys[0], 0, 0, 0, 0)
        base, step = base_and_step(keys)
        return CHANNEL.pack(1, len(keys), *base, *step, to_keys)

    def rows(self, clip, first):
        return b"".join(struct.pack("<4H", self.names.index(bone), first + i, NONE, NONE)
                        for i, bone in enumerate(clip.bones))

    def bytes(self):
        keys, places = self.keys()
        channels_at = 0x20
        keys_at = channels_at + CHANNEL.size * len(self.channels)
        animations_at = keys_at + len(keys)
        rows_at = animations_at + ANIMATION.size * len(self.clips)
        names_at = rows_at + 8 * len(self.channels)
        strings = {}
        end = names_at + 4 * len(self.names)
        for text in sorted({*self.names, *(clip.name for clip in self.clips)}):
            strings[text] = end
            end += len(text.encode("utf-16-le")) + 2
        out = b"CANM" + struct.pack("<IIiIiIi", VERSION, len(self.clips), animations_at,
                                    len(self.channels), channels_at, len(self.names), names_at)
        for i, place in enumerate(places):
            at = channels_at + CHANNEL.size * i
            out += self.channel(i, keys_at + place - at)
        out += keys + self.animations(animations_at, rows_at, strings)
        first = 0
        for clip in self.clips:
            out += self.rows(clip, first)
            first += len(clip.bones)
        for i, name in enumerate(self.names):
            out += struct.pack("<i", strings[name] - (names_at + 4 * i))
        return out + b"".join(text.encode("utf-16-le") + b"\0\0" for text in strings)

    def animations(self, at, rows_at, strings):
        out, first = b"", 0
        for clip in self.clips:
            here = at + len(out)
            out += ANIMATION.pack(1, strings[clip.name] - here, 2.0 * (clip.frames() - 1), 2.0, clip.frames(),
                                  len(clip.bones), rows_at + 8 * first - here)
            first += len(clip.bones)
        return out


def write(clips):
    return Writer(clips).bytes()


# ---- from bytes ----

def text_at(data, at):
    end = at
    while data[end:end + 2] != b"\0\0":
        end += 2
    return data[at:end].decode("utf-16-le")


def positions(data, at):
    kind, count, *numbers, keys = CHANNEL.unpack_from(data, at)
    base, step = numbers[:3], numbers[3:]
    if kind == 0:
        return [tuple(base)]
    return [tuple(base[i] + key[i] * step[i] for i in range(3))
            for key in struct.iter_unpack("<3H", data[at + keys:at + keys + 6 * count])]


def read(data):
    """The clips of a file that has only positions, in the order of the file."""
    magic, version, count, animations, _, channels, _, names = struct.unpack_from("<4sIIiIiIi", data, 0)
    if magic != b"CANM" or version != VERSION:
        raise ValueError("no CANM")
    clips = []
    for i in range(count):
        at = animations + ANIMATION.size * i
        _, name, _, _, _, rows, first = ANIMATION.unpack_from(data, at)
        bones = {}
        for j in range(rows):
            bone, position, *_ = struct.unpack_from("<4H", data, at + first + 8 * j)
            place = names + 4 * bone
            bone_name = text_at(data, place + struct.unpack_from("<i", data, place)[0])
            bones[bone_name] = positions(data, channels + CHANNEL.size * position) if position != NONE else []
        clips.append(Clip(text_at(data, at + name), bones))
    return clips


# ---- texts ----

def number(value):
    text = f"{value:.7g}"
    return text.removesuffix(".0")


def bone_csv(clips, bone="hips", clip=0):
    """A bone's table with one row, as bytes."""
    [key] = clips[clip].bones[bone]
    cells = ",".join(number(value) for value in key)
    return f"frame,time,tx,ty,tz,rx,ry,rz,sx,sy,sz\n0,0,{cells},,,,,,\n".encode()
