/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "util/clock.h"

#include <check.h>

START_TEST(both_clocks_run_together)
{
	int64_t before = clock_real_ms(), now = clock_ms(), after = clock_real_ms();

	ck_assert(!clock_is_stopped());
	ck_assert_int_gt(before, 0);
	ck_assert_int_le(before, now);
	ck_assert_int_le(now, after);
}
END_TEST

/* The test has a process of its own, since a stopped clock cannot be started again. */
START_TEST(one_stops_and_the_other_does_not)
{
	int64_t at, real;

	clock_stop();
	ck_assert(clock_is_stopped());
	at = clock_ms();
	real = clock_real_ms();
	while (clock_real_ms() < real + 3)
		clock_sleep(1);
	ck_assert_int_eq(clock_ms(), at);
	clock_move(at + 3600000);
	ck_assert_int_eq(clock_ms(), at + 3600000);
	clock_move(at);
	ck_assert_int_eq(clock_ms(), at + 3600000);
	ck_assert_int_lt(clock_real_ms(), at + 3600000);
}
END_TEST

START_TEST(a_time_is_in_seconds_and_nanoseconds)
{
	struct timespec until = clock_until(12345);

	ck_assert_int_eq(until.tv_sec, 12);
	ck_assert_int_eq(until.tv_nsec, 345000000);
}
END_TEST

START_TEST(the_time_of_day_is_one)
{
	int64_t before = clock_wall_ns();
	struct timespec now = clock_wall();
	int64_t at = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;

	ck_assert_int_le(before, at);
	ck_assert_int_le(clock_wall_tick().tv_sec, clock_wall().tv_sec);
}
END_TEST

Suite *clock_suite(void);

Suite *clock_suite(void)
{
	Suite *s = suite_create("clock");
	TCase *t = tcase_create("clock");

	tcase_add_test(t, both_clocks_run_together);
	tcase_add_test(t, one_stops_and_the_other_does_not);
	tcase_add_test(t, a_time_is_in_seconds_and_nanoseconds);
	tcase_add_test(t, the_time_of_day_is_one);
	suite_add_tcase(s, t);
	return s;
}
