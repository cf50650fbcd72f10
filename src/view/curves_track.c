/* SPDX-License-Identifier: GPL-3.0-or-later */
/* curves_track.c - turns the rows that curves.csv has for one bone into curves. */
#include "bone_edit.h"
#include "csv.h"
#include "curves.h"
#include "model/clip.h"

#include <math.h>
#include <stdlib.h>

static size_t curves_track_count_rows(struct curves_rows rows, uint8_t channel)
{
	size_t count = 0;

	for (size_t i = 0; i < rows.count; i++)
		count += rows.first[i].channel == channel;
	return count;
}

/*
 * Returns whether no key of the curve has a w. Formats with tangents store each component on its
 * own.
 */
static bool lacks_w(const struct curve *c)
{
	uint32_t key = 0;

	while (c && c->timing && key < c->count && isnan(curve_value(c, key, 3)))
		key++;
	return c && key > 0 && key == c->count;
}

/*
 * Returns the kind of a rotation, which its channel gives. In texts from before the channel
 * "quaternion" existed, values with a w are quaternions; if the column w is present but blank in
 * all rows, they are angles; without the column, they are of the kind that is served.
 */
static enum curve_kind rotation_kind(const struct curves_bone *p, const struct track *track,
				     struct curves_rows rows)
{
	enum curve_kind served = csv_rotation(p->at, track);
	bool given = false;

	for (size_t i = 0; i < rows.count; i++)
		if (rows.first[i].quaternion)
			return CURVE_QUATERNION;
	if (!(p->axes & 8) || (served == CURVE_QUATERNION && lacks_w(track->curve[ROLE_ROTATION])))
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

/*
 * Returns whether a single row is the served form of a curve that was static but now has several
 * keys. Such a text is outdated, not cut short.
 */
static bool is_static_as_rendered(const struct curves_bone *p, const struct track *track,
				  enum role role, size_t keys)
{
	const struct curve *now = track->curve[role];

	return p->at->as_rendered && keys == 1 && now &&
	       curve_shown(now, clip_shown(p->at)->frames) > 1;
}

/* Allocates room for the keys of a role, none of which is read yet. */
static bool begin_role(const struct curves_bone *p, const struct track *track, enum role role,
		       struct curves_rows rows, size_t keys, struct curve_edit_role *out)
{
	enum curve_kind kind = role == ROLE_ROTATION ? rotation_kind(p, track, rows) : CURVE_VECTOR;

	*out = (struct curve_edit_role){
		.role = role,
		.kind = kind,
		.is_static = is_static_as_rendered(p, track, role, keys) ? 1 : -1,
		.columns = p->axes & (kind == CURVE_QUATERNION ? 15 : 7),
		.text = p->text};
	out->keys = calloc(keys, sizeof(*out->keys));
	return out->keys || err_memory(p->err);
}

/*
 * Refuses rows of a rotation that mix both channels. The error is at the first row of the other
 * channel.
 */
static bool curves_track_check_channels(const struct curves_bone *p, struct curves_rows rows)
{
	const struct curves_row *first = NULL;

	for (const struct curves_row *e = rows.first; e < rows.first + rows.count; e++) {
		if (e->channel != ROLE_ROTATION)
			continue;
		first = first ? first : e;
		if (e->quaternion == first->quaternion)
			continue;
		err_at(p->err, ERR_TEXT, e->key.row_at, e->key.row_length,
		       "this bone has rows of both rotation and quaternion");
		return err_accept(p->err, "all of its rotations in the same channel");
	}
	return true;
}

/* Refuses a w in values that are not quaternions. */
static bool curves_track_check_axes(const struct curves_bone *p, const struct curve_edit_role *role)
{
	for (uint32_t i = 0; role->kind != CURVE_QUATERNION && i < role->count; i++) {
		const struct curve_edit_key *key = &role->keys[i];

		if (!(key->given & 8))
			continue;
		err_at(p->err, ERR_TEXT, key->at[3], key->length[3], "a %s has no w",
		       role_names[role->role]);
		return err_accept(p->err, "a blank cell");
	}
	return true;
}

static bool curves_track_read_role(const struct curves_bone *p, const struct track *track,
				   enum role role, struct curves_rows rows,
				   struct curve_edit_role *out)
{
	const struct curve *old = track->curve[role];
	size_t keys = curves_track_count_rows(rows, (uint8_t)role);

