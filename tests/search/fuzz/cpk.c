/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cpk.c - any bytes as a CPK archive. */
#include "fuzz_archive.h"

FUZZ_CONTAINER("a.cpk", "tests/data/cpk/*.cpk")
