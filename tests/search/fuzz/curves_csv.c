/* SPDX-License-Identifier: GPL-3.0-or-later */
/* curves_csv.c - any text saved as curves.csv. */
#define FUZZ_SAMPLES                                                                               \
	"tests/data/canm/wiki512.canm", "tests/data/owanim/small.006",                             \
		"tests/data/ff9anim/frames007_low.ff9anim", "tests/data/ribbon/flags3.anm"
#include "fuzz.h"

FUZZ_VIEW(view_curves_csv)
