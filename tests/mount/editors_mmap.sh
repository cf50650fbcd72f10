#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# editors_mmap.sh - writes through a mapping are saved whenever the kernel hands them over: at msync, at
# close, or after the last close when the mapping outlives the descriptor.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/editing.bash"
mount_stopped

# by_mapping STEP...: of flush, close (the descriptor) and unmap
by_mapping()
{
	python3 - "$F" "$@" <<'PYTHON'
import ctypes, mmap, os, sys

libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]
libc.msync.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]

path, steps = sys.argv[1], sys.argv[2:]
fd = os.open(path, os.O_RDWR)
size = os.fstat(fd).st_size
# Not Python's own mmap, which keeps a descriptor until it is unmapped.
at = libc.mmap(None, size, mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_SHARED, fd, 0)
assert at not in (None, ctypes.c_void_p(-1).value)
text = ctypes.string_at(at, size)
ctypes.memset(at + text.index(b"1.5,-2"), ord("2"), 1)
for step in steps:
    if step == "flush" and libc.msync(at, size, 4) != 0:
        raise OSError(ctypes.get_errno(), "msync")
    if step == "close":
        os.close(fd)
    if step == "unmap":
        libc.munmap(at, size)
PYTHON
}

by_unmap_close() { by_mapping unmap close; }
by_close_unmap() { by_mapping close unmap; }
by_flush_unmap_close() { by_mapping flush unmap close; }
by_flush_close_unmap() { by_mapping flush close unmap; }
by_close_flush_unmap() { by_mapping close flush unmap; }
by_exit() { by_mapping; }
edits unmap-close by_unmap_close
edits close-unmap by_close_unmap
edits flush-unmap-close by_flush_unmap_close
edits flush-close-unmap by_flush_close_unmap
edits close-flush-unmap by_close_flush_unmap
edits exit by_exit

# With a text that is longer than what is there: until the mapping is written it ends in zeros.
"$ANIMFS" cat "$EDITED/$BONE" | sed s/2.5,-2/2.500000,-2.000000/ >"$WORK/long"
by_longer()
{
	python3 - "$F" "$WORK/long" <<'PYTHON'
import mmap, os, sys
path, new = sys.argv[1:]
text = open(new, "rb").read()
fd = os.open(path, os.O_RDWR)
assert os.fstat(fd).st_size < len(text)
os.ftruncate(fd, len(text))
m = mmap.mmap(fd, len(text))
os.close(fd)
m[:] = text
m.close()
PYTHON
}
# The same while a mapping of the text before is there, and was written to.
by_second()
{
	python3 - "$F" "$WORK/long" <<'PYTHON'
import mmap, os, sys
path, new = sys.argv[1:]
text = open(new, "rb").read()
first = os.open(path, os.O_RDWR)
m = mmap.mmap(first, 0)
m[:] = m[:].replace(b"1.5,-2", b"3.5,-2")
second = os.open(path, os.O_RDWR)
os.ftruncate(second, len(text))
n = mmap.mmap(second, len(text))
os.close(second)
n[:] = text
n.close()
m.close()
os.close(first)
PYTHON
}
for way in by_longer by_second; do
	cp "$SAMPLE" "$SRC/$way.canm"
	F=$MNT/$way.canm/$BONE
	ok "a longer text, closed before it is written ($way)" $way
	ok "is saved" wait_for 3 cmp -s "$SRC/$way.canm" "$EDITED"
done

# What is read through a mapping is what the view says, also after it was saved another way.
mapped_reader()
{
	python3 - "$F" "$NEW" <<'PYTHON'
import mmap, subprocess, sys, time
path, new = sys.argv[1:]
with open(path, "rb") as f:
    m = mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ)
    assert b"1.5,-2" in m[:]
    subprocess.run(["cp", new, path + ".new"], check=True)
    subprocess.run(["mv", path + ".new", path], check=True)
with open(path, "rb") as f:
    m = mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ)
    assert m[:] == open(new, "rb").read()
PYTHON
}
edits reader mapped_reader
