/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * bone_plain.c - a fast path for a bone's CSV, or a clip's curves.csv, that differs from the served
 * text only in its numbers, as most saves do: the same rows, with the same blank cells. Any other
 * text, and any that will be refused, is left to the full parsers in bone_csv.c and curves_csv.c.
 */
#include "bone_plain.h"

#include "csv.h"
#include "curves.h"
#include "model/curve_edit.h"

#include <string.h>

struct plain {
	const char *p, *end;
	double seconds_per_frame;
	struct curve_edit_plain roles[ROLE_COUNT];
	uint32_t rows;
};

static bool take_char(struct plain *t, char c)
{
	return t->p < t->end && *t->p++ == c;
}

static bool take_numbers(struct plain *t, unsigned count, struct num_plain *out)
{
	t->p = num_scan(t->p, t->end, count, out);
	return t->p != NULL;
}

static bool take_frame(struct plain *t, uint32_t row)
{
	const char *p = t->p;
	uint32_t frame = 0;

	for (; p < t->end && (unsigned char)(*p - '0') < 10 && p - t->p < 9; p++)
		frame = frame * 10 + (uint32_t)(*p - '0');
	if (p == t->p || frame != row)
		return false;
	t->p = p;
	return true;
}

/* Reads "12,0.4": the frame and the time of a row, which must be as served. */
static bool take_time(struct plain *t, uint32_t row)
{
	struct num_plain time;
	double value;

	return take_frame(t, row) && take_numbers(t, 1, &time) && num_plain_value(&time, &value) &&
	       csv_is_served_time(value, row * t->seconds_per_frame);
}

static bool bone_plain_take_key(struct plain *t, struct curve_edit_plain *role, uint32_t key)
{
	struct num_plain cells[NUM_SCAN_MOST];

	return take_numbers(t, role->width, cells) && curve_edit_plain_key(role, key, cells);
}

static bool take_blanks(struct plain *t, unsigned count)
{
	if ((size_t)(t->end - t->p) < count)
		return false;
	for (; count; count--)
		if (*t->p++ != ',')
			return false;
	return true;
}

static bool bone_plain_begin(struct plain *t, const struct shown *at, uint32_t track,
			     struct arena *arena)
{
	const struct clip *clip = &at->anim->clips[at->clip];

	t->seconds_per_frame = anim_seconds_per_frame(at->anim, clip);
	t->rows = 0;
	for (int r = 0; r < ROLE_COUNT; r++) {
		if (!curve_edit_plain_begin(&t->roles[r], at->anim, clip, &clip->tracks[track],
					    (enum role)r, arena))
			return false;
		if (t->rows < t->roles[r].count)
			t->rows = t->roles[r].count;
	}
	return t->rows <= at->anim->format->max_frames;
}

static bool finish_plain(struct plain *t, const struct shown *at, uint32_t number,
			 struct anim *edited)
{
	const struct track *old = &at->anim->clips[at->clip].tracks[number];
	struct track *track = NULL;

	for (int r = 0; r < ROLE_COUNT; r++) {
		const struct curve *curve;

		if (!curve_edit_plain_end(&t->roles[r], &curve))
			return false;
		if (curve == old->curve[r])
			continue;
		if (!track)
			track = anim_edit_track(edited, at->clip, number);
		if (!track)
			return false;
		track->curve[r] = curve;
	}
	return true;
}

/* ---- curves.csv ---- */

static bool take_text(struct plain *t, const char *text, size_t size)
{
	if ((size_t)(t->end - t->p) < size || memcmp(t->p, text, size) != 0)
		return false;
	t->p += size;
	return true;
}

static bool take_channel(struct plain *t, const char *label, size_t label_size, int r)
{
	struct curve_edit_plain *role = &t->roles[r];
	const char *channel =
		role->text.kind == CURVE_QUATERNION ? CHANNEL_QUATERNION : role_names[r];
	size_t size = strlen(channel);

	for (uint32_t key = 0; key < role->count; key++)
		if (!take_text(t, label, label_size) || !take_char(t, ',') ||
		    !take_text(t, channel, size) || !take_char(t, ',') || !take_time(t, key) ||
		    !bone_plain_take_key(t, role, key) || !take_blanks(t, 4 - role->width) ||
		    !take_char(t, '\n'))
			return false;
	return true;
}

/* Reads the rows of a bone; of one without keys, "bone,,,,,,,". */
static bool bone_plain_take_bone(struct plain *t, const char *label)
{
	size_t size = strlen(label);

	for (int r = 0; r < ROLE_COUNT; r++)
		if (!take_channel(t, label, size, r))
			return false;
	return t->rows > 0 ||
	       (take_text(t, label, size) && take_blanks(t, 7) && take_char(t, '\n'));
}

struct anim *curves_parse_plain(const struct shown *at, struct bytes rows)
{
	const struct clip *clip = &at->anim->clips[at->clip];
	struct anim *edited = anim_edit(at->anim);
	struct plain t = {.p = (const char *)rows.data, .end = (const char *)rows.data + rows.size};
	bool fine = edited != NULL;

	for (uint32_t track = 0; fine && track < clip->track_count; track++)
		fine = bone_plain_begin(&t, at, track, &edited->arena) &&
		       bone_plain_take_bone(&t, clip->tracks[track].label) &&
		       finish_plain(&t, at, track, edited);
	if (fine && t.p == t.end)
		return edited;
	anim_free(edited);
	return NULL;
}

/* ---- a bone's CSV ---- */

static bool take_row(struct plain *t, uint32_t row)
{
	if (!take_time(t, row))
		return false;
	for (int r = 0; r < ROLE_COUNT; r++) {
		struct curve_edit_plain *role = &t->roles[r];

		if (!(row < role->count ? bone_plain_take_key(t, role, row)
					: take_blanks(t, role->width)))
			return false;
	}
	return take_char(t, '\n');
}

struct anim *bone_parse_plain(const struct shown *at, struct bytes rows)
{
	struct anim *edited = anim_edit(at->anim);
	struct plain t = {.p = (const char *)rows.data, .end = (const char *)rows.data + rows.size};
	bool fine = edited && bone_plain_begin(&t, at, at->track, &edited->arena) && t.rows > 0;

	for (uint32_t row = 0; fine && row < t.rows; row++)
		fine = take_row(&t, row);
	if (fine && t.p == t.end && finish_plain(&t, at, at->track, edited))
		return edited;
	anim_free(edited);
	return NULL;
}
