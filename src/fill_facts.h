/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fill_facts.h - what texts say about a clip before they can be read as texts of it. */
#ifndef ANIMFS_FILL_FACTS_H
#define ANIMFS_FILL_FACTS_H

#include "animfs/base.h"
#include <jansson.h>

/* How far the keys of texts go. */
struct span {
	uint32_t frames;          /* the last frame with a key, and one */
	uint32_t timed;           /* the frame whose time was told, or 0 */
	double seconds_per_frame; /* by that */
};

/* Of a bone's CSV or curves.csv; a text that is no table says nothing. */
void span_of_csv(struct bytes text, struct span *span);
void span_of_json(struct bytes text, struct span *span);

/* A JSON text's members; NULL where it is none. json_decref it. */
json_t *facts_of(struct bytes text);
/* A text or number among them, or NULL, or `otherwise`. */
const char *facts_text(const json_t *facts, const char *name);
double facts_number(const json_t *facts, const char *name, double otherwise);

#endif
