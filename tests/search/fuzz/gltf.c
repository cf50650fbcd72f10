/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gltf.c - any text, or .glb, saved as clip.gltf. */
#define FUZZ_SAMPLES                                                                               \
	"tests/data/canm/wiki512.canm", "tests/data/canm/edf6_768.canm",                           \
		"tests/data/owanim/small.006", "tests/data/ff9anim/frames007_low.ff9anim"
#include "fuzz.h"

FUZZ_VIEW(view_gltf)
