/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "motion_role.h"

#include "model/curve_edit.h"
#include "model/rotation.h"

#include <math.h>
#include <string.h>

#define SAME_DEGREES 0.01
#define SAME_LENGTH 1e-5
#define SAME_PART 1e-6
#define NEAR_FRAME 0.01   /* in frames: a key this near counts as at the frame */
#define SECONDS_PART 3e-7 /* relative error of a time: float32, multiplied once more */

/* Flags of frames at which the motion, or the served curve, may change direction. */
enum { TURNS = 1, TURNS_IN_MOTION = 2 };

struct role_edit {
	const struct applying *applying;
	const struct motion_channel *channel;
	const struct track *track;
	const struct curve *old; /* the role's curve; NULL: the role has no keys */
	/* number of frames of the clip; number of keys of `old` that were served */
	uint32_t frames, shown;
	struct path now, served;
	uint8_t *turns; /* by frame: TURNS and TURNS_IN_MOTION */
	struct curve_edit_role rows;
	struct arena *arena; /* temporary memory, freed when the role is done */
};

static bool is_rotation(const struct role_edit *r)
{
	return r->channel->role == ROLE_ROTATION;
}

/*
 * Returns the largest difference of a component; of rotations the angle between them, since q and
 * -q are equal.
 */
static double motion_role_distance(const struct role_edit *r, const double a[4], const double b[4])
{
	double most = 0, sum = 0, difference = 0;

	for (unsigned axis = 0; axis < r->now.width; axis++) {
		most = fmax(most, fabs(a[axis] - b[axis]));
		sum += (a[axis] + b[axis]) * (a[axis] + b[axis]);
		difference += (a[axis] - b[axis]) * (a[axis] - b[axis]);
	}
	return is_rotation(r) ? sqrt(fmin(sum, difference)) : most;
}

/*
 * Returns the tolerance: values that differ less from the served one count as equal to it. A
 * program computes a bone's translation from float32 positions in the world, so a bone that has
 * none in the file gets errors of the figure's size.
 */
static double room(const struct role_edit *r, const double served[4])
{
	static const double none[4];

	if (is_rotation(r))
		return SAME_DEGREES / 180 * M_PI / 2;
	if (r->channel->role == ROLE_TRANSLATION && r->shown == 0)
		return fmax(SAME_LENGTH, SAME_PART * r->applying->reach);
	return fmax(SAME_LENGTH, SAME_PART * motion_role_distance(r, served, none));
}

/* Returns how much the served value changes within the error of a float32 time. */
static double drift(const struct role_edit *r, const struct path *served, double frame,
		    const double was[4])
{
	double before[4], behind[4];

	path_value(served, frame - 1, before);
	path_value(served, frame + 1, behind);
	return SECONDS_PART * (frame + 1) *
	       fmax(motion_role_distance(r, before, was), motion_role_distance(r, behind, was));
}

/* Returns whether the motion is as served at this frame. */
static bool same_at(const struct role_edit *r, const struct path *served, double frame)
{
	double now[4], was[4], off;

	path_value(&r->now, frame, now);
	path_value(served, frame, was);
	off = motion_role_distance(r, now, was);
	return off <= room(r, was) || off <= room(r, was) + drift(r, served, frame, was);
}

/* ---- the two to be compared ---- */

static bool take_motion(struct role_edit *r)
{
	const struct motion_channel *c = r->channel;
	double *frames = arena_alloc(r->arena, c->count, sizeof(*frames));

	if (!frames)
		return false;
	for (uint32_t key = 0; key < c->count; key++)
		frames[key] = c->times[key] / r->applying->figure->seconds;
	r->now = (struct path){.interpolation = c->interpolation,
			       .width = is_rotation(r) ? 4 : 3,
			       .count = c->count,
			       .frames = frames,
			       .values = c->values,
			       .seconds = r->applying->figure->seconds,
			       .near = NEAR_FRAME};
	return true;
}

