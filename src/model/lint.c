/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lint.h"

#include "rotation.h"

#include <math.h>
#include <stdlib.h>

const char *const lint_names[LINT_KINDS] = {"seam", "jump", "flip", "length", "constant", "waste"};

/* a curve with fewer other steps than this has no usual step size */
#define STEPS_MIN 8

struct linter {
	const struct anim *anim;
	const struct lint_limits *limits;
	lint_found *found;
	void *closure;
	struct arena arena; /* memory for the current curve */
	uint32_t clip, track;
	enum role role;
	double reach; /* the largest translation in the clip */
};

/* The steps between the shown keys of a curve. */
struct steps {
	uint32_t count; /* step i leads from key i to key i + 1 */
	double *size;   /* size of each step: change per frame */
	double *sorted;
	double path; /* sum of the changes over all frames */
};

static bool lint_is_wanted(const struct linter *l, enum lint_kind kind)
{
	return l->limits->kinds >> kind & 1;
}

static bool report_finding(struct linter *l, enum lint_kind kind, const struct curve *c,
			   const uint32_t *frames, uint32_t count, double value, double usual)
{
	const struct lint found = {kind,   l->clip, l->track, l->role, count,
				   frames, value,   usual,    c->count};

	return l->found(l->closure, &found);
}

/* ---- how far apart two keys are ---- */

static bool key_rotation(const struct curve *c, uint32_t key, double out[4])
{
	static const double none[4] = {0, 0, 0, 1};
	double value[4] = {0, 0, 0, 0};

	for (unsigned axis = 0; axis < curve_width(c); axis++)
		value[axis] = curve_value(c, key, axis);
	if (c->kind == CURVE_QUATERNION)
		return rotation_unit(value, out);
	rotation_quaternion(value, none, out);
	return isfinite(out[0] + out[1] + out[2] + out[3]);
}

static double vector_length(const double *v, unsigned width)
{
	double sum = 0;

	for (unsigned i = 0; i < width; i++)
		sum += v[i] * v[i];
	return sqrt(sum);
}

static double angle_between(const struct curve *c, uint32_t i, uint32_t j)
{
	double a[4], b[4], sum[4], difference[4], x, y;

	if (!key_rotation(c, i, a) || !key_rotation(c, j, b))
		return 0;
	for (unsigned k = 0; k < 4; k++) {
		sum[k] = a[k] + b[k];
		difference[k] = a[k] - b[k];
	}
	x = vector_length(sum, 4);
	y = vector_length(difference, 4);
	return 4 * atan2(fmin(x, y), fmax(x, y)) * (180 / 3.14159265358979323846);
}

/* Returns the distance between two keys; infinite if one of the keys is not finite. */
static double key_distance(const struct curve *c, enum role role, uint32_t i, uint32_t j)
{
	double d[4], far;

	if (role == ROLE_ROTATION)
		return angle_between(c, i, j);
	for (unsigned axis = 0; axis < 3; axis++)
		d[axis] = curve_value(c, i, axis) - curve_value(c, j, axis);
	far = vector_length(d, 3);
	return isfinite(far) ? far : 0;
}

static double floor_of(const struct linter *l)
{
	switch (l->role) {
	case ROLE_ROTATION:
		return l->limits->least;
	case ROLE_TRANSLATION:
		return l->limits->least / 100 * l->reach;
	case ROLE_SCALE:
		break;
	}
	return l->limits->least / 100;
}

/* ---- steps ---- */

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static bool make_steps(struct linter *l, const struct curve *c, uint32_t shown, struct steps *s)
{
	*s = (struct steps){.count = shown - 1};
	s->size = arena_alloc(&l->arena, s->count, sizeof(*s->size));
	s->sorted = arena_alloc(&l->arena, s->count, sizeof(*s->sorted));
	if (!s->size || !s->sorted)
		return false;
	for (uint32_t i = 0; i < s->count; i++) {
		uint32_t frames = curve_frame(c, i + 1) - curve_frame(c, i);
		double far = key_distance(c, l->role, i, i + 1);

		s->path += far;
		s->size[i] = far / (frames ? frames : 1);
	}
	memcpy(s->sorted, s->size, s->count * sizeof(*s->size));
	qsort(s->sorted, s->count, sizeof(*s->sorted), compare_doubles);
	return true;
}

/*
 * Returns the 99th percentile of the steps except `without` and its neighbours, since a single
 * wrong key makes a step there and a step back. With fewer than a hundred steps, that is the second
 * largest step.
 */
static double usual_step(const struct steps *s, uint32_t without)
{
	double left_out[3];
	uint32_t count = 0, rank;

	for (uint32_t i = without ? without - 1 : 0; i <= without + 1 && i < s->count; i++)
		left_out[count++] = s->size[i];
	qsort(left_out, count, sizeof(*left_out), compare_doubles);
	rank = (uint32_t)(0.99 * (s->count - count - 1));
	for (uint32_t i = 0; i < count; i++)
		rank += left_out[i] <= s->sorted[rank];
	return s->sorted[rank];
}

