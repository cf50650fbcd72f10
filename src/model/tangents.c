/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tangents.h"

#include <math.h>
#include <stdlib.h>

#define REACH 2 /* keys on either side whose rule is considered */
/* Tangents come from float32s, or from texts of six decimals. */
#define NEAR_PART 1e-3
#define NEAR_SLOPE 1e-4

enum rule { RULE_NONE, RULE_LINEAR, RULE_CENTRAL };

struct deriving {
	const struct curve *made, *old;
	int64_t *from; /* for each key: the old key with the same time, or -1 */
	bool *kept;    /* for each key: its values are those of that old key */
	uint8_t *tangents;
};

const struct curve_timing *tangents_times(const struct curve *c, struct arena *arena)
{
	struct curve_timing *timing = arena_alloc(arena, 1, sizeof(*timing));

	if (!timing)
		return NULL;
	*timing = *c->timing;
	timing->tangents = NULL;
	return timing;
}

static float tangents_slope(const struct curve *c, uint32_t from, uint32_t to, unsigned axis)
{
	double seconds = (double)curve_time(c, to) - (double)curve_time(c, from);
	double way = curve_value(c, to, axis) - curve_value(c, from, axis);

	return isfinite((float)(way / seconds)) ? (float)(way / seconds) : 0;
}

static float by_rule(const struct curve *c, uint32_t key, enum rule rule, enum tangent side,
		     unsigned axis)
{
	uint32_t before = key > 0 ? key - 1 : key, after = key + 1 < c->count ? key + 1 : key;

	if (rule == RULE_LINEAR && before < key && after > key) {
		before = side == TANGENT_IN ? before : key;
		after = side == TANGENT_IN ? key : after;
	}
	return before < after ? tangents_slope(c, before, after, axis) : 0;
}

static bool tangents_slope_near(double is, double wanted)
{
	return fabs(is - wanted) <= NEAR_SLOPE + NEAR_PART * fabs(wanted);
}

static bool follows(const struct curve *c, uint32_t key, enum rule rule)
{
	for (enum tangent side = TANGENT_IN; side <= TANGENT_OUT; side++) {
		for (unsigned axis = 0; axis < curve_width(c); axis++) {
			double is = (double)curve_tangent(c, key, side, axis);
			double wanted = (double)by_rule(c, key, rule, side, axis);

			if (!tangents_slope_near(is, wanted))
				return false;
		}
	}
	return true;
}

/*
 * Returns the rule that unchanged keys near `key` follow; *any: there are such
 * keys.
 */
static enum rule find_rule(const struct deriving *d, uint32_t key, bool *any)
{
	uint32_t begin = key > REACH ? key - REACH : 0;
	bool central = true, linear = true;

	*any = false;
	for (uint32_t i = begin; i < d->made->count && i <= key + REACH; i++) {
		if (d->from[i] < 0 || !d->old->timing->tangents)
			continue;
		*any = true;
		central = central && follows(d->old, (uint32_t)d->from[i], RULE_CENTRAL);
		linear = linear && follows(d->old, (uint32_t)d->from[i], RULE_LINEAR);
	}
	if (!*any)
		return RULE_LINEAR;
	return central ? RULE_CENTRAL : linear ? RULE_LINEAR : RULE_NONE;
}

static uint8_t *tangents_of(const struct deriving *d, uint32_t key)
{
	return d->tangents + 8 * (size_t)curve_width(d->made) * key;
}

static void take_old(const struct deriving *d, uint32_t key)
{
	size_t size = 8 * (size_t)curve_width(d->made);

	memcpy(tangents_of(d, key), d->old->timing->tangents + size * (size_t)d->from[key], size);
}