/* Makes a path of the served curve, or of the rest pose if the role has no keys. */
static bool take_served(struct role_edit *r)
{
	struct channel c = channel_of(r->applying->figure, r->channel->track, r->channel->role);
	uint32_t count = channel_count(&c) > 0 ? channel_count(&c) : 1;
	double *frames = arena_alloc(r->arena, count, sizeof(*frames));
	double *values = arena_alloc(r->arena, count, c.width * sizeof(*values));

	if (!frames || !values)
		return false;
	for (uint32_t key = 0; key < count; key++) {
		channel_next(&c);
		frames[key] = c.frame;
		for (unsigned axis = 0; axis < c.width; axis++)
			values[key * (size_t)c.width + axis] = (double)finite_f32(c.value[axis]);
	}
	r->served = (struct path){.interpolation = c.step ? MOTION_STEP : MOTION_LINEAR,
				  .width = c.width,
				  .count = count,
				  .frames = frames,
				  .values = values,
				  .seconds = r->applying->figure->seconds,
				  .near = NEAR_FRAME};
	return true;
}

static uint32_t within_clip(const struct role_edit *r, double frame)
{
	return (uint32_t)fmin(fmax(frame, 0), r->frames - 1);
}

/*
 * Marks the frames next to each key, all frames between keys of a spline, and the frame before a
 * step.
 */
static void mark_turns(const struct role_edit *r, const struct path *p, uint8_t mark)
{
	uint32_t last = within_clip(r, p->frames[0] + NEAR_FRAME);

	for (uint32_t key = 0; key < p->count; key++) {
		uint32_t before = within_clip(r, floor(p->frames[key] + NEAR_FRAME));
		uint32_t behind = within_clip(r, ceil(p->frames[key] - NEAR_FRAME));

		if (p->interpolation == MOTION_STEP && key > 0 && behind > 0)
			r->turns[behind - 1] |= mark;
		for (uint32_t frame = last; p->interpolation == MOTION_CUBIC && frame < before;
		     frame++)
			r->turns[frame] |= mark;
		r->turns[before] |= mark;
		r->turns[behind] |= mark;
		last = behind;
	}
}

/* Returns whether the motion is the same as a path in every frame. */
static bool same_as(const struct role_edit *r, const struct path *served)
{
	for (uint32_t frame = 0; frame < r->frames; frame++)
		if (r->turns[frame] && !same_at(r, served, frame))
			return false;
	return true;
}

static bool same_either_way(const struct role_edit *r, const struct path *served)
{
	struct path straight = *served;

	straight.straight = true;
	return same_as(r, served) || (is_rotation(r) && same_as(r, &straight));
}

/* ---- rows, as of a table ---- */

/*
 * Converts a rotation to the Euler angles nearest to the stored ones or those of the previous row.
 */
static void to_angles(const struct role_edit *r, const struct curve_edit_key *before, int64_t key,
		      const double now[4], double out[3])
{
	double near[3] = {0, 0, 0};

	for (unsigned axis = 0; axis < 3; axis++) {
		double stored = key >= 0 ? curve_value(r->old, (uint32_t)key, axis) : NAN;

		if (isfinite(stored))
			near[axis] = stored;
		else if (before && before->given & 1u << axis)
			near[axis] = before->value[axis];
	}
	rotation_euler(now, near, out);
}

static void to_side(const struct role_edit *r, const struct curve_edit_key *before, int64_t key,
		    const double now[4], double out[4])
{
	double dot = 0;

	for (unsigned axis = 0; axis < 4; axis++) {
		double near = key >= 0 ? curve_value(r->old, (uint32_t)key, axis)
			      : before ? before->value[axis]
				       : axis == 3;

		dot += now[axis] * near;
	}
	for (unsigned axis = 0; axis < 4; axis++)
		out[axis] = dot < 0 ? -now[axis] : now[axis];
}

