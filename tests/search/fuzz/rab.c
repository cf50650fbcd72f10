/* SPDX-License-Identifier: GPL-3.0-or-later */
/* rab.c - any bytes as a RAB archive. */
#include "fuzz_archive.h"

FUZZ_CONTAINER("a.rab", "tests/data/rab/*rab")
