/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "codec/smallest3.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DEGREES (180 / 3.14159265358979323846)
#define SPAN 1.41421

static void put_code(uint8_t *code, unsigned a, unsigned b, unsigned c)
{
	put_u16(code, (uint16_t)a);
	put_u16(code + 2, (uint16_t)b);
	put_u16(code + 4, (uint16_t)c);
}

static unsigned code_slot(const uint8_t *code)
{
	return (unsigned)(get_u16(code) >> 15 | get_u16(code + 2) >> 15 << 1);
}

/* ---- decoding ---- */

START_TEST(test_vectors)
{
	static const struct {
		unsigned a, b, c;
		double q[4], near;
	} vectors[] = {
		{0xC000, 0xC000, 0x8000, {0, 0, 0, 1}, 0},
		{0x4000, 0x4000, 0x8000, {1, 0, 0, 0}, 0},
		{0xC000, 0x4000, 0x8000, {0, 1, 0, 0}, 0},
		{0x4000, 0xC000, 0x8000, {0, 0, 1, 0}, 0},
		{0x8000, 0xC000, 0x8000, {-0.707105, 0, 0, 0.707108562}, 1e-9},
		{0xED41, 0xED41, 0xDA82, {0.49998849, 0.49998849, 0.49998849, 0.500034528}, 1e-8},
		{0x1234,
		 0xABCD,
		 0x5678,
		 {-0.505987489, -0.223171384, 0.800957787, -0.229429332},
		 1e-9},
		/* Three components of length 1 or more leave nothing for the fourth, which is 0. */
		{0x8000, 0x8000, 0x0000, {-0.707105, -0.707105, -0.707105, 0}, 0},
	};
	uint8_t code[SMALLEST3_SIZE];
	double q[4];

	for (size_t i = 0; i < ARRAY_SIZE(vectors); i++) {
		put_code(code, vectors[i].a, vectors[i].b, vectors[i].c);
		smallest3_decode(code, q);
		for (unsigned axis = 0; axis < 4; axis++)
			ck_assert_msg(fabs(q[axis] - vectors[i].q[axis]) <= vectors[i].near,
				      "vector %zu, axis %u: %.12g", i, axis, q[axis]);
	}
}
END_TEST

/* Decodes a code by the plain words of the format's description. */
static void decode_plainly(const uint8_t *code, double q[4])
{
	unsigned a = get_u16(code), b = get_u16(code + 2), c = get_u16(code + 4);
	double x = SPAN * ((int)(a & 0x7FFF) - 0x4000) / 0x8000;
	double y = SPAN * ((int)(b & 0x7FFF) - 0x4000) / 0x8000;
	double z = SPAN * ((int)c - 0x8000) / 0x10000;
	double rest = 1 - x * x - y * y - z * z, w = rest > 0 ? sqrt(rest) : 0;
	const double orders[4][4] = {{w, x, y, z}, {x, w, y, z}, {x, y, w, z}, {x, y, z, w}};

	memcpy(q, orders[code_slot(code)], 4 * sizeof(double));
}

START_TEST(test_every_third_number)
{
	static const unsigned ends[] = {0, 1, 0x3FFF, 0x4000, 0x4001, 0x7FFE, 0x7FFF};
	uint8_t code[SMALLEST3_SIZE];
	double q[4], plain[4];

	for (unsigned i = 0; i < 4 * ARRAY_SIZE(ends) * ARRAY_SIZE(ends); i++) {
		unsigned slot = i % 4, a = ends[i / 4 % ARRAY_SIZE(ends)];
		unsigned b = ends[i / 4 / ARRAY_SIZE(ends)];

		for (unsigned c = 0; c <= 0xFFFF; c++) {
			put_code(code, a | (slot & 1) << 15, b | slot >> 1 << 15, c);
			smallest3_decode(code, q);
			decode_plainly(code, plain);
			if (memcmp(q, plain, sizeof(q)) != 0)
				ck_abort_msg("%04x %04x %04x", a, b, c);
		}
	}
}
END_TEST

/* ---- encoding ---- */

