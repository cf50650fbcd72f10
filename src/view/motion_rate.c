/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "motion_rate.h"

#include <math.h>

/* in frames of the clip: a key this near counts as at the frame (motion_role.c) */
#define OWN_ROOM 0.01
/* in frames of the other rate: a key this near counts as at such a frame */
#define OTHER_ROOM 2e-4
#define ROUNDING 2.4e-7 /* relative error of a time, which is float32 and computed in few steps */
/* limit of ROUNDING in frames of the other rate: with more, every time would be near a frame */
#define MOST_ROOM 0.05
/* relative difference of rates that count as equal: includes that of 29.97 and 30 */
#define SAME_RATE 2e-3
/* relative difference of steps that count as equal: excludes that of 29.97 and 30 */
#define SAME_STEP 1e-4
/* slowest other rate, as a fraction of the clip's: slower keys are no rate, but few keys */
#define LEAST_STEP_PART (1 / 4.0)
#define LEAST_STEPS 3
#define OWN_SECONDS 1e-6

/* Frame rates that programs offer, in ascending order. */
static const double standard_rates[] = {
	24000 / 1001.0,  24,  25,  30000 / 1001.0, 30, 48, 50, 60000 / 1001.0, 60, 90, 100,
	120000 / 1001.0, 120, 240,
};

/* All channels together, and the time from which their frames are counted. */
struct rated {
	const struct motion_times *channels;
	uint32_t count;
	double seconds, origin;
	/* times of the first and last key that are not at a key of the clip */
	double first_off, last_off;
};

/* Returns whether the time is within `room` frames of a frame, not counting the rounding error. */
static bool is_at_frame(double time, double hz, double origin, double room, double most)
{
	double frame = (time - origin) * hz;

	room = fmin(room + ROUNDING * fabs(time * hz), most);
	return fabs(frame - round(frame)) <= room;
}

/* Returns whether the curve has a key at that time. */
static bool is_own_key(const struct curve *own, double time)
{
	uint32_t low = 0, high = own->count;
	double room = OWN_SECONDS + ROUNDING * fabs(time);

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if ((double)curve_time(own, middle) < time - room)
			low = middle + 1;
		else
			high = middle;
	}
	return low < own->count && (double)curve_time(own, low) <= time + room;
}

static bool is_clips_key(const struct rated *r, const struct motion_times *c, double time)
{
	return is_at_frame(time, 1 / r->seconds, 0, OWN_ROOM, INFINITY) ||
	       (c->own && c->own->timing && is_own_key(c->own, time));
}

/* Counts the keys that are not at a key of the clip. */
static void count_off(struct rated *r, struct motion_rate *out)
{
	r->first_off = INFINITY;
	r->last_off = -INFINITY;
	for (uint32_t i = 0; i < r->count; i++) {
		const struct motion_times *c = &r->channels[i];

		out->keys += c->count;
		for (uint32_t key = 0; key < c->count; key++) {
			if (is_clips_key(r, c, c->times[key]))
				continue;
			if (out->off++ == 0)
				out->first_off = i;
			r->first_off = fmin(r->first_off, c->times[key]);
			r->last_off = fmax(r->last_off, c->times[key]);
		}
	}
}

static bool all_at_frames(const struct rated *r, double hz, double room, double most)
{
	for (uint32_t i = 0; i < r->count; i++)
		for (uint32_t key = 0; key < r->channels[i].count; key++)
			if (!is_at_frame(r->channels[i].times[key], hz, r->origin, room, most))
				return false;
	return true;
}

/*
 * Returns whether the rate is a multiple of the clip's: then every frame of the clip can have a
 * key.
 */
static bool is_multiple(const struct rated *r, double hz)
{
	double own = 1 / r->seconds, times = round(hz / own);

	if (times < 1 || fabs(hz / (times * own) - 1) > SAME_RATE)
		return false;
	return fabs(hz / (times * own) - 1) <= SAME_STEP ||
	       all_at_frames(r, times * own, OWN_ROOM, INFINITY);
}

static bool is_other_rate(const struct rated *r, double hz)
{
	return !is_multiple(r, hz) && all_at_frames(r, hz, OTHER_ROOM, MOST_ROOM);
}

static double near_standard(double hz)
{
	for (size_t i = 0; i < ARRAY_SIZE(standard_rates); i++)
		if (fabs(hz / standard_rates[i] - 1) <= SAME_STEP)
			return standard_rates[i];
	return hz;
}

/*
 * Returns the rate of a channel whose keys are all one step apart; 0 if they are not, or are too
 * few.
 */
static double even_rate(const struct motion_times *c)
{
	double step, first;

	if (c->count <= LEAST_STEPS || !(c->times[c->count - 1] > c->times[0]))
		return 0;
	first = c->times[0];
	step = (c->times[c->count - 1] - first) / (c->count - 1);
	for (uint32_t key = 1; key < c->count; key++)
		if (!is_at_frame(c->times[key], 1 / step, first, OTHER_ROOM, MOST_ROOM) ||
		    round((c->times[key] - first) / step) != key)
			return 0;
	return near_standard(1 / step);
}

/*
 * Returns the rate at which a program wrote a key in each of its frames; 0 if no channel shows one.
 */
static double sampled_rate(const struct rated *r)
{
	double most = 0;

	for (uint32_t i = 0; i < r->count; i++)
		most = fmax(most, even_rate(&r->channels[i]));
	return most >= LEAST_STEP_PART / r->seconds ? most : 0;
}

/*
 * Finds the other rate that explains all keys, or 0. A single key between frames proves nothing,
 * unless each frame of the other rate has a key.
 */
static double motion_rate_find(const struct rated *r, double sampled)
{
	if (sampled > 0 && all_at_frames(r, sampled, OTHER_ROOM, MOST_ROOM))
		return is_multiple(r, sampled) ? 0 : sampled;
	if (r->origin != 0 || !(r->last_off - r->first_off > OWN_ROOM * r->seconds))
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(standard_rates); i++)
		if (is_other_rate(r, standard_rates[i]))
			return standard_rates[i];
	return 0;
}

static double first_time(const struct rated *r)
{
	double first = INFINITY;

	for (uint32_t i = 0; i < r->count; i++)
		if (r->channels[i].count > 0)
			first = fmin(first, r->channels[i].times[0]);
	return first;
}

bool motion_rate_other(const struct motion_times *channels, uint32_t count, double seconds,
		       struct motion_rate *out)
{
	struct rated r = {.channels = channels, .count = count, .seconds = seconds};
	double sampled;

	*out = (struct motion_rate){.hz = 0};
	count_off(&r, out);
	if (out->off == 0)
		return false;
	sampled = sampled_rate(&r);
	out->hz = motion_rate_find(&r, sampled);
	if (out->hz == 0) {
		/* Try again: a program may count its frames from the first key. */
		r.origin = first_time(&r);
		out->hz = motion_rate_find(&r, sampled);
	}
	return out->hz > 0;
}
