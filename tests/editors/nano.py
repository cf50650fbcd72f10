#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""nano.py VIEW OLD NEW: makes OLD into NEW in nano, as fingers do, and saves; ends as nano does."""
import os
import pty
import select
import sys


def edit(old, new):
    """Where they differ (line and column), how much goes, and what comes."""
    begin = len(os.path.commonprefix((old, new)))
    rest = len(os.path.commonprefix((old[begin:][::-1], new[begin:][::-1])))
    line = old.count("\n", 0, begin) + 1
    column = begin - (old.rfind("\n", 0, begin) + 1) + 1
    return line, column, len(old) - rest - begin, new[begin : len(new) - rest]


def until_quiet(fd):
    """What it says: something always comes, sooner or later, and then more at once."""
    text, wait = b"", 10
    while select.select([fd], [], [], wait)[0]:
        text += os.read(fd, 65536)
        wait = 0.3
    return text


def main(view, old, new):
    with open(old) as a, open(new) as b:
        line, column, gone, typed = edit(a.read(), b.read())
    pid, fd = pty.fork()
    if pid == 0:
        os.environ["TERM"] = "xterm"
        os.execvp("nano", ["nano", "-I", f"+{line},{column}", view])
    said = b""
    try:
        said += until_quiet(fd)
        for keys in b"\x04" * gone + typed.encode(), b"\x13":
            os.write(fd, keys)
            said += until_quiet(fd)
        # What could not be saved is asked about: no.
        os.write(fd, b"\x18n")
        until_quiet(fd)
    except OSError:
        pass
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    # nano ends with 0 whatever happened; what it says on the screen is how it tells.
    sys.exit(1 if b"Error" in said else status)


main(*sys.argv[1:])
