/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "codec/quant.h"
#include "num.h"

#include <math.h>

#define K_MAX 65535u

static const char not_finite[] = "only a finite number can be stored";
static const char too_large[] = "the number is too large for a float32";
static const char mixed[] = "a key that is not finite leaves no room for others in its component";
static const char too_wide[] = "the values of this component lie too far apart";

/* ---- one key ---- */

static double wanted_value(const struct quant *q, uint32_t key, unsigned axis)
{
	return curve_value(q->wanted, key, axis);
}

/* The old key that showed at this frame: past the end the last one holds. */
static uint32_t old_key(const struct quant *q, uint32_t key)
{
	return key < q->old->count ? key : q->old->count - 1;
}

static bool is_kept(const struct quant *q, uint32_t key, unsigned axis)
{
	double now = wanted_value(q, key, axis), old;

	if (!q->old || axis >= curve_width(q->old))
		return false;
	old = curve_value(q->old, old_key(q, key), axis);
	return f64_same(now, old) || (isnan(now) && isnan(old));
}

/* Stored numbers that are not finite stay; new ones are refused. */
static const char *check(struct quant *q, uint32_t key, unsigned axis)
{
	double now = wanted_value(q, key, axis);

	q->key = key;
	if (!isfinite(now))
		return not_finite;
	return isfinite((float)(now / q->unit)) ? NULL : too_large;
}

const char *quant_float(struct quant *q, uint32_t key, unsigned axis, float *out)
{
	const char *why = NULL;

	if (!is_kept(q, key, axis))
		why = check(q, key, axis);
	else if (q->old->stored && q->old->lane[axis].form == LANE_FLOAT) {
		size_t i = (size_t)old_key(q, key) * curve_width(q->old) + axis;

		*out = get_f32(q->old->stored + 4 * i);
		return NULL;
	}
	*out = (float)(wanted_value(q, key, axis) / q->unit);
	return why;
}

/* ---- on the old grid ---- */

enum fit {
	FIT_KEPT,    /* the very value that was there */
	FIT_ON,      /* a value of the grid, as near as a float32 can tell */
	FIT_BETWEEN, /* within the grid's range */
	FIT_OUTSIDE,
};

static double grid_value(const struct lane *lane, uint32_t k)
{
	return (double)lane->base + k * (double)lane->step;
}

static uint32_t old_k(const struct quant *q, uint32_t key, unsigned axis)
{
	return get_u16(q->old->stored + 2 * ((size_t)old_key(q, key) * curve_width(q->old) + axis));
}

static enum fit fit(const struct quant *q, uint32_t key, unsigned axis, const struct lane *lane,
		    uint32_t *k)
{
	double value = wanted_value(q, key, axis), stored = value / q->unit;
	double first = grid_value(lane, 0), last = grid_value(lane, K_MAX), nearest;

	*k = old_k(q, key, axis);
	if (is_kept(q, key, axis))
		return FIT_KEPT;
	if (!isfinite((float)value))
		return FIT_OUTSIDE;
	nearest = grid_value(lane, num_nearest_k(stored, lane));
	/* Where several k are one value, as all are on a step of 0, the old one stays. */
	if (!f64_same(nearest, grid_value(lane, *k)))
		*k = num_nearest_k(stored, lane);
	if ((float)value == (float)(q->unit * nearest))
		return FIT_ON;
	return stored >= fmin(first, last) && stored <= fmax(first, last) ? FIT_BETWEEN
									  : FIT_OUTSIDE;
}

/* How often the step can be halved, exactly, before the largest k or place has no room left. */
static unsigned find_room(uint32_t largest, double farthest, float step)
{
	unsigned shift = 0;

	while ((!largest || largest << (shift + 1) <= K_MAX) &&
	       ldexp(farthest, (int)shift + 1) <= K_MAX) {
		float finer = ldexpf(step, -(int)shift - 1);

		if (!f64_same(ldexp(finer, (int)shift + 1), step))
			break;
		shift++;
	}
	return shift;
}

static void refine(const struct quant *q, unsigned axis, unsigned shift, struct lane *lane,
		   uint16_t *k)
{
	struct lane old = *lane;
	uint32_t i, at;

	lane->step = ldexpf(lane->step, -(int)shift);
	for (i = 0; i < q->wanted->count; i++) {
		if (fit(q, i, axis, &old, &at) == FIT_BETWEEN)
			k[i] = (uint16_t)num_nearest_k(wanted_value(q, i, axis) / q->unit, lane);
		else
			k[i] = (uint16_t)(at ? at << shift : 0);
	}
}

