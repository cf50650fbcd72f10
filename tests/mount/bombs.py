#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Files and texts that ask for much: of time, of memory, of places outside the mount.

bombs.py files DIR        makes the files
bombs.py save WHAT PATH   saves a text there and prints 0 or the name of the errno
"""
import contextlib
import errno
import itertools
import os
import struct
import sys

NONE = 0xFFFF
MEGABYTE = 1 << 20


def canm(clips, rows, names, channels=(), keys=b""):
    """clips: (name, frames, first row, rows); names: (offset in strings, ...) of both kinds."""
    strings, offsets = bytearray(), {}
    for name in names + [clip[0] for clip in clips]:
        if name not in offsets:
            offsets[name] = len(strings)
            strings += name.encode("utf-16-le") + b"\0\0"
    at_keys = 0x20 + 0x20 * len(channels)
    at_clips = (at_keys + len(keys) + 3) // 4 * 4
    at_rows = at_clips + 0x1C * len(clips)
    at_names = at_rows + 8 * len(rows)
    at_strings = at_names + 4 * len(names)
    out = struct.pack("<4s7I", b"CANM", 0x200, len(clips), at_clips, len(channels), 0x20,
                      len(names), at_names)
    for i, (keyed, count) in enumerate(channels):
        out += struct.pack("<HH6fi", keyed, count, 1, 2, 3, 0.5, 0.25, 0.125,
                           at_keys - (0x20 + 0x20 * i) if keyed else 0)
    out += keys.ljust(at_clips - at_keys, b"\0")
    for i, (name, frames, first, count) in enumerate(clips):
        at = at_clips + 0x1C * i
        out += struct.pack("<iiffiIi", 1, at_strings + offsets[name] - at, 2, 1, frames, count,
                           at_rows + 8 * first - at)
    out += b"".join(struct.pack("<4H", *row) for row in rows)
    out += b"".join(struct.pack("<i", at_strings + offsets[name] - at_names - 4 * i)
                    for i, name in enumerate(names))
    return out + strings


def rows_of(count, channel=0):
    return [(i, channel, NONE, NONE) for i in range(count)]


def names_of(count):
    return [f"bone{i}" for i in range(count)]


def attributes(count):
    return (b"<animation><frame url='a.x3d' time='0'"
            + b"".join(b" a%d=''" % i for i in range(count)) + b"/></animation>\n")


FILES = {
    # Frames that take no bytes of the file, and keys that it has not.
    "frames.canm": lambda: canm([("long", 0x7FFFFFFF, 0, 1)], rows_of(1), ["a"], [(0, 1)]),
    "frames4g.canm": lambda: canm([("long", -1, 0, 1)], rows_of(1), ["a"], [(0, 1)]),
    "keys.canm": lambda: canm([("long", 65535, 0, 1)], rows_of(1), ["a"], [(1, 65535)]),
    "frames.ff9anim": lambda: struct.pack("<10H", 0, 65535, 1, 2, 3, 7, 0x14, 0, 0, 0)
                              + struct.pack("<4H", 1, 2, 3, 7) * 255,
    # One stream that 65,535 bones have, and one name.
    "shared.canm": lambda: canm([("walk", 65535, 0, 65535)], rows_of(65535), names_of(65535),
                                [(1, 65535)], bytes(6 * 65535)),
    "shared64.canm": lambda: canm([("walk", 64, 0, 65535)], rows_of(65535), names_of(65535),
                                  [(1, 64)], bytes(6 * 64)),
    "one_name.canm": lambda: canm([("walk", 2, 0, 65535)], rows_of(65535),
                                  ["n" * MEGABYTE] * 65535, [(0, 1)]),
    "clip_names.canm": lambda: canm([("c" * MEGABYTE, 2, 0, 1)] * 2000, rows_of(1), ["a"],
                                    [(0, 1)]),
    # Names that lead elsewhere.
    "places.canm": lambda: canm([(name, 2, 0, 3) for name in ("..", "a/../../b", "/etc/passwd",
                                                              ".", "", "\n", "con.txt")],
                                rows_of(3), ["..", "../../b", "/"], [(0, 1)]),
    "laughs.kanim": lambda: b"<?xml version='1.0'?>\n<!DOCTYPE animation [\n<!ENTITY l0 'ha'>\n"
                            + b"".join(b"<!ENTITY l%d '%s'>\n" % (i, b"&l%d;" % (i - 1) * 10)
                                       for i in range(1, 30))
                            + b"]>\n<animation><frame url='&l29;' time='0'/></animation>\n",
    "outside.kanim": lambda: b"<!DOCTYPE animation SYSTEM 'file:///etc/passwd'>\n"
                             b"<animation><frame url='a.x3d' time='0'/></animation>\n",
    "nested.kanim": lambda: b"<animation>" + b"<frame>" * 200000,
    "attribute.kanim": lambda: b"<animation><frame url='" + b"a" * 8 * MEGABYTE
                               + b"' time='0'/></animation>\n",
    # What libxml2 compares each with each.
    "attributes.kanim": lambda: b"\n" + attributes(200000),
    "utf16.kanim": lambda: attributes(200000).decode().encode("utf-16"),
    "namespaces.kanim": lambda: b"<animation><frame url='a.x3d' time='0'>"
                                + b"".join(b"<a xmlns:n%d='u'>" % i for i in range(50000))
                                + b"<b/>" * 200000 + b"</a>" * 50000 + b"</frame></animation>",
    "million.kanim": lambda: b"<animation>" + b"<frame url='a.x3d' time='0'/>" * 1000000
                             + b"</animation>\n",
}


def sparse(path, size):
    with open(path, "wb") as file:
        file.write(struct.pack("<4sI", b"CANM", 0x200))
        file.truncate(size)


def make_files(folder):
    for name, make in FILES.items():
        with open(os.path.join(folder, name), "wb") as file:
            file.write(make())
    sparse(os.path.join(folder, "sparse.canm"), 1 << 33)
    sparse(os.path.join(folder, "zeros.canm"), 30 * MEGABYTE)


HEADER = b"frame,time,tx,ty,tz,rx,ry,rz,sx,sy,sz\n"
TRIPLE = (b'{"bufferView": 0, "componentType": 5126, "count": %d, "type": "%s"}')


def gltf(count, length):
    accessors = b", ".join(TRIPLE % (count, kind) for kind in (b"SCALAR", b"VEC3"))
    return (b'{"asset": {"version": "2.0"}, "nodes": [{"name": "hip"}], "animations": [{"channels":'
            b' [{"sampler": 0, "target": {"node": 0, "path": "translation"}}], "samplers":'
            b' [{"input": 0, "output": 1}]}], "accessors": [' + accessors
            + b'], "bufferViews": [{"buffer": 0, "byteLength": %d}], "buffers": [{"byteLength": %d,'
              b' "uri": "data:application/gltf-buffer;base64,AAAA"}]}' % (length, length))


def bvh(joints, frames):
    joint = b" { OFFSET 0 0 0 CHANNELS 3 Zrotation Xrotation Yrotation\n"
    return (b"HIERARCHY\nROOT a" + joint
            + b"".join(b"JOINT b%d" % i + joint for i in range(joints))
            + b"End Site { OFFSET 0 0 0 }\n" + b"}\n" * (joints + 1)
            + b"MOTION\nFrames: %d\nFrame Time: 0.0333\n0 0 0\n" % frames)


# Each is a few pieces, of which some come again and again.
TEXTS = {
    "gigabyte": lambda: itertools.chain([HEADER], itertools.repeat(b"1" * MEGABYTE, 1024)),
    "rows": lambda: [HEADER, b"".join(b"%d,0,1,2,3,,,,,,\n" % i for i in range(1000000))],
    "equal rows": lambda: [HEADER, b"0,0,1,2,3,,,,,,\n" * 100000],
    "curves": lambda: [b"bone,channel,frame,time,x,y,z,w\n",
                       b"".join(b"b%d,scale,0,0,1,1,1,\n" % i for i in range(100000))],
    "columns": lambda: [HEADER, b"," * 1000000, b"\n"],
    "quote": lambda: [HEADER, b'0,0,"', b"a\n" * 500000],
    "digits": lambda: [HEADER, b"0,0,", b"1" * 1000000, b",2,3,,,,,,\n"],
    "nested": lambda: [b'{"a": ', b"[" * 1000000],
    "objects": lambda: [b'{"a": [{}', b",{}" * 1000000, b"]}"],
    "members": lambda: [b"{", b", ".join(b'"%d": 0' % i for i in range(200000)), b"}"],
    "string": lambda: [b'{"format": "', b"a" * 5000000, b'"}'],
    "laughs": lambda: [FILES["laughs.kanim"]()],
    "attributes": lambda: [FILES["attributes.kanim"]()],
    "elements": lambda: [FILES["nested.kanim"]()],
    "accessors": lambda: [gltf(0xFFFFFFFF, 0xFFFFFFFF)],
    "views": lambda: [gltf(3, 1 << 62)],
    "glb": lambda: [b"glTF" + struct.pack("<4I", 2, 0xFFFFFFFF, 0xFFFFFFFF, 0x4E4F534A) + b"{"],
    "joints": lambda: [bvh(50000, 1)],
    "frames": lambda: [bvh(1, 4000000000)],
    "parents": lambda: [b"bone,parent\n", b"".join(b"p%d,p%d\n" % (i, i + 1)
                                                   for i in range(100000))],
}


def save(what, path):
    try:
        fd = os.open(path, os.O_WRONLY | os.O_TRUNC)
        try:
            for piece in TEXTS[what]():
                while piece:
                    piece = piece[os.write(fd, piece):]
            os.fsync(fd)
        except OSError:
            # What came of it is a save, too, and refused.
            with contextlib.suppress(OSError):
                os.close(fd)
            raise
        os.close(fd)
        return 0
    except OSError as error:
        return errno.errorcode[error.errno]


if __name__ == "__main__":
    if sys.argv[1] == "files":
        make_files(sys.argv[2])
    else:
        print(save(sys.argv[2], sys.argv[3]))
