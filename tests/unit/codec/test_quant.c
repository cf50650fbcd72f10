/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "codec/quant.h"
#include "text/num.h"

#include <check.h>
#include <float.h>
#include <math.h>
#include <string.h>

#define DEGREES (180 / 3.14159265358979323846)
#define KEYS_MAX 65536

/* A stored curve with three equal components, and a copy of it to be typed over. */
struct fixture {
	struct curve old, wanted;
	uint8_t stored[6 * KEYS_MAX];
	double values[3 * KEYS_MAX];
	uint16_t k[KEYS_MAX];
	struct lane lane;
	struct quant q;
};

static struct fixture f;

static void set_up(uint32_t count, float base, float step, double unit)
{
	unsigned axis;

	memset(&f, 0, sizeof(f));
	f.old = (struct curve){.keyed = true, .count = count, .stored = f.stored};
	for (axis = 0; axis < 3; axis++)
		f.old.lane[axis] = (struct lane){LANE_GRID, base, step, unit, 0, false};
	f.wanted = (struct curve){.keyed = true, .count = count, .values = f.values};
	f.q = (struct quant){.wanted = &f.wanted, .old = &f.old, .unit = unit};
}

static void set_k(uint32_t key, unsigned axis, uint16_t k)
{
	put_u16(f.stored + 6 * (size_t)key + 2 * axis, k);
	f.values[3 * (size_t)key + axis] = curve_value(&f.old, key, axis);
}

static void want(uint32_t key, unsigned axis, double v)
{
	f.values[3 * (size_t)key + axis] = v;
}

static void store(unsigned axis)
{
	const char *why = quant_grid(&f.q, axis, &f.lane, f.k);

	ck_assert_msg(why == NULL, "%s", why);
	ck_assert_int_eq(f.lane.form, LANE_GRID);
}

static void refuse(unsigned axis, const char *reason, uint32_t key)
{
	const char *why = quant_grid(&f.q, axis, &f.lane, f.k);

	ck_assert_ptr_nonnull(why);
	ck_assert_msg(strstr(why, reason) != NULL, "%s", why);
	ck_assert_uint_eq(f.q.key, key);
}

static double now(uint32_t key)
{
	return f.q.unit * ((double)f.lane.base + f.k[key] * (double)f.lane.step);
}

START_TEST(test_untouched_keeps_k)
{
	uint32_t key;

	set_up(5, 1.5f, 0.25f, 1);
	for (key = 0; key < 5; key++)
		set_k(key, 1, (uint16_t)(13 * key * key));
	store(1);
	ck_assert(f.lane.base == 1.5f && f.lane.step == 0.25f);
	for (key = 0; key < 5; key++)
		ck_assert_uint_eq(f.k[key], 13 * key * key);
}
END_TEST

START_TEST(test_within_range_goes_to_the_nearest)
{
	set_up(4, -2, 0.5f, 1);
	set_k(0, 0, 0);
	set_k(1, 0, 65535);
	set_k(2, 0, 7);
	set_k(3, 0, 9);
	want(2, 0, -2 + 0.5 * 100.4);
	want(3, 0, -2 + 0.5 * 100.6);
	store(0);
	ck_assert(f.lane.base == -2 && f.lane.step == 0.5f);
	ck_assert_uint_eq(f.k[0], 0);
	ck_assert_uint_eq(f.k[1], 65535);
	ck_assert_uint_eq(f.k[2], 100);
	ck_assert_uint_eq(f.k[3], 101);
}
END_TEST

START_TEST(test_room_refines_without_loss)
{
	set_up(3, 1, 0.5f, 1);
	set_k(0, 2, 0);
	set_k(1, 2, 100);
	set_k(2, 2, 3);
	want(2, 2, 2.7);
	store(2);
	/* The largest step: 100 << 9 still fits, 100 << 10 does not. */
	ck_assert(f.lane.base == 1 && f.lane.step == ldexpf(0.5f, -9));
	ck_assert_uint_eq(f.k[0], 0);
	ck_assert_uint_eq(f.k[1], 100 << 9);
	ck_assert(fabs(now(2) - 2.7) <= ldexp(0.5, -10));
}
END_TEST

START_TEST(test_value_on_the_grid_needs_no_finer_one)
{
	set_up(3, 1, 0.5f, 1);
	set_k(0, 0, 0);
	set_k(1, 0, 100);
	set_k(2, 0, 3);
	want(2, 0, 1 + 0.5 * 200);
	store(0);
	ck_assert(f.lane.step == 0.5f);
	ck_assert_uint_eq(f.k[2], 200);
}
END_TEST