/* ---- kinds of findings ---- */

static bool find_jumps(struct linter *l, const struct curve *c, const struct steps *s)
{
	uint32_t *frames = arena_alloc(&l->arena, s->count, sizeof(*frames)), count = 0;
	double worst = 0, usual = 0;

	if (!frames)
		return false;
	for (uint32_t i = 0; i < s->count; i++) {
		double u;

		if (s->size[i] < floor_of(l))
			continue;
		u = usual_step(s, i);
		if (s->size[i] <= l->limits->jump * u)
			continue;
		frames[count++] = curve_frame(c, i + 1);
		if (s->size[i] > worst) {
			worst = s->size[i];
			usual = u;
		}
	}
	return count == 0 || report_finding(l, LINT_JUMP, c, frames, count, worst, usual);
}

/*
 * The last key of a loop may be equal to the first or be the one before it. A curve that moves on
 * in one direction (the root of a walk) does not loop.
 */
static bool find_seam(struct linter *l, const struct curve *c, const struct steps *s)
{
	double gap = key_distance(c, l->role, s->count, 0);
	double usual = s->sorted[(uint32_t)(0.99 * (s->count - 1))];
	const uint32_t frame = curve_frame(c, s->count);

	if (gap < floor_of(l) || gap <= l->limits->seam * usual)
		return true;
	if (l->role == ROLE_TRANSLATION && gap > 0.8 * s->path && s->sorted[s->count - 1] < gap / 2)
		return true;
	return report_finding(l, LINT_SEAM, c, &frame, 1, gap, usual);
}

static bool find_quaternions(struct linter *l, const struct curve *c, uint32_t shown)
{
	uint32_t *flips = arena_alloc(&l->arena, shown, sizeof(*flips)), flip_count = 0;
	uint32_t *wrong = arena_alloc(&l->arena, shown, sizeof(*wrong)), wrong_count = 0;
	double before[4] = {0, 0, 0, 0}, worst = 1;

	if (!flips || !wrong)
		return false;
	for (uint32_t key = 0; key < shown; key++) {
		double q[4], dot = 0, far;

		for (unsigned axis = 0; axis < 4; axis++) {
			q[axis] = curve_value(c, key, axis);
			dot += q[axis] * before[axis];
		}
		memcpy(before, q, sizeof(before));
		far = vector_length(q, 4);
		if (dot < 0)
			flips[flip_count++] = curve_frame(c, key);
		if (fabs(far - 1) <= l->limits->length)
			continue;
		wrong[wrong_count++] = curve_frame(c, key);
		if (!(fabs(far - 1) <= fabs(worst - 1)))
			worst = far;
	}
	/* Packed quaternions have no sign, so a flip cannot be seen in them. */
	return (flip_count == 0 || c->lane[0].form == LANE_CODE || !lint_is_wanted(l, LINT_FLIP) ||
		report_finding(l, LINT_FLIP, c, flips, flip_count, 0, 0)) &&
	       (wrong_count == 0 || !lint_is_wanted(l, LINT_LENGTH) ||
		report_finding(l, LINT_LENGTH, c, wrong, wrong_count, worst, 1));
}

static bool find_constant(struct linter *l, const struct curve *c)
{
	for (uint32_t key = 1; key < c->count; key++) {
		for (unsigned axis = 0; axis < curve_width(c); axis++) {
			if (!f64_same(curve_value(c, key, axis), curve_value(c, 0, axis)))
				return true;
		}
	}
	return report_finding(l, LINT_CONSTANT, c, NULL, 0, 0, 0);
}

/*
 * Returns the used part of a component's grid (0 to 1); 1 if there is no grid, or only one
 * value.
 */
static double grid_use(const struct curve *c, unsigned axis)
{
	unsigned low = 65535, high = 0;

	if (!c->stored || c->lane[axis].form != LANE_GRID || c->lane[axis].step == 0)
		return 1;
	for (uint32_t key = 0; key < c->count; key++) {
		unsigned k = get_u16(c->stored + 2 * ((size_t)key * curve_width(c) + axis));

		low = k < low ? k : low;
		high = k > high ? k : high;
	}
	return high > low ? (high - low) / 65535.0 : 1;
}

static bool find_waste(struct linter *l, const struct curve *c)
{
	double least = 1;

	for (unsigned axis = 0; axis < curve_width(c); axis++)
		least = fmin(least, grid_use(c, axis));
	return least >= l->limits->waste ||
	       report_finding(l, LINT_WASTE, c, NULL, 0, least, l->limits->waste);
}

/* ---- all curves ---- */

