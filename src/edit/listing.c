/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "listing.h"

#include "model/curve_edit.h"
#include "text/num.h"

#include <string.h>

void listing_release(struct listing *l)
{
	buf_release(&l->text);
	buf_release(&l->rows);
}

bool listing_failed(const struct listing *l)
{
	return l->text.failed || l->rows.failed;
}

size_t listing_count(const struct listing *l)
{
	return l->rows.size / sizeof(struct listing_row);
}

const struct listing_row *listing_row(const struct listing *l, size_t i)
{
	return (const struct listing_row *)(const void *)l->rows.data + i;
}

struct bytes listing_line(const struct listing *l, size_t i)
{
	const struct listing_row *row = listing_row(l, i);

	return (struct bytes){l->text.data + row->at, row->size};
}

/* Ends the line that starts at offset `at` of the text. */
static void end_line(struct listing *l, uint32_t frame, size_t at)
{
	struct listing_row row = {.frame = frame, .at = at};

	buf_char(&l->text, '\n');
	row.size = l->text.size - at;
	buf_add(&l->rows, &row, sizeof(row));
}

static size_t listing_begin_line(struct listing *l, const char *indent, const char *word)
{
	size_t at = l->text.size;

	buf_text(&l->text, indent);
	buf_text(&l->text, word);
	buf_char(&l->text, ' ');
	return at;
}

/* ---- values ---- */

static void write_f32(struct listing *l, const char *word, float v)
{
	size_t at = listing_begin_line(l, "  ", word);

	buf_f32_text(&l->text, v);
	end_line(l, 0, at);
}

static void listing_write_text(struct listing *l, const char *indent, const char *word,
			       const char *text)
{
	size_t at = listing_begin_line(l, indent, word);

	buf_text(&l->text, text);
	end_line(l, 0, at);
}

static void write_field(struct listing *l, const char *indent, const struct field *field)
{
	size_t at = listing_begin_line(l, indent, field->name);

	if (field->type == FIELD_REAL)
		buf_f32_text(&l->text, (float)field->real);
	else if (field->type == FIELD_BOOL)
		buf_text(&l->text, field->integer ? "true" : "false");
	else if (field->type == FIELD_TEXT)
		buf_text(&l->text, field->text);
	else
		buf_format(&l->text, "%lld", (long long)field->integer);
	end_line(l, 0, at);
}

void listing_header(struct listing *l, const struct anim *a)
{
	size_t at = l->text.size;

	buf_text(&l->text, a->format->name);
	if (a->version)
		buf_format(&l->text, " %u", a->version);
	end_line(l, 0, at);
	if (a->read_only)
		listing_write_text(l, "", "read-only:", a->read_only);
	for (uint32_t i = 0; i < a->field_count; i++)
		write_field(l, "", &a->fields[i]);
}

static void write_stills(struct listing *l, const struct clip *clip)
{
	for (uint32_t i = 0; clip->stills && i < clip->frames; i++) {
		size_t at = listing_begin_line(l, "  ", "frame");

		buf_unsigned(&l->text, i);
		buf_char(&l->text, ' ');
		buf_f32_text(&l->text, clip->stills[i].time);
		buf_char(&l->text, ' ');
		buf_text(&l->text, clip->stills[i].url);
		end_line(l, i, at);
	}
}

void listing_values(struct listing *l, const struct anim *a, const struct clip *clip)
{
	const struct format *format = a->format;
	size_t at = listing_begin_line(l, "  ", "frames");
	char unit[32];

	buf_unsigned(&l->text, clip->frames);
	end_line(l, 0, at);
	if (format->has_loop)
		listing_write_text(l, "  ", "loop", clip->loop ? "true" : "false");
	anim_time_unit(a, unit);
	if (format->has_frame_time || format->has_duration)
		listing_write_text(l, "  ", "time_unit", unit);
	if (format->has_frame_time)
		write_f32(l, "frame_time", clip->frame_time);
	if (format->has_duration)
		write_f32(l, "duration", clip->duration);
	for (uint32_t i = 0; i < clip->field_count; i++) {
		/*
		 * "loop" is listed already, as a boolean; the stored value of the field may have
		 * more bits.
		 */
		const struct field *field = &clip->fields[i];
		bool said = strcmp(field->name, "loop") == 0 && field->integer == clip->loop;

		if (!said)
			write_field(l, "  ", field);
	}
	write_stills(l, clip);
}

