#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""
handles.py keep NAME...       prints a file handle of each name below the current folder
handles.py open MOUNT <KEPT   opens each handle and says what it is
handles.py say MOUNT NAME...  says the same of the names in MOUNT
"""
import ctypes
import errno
import os
import stat
import sys

HANDLE_MAX = 128
libc = ctypes.CDLL(None, use_errno=True)


class Handle(ctypes.Structure):
    _fields_ = [("size", ctypes.c_uint), ("type", ctypes.c_int),
                ("data", ctypes.c_ubyte * HANDLE_MAX)]


def fail():
    number = ctypes.get_errno()
    raise OSError(number, os.strerror(number))


def keep(name):
    handle = Handle(size=HANDLE_MAX)
    mount = ctypes.c_int()
    if libc.name_to_handle_at(-100, name.encode(), ctypes.byref(handle), ctypes.byref(mount), 0):
        fail()
    return "%d:%s" % (handle.type, bytes(handle.data[:handle.size]).hex())


def open_handle(mount, kept, flags):
    kind, data = kept.split(":")
    data = bytes.fromhex(data)
    handle = Handle(size=len(data), type=int(kind))
    handle.data[:len(data)] = data
    fd = libc.open_by_handle_at(mount, ctypes.byref(handle), flags)
    if fd < 0:
        fail()
    return fd


def describe(fd):
    if stat.S_ISDIR(os.fstat(fd).st_mode):
        return "folder " + " ".join(sorted(os.listdir(fd)))
    with os.fdopen(os.dup(fd), "rb") as file:
        return "file " + repr(file.read().decode()).strip("'").replace("\\n", " ").strip()


def tell(name, opened):
    try:
        fd = opened()
        print(name, describe(fd))
        os.close(fd)
    except OSError as error:
        print(name, errno.errorcode[error.errno])


def main():
    command, *rest = sys.argv[1:]
    if command == "keep":
        for name in rest:
            print(keep(name), name)
        return
    mount = os.open(rest[0], os.O_RDONLY | os.O_DIRECTORY)
    if command == "open":
        for line in sys.stdin:
            kept, name = line.rstrip("\n").split(" ", 1)
            tell(name, lambda: open_handle(mount, kept, os.O_RDONLY))
    else:
        for name in rest[1:]:
            tell(name, lambda: os.open(name, os.O_RDONLY, dir_fd=mount))


main()