	out->role = role;
	if (keys == 0 && old && curve_shown(old, clip_shown(p->at)->frames) > 0) {
		err_at(p->err, ERR_TEXT, rows.first->key.row_at, rows.first->key.row_length,
		       "the rows of the %s of %s are gone", role_names[role], track->label);
		return err_accept(p->err, "its rows; blank cells in them remove keys");
	}
	if (keys == 0)
		return true;
	if (!begin_role(p, track, role, rows, keys, out))
		return false;
	for (size_t i = 0; i < rows.count; i++)
		if (rows.first[i].channel == role)
			out->keys[out->count++] = rows.first[i].key;
	out->at = out->keys[0].row_at;
	out->length = out->keys[0].row_length;
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

/* Adds another row to the last keyframe, which the row belongs to. */
static bool join_row(const struct curves_bone *p, struct curve_edit_rows *text,
		     const struct curves_row *e)
{
	struct curve_edit_row *row = &text->rows[text->count - 1];

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

static void curves_track_new_row(struct curve_edit_rows *text, const struct curves_row *e)
{
	const struct curve_edit_key key = {.frame = e->key.frame,
					   .occurrence = e->key.occurrence,
					   .row_at = e->key.row_at,
					   .row_length = e->key.row_length};

	text->rows[text->count] = (struct curve_edit_row){.frame = key.frame,
							  .occurrence = key.occurrence,
							  .row_at = key.row_at,
							  .row_length = key.row_length,
							  .flags = e->flags};
	for (int r = 0; r < ROLE_COUNT; r++)
		text->roles[r].keys[text->count] = key;
	text->count++;
}

/* Makes keyframes from the rows, which are sorted by frame. */
static bool curves_track_fill_rows(const struct curves_bone *p, struct curves_rows rows,
				   struct curve_edit_rows *text)
{
	const struct curves_row *before = NULL;

	for (const struct curves_row *e = rows.first; e < rows.first + rows.count; e++) {
		if (e->channel == CHANNEL_BLANK)
			continue;
		if (!before || before->key.frame != e->key.frame ||
		    before->key.occurrence != e->key.occurrence)
			curves_track_new_row(text, e);
		else if (!join_row(p, text, e))
			return false;
		if (e->channel < ROLE_COUNT) {
			struct curve_edit_key *key = &text->roles[e->channel].keys[text->count - 1];
			size_t row_at = key->row_at;

			*key = e->key;
			/* The place is the same for all roles, since keys are sorted by it. */
			key->row_at = row_at;
		}
		before = e;
	}
	return true;
}

/* Sorts the rows of a bone and makes keyframes from them. */
static bool curves_track_read_keyframes(const struct curves_bone *p, const struct track *track,
					struct curves_rows rows, struct curve_edit_rows *text)
{
	qsort(rows.first, rows.count, sizeof(*rows.first), by_moment);
	text->rows = calloc(rows.count, sizeof(*text->rows));
	if (!text->rows)
		return err_memory(p->err);
	for (enum role role = 0; role < ROLE_COUNT; role++)
		if (!begin_role(p, track, role, rows, rows.count, &text->roles[role]))
			return false;
	if (!curves_track_fill_rows(p, rows, text))
		return false;
	for (int r = 0; r < ROLE_COUNT; r++)
		text->roles[r].count = text->count;
	if (text->count > 0 || !track->keyframes)
		return true;
	err_at(p->err, ERR_TEXT, rows.first->key.row_at, rows.first->key.row_length,
	       "the rows of %s are gone", track->label);
	return err_accept(p->err, "a row for each keyframe; clip.json removes bones");
}

bool curves_read_track(const struct curves_bone *p, const struct track *track,
		       struct curves_rows rows, struct track *now)
{
	bool keyframes = p->at->anim->format->keyframes, fine = true;
	struct curve_edit_role roles[ROLE_COUNT] = {{0}};
	struct curve_edit_rows text = {.roles = roles, .text = p->text};

	fine = curves_track_check_channels(p, rows);
	if (fine && keyframes)
		fine = curves_track_read_keyframes(p, track, rows, &text);
	for (enum role role = 0; fine && role < ROLE_COUNT; role++)
		fine = (keyframes || curves_track_read_role(p, track, role, rows, &roles[role])) &&
		       curves_track_check_axes(p, &roles[role]);
	fine = fine && ((keyframes && text.count == 0) ||
			bone_edit_read(p->at, track, &text, p->arena, now, p->err));
	for (int r = 0; r < ROLE_COUNT; r++)
		free(roles[r].keys);
	free(text.rows);
	return fine;
}
