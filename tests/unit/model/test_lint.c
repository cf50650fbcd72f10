/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Tests of lint: faults are planted in clean curves; each is found where it is, and nothing else.
 */
#include "model/lint.h"
#include "model/rotation.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

#define FRAMES_MAX 400
#define TURN 6.28318530717958647692

static const struct format format = {.name = "test", .length = "m", .has_loop = true};

/* A clip of one bone with one curve. */
struct subject {
	struct anim anim;
	struct clip clip;
	struct track track;
	struct curve curve;
	double values[FRAMES_MAX * 4];
	uint8_t stored[FRAMES_MAX * 8];
};

static void subject_make(struct subject *s, enum role role, enum curve_kind kind, uint32_t frames)
{
	*s = (struct subject){
		.curve = {.kind = kind, .keyed = true, .count = frames, .values = s->values},
		.track = {.label = "bone"},
		.clip = {.label = "walk", .frames = frames, .loop = true, .track_count = 1},
		.anim = {.format = &format, .clip_count = 1}};
	s->track.curve[role] = &s->curve;
	s->clip.tracks = &s->track;
	s->anim.clips = &s->clip;
}

static double *value(struct subject *s, uint32_t key, unsigned axis)
{
	return &s->values[(size_t)key * curve_width(&s->curve) + axis];
}

/*
 * Makes a loop of sines that depend on the seed. The last key equals the first or, with `open`, the
 * key before the first.
 */
static void subject_wave(struct subject *s, bool open, unsigned seed)
{
	uint32_t frames = s->curve.count;
	bool turns = s->curve.kind != CURVE_VECTOR;

	for (uint32_t key = 0; key < frames; key++) {
		double t = (double)key / (frames - !open), at[4];

		for (unsigned axis = 0; axis < 3; axis++) {
			double size = 1 + (seed * 7 + axis * 3) % 11, phase = seed * 0.7 + axis;

			at[axis] = (turns ? 1.5 : 0.03) * size *
				   sin(TURN * (1 + (seed + axis) % 2) * t + phase);
		}
		if (s->curve.kind == CURVE_QUATERNION) {
			double euler[3] = {at[0], at[1], at[2]}, none[4] = {0, 0, 0, 1};

			rotation_quaternion(euler, none, at);
		}
		for (unsigned axis = 0; axis < curve_width(&s->curve); axis++)
			*value(s, key, axis) = at[axis];
	}
}

/* ---- findings ---- */

struct findings {
	unsigned count[LINT_KINDS];
	uint32_t frames[LINT_KINDS][FRAMES_MAX];
	uint32_t frame_count[LINT_KINDS];
	double value[LINT_KINDS];
};

static bool note(void *closure, const struct lint *l)
{
	struct findings *f = closure;

	f->count[l->kind]++;
	f->frame_count[l->kind] = l->count;
	f->value[l->kind] = l->value;
	if (l->count)
		memcpy(f->frames[l->kind], l->frames, l->count * sizeof(*l->frames));
	return true;
}

static struct findings lint(const struct subject *s)
{
	const struct lint_limits limits = LINT_LIMITS;
	struct findings f = {.count = {0}};

	ck_assert(lint_anim(&s->anim, &limits, note, &f));
	return f;
}

/* Checks that the findings are of these kinds (bits) and no others. Returns them. */
static struct findings only(const struct subject *s, unsigned kinds, unsigned seed)
{
	struct findings f = lint(s);

	for (unsigned kind = 0; kind < LINT_KINDS; kind++)
		ck_assert_msg(f.count[kind] == (kinds >> kind & 1),
			      "seed %u, %u frames: %s is found %u times", seed, s->clip.frames,
			      lint_names[kind], f.count[kind]);
	return f;
}

static const struct {
	enum role role;
	enum curve_kind kind;
} forms[] = {{ROLE_TRANSLATION, CURVE_VECTOR},
	     {ROLE_ROTATION, CURVE_EULER},
	     {ROLE_ROTATION, CURVE_QUATERNION},
	     {ROLE_SCALE, CURVE_VECTOR}};

/* Calls `test` for clean curves of all forms, of many lengths. */
static void for_each_subject(void (*test)(struct subject *s, unsigned seed))
{
	static struct subject s;

	for (size_t form = 0; form < ARRAY_SIZE(forms); form++) {
		for (unsigned seed = 0; seed < 60; seed++) {
			subject_make(&s, forms[form].role, forms[form].kind,
				     30 + seed * 37 % (FRAMES_MAX - 30));
			subject_wave(&s, seed % 3 == 0, seed);
			test(&s, seed);
		}
	}
}

