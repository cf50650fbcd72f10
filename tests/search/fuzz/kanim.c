/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kanim.c - any text saved as clip.kanim. */
#include "fuzz.h"

FUZZ_VIEW(view_kanim)
