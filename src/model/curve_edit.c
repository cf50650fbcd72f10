/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "curve_edit.h"

#include "rotation.h"
#include "said.h"
#include "tangents.h"
#include "text/num.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* How far a typed quaternion's length may be from 1; beyond that it is a typing error. */
#define UNIT_TOLERANCE 0.01

/* The arguments of curve_edit_curve, and what is computed from them. */
struct curve_edit {
	const struct anim *anim;
	const struct clip *clip;
	const struct track *track;
	const struct curve_edit_role *text;
	const struct curve *old; /* NULL: the role has no keys */
	uint32_t shown;          /* number of keys of `old` that the served text shows */
	unsigned width;
	uint8_t all; /* bit mask with all axes of the role */
	struct lane lane[4];
	struct digest said; /* digest of the cells of the text; not yet set in curve_edit_plain */
	struct arena *arena;
	struct err *err;
};

/* The keys of the new curve while it is made. */
struct keys {
	uint32_t count;
	uint32_t *frames; /* frame of each key; NULL: key i is at frame i */
	double *values;
	uint8_t *have; /* bits of the axes that have a value so far */
	/* formats with times: the old key of each key, or -1, and its row, or NULL */
	int64_t *from;
	const struct curve_edit_key **rows;
};

enum curve_kind curve_edit_rotation(const struct track *track)
{
	const struct curve *c = track->curve[ROLE_ROTATION];

	return c ? c->kind : track->rotation;
}

static double quaternion_length(const double q[4])
{
	return sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
}

bool curve_edit_lacks_angles(const struct curve *c)
{
	for (uint32_t key = 0; c && c->kind == CURVE_QUATERNION && key < c->count; key++) {
		double q[4];

		for (unsigned axis = 0; axis < 4; axis++)
			q[axis] = curve_value(c, key, axis);
		if (!(fabs(quaternion_length(q) - 1) <= UNIT_TOLERANCE))
			return true;
	}
	return false;
}

static enum curve_kind shown_in(enum rotations rotations, const struct track *track)
{
	if (rotations == ROTATIONS_QUATERNION)
		return CURVE_QUATERNION;
	return rotations == ROTATIONS_EULER && !curve_edit_lacks_angles(track->curve[ROLE_ROTATION])
		       ? CURVE_EULER
		       : curve_edit_rotation(track);
}

enum curve_kind curve_edit_shown_rotation(const struct anim *a, const struct track *track)
{
	return shown_in(a->rotations, track);
}

enum curve_kind curve_edit_table_rotation(const struct anim *a, const struct track *track)
{
	return shown_in(a->rotations == ROTATIONS_IN_TABLES ? ROTATIONS_EULER : a->rotations,
			track);
}

struct track curve_edit_shown_as(const struct track *track, enum curve_kind rotation,
				 struct arena *arena)
{
	const struct curve *c = track->curve[ROLE_ROTATION];
	struct track shown = *track;

	shown.rotation = rotation;
	if (c && c->kind != rotation)
		c = rotation_convert(c, rotation, arena);
	if (c)
		shown.curve[ROLE_ROTATION] = c;
	return shown;
}

struct track curve_edit_shown(const struct anim *a, const struct track *track, struct arena *arena)
{
	return curve_edit_shown_as(track, curve_edit_shown_rotation(a, track), arena);
}

static const char *axis_name(const struct curve_edit_role *text, unsigned axis)
{
	static const char *const names[ROLE_COUNT][4] = {
		{"tx", "ty", "tz", ""}, {"rx", "ry", "rz", ""}, {"sx", "sy", "sz", ""}};
	static const char *const quaternion[4] = {"qx", "qy", "qz", "qw"};

	return text->kind == CURVE_QUATERNION ? quaternion[axis] : names[text->role][axis];
}

static const char *axis_names(const struct curve_edit_role *text)
{
	static const char *const names[ROLE_COUNT] = {"tx, ty and tz", "rx, ry and rz",
						      "sx, sy and sz"};

	return text->kind == CURVE_QUATERNION ? "qx, qy, qz and qw" : names[text->role];
}

/* ---- cells ---- */

bool curve_edit_unchanged(double cell, double value, const struct lane *lane)
{
	char text[NUM_MAX];
	double served;
	size_t size;

	if (cell == value)
		return true;
	if (!isfinite(cell) || !isfinite(value))
		return isnan(cell) && isnan(value);
	if (lane->form == LANE_FLOAT && lane->unit == 1.0)
		return (float)cell == (float)value;
	/*
	 * The served decimal rounds to the same float32, so it is at most that far from the value.
	 */
	if (isfinite((float)value) && fabs(cell - value) > fabs(value) * FLT_EPSILON + FLT_TRUE_MIN)
		return false;
	size = num_lane(text, value, lane);
	return num_parse(text, size, '.', &served) &&
	       (num_same15(cell, served) || num_is_f32(cell, (float)served));
}

/* Compares bits, so that NaNs can be equal: no decimal distinguishes two NaNs. */
static bool same_bits(double a, double b)
{
	return f32_bits((float)a) == f32_bits((float)b);
}

/*
 * Is the value too large for its float32? An angle in degrees may be larger than FLT_MAX, since it
 * is stored in radians.
 */
static bool is_too_large(double value, const struct lane *lane)
{
	return !isfinite((float)(value / fmax(lane->unit, 1)));
}

static bool curve_edit_refuse_value(const struct curve_edit *l, const struct curve_edit_key *key,
				    unsigned axis)
{
	if (isfinite(key->value[axis])) {
		err_at(l->err, ERR_TEXT, key->at[axis], key->length[axis],
		       "this number is too large to be stored");
		return l->lane[axis].unit > 1
			       ? err_accept(l->err, "a number from -1.9e40 to 1.9e40")
			       : err_accept(l->err, "a number from -3.4e38 to 3.4e38");
	}
	err_at(l->err, ERR_TEXT, key->at[axis], key->length[axis],
	       "%s cannot become infinite or nan", axis_name(l->text, axis));
	return err_accept(l->err, "a finite number");
}

