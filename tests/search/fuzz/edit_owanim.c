/* SPDX-License-Identifier: GPL-3.0-or-later */
/* edit_owanim.c - an Overwatch animation that is edited. */
#include "edit.h"

FUZZ_EDIT("owanim", "tests/data/owanim/*.006")
