/* SPDX-License-Identifier: GPL-3.0-or-later */
/* edit_kanim.c - a kanim that is edited. */
#include "edit.h"

FUZZ_EDIT("kanim", "tests/data/kanim/*anim*")
