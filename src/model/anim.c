/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "animfs/anim.h"
#include "text/num.h"
#include "trig.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const role_names[ROLE_COUNT] = {"translation", "rotation", "scale"};

void anim_free(struct anim *a)
{
	if (!a)
		return;
	arena_release(&a->arena);
	free(a);
}

/* ---- time ---- */

void anim_time_unit(const struct anim *a, char out[32])
{
	char rate[NUM_MAX];
	size_t size = a->format->rate > 0 ? num_f32(rate, (float)a->rate) : 0;

	if (size == 0)
		strcpy(out, "s");
	else
		snprintf(out, 32, "1/%.*s s", (int)size, rate);
}

double anim_seconds_per_frame(const struct anim *a, const struct clip *clip)
{
	double seconds = (double)clip->frame_time / a->rate;

	return isfinite(seconds) && seconds > 0 ? seconds : 1 / a->rate;
}

/* ---- curves ---- */

uint32_t curve_keys_before(const struct curve *c, double frame)
{
	uint32_t low = 0, high = c->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (curve_moment(c, middle) < frame)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

uint32_t curve_last_in_frame(const struct curve *c, uint32_t key)
{
	while (c->frames && key + 1 < c->count &&
	       !(curve_moment(c, key) < curve_moment(c, key + 1)))
		key++;
	return key;
}

uint32_t curve_shown(const struct curve *c, uint32_t frames)
{
	return curve_keys_before(c, frames);
}

/* Compares stored times only, since frames follow from times. */
static bool timing_same(const struct curve *a, const struct curve *b)
{
	const struct curve_timing *x = a->timing, *y = b->timing;
	size_t size = 8 * (size_t)curve_width(a);

	if (x == y)
		return true;
	if (!x || !y || !x->tangents != !y->tangents)
		return false;
	return memcmp(x->times, y->times, 4 * (size_t)a->count) == 0 &&
	       (!x->tangents || memcmp(x->tangents, y->tangents, size * a->count) == 0);
}

static bool frames_same(const struct curve *a, const struct curve *b)
{
	if (a->timing || b->timing)
		return timing_same(a, b);
	if (a->frames == b->frames)
		return true;
	for (uint32_t i = 0; i < a->count; i++) {
		if (curve_frame(a, i) != curve_frame(b, i))
			return false;
	}
	return true;
}

/*
 * Compares pointers and stored forms, which is cheaper than comparing the values of unchanged
 * curves.
 */
static bool stored_same(const struct curve *a, const struct curve *b)
{
	unsigned width = curve_width(a);
	bool grid = a->lane[0].form == LANE_GRID;

	if (!a->stored || !b->stored)
		return false;
	for (unsigned axis = 0; axis < width; axis++) {
		const struct lane *x = &a->lane[axis], *y = &b->lane[axis];

		if (x->form != y->form || !f64_same(x->unit, y->unit) ||
		    f32_bits(x->base) != f32_bits(y->base) ||
		    f32_bits(x->step) != f32_bits(y->step))
			return false;
	}
	return memcmp(a->stored, b->stored, (size_t)a->count * width * (grid ? 2 : 4)) == 0;
}

static bool values_same(const struct curve *a, const struct curve *b)
{
	for (uint32_t key = 0; key < a->count; key++) {
		for (unsigned axis = 0; axis < curve_width(a); axis++) {
			if (!f64_same(curve_value(a, key, axis), curve_value(b, key, axis)))
				return false;
		}
	}
	return true;
}

bool curve_same(const struct curve *a, const struct curve *b)
{
	if (a == b)
		return true;
	if (!a || !b)
		return false;
	return a->kind == b->kind && a->interpolation == b->interpolation && a->keyed == b->keyed &&
	       a->count == b->count && frames_same(a, b) &&
	       (stored_same(a, b) || values_same(a, b));
}

static double length_of(const double q[4])
{
	double length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);

	return length > 0 ? length : 1;
}

/*
 * Interpolates on the sphere, the shorter way. q and -q are the same rotation; lengths do not
 * matter.
 */
