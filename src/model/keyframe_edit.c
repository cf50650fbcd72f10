/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * keyframe_edit.c - rows of a bone whose keyframes are data: the values go role by role through
 * curve_edit_curve; this file decides about rows and their flags.
 */
#include "curve_edit.h"
#include "said.h"

#include <stdlib.h>

#define ALL_ROLES ((1u << ROLE_COUNT) - 1)

struct rows {
	const struct clip *clip;
	const struct track *track;
	const struct curve_edit_rows *text;
	int64_t *served; /* for each row, the old keyframe that it showed, or -1 */
	struct err *err;
};

static int keyframe_edit_by_frame(const void *pa, const void *pb)
{
	const struct curve_edit_row *a = pa, *b = pb;

	if (a->frame != b->frame)
		return a->frame < b->frame ? -1 : 1;
	if (a->occurrence != b->occurrence)
		return a->occurrence < b->occurrence ? -1 : 1;
	return a->row_at < b->row_at ? -1 : a->row_at > b->row_at;
}

/* Returns bits of the roles for which the text has columns. */
static uint8_t shown_roles(const struct curve_edit_rows *text)
{
	uint8_t shown = 0;

	for (unsigned role = 0; role < ROLE_COUNT; role++)
		if (text->roles[role].columns)
			shown |= (uint8_t)(1u << role);
	return shown;
}

static void match_rows(struct rows *r)
{
	uint32_t group = 0, first = 0;

	for (uint32_t i = 0; i < r->text->count; i++) {
		if (r->text->rows[i].frame != r->text->rows[group].frame)
			group = i;
		r->served[i] = r->track->keyframes
				       ? keyframes_find(r->track->keyframes, r->text->rows[i].frame,
							i - group, &first)
				       : -1;
	}
}

/* Refuses removal of a keyframe that has a value which the text does not show. */
static bool check_removed(const struct rows *r)
{
	const struct keyframes *k = r->track->keyframes;
	unsigned hidden = ALL_ROLES & ~(unsigned)shown_roles(r->text), role;
	uint32_t row = 0;

	for (uint32_t i = 0; k && hidden && i < k->count; i++) {
		while (row < r->text->count && r->served[row] < (int64_t)i)
			row++;
		if ((row < r->text->count && r->served[row] == (int64_t)i) ||
		    !(k->roles[i] & hidden))
			continue;
		role = (unsigned)__builtin_ctz(k->roles[i] & hidden);
		err_at(r->err, ERR_TEXT, r->text->rows[0].row_at, r->text->rows[0].row_length,
		       "the row of frame %u is missing, which has a %s too, and this text has no "
		       "columns for that",
		       (unsigned)k->frames[i], role_names[role]);
		return err_accept(r->err, "a row for each keyframe, or all columns");
	}
	return true;
}

static uint8_t row_roles(const struct rows *r, uint32_t row)
{
	const struct keyframes *k = r->track->keyframes;
	uint8_t shown = shown_roles(r->text);
	uint8_t roles = r->served[row] >= 0 ? k->roles[r->served[row]] & (uint8_t)~shown : 0;

	for (unsigned role = 0; role < ROLE_COUNT; role++)
		if ((shown & 1u << role) && r->text->roles[role].keys[row].given)
			roles |= (uint8_t)(1u << role);
	return roles;
}

static struct keyframes *new_keyframes(const struct rows *r, struct arena *arena)
{
	struct keyframes *made = arena_alloc(arena, 1, sizeof(*made));
	uint32_t *frames = arena_alloc(arena, r->text->count, sizeof(*frames));
	uint8_t *flags = arena_alloc(arena, r->text->count, 1);
	uint8_t *roles = arena_alloc(arena, r->text->count, 1);

	if (!made || !frames || !flags || !roles)
		return NULL;
	for (uint32_t i = 0; i < r->text->count; i++) {
		const struct curve_edit_row *row = &r->text->rows[i];

		frames[i] = row->frame;
		roles[i] = row_roles(r, i);
		if (row->flags.given)
			flags[i] = row->flags.value;
		else if (r->served[i] >= 0)
			flags[i] = r->track->keyframes->flags[r->served[i]];
	}
	*made = (struct keyframes){r->text->count, frames, flags, roles};
	return made;
}

/*
 * Computes the digest of a bone's rows. Rows and the keys of each role must be in the same
 * order.
 */
static struct digest keyframe_edit_said_rows(const struct curve_edit_rows *text)
{
	struct said s;

	said_begin(&s, text->roles[ROLE_ROTATION].kind);
	for (uint32_t i = 0; i < text->count; i++) {
		const struct curve_edit_row *row = &text->rows[i];

		said_keyframe(&s, row->frame, row->flags.given, row->flags.value);
		for (unsigned role = 0; role < ROLE_COUNT; role++) {
			const struct curve_edit_role *of = &text->roles[role];

			if (of->columns)
				said_key(&s, role, of->keys[i].given & of->columns,
					 of->keys[i].value);
		}
	}
	return said_end(&s);
}

bool curve_edit_keyframes(const struct anim *a, const struct clip *clip, const struct track *track,
			  struct curve_edit_rows *text, struct arena *arena, struct track *edited,
			  bool *changed, struct err *err)
{
	struct rows r = {.clip = clip, .track = track, .text = text, .err = err};
	const struct keyframes *made;

	*changed = false;
	qsort(text->rows, text->count, sizeof(*text->rows), keyframe_edit_by_frame);
	r.served = arena_alloc(arena, text->count, sizeof(*r.served));
	if (!r.served)
		return err_memory(err);
	match_rows(&r);
	for (unsigned role = 0; role < ROLE_COUNT; role++) {
		const struct curve *curve;

		if (!text->roles[role].columns)
			continue;
		if (!curve_edit_curve(a, clip, track, &text->roles[role], arena, &curve, err))
			return false;
		*changed |= curve != track->curve[role];
		edited->curve[role] = curve;
	}
	if (!check_removed(&r))
		return false;
	/* curve_edit_curve sorted the keys as the rows are sorted, so they still correspond. */
	made = new_keyframes(&r, arena);
	if (!made)
		return err_memory(err);
	edited->said = keyframe_edit_said_rows(text);
	if (keyframes_same(made, track->keyframes))
		return true;
	edited->keyframes = made;
	*changed = true;
	return true;
}
