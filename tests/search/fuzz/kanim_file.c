/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kanim_file.c - any bytes as a kanim; kanim.c is the view of the other formats. */
#include "fuzz.h"

FUZZ_CODEC("kanim", "tests/data/kanim/*anim*")