static void derive_key(const struct deriving *d, uint32_t key)
{
	unsigned width = curve_width(d->made);
	bool any, has_old = d->from[key] >= 0 && d->old->timing->tangents;
	enum rule rule;

	if (has_old && d->kept[key]) {
		take_old(d, key);
		return;
	}
	rule = find_rule(d, key, &any);
	if (rule == RULE_NONE && has_old) {
		take_old(d, key);
		return;
	}
	if (rule == RULE_NONE)
		rule = RULE_CENTRAL;
	if (has_old)
		take_old(d, key);
	for (enum tangent side = TANGENT_IN; side <= TANGENT_OUT; side++) {
		for (unsigned axis = 0; axis < width; axis++) {
			uint8_t *to = tangents_of(d, key) + 4 * (size_t)(side * width + axis);
			float wanted = by_rule(d->made, key, rule, side, axis);

			if (!has_old || !tangents_slope_near((double)get_f32(to), (double)wanted))
				put_f32(to, wanted);
		}
	}
}

static bool tangents_key_same(const struct curve *a, uint32_t i, const struct curve *b, uint32_t j)
{
	for (unsigned axis = 0; axis < curve_width(a); axis++)
		if (!f64_same(curve_value(a, i, axis), curve_value(b, j, axis)))
			return false;
	return true;
}

/* Returns the first key after those that have the time of `key`. */
static uint32_t tangents_time_end(const struct curve *c, uint32_t key)
{
	float time = curve_time(c, key);

	while (key < c->count && curve_time(c, key) <= time)
		key++;
	return key;
}

/* The keys of one time from `key` on, in both curves, and the ends of these ranges. */
struct moment {
	uint32_t made, made_end, old, old_end;
};

/* Returns which of the old keys of this time the first key is. */
static uint32_t tangents_pick(const struct curve *made, const struct curve *old,
			      const struct moment *m)
{
	uint32_t keys = m->made_end - m->made, olds = m->old_end - m->old;

	for (uint32_t i = 0; olds > keys && i <= olds - keys && i <= TANGENTS_REMOVED_MAX; i++)
		if (tangents_key_same(made, m->made, old, m->old + i))
			return m->old + i;
	return m->old;
}

void tangents_match(const struct curve *made, const struct curve *old, int64_t *from)
{
	struct moment m = {0, 0, 0, 0};

	for (; m.made < made->count; m.made++) {
		float time = curve_time(made, m.made);

		from[m.made] = -1;
		while (m.old < old->count && curve_time(old, m.old) < time)
			m.old++;
		if (m.old == old->count || curve_time(old, m.old) > time)
			continue;
		if (m.made >= m.made_end) {
			m.made_end = tangents_time_end(made, m.made);
			m.old_end = tangents_time_end(old, m.old);
		}
		from[m.made] = tangents_pick(made, old, &m);
		m.old = (uint32_t)from[m.made] + 1;
	}
}

static void tangents_match_keys(const struct deriving *d)
{
	if (d->old)
		tangents_match(d->made, d->old, d->from);
	for (uint32_t i = 0; i < d->made->count; i++) {
		if (!d->old)
			d->from[i] = -1;
		d->kept[i] = d->from[i] >= 0 &&
			     tangents_key_same(d->made, i, d->old, (uint32_t)d->from[i]);
	}
}

bool tangents_derive(struct curve *made, const struct curve *old, struct arena *arena)
{
	struct curve_timing *timing = arena_alloc(arena, 1, sizeof(*timing));
	struct deriving d = {.made = made,
			     .old = old && old->timing && old->kind == made->kind ? old : NULL};

	d.from = arena_alloc(arena, made->count, sizeof(*d.from));
	d.kept = arena_alloc(arena, made->count, sizeof(*d.kept));
	d.tangents = arena_alloc(arena, made->count, 8 * (size_t)curve_width(made));
	if (!timing || !d.from || !d.kept || !d.tangents)
		return false;
	tangents_match_keys(&d);
	for (uint32_t key = 0; key < made->count; key++)
		derive_key(&d, key);
	*timing = *made->timing;
	timing->tangents = d.tangents;
	made->timing = timing;
	return true;
}
