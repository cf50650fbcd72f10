/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ff9anim.c - any bytes as a Final Fantasy IX block. */
#include "fuzz.h"

FUZZ_CODEC("ff9anim", "tests/data/ff9anim/*.ff9anim")
