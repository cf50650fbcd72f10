/* SPDX-License-Identifier: GPL-3.0-or-later */
/* curves_track.c - the rows that curves.csv has of one bone, and the curves that they ask for. */
#include "clip.h"
#include "curves.h"

#include <stdlib.h>

static bool is_given(struct curves_rows rows, uint8_t channel)
{
	for (size_t i = 0; i < rows.count; i++)
		if (rows.first[i].channel == channel)
			return true;
	return false;
}

/*
 * A rotation with a w is a quaternion. Where the column w is there and blank in all its rows they
 * are angles; without it they are what is served.
 */
static enum curve_kind rotation_kind(const struct curves_bone *p, const struct track *track,
				     struct curves_rows rows)
{
	enum curve_kind served = lens_shown_rotation(p->at->anim, track);
	bool given = false;

	if (!(p->axes & 8))
		return served;
	for (size_t i = 0; i < rows.count; i++) {
		if (rows.first[i].channel != ROLE_ROTATION)
			continue;
		if (rows.first[i].key.given & 8)
			return CURVE_QUATERNION;
		given |= rows.first[i].key.given != 0;
	}
	return given ? CURVE_EULER : served;
}

/* Room for a key a row, none there yet. */
static bool begin_role(const struct curves_bone *p, const struct track *track, enum role role,
		       struct curves_rows rows, struct lens_role *out)
{
	enum curve_kind kind = role == ROLE_ROTATION ? rotation_kind(p, track, rows) : CURVE_VECTOR;

	*out = (struct lens_role){.role = role,
				  .kind = kind,
				  .is_static = -1,
				  .columns = p->axes & (kind == CURVE_QUATERNION ? 15 : 7),
				  .text = p->text};
	out->keys = calloc(rows.count, sizeof(*out->keys));
	return out->keys || err_memory(p->err);
}

/* A vector has no fourth component. */
static bool check_axes(const struct curves_bone *p, const struct lens_role *role)
{
	for (uint32_t i = 0; role->kind != CURVE_QUATERNION && i < role->count; i++) {
		const struct lens_key *key = &role->keys[i];

		if (!(key->given & 8))
			continue;
		err_at(p->err, ERR_TEXT, key->at[3], key->length[3], "a %s has no w",
		       role_names[role->role]);
		return err_accept(p->err, "a blank cell");
	}
	return true;
}

static bool read_role(const struct curves_bone *p, const struct track *track, enum role role,
		      struct curves_rows rows, const struct curve **out)
{
	struct lens_role text;
	bool fine;

	*out = track->curve[role];
	if (!is_given(rows, (uint8_t)role)) {
		if (!*out || curve_shown(*out, clip_shown(p->at)->frames) == 0)
			return true;
		err_at(p->err, ERR_TEXT, rows.first->key.row_at, rows.first->key.row_length,
		       "the rows of the %s of %s are gone", role_names[role], track->label);
		return err_accept(p->err, "its rows; blank cells in them remove keys");
	}
	fine = begin_role(p, track, role, rows, &text);
	for (size_t i = 0; fine && i < rows.count; i++)
		if (rows.first[i].channel == role)
			text.keys[text.count++] = rows.first[i].key;
	text.at = fine ? text.keys[0].row_at : 0;
	text.length = fine ? text.keys[0].row_length : 0;
	fine = fine && check_axes(p, &text) &&
	       lens_curve(p->at->anim, clip_shown(p->at), track, &text, p->arena, out, p->err);
	free(text.keys);
	return fine;
}

static bool read_roles(const struct curves_bone *p, const struct track *track,
		       struct curves_rows rows, struct track *now)
{
	for (enum role role = 0; role < ROLE_COUNT; role++)
		if (!read_role(p, track, role, rows, &now->curve[role]))
			return false;
	return true;
}

/* ---- rows that are keyframes ---- */

static int by_moment(const void *pa, const void *pb)
{
	const struct curves_row *a = pa, *b = pb;

	if (a->key.frame != b->key.frame)
		return a->key.frame < b->key.frame ? -1 : 1;
	if (a->key.occurrence != b->key.occurrence)
		return a->key.occurrence < b->key.occurrence ? -1 : 1;
	return a->key.row_at < b->key.row_at ? -1 : a->key.row_at > b->key.row_at;
}

