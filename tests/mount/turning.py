# SPDX-License-Identifier: GPL-3.0-or-later
"""turning.py - rotations as quaternions x y z w, for programs that check what animfs wrote."""
import math


def product(a, b):
    return [a[3] * b[0] + a[0] * b[3] + a[1] * b[2] - a[2] * b[1], a[3] * b[1] - a[0] * b[2] + a[1] * b[3] + a[2] * b[0],
            a[3] * b[2] + a[0] * b[1] - a[1] * b[0] + a[2] * b[3], a[3] * b[3] - a[0] * b[0] - a[1] * b[1] - a[2] * b[2]]


def quaternion(angles):
    """Of angles in degrees: about x first, then y, then z."""
    half = [math.radians(angle) / 2 for angle in angles]
    x, y, z = ([math.sin(half[i]) * (i == axis) for axis in range(3)] + [math.cos(half[i])] for i in range(3))
    return product(z, product(y, x))
