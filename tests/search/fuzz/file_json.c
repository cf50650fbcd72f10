/* SPDX-License-Identifier: GPL-3.0-or-later */
/* file_json.c - any text saved as file.json of a kanim. */
#define FUZZ_SAMPLES "tests/data/kanim/stick.kanim", "tests/data/kanim/frames.castle-anim-frames"
#include "fuzz.h"

FUZZ_VIEW(view_file_json)