/* ---- keys ---- */

static void listing_write_key(struct listing *l, const struct curve *c, uint32_t key)
{
	for (unsigned axis = 0; axis < curve_width(c); axis++) {
		buf_char(&l->text, ' ');
		buf_lane_text(&l->text, curve_value(c, key, axis), &c->lane[axis]);
	}
}

void listing_curve(struct listing *l, enum role role, const struct curve *c)
{
	for (uint32_t key = 0; c && key < c->count; key++) {
		size_t at = listing_begin_line(l, "  ", role_names[role]);

		if (c->timing && c->timing->between) {
			struct lane lane = curve_edit_moment_lane(c->timing->rate);

			buf_lane_text(&l->text, curve_moment(c, key), &lane);
		} else if (c->keyed)
			buf_unsigned(&l->text, curve_frame(c, key));
		else
			buf_text(&l->text, "all");
		listing_write_key(l, c, key);
		end_line(l, curve_frame(c, key), at);
	}
}

void listing_sample(struct listing *l, enum role role, const struct curve *c, uint32_t frame)
{
	size_t at = listing_begin_line(l, "  ", role_names[role]);
	double value[4];

	curve_sample(c, frame, value);
	buf_unsigned(&l->text, frame);
	for (unsigned axis = 0; axis < curve_width(c); axis++) {
		buf_char(&l->text, ' ');
		buf_f32_text(&l->text, (float)value[axis]);
	}
	end_line(l, frame, at);
}

void listing_keyframes(struct listing *l, const struct track *track)
{
	const struct keyframes *k = track->keyframes;
	uint32_t next[ROLE_COUNT] = {0};

	for (uint32_t i = 0; i < k->count; i++) {
		size_t at = listing_begin_line(l, "  ", "keyframe");

		buf_unsigned(&l->text, k->frames[i]);
		buf_text(&l->text, " flags ");
		buf_unsigned(&l->text, k->flags[i]);
		for (enum role role = 0; role < ROLE_COUNT; role++) {
			if (!(k->roles[i] & 1u << role))
				continue;
			buf_format(&l->text, " %s", role_names[role]);
			listing_write_key(l, track->curve[role], next[role]++);
		}
		end_line(l, k->frames[i], at);
	}
}

/* ---- the file ---- */

static void listing_write_track(struct listing *l, const struct anim *a, const struct clip *clip,
				const struct track *track)
{
	struct arena arena = ARENA_INIT;
	struct track shown = curve_edit_shown(a, track, &arena);
	size_t at = listing_begin_line(l, "", "bone");

	buf_format(&l->text, "%s/%s", clip->label, track->label);
	end_line(l, 0, at);
	if (track->keyframes)
		listing_keyframes(l, &shown);
	for (enum role role = 0; !track->keyframes && role < ROLE_COUNT; role++)
		listing_curve(l, role, shown.curve[role]);
	l->text.failed |= arena.failed;
	arena_release(&arena);
}

void listing_anim(struct listing *l, const struct anim *a)
{
	listing_header(l, a);
	for (uint32_t i = 0; i < a->clip_count && !listing_failed(l); i++) {
		const struct clip *clip = &a->clips[i];

		listing_write_text(l, "", "clip", clip->label);
		listing_values(l, a, clip);
		for (uint32_t j = 0; j < clip->track_count && !listing_failed(l); j++)
			listing_write_track(l, a, clip, &clip->tracks[j]);
	}
}
