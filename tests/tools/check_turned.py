#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""check_turned.py ANIMFS OLD NEW - do two curves.csv, of files before and after an edit, differ in
what check_blender.py edited, and in nothing else? In one bone's rotation in frame 2, by 30 degrees
around its own x axis. The other keys of that curve may be stored in other steps."""

import csv
import math
import subprocess
import sys

BONE = "neck"


def keys(path):
    command = [sys.argv[1], "cat", "--rotations=quaternion", path]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return {(r["bone"], r["channel"], r["frame"]): [r[a] for a in "xyzw"] for r in csv.DictReader(text.splitlines())}


def turned(q, degrees):
    x, y, z, w = map(float, q)
    s, c = math.sin(math.radians(degrees / 2)), math.cos(math.radians(degrees / 2))
    return [x * c + w * s, y * c + z * s, z * c - y * s, w * c - x * s]


def is_near(a, b):
    """What is stored is not quite of length 1."""
    a, b = ([float(x) for x in q] for q in (a, b))
    dot = sum(x * y for x, y in zip(a, b)) / (math.hypot(*a) * math.hypot(*b))
    return abs(dot) > math.cos(math.radians(0.05 / 2))


old, new = keys(sys.argv[2]), keys(sys.argv[3])
edited = (BONE, "quaternion", "2")
for key in old.keys() | new.keys():
    if old.get(key) != new.get(key) and (key[:2] != edited[:2] or key != edited and not is_near(old[key], new[key])):
        sys.exit(f"{key} is different: {old.get(key)} and {new.get(key)}")
if not is_near(turned(old[edited], 30), new[edited]):
    sys.exit(f"turned otherwise: from {old[edited]} to {new[edited]}")
