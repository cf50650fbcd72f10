#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""
toggle.py one|each TIMES MOUNT SOURCE - toggles a value of a bone TIMES times, through its CSV, its JSON and
curves.csv in turn, in one process or in a process for each save. $ANIMFS is the program. Prints how
many saves changed the binary, how many did not, how many of those had no line of their own in
.animfs/errors when the save returned, and how many lines there were in the end.
"""
import collections
import os
import subprocess
import sys
import time

import batches
import oracle

KINDS = ("csv", "json", "curves")
NAME = "toggle.canm"


def value(source):
    return oracle.read(batches.read(os.path.join(source, NAME)))[0].bones["hips"][0][0]


def lines(mount):
    return collections.Counter(batches.read(os.path.join(mount, ".animfs/errors")).decode().splitlines())


def save(mount, edit, kind):
    path = os.path.join(mount, NAME, batches.view_of(edit, kind))
    batches.save_tee(path, batches.edited(batches.read(path).decode(), edit, kind).encode())


def main():
    how, times, mount, source = sys.argv[1], int(sys.argv[2]), *sys.argv[3:]
    batches.write(os.path.join(source, NAME), oracle.write(batches.base_model()))
    follower = subprocess.Popen([batches.ANIMFS, "errors", "-f", mount], stdout=subprocess.PIPE)
    os.set_blocking(follower.stdout.fileno(), False)
    changed = unsaid = 0
    for i in range(times):
        edit = batches.Edit("hips", 1.5 if value(source) == 2.5 else 2.5)
        kind = KINDS[i % len(KINDS)]
        before = lines(mount)
        if how == "one":
            save(mount, edit, kind)
        else:
            batches.program(save, mount, edit, kind)
        if value(source) == edit.value:
            changed += 1
        elif not any(batches.view_of(edit, kind) in line for line in lines(mount) - before):
            unsaid += 1
    said, end = b"", time.monotonic() + 60
    while time.monotonic() < end and said.count(b"\n") < times - changed:
        said += follower.stdout.read() or b""
        time.sleep(0.05)
    follower.kill()
    follower.wait()
    print(changed, times - changed, unsaid, said.count(b"\n"))


if __name__ == "__main__":
    main()