START_TEST(test_finer_step_stays_exact)
{
	/* The smallest numbers: half of this step is no float32. */
	set_up(2, 0, 3 * FLT_TRUE_MIN, 1);
	set_k(0, 0, 1);
	set_k(1, 0, 2);
	want(1, 0, 4 * (double)FLT_TRUE_MIN);
	store(0);
	ck_assert(f.lane.step == 3 * FLT_TRUE_MIN);
	ck_assert_uint_eq(f.k[0], 1);
	ck_assert_uint_eq(f.k[1], 1);
}
END_TEST

START_TEST(test_nothing_above_the_base)
{
	set_up(2, 0, 1, 1);
	set_k(0, 0, 0);
	set_k(1, 0, 0);
	want(1, 0, 1e-30);
	store(0);
	ck_assert_uint_eq(f.k[0], 0);
	ck_assert(fabs(now(1) - 1e-30) <= 1e-34);
}
END_TEST

START_TEST(test_ends_of_the_grid)
{
	/* Test the last value that fits, and one a step above. */
	set_up(2, 10, 0.125f, 1);
	set_k(0, 0, 1);
	set_k(1, 0, 2);
	want(1, 0, 10 + 65535 * 0.125);
	store(0);
	ck_assert(f.lane.base == 10 && f.lane.step == 0.125f);
	ck_assert_uint_eq(f.k[0], 1);
	ck_assert_uint_eq(f.k[1], 65535);
	want(1, 0, 10 + 65536 * 0.125);
	store(0);
	ck_assert(f.lane.base == 10.125f);
	ck_assert_uint_eq(f.k[0], 0);
	ck_assert_uint_eq(f.k[1], 65535);
	ck_assert(now(1) >= 10 + 65536 * 0.125);
	want(1, 0, 9.875);
	store(0);
	ck_assert(f.lane.base == 9.875f);
	ck_assert_uint_eq(f.k[1], 0);
	ck_assert(fabs(now(0) - 10.125) < 1e-6);
}
END_TEST

START_TEST(test_negative_step)
{
	set_up(3, 10, -0.5f, 1);
	set_k(0, 0, 0);
	set_k(1, 0, 60000);
	set_k(2, 0, 5);
	want(2, 0, 10 - 0.5 * 1234);
	store(0);
	ck_assert(f.lane.base == 10 && f.lane.step == -0.5f);
	ck_assert_uint_eq(f.k[2], 1234);
	want(2, 0, 11);
	store(0);
	ck_assert(f.lane.step > 0);
	ck_assert(fabs(now(1) - (10 - 0.5 * 60000)) <= (double)f.lane.step / 2);
}
END_TEST

START_TEST(test_constant)
{
	uint32_t key;

	set_up(3, 10, 0.5f, 1);
	for (key = 0; key < 3; key++) {
		set_k(key, 0, (uint16_t)(40000 + key));
		want(key, 0, 0.1);
	}
	store(0);
	ck_assert(f.lane.base == 0.1f && f.lane.step == 0);
	for (key = 0; key < 3; key++)
		ck_assert_uint_eq(f.k[key], 0);
	/* Even values within the range are not kept: one value for all keys needs no grid. */
	for (key = 0; key < 3; key++)
		want(key, 0, 20.1);
	store(0);
	ck_assert(f.lane.base == 20.1f && f.lane.step == 0);
}
END_TEST

START_TEST(test_step_of_zero_keeps_its_k)
{
	set_up(2, 0.1f, 0, 1);
	set_k(0, 0, 5);
	set_k(1, 0, 6);
	want(0, 0, 0.1);
	store(0);
	ck_assert(f.lane.base == 0.1f && f.lane.step == 0);
	ck_assert_uint_eq(f.k[0], 5);
	ck_assert_uint_eq(f.k[1], 6);
}
END_TEST

START_TEST(test_curve_that_was_not_there)
{
	uint32_t key;

	set_up(4, 0, 0, DEGREES);
	f.q.old = NULL;
	for (key = 0; key < 4; key++)
		want(key, 1, 30.0 * key - 45);
	store(1);
	ck_assert(f.lane.base == (float)(-45 / DEGREES));
	for (key = 0; key < 4; key++)
		ck_assert(fabs(now(key) - (30.0 * key - 45)) <= DEGREES * (double)f.lane.step);
	ck_assert_uint_eq(f.k[3], 65535);
}
END_TEST

