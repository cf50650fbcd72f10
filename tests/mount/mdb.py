#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""mdb.py FILE HEIGHT - a model of Earth Defense Force with two bones, the second so far above the first."""
import struct
import sys


def bone(number, parent, height):
    matrix = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, height, 0, 1]
    return struct.pack("<iiiii12x16f96x", number, parent, 0, 0, number, *matrix)


names = ["Scene_Root\0".encode("utf-16-le"), "Bone01\0".encode("utf-16-le")]
begin = 0x38 + 2 * 0xC0
table = struct.pack("<ii", begin - 0x30, begin + len(names[0]) - 0x34)
with open(sys.argv[1], "wb") as f:
    f.write(struct.pack("<4sIiiii24x", b"MDB0", 0x20, 2, 0x30, 2, 0x38) + table)
    f.write(bone(0, -1, 0) + bone(1, 0, float(sys.argv[2])) + names[0] + names[1])
