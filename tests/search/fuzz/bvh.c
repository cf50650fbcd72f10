/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bvh.c - any text saved as clip.bvh. */
#include "fuzz.h"

FUZZ_VIEW(view_bvh)
