/* SPDX-License-Identifier: GPL-3.0-or-later */
/* frames_csv.c - any text saved as frames.csv of a kanim. */
#define FUZZ_SAMPLES "tests/data/kanim/stick.kanim", "tests/data/kanim/frames.castle-anim-frames"
#include "fuzz.h"

FUZZ_VIEW(view_frames_csv)
