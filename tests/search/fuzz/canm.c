/* SPDX-License-Identifier: GPL-3.0-or-later */
/* canm.c - any bytes as a CANM file. */
#include "fuzz.h"

FUZZ_CODEC("canm", "tests/data/canm/*.canm")