/* One row more of a keyframe that has one. `number` is its place. */
static bool join_row(const struct curves_bone *p, struct lens_rows *text,
		     const struct curves_row *e)
{
	struct lens_row *row = &text->rows[text->count - 1];

	if (e->flags.given && row->flags.given && e->flags.value != row->flags.value) {
		err_at(p->err, ERR_TEXT, e->flags.at, e->flags.length,
		       "the flags of this keyframe are %u in line %zu", (unsigned)row->flags.value,
		       err_locate(p->text, row->row_at).line);
		return err_accept(p->err, "the same flags in all rows of a keyframe");
	}
	if (e->flags.given)
		row->flags = e->flags;
	if (e->channel < ROLE_COUNT && !text->roles[e->channel].keys[text->count - 1].given)
		return true;
	err_at(p->err, ERR_TEXT, e->key.row_at, e->key.row_length,
	       "occurrence %u of frame %u is given twice", (unsigned)e->key.occurrence,
	       (unsigned)e->key.frame);
	return err_accept(p->err, "each channel of a keyframe once, and none if it has no other");
}

static void new_row(struct lens_rows *text, const struct curves_row *e)
{
	const struct lens_key key = {.frame = e->key.frame,
				     .occurrence = e->key.occurrence,
				     .row_at = e->key.row_at,
				     .row_length = e->key.row_length};

	text->rows[text->count] = (struct lens_row){.frame = key.frame,
						    .occurrence = key.occurrence,
						    .row_at = key.row_at,
						    .row_length = key.row_length,
						    .flags = e->flags};
	for (int r = 0; r < ROLE_COUNT; r++)
		text->roles[r].keys[text->count] = key;
	text->count++;
}

/* The keyframes that the rows, which are in order, make. */
static bool fill_rows(const struct curves_bone *p, struct curves_rows rows, struct lens_rows *text)
{
	const struct curves_row *before = NULL;

	for (const struct curves_row *e = rows.first; e < rows.first + rows.count; e++) {
		if (e->channel == CHANNEL_BLANK)
			continue;
		if (!before || before->key.frame != e->key.frame ||
		    before->key.occurrence != e->key.occurrence)
			new_row(text, e);
		else if (!join_row(p, text, e))
			return false;
		if (e->channel < ROLE_COUNT) {
			struct lens_key *key = &text->roles[e->channel].keys[text->count - 1];
			size_t row_at = key->row_at;

			*key = e->key;
			key->row_at = row_at; /* the same in all roles: it is sorted by that */
		}
		before = e;
	}
	return true;
}
static bool read_keyframes(const struct curves_bone *p, const struct track *track,
			   struct curves_rows rows, struct track *now)
{
	struct lens_role roles[ROLE_COUNT] = {{0}};
	struct lens_rows text = {.roles = roles, .text = p->text};
	bool changed, fine = true;

	qsort(rows.first, rows.count, sizeof(*rows.first), by_moment);
	text.rows = calloc(rows.count, sizeof(*text.rows));
	if (!text.rows)
		return err_memory(p->err);
	for (enum role role = 0; fine && role < ROLE_COUNT; role++)
		fine = begin_role(p, track, role, rows, &roles[role]);
	fine = fine && fill_rows(p, rows, &text);
	for (int r = 0; r < ROLE_COUNT; r++)
		roles[r].count = text.count;
	for (int r = 0; fine && r < ROLE_COUNT; r++)
		fine = check_axes(p, &roles[r]);
	if (fine && text.count == 0 && track->keyframes) {
		err_at(p->err, ERR_TEXT, rows.first->key.row_at, rows.first->key.row_length,
		       "the rows of %s are gone", track->label);
		fine = err_accept(p->err, "a row for each keyframe; clip.json removes bones");
	} else if (fine && text.count > 0) {
		fine = lens_keyframes(p->at->anim, clip_shown(p->at), track, &text, p->arena, now,
				      &changed, p->err);
	}
	for (int r = 0; r < ROLE_COUNT; r++)
		free(roles[r].keys);
	free(text.rows);
	return fine;
}

bool curves_read_track(const struct curves_bone *p, const struct track *track,
		       struct curves_rows rows, struct track *now)
{
	if (p->at->anim->format->keyframes)
		return read_keyframes(p, track, rows, now);
	return read_roles(p, track, rows, now);
}
