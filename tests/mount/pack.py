#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""pack.py - makes archives for tests.

pack.py cpk OUT FOLDER         all files below FOLDER, stored as they are
pack.py rab OUT FOLDER         the files of FOLDER's folders, which are its types
pack.py sparse OUT COUNT SIZE  a CPK of SIZE bytes that are mostly a hole, with COUNT members in
                               folders of 1000
"""
import os
import struct
import sys


def utf(name, columns, rows):
    """A table: columns are (name, type), with a value in each row."""
    pool, at = bytearray(b"<NULL>\0"), {}

    def text(s):
        if s not in at:
            at[s] = len(pool)
            pool.extend(s.encode() + b"\0")
        return at[s]

    kinds = {"string": (0x5A, ">I"), "u32": (0x54, ">I"), "u64": (0x56, ">Q")}
    table = text(name)
    head = b"".join(struct.pack(">BI", kinds[kind][0], text(column)) for column, kind in columns)
    body = bytearray()
    for row in rows:
        for value, (_, kind) in zip(row, columns):
            body += struct.pack(kinds[kind][1], text(value) if kind == "string" else value)
    width = sum(struct.calcsize(kinds[kind][1]) for _, kind in columns)
    begin = 0x18 + len(head)
    strings = begin + len(body)
    blobs = strings + len(pool)
    data = struct.pack(">HHIIIHHI", 1, begin, strings, blobs, table, len(columns), width, len(rows))
    data += head + bytes(body) + bytes(pool)
    return b"@UTF" + struct.pack(">I", len(data)) + data


def packet(signature, table):
    return signature + struct.pack("<IQ", 0xFF, len(table)) + table


def head(toc):
    table = utf("CpkHeader", [("TocOffset", "u64"), ("ContentOffset", "u64")], [(toc, 0x800)])
    return packet(b"CPK ", table).ljust(0x7FA, b"\0") + b"(c)CRI"


TOC = [("DirName", "string"), ("FileName", "string"), ("FileSize", "u32"),
       ("ExtractSize", "u32"), ("FileOffset", "u64")]


def files_below(folder):
    for path, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            where = os.path.relpath(path, folder)
            yield "" if where == "." else where, name, os.path.join(path, name)


def cpk(out, folder):
    rows, at = [], 0x800
    with open(out, "wb") as f:
        f.seek(at)
        for where, name, path in files_below(folder):
            with open(path, "rb") as g:
                data = g.read()
            rows.append((where, name, len(data), len(data), at - 0x800))
            f.write(data)
            at += len(data)
        f.write(packet(b"TOC ", utf("CpkTocInfo", TOC, rows)))
        f.seek(0)
        f.write(head(at))


def sparse(out, count, size):
    step = (size - (64 << 20)) // count
    rows = [("d%03d" % (i // 1000), "f%06d.bin" % i, min(step, 4096), min(step, 4096), i * step)
            for i in range(count)]
    toc = 0x800 + count * step
    with open(out, "wb") as f:
        f.write(head(toc))
        f.seek(toc)
        f.write(packet(b"TOC ", utf("CpkTocInfo", TOC, rows)))
        f.truncate(size)


def rab(out, folder):
    files, types = [], []
    for kind, name, path in files_below(folder):
        if kind not in types:
            types.append(kind)
        with open(path, "rb") as g:
            files.append((kind, name, g.read()))
    tables = 0x28 + 0x20 * len(files) + 8 * len(files) + 4 * len(types)
    pool, at = bytearray(), {}
    for text in sorted({name for _, name, _ in files} | set(types)):
        at[text] = tables + len(pool)
        pool += text.encode("utf-16-le") + b"\0\0"
    data = tables + len(pool)
    largest = max(len(d) for _, _, d in files)
    result = bytearray(struct.pack("<4s9I", b"SSA\0", 0x110, data, largest, largest, len(files),
                                   0x28, 0x28 + 0x20 * len(files), len(types),
                                   tables - 4 * len(types)))
    offset = data
    for kind, name, content in files:
        result += struct.pack("<iIIIQII", at[name] - len(result), len(content), types.index(kind),
                              kind == "HD-TEXTURE", 0, offset, 0)
        offset += len(content)
    for i in sorted(range(len(files)), key=lambda i: files[i][1]):
        result += struct.pack("<iI", at[files[i][1]] - len(result), i)
    for kind in types:
        result += struct.pack("<i", at[kind] - len(result))
    with open(out, "wb") as f:
        f.write(bytes(result) + bytes(pool))
        for _, _, content in files:
            f.write(content)


if __name__ == "__main__":
    if sys.argv[1] == "sparse":
        sparse(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
    else:
        {"cpk": cpk, "rab": rab}[sys.argv[1]](sys.argv[2], sys.argv[3])
