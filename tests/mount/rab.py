# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads RAB archives for tests.

rab.py list FILE            one line a member: type/name, stored size, SHA-256 of the stored bytes
rab.py read FILE TYPE/NAME  the member's bytes, unpacked
rab.py laid FILE            exits with an error unless it is laid out as the game's own archives are
"""
import hashlib
import struct
import sys


def text(data, at):
    at += struct.unpack_from("<i", data, at)[0]
    end = at
    while data[end : end + 2] != b"\0\0":
        end += 2
    return data[at:end].decode("utf-16-le", "surrogatepass")


def unpack(data):
    """CMPL: LZSS of a window of 4096 bytes, from 0xFEE on."""
    if data[:4] != b"CMPL":
        return data
    size = struct.unpack_from(">I", data, 4)[0]
    window, at, out, place = bytearray(4096), 8, bytearray(), 0xFEE
    while len(out) < size:
        flags, at = data[at], at + 1
        for bit in range(8):
            if len(out) == size:
                break
            if flags >> bit & 1:
                run, at = data[at : at + 1], at + 1
            else:
                start, length = data[at] << 4 | data[at + 1] >> 4, (data[at + 1] & 15) + 3
                run, at = None, at + 2
            for i in range(1 if run else min(length, size - len(out))):
                byte = run[0] if run else window[(start + i) % 4096]
                out.append(byte)
                window[place] = byte
                place = (place + 1) % 4096
    return bytes(out)


def members(data):
    """[(path, stored bytes)] in the order of the file table."""
    count, table, _, kinds, types = struct.unpack_from("<5I", data, 0x14)
    names = [text(data, types + 4 * i) for i in range(kinds)]
    out = []
    for i in range(count):
        at = table + 0x20 * i
        stored, kind = struct.unpack_from("<II", data, at + 4)
        place = struct.unpack_from("<I", data, at + 0x18)[0]
        out.append((names[kind] + "/" + text(data, at), data[place : place + stored]))
    return out


def check_layout(data):
    magic, version, start, largest_stored, largest = struct.unpack_from("<4s4I", data, 0)
    count, table, index, kinds, types = struct.unpack_from("<5I", data, 0x14)
    assert magic == b"SSA\0" and version == 0x110 and table == 0x28
    assert index == table + 0x20 * count and types == index + 8 * count
    at = start
    for i in range(count):
        stored, place = struct.unpack_from("<I", data, table + 0x20 * i + 4)[0], struct.unpack_from(
            "<I", data, table + 0x20 * i + 0x18)[0]
        assert place == at, "file %d is at %#x and not at %#x" % (i, place, at)
        at += stored
    assert at == len(data), "%d bytes behind the last file" % (len(data) - at)
    stored = [data for _, data in members(data)]
    assert largest_stored == max(map(len, stored))
    assert largest == max(len(unpack(each)) for each in stored)
    order = []
    for i in range(count):
        number = struct.unpack_from("<I", data, index + 8 * i + 4)[0]
        name = text(data, index + 8 * i)
        assert name == text(data, table + 0x20 * number), "the index has another name"
        order.append(name.encode("utf-16-be", "surrogatepass"))
    assert order == sorted(order), "the index is not sorted"


def main(verb, path, *rest):
    with open(path, "rb") as file:
        data = file.read()
    if verb == "laid":
        check_layout(data)
    elif verb == "read":
        sys.stdout.buffer.write(unpack(dict(members(data))[rest[0]]))
    else:
        for name, stored in members(data):
            print(name, len(stored), hashlib.sha256(stored).hexdigest())


if __name__ == "__main__":
    main(*sys.argv[1:])