/* Returns the value of a stored component as it is served. */
static double served_axis(const struct role_edit *r, uint32_t key, unsigned axis,
			  const double was[4])
{
	const struct joint *joint = r->applying->figure->nodes[r->channel->track].joint;
	double stored = curve_value(r->old, key, axis);

	if (!is_rotation(r))
		return was[axis];
	if (isfinite(stored))
		return stored;
	return joint ? joint->rest[ROLE_ROTATION][axis] : 0;
}

/*
 * Fills in stored values of a key: all of them if the motion is as served at that frame (`same`),
 * else the components that are unchanged. A component left blank keeps a stored value that is not
 * finite.
 */
static void keep_stored(const struct role_edit *r, struct curve_edit_key *row, uint32_t key,
			bool same, const double was[4])
{
	double most = is_rotation(r) ? SAME_DEGREES / 10 : room(r, was);

	if (!same && r->rows.kind == CURVE_QUATERNION)
		return;
	for (unsigned axis = 0; axis < curve_width(r->old); axis++) {
		double stored = curve_value(r->old, key, axis);
		double served = same ? 0 : served_axis(r, key, axis, was);

		if (!same && !(fabs(row->value[axis] - served) <= most))
			continue;
		row->value[axis] = stored;
		if (!isfinite(stored))
			row->given &= (uint8_t) ~(1u << axis);
	}
}

static struct curve_edit_key *motion_role_add_row(struct role_edit *r, uint32_t frame)
{
	struct curve_edit_key *row = &r->rows.keys[r->rows.count++];

	*row = (struct curve_edit_key){
		.frame = frame,
		.given = r->rows.columns,
		.row_at = r->channel->at,
		.row_length = (uint16_t)fmin((double)r->channel->length, UINT16_MAX)};
	if (r->rows.count > 1 && row[-1].frame == frame)
		row->occurrence = row[-1].occurrence + 1;
	for (unsigned axis = 0; axis < 4; axis++) {
		row->at[axis] = row->row_at;
		row->length[axis] = row->row_length;
	}
	return row;
}

/*
 * Adds a row for the frame. `key` is the old key at the frame, or the one whose value holds there;
 * -1 if there is none.
 */
static void motion_role_write_row(struct role_edit *r, uint32_t frame, int64_t key)
{
	struct curve_edit_key *row = motion_role_add_row(r, frame);
	const struct curve_edit_key *before = r->rows.count > 1 ? row - 1 : NULL;
	double now[4], was[4];
	bool same;

	path_value(&r->now, frame, now);
	path_value(&r->served, frame, was);
	same = same_at(r, &r->served, frame);
	if (r->rows.kind == CURVE_EULER)
		to_angles(r, before, key, now, row->value);
	else if (r->rows.kind == CURVE_QUATERNION)
		to_side(r, before, key, now, row->value);
	else
		memcpy(row->value, now, 3 * sizeof(*now));
	if (key >= 0)
		keep_stored(r, row, (uint32_t)key, same, was);
}

/* Copies an old key that has no effect because another one follows at the same frame. */
static void copy_row(struct role_edit *r, uint32_t key)
{
	static const double none[4];

	keep_stored(r, motion_role_add_row(r, curve_frame(r->old, key)), key, true, none);
}

static bool begin_rows(struct role_edit *r, uint64_t most)
{
	r->rows = (struct curve_edit_role){
		.role = r->channel->role,
		.kind = is_rotation(r) ? curve_edit_rotation(r->track) : CURVE_VECTOR,
		.is_static = -1,
		.keys = arena_alloc(r->arena, (size_t)most, sizeof(*r->rows.keys)),
		.text = r->applying->text,
		.at = r->channel->at,
		.length = r->channel->length,
	};
	r->rows.columns = r->rows.kind == CURVE_QUATERNION ? 15 : 7;
	return r->rows.keys != NULL;
}

/* ---- dense: a key in every frame, or one value for all ---- */