/* ---- the tests ---- */

static void clean(struct subject *s, unsigned seed)
{
	only(s, 0, seed);
}

START_TEST(clean_curves_have_no_findings)
{
	for_each_subject(clean);
}
END_TEST

/* Moves a key by a rotation or a distance. */
static void push(struct subject *s, uint32_t key)
{
	static const double away[4] = {0.5, 0.5, 0.5, 0.5};

	for (unsigned axis = 0; axis < curve_width(&s->curve); axis++) {
		if (s->curve.kind == CURVE_QUATERNION)
			*value(s, key, axis) = away[axis];
		else
			*value(s, key, axis) += s->curve.kind == CURVE_EULER ? 90 : 5;
	}
}

static void jumping(struct subject *s, unsigned seed)
{
	uint32_t key = 1 + seed * 13 % (s->curve.count - 3);
	struct findings f;

	push(s, key);
	f = only(s, 1 << LINT_JUMP, seed);
	ck_assert_uint_eq(f.frame_count[LINT_JUMP], 2);
	ck_assert_uint_eq(f.frames[LINT_JUMP][0], key);
	ck_assert_uint_eq(f.frames[LINT_JUMP][1], key + 1);
}

START_TEST(a_jump_is_found_at_its_frame)
{
	for_each_subject(jumping);
}
END_TEST

/* Moves all keys from one on, including the last pose. */
static void parting(struct subject *s, unsigned seed)
{
	uint32_t key = s->curve.count / 2;

	if (s->curve.kind == CURVE_QUATERNION)
		return;
	for (uint32_t i = key; i < s->curve.count; i++)
		push(s, i);
	only(s, 1 << LINT_JUMP | 1 << LINT_SEAM, seed);
	s->clip.loop = false;
	only(s, 1 << LINT_JUMP, seed);
}

/* Ends the clip in the middle of its movement. */
static void cut(struct subject *s, unsigned seed)
{
	struct findings f;

	if (s->curve.count < 60)
		return;
	s->curve.count = s->clip.frames = s->curve.count * 5 / 8;
	f = lint(s);
	ck_assert_msg(f.count[LINT_SEAM] == 1 || s->track.curve[ROLE_TRANSLATION] == &s->curve,
		      "seed %u", seed);
	ck_assert_uint_eq(f.count[LINT_JUMP], 0);
}

START_TEST(a_seam_is_found_in_loops)
{
	for_each_subject(parting);
	for_each_subject(cut);
}
END_TEST

START_TEST(a_root_that_walks_on_has_no_seam)
{
	static struct subject s;

	subject_make(&s, ROLE_TRANSLATION, CURVE_VECTOR, 60);
	for (uint32_t key = 0; key < 60; key++) {
		*value(&s, key, 1) = 0.02 * sin(key * 0.2);
		*value(&s, key, 2) = 0.05 * key;
	}
	only(&s, 0, 0);
}
END_TEST

static void flipped(struct subject *s, unsigned seed)
{
	uint32_t key = 1 + seed * 13 % (s->curve.count - 2);
	struct findings f;

	if (s->curve.kind != CURVE_QUATERNION)
		return;
	for (uint32_t i = key; i < s->curve.count; i++) {
		for (unsigned axis = 0; axis < 4; axis++)
			*value(s, i, axis) *= -1;
	}
	f = only(s, 1 << LINT_FLIP, seed);
	ck_assert_uint_eq(f.frame_count[LINT_FLIP], 1);
	ck_assert_uint_eq(f.frames[LINT_FLIP][0], key);
	/* A packed code stores no sign. */
	s->curve.lane[0].form = LANE_CODE;
	only(s, 0, seed);
}

static void stretched(struct subject *s, unsigned seed)
{
	uint32_t key = seed * 13 % s->curve.count;
	struct findings f;

	if (s->curve.kind != CURVE_QUATERNION)
		return;
	for (unsigned axis = 0; axis < 4; axis++)
		*value(s, key, axis) *= 1.02;
	f = only(s, 1 << LINT_LENGTH, seed);
	ck_assert_uint_eq(f.frames[LINT_LENGTH][0], key);
	ck_assert_double_eq_tol(f.value[LINT_LENGTH], 1.02, 1e-6);
	for (unsigned axis = 0; axis < 4; axis++)
		*value(s, key, axis) = NAN;
	f = only(s, 1 << LINT_LENGTH, seed);
	ck_assert_uint_eq(f.frame_count[LINT_LENGTH], 1);
}

