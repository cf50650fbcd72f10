/* SPDX-License-Identifier: GPL-3.0-or-later */
/* owanim.c - any bytes as an Overwatch animation. */
#include "fuzz.h"

FUZZ_CODEC("owanim", "tests/data/owanim/*.006")