/* For formats with a fixed grid: refuses a number outside it, with some slack for rounding. */
static bool check_range(const struct curve_edit *l, const struct curve_edit_key *key, unsigned axis)
{
	const struct lane *lane = l->anim->format->lanes[l->text->role];
	char low[NUM_MAX], high[NUM_MAX];
	double least, most, half;
	int low_size, high_size;

	if (!lane || lane->form != LANE_GRID || lane->turn > 0 || l->text->kind == CURVE_QUATERNION)
		return true;
	half = lane->unit * (double)lane->step / 2;
	least = lane->unit * (double)lane->base;
	most = least + 65535 * 2 * half;
	if (key->value[axis] >= least - half && key->value[axis] <= most + half)
		return true;
	err_at(l->err, ERR_STORE, key->at[axis], key->length[axis], "%s cannot store %.9g as %s",
	       l->anim->format->name, key->value[axis], axis_name(l->text, axis));
	low_size = (int)num_lane(low, least, lane);
	high_size = (int)num_lane(high, most, lane);
	return err_accept(l->err, "a number from %.*s to %.*s", low_size, low, high_size, high);
}

/*
 * Computes one component of a key. If the cell equals the text that was served, the component keeps
 * its old bits; otherwise it gets the typed number, and *changed is set. A blank cell keeps an old
 * value that is not finite; else the component stays unset. If the text has no such column, does
 * nothing.
 */
static bool settle_axis(const struct curve_edit *l, const struct curve_edit_key *key,
			int64_t served, unsigned axis, double *out, uint8_t *have, bool *changed)
{
	bool is_served = served >= 0;
	double value = is_served ? curve_value(l->old, (uint32_t)served, axis) : 0;
	double cell = key->value[axis];
	uint8_t bit = (uint8_t)(1u << axis);

	if (!(l->text->columns & bit))
		return true;
	if (!(key->given & bit) && (!is_served || isfinite(value)))
		return true;
	*have |= bit;
	*out = value;
	if (!(key->given & bit))
		return true;
	if (is_served && (key->exact & bit ? same_bits(cell, value)
					   : curve_edit_unchanged(cell, value, &l->lane[axis])))
		return true;
	*changed = true;
	*out = l->lane[axis].form == LANE_FLOAT && l->lane[axis].unit == 1.0 ? (double)(float)cell
									     : cell;
	return is_too_large(cell, &l->lane[axis]) ? curve_edit_refuse_value(l, key, axis)
						  : check_range(l, key, axis);
}

static bool stores_floats(const struct curve_edit *l)
{
	return l->lane[0].form == LANE_FLOAT ||
	       (l->lane[0].form == LANE_DOUBLE &&
		(l->anim->format->timed || !l->anim->format->sparse));
}

/* Refuses a changed quaternion whose length is not near 1. */
static bool settle_quaternion(const struct curve_edit *l, const struct curve_edit_key *key,
			      double q[4])
{
	double length = quaternion_length(q);
	unsigned first = (unsigned)__builtin_ctz(key->given);

	if (!(fabs(length - 1) <= UNIT_TOLERANCE)) {
		err_at(l->err, ERR_TEXT, key->at[first], key->length[first],
		       "the quaternion has length %.6g, not 1", length);
		if (length > 0 && isfinite(length))
			err_accept(l->err,
				   "%.9f, %.9f, %.9f, %.9f; or angles in degrees, which "
				   "--rotations=euler shows",
				   q[0] / length, q[1] / length, q[2] / length, q[3] / length);
		else
			err_accept(l->err,
				   "four numbers whose squares add up to 1, such as 0, 0, 0, 1; or "
				   "angles in degrees, which --rotations=euler shows");
		return false;
	}
	/* A float32 quaternion is stored as typed; packed ones are normalised. */
	for (unsigned axis = 0; axis < 4 && !stores_floats(l); axis++)
		q[axis] /= length;
	return true;
}

/* Refuses a key with only some of its components; the error is at the first blank cell. */
static bool refuse_half(const struct curve_edit *l, const struct curve_edit_key *key, uint8_t have)
{
	unsigned axis = 0;

	while (have & 1u << axis)
		axis++;
	if (l->text->columns & 1u << axis)
		err_at(l->err, ERR_TEXT, key->at[axis], key->length[axis],
		       "%s of frame %u is blank, but another part of its %s is given",
		       axis_name(l->text, axis), (unsigned)key->frame, role_names[l->text->role]);
	else
		err_at(l->err, ERR_TEXT, key->row_at, key->row_length,
		       "frame %u gets a new key, but there is no column %s", (unsigned)key->frame,
		       axis_name(l->text, axis));
	return err_accept(l->err, "%s together, or none of them", axis_names(l->text));
}

/* Does the text give rotations in another kind (angles, quaternion) than the bone stores? */
static bool is_other_kind(const struct curve_edit *l)
{
	return l->text->role == ROLE_ROTATION && l->text->kind != curve_edit_rotation(l->track);
}

/* Angles of a changed key are converted together, so each needs a finite value. */
static bool check_angles(const struct curve_edit *l, const struct curve_edit_key *key,
			 const double angles[3])
{
	for (unsigned axis = 0; axis < 3; axis++) {
		if (isfinite(angles[axis]))
			continue;
		err_at(l->err, ERR_TEXT, key->row_at, key->row_length,
		       "%s of frame %u is no number, and another part of the rotation is changed",
		       axis_name(l->text, axis), (unsigned)key->frame);
		return err_accept(l->err, "a number in each of %s", axis_names(l->text));
	}
	return true;
}

/*
 * Computes all components of a key, by settle_axis. `served`: the old key that the row showed, or
 * -1. `parts`: some cells of a vector may be blank. *have: a bit for each component that was set.
 */
static bool settle_key(const struct curve_edit *l, const struct curve_edit_key *key, int64_t served,
		       bool parts, double *out, uint8_t *have)
{
	bool changed = false, given;

	for (unsigned axis = 0; axis < l->width; axis++)
		if (!settle_axis(l, key, served, axis, &out[axis], have, &changed))
			return false;
	given = (*have & l->text->columns) != 0;
	if (!given || (*have != l->all && parts && l->text->kind != CURVE_QUATERNION))
		return true;
	if (*have != l->all)
		return refuse_half(l, key, *have);
	if (changed && l->text->kind == CURVE_QUATERNION)
		return settle_quaternion(l, key, out);
	return !changed || !is_other_kind(l) || check_angles(l, key, out);
}

/* ---- rows ---- */

double curve_edit_moment(const struct curve_edit_key *key)
{
	return key->frame + key->between;
}

struct lane curve_edit_moment_lane(double rate)
{
	return (struct lane){.form = LANE_FLOAT, .unit = rate};
}

