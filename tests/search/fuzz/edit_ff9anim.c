/* SPDX-License-Identifier: GPL-3.0-or-later */
/* edit_ff9anim.c - a Final Fantasy IX block that is edited. */
#include "edit.h"

FUZZ_EDIT("ff9anim", "tests/data/ff9anim/*.ff9anim")