/* Returns the number of frames at the clip's end in which the motion keeps its last value. */
static uint32_t steady_at_end(const struct role_edit *r)
{
	uint32_t steady = 1;
	double end[4], value[4];

	path_value(&r->now, r->frames - 1, end);
	for (; steady < r->frames; steady++) {
		path_value(&r->now, r->frames - 1 - steady, value);
		if (motion_role_distance(r, value, end) > room(r, end))
			break;
	}
	return steady;
}

/*
 * Returns the number of keys of a dense curve. A curve with one value for the whole clip keeps that
 * form if it can, and so does one whose keys end before the clip.
 */
static uint32_t dense_count(const struct role_edit *r)
{
	bool keyed = r->old && r->old->keyed;
	uint32_t needed = r->frames - steady_at_end(r) + 1;

	if (!keyed)
		return needed > 1 ? r->frames : 1;
	return needed > r->shown ? needed : r->shown;
}

static bool motion_role_dense_rows(struct role_edit *r)
{
	uint32_t count = dense_count(r);

	if (!begin_rows(r, count))
		return false;
	for (uint32_t frame = 0; frame < count; frame++)
		motion_role_write_row(r, frame,
				      frame < r->shown ? (int64_t)frame : (int64_t)r->shown - 1);
	return true;
}

/* ---- sparse: keys at any frames ---- */

/*
 * Returns whether keys in the old frames, with the motion's values there, give the motion in all
 * frames.
 */
static bool old_frames_do(const struct role_edit *r, bool *fine)
{
	struct path p = r->served;
	double *values = arena_alloc(r->arena, p.count, p.width * sizeof(*values));

	*fine = false;
	if (!values)
		return false;
	for (uint32_t key = 0; key < p.count; key++) {
		double value[4];

		path_value(&r->now, p.frames[key], value);
		memcpy(values + key * (size_t)p.width, value, p.width * sizeof(*value));
	}
	p.values = values;
	*fine = r->shown > 0 && same_either_way(r, &p);
	return true;
}

static void old_rows(struct role_edit *r, uint32_t *key, uint32_t frame)
{
	for (; *key < r->shown && curve_frame(r->old, *key) == frame; ++*key) {
		if (*key + 1 < r->shown && curve_frame(r->old, *key + 1) == frame)
			copy_row(r, *key);
		else
			motion_role_write_row(r, frame, *key);
	}
}

static bool motion_role_sparse_rows(struct role_edit *r)
{
	uint32_t key = 0;
	bool old_frames;

	if (!begin_rows(r, (uint64_t)r->frames + r->shown) || !old_frames_do(r, &old_frames))
		return false;
	for (uint32_t frame = 0; frame < r->frames; frame++) {
		bool has_key = key < r->shown && curve_frame(r->old, key) == frame;
		bool wanted = old_frames ? has_key : r->turns[frame] & TURNS_IN_MOTION;

		if (wanted && has_key)
			old_rows(r, &key, frame);
		else if (wanted)
			motion_role_write_row(r, frame, -1);
		while (key < r->shown && curve_frame(r->old, key) == frame)
			key++;
	}
	return true;
}

/* ---- keys with times and tangents ---- */

#define SAME_SECONDS 1e-6
#define SAME_SLOPE 1e-4 /* relative tolerance of a tangent; absolute for tangents below 1 */

/* Returns the components of one key of a spline: in-tangent, value, out-tangent. */
static const double *spline_key(const struct role_edit *r, uint32_t key)
{
	return r->channel->values + 3 * (size_t)key * r->now.width;
}

static bool motion_role_slope_near(double a, double b)
{
	return fabs(a - b) <= SAME_SLOPE * fmax(1, fabs(b));
}

/*
 * Returns whether a key of the motion, times `sign`, is an old key. With sign -1 this compares
 * rotations, since q and -q are equal.
 */