static float curve_edit_time_of(const struct curve_edit *l, const struct curve_edit_key *row)
{
	return (float)(curve_edit_moment(row) / l->anim->rate);
}

bool curve_edit_set_moment(struct curve_edit_key *key, double moment)
{
	if (!(fabs(moment) < UINT32_MAX))
		return false;
	key->frame = moment > 0 ? (uint32_t)floor(moment) : 0;
	key->between = moment - key->frame;
	return true;
}

bool curve_edit_is_time_of(double time, double seconds)
{
	return fabs(time - seconds) <= 0.5000001e-6 + fabs(seconds) * 1e-6;
}

bool curve_edit_refuse_time(const struct format *format, size_t at, size_t length, struct err *err)
{
	const char *number = format->has_frame_time ? "frame_time" : format->rate_field;

	err_at(err, ERR_TEXT, at, length, "only the time was changed, and time is read-only");
	/* A rate does not move keys that have times. */
	if (!number || format->timed)
		return err_accept(err, "the time as it was; a key is moved by its frame");
	return err_accept(err, "another %s in clip.json; a key is moved by its frame", number);
}

static int curve_edit_by_frame(const void *pa, const void *pb)
{
	const struct curve_edit_key *a = pa, *b = pb;

	if (a->frame != b->frame)
		return a->frame < b->frame ? -1 : 1;
	if (a->between < b->between || a->between > b->between)
		return a->between < b->between ? -1 : 1;
	if (a->occurrence != b->occurrence)
		return a->occurrence < b->occurrence ? -1 : 1;
	return a->row_at < b->row_at ? -1 : a->row_at > b->row_at;
}

static void sort_rows(const struct curve_edit_role *text)
{
	for (uint32_t i = 1; i < text->count; i++) {
		if (curve_edit_by_frame(&text->keys[i - 1], &text->keys[i]) <= 0)
			continue;
		qsort(text->keys, text->count, sizeof(*text->keys), curve_edit_by_frame);
		return;
	}
}

