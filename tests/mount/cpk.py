# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes CPK archives for tests: cpk.py FILE DIR/NAME=FROM[:packed]...

FROM is the file with the member's bytes. cpk.py --sparse FILE COUNT SIZE makes one of SIZE bytes that
are not there but for its tables, of COUNT members.
"""
import functools
import struct
import sys

ENCODING = 1  # UTF-8
COLUMNS = (("DirName", 10), ("FileName", 10), ("FileSize", 4), ("ExtractSize", 4), ("FileOffset", 6),
           ("ID", 4), ("UserString", 10))
DATA = 0x800  # where offsets count from


def table(name, columns, rows):
    """The bytes of one @UTF table; columns are (name, type), all stored in the rows."""
    strings = bytearray(b"<NULL>\0")
    places = {}

    def string(text):
        if text not in places:
            places[text] = len(strings)
            strings.extend(text.encode() + b"\0")
        return places[text]

    forms = {4: ">I", 6: ">Q", 2: ">H"}
    own = string(name)
    heads = b"".join(struct.pack(">BI", 0x50 | kind, string(column)) for column, kind in columns)
    width = sum(4 if kind == 10 else struct.calcsize(forms[kind]) for _, kind in columns)
    body = bytearray()
    for row in rows:
        for (_, kind), value in zip(columns, row):
            body += struct.pack(">I", string(value)) if kind == 10 else struct.pack(forms[kind], value)
    first = 0x18 + len(heads)
    at_strings = first + len(body)
    blobs = at_strings + len(strings)
    head = struct.pack(">HHIIIHHI", ENCODING, first, at_strings, blobs, own, len(columns), width, len(rows))
    data = head + heads + bytes(body) + bytes(strings)
    return b"@UTF" + struct.pack(">I", len(data)) + data


def packet(sign, content):
    return sign + struct.pack("<IQ", 0xFF, len(content)) + content


@functools.cache  # one of many equal members takes as long as all
def crilayla(data):
    """A stream of bytes as they are: a 0 and eight bits for each, from the last to the first."""
    if len(data) <= 256:
        raise ValueError("too short to be packed")
    bits = "".join("0" + format(byte, "08b") for byte in reversed(data[256:]))
    bits += "0" * (-len(bits) % 8)
    stream = bytes(int(bits[i : i + 8], 2) for i in range(0, len(bits), 8))[::-1]
    return b"CRILAYLA" + struct.pack("<II", len(data) - 256, len(stream)) + stream + data[:256]


def cpk(members):
    """members: (folder, name, bytes, packed)."""
    body, rows = bytearray(), []
    for number, (folder, name, data, packed) in enumerate(members):
        stored = crilayla(data) if packed else data
        rows.append((folder, name, len(stored), len(data), len(body), number, ""))
        body += stored + bytes(-len(stored) % 16)
    toc = DATA + len(body)
    header = table("CpkHeader", (("ContentOffset", 6), ("TocOffset", 6), ("TocSize", 6)), [
        (DATA, toc, 16 + len(table("CpkTocInfo", COLUMNS, rows)))])
    start = packet(b"CPK ", header)
    return start + bytes(DATA - 6 - len(start)) + b"(c)CRI" + bytes(body) + packet(
        b"TOC ", table("CpkTocInfo", COLUMNS, rows))


def sparse(path, count, size):
    """As large as it says, but only the tables are on the disk."""
    each = size // count
    rows = [("OBJECT" if i % 2 else "OBJECT/SUB%03d" % (i % 200), "MODEL%06d.CAS" % i, each, each, i * each, i, "")
            for i in range(count)]
    content = table("CpkTocInfo", COLUMNS, rows)
    toc = DATA + count * each
    start = packet(b"CPK ", table("CpkHeader", (("ContentOffset", 6), ("TocOffset", 6), ("TocSize", 6)),
                                  [(DATA, toc, 16 + len(content))]))
    with open(path, "wb") as out:
        out.write(start)
        out.seek(toc)
        out.write(packet(b"TOC ", content))


def main(arguments):
    if arguments[0] == "--sparse":
        sparse(arguments[1], int(arguments[2]), int(arguments[3]))
        return
    members = []
    for word in arguments[1:]:
        path, _, source = word.partition("=")
        packed = source.endswith(":packed")
        folder, _, name = path.rpartition("/")
        with open(source.removesuffix(":packed"), "rb") as file:
            members.append((folder, name, file.read(), packed))
    with open(arguments[0], "wb") as out:
        out.write(cpk(members))


if __name__ == "__main__":
    main(sys.argv[1:])
