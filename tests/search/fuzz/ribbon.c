/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ribbon.c - any bytes as a Vib-Ribbon ANM file. */
#include "fuzz.h"

FUZZ_CODEC("ribbon", "tests/data/ribbon/*.anm")