START_TEST(quaternions_that_flip_or_are_too_long_are_found)
{
	for_each_subject(flipped);
	for_each_subject(stretched);
}
END_TEST

static void still(struct subject *s, unsigned seed)
{
	for (uint32_t key = 1; key < s->curve.count; key++) {
		for (unsigned axis = 0; axis < curve_width(&s->curve); axis++)
			*value(s, key, axis) = *value(s, 0, axis);
	}
	only(s, 1 << LINT_CONSTANT, seed);
	s->curve.keyed = false;
	s->curve.count = 1;
	only(s, 0, seed);
}

START_TEST(a_constant_curve_with_many_keys_is_found)
{
	for_each_subject(still);
}
END_TEST

/* Rounds the values to a grid, of which they use `steps` steps. */
static void quantise(struct subject *s, unsigned steps)
{
	for (unsigned axis = 0; axis < 3; axis++) {
		double low = *value(s, 0, axis), high = low;
		struct lane *lane = &s->curve.lane[axis];

		for (uint32_t key = 0; key < s->curve.count; key++) {
			low = fmin(low, *value(s, key, axis));
			high = fmax(high, *value(s, key, axis));
		}
		*lane = (struct lane){LANE_GRID, (float)low, (float)((high - low) / steps),
				      1,         0,          false};
		for (uint32_t key = 0; key < s->curve.count; key++)
			put_u16(s->stored + 2 * ((size_t)key * 3 + axis),
				(uint16_t)lround((*value(s, key, axis) - low) / (high - low) *
						 steps));
	}
	s->curve.stored = s->stored;
}

static void wasted(struct subject *s, unsigned seed)
{
	struct findings f;

	if (s->curve.kind == CURVE_QUATERNION)
		return;
	quantise(s, 65535);
	only(s, 0, seed);
	quantise(s, 3000);
	f = only(s, 1 << LINT_WASTE, seed);
	ck_assert_double_eq_tol(f.value[LINT_WASTE], 3000 / 65535.0, 1e-9);
}

START_TEST(ranges_that_waste_the_grid_are_found)
{
	for_each_subject(wasted);
}
END_TEST

START_TEST(limits_and_kinds_are_what_is_asked_for)
{
	struct lint_limits limits = LINT_LIMITS;
	static struct subject s;
	struct findings f = {.count = {0}};

	subject_make(&s, ROLE_ROTATION, CURVE_EULER, 100);
	subject_wave(&s, false, 1);
	push(&s, 50);
	limits.jump = 1e6;
	ck_assert(lint_anim(&s.anim, &limits, note, &f));
	ck_assert_uint_eq(f.count[LINT_JUMP], 0);
	limits.jump = 5;
	limits.least = 179;
	ck_assert(lint_anim(&s.anim, &limits, note, &f));
	ck_assert_uint_eq(f.count[LINT_JUMP], 0);
	limits.least = 2;
	limits.kinds = 1 << LINT_WASTE;
	ck_assert(lint_anim(&s.anim, &limits, note, &f));
	ck_assert_uint_eq(f.count[LINT_JUMP], 0);
	limits.kinds = 1 << LINT_JUMP;
	ck_assert(lint_anim(&s.anim, &limits, note, &f));
	ck_assert_uint_eq(f.count[LINT_JUMP], 1);
}
END_TEST

Suite *lint_suite(void);

Suite *lint_suite(void)
{
	Suite *s = suite_create("lint");
	TCase *t = tcase_create("lint");

	tcase_add_test(t, clean_curves_have_no_findings);
	tcase_add_test(t, a_jump_is_found_at_its_frame);
	tcase_add_test(t, a_seam_is_found_in_loops);
	tcase_add_test(t, a_root_that_walks_on_has_no_seam);
	tcase_add_test(t, quaternions_that_flip_or_are_too_long_are_found);
	tcase_add_test(t, a_constant_curve_with_many_keys_is_found);
	tcase_add_test(t, ranges_that_waste_the_grid_are_found);
	tcase_add_test(t, limits_and_kinds_are_what_is_asked_for);
	suite_add_tcase(s, t);
	return s;
}