START_TEST(test_last_key_held_when_it_grows)
{
	set_up(4, 1, 0.3f, 1);
	f.old.count = 2;
	set_k(0, 0, 9);
	set_k(1, 0, 7);
	want(2, 0, curve_value(&f.old, 1, 0));
	want(3, 0, curve_value(&f.old, 1, 0));
	store(0);
	ck_assert_uint_eq(f.k[2], 7);
	ck_assert_uint_eq(f.k[3], 7);
	/* The result must be the same if k makes no difference. */
	f.old.lane[0].step = 0;
	f.values[0] = f.values[3] = f.values[6] = f.values[9] = 1;
	store(0);
	ck_assert_uint_eq(f.k[0], 9);
	ck_assert_uint_eq(f.k[3], 7);
}
END_TEST

START_TEST(test_not_finite)
{
	set_up(3, NAN, 1, 1);
	set_k(0, 0, 1);
	set_k(1, 0, 2);
	set_k(2, 0, 3);
	store(0); /* store the values as they are */
	ck_assert(isnan(f.lane.base) && f.lane.step == 1);
	ck_assert_uint_eq(f.k[2], 3);
	want(1, 0, 4);
	refuse(0, "no room for others", 0);
	want(0, 0, 3);
	want(2, 0, 5);
	store(0); /* store other values in all keys */
	ck_assert(f.lane.base == 3);

	set_up(2, 1, 1, 1);
	set_k(0, 0, 1);
	set_k(1, 0, 1);
	want(1, 0, INFINITY);
	refuse(0, "only a finite number", 1);
	want(0, 0, INFINITY);
	refuse(0, "only a finite number", 0);
}
END_TEST

START_TEST(test_static_that_is_not_finite_becomes_keyed)
{
	set_up(3, 0, 0, 1);
	f.old.keyed = false;
	f.old.count = 1;
	f.old.lane[0].form = LANE_FLOAT;
	put_u32(f.stored, 0x7FC12345);
	want(0, 0, NAN);
	f.values[3] = f.values[6] = f.values[0] = curve_value(&f.old, 0, 0);
	store(0);
	ck_assert_uint_eq(f32_bits(f.lane.base), 0x7FC12345);
	ck_assert_uint_eq(f.k[2], 0);
}
END_TEST

START_TEST(test_largest_numbers)
{
	set_up(2, 0, 1, 1);
	set_k(0, 0, 0);
	set_k(1, 0, 0);
	want(0, 0, -(double)FLT_MAX);
	want(1, 0, FLT_MAX);
	store(0);
	ck_assert(isfinite(f.lane.step));
	ck_assert(f.lane.base == -FLT_MAX);
	ck_assert(now(1) >= (double)FLT_MAX);
	want(1, 0, 1e39);
	refuse(0, "too large", 1);
	/* A stored grid may reach beyond the largest float32. */
	set_up(2, -FLT_MAX, FLT_MAX, 1);
	set_k(0, 0, 65535);
	set_k(1, 0, 0);
	want(1, 0, -(double)FLT_MAX * 0.99);
	store(0);
	ck_assert_uint_eq(f.k[0], 65535);
}
END_TEST

START_TEST(test_range_narrower_than_a_float)
{
	uint32_t key;

	/* All values are between two float32: the base must not be above the values. */
	set_up(3, 0, 0, 1);
	f.q.old = NULL;
	want(0, 0, 1000.00004);
	want(1, 0, 1000.000045);
	want(2, 0, 1000.00005);
	store(0);
	ck_assert((double)f.lane.base <= 1000.00004);
	for (key = 0; key < 3; key++)
		ck_assert(fabs(now(key) - f.values[3 * key]) <= (double)f.lane.step / 2);
}
END_TEST

START_TEST(test_components_do_not_move_each_other)
{
	set_up(2, 1, 0.5f, 1);
	set_k(0, 0, 3);
	set_k(1, 0, 4);
	set_k(0, 1, 5);
	set_k(1, 1, 6);
	want(1, 0, 1e6);
	store(1);
	ck_assert(f.lane.base == 1 && f.lane.step == 0.5f);
	ck_assert_uint_eq(f.k[1], 6);
}
END_TEST

