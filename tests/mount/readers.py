#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""
readers.py CALM STOP VIEW A B... - reads a view again and again, in several ways at once, until the
file STOP is there: what is read must be one of the texts in the files A B..., whole. STOP.whole,
STOP.in_pieces and STOP.mapped are made when each way has read it once. CALM 1: the view is always
there; 0: it may be gone, or its folder be a file, for moments. Prints what was wrong.
"""
import errno
import mmap
import os
import sys
import time

GONE = (errno.ENOENT, errno.ENOTDIR, errno.EIO, errno.ESTALE)
PIECE = 4096


def whole(path):
    with open(path, "rb", buffering=0) as file:
        return file.read(os.fstat(file.fileno()).st_size + PIECE)


def in_pieces(path):
    fd = os.open(path, os.O_RDONLY)
    text = b""
    while piece := os.read(fd, PIECE):
        text += piece
        time.sleep(0.0005)
    os.close(fd)
    return text


def mapped(path):
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        with mmap.mmap(file.fileno(), size, prot=mmap.PROT_READ) as map_:
            text = b""
            while len(text) < size:
                text += map_[len(text):len(text) + PIECE]
                time.sleep(0.0005)
            return text


def tell(how, text, texts):
    """What it seems to be made of."""
    sizes = ", ".join(str(len(t)) for t in texts)
    common = [next((i for i, (a, b) in enumerate(zip(text, t)) if a != b), min(len(text), len(t)))
              for t in texts]
    print("%s: %d bytes are none of the texts (%s); it is like them up to %s" %
          (how.__name__, len(text), sizes, common), flush=True)


def reader(how, calm, stop, path, texts):
    count, wrong = 0, 0
    while not os.path.exists(stop):
        try:
            text = how(path)
        except (OSError, ValueError) as error:
            # An empty file cannot be mapped: half a binary is a file like any other.
            if calm or isinstance(error, OSError) and error.errno not in GONE:
                wrong += 1
                print("%s: %r" % (how.__name__, error), flush=True)
            continue
        count += 1
        if count == 1:
            open(stop + "." + how.__name__, "w").close()
        if text not in texts and (calm or b"," in text[:10]):
            wrong += 1
            tell(how, text, texts)
        if wrong > 3:
            break


def main():
    calm, stop, path = sys.argv[1] == "1", sys.argv[2], sys.argv[3]
    texts = [open(name, "rb").read() for name in sys.argv[4:]]
    children = []
    for how in (whole, in_pieces, mapped):
        child = os.fork()
        if child == 0:
            reader(how, calm, stop, path, texts)
            os._exit(0)
        children.append(child)
    for child in children:
        os.waitpid(child, 0)


main()
