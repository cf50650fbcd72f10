# SPDX-License-Identifier: GPL-3.0-or-later
"""Numbers as formats store them and as texts say them."""
import math
import struct
from fractions import Fraction

TURN = 4096
DEGREES = Fraction(360, TURN)


def f32(number):
    """The single precision number nearest to a number."""
    try:
        return struct.unpack("<f", struct.pack("<f", number))[0]
    except OverflowError:
        return math.copysign(math.inf, number)


def align(at, unit=4):
    return -(-at // unit) * unit


def nearest(number):
    """The whole number nearest to an exact one; of two the larger."""
    return math.floor(Fraction(number) + Fraction(1, 2))


def exact(text):
    return Fraction(text)


def same_f32(text, number):
    """Does a text say this single precision number (or one computed nearly so)?"""
    got = float(text)
    if math.isnan(number) or math.isnan(got):
        return math.isnan(number) and math.isnan(got)
    return f32(got) == f32(number)


def unchanged(text, served):
    """A number that a program wrote anew at 15 digits is the one it read."""
    return format(float(text), ".15g") == format(float(served), ".15g") or float(text) == float(served)