/* Returns the first of the old keys shown that is not before this time. */
static uint32_t key_at_time(const struct curve_edit *l, float time)
{
	uint32_t low = 0, high = l->shown;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (curve_time(l->old, middle) < time)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/*
 * Gives a row the exact frame of the old key whose frame it shows, as unchanged cells keep their
 * bits: a program that keeps floats writes another number for a frame that is not whole. A frame
 * may also have become whole since, when no other key was between frames any more.
 */
static void take_moment(const struct curve_edit *l, struct curve_edit_key *row)
{
	struct lane lane = curve_edit_moment_lane(l->anim->rate);
	float time = curve_edit_time_of(l, row);
	uint32_t after = key_at_time(l, time);

	if (after < l->shown && curve_time(l->old, after) <= time) {
		curve_edit_set_moment(row, curve_moment(l->old, after));
		return;
	}
	for (uint32_t key = after > 0 ? after - 1 : 0; key <= after && key < l->shown; key++) {
		double moment = curve_moment(l->old, key);

		if (curve_edit_unchanged(curve_edit_moment(row), moment, &lane)) {
			curve_edit_set_moment(row, moment);
			return;
		}
	}
}

static void take_moments(const struct curve_edit *l)
{
	if (!l->old || !l->old->timing)
		return;
	for (uint32_t i = 0; i < l->text->count; i++)
		if (l->old->timing->between || l->text->keys[i].between != 0)
			take_moment(l, &l->text->keys[i]);
}

static const struct curve_timing *any_timing(const struct clip *clip)
{
	for (uint32_t i = 0; i < clip->track_count; i++) {
		for (unsigned role = 0; role < ROLE_COUNT; role++) {
			const struct curve *c = clip->tracks[i].curve[role];

			if (c && c->timing)
				return c->timing;
		}
	}
	return NULL;
}

bool curve_edit_between(const struct clip *clip)
{
	const struct curve_timing *timing = any_timing(clip);

	return timing && timing->between;
}

/*
 * Refuses a key between frames if all old keys of the clip are at whole frames. A row that is blank
 * here may have the key of another role.
 */
static bool check_whole(const struct curve_edit *l)
{
	bool free = !any_timing(l->clip) || curve_edit_between(l->clip);

	for (uint32_t i = 0; !free && i < l->text->count; i++) {
		const struct curve_edit_key *key = &l->text->keys[i];

		if (key->between == 0 || !(key->given & l->text->columns))
			continue;
		err_at(l->err, ERR_TEXT, key->row_at, key->row_length,
		       "the keys of this clip stand at whole frames, from 0 on");
		return err_accept(l->err, "a whole number such as 12");
	}
	return true;
}

static bool curve_edit_check_frames(const struct curve_edit *l)
{
	if (l->anim->format->timed)
		return check_whole(l); /* a clip ends with its last key */
	for (uint32_t i = 0; i < l->text->count; i++) {
		const struct curve_edit_key *key = &l->text->keys[i];

		if (key->frame < l->clip->frames)
			continue;
		err_at(l->err, ERR_TEXT, key->row_at, key->row_length,
		       "frame %u is not in the clip, which has %u frames", (unsigned)key->frame,
		       (unsigned)l->clip->frames);
		if (l->clip->frames == 0)
			return err_accept(l->err,
					  "no row; the number of frames is edited in clip.json");
		return err_accept(
			l->err, "a frame from 0 to %u; the number of frames is edited in clip.json",
			(unsigned)l->clip->frames - 1);
	}
	return true;
}

static bool refuse_repeated(const struct curve_edit *l, const struct curve_edit_key *first,
			    const struct curve_edit_key *key)
{
	err_at(l->err, ERR_TEXT, key->row_at, key->row_length,
	       "frame %u is given twice, first in line %zu", (unsigned)key->frame,
	       err_locate(l->text->text, first->row_at).line);
	return err_accept(l->err, "each frame once");
}

/* ---- the end of both kinds of formats ---- */

static bool keys_init(const struct curve_edit *l, struct keys *keys, size_t capacity)
{
	*keys = (struct keys){
		.values = arena_alloc(l->arena, capacity, l->width * sizeof(*keys->values)),
		.have = arena_alloc(l->arena, capacity, sizeof(*keys->have)),
	};
	if (keys->values && keys->have)
		return true;
	err_memory(l->err);
	return false;
}

static double *curve_edit_values_of(const struct curve_edit *l, const struct keys *keys,
				    uint32_t key)
{
	return keys->values + (size_t)key * l->width;
}

/* Fills components for which the text has no column from an old key. */
static void keep_columns(const struct curve_edit *l, const struct keys *keys, uint32_t key,
			 uint32_t old)
{
	for (unsigned axis = 0; l->text->columns != l->all && axis < l->width; axis++) {
		if (l->text->columns & 1u << axis)
			continue;
		curve_edit_values_of(l, keys, key)[axis] = curve_value(l->old, old, axis);
		keys->have[key] |= (uint8_t)(1u << axis);
	}
}

/* Keeps old keys past the clip's end, which were not shown. */
static void keep_hidden(const struct curve_edit *l, struct keys *keys)
{
	if (!l->old || !l->old->keyed)
		return;
	for (uint32_t old = l->shown; old < l->old->count; old++) {
		uint32_t frame = curve_frame(l->old, old);

		if (frame < l->clip->frames)
			continue;
		if (keys->frames)
			keys->frames[keys->count] = frame;
		if (keys->from)
			keys->from[keys->count] = old;
		for (unsigned axis = 0; axis < l->width; axis++)
			curve_edit_values_of(l, keys, keys->count)[axis] =
				curve_value(l->old, old, axis);
		keys->count++;
	}
}

/* ---- times and tangents ---- */

static bool curve_edit_refuse_tangent(const struct curve_edit *l,
				      const struct curve_edit_tangents *t, enum tangent side,
				      unsigned axis)
{
	err_at(l->err, ERR_TEXT, t->at[side][axis], t->length[side][axis],
	       "the tangent %s the key of %s cannot become infinite or nan",
	       side == TANGENT_IN ? "into" : "out of", axis_name(l->text, axis));
	return err_accept(l->err, "a number from -3.4e38 to 3.4e38");
}

/* Sets the tangents that a row gives and that differ from the served ones. */
static bool curve_edit_put_tangents(const struct curve_edit *l, const struct curve_edit_tangents *t,
				    uint8_t *to, bool *changed)
{
	const struct lane plain = {.form = LANE_FLOAT, .unit = 1};

	for (enum tangent side = TANGENT_IN; side <= TANGENT_OUT; side++) {
		for (unsigned axis = 0; axis < l->width; axis++, to += 4) {
			double given = t->value[side][axis], was = (double)get_f32(to);
			unsigned bit = 1u << axis;

			if (!(t->given[side] & bit) ||
			    (t->exact[side] & bit ? same_bits(given, was)
						  : curve_edit_unchanged(given, was, &plain)))
				continue;
			if (!isfinite((float)given))
				return curve_edit_refuse_tangent(l, t, side, axis);
			put_f32(to, (float)given);
			*changed = true;
		}
	}
	return true;
}

/* Overwrites derived tangents with those that the rows give. */
static bool take_tangents(const struct curve_edit *l, const struct keys *keys, struct curve *made)
{
	size_t size = 8 * (size_t)l->width;
	bool changed = false;

	for (uint32_t key = 0; key < keys->count; key++) {
		const struct curve_edit_key *row = keys->rows[key];
		uint8_t *to = (uint8_t *)made->timing->tangents + size * key;

		if (row && row->tangents &&
		    !curve_edit_put_tangents(l, row->tangents, to, &changed))
			return false;
	}
	if (changed)
		made->said = said_more(made->said, made->timing->tangents, size * made->count);
	return true;
}

/* Refuses tangents of quaternions beside angles, since they have no meaning there. */
static bool refuse_tangents(const struct curve_edit *l)
{
	for (uint32_t i = 0; i < l->text->count; i++) {
		const struct curve_edit_key *key = &l->text->keys[i];

		if (!key->tangents)
			continue;
		err_at(l->err, ERR_TEXT, key->row_at, key->row_length,
		       "tangents are given for a rotation in another form than the stored one");
		return err_accept(l->err, "rotations as they are stored, which --rotations=stored "
					  "shows, or no tangents");
	}
	return true;
}

/* Returns the stored time of the old key that this key replaces; NULL for a new key. */
static const uint8_t *old_time(const struct curve_edit *l, const struct keys *keys, uint32_t key)
{
	if (!l->old || !keys->from || keys->from[key] < 0)
		return NULL;
	return l->old->timing->times + 4 * (size_t)keys->from[key];
}

/* Gives a new curve its times and tangents. */
static bool time_keys(const struct curve_edit *l, const struct keys *keys, struct curve *made)
{
	struct curve_timing *timing = arena_alloc(l->arena, 1, sizeof(*timing));
	uint8_t *times = arena_alloc(l->arena, keys->count, 4);

	if (!timing || !times)
		return err_memory(l->err);
	for (uint32_t key = 0; key < keys->count; key++) {
		const uint8_t *time = old_time(l, keys, key);

		if (time)
			memcpy(times + 4 * (size_t)key, time, 4);
		else
			put_f32(times + 4 * (size_t)key, curve_edit_time_of(l, keys->rows[key]));
	}
	*timing = (struct curve_timing){
		.times = times, .rate = l->anim->rate, .between = curve_edit_between(l->clip)};
	made->timing = timing;
	if (is_other_kind(l))
		return refuse_tangents(l);
	return tangents_derive(made, l->old, l->arena) ? take_tangents(l, keys, made)
						       : err_memory(l->err);
}

/* Finishes the new curve; *out is the old curve if both are equal. */
static bool finish_curve(const struct curve_edit *l, const struct keys *keys, bool keyed,
			 const struct curve **out)
{
	struct curve *made = arena_alloc(l->arena, 1, sizeof(*made));

	if (!made)
		return err_memory(l->err);
	made->kind = l->text->kind;
	made->interpolation = l->old                       ? l->old->interpolation
			      : l->anim->format->keyframes ? INTERPOLATION_STEP
							   : INTERPOLATION_LINEAR;
	made->keyed = keyed;
	made->count = keys->count;
	made->frames = keys->frames;
	made->values = keys->values;
	made->said = l->said;
	memcpy(made->lane, l->lane, sizeof(made->lane));
	if (keys->rows && !time_keys(l, keys, made))
		return false;
	*out = l->old && curve_same(l->old, made) ? l->old : made;
	return true;
}

/* Finishes a role for which no row of the text has a value. */
static bool finish_without_keys(const struct curve_edit *l, const struct curve **out)
{
	if (l->shown == 0) {
		*out = l->old;
		return true;
	}
	*out = NULL;
	if (l->anim->format->full)
		return err_at(l->err, ERR_STORE, l->text->at, l->text->length,
			      "%s stores a %s of %s in every frame: it cannot be removed",
			      l->anim->format->name, role_names[l->text->role], l->track->label);
	if (l->text->columns == l->all)
		return true;
	err_at(l->err, ERR_TEXT, l->text->at, l->text->length,
	       "a part of the %s is blank in all rows", role_names[l->text->role]);
	return err_accept(l->err, "blanks in all rows of %s, which remove the %s",
			  axis_names(l->text), role_names[l->text->role]);
}

/* ---- dense: a key in every frame, or one value for all ---- */

static bool was_keyed(const struct curve_edit *l)
{
	return l->old && l->old->keyed;
}

/*
 * Allocates keys for all rows and for old keys that stay, and sets the components that have no
 * column.
 */
static bool dense_init(const struct curve_edit *l, struct keys *keys)
{
	const struct curve_edit_key *last = &l->text->keys[l->text->count - 1];
	uint32_t rows = l->anim->format->full ? l->clip->frames : last->frame + 1;

	if (last->frame >= l->anim->format->max_frames) {
		err_at(l->err, ERR_STORE, last->row_at, last->row_length,
		       "%s has keys in at most %u frames", l->anim->format->name,
		       (unsigned)l->anim->format->max_frames);
		return false;
	}
	if (!keys_init(l, keys, l->old && l->old->count > rows ? l->old->count : rows))
		return false;
	for (uint32_t frame = 0; l->old && l->shown > 0 && frame < rows; frame++)
		keep_columns(l, keys, frame, frame < l->old->count ? frame : l->old->count - 1);
	return true;
}

/* Sets the keys of all rows; `count` becomes one past the last frame with a value. */
static bool curve_edit_dense_rows(const struct curve_edit *l, struct keys *keys)
{
	for (uint32_t i = 0; i < l->text->count; i++) {
		const struct curve_edit_key *row = &l->text->keys[i];
		bool served = row->frame < l->shown;

		if (i > 0 && row[-1].frame == row->frame)
			return refuse_repeated(l, &row[-1], row);
		if (!settle_key(l, row, served ? (int64_t)row->frame : -1, served && was_keyed(l),
				curve_edit_values_of(l, keys, row->frame), &keys->have[row->frame]))
			return false;
		if (keys->have[row->frame] & l->text->columns)
			keys->count = row->frame + 1;
	}
	return true;
}

static const struct curve_edit_key *row_of(const struct curve_edit *l, uint32_t frame)
{
	const struct curve_edit_role *text = l->text;

	for (uint32_t i = 0; i < text->count; i++)
		if (text->keys[i].frame == frame)
			return &text->keys[i];
	return NULL;
}

/*
 * Refuses a curve whose first or last frame has no value. The error is at the blank cell, or at the
 * last row.
 */
static bool curve_edit_refuse_end(const struct curve_edit *l, const struct keys *keys,
				  uint32_t frame)
{
	const char *role = role_names[l->text->role];
	const char *end = frame == 0 ? "first" : "last";
	const struct curve_edit_key *row = row_of(l, frame);
	unsigned axis = 0;

	if (row) {
		while (axis + 1 < l->width && keys->have[frame] & 1u << axis)
			axis++;
		err_at(l->err, ERR_TEXT, row->at[axis], row->length[axis],
		       "%s is blank in frame %u, the %s that the %s needs",
		       axis_name(l->text, axis), (unsigned)frame, end, role);
	} else {
		row = frame == 0 ? &l->text->keys[0] : &l->text->keys[l->text->count - 1];
		err_at(l->err, ERR_TEXT, row->row_at, row->row_length,
		       "frame %u is missing, the %s that the %s needs", (unsigned)frame, end, role);
	}
	return err_accept(l->err,
			  "a key there (gaps between keys are filled in), or no key at all (that "
			  "removes the %s); a clip gets shorter in clip.json",
			  role);
}

static bool refuse_gap(const struct curve_edit *l, uint32_t from, uint32_t to, unsigned axis)
{
	const struct curve_edit_key *row = row_of(l, to);

	err_at(l->err, ERR_TEXT, row ? row->row_at : l->text->at, row ? row->row_length : 0,
	       "%s cannot be filled in between frames %u and %u: one of them is not finite",
	       axis_name(l->text, axis), (unsigned)from, (unsigned)to);
	return err_accept(l->err, "values for the frames between");
}

/* Fills the frames between two keys, for the axes in `axes`. */
static bool fill_gap(const struct curve_edit *l, const struct keys *keys, uint32_t from,
		     uint32_t to, uint8_t axes)
{
	uint32_t frames[2] = {from, to};
	double ends[8];
	struct curve ramp = {.kind = l->text->kind,
			     .interpolation = INTERPOLATION_LINEAR,
			     .keyed = true,
			     .count = 2,
			     .frames = frames,
			     .values = ends};

	memcpy(ramp.lane, l->lane, sizeof(ramp.lane));
	memcpy(ends, curve_edit_values_of(l, keys, from), l->width * sizeof(*ends));
	memcpy(ends + l->width, curve_edit_values_of(l, keys, to), l->width * sizeof(*ends));
	for (uint32_t frame = from + 1; frame < to; frame++) {
		double pose[4];

		curve_sample(&ramp, frame, pose);
		for (unsigned axis = 0; axis < l->width; axis++) {
			if (!(axes & 1u << axis))
				continue;
			if (!isfinite(pose[axis]))
				return refuse_gap(l, from, to, axis);
			curve_edit_values_of(l, keys, frame)[axis] = pose[axis];
		}
	}
	return true;
}

static bool fill_axes(const struct curve_edit *l, const struct keys *keys, uint8_t axes)
{
	uint32_t from = 0;

	for (uint32_t frame = 1; frame < keys->count; frame++) {
		if ((keys->have[frame] & axes) != axes)
			continue;
		if (frame > from + 1 && !fill_gap(l, keys, from, frame, axes))
			return false;
		from = frame;
	}
	return true;
}

static bool curve_edit_fill_keys(const struct curve_edit *l, const struct keys *keys)
{
	if (l->text->kind == CURVE_QUATERNION)
		return fill_axes(l, keys, l->all);
	for (unsigned axis = 0; axis < l->width; axis++)
		if (!fill_axes(l, keys, (uint8_t)(1u << axis)))
			return false;
	return true;
}

/* Makes a key for each frame, in formats that cannot store one value for a whole clip. */
static void hold_first(const struct curve_edit *l, struct keys *keys)
{
	for (keys->count = 1; keys->count < l->clip->frames; keys->count++)
		memcpy(curve_edit_values_of(l, keys, keys->count), keys->values,
		       l->width * sizeof(*keys->values));
}

/*
 * A value for the whole clip is stored in another form than a key, so the typed number is used and
 * not the key near to it. Otherwise saving the same text again would store another value.
 */
static void take_typed(const struct curve_edit *l, struct keys *keys)
{
	const struct curve_edit_key *row = row_of(l, 0);

	if (!row || !was_keyed(l) || l->text->kind == CURVE_QUATERNION)
		return;
	for (unsigned axis = 0; axis < l->width; axis++)
		if (row->given & l->text->columns & 1u << axis && isfinite(row->value[axis]))
			keys->values[axis] = row->value[axis];
}

static bool dense_static(const struct curve_edit *l, struct keys *keys, const struct curve **out)
{
	bool full = l->anim->format->full;

	for (uint32_t i = 0; i < l->text->count; i++) {
		const struct curve_edit_key *row = &l->text->keys[i];

		for (unsigned axis = 0; axis < l->width; axis++) {
			if (!(keys->have[row->frame] & l->text->columns & 1u << axis) ||
			    f64_same(keys->values[axis],
				     curve_edit_values_of(l, keys, row->frame)[axis]))
				continue;
			err_at(l->err, ERR_TEXT, row->at[axis], row->length[axis],
			       "a static %s has one value, at frame 0", role_names[l->text->role]);
			return err_accept(l->err, "\"static\": false, with a key up to frame %u",
					  (unsigned)l->clip->frames - 1);
		}
	}
	keys->count = 1;
	if (full)
		hold_first(l, keys);
	else
		take_typed(l, keys);
	return finish_curve(l, keys, full, out);
}

static bool dense_keyed(const struct curve_edit *l, struct keys *keys, const struct curve **out)
{
	/*
	 * A curve whose keys end before the clip does may stay so; a new curve has keys up to the
	 * clip's end.
	 */
	uint32_t least = was_keyed(l) && l->shown > 0 ? l->shown : l->clip->frames;

	if (keys->count < least)
		return curve_edit_refuse_end(l, keys, least - 1);
	if (keys->have[keys->count - 1] != l->all)
		return curve_edit_refuse_end(l, keys, keys->count - 1);
	if (!curve_edit_fill_keys(l, keys))
		return false;
	keep_hidden(l, keys);
	return finish_curve(l, keys, true, out);
}

/*
 * A single value, in row 0, counts for the whole clip. If the curve had keys, the rows up to its
 * last key must be present and blank, as proof that the text was not cut short.
 */
static bool is_keyed(const struct curve_edit *l, const struct keys *keys)
{
	const struct curve_edit_key *last = &l->text->keys[l->text->count - 1];

	if (l->text->is_static >= 0)
		return !l->text->is_static;
	if (keys->count > 1 || !was_keyed(l))
		return keys->count > 1;
	return l->shown <= 1 || last->frame + 1 < l->shown;
}

static bool dense_curve(const struct curve_edit *l, const struct curve **out)
{
	struct keys keys = {0};

	if (l->text->count > 0 && (!dense_init(l, &keys) || !curve_edit_dense_rows(l, &keys)))
		return false;
	if (keys.count == 0)
		return finish_without_keys(l, out);
	if (keys.have[0] != l->all)
		return curve_edit_refuse_end(l, &keys, 0);
	return is_keyed(l, &keys) ? dense_keyed(l, &keys, out) : dense_static(l, &keys, out);
}

/* ---- sparse: a key exists or not ---- */

/*
 * The state of keyframe_match and its variants, which find the old key of each row; rows are
 * matched in ascending order.
 */
struct matched {
	uint32_t first; /* index of the first old key, or keyframe, at or after the frame */
	uint32_t keyframe,
		key; /* with keyframes: number counted so far, and number of keys in them */
};

/*
 * Returns the index of the old key for a row with this frame and occurrence, or -1; for formats
 * with keyframes.
 */
static int64_t keyframe_match(const struct curve_edit *l, uint32_t frame, uint32_t occurrence,
			      struct matched *m)
{
	const struct keyframes *k = l->track->keyframes;
	int64_t at = keyframes_find(k, frame, occurrence, &m->first);
	uint8_t bit = (uint8_t)(1u << l->text->role);

	if (at < 0 || !(k->roles[at] & bit))
		return -1;
	for (; m->keyframe < at; m->keyframe++)
		m->key += (k->roles[m->keyframe] & bit) != 0;
	return m->key;
}

/* Are all cells of a row as they were served for this old key? */
static bool shows_key(const struct curve_edit *l, const struct curve_edit_key *row, uint32_t old)
{
	for (unsigned axis = 0; axis < l->width; axis++) {
		double value = curve_value(l->old, old, axis);
		unsigned bit = 1u << axis;

		if (!(l->text->columns & bit))
			continue;
		if (!(row->given & bit) ? isfinite(value)
		    : row->exact & bit
			    ? !same_bits(row->value[axis], value)
			    : !curve_edit_unchanged(row->value[axis], value, &l->lane[axis]))
			return false;
	}
	return true;
}

/*
 * Returns the index of the old key for the first of `rows` rows of this time, or -1; for formats
 * whose keys may be between frames. As in tangents_match, the rows of a time are its old keys in
 * their order, and if some were removed, those that a row shows unchanged stay.
 */
static int64_t timed_match(const struct curve_edit *l, const struct curve_edit_key *row,
			   uint32_t rows, struct matched *m)
{
	float time = curve_edit_time_of(l, row);
	uint32_t key;

	while (m->first < l->shown && curve_time(l->old, m->first) < time)
		m->first++;
	if (m->first == l->shown || curve_time(l->old, m->first) > time)
		return -1;
	key = m->first;
	for (uint32_t i = 0; i <= TANGENTS_REMOVED_MAX && rows + i <= l->shown - m->first; i++) {
		if (curve_time(l->old, m->first + rows + i - 1) > time)
			break;
		if (!shows_key(l, row, m->first + i))
			continue;
		key = m->first + i;
		break;
	}
	m->first = key + 1;
	return key;
}

/*
 * Returns the index of the old key that the row showed, or -1: the key of the same frame and, if
 * several keys share that frame, of the same occurrence. `rows`: number of rows of the frame, from
 * this one on.
 */
static int64_t sparse_match(const struct curve_edit *l, const struct curve_edit_key *row,
			    uint32_t occurrence, uint32_t rows, struct matched *m)
{
	uint32_t frame = row->frame;

	if (l->track->keyframes)
		return keyframe_match(l, frame, occurrence, m);
	if (l->old && l->old->timing && l->old->timing->between)
		return timed_match(l, row, rows, m);
	while (m->first < l->shown && curve_frame(l->old, m->first) < frame)
		m->first++;
	if (occurrence >= l->shown - m->first ||
	    curve_frame(l->old, m->first + occurrence) != frame)
		return -1;
	return (int64_t)m->first + occurrence;
}

static bool is_one_moment(const struct curve_edit *l, const struct curve_edit_key *a,
			  const struct curve_edit_key *b)
{
	return l->anim->format->timed ? curve_edit_time_of(l, a) == curve_edit_time_of(l, b)
				      : a->frame == b->frame;
}

/* Returns the first row after those that are one moment with row `i`. */
static uint32_t moment_end(const struct curve_edit *l, uint32_t i)
{
	uint32_t end = i + 1;

	while (end < l->text->count && is_one_moment(l, &l->text->keys[i], &l->text->keys[end]))
		end++;
	return end;
}

/* Checks the frame of a new key in a format that stores the time of each key. */
static bool check_moment(const struct curve_edit *l, const struct curve_edit_key *row)
{
	double most = l->anim->format->max_frames - 1;

	if (fabs(curve_edit_moment(row)) <= most)
		return true;
	err_at(l->err, ERR_STORE, row->row_at, row->row_length,
	       "a new key can stand in frame %g at most", most);
	return err_accept(l->err, "a frame up to %g", most);
}

static bool curve_edit_sparse_rows(const struct curve_edit *l, struct keys *keys)
{
	struct matched matched = {0, 0, 0};
	uint32_t group = 0, end = 0;

	for (uint32_t i = 0; i < l->text->count; i++) {
		const struct curve_edit_key *row = &l->text->keys[i];
		uint8_t *have = &keys->have[keys->count];
		int64_t served;

		if (i >= end) {
			group = i;
			end = moment_end(l, i);
		}
		served = sparse_match(l, row, i - group, end - i, &matched);
		*have = 0;
		if (served >= 0)
			keep_columns(l, keys, keys->count, (uint32_t)served);
		if (!settle_key(l, row, served, false, curve_edit_values_of(l, keys, keys->count),
				have))
			return false;
		if (*have && *have != l->all)
			return refuse_half(l, row, *have);
		if (!*have)
			continue;
		if (i > group && served < 0 && !l->anim->format->keyframes)
			return refuse_repeated(l, &l->text->keys[group], row);
		if (served < 0 && l->anim->format->timed && !check_moment(l, row))
			return false;
		if (keys->from) {
			keys->from[keys->count] = served;
			keys->rows[keys->count] = row;
		}
		keys->frames[keys->count++] = row->frame;
	}
	return true;
}

static bool sparse_curve(const struct curve_edit *l, const struct curve **out)
{
	size_t capacity = (size_t)l->text->count + (l->old ? l->old->count : 0);
	struct keys keys;
	bool keyed;

	if (!keys_init(l, &keys, capacity))
		return false;
	keys.frames = arena_alloc(l->arena, capacity, sizeof(*keys.frames));
	if (!keys.frames)
		return err_memory(l->err);
	if (l->anim->format->timed) {
		keys.from = arena_alloc(l->arena, capacity, sizeof(*keys.from));
		keys.rows = arena_alloc(l->arena, capacity, sizeof(const struct curve_edit_key *));
		if (!keys.from || !keys.rows)
			return err_memory(l->err);
	}
	if (!curve_edit_sparse_rows(l, &keys))
		return false;
	if (keys.count == 0)
		return finish_without_keys(l, out);
	keyed = !l->old || l->old->keyed || keys.count > 1 || keys.frames[0] > 0;
	keep_hidden(l, &keys);
	return finish_curve(l, &keys, keyed, out);
}

/* ---- one role ---- */

static bool refuse_role(const struct curve_edit *l)
{
	for (uint32_t i = 0; i < l->text->count; i++)
		for (unsigned axis = 0; axis < l->width; axis++)
			if (l->text->keys[i].given & 1u << axis)
				return err_at(l->err, ERR_STORE, l->text->keys[i].at[axis],
					      l->text->keys[i].length[axis],
					      "%s stores no %s for this bone",
					      l->anim->format->name, role_names[l->text->role]);
	return true;
}

/* Returns the lane (stored form of a component) for a role that had no keys. */
static struct lane new_lane(const struct curve_edit *l)
{
	const struct lane *fixed = l->anim->format->lanes[l->text->role];

	return fixed ? *fixed : (struct lane){.form = LANE_DOUBLE, .unit = 1};
}

static void curve_edit_init(struct curve_edit *l)
{
	l->width = l->text->kind == CURVE_QUATERNION ? 4 : 3;
	l->all = (uint8_t)((1u << l->width) - 1);
	l->shown = l->old ? curve_shown(l->old, l->clip->frames) : 0;
	for (unsigned axis = 0; axis < l->width; axis++)
		l->lane[axis] = l->old             ? l->old->lane[axis]
				: is_other_kind(l) ? (struct lane){.form = LANE_DOUBLE, .unit = 1}
						   : new_lane(l);
}

static uint32_t curve_edit_frame_said(const struct curve_edit *l, const struct curve_edit_key *row)
{
	return l->anim->format->timed
		       ? said_moment(curve_edit_moment(row), curve_edit_time_of(l, row))
		       : row->frame;
}

/* Computes the digest of sorted rows. */
static struct digest curve_edit_said_rows(const struct curve_edit *l)
{
	const struct curve_edit_role *text = l->text;
	struct said s;

	said_begin(&s, text->kind);
	for (uint32_t i = 0; i < text->count; i++)
		said_key(&s, curve_edit_frame_said(l, &text->keys[i]),
			 text->keys[i].given & text->columns, text->keys[i].value);
	return said_end(&s);
}

/* Makes the curve from a text of the same kind as l->old. */
static bool own_curve(struct curve_edit *l, const struct curve **out)
{
	*out = l->old;
	curve_edit_init(l);
	if (!(l->track->roles & 1 << l->text->role))
		return refuse_role(l);
	take_moments(l);
	sort_rows(l->text);
	if (!curve_edit_check_frames(l))
		return false;
	l->said = curve_edit_said_rows(l);
	return l->anim->format->sparse ? sparse_curve(l, out) : dense_curve(l, out);
}

/*
 * Makes the curve from rotations in the other form, compared with the text that would have been
 * served in that form.
 */
static bool other_curve(struct curve_edit *l, const struct curve **out)
{
	const struct curve *stored = l->old, *edited;
	struct curve *made;

	if (stored)
		l->old = rotation_convert(stored, l->text->kind, l->arena);
	if (stored && !l->old)
		return err_memory(l->err);
	if (!own_curve(l, &edited))
		return false;
	*out = edited == l->old ? stored : edited;
	if (edited == l->old || !edited)
		return true;
	made = rotation_restore(edited, l->old, stored, curve_edit_rotation(l->track), l->arena);
	if (!made)
		return err_memory(l->err);
	for (unsigned axis = 0; axis < curve_width(made); axis++)
		made->lane[axis] = stored ? stored->lane[axis] : new_lane(l);
	if (made->timing && !tangents_derive(made, stored, l->arena))
		return err_memory(l->err);
	made->said = edited->said;
	*out = stored && curve_same(stored, made) ? stored : made;
	return true;
}

bool curve_edit_curve(const struct anim *a, const struct clip *clip, const struct track *track,
		      const struct curve_edit_role *text, struct arena *arena,
		      const struct curve **out, struct err *err)
{
	struct curve_edit l = {.anim = a,
			       .clip = clip,
			       .track = track,
			       .text = text,
			       .old = track->curve[text->role],
			       .arena = arena,
			       .err = err};

	*out = l.old;
	if (text->columns == 0)
		return true;
	return is_other_kind(&l) ? other_curve(&l, out) : own_curve(&l, out);
}

/* ---- the short way: all keys as they were served, or plain numbers ---- */

/* Starts a full edit, which is done only when needed, since few texts change a key. */
static bool begin_full_edit(struct curve_edit_plain *p)
{
	p->edit = arena_alloc(p->arena, 1, sizeof(*p->edit));
	if (!p->edit)
		return false;
	*p->edit = (struct curve_edit){.anim = p->anim,
				       .clip = p->clip,
				       .track = p->track,
				       .text = &p->text,
				       .old = p->old,
				       .arena = p->arena};
	curve_edit_init(p->edit);
	return true;
}

bool curve_edit_plain_begin(struct curve_edit_plain *p, const struct anim *a,
			    const struct clip *clip, const struct track *track, enum role role,
			    struct arena *arena)
{
	const struct curve *old = track->curve[role];

	*p = (struct curve_edit_plain){
		.anim = a, .clip = clip, .track = track, .arena = arena, .old = old};
	if (a->format->sparse || (role == ROLE_ROTATION && curve_edit_table_rotation(a, track) !=
								   curve_edit_rotation(track)))
		return false;
	p->text = (struct curve_edit_role){.role = role, .is_static = -1};
	p->text.kind = role == ROLE_ROTATION ? curve_edit_rotation(track) : CURVE_VECTOR;
	p->width = p->text.kind == CURVE_QUATERNION ? 4 : 3;
	p->text.columns = (uint8_t)((1u << p->width) - 1);
	if (!(track->roles & 1 << role))
		p->width = 0;
	p->count = old ? curve_shown(old, clip->frames) : 0;
	/* A constant curve in a format with a key for every frame is left to curve_edit_curve. */
	return !old || (p->width && (old->keyed || !a->format->full));
}

/* Allocates the values of all keys, once the first key differs. */
static bool begin_values(struct curve_edit_plain *p, uint32_t key)
{
	p->values = arena_alloc(p->arena, p->old->count, p->width * sizeof(*p->values));
	p->said = arena_alloc(p->arena, 1, sizeof(*p->said));
	if (!p->values || !p->said)
		return false;
	said_begin(p->said, p->text.kind);
	for (uint32_t i = 0; i < key; i++) {
		double *values = p->values + (size_t)i * p->width;

		for (unsigned axis = 0; axis < p->width; axis++)
			values[axis] = curve_value(p->old, i, axis);
		said_key(p->said, i, p->text.columns, values);
	}
	return true;
}

/* Stores a key's values, unless this key and all keys before it are unchanged. */
static bool curve_edit_put_values(struct curve_edit_plain *p, uint32_t key, const double *said,
				  const double *values, bool same)
{
	if (same && !p->values)
		return true;
	if (!p->values && !begin_values(p, key))
		return false;
	said_key(p->said, key, p->text.columns, said);
	memcpy(p->values + (size_t)key * p->width, values, p->width * sizeof(*values));
	return true;
}

/* Computes a key with settle_key, as curve_edit_curve does. */
static bool settle_plain(struct curve_edit_plain *p, uint32_t key, const double *said, double *out)
{
	struct curve_edit_key row = {.frame = key, .given = p->text.columns};
	uint8_t have = 0;

	if (!p->edit && !begin_full_edit(p))
		return false;
	memcpy(row.value, said, sizeof(row.value));
	return settle_key(p->edit, &row, key, was_keyed(p->edit), out, &have);
}

bool curve_edit_plain_key(struct curve_edit_plain *p, uint32_t key, const struct num_plain *cells)
{
	double said[4] = {0}, old[4] = {0}, now[4] = {0};
	bool same;

	for (unsigned axis = 0; axis < p->width; axis++)
		old[axis] = curve_value(p->old, key, axis);
	same = num_are_values(cells, old, p->old->lane, p->width, p->old->stored);
	if (same && !p->values)
		return true;
	for (unsigned axis = 0; axis < p->width; axis++)
		if (!num_plain_value(&cells[axis], &said[axis]))
			return false;
	if (same)
		return curve_edit_put_values(p, key, said, old, true);
	return settle_plain(p, key, said, now) &&
	       curve_edit_put_values(p, key, said, now,
				     memcmp(old, now, p->width * sizeof(*now)) == 0);
}

bool curve_edit_plain_end(const struct curve_edit_plain *p, const struct curve **out)
{
	struct keys keys = {.count = p->count, .values = p->values};

	*out = p->old;
	if (!p->values)
		return true;
	keep_hidden(p->edit, &keys);
	p->edit->said = said_end(p->said);
	return finish_curve(p->edit, &keys, p->old->keyed, out);
}
