/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bone_json.c - any text saved as a bone's JSON. */
#include "fuzz.h"

FUZZ_VIEW(view_bone_json)