/* Types the text of every k of some grids into another key. */
START_TEST(test_shown_text_gives_its_k)
{
	static const struct {
		float base, step;
		double unit;
	} grids[] = {
		{-3.14159274f, 9.58738e-05f, DEGREES},
		{0.1f, 1e-9f, 1},
		{-100, 0.003f, 1},
		{1000, 1e-9f, 1},
		{0, 1.5258789e-5f, 1},
		{7, -0.01f, DEGREES},
	};
	uint32_t k;
	char text[NUM_MAX];
	size_t size;
	double v;

	set_up(65535, grids[_i].base, grids[_i].step, grids[_i].unit);
	for (k = 0; k < 65535; k++) {
		set_k(k, 0, (uint16_t)(k + 1));
		size = num_lane(text, curve_value(&f.old, k, 0), &f.old.lane[0]);
		ck_assert(num_parse(text, size, '.', &v));
		want(k, 0, v);
		/* The key that is typed over has another k. */
		put_u16(f.stored + 6 * (size_t)k, 0);
	}
	store(0);
	ck_assert(f.lane.base == grids[_i].base && f.lane.step == grids[_i].step);
	for (k = 0; k < 65535; k++)
		ck_assert_msg(f.k[k] == k + 1, "%u for %u", f.k[k], k + 1);
}
END_TEST

static uint32_t random_word(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*state >> 32);
}

START_TEST(test_random_edits_stay_near)
{
	uint64_t state = (uint64_t)_i;
	uint32_t count = 1 + random_word(&state) % 20, changed, key;
	float base = (float)((int32_t)random_word(&state)) / 1e6f;
	float step = ldexpf(1 + (float)(random_word(&state) % 1000) / 1000,
			    -(int)(random_word(&state) % 24));
	double unit = _i % 2 ? DEGREES : 1;
	uint32_t limit = random_word(&state) % 3 ? 65536 : 50;
	double most = -INFINITY;
	bool same;
	int power;

	set_up(count, base, step, unit);
	for (key = 0; key < count; key++)
		set_k(key, 0, (uint16_t)(random_word(&state) % limit));
	changed = random_word(&state) % count;
	want(changed, 0,
	     unit * (base + (double)step * ((double)(random_word(&state) % 800000) / 10 - 7000)));
	store(0);
	/* The grid must be the old one, or a finer one with the same points. */
	same = f.lane.base == base && frexpf(f.lane.step, &power) == frexpf(step, &power) &&
	       f.lane.step <= step;
	for (key = 0; key < count; key++) {
		double wanted = f.values[3 * key], got = now(key) / unit, error, hair;
		char text[NUM_MAX];

		/* A key that is stored again reads back as its text. */
		if (!same && key != changed)
			ck_assert(num_parse(text, num_lane(text, wanted, &f.old.lane[0]), '.',
					    &wanted));
		wanted /= unit;
		error = fabs(got - wanted);
		hair = 1e-15 * (fabs(got) + fabs(wanted));
		most = fmax(most, wanted);
		if (same && key != changed)
			ck_assert_double_le(error, hair);
		else if ((float)got != (float)wanted)
			ck_assert_double_le(error, fabs((double)f.lane.step) / 2 + hair);
	}
	if (!same && f.lane.step > 0) {
		/* The step is the least that reaches the maximum. */
		ck_assert((double)f.lane.base + 65535 * (double)f.lane.step >= most);
		ck_assert((double)f.lane.base + 65535 * (double)nextafterf(f.lane.step, 0) < most);
	}
}
END_TEST

/* Types the least and the greatest value, by their texts, into other keys. */
START_TEST(test_ends_typed_as_they_are_shown)
{
	uint64_t state = (uint64_t)_i * 77;
	uint32_t end, key, outside = 0, round;
	char text[NUM_MAX];
	double v;

	for (round = 0; round < 200; round++) {
		float base = (float)((int32_t)random_word(&state)) / 1e9f;
		float step = (float)(1 + random_word(&state) % 6000) / 65535e3f;

		set_up(6, base, step, DEGREES);
		for (key = 0; key < 6; key++)
			set_k(key, 0, (uint16_t)(key % 2 ? 65535 : 0));
		for (end = 0; end < 2; end++) {
			size_t size = num_lane(text, f.values[3 * end], &f.old.lane[0]);

			ck_assert(num_parse(text, size, '.', &v));
			want(2 + end, 0, v);
			outside += end ? v > f.values[3] : v < f.values[0];
			/* The keys had another value before. */
			put_u16(f.stored + 6 * (size_t)(2 + end), 99);
		}
		store(0);
		ck_assert(f.lane.base == base && f.lane.step == step);
		for (key = 0; key < 6; key++)
			ck_assert_uint_eq(f.k[key], key % 2 ? 65535 : 0);
	}
	ck_assert_uint_gt(outside, 20);
}
END_TEST