static bool look_at_steps(struct linter *l, const struct curve *c, uint32_t shown)
{
	bool loop = l->anim->clips[l->clip].loop && lint_is_wanted(l, LINT_SEAM);
	struct steps s;

	if (c->interpolation == INTERPOLATION_STEP || shown < 3)
		return true;
	return make_steps(l, c, shown, &s) && (!loop || find_seam(l, c, &s)) &&
	       (!lint_is_wanted(l, LINT_JUMP) || s.count < STEPS_MIN + 3 || find_jumps(l, c, &s));
}

static bool look_at_storage(struct linter *l, const struct curve *c)
{
	const struct format *format = l->anim->format;

	if (lint_is_wanted(l, LINT_CONSTANT) && !format->full && !format->keyframes &&
	    c->count > 1 && !find_constant(l, c))
		return false;
	return !lint_is_wanted(l, LINT_WASTE) || format->lanes[l->role] || find_waste(l, c);
}

static bool look_at_curve(struct linter *l, const struct curve *c)
{
	uint32_t shown = curve_shown(c, l->anim->clips[l->clip].frames);

	if (c->kind == CURVE_QUATERNION && shown && !find_quaternions(l, c, shown))
		return false;
	return !c->keyed || (look_at_steps(l, c, shown) && look_at_storage(l, c));
}

static double clip_reach(const struct clip *clip)
{
	double reach = 0;

	for (uint32_t i = 0; i < clip->track_count; i++) {
		const struct curve *c = clip->tracks[i].curve[ROLE_TRANSLATION];

		for (uint32_t key = 0; c && key < curve_shown(c, clip->frames); key++) {
			const double v[3] = {curve_value(c, key, 0), curve_value(c, key, 1),
					     curve_value(c, key, 2)};

			if (isfinite(vector_length(v, 3)))
				reach = fmax(reach, vector_length(v, 3));
		}
	}
	return reach;
}

static bool look_at_clip(struct linter *l)
{
	const struct clip *clip = &l->anim->clips[l->clip];

	l->reach = clip_reach(clip);
	for (l->track = 0; l->track < clip->track_count; l->track++) {
		for (l->role = 0; l->role < ROLE_COUNT; l->role++) {
			const struct curve *c = clip->tracks[l->track].curve[l->role];
			bool fine = !c || look_at_curve(l, c);

			arena_release(&l->arena);
			if (!fine)
				return false;
		}
	}
	return true;
}

bool lint_anim(const struct anim *a, const struct lint_limits *limits, lint_found *found,
	       void *closure)
{
	struct linter l = {.anim = a,
			   .limits = limits,
			   .found = found,
			   .closure = closure,
			   .arena = ARENA_INIT};

	for (l.clip = 0; l.clip < a->clip_count; l.clip++) {
		if (!look_at_clip(&l))
			return false;
	}
	return true;
}

/* ---- in words ---- */

#define FRAMES_NAMED 8

static void model_lint_write_frames(const struct lint *l, struct buf *out)
{
	buf_text(out, l->count == 1 ? " at frame " : " at frames ");
	for (uint32_t i = 0; i < l->count && i < FRAMES_NAMED; i++)
		buf_format(out, "%s%u", i ? ", " : "", l->frames[i]);
	if (l->count > FRAMES_NAMED)
		buf_format(out, " and %u more", l->count - FRAMES_NAMED);
}

static void write_size(const struct lint *l, const struct anim *a, double size, struct buf *out)
{
	buf_format(out, "%.4g", size);
	if (l->role == ROLE_ROTATION)
		buf_text(out, " degrees");
	else if (l->role == ROLE_TRANSLATION)
		buf_format(out, " %s", a->format->length);
}

void lint_describe(const struct lint *l, const struct anim *a, struct buf *out)
{
	switch (l->kind) {
	case LINT_SEAM:
		buf_text(out, "the loop's last pose is ");
		write_size(l, a, l->value, out);
		buf_text(out, " from its first; a frame's step is ");
		write_size(l, a, l->usual, out);
		break;
	case LINT_JUMP:
		buf_text(out, "jumps by ");
		write_size(l, a, l->value, out);
		model_lint_write_frames(l, out);
		buf_text(out, "; steps elsewhere are up to ");
		write_size(l, a, l->usual, out);
		break;
	case LINT_FLIP:
		buf_text(out, "the quaternion changes its sign");
		model_lint_write_frames(l, out);
		break;
	case LINT_LENGTH:
		buf_format(out, "the quaternion has length %.4g", l->value);
		model_lint_write_frames(l, out);
		break;
	case LINT_CONSTANT:
		buf_format(out, "%u keys have one value", l->keys);
		break;
	case LINT_WASTE:
		buf_format(out, "its values use %.2g%% of the steps they could have",
			   100 * l->value);
		break;
	}
}
