/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "assembly_facts.h"

#include "text/table.h"

#define NOWHERE SIZE_MAX

static void span_add(struct span *span, uint32_t frame, double seconds)
{
	if (frame == UINT32_MAX)
		return;
	if (frame >= span->frames)
		span->frames = frame + 1;
	if (frame <= span->timed || !(seconds > 0))
		return;
	span->timed = frame;
	span->seconds_per_frame = seconds / frame;
}

/* ---- CSV ---- */

static void assembly_facts_read_row(const struct table *t, size_t frame_column, size_t time_column,
				    struct span *span)
{
	uint32_t frame;
	double seconds = 0;

	if (!table_frame(t, table_cell(t, frame_column), &frame))
		return;
	if (time_column != NOWHERE && !table_number(t, table_cell(t, time_column), &seconds))
		seconds = 0;
	span_add(span, frame, seconds);
}

void span_of_csv(struct bytes text, struct span *span)
{
	size_t frame_column = NOWHERE, time_column = NOWHERE;
	struct table t;
	bool fine = table_open(&t, text, NULL) && table_row(&t, NULL);

	for (size_t i = 0; fine && i < t.count; i++) {
		if (cell_names(&t.cells[i], "frame"))
			frame_column = i;
		else if (cell_names(&t.cells[i], "time"))
			time_column = i;
	}
	while (fine && frame_column != NOWHERE && table_row(&t, NULL) && !t.done)
		assembly_facts_read_row(&t, frame_column, time_column, span);
	table_close(&t);
}

/* ---- JSON ---- */

const char *facts_text(const struct token *facts, const char *name)
{
	return token_text(token_member(facts, name));
}

double facts_number(const struct token *facts, const char *name, double otherwise)
{
	return token_number(token_member(facts, name), otherwise);
}

static void assembly_facts_read_keys(const struct token *keys, struct span *span)
{
	for (const struct token *t = token_first(keys); t; t = token_next(keys, t)) {
		double frame = facts_number(t, "frame", -1);

		if (frame >= 0 && frame < UINT32_MAX)
			span_add(span, (uint32_t)frame, 0);
	}
}

static void read_facts(const struct token *root, struct span *span)
{
	const struct token *channels = token_member(root, "channels");
	double seconds = facts_number(root, "seconds_per_frame", 0);

	if (span->timed == 0 && seconds > 0) {
		span->timed = 1;
		span->seconds_per_frame = seconds;
	}
	assembly_facts_read_keys(token_member(root, "keyframes"), span);
	for (const struct token *t = token_first(channels); t; t = token_next(channels, t))
		assembly_facts_read_keys(token_member(t, "keys"), span);
}

void span_of_json(struct bytes text, struct span *span)
{
	struct doc d;

	if (doc_read(&d, text, NULL))
		read_facts(d.root, span);
	doc_release(&d);
}
