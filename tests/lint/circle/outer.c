/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "outer.h"
#include "all.h"

int outer_value = 1;
