/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sample.h"
#include "view/motion_rate.h"

#include <math.h>

#define NTSC_30 (30000 / 1001.0)
#define MANY 20000

static double times[2][MANY];

/* Returns times of `count` keys as float32, `step` frames of the rate apart. */
static struct motion_times keys_at(unsigned channel, double hz, double first, double step,
				   uint32_t count)
{
	ck_assert_uint_le(count, MANY);
	for (uint32_t key = 0; key < count; key++)
		times[channel][key] = (double)(float)((first + key * step) / hz);
	return (struct motion_times){times[channel], count, NULL};
}

static struct motion_rate other(const struct motion_times *channels, uint32_t count, double own)
{
	struct motion_rate rate;

	ck_assert_int_eq(motion_rate_other(channels, count, 1 / own, &rate), rate.hz > 0);
	return rate;
}

/* Returns the rate that `count` keys in a row reveal; 0 if none. */
static double revealed(double written, double own, uint32_t count)
{
	struct motion_times c = keys_at(0, written, 0, 1, count);

	return other(&c, 1, own).hz;
}

START_TEST(another_rate_is_known)
{
	static const struct {
		double written, own;
	} rates[] = {{24, 60}, {24, 30},       {25, 30},     {30, 24}, {50, 60}, {60, 24}, {12, 30},
		     {18, 30}, {30, 60 / 1.7}, {23.976, 30}, {60, 25}, {90, 60}, {120, 50}};

	for (size_t i = 0; i < ARRAY_SIZE(rates); i++)
		ck_assert_msg(fabs(revealed(rates[i].written, rates[i].own, 40) -
				   rates[i].written) < 1e-3,
			      "%g for %g: %g", rates[i].written, rates[i].own,
			      revealed(rates[i].written, rates[i].own, 40));
}
END_TEST

START_TEST(keys_are_counted)
{
	struct motion_times channels[] = {keys_at(0, 30, 0, 5, 4), keys_at(1, 24, 0, 1, 9)};
	struct motion_rate rate;

	/* At 60 per second, every second key of a rate of 24 is between frames. */
	channels[0] = keys_at(0, 24, 0, 2, 4);
	rate = other(channels, 2, 60);
	ck_assert_double_eq(rate.hz, 24);
	ck_assert_uint_eq(rate.keys, 13);
	ck_assert_uint_eq(rate.off, 4);
	ck_assert_uint_eq(rate.first_off, 1);
}
END_TEST

START_TEST(the_clips_own_rate_is_no_other)
{
	static const double rates[] = {24, 30, 60, NTSC_30, 29.7, 1 / 0.0313, 0.5, 1000};

	for (size_t i = 0; i < ARRAY_SIZE(rates); i++)
		for (uint32_t count = 1; count <= MANY; count *= 3)
			ck_assert_double_eq(revealed(rates[i], rates[i], count), 0);
}
END_TEST

/* Every frame of the clip can have a key at a multiple of its rate. */
START_TEST(nor_is_a_multiple_of_it)
{
	ck_assert_double_eq(revealed(60, 30, 100), 0);
	ck_assert_double_eq(revealed(120, 60, 100), 0);
	ck_assert_double_eq(revealed(120, 24, 100), 0);
	ck_assert_double_eq(revealed(100, 25, 100), 0);
	ck_assert_double_eq(revealed(59.4, 29.7, 100), 0);
}
END_TEST

START_TEST(what_fits_both_is_no_evidence)
{
	struct motion_times c;

	ck_assert_double_eq(revealed(24, 60, 1), 0);
	c = keys_at(0, 24, 0, 2, 30);
	/* these times are at a multiple of both rates' frames */
	ck_assert_double_eq(other(&c, 1, 60).hz, 0);
	c = keys_at(0, 24, 5, 1, 1);
	ck_assert_double_eq(other(&c, 1, 60).hz, 0); /* a single key reveals nothing */
	ck_assert_double_eq(other(NULL, 0, 60).hz, 0);
}
END_TEST