static bool same_spline_key(const struct role_edit *r, uint32_t key, uint32_t old, double sign)
{
	const double *in = spline_key(r, key), *value = in + r->now.width;
	double most = is_rotation(r) ? SAME_DEGREES / 180 * M_PI / 2 : SAME_LENGTH;

	for (unsigned axis = 0; axis < r->now.width; axis++) {
		double was = curve_value(r->old, old, axis);

		if (!(fabs(sign * value[axis] - was) <= fmax(most, SAME_PART * fabs(was))) ||
		    !motion_role_slope_near(sign * in[axis],
					    (double)curve_tangent(r->old, old, TANGENT_IN, axis)) ||
		    !motion_role_slope_near(sign * value[r->now.width + axis],
					    (double)curve_tangent(r->old, old, TANGENT_OUT, axis)))
			return false;
	}
	return true;
}

static bool is_old_key(const struct role_edit *r, uint32_t key, uint32_t old)
{
	return same_spline_key(r, key, old, 1) ||
	       (is_rotation(r) && same_spline_key(r, key, old, -1));
}

static bool same_spline(const struct role_edit *r)
{
	if (!r->old || !r->old->timing->tangents || r->old->count != r->channel->count)
		return false;
	for (uint32_t key = 0; key < r->old->count; key++)
		if (!(fabs(r->channel->times[key] - (double)curve_time(r->old, key)) <=
		      SAME_SECONDS) ||
		    !is_old_key(r, key, key))
			return false;
	return true;
}

/* Returns whether every key is at a frame of its own, as all keys of the clip are. */
static bool spline_on_frames(const struct role_edit *r)
{
	double before = -1;

	for (uint32_t key = 0; key < r->now.count; key++) {
		double frame = round(r->now.frames[key]);

		if (!(frame > before) || fabs(r->now.frames[key] - frame) > NEAR_FRAME)
			return false;
		before = frame;
	}
	return true;
}

/* Adds the row of a key with its tangents. An old key keeps its numbers. */
static bool spline_row(struct role_edit *r, uint32_t key, int64_t old)
{
	struct curve_edit_key *row = motion_role_add_row(r, (uint32_t)round(r->now.frames[key]));
	struct curve_edit_tangents *t = arena_alloc(r->arena, 1, sizeof(*t));
	const double *in = spline_key(r, key);
	bool same = old >= 0 && is_old_key(r, key, (uint32_t)old);

	if (!t)
		return false;
	row->tangents = t;
	for (unsigned axis = 0, width = r->now.width; axis < width; axis++) {
		t->given[0] = t->given[1] = r->rows.columns;
		t->value[TANGENT_IN][axis] = in[axis];
		row->value[axis] = in[width + axis];
		t->value[TANGENT_OUT][axis] = in[2 * width + axis];
		t->at[0][axis] = t->at[1][axis] = row->row_at;
		t->length[0][axis] = t->length[1][axis] = row->row_length;
		if (!same)
			continue;
		row->value[axis] = curve_value(r->old, (uint32_t)old, axis);
		t->given[0] = t->given[1] = 0;
	}
	return true;
}

static bool spline_rows(struct role_edit *r)
{
	uint32_t old = 0;

	if (!begin_rows(r, r->now.count))
		return false;
	for (uint32_t key = 0; key < r->now.count; key++) {
		double frame = round(r->now.frames[key]);

		while (old < r->shown && curve_frame(r->old, old) < frame)
			old++;
		if (!spline_row(r, key,
				old < r->shown && curve_frame(r->old, old) <= frame ? (int64_t)old
										    : -1))
			return false;
	}
	return true;
}

/* Returns the end of the frames that begin at `frame` and lie before the next old key. */
static uint32_t segment_end(const struct role_edit *r, uint32_t key)
{
	return key < r->shown ? curve_frame(r->old, key) : r->frames;
}

static bool segment_differs(const struct role_edit *r, uint32_t begin, uint32_t end)
{
	for (uint32_t frame = begin; frame < end; frame++)
		if (r->turns[frame] && !same_at(r, &r->served, frame))
			return true;
	return false;
}

/*
 * Adds the rows of a curve with keys at any frames. Old keys stay in their frames; where the motion
 * differs between two of them, new ones are added where it changes direction.
 */
