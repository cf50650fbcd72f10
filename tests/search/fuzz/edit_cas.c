/* SPDX-License-Identifier: GPL-3.0-or-later */
/* edit_cas.c - a CAS file that is edited. */
#include "edit.h"

FUZZ_EDIT("cas", "tests/data/cas/*.cas")
