/* SPDX-License-Identifier: GPL-3.0-or-later */
/* edit_ribbon.c - a Vib-Ribbon ANM file that is edited. */
#include "edit.h"

FUZZ_EDIT("ribbon", "tests/data/ribbon/*.anm")
