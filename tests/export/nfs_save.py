#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""nfs_save.py URL PATH TEXT - writes the file TEXT over PATH of an NFS export, by libnfs."""
import ctypes
import os
import sys

nfs = ctypes.CDLL("libnfs.so.13")


class Url(ctypes.Structure):
    _fields_ = [("server", ctypes.c_char_p), ("path", ctypes.c_char_p), ("file", ctypes.c_char_p)]


nfs.nfs_init_context.restype = ctypes.c_void_p
nfs.nfs_parse_url_dir.restype = ctypes.POINTER(Url)
nfs.nfs_get_error.restype = ctypes.c_char_p


def must(context, result):
    if result < 0:
        sys.exit(nfs.nfs_get_error(context).decode())


def main():
    url, path, name = sys.argv[1:]
    with open(name, "rb") as file:
        text = file.read()
    context = ctypes.c_void_p(nfs.nfs_init_context())
    parts = nfs.nfs_parse_url_dir(context, url.encode()).contents
    must(context, nfs.nfs_mount(context, parts.server, parts.path))
    handle = ctypes.c_void_p()
    must(context, nfs.nfs_open(context, path.encode(), os.O_WRONLY | os.O_TRUNC,
                               ctypes.byref(handle)))
    must(context, nfs.nfs_write(context, handle, ctypes.c_uint64(len(text)), text))
    must(context, nfs.nfs_fsync(context, handle))
    must(context, nfs.nfs_close(context, handle))


main()
