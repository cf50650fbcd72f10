#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""duckdb_turns.py ANIMFS SOURCE - the answer of duckdb_turns.js, computed from the bones' own
views: lines "file clip bone" for each that turns by more than 90 degrees within 0.1 s."""
import csv
import math
import os
import subprocess
import sys

animfs, source = sys.argv[1:]


def views(path, names):
    """The texts of several views of one file."""
    paths = [path + "/" + name for name in names]
    text = subprocess.run([animfs, "cat", "--rotations=quaternion", *paths], check=True,
                          stdout=subprocess.PIPE, text=True).stdout
    return text.split("frame,time,")[1:]


def listing(path):
    return subprocess.run([animfs, "ls", path], check=True, stdout=subprocess.PIPE,
                          text=True).stdout.splitlines()


def rotations(text):
    """(time, quaternion) of each row that has one."""
    rows = csv.reader(("frame,time," + text).splitlines())
    first = next(rows).index("qx")
    return [(float(row[1]), [float(v) for v in row[first:first + 4]])
            for row in rows if row[first]]


def angle(a, b):
    dot = abs(math.fsum(x * y for x, y in zip(a, b)))
    return 2 * math.degrees(math.acos(min(1, dot)))


def turns(keys):
    for i, (begin, a) in enumerate(keys):
        for time, b in keys[i + 1:]:
            if time - begin > 0.1 + 2e-6:
                break
            if angle(a, b) > 90:
                return True
    return False


found = []
for folder, _, names in os.walk(source):
    for name in names:
        if not name.endswith(".canm"):
            continue
        path = os.path.join(folder, name)
        for clip in (line[:-1] for line in listing(path) if line.endswith("/")):
            bones = [line for line in listing(path + "/" + clip + "/bones")
                     if line.endswith(".csv")]
            texts = views(path, [clip + "/bones/" + bone for bone in bones])
            assert len(texts) == len(bones)
            found += [(os.path.relpath(path, source), clip, bone[:-4])
                      for bone, text in zip(bones, texts) if turns(rotations(text))]
for line in sorted(found):
    print(*line)
