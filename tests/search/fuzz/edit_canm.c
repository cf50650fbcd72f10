/* SPDX-License-Identifier: GPL-3.0-or-later */
/* edit_canm.c - a CANM file that is edited. */
#include "edit.h"

FUZZ_EDIT("canm", "tests/data/canm/*.canm")
