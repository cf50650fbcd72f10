/* SPDX-License-Identifier: GPL-3.0-or-later */
/* clip_json.c - any text saved as clip.json. */
#include "fuzz.h"

FUZZ_VIEW(view_clip_json)