static void slerp(const double a[4], const double b[4], double t, double out[4])
{
	double lengths[2] = {length_of(a), length_of(b)};
	double dot =
		(a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]) / (lengths[0] * lengths[1]);
	double sign = dot < 0 ? -1 : 1;
	double angle = trig_acos(fmin(fabs(dot), 1)), from = 1 - t, to = t;

	/* Nearly equal: interpolate linearly rather than divide by a tiny sine. */
	if (angle > 1e-4) {
		from = trig_sin((1 - t) * angle) / trig_sin(angle);
		to = trig_sin(t * angle) / trig_sin(angle);
	}
	for (unsigned i = 0; i < 4; i++)
		out[i] = from * a[i] / lengths[0] + sign * to * b[i] / lengths[1];
}

static void curve_key(const struct curve *c, uint32_t key, double out[4])
{
	out[3] = 0;
	for (unsigned axis = 0; axis < curve_width(c); axis++)
		out[axis] = curve_value(c, key, axis);
}

/* Returns the difference between two values; where values are angles, the shorter way round. */
static double shorter_way(double from, double to, double turn)
{
	double distance = to - from;

	return turn > 0 ? remainder(distance, turn) : distance;
}

static void curve_between(const struct curve *c, uint32_t from, uint32_t to, double t,
			  double out[4])
{
	double a[4], b[4];

	curve_key(c, from, a);
	curve_key(c, to, b);
	if (c->kind == CURVE_QUATERNION) {
		slerp(a, b, t, out);
		return;
	}
	for (unsigned axis = 0; axis < 4; axis++)
		out[axis] = a[axis] + shorter_way(a[axis], b[axis], c->lane[axis].turn) * t;
}

/* ---- Hermite splines ---- */

/*
 * The keys of one component before and after a moment; -1 and the number of keys mean that there is
 * none.
 */
struct span {
	int64_t from, to;
};

static struct span anim_find_span(const struct curve *c, double frame, unsigned axis)
{
	uint32_t next = curve_keys_before(c, frame);
	struct span s = {(int64_t)next - 1, next};

	if (next < c->count && curve_moment(c, next) <= frame) {
		s.from = curve_last_in_frame(c, next);
		s.to = s.from + 1;
	}
	while (s.from >= 0 && isnan(curve_value(c, (uint32_t)s.from, axis)))
		s.from--;
	while (s.to < c->count && isnan(curve_value(c, (uint32_t)s.to, axis)))
		s.to++;
	return s;
}

static double hermite(const struct curve *c, struct span s, double frame, unsigned axis)
{
	uint32_t from = (uint32_t)s.from, to = (uint32_t)s.to;
	double begin = curve_moment(c, from), way = curve_moment(c, to) - begin;
	double t = (frame - begin) / way, u = 1 - t;
	double a = curve_value(c, from, axis), b = curve_value(c, to, axis), m, n;
	double seconds = (double)curve_time(c, to) - (double)curve_time(c, from);

	if (t <= 0)
		return a;
	if (!c->timing->tangents)
		return u * a + t * b;
	m = (double)curve_tangent(c, from, TANGENT_OUT, axis) * seconds;
	n = (double)curve_tangent(c, to, TANGENT_IN, axis) * seconds;
	if (!isfinite(m) || !isfinite(n))
		return a;
	return u * u * ((1 + 2 * t) * a + t * m) + t * t * ((3 - 2 * t) * b - u * n);
}

static void sample_timed(const struct curve *c, double frame, double out[4])
{
	unsigned width = curve_width(c);
	bool moving = false;

	out[3] = 0;
	for (unsigned axis = 0; axis < width; axis++) {
		struct span s = anim_find_span(c, frame, axis);

		if (s.from >= 0 && s.to < c->count) {
			moving |= curve_moment(c, (uint32_t)s.from) < frame;
			out[axis] = hermite(c, s, frame, axis);
		} else {
			out[axis] = s.from >= 0       ? curve_value(c, (uint32_t)s.from, axis)
				    : s.to < c->count ? curve_value(c, (uint32_t)s.to, axis)
						      : (double)NAN;
		}
	}
	for (unsigned axis = 0; moving && c->kind == CURVE_QUATERNION && axis < 4; axis++)
		if (!isfinite(out[axis]))
			moving = false;
	if (moving && c->kind == CURVE_QUATERNION) {
		double length = length_of(out);

		for (unsigned axis = 0; axis < 4; axis++)
			out[axis] /= length;
	}
}

