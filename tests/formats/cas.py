# SPDX-License-Identifier: GPL-3.0-or-later
"""The container of a CANM: a tree of records, the CANM, then the names of the records.

A record here is a list of words; a Name stands for an offset of a text, a Link for one of a block of
other records. Offsets count from the start of the record that holds them.
"""
import struct
from dataclasses import dataclass, field

HEADER = 0x30
VERSIONS = {0x200: 0x200, 0x203: 0x200, 0x204: 0x300}
DATA_WORDS = {0x200: 9, 0x203: 13, 0x204: 13}
COMMANDS = {
    0x200: [0, 1, 4, *range(7, 15), 16, 22, 23, 24, 25, 27],
    0x203: [0, 1, 2, 6, *range(9, 18), 22, 28, 29, 30, 31, 33],
    0x204: [0, 1, 2, 8, *range(11, 20), 24, 30, 31, 32, 33, 35],
}


@dataclass
class Group:
    """A CasDataGroup: commands with their words."""

    data: list = field(default_factory=list)


@dataclass
class AnmData:
    words: list  # int, f32, then type and value twice and the last word
    group: Group | None = None


@dataclass
class McAnm:
    name: str
    kind: int
    value: int
    first: AnmData
    more: list
    groups: list  # three, each a Group or None


@dataclass
class Tree:
    version: int
    tcontrols: list  # (name, clip numbers)
    vcontrols: list  # (name, four words)
    bones: list
    anmgroups: list  # (name, McAnms)
    unnamed: Group


# Reading


def text_at(data, at):
    end = at
    while data[end : end + 2] != b"\0\0":
        if end + 2 > len(data):
            raise ValueError("a name without an end")
        end += 2
    return data[at:end].decode("utf-16-le", "surrogatepass")


