/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "quant.h"
#include "text/num.h"

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

/* Returns the old key shown at this frame; past the end, the last key. */
static uint32_t old_key(const struct quant *q, uint32_t key)
{
	return key < q->old->count ? key : q->old->count - 1;
}

static double old_value(const struct quant *q, uint32_t key, unsigned axis)
{
	return curve_value(q->old, old_key(q, key), axis);
}

/* Is a component unchanged? NaNs are equal here, since a grid cannot distinguish them. */
static bool quant_is_kept(const struct quant *q, uint32_t key, unsigned axis)
{
	double now = wanted_value(q, key, axis), old;

	if (!q->old)
		return false;
	old = old_value(q, key, axis);
	return f64_same(now, old);
}

/* Refuses a value that is not finite, unless the old value was not finite. */
static const char *check_value(struct quant *q, uint32_t key, unsigned axis)
{
	double now = wanted_value(q, key, axis);

	q->key = key;
	if (isfinite((float)(now / q->unit)))
		return NULL;
	if (isfinite(now))
		return too_large;
	return q->old && !isfinite(old_value(q, key, axis)) ? NULL : not_finite;
}

const char *quant_float(struct quant *q, uint32_t key, unsigned axis, float *out)
{
	double now = wanted_value(q, key, axis);

	if (q->old && q->old->stored && q->old->lane[axis].form == LANE_FLOAT &&
	    f64_same(now, old_value(q, key, axis))) {
		size_t i = (size_t)old_key(q, key) * curve_width(q->old) + axis;

		*out = get_f32(q->old->stored + 4 * i);
		return NULL;
	}
	*out = (float)(now / q->unit);
	return check_value(q, key, axis);
}

/* ---- on the old grid ---- */

enum fit {
	FIT_KEPT,    /* the value is unchanged */
	FIT_ON,      /* the value is on the grid, to the precision of a float32 */
	FIT_BETWEEN, /* the value is within the grid's range, but not on the grid */
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

/*
 * Finds how a value fits the old grid. The text of an end of the grid may be outside by less than a
 * float32 resolution, in the shown unit; it means the end if it is near enough in the stored unit,
 * too.
 */
static enum fit fit_value(const struct quant *q, uint32_t key, unsigned axis,
			  const struct lane *lane, uint32_t *k)
{
	double value = wanted_value(q, key, axis), stored = value / q->unit;
	double first = grid_value(lane, 0), last = grid_value(lane, K_MAX), nearest;
	bool same, inside = stored >= fmin(first, last) && stored <= fmax(first, last);

	*k = old_k(q, key, axis);
	if (quant_is_kept(q, key, axis))
		return FIT_KEPT;
	if (!isfinite((float)value))
		return FIT_OUTSIDE;
	nearest = grid_value(lane, num_nearest_k(stored, lane));
	/* If several k have the same value, as with a step of 0, keep the old one. */
	if (!f64_same(nearest, grid_value(lane, *k)))
		*k = num_nearest_k(stored, lane);
	same = (float)value == (float)(q->unit * nearest);
	if (inside)
		return same ? FIT_ON : FIT_BETWEEN;
	return same && ((float)stored == (float)nearest ||
			fabs(stored - nearest) <= fabs((double)lane->step) / 2)
		       ? FIT_ON
		       : FIT_OUTSIDE;
}

/* The requirements for a finer grid. */
struct room {
	uint32_t largest; /* largest k */
	double farthest;  /* largest distance of a value from the nearest k */
	double below;     /* distance in steps of values that mean the base but are below */
	uint32_t between; /* number of values between two k */
};

static void quant_make_room(struct room *room, enum fit how, uint32_t k, double stored,
			    const struct lane *lane)
{
	double place = (stored - (double)lane->base) / (double)lane->step;

	if (how == FIT_BETWEEN) {
		room->between++;
		room->farthest = fmax(room->farthest, place);
	} else if (k > room->largest) {
		room->largest = k;
	}
	if (how == FIT_ON && place < 0 && (float)stored != lane->base)
		room->below = fmax(room->below, -place);
}

/* Returns how many times the step can be halved exactly. */
static unsigned find_shift(const struct room *room, float step)
{
	int shift = 0;

	while ((!room->largest || room->largest << (shift + 1) <= K_MAX) &&
	       ldexp(room->farthest, shift + 1) <= K_MAX && ldexp(room->below, shift + 1) <= 0.5) {
		if (!f64_same(ldexp((double)ldexpf(step, -shift - 1), shift + 1), (double)step))
			break;
		shift++;
	}
	return (unsigned)shift;
}

static void refine_lane(const struct quant *q, unsigned axis, unsigned shift, struct lane *lane,
			uint16_t *k)
{
	uint32_t i;

	lane->step = ldexpf(lane->step, -(int)shift);
	for (i = 0; i < q->wanted->count; i++) {
		if (!quant_is_kept(q, i, axis))
			k[i] = (uint16_t)num_nearest_k(wanted_value(q, i, axis) / q->unit, lane);
		else if (k[i])
			k[i] = (uint16_t)(k[i] << shift);
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

/*
 * Can the old grid be kept? False if a new grid is better: for a value outside, or if all keys have
 * one new value.
 */
static bool keep_grid(const struct quant *q, unsigned axis, struct lane *lane, uint16_t *k)
{
	struct room room = {.largest = 0};
	unsigned shift;
	uint32_t i, at;

	for (i = 0; i < q->wanted->count; i++) {
		enum fit how = fit_value(q, i, axis, lane, &at);

		if (how == FIT_OUTSIDE)
			return false;
		k[i] = (uint16_t)at;
		quant_make_room(&room, how, at, wanted_value(q, i, axis) / q->unit, lane);
	}
	if (room.between == q->wanted->count && is_constant(q, axis))
		return false;
	shift = room.between ? find_shift(&room, lane->step) : 0;
	if (shift)
		refine_lane(q, axis, shift, lane, k);
	return true;
}

/* ---- a new grid ---- */

/* Rounds a new value as its text will be: saving that text again must give the same bits. */
static double new_value(const struct quant *q, uint32_t key, unsigned axis)
{
	double value = wanted_value(q, key, axis), said;
	char text[NUM_MAX];

	if (!quant_is_kept(q, key, axis) || !isfinite(value) ||
	    !num_parse(text, num_lane(text, value, &q->old->lane[axis]), '.', &said))
		said = value;
	return said / q->unit;
}

/* Returns the smallest float32 step with which K_MAX steps from `base` reach `most`. */
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
	/*
	 * Texts show the nearest float32, which may be higher than the exact number by less than a
	 * step of k.
	 */
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
		double stored = new_value(q, i, axis);
		const char *why = quant_is_kept(q, i, axis) ? NULL : check_value(q, i, axis);

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
		k[i] = (uint16_t)num_nearest_k(new_value(q, i, axis), lane);
	return NULL;
}

const char *quant_grid(struct quant *q, unsigned axis, struct lane *lane, uint16_t *k)
{
	*lane = (struct lane){.form = LANE_GRID, .unit = q->unit};
	if (q->old && q->old->stored && q->old->lane[axis].form == LANE_GRID) {
		lane->base = q->old->lane[axis].base;
		lane->step = q->old->lane[axis].step;
		if (keep_grid(q, axis, lane, k))
			return NULL;
	}
	return new_grid(q, axis, lane, k);
}
