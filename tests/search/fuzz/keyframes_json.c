/* SPDX-License-Identifier: GPL-3.0-or-later */
/* keyframes_json.c - any text saved as the JSON of a bone with keyframes. */
#define FUZZ_SAMPLES                                                                               \
	"tests/data/ribbon/flags3.anm", "tests/data/ribbon/duplicate.anm",                         \
		"tests/data/ribbon/trailing2.anm"
#include "fuzz.h"

FUZZ_VIEW(view_bone_json)
