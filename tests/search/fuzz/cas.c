/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cas.c - any bytes as a CAS file. */
#include "fuzz.h"

FUZZ_CODEC("cas", "tests/data/cas/*.cas")