static bool timed_rows(struct role_edit *r)
{
	uint32_t begin = 0;

	if (!begin_rows(r, (uint64_t)r->frames + r->shown))
		return false;
	for (uint32_t key = 0; key <= r->shown; key++) {
		uint32_t end = segment_end(r, key), last = end < r->frames ? end + 1 : end;
		bool differs = segment_differs(r, begin > 0 ? begin - 1 : 0, last);

		for (uint32_t frame = begin; differs && frame < end; frame++)
			if (r->turns[frame] & TURNS_IN_MOTION)
				motion_role_write_row(r, frame, -1);
		if (key < r->shown)
			motion_role_write_row(r, end, key);
		begin = end + 1;
	}
	return true;
}

static bool refuse_between(const struct role_edit *r)
{
	const struct applying *a = r->applying;

	err_at(a->err, ERR_STORE, r->channel->at, r->channel->length,
	       "the %s of %s was changed, whose keys stand between frames",
	       role_names[r->channel->role], r->track->label);
	return err_accept(a->err, "edits of bones/%s.csv, bones/%s.json or curves.csv",
			  r->track->label, r->track->label);
}

static bool make_timed_rows(struct role_edit *r)
{
	if (r->channel->interpolation == MOTION_CUBIC && spline_on_frames(r))
		return spline_rows(r) || err_memory(r->applying->err);
	return timed_rows(r) || err_memory(r->applying->err);
}

/* ---- all together ---- */

static bool refuse_keyframes(const struct role_edit *r)
{
	const struct applying *a = r->applying;

	err_at(a->err, ERR_STORE, r->channel->at, r->channel->length,
	       "the %s of %s was changed, and this text does not say which keyframe that is",
	       role_names[r->channel->role], r->track->label);
	return err_accept(a->err, "edits of bones/%s.csv, bones/%s.json or curves.csv",
			  r->track->label, r->track->label);
}

static bool store_rows(struct role_edit *r)
{
	const struct applying *a = r->applying;
	const struct curve *made;
	struct track *track;

	if (!curve_edit_curve(a->edited, &a->edited->clips[a->at->clip], r->track, &r->rows,
			      &a->edited->arena, &made, a->err))
		return false;
	if (made == r->old)
		return true;
	track = anim_edit_track(a->edited, a->at->clip, r->channel->track);
	if (!track)
		return err_memory(a->err);
	track->curve[r->channel->role] = made;
	return true;
}

static bool edit_role(struct role_edit *r)
{
	const struct format *format = r->applying->at->anim->format;

	r->turns = arena_alloc(r->arena, r->frames, sizeof(*r->turns));
	if (!r->turns || !take_motion(r) || !take_served(r))
		return err_memory(r->applying->err);
	mark_turns(r, &r->now, TURNS | TURNS_IN_MOTION);
	mark_turns(r, &r->served, TURNS);
	if (format->timed && r->channel->interpolation == MOTION_CUBIC
		    ? same_spline(r)
		    : same_either_way(r, &r->served))
		return true;
	if (format->keyframes)
		return refuse_keyframes(r);
	if (format->timed && curve_edit_between(r->applying->figure->keyed))
		return refuse_between(r);
	if (format->timed)
		return make_timed_rows(r) && store_rows(r);
	if (!(format->sparse ? motion_role_sparse_rows(r) : motion_role_dense_rows(r)))
		return err_memory(r->applying->err);
	return store_rows(r);
}

bool motion_role(const struct applying *a, const struct motion_channel *channel)
{
	const struct clip *clip = a->figure->keyed;
	const struct track *track = &clip->tracks[channel->track];
	struct arena arena = ARENA_INIT;
	struct role_edit r = {.applying = a,
			      .channel = channel,
			      .track = track,
			      .old = track->curve[channel->role],
			      .frames = clip->frames,
			      .arena = &arena};
	bool fine;

	r.shown = r.old ? curve_shown(r.old, clip->frames) : 0;
	fine = edit_role(&r);
	arena_release(&arena);
	return fine;
}
