/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fill_facts.h"

#include "json_load.h"
#include "table.h"

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

static void read_row(const struct table *t, size_t frame_column, size_t time_column,
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
		if (cell_is(&t.cells[i], "frame"))
			frame_column = i;
		else if (cell_is(&t.cells[i], "time"))
			time_column = i;
	}
	while (fine && frame_column != NOWHERE && table_row(&t, NULL) && !t.done)
		read_row(&t, frame_column, time_column, span);
	table_close(&t);
}

/* ---- JSON ---- */

json_t *facts_of(struct bytes text)
{
	struct json_fault fault;
	json_t *root = json_load_bytes(text, 0, &fault);

	if (json_is_object(root))
		return root;
	json_decref(root);
	return NULL;
}

const char *facts_text(const json_t *facts, const char *name)
{
	return json_string_value(json_object_get(facts, name));
}

double facts_number(const json_t *facts, const char *name, double otherwise)
{
	const json_t *value = json_object_get(facts, name);

	return json_is_number(value) ? json_number_value(value) : otherwise;
}

static void read_keys(const json_t *keys, struct span *span)
{
	for (size_t i = 0; i < json_array_size(keys); i++) {
		double frame = facts_number(json_array_get(keys, i), "frame", -1);

		if (frame >= 0 && frame < UINT32_MAX)
			span_add(span, (uint32_t)frame, 0);
	}
}

void span_of_json(struct bytes text, struct span *span)
{
	json_t *root = facts_of(text), *channels = json_object_get(root, "channels"), *channel;
	double seconds = facts_number(root, "seconds_per_frame", 0);
	const char *name;

	if (span->timed == 0 && seconds > 0) {
		span->timed = 1;
		span->seconds_per_frame = seconds;
	}
	read_keys(json_object_get(root, "keyframes"), span);
	json_object_foreach(channels, name, channel)
	{
		read_keys(json_object_get(channel, "keys"), span);
	}
	json_decref(root);
}