void curve_sample(const struct curve *c, double frame, double out[4])
{
	uint32_t before = curve_keys_before(c, frame), next;
	double from, to;

	if (c->timing) {
		sample_timed(c, frame, out);
		return;
	}
	if (before == c->count) {
		curve_key(c, before - 1, out);
		return;
	}
	next = curve_last_in_frame(c, before);
	to = curve_frame(c, next);
	if (before == 0 || to <= frame) {
		curve_key(c, next, out);
		return;
	}
	if (c->interpolation == INTERPOLATION_STEP) {
		curve_key(c, before - 1, out);
		return;
	}
	from = curve_frame(c, before - 1);
	curve_between(c, before - 1, next, (frame - from) / (to - from), out);
}

/* ---- keyframes ---- */

bool keyframes_same(const struct keyframes *a, const struct keyframes *b)
{
	if (a == b)
		return true;
	if (!a || !b || a->count != b->count)
		return false;
	return a->count == 0 || (memcmp(a->frames, b->frames, a->count * sizeof(*a->frames)) == 0 &&
				 memcmp(a->flags, b->flags, a->count) == 0 &&
				 memcmp(a->roles, b->roles, a->count) == 0);
}

int64_t keyframes_find(const struct keyframes *k, uint32_t frame, uint32_t occurrence,
		       uint32_t *first)
{
	while (*first < k->count && k->frames[*first] < frame)
		++*first;
	if (occurrence >= k->count - *first || k->frames[*first + occurrence] != frame)
		return -1;
	return (int64_t)*first + occurrence;
}

/* ---- editing ---- */

struct anim *anim_edit(const struct anim *old)
{
	struct anim *a = malloc(sizeof(*a));
	struct clip *clips;

	if (!a)
		return NULL;
	*a = *old;
	a->arena = (struct arena)ARENA_INIT;
	clips = arena_alloc(&a->arena, old->clip_count, sizeof(*clips));
	if (!clips) {
		anim_free(a);
		return NULL;
	}
	for (uint32_t i = 0; i < old->clip_count; i++) {
		clips[i] = old->clips[i];
		clips[i].tracks_own = false;
	}
	a->clips = clips;
	return a;
}

struct clip *anim_edit_clip(struct anim *a, uint32_t clip)
{
	/* anim_edit made this array for this model only, so it may be changed. */
	struct clip *c = (struct clip *)&a->clips[clip];
	struct track *tracks;

	if (c->tracks_own)
		return c;
	tracks = arena_alloc(&a->arena, c->track_count, sizeof(*tracks));
	if (!tracks)
		return NULL;
	if (c->track_count)
		memcpy(tracks, c->tracks, c->track_count * sizeof(*tracks));
	c->tracks = tracks;
	c->tracks_own = true;
	return c;
}

struct track *anim_edit_track(struct anim *a, uint32_t clip, uint32_t track)
{
	struct clip *c = anim_edit_clip(a, clip);

	return c ? (struct track *)&c->tracks[track] : NULL;
}

/* ---- comparing ---- */

static bool field_same(const struct field *a, const struct field *b)
{
	return strcmp(a->name, b->name) == 0 && a->type == b->type &&
	       (a->type == FIELD_REAL   ? f64_same(a->real, b->real)
		: a->type == FIELD_TEXT ? strcmp(a->text, b->text) == 0
					: a->integer == b->integer);
}

bool fields_same(const struct field *a, uint32_t a_count, const struct field *b, uint32_t b_count)
{
	if (a_count != b_count)
		return false;
	for (uint32_t i = 0; a != b && i < a_count; i++) {
		if (!field_same(&a[i], &b[i]))
			return false;
	}
	return true;
}

bool track_same(const struct track *a, const struct track *b)
{
	for (unsigned role = 0; role < ROLE_COUNT; role++) {
		if (!curve_same(a->curve[role], b->curve[role]))
			return false;
	}
	return keyframes_same(a->keyframes, b->keyframes);
}

const struct track *track_labelled(const struct clip *c, uint32_t hint, const char *label)
{
	if (hint < c->track_count && strcmp(c->tracks[hint].label, label) == 0)
		return &c->tracks[hint];
	for (uint32_t i = 0; i < c->track_count; i++) {
		if (strcmp(c->tracks[i].label, label) == 0)
			return &c->tracks[i];
	}
	return NULL;
}

const struct clip *clip_labelled(const struct anim *a, uint32_t hint, const char *label)
{
	if (hint < a->clip_count && strcmp(a->clips[hint].label, label) == 0)
		return &a->clips[hint];
	for (uint32_t i = 0; i < a->clip_count; i++) {
		if (strcmp(a->clips[i].label, label) == 0)
			return &a->clips[i];
	}
	return NULL;
}
