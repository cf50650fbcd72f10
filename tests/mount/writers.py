#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""
writers.py - programs that save bones (CSV) of one animation file at the same time, for concurrent.sh
and one that saves any text, for all tests

edit HOW TIMES FOLDER BONE...       a process for each bone; saves the values 1 to TIMES (rx of the
                                    first row) by HOW (close, fsync, rename), reads each back
storm TIMES FOLDER BONE...          the same, where saves may be refused since others do the like
handles TIMES FOLDER BEGUN BONE...  all in one process, through handles that stay open; makes BEGUN
                                    when they are
holds VALUE PROGRAM FILE BONE...    fails unless each bone of the binary has it (animfs cat)
shows VALUE FOLDER BONE...          the same through a mount
watch PROGRAM FILE STOP             prints each time that the binary does not decode, until STOP is there
errno HOW FILE TEXT                 saves it, and prints the name of the error, or 0
leave MARK FOLDER FOLDER BONE...    writes 7 into every second bone of both, nonsense into the others,
                                    makes MARK and sleeps with all of them open
"""
import errno
import os
import subprocess
import sys
import time

COLUMN = 5  # rx
NEAR = 0.05  # what the format rounds
# What a save may end with where the binary is being replaced: refused, or the folder is not there
# for a moment, since half a binary is an ordinary file.
MAY_END = (errno.EBADMSG, errno.ENOENT, errno.ENOTDIR, errno.EIO, errno.ESTALE)


def changed(text, value):
    lines = text.split("\n")
    cells = lines[1].split(",")
    cells[COLUMN] = str(value)
    return "\n".join([lines[0], ",".join(cells)] + lines[2:])


def value_of(text):
    return float(text.split("\n")[1].split(",")[COLUMN])


def check_value(text, value, bone):
    seen = value_of(text)
    assert abs(seen - value) < NEAR, "%s: %g in place of %g" % (bone, seen, value)


def read(path):
    with open(path) as file:
        return file.read()


def write_fd(fd, text):
    os.ftruncate(fd, 0)
    assert os.pwrite(fd, text.encode(), 0) == len(text.encode())


def save(path, text, how):
    target = path + ".new~" if how == "rename" else path
    fd = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    try:
        data = os.fsencode(text)
        assert os.write(fd, data) == len(data)
        if how == "fsync":
            os.fsync(fd)
    finally:
        # Once: a close that fails has closed.
        os.close(fd)
    if how == "rename":
        os.rename(target, path)


def save_errno(path, text, how):
    try:
        save(path, text, how)
    except OSError as error:
        return error.errno
    return 0


def edit(path, times, how):
    for value in range(1, times + 1):
        save(path, changed(read(path), value), how)
        check_value(read(path), value, path)
    return times, 0


def storm(path, times):
    saved = refused = 0
    for value in range(1, times + 1):
        try:
            save(path, changed(read(path), value), ("close", "fsync", "rename")[value % 3])
            saved += 1
        except OSError as error:
            if error.errno not in MAY_END:
                raise
            refused += 1
        except IndexError:
            refused += 1  # for a moment there was no such view, but a file of that name
    return saved, refused


def through_handles(paths, times, begun):
    texts = [read(path) for path in paths]
    opened = [os.open(path, os.O_RDWR) for path in paths]
    open(begun, "w").close()
    for value in range(1, times + 1):
        for fd, text in zip(opened, texts):
            write_fd(fd, changed(text, value))
            os.fsync(fd)
        time.sleep(0.05)
    for fd in opened:
        os.close(fd)
    return times * len(paths), 0


def each(work, paths):
    """Calls work(path) in a process each; the sums of what they return."""
    pipes = []
    for path in paths:
        inner, outer = os.pipe()
        if os.fork() == 0:
            status = 1
            try:
                os.write(outer, ("%d %d" % work(path)).encode())
                status = 0
            finally:
                if status:
                    print(repr(sys.exc_info()[1]), file=sys.stderr, flush=True)
                os._exit(status)
        os.close(outer)
        pipes.append(inner)
    saved = refused = 0
    failed = False
    for pipe in pipes:
        result = os.read(pipe, 100).split()
        failed |= os.wait()[1] != 0 or len(result) != 2
        if len(result) == 2:
            saved, refused = saved + int(result[0]), refused + int(result[1])
    return saved, refused, failed


def watch(program, binary, stop):
    while not os.path.exists(stop):
        done = subprocess.run([program, "check", binary], capture_output=True, text=True)
        if done.returncode:
            print(done.stdout, done.stderr, flush=True)


def leave(mark, folders, bones):
    opened = []
    for folder in folders:
        for i, bone in enumerate(bones):
            path = os.path.join(folder, bone)
            text = changed(read(path), 7) if i % 2 == 0 else "frame,time\nnonsense,1\n"
            opened.append(os.open(path, os.O_RDWR))
            write_fd(opened[-1], text)
    open(mark, "w").close()
    time.sleep(100)  # in real time: until it is killed


def main():
    command, *rest = sys.argv[1:]
    if command == "watch":
        watch(*rest)
    elif command == "leave":
        leave(rest[0], rest[1:3], rest[3:])
    elif command == "errno":
        how, path, text = rest
        number = save_errno(path, text, how)
        print(errno.errorcode.get(number, number))
    elif command == "holds":
        for bone in rest[3:]:
            text = subprocess.run([rest[1], "cat", rest[2] + "/" + bone], check=True,
                                  capture_output=True, text=True).stdout
            check_value(text, float(rest[0]), bone)
    elif command == "shows":
        for bone in rest[2:]:
            check_value(read(os.path.join(rest[1], bone)), float(rest[0]), bone)
    else:
        how = rest.pop(0) if command == "edit" else None
        times, folder = int(rest.pop(0)), rest.pop(0)
        begun = rest.pop(0) if command == "handles" else None
        paths = [os.path.join(folder, path) for path in rest]
        if command == "handles":
            saved, refused, failed = *through_handles(paths, times, begun), False
        elif command == "edit":
            saved, refused, failed = each(lambda path: edit(path, times, how), paths)
        else:
            saved, refused, failed = each(lambda path: storm(path, times), paths)
        print("%d saved, %d refused" % (saved, refused))
        sys.exit(failed)


if __name__ == "__main__":
    main()
