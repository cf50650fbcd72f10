/* SPDX-License-Identifier: GPL-3.0-or-later */
/* csv.c - any text saved as a bone's table. */
#include "fuzz.h"

FUZZ_VIEW(view_bone_csv)