static bool is_constant(const struct quant *q, unsigned axis)
{
	uint32_t i;

	for (i = 1; i < q->wanted->count; i++)
		if (!f64_same(wanted_value(q, i, axis), wanted_value(q, 0, axis)))
			return false;
	return true;
}

/* False when a new grid is better: for a value outside, or for one new value in all keys. */
static bool keep_grid(const struct quant *q, unsigned axis, struct lane *lane, uint16_t *k)
{
	uint32_t largest = 0, between = 0, i, at;
	double farthest = 0;

	for (i = 0; i < q->wanted->count; i++) {
		enum fit how = fit(q, i, axis, lane, &at);

		if (how == FIT_OUTSIDE)
			return false;
		k[i] = (uint16_t)at;
		if (at > largest)
			largest = at;
		if (how == FIT_BETWEEN) {
			double stored = wanted_value(q, i, axis) / q->unit;

			between++;
			farthest = fmax(farthest, (stored - (double)lane->base) / lane->step);
		}
	}
	if (between == q->wanted->count && is_constant(q, axis))
		return false;
	if (between)
		refine(q, axis, find_room(largest, farthest, lane->step), lane, k);
	return true;
}

/* ---- a new grid ---- */

/* The smallest float32 that still reaches `most` in K_MAX steps. */
static float step_to(double base, double most)
{
	float step;

	if (most <= base)
		return 0;
	step = (float)((most - base) / K_MAX);
	while (base + K_MAX * (double)step < most && isfinite(step))
		step = nextafterf(step, INFINITY);
	while (step > 0 && base + K_MAX * (double)nextafterf(step, 0) >= most)
		step = nextafterf(step, 0);
	return step;
}

static void set_range(double least, double most, struct lane *lane)
{
	/* The nearest float32 is what people see; it may lie above by less than k can tell. */
	lane->base = (float)least;
	lane->step = step_to(lane->base, most);
	if ((double)lane->base - least > (double)lane->step / 2) {
		lane->base = nextafterf(lane->base, -INFINITY);
		lane->step = step_to(lane->base, most);
	}
}

static const char *new_grid(struct quant *q, unsigned axis, struct lane *lane, uint16_t *k)
{
	double least = INFINITY, most = -INFINITY;
	uint32_t i;

	lane->step = 0;
	if (is_constant(q, axis)) {
		for (i = 0; i < q->wanted->count; i++)
			k[i] = 0;
		return quant_float(q, 0, axis, &lane->base);
	}
	for (i = 0; i < q->wanted->count; i++) {
		double stored = wanted_value(q, i, axis) / q->unit;
		const char *why = is_kept(q, i, axis) ? NULL : check(q, i, axis);

		if (!why && !isfinite(stored))
			why = mixed;
		if (why) {
			q->key = i;
			return why;
		}
		least = fmin(least, stored);
		most = fmax(most, stored);
	}
	set_range(least, most, lane);
	if (!isfinite(lane->base) || !isfinite(lane->step))
		return too_wide;
	for (i = 0; i < q->wanted->count; i++)
		k[i] = (uint16_t)num_nearest_k(wanted_value(q, i, axis) / q->unit, lane);
	return NULL;
}

/* A grid that is not finite holds no other values than it does. */
static bool can_keep(const struct quant *q, unsigned axis)
{
	const struct lane *lane;
	uint32_t i;

	if (!q->old || !q->old->stored || q->old->lane[axis].form != LANE_GRID)
		return false;
	lane = &q->old->lane[axis];
	if (isfinite(lane->base) && isfinite(lane->step))
		return true;
	for (i = 0; i < q->wanted->count; i++)
		if (!is_kept(q, i, axis))
			return false;
	return true;
}

const char *quant_grid(struct quant *q, unsigned axis, struct lane *lane, uint16_t *k)
{
	*lane = (struct lane){.form = LANE_GRID, .unit = q->unit};
	if (can_keep(q, axis)) {
		lane->base = q->old->lane[axis].base;
		lane->step = q->old->lane[axis].step;
		if (keep_grid(q, axis, lane, k))
			return NULL;
	}
	return new_grid(q, axis, lane, k);
}
