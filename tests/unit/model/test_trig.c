/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/trig.h"
#include "random.h"

#include <check.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#define CASES 100000

/* Is a number within 8 units of the last digit of the C library's? */
static bool trig_is_near(double ours, double theirs)
{
	return fabs(ours - theirs) <= 8 * (nextafter(fabs(theirs), INFINITY) - fabs(theirs));
}

/* Of -1 to 1. */
static double trig_random(void)
{
	return (double)below(1u << 30) / (1u << 29) - 1;
}

START_TEST(results_are_those_of_the_library)
{
	for (unsigned i = 0; i < CASES; i++) {
		double a = trig_random(), b = trig_random() / (1 + below(1000));

		ck_assert(trig_is_near(trig_sin(a * M_PI_2), sin(a * M_PI_2)));
		ck_assert(trig_is_near(trig_cos(a * M_PI_4), cos(a * M_PI_4)));
		ck_assert(trig_is_near(trig_atan2(a, b), atan2(a, b)));
		ck_assert(trig_is_near(trig_atan2(b, a), atan2(b, a)));
		ck_assert(trig_is_near(trig_acos(fabs(a)), acos(fabs(a))));
		ck_assert(trig_is_near(trig_hypot(a, b), hypot(a, b)));
	}
}
END_TEST

START_TEST(results_have_the_same_bits_everywhere)
{
	uint64_t sum = 0;

	random_state = 1;
	for (unsigned i = 0; i < CASES; i++) {
		double a = trig_random(), b = trig_random() / (1 + below(1000));
		const double results[] = {trig_sin(a * M_PI_2), trig_cos(a * M_PI_4),
					  trig_atan2(a, b), trig_acos(fabs(a)), trig_hypot(a, b)};

		for (unsigned k = 0; k < 5; k++) {
			uint64_t bits;

			memcpy(&bits, &results[k], sizeof(bits));
			sum = sum * 31 + bits;
		}
	}
	ck_assert_uint_eq(sum, 2807518753502186691u);
}
END_TEST

START_TEST(edges)
{
	ck_assert(trig_atan2(1, 1) * 180 / M_PI == 45);
	ck_assert(trig_atan2(0, -1) == M_PI && trig_atan2(-0.0, -1) == -M_PI);
	ck_assert(trig_atan2(1, 0) == M_PI_2 && trig_atan2(0, 0) == 0);
	ck_assert(isnan(trig_atan2(NAN, 1)) && trig_atan2(1, INFINITY) == 0);
	ck_assert(trig_acos(1) == 0 && trig_sin(0) == 0 && trig_cos(0) == 1);
	ck_assert(trig_hypot(0, 0) == 0 && isnan(trig_hypot(NAN, 1)));
	ck_assert(isfinite(trig_hypot(1e300, 1e300)));
}
END_TEST

Suite *trig_suite(void);

Suite *trig_suite(void)
{
	Suite *s = suite_create("trig");
	TCase *t = tcase_create("functions");

	tcase_add_test(t, results_are_those_of_the_library);
	tcase_add_test(t, results_have_the_same_bits_everywhere);
	tcase_add_test(t, edges);
	suite_add_tcase(s, t);
	return s;
}
