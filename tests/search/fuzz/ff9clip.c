/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ff9clip.c - any bytes as a clip of Final Fantasy IX (Steam). */
#include "fuzz.h"

FUZZ_CODEC("ff9clip", "tests/data/ff9clip/*.anim")
