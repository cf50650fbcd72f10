/* SPDX-License-Identifier: GPL-3.0-or-later */
/* edit_ff9clip.c - a clip of Final Fantasy IX (Steam) that is edited. */
#include "edit.h"

FUZZ_EDIT("ff9clip", "tests/data/ff9clip/*.anim")