static double distance(const double q[4], const uint8_t *code, double *degrees)
{
	double back[4], dot = 0, sign, worst = 0;

	smallest3_decode(code, back);
	for (unsigned axis = 0; axis < 4; axis++)
		dot += q[axis] * back[axis];
	sign = dot < 0 ? -1 : 1;
	*degrees = 0;
	for (unsigned axis = 0; axis < 4; axis++) {
		double off = fabs(q[axis] - sign * back[axis]);

		worst = fmax(worst, off);
		*degrees += off * off;
	}
	*degrees = 4 * asin(sqrt(*degrees) / 2) * DEGREES;
	return worst;
}

static void normalise(double q[4])
{
	double length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);

	for (unsigned axis = 0; axis < 4; axis++)
		q[axis] /= length;
}

static void random_unit(double q[4])
{
	double length;

	do {
		length = 0;
		for (unsigned axis = 0; axis < 4; axis++) {
			q[axis] = 2 * drand48() - 1;
			length += q[axis] * q[axis];
		}
	} while (length > 1 || length < 0.01);
	normalise(q);
}

static void random_code(uint8_t *code)
{
	put_code(code, (unsigned)lrand48() & 0xFFFF, (unsigned)lrand48() & 0xFFFF,
		 (unsigned)lrand48() & 0xFFFF);
}

/*
 * No rotation of a million is stored farther away than the lane allows, whether it keeps an old
 * slot or not.
 */
START_TEST(test_error_is_bounded)
{
	double q[4], degrees, worst = 0, worst_degrees = 0;
	uint8_t old[SMALLEST3_SIZE], code[SMALLEST3_SIZE];

	srand48(1);
	for (unsigned i = 0; i < 1000000; i++) {
		random_unit(q);
		random_code(old);
		smallest3_encode(q, i % 2 ? old : NULL, code);
		worst = fmax(worst, distance(q, code, &degrees));
		worst_degrees = fmax(worst_degrees, degrees);
	}
	ck_assert_double_lt(worst, (double)SMALLEST3_ERROR);
	ck_assert_double_lt(worst_degrees, 0.00745);
	ck_assert_double_gt(worst, 4.5e-5);
}
END_TEST

/*
 * The worst rotation: half a step off in all three components, the fourth as small as is allowed.
 */
START_TEST(test_bound_is_no_more_than_a_hair_above_the_worst)
{
	uint8_t old[SMALLEST3_SIZE], code[SMALLEST3_SIZE];
	double worst = 0, most = 0, degrees;

	for (int off = -200; off <= 200; off++) {
		double ab = floor(1 / sqrt(3) / SPAN * 0x8000) + off + 0.4999;
		double q[4] = {SPAN * ab / 0x8000, SPAN * ab / 0x8000, 0, 0.5};

		for (int k = -400; k <= 400; k++) {
			double c = floor(0.5 / sqrt(3) / SPAN * 0x10000) + k + 0.4999;
			double rest;

			q[2] = SPAN * c / 0x10000;
			rest = 1 - q[0] * q[0] - q[1] * q[1] - q[2] * q[2];
			if (rest < 0.25)
				continue;
			q[3] = sqrt(rest);
			put_code(old, 0xC000, 0xC000, 0x8000);
			smallest3_encode(q, old, code);
			ck_assert_uint_eq(code_slot(code), 3);
			worst = fmax(worst, distance(q, code, &degrees));
			most = fmax(most, degrees);
		}
	}
	ck_assert_double_lt(worst, (double)SMALLEST3_ERROR);
	ck_assert_double_gt(worst, (double)SMALLEST3_ERROR - 1e-7);
	ck_assert_double_lt(most, 0.00743);
	ck_assert_double_gt(most, 0.0073);
}
END_TEST

/* Components of 1/sqrt(2) are just outside of the codes and are clamped; the error is no larger. */
START_TEST(test_clamped_components)
{
	double degrees, h = sqrt(0.5);
	uint8_t code[SMALLEST3_SIZE];

	for (unsigned i = 0; i < 4; i++) {
		for (unsigned j = 0; j < 4; j++) {
			for (int sign = 0; sign < 4 && i != j; sign++) {
				double q[4] = {0};

				q[i] = sign & 1 ? h : -h;
				q[j] = sign & 2 ? h : -h;
				smallest3_encode(q, NULL, code);
				ck_assert_double_lt(distance(q, code, &degrees),
						    (double)SMALLEST3_ERROR);
				ck_assert_double_lt(degrees, 0.0074);
			}
		}
	}
}
END_TEST