START_TEST(test_refined_beside_typed_text)
{
	/*
	 * A value typed in another key goes to the nearest step of the finer grid; kept values stay
	 * exact.
	 */
	set_up(3, 0.1f, 1e-6f, DEGREES);
	set_k(0, 0, 10);
	set_k(1, 0, 11);
	set_k(2, 0, 12);
	want(0, 0, 5.73014);
	want(2, 0, 5.7302253);
	store(0);
	ck_assert(f.lane.step < 1e-6f);
	ck_assert(now(1) == f.values[3]);
	ck_assert(fabs(now(0) - 5.73014) <= DEGREES * (double)f.lane.step * 0.51);
	ck_assert(fabs(now(2) - 5.7302253) <= DEGREES * (double)f.lane.step * 0.51);
}
END_TEST

START_TEST(test_floats)
{
	float out;

	set_up(1, 0, 0, DEGREES);
	f.old.lane[0].form = f.old.lane[1].form = LANE_FLOAT;
	put_u32(f.stored, 0x7F800001);
	put_f32(f.stored + 4, 0.1f);
	want(0, 0, curve_value(&f.old, 0, 0));
	want(0, 1, 90);
	want(0, 2, NAN);
	f.old.lane[2].form = LANE_FLOAT;
	ck_assert_ptr_null(quant_float(&f.q, 0, 0, &out));
	ck_assert_uint_eq(f32_bits(out), 0x7F800001);
	ck_assert_ptr_null(quant_float(&f.q, 0, 1, &out));
	ck_assert(out == (float)(90 / DEGREES));
	ck_assert_ptr_nonnull(quant_float(&f.q, 0, 2, &out));
	want(0, 2, 1e41);
	ck_assert_ptr_nonnull(quant_float(&f.q, 0, 2, &out));
	/* A NaN may be replaced by another NaN. */
	want(0, 0, (double)f32_from_bits(0xFFC54321));
	ck_assert_ptr_null(quant_float(&f.q, 0, 0, &out));
	ck_assert_uint_eq(f32_bits(out), 0xFFC54321);
}

START_TEST(test_static_from_a_grid_too_wide)
{
	float out;

	set_up(1, FLT_MAX, FLT_MAX, 1);
	set_k(0, 0, 9);
	ck_assert_ptr_nonnull(quant_float(&f.q, 0, 0, &out));
}
END_TEST

Suite *quant_suite(void)
{
	Suite *suite = suite_create("quant");
	TCase *tc = tcase_create("quant");

	tcase_add_test(tc, test_untouched_keeps_k);
	tcase_add_test(tc, test_within_range_goes_to_the_nearest);
	tcase_add_test(tc, test_room_refines_without_loss);
	tcase_add_test(tc, test_value_on_the_grid_needs_no_finer_one);
	tcase_add_test(tc, test_finer_step_stays_exact);
	tcase_add_test(tc, test_nothing_above_the_base);
	tcase_add_test(tc, test_ends_of_the_grid);
	tcase_add_test(tc, test_negative_step);
	tcase_add_test(tc, test_constant);
	tcase_add_test(tc, test_step_of_zero_keeps_its_k);
	tcase_add_test(tc, test_curve_that_was_not_there);
	tcase_add_test(tc, test_last_key_held_when_it_grows);
	tcase_add_test(tc, test_not_finite);
	tcase_add_test(tc, test_static_that_is_not_finite_becomes_keyed);
	tcase_add_test(tc, test_largest_numbers);
	tcase_add_test(tc, test_range_narrower_than_a_float);
	tcase_add_test(tc, test_components_do_not_move_each_other);
	tcase_add_loop_test(tc, test_shown_text_gives_its_k, 0, 6);
	tcase_add_loop_test(tc, test_random_edits_stay_near, 0, 500);
	tcase_add_loop_test(tc, test_ends_typed_as_they_are_shown, 0, 5);
	tcase_add_test(tc, test_refined_beside_typed_text);
	tcase_add_test(tc, test_floats);
	tcase_add_test(tc, test_static_from_a_grid_too_wide);
	suite_add_tcase(suite, tc);
	return suite;
}