START_TEST(near_rates_are_told_apart_by_many_keys_only)
{
	ck_assert_double_eq(revealed(NTSC_30, 30, 8), 0);
	ck_assert_double_eq(revealed(30, NTSC_30, 8), 0);
	ck_assert_double_eq_tol(revealed(NTSC_30, 30, 300), NTSC_30, 1e-9);
	ck_assert_double_eq(revealed(30, NTSC_30, 300), 30);
	/* The double of one rate is not taken for the other rate. */
	ck_assert_double_eq(revealed(60, NTSC_30, 8), 0);
	ck_assert_double_eq(revealed(60000 / 1001.0, 30, 8), 0);
}
END_TEST

/* At such times, float32 is precise to about a thousandth of a frame. */
START_TEST(long_clips_are_read_alike)
{
	ck_assert_double_eq(revealed(24, 60, MANY), 24);
	ck_assert_double_eq(revealed(25, 30, MANY), 25);
	ck_assert_double_eq(revealed(60, 60, MANY), 0);
}
END_TEST

START_TEST(keys_that_stand_anywhere_are_nothing)
{
	static double any[] = {0, 0.1234, 0.25, 0.4321, 0.5, 0.777, 1};
	struct motion_times channels[] = {{any, ARRAY_SIZE(any), NULL}, keys_at(1, 24, 0, 1, 25)};

	ck_assert_double_eq(other(channels, 1, 30).hz, 0);
	/* If another channel is at another rate, there is no common rate. */
	ck_assert_double_eq(other(channels, 2, 30).hz, 0);
	/* One key between frames happens to be at a frame of another rate. */
	any[1] = 0.2;
	any[2] = 0.25;
	any[3] = 0.3;
	any[4] = 0.5;
	any[5] = 0.6;
	ck_assert_double_eq(other(channels, 1, 30).hz, 0);
}
END_TEST

/* Blender counts frames from the first key if that is late in the clip. */
START_TEST(frames_may_be_counted_from_the_first_key)
{
	struct motion_times c = keys_at(0, 24, 1.2, 1, 20);

	ck_assert_double_eq(other(&c, 1, 60).hz, 24);
	c = keys_at(0, 30, 0.3, 1, 20);
	ck_assert_double_eq(other(&c, 1, 30).hz, 0);
	c = keys_at(0, 24, 1.3, 7, 3);
	ck_assert_double_eq(other(&c, 1, 60).hz, 0);
}
END_TEST

/* The other keys may be anywhere in the file, and so in the text. */
START_TEST(keys_of_its_own_between_frames_are_the_clips)
{
	uint8_t stored[4 * 25];
	struct curve_timing timing = {.times = stored, .rate = 30, .between = true};
	struct curve own = {.kind = CURVE_VECTOR, .keyed = true, .count = 25, .timing = &timing};
	struct motion_times c = keys_at(0, 24, 0, 1, 25);

	for (unsigned key = 0; key < 25; key++)
		put_f32(stored + (size_t)4 * key, (float)c.times[key]);
	ck_assert_double_eq(other(&c, 1, 30).hz, 24);
	c.own = &own;
	ck_assert_double_eq(other(&c, 1, 30).hz, 0);
	own.count = 10;
	ck_assert_uint_eq(other(&c, 1, 30).off, 11);
}
END_TEST

Suite *motion_rate_suite(void);

Suite *motion_rate_suite(void)
{
	Suite *suite = suite_create("motion_rate");
	TCase *t = tcase_create("motion_rate");

	suite_add_tcase(suite, t);
	tcase_add_test(t, another_rate_is_known);
	tcase_add_test(t, keys_are_counted);
	tcase_add_test(t, the_clips_own_rate_is_no_other);
	tcase_add_test(t, nor_is_a_multiple_of_it);
	tcase_add_test(t, what_fits_both_is_no_evidence);
	tcase_add_test(t, near_rates_are_told_apart_by_many_keys_only);
	tcase_add_test(t, long_clips_are_read_alike);
	tcase_add_test(t, keys_that_stand_anywhere_are_nothing);
	tcase_add_test(t, frames_may_be_counted_from_the_first_key);
	tcase_add_test(t, keys_of_its_own_between_frames_are_the_clips);
	return suite;
}
