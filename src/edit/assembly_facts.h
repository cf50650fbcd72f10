/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * assembly_facts.h - facts about a clip that are read from its texts before there is a clip to
 * parse them against.
 */
#ifndef ANIMFS_EDIT_ASSEMBLY_FACTS_H
#define ANIMFS_EDIT_ASSEMBLY_FACTS_H

#include "text/json.h"

/* The range of keys in texts. */
struct span {
	uint32_t frames;          /* the last frame with a key, plus 1 */
	uint32_t timed;           /* a frame whose time a text gives, or 0 if there is none */
	double seconds_per_frame; /* derived from the time of frame `timed` */
};

/* Extends the span by a bone's CSV or curves.csv; a text that is not a table is ignored. */
void span_of_csv(struct bytes text, struct span *span);
void span_of_json(struct bytes text, struct span *span);

/*
 * Returns a string or number member of a JSON text; NULL, or `otherwise`, if the member is
 * missing.
 */
const char *facts_text(const struct token *facts, const char *name);
double facts_number(const struct token *facts, const char *name, double otherwise);

#endif