/* Each component is rounded to the nearest k: no neighbouring code is nearer. */
START_TEST(test_rounds_to_nearest)
{
	double q[4], back[4];
	uint8_t code[SMALLEST3_SIZE];

	srand48(2);
	for (unsigned i = 0; i < 100000; i++) {
		unsigned axis = 0, slot;
		double sign;

		random_unit(q);
		smallest3_encode(q, NULL, code);
		smallest3_decode(code, back);
		slot = code_slot(code);
		sign = q[slot] < 0 ? -1 : 1;
		for (unsigned k = 0; k < 3; k++, axis++) {
			double half = SPAN / (k < 2 ? 0x10000 : 0x20000);

			axis += axis == slot;
			if (fabs(q[axis]) < 0.707)
				ck_assert_double_le(fabs(sign * q[axis] - back[axis]),
						    half * (1 + 1e-9));
		}
	}
}
END_TEST

/* A rotation that is typed as it was shown keeps its code, if an encoder would make that code. */
START_TEST(test_canonical_codes_come_back)
{
	uint8_t code[SMALLEST3_SIZE], again[SMALLEST3_SIZE];
	double q[4];
	unsigned canonical = 0;

	srand48(3);
	for (unsigned i = 0; i < 200000; i++) {
		unsigned slot;

		random_code(code);
		smallest3_decode(code, q);
		slot = code_slot(code);
		if (q[slot] < 0.5)
			continue;
		canonical++;
		smallest3_encode(q, code, again);
		ck_assert_mem_eq(again, code, SMALLEST3_SIZE);
	}
	ck_assert_uint_gt(canonical, 100000);
}
END_TEST

START_TEST(test_slot_is_kept_where_it_serves)
{
	uint8_t old[SMALLEST3_SIZE], code[SMALLEST3_SIZE];
	const double even[4] = {0.5, -0.5, 0.5, -0.5};
	const double far[4] = {0.8, 0.6, 0, 0}; /* 0.8 only fits if x is dropped, and it is not */
	const double small[4] = {0.6, 0.64, 0.48, 0}; /* w, which is dropped, is too near to 0 */

	for (unsigned slot = 0; slot < 4; slot++) {
		put_code(old, (slot & 1) << 15, slot >> 1 << 15, 0x8000);
		smallest3_encode(even, old, code);
		ck_assert_uint_eq(code_slot(code), slot);
		smallest3_encode(far, old, code);
		ck_assert_uint_eq(code_slot(code), 0);
		smallest3_encode(small, old, code);
		ck_assert_uint_eq(code_slot(code), slot < 2 ? slot : 1);
	}
}
END_TEST

/* The dropped component is never negative: instead, all components change sign. */
START_TEST(test_both_signs_have_one_code)
{
	uint8_t code[SMALLEST3_SIZE], other[SMALLEST3_SIZE];
	double q[4];

	srand48(4);
	for (unsigned i = 0; i < 10000; i++) {
		random_unit(q);
		smallest3_encode(q, NULL, code);
		for (unsigned axis = 0; axis < 4; axis++)
			q[axis] = -q[axis];
		smallest3_encode(q, NULL, other);
		ck_assert_mem_eq(code, other, SMALLEST3_SIZE);
	}
}
END_TEST

Suite *smallest3_suite(void);
Suite *smallest3_suite(void)
{
	Suite *s = suite_create("smallest3");
	TCase *tc = tcase_create("decode");

	tcase_add_test(tc, test_vectors);
	tcase_add_test(tc, test_every_third_number);
	suite_add_tcase(s, tc);
	tc = tcase_create("encode");
	tcase_add_test(tc, test_error_is_bounded);
	tcase_add_test(tc, test_bound_is_no_more_than_a_hair_above_the_worst);
	tcase_add_test(tc, test_clamped_components);
	tcase_add_test(tc, test_rounds_to_nearest);
	tcase_add_test(tc, test_canonical_codes_come_back);
	tcase_add_test(tc, test_slot_is_kept_where_it_serves);
	tcase_add_test(tc, test_both_signs_have_one_code);
	suite_add_tcase(s, tc);
	return s;
}