class Reader:
    def __init__(self, data):
        self.data = data
        self.version = struct.unpack_from("<I", data, 4)[0]

    def words(self, at, count):
        return list(struct.unpack_from(f"<{count}I", self.data, at))

    def link(self, at, place):
        return at + struct.unpack_from("<i", self.data, at + place)[0]

    def name(self, at):
        """The text of a record; a record without one has an offset of 0."""
        offset = struct.unpack_from("<i", self.data, at)[0]
        return text_at(self.data, at + offset) if offset else None

    def records(self, where, size):
        count, at = self.words(where, 2)
        return [at + size * i for i in range(count)]

    def group(self, at):
        count, size = self.words(at, 1)[0], 4 * DATA_WORDS[self.version]
        first = self.link(at, 4)
        return Group([self.words(first + size * i, size // 4) for i in range(count)])

    def group_at(self, at, place):
        offset = self.words(at + place, 1)[0]
        return self.group(self.link(at, place)) if offset else None

    def anm(self, at):
        words = self.words(at, 8)
        return AnmData(words[:2] + words[3:], self.group_at(at, 8))

    def mcanm(self, at):
        words = self.words(at, 9)
        more = self.link(at, 0x0C)
        return McAnm(self.name(at), words[7], words[8], self.anm(self.link(at, 4)),
            [self.anm(more + 0x20 * i) for i in range(words[2])],
            [self.group_at(at, place) for place in (0x10, 0x14, 0x18)])

    def tree(self):
        tcontrols = [(self.name(at), self.words(self.link(at, 8), self.words(at + 4, 1)[0]))
            for at in self.records(0x0C, 0x0C)]
        vcontrols = [(self.name(at), self.words(at + 4, 4)) for at in self.records(0x14, 0x14)]
        groups = []
        for at in self.records(0x1C, 0x0C):
            first = self.link(at, 8)
            groups.append((self.name(at),
                [self.mcanm(first + 0x24 * i) for i in range(self.words(at + 4, 1)[0])]))
        bones = [self.name(at) for at in self.records(0x24, 4)]
        return Tree(self.version, tcontrols, vcontrols, bones, groups,
            self.group(self.words(0x2C, 1)[0]))


def read(data):
    return Reader(data).tree()


def name_fields(data):
    """Where the offsets of all names stand."""
    reader = Reader(data)
    fields = [at for where, size in ((0x0C, 0x0C), (0x14, 0x14), (0x1C, 0x0C), (0x24, 4))
        for at in reader.records(where, size)]
    for at in reader.records(0x1C, 0x0C):
        first = reader.link(at, 8)
        fields += [first + 0x24 * i for i in range(reader.words(at + 4, 1)[0])]
    return fields


def canm_at(data):
    return struct.unpack_from("<I", data, 8)[0]


# Writing, in the order of the games' files


class Writer:
    def __init__(self, version):
        self.version = version
        self.data = bytearray(HEADER)
        self.names = []  # (where the offset stands, text or None)
        self.commands = []  # where each CasData is

    def words(self, at, *words):
        struct.pack_into(f"<{len(words)}I", self.data, at, *(word & 0xFFFFFFFF for word in words))

    def add(self, size):
        at = len(self.data)
        self.data += bytes(size)
        return at

    def name(self, at, text):
        self.names.append((at, text))

    def group(self, group):
        at = self.add(8)
        self.words(at, len(group.data), 8)
        for words in group.data:
            self.commands.append(self.add(4 * len(words)))
            self.words(self.commands[-1], *words)
        return at

    def anm_table(self, anms):
        return self.add(0x20 * len(anms))

    def anm_fill(self, at, anm):
        group = self.group(anm.group) - at if anm.group else 0
        self.words(at, *anm.words[:2], group, *anm.words[2:])

    def mcanm(self, at, mc):
        first = self.anm_table([mc.first])
        self.anm_fill(first, mc.first)
        more = self.anm_table(mc.more)
        for i, anm in enumerate(mc.more):
            self.anm_fill(more + 0x20 * i, anm)
        groups = [self.group(group) - at if group else 0 for group in mc.groups]
        self.words(at, 0, first - at, len(mc.more), more - at, *groups, mc.kind, mc.value)
        self.name(at, mc.name)

    def tree(self, tree):
        at = self.add(0x0C * len(tree.tcontrols))
        self.words(0x0C, len(tree.tcontrols), at)
        for i, (name, clips) in enumerate(tree.tcontrols):
            record = at + 0x0C * i
            place = self.add(4 * len(clips))
            self.words(place, *clips)
            self.words(record, 0, len(clips), place - record)
            self.name(record, name)
        at = self.add(0x14 * len(tree.vcontrols))
        self.words(0x14, len(tree.vcontrols), at)
        for i, (name, words) in enumerate(tree.vcontrols):
            self.words(at + 0x14 * i, 0, *words)
            self.name(at + 0x14 * i, name)
        at = self.add(4 * len(tree.bones))
        self.words(0x24, len(tree.bones), at)
        for i, name in enumerate(tree.bones):
            self.name(at + 4 * i, name)
        self.words(0x2C, self.group(tree.unnamed))
        at = self.add(0x0C * len(tree.anmgroups))
        self.words(0x1C, len(tree.anmgroups), at)
        for i, (name, mcs) in enumerate(tree.anmgroups):
            record = at + 0x0C * i
            table = self.add(0x24 * len(mcs))
            self.words(record, 0, len(mcs), table - record)
            self.name(record, name)
            for j, mc in enumerate(mcs):
                self.mcanm(table + 0x24 * j, mc)

    def finish(self, canm, order, borrowed, tail):
        """The CANM, then the names in an order; `borrowed` names lie inside the CANM."""
        self.data += bytes(-len(self.data) % 16)
        start = len(self.data)
        self.data[0:8] = b"CAS\0" + struct.pack("<I", self.version)
        self.words(8, start)
        self.data += canm
        places = {text: start + at for text, at in borrowed.items()}
        for text in order(dict.fromkeys(text for _, text in self.names if text is not None)):
            if text not in places:
                places[text] = self.add(0)
                self.data += text.encode("utf-16-le", "surrogatepass") + b"\0\0"
        for at, text in self.names:
            struct.pack_into("<i", self.data, at, places[text] - at if text is not None else 0)
        self.places = [place for place in places.values() if place >= start + len(canm)]
        self.data += tail

    def hit_a_name(self, rng):
        """Makes a word of an unknown command look like the offset of a name; can it be done?"""
        if not self.commands or not self.places:
            return False
        at, place = rng.choice(self.commands), rng.choice(self.places)
        word = at + 4 * rng.randrange(1, DATA_WORDS[self.version])
        self.words(at, 999)
        self.words(word, place - rng.choice((at, word)))
        return True


# Inventing


def random_word(rng):
    return rng.choice((0, 1, 2, 0xFFFFFFFF, rng.randrange(3000), rng.getrandbits(32)))


def random_data(version, rng):
    return [rng.choice(COMMANDS[version])] + [random_word(rng) for _ in range(DATA_WORDS[version] - 1)]


def random_group(version, rng):
    return Group([random_data(version, rng) for _ in range(rng.choice((0, 1, 3)))])


def maybe_group(version, rng):
    return random_group(version, rng) if rng.random() < 0.5 else None


def random_anm(version, rng):
    return AnmData([random_word(rng) for _ in range(7)], maybe_group(version, rng))


def random_tree(version, clips, names, rng):
    def name():
        return rng.choice(names)

    def mcanm():
        return McAnm(name(), rng.randrange(3), random_word(rng), random_anm(version, rng),
            [random_anm(version, rng) for _ in range(rng.choice((0, 1, 2)))],
            [maybe_group(version, rng) for _ in range(3)])

    def some(make):
        return [make() for _ in range(rng.randrange(4))]

    return Tree(version, some(lambda: (name(), [rng.randrange(clips) for _ in range(rng.randrange(4))])),
        some(lambda: (name(), [random_word(rng) for _ in range(4)])), some(name),
        some(lambda: (name(), some(mcanm))), random_group(version, rng))


def names_of(count, rng):
    letters = "abcXYZ_019 攻撃待機\u4e00\u3000éß😀"
    return ["".join(rng.choices(letters, k=rng.randint(1, 12))) for _ in range(count)]


@dataclass
class File:
    data: bytes
    borrowed: bool  # a name of a record is a text in the CANM
    fixed: bool  # a word may be an offset of a name, so that no name may move
    closed: bool  # holds what nobody understands, and so is not to be changed


def random_file(canm, clips, rng):
    """A container around a CANM of so many clips."""
    canm_version = struct.unpack_from("<I", canm, 4)[0]
    version = rng.choice([v for v, inner in VERSIONS.items() if inner == canm_version])
    names = names_of(rng.randint(1, 12), rng)
    borrowed = {}
    if rng.random() < 0.3:
        borrowed = borrow(canm, rng)
        names += list(borrowed)
    if rng.random() < 0.2:
        names.append(None)
    writer = Writer(version)
    writer.tree(random_tree(version, clips, names, rng))
    closed = rng.random() < 0.1
    if closed:
        writer.data += rng.randbytes(rng.randint(1, 30)) + b"\1"
    order = sorted if rng.random() < 0.7 else lambda texts: rng.sample(list(texts), len(texts))
    tail = rng.randbytes(rng.choice((0, 0, 0, 1, 7, 32)))
    writer.finish(canm, order, borrowed, tail)
    fixed = rng.random() < 0.15 and writer.hit_a_name(rng)
    return File(bytes(writer.data), bool(borrowed), fixed, closed)


def borrow(canm, rng):
    """{a bone's name of a CANM: its place in the CANM}"""
    count, table = struct.unpack_from("<Ii", canm, 0x18)
    at = table + 4 * rng.randrange(count)
    place = at + struct.unpack_from("<i", canm, at)[0]
    return {text_at(canm, place): place}
