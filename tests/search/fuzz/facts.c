/* SPDX-License-Identifier: GPL-3.0-or-later */
/* facts.c - any text in a folder that is being filled to become a clip. */
#include "edit/assembly_facts.h"

#include "fuzz.h"

#include <math.h>

static void write_texts(const char *folder)
{
	fuzz_text_seeds(&view_bone_csv, folder);
	fuzz_text_seeds(&view_bone_json, folder);
	fuzz_text_seeds(&view_curves_csv, folder);
	fuzz_text_seeds(&view_clip_json, folder);
}

FUZZ_INITIALIZE(write_texts(seeds))

static void check_span(const struct span *span)
{
	if (isnan(span->seconds_per_frame) || span->seconds_per_frame < 0)
		fuzz_broken("a frame takes some time", NULL);
	if (span->timed > 1 && span->timed >= span->frames)
		fuzz_broken("the frame whose time was told is one of them", NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct span csv = {0}, json = {0};
	struct bytes text;

	if (size < 3)
		return 0;
	text = (struct bytes){data + 3, size - 3};
	span_of_csv(text, &csv);
	check_span(&csv);
	span_of_json(text, &json);
	check_span(&json);
	return 0;
}
