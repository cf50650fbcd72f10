#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""nano.py VIEW OLD NEW: makes OLD into NEW in nano, as fingers do, and saves; ends as nano does."""
import os
import pty
import sys


def edit(old, new):
    """Where they differ (line and column), how much goes, and what comes."""
    begin = len(os.path.commonprefix((old, new)))
    rest = len(os.path.commonprefix((old[begin:][::-1], new[begin:][::-1])))
    line = old.count("\n", 0, begin) + 1
    column = begin - (old.rfind("\n", 0, begin) + 1) + 1
    return line, column, len(old) - rest - begin, new[begin : len(new) - rest]


def until(fd, shown):
    """What it says until the text is on the screen, or None to its end. Keys are typed ahead of no screen:
    before nano has set up its terminal they would be for that."""
    said = b""
    try:
        while shown is None or shown not in said:
            part = os.read(fd, 65536)
            if not part:
                break
            said += part
    except OSError:  # the other end is closed
        pass
    return said


def main(view, old, new):
    with open(old) as a, open(new) as b:
        line, column, gone, typed = edit(a.read(), b.read())
    pid, fd = pty.fork()
    if pid == 0:
        os.environ["TERM"] = "xterm"
        os.execvp("nano", ["nano", "-I", f"+{line},{column}", view])
    said = until(fd, b"^X")
    # What could not be saved is asked about: no.
    os.write(fd, b"\x04" * gone + typed.encode() + b"\x13\x18n")
    said += until(fd, None)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    # nano ends with 0 whatever happened; what it says on the screen is how it tells.
    sys.exit(1 if b"Error" in said else status)


main(*sys.argv[1:])
