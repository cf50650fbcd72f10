/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/rotation.h"
#include "random.h"

#include <check.h>
#include <math.h>
#include <string.h>

#define CASES 100000

/* ---- rotations as matrices, computed another way ---- */

struct matrix {
	double m[3][3];
};

static struct matrix multiply(struct matrix a, struct matrix b)
{
	struct matrix c = {{{0}}};

	for (int row = 0; row < 3; row++)
		for (int column = 0; column < 3; column++)
			for (int i = 0; i < 3; i++)
				c.m[row][column] += a.m[row][i] * b.m[i][column];
	return c;
}

/* Returns a rotation about an axis. It turns the first of the other two axes towards the second. */
static struct matrix about(int axis, double degrees)
{
	double angle = fmod(degrees, 360) * M_PI / 180;
	int first = (axis + 1) % 3, second = (axis + 2) % 3;
	struct matrix r = {{{0}}};

	r.m[axis][axis] = 1;
	r.m[first][first] = r.m[second][second] = cos(angle);
	r.m[second][first] = sin(angle);
	r.m[first][second] = -sin(angle);
	return r;
}

static struct matrix of_euler(const double e[3])
{
	return multiply(multiply(about(2, e[2]), about(1, e[1])), about(0, e[0]));
}

static struct matrix of_quaternion(const double q[4])
{
	double s = 2 / (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
	double x = q[0], y = q[1], z = q[2], w = q[3];

	return (struct matrix){
		{{1 - s * (y * y + z * z), s * (x * y - w * z), s * (x * z + w * y)},
		 {s * (x * y + w * z), 1 - s * (x * x + z * z), s * (y * z - w * x)},
		 {s * (x * z - w * y), s * (y * z + w * x), 1 - s * (x * x + y * y)}}};
}

static double apart(struct matrix a, struct matrix b)
{
	double most = 0;

	for (int row = 0; row < 3; row++)
		for (int column = 0; column < 3; column++)
			most = fmax(most, fabs(a.m[row][column] - b.m[row][column]));
	return most;
}

/* ---- random rotations, the same in every run ---- */

/* Returns a random number from -1 to 1. */
static double any(void)
{
	return (double)(random_bits() >> 11) * 0x1p-52 - 1;
}

static void any_euler(double e[3])
{
	for (int axis = 0; axis < 3; axis++)
		e[axis] = any() * 1000;
	/* Every second rotation has a special angle. */
	if (any() > 0)
		e[(int)(any() * 1.5 + 1.5) % 3] = rint(any() * 8) * 90 + rint(any()) * any() * 1e-5;
}

static void any_quaternion(double q[4])
{
	double length = exp2(any() * 10);

	for (int axis = 0; axis < 4; axis++)
		q[axis] = any() * length;
	if (any() > 0)
		q[(int)(any() * 2 + 2) % 4] = 0;
	if (any() > 0)
		q[(int)(any() * 2 + 2) % 4] = 0;
	if (q[0] == 0 && q[1] == 0 && q[2] == 0)
		q[3] = length;
}

static const double none[4] = {0, 0, 0, 1};

START_TEST(euler_angles_as_a_quaternion)
{
	random_state = 1;
	for (int i = 0; i < CASES; i++) {
		double e[3], near[4], q[4];

		any_euler(e);
		any_quaternion(near);
		rotation_quaternion(e, near, q);
		ck_assert_msg(apart(of_euler(e), of_quaternion(q)) < 1e-12, "%.17g %.17g %.17g",
			      e[0], e[1], e[2]);
		ck_assert(fabs(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3] - 1) < 1e-14);
		ck_assert(q[0] * near[0] + q[1] * near[1] + q[2] * near[2] + q[3] * near[3] >=
			  -1e-12);
	}
}
END_TEST

static double distance(const double a[3], const double b[3])
{
	return (a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) +
	       (a[2] - b[2]) * (a[2] - b[2]);
}

/*
 * Computes an equivalent of e by its number: of two solutions, with each angle a turn less, equal,
 * or a turn more.
 */
static void equivalent(const double e[3], int number, double out[3])
{
	bool second = number / 27;

	for (int axis = 0; axis < 3; axis++, number /= 3)
		out[axis] = (second ? (axis == 1 ? 180 - e[axis] : e[axis] + 180) : e[axis]) +
			    360 * (number % 3 - 1);
}

START_TEST(a_quaternion_as_the_nearest_euler_angles)
{
	random_state = 2;
	for (int i = 0; i < CASES; i++) {
		double near[3], q[4], e[3], other[3], least = INFINITY;

		any_euler(near);
		any_quaternion(q);
		rotation_euler(q, near, e);
		ck_assert_msg(apart(of_euler(e), of_quaternion(q)) < 1e-6,
			      "%.17g %.17g %.17g %.17g: %.17g %.17g %.17g, off by %g", q[0], q[1],
			      q[2], q[3], e[0], e[1], e[2], apart(of_euler(e), of_quaternion(q)));
		for (int number = 0; number < 54; number++) {
			equivalent(e, number, other);
			least = fmin(least, distance(other, near));
		}
		ck_assert(distance(e, near) <= least + 1e-6);
	}
}
END_TEST

START_TEST(there_and_back_is_where_it_was)
{
	random_state = 3;
	for (int i = 0; i < CASES; i++) {
		double e[3], q[4], back[3];

		any_euler(e);
		rotation_quaternion(e, none, q);
		rotation_euler(q, e, back);
		for (int axis = 0; axis < 3; axis++)
			ck_assert_msg(fabs(back[axis] - e[axis]) < 1e-4, "%.17g %.17g %.17g: %.17g",
				      e[0], e[1], e[2], back[axis]);
	}
}
END_TEST

/*
 * Quaternions are stored as float32, also where only the sum or the difference of two angles is
 * defined.
 */
START_TEST(float32_quaternions_come_back_near_to_what_they_were)
{
	random_state = 4;
	for (int i = 0; i < CASES; i++) {
		double e[3], q[4], back[3];

		any_euler(e);
		rotation_quaternion(e, none, q);
		for (int axis = 0; axis < 4; axis++)
			q[axis] = (double)(float)q[axis];
		rotation_euler(q, e, back);
		ck_assert(apart(of_euler(back), of_euler(e)) < 1e-6);
	}
}
END_TEST

START_TEST(round_angles_are_round_numbers)
{
	static const struct {
		double e[3], q[4];
	} cases[] = {
		{{0, 0, 0}, {0, 0, 0, 1}},
		{{180, 0, 0}, {1, 0, 0, 0}},
		{{0, 180, 0}, {0, 1, 0, 0}},
		{{0, 0, 180}, {0, 0, 1, 0}},
		{{360, -720, 0}, {0, 0, 0, 1}},
		{{90, 0, 90}, {0.5, 0.5, 0.5, 0.5}},
		{{0, 90, 0}, {0, M_SQRT1_2, 0, M_SQRT1_2}},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		double q[4], e[3];

		rotation_quaternion(cases[i].e, cases[i].q, q);
		for (int axis = 0; axis < 4; axis++) {
			ck_assert(fabs(q[axis] - cases[i].q[axis]) < 2e-16);
			ck_assert(cases[i].q[axis] != 0 || (q[axis] == 0 && !signbit(q[axis])));
		}
		rotation_euler(cases[i].q, cases[i].e, e);
		for (int axis = 0; axis < 3; axis++)
			ck_assert_msg(e[axis] == cases[i].e[axis] &&
					      !(e[axis] == 0 && signbit(e[axis])),
				      "%zu: %.17g", i, e[axis]);
	}
}
END_TEST

START_TEST(a_quaternion_of_any_length_is_a_rotation)
{
	static const double lengths[] = {1e-40, 0.5, 1, 3e38};

	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
		double q[4] = {0, 0.6 * lengths[i], 0, -0.8 * lengths[i]}, e[3];

		rotation_euler(q, none, e);
		ck_assert(e[0] == 0 && e[2] == 0);
		ck_assert(fabs(e[1] + 2 * atan2(0.6, 0.8) * 180 / M_PI) < 1e-12);
	}
}
END_TEST

START_TEST(a_quaternion_of_no_length_turns_nothing)
{
	double e[3];

	rotation_euler((double[]){0, 0, 0, -0.0}, (double[]){350, 0, -10}, e);
	ck_assert(e[0] == 360 && e[1] == 0 && e[2] == 0);
}
END_TEST

START_TEST(what_is_not_finite_is_nan)
{
	static const double odd[] = {(double)NAN, (double)INFINITY, (double)-INFINITY};

	for (size_t i = 0; i < ARRAY_SIZE(odd); i++) {
		for (int at = 0; at < 4; at++) {
			double q[4] = {0.1, 0.2, -0.3, 0.4}, e[4] = {1, 2, 3, 4}, out[4];

			q[at] = odd[i];
			rotation_euler(q, none, out);
			ck_assert(isnan(out[0]) && isnan(out[1]) && isnan(out[2]));
			e[at] = odd[i];
			rotation_quaternion(e, none, out);
			ck_assert(at == 3 || (isnan(out[0]) && isnan(out[3])));
		}
	}
}
END_TEST

/* Beyond some angle, the turns would leave no digits for the degrees. */
START_TEST(angles_that_are_very_far_attract_nothing)
{
	double e[3];

	rotation_euler((double[]){0, 0, 0, 1}, (double[]){36000, 1e30, 1e6}, e);
	ck_assert(e[0] == 36000 && e[1] == 0 && e[2] == 0);
}
END_TEST

/* ---- curves ---- */

#define KEYS 721

static double values[KEYS * 4];
static struct arena arena;

static struct curve curve_of(enum curve_kind kind, uint32_t count)
{
	return (struct curve){.kind = kind,
			      .keyed = true,
			      .count = count,
			      .lane = {{.unit = 1}, {.unit = 1}, {.unit = 1}, {.unit = 1}},
			      .values = values};
}

/* A rotation about any axis, one degree per key, for many turns: none of the angles ever jumps. */
START_TEST(turning_is_continuous)
{
	struct curve euler = curve_of(CURVE_EULER, KEYS);
	const struct curve *q, *back;

	for (int key = 0; key < KEYS; key++) {
		values[3 * key] = _i == 0 ? key : 30;
		values[3 * key + 1] = _i == 1 ? key : 20;
		values[3 * key + 2] = _i == 2 ? -key : -10;
	}
	q = rotation_convert(&euler, CURVE_QUATERNION, &arena);
	ck_assert(q && q->kind == CURVE_QUATERNION && q->keyed && q->count == KEYS);
	for (uint32_t key = 1; key < KEYS; key++)
		for (unsigned axis = 0; axis < 4; axis++)
			ck_assert(fabs(curve_value(q, key, axis) - curve_value(q, key - 1, axis)) <
				  0.01);
	back = rotation_convert(q, CURVE_EULER, &arena);
	for (uint32_t key = 0; key < KEYS; key++)
		for (unsigned axis = 0; axis < 3; axis++)
			ck_assert_msg(fabs(curve_value(back, key, axis) - values[3 * key + axis]) <
					      1e-6,
				      "key %u: %.9g", key, curve_value(back, key, axis));
	arena_release(&arena);
}
END_TEST

START_TEST(equal_keys_stay_equal)
{
	/* A quaternion whose ry is as near to 90 as float32 allows. */
	static const double q[4] = {(double)0.123456f, (double)0.69624614f, (double)-0.123456f,
				    (double)0.69624614f};
	struct curve c = curve_of(CURVE_QUATERNION, 3);
	const struct curve *e;

	for (int key = 0; key < 3; key++)
		memcpy(&values[4 * key], q, sizeof(q));
	e = rotation_convert(&c, CURVE_EULER, &arena);
	ck_assert(memcmp(e->values, e->values + 3, 3 * sizeof(double)) == 0);
	ck_assert(memcmp(e->values, e->values + 6, 3 * sizeof(double)) == 0);
	arena_release(&arena);
}
END_TEST

START_TEST(a_key_that_is_not_finite_is_no_guide)
{
	struct curve c = curve_of(CURVE_QUATERNION, 3);
	const struct curve *e;

	memset(values, 0, sizeof(values));
	rotation_quaternion((double[]){170, 0, 0}, none, values);
	values[4] = (double)NAN;
	rotation_quaternion((double[]){190, 0, 0}, none, values + 8);
	e = rotation_convert(&c, CURVE_EULER, &arena);
	ck_assert(isnan(curve_value(e, 1, 0)));
	ck_assert(fabs(curve_value(e, 2, 0) - 190) < 1e-9);
	arena_release(&arena);
}
END_TEST

static const uint32_t frames[] = {2, 5, 5, 9};

/* Edits of a curve with repeated frames: keys kept, changed, removed and added. */
START_TEST(the_way_back_keeps_what_was_not_changed)
{
	static double edited_values[3 * 4];
	static const uint32_t edited_frames[] = {2, 5, 7, 9};
	struct curve stored = curve_of(CURVE_QUATERNION, 4), edited;
	const struct curve *served, *back;

	stored.frames = frames;
	stored.interpolation = INTERPOLATION_STEP;
	for (int key = 0; key < 4; key++) {
		rotation_quaternion((double[]){10 * key, 0, 0}, none, values + 4 * key);
		for (int axis = 0; axis < 4; axis++)
			values[4 * key + axis] *= key == 1 ? -1.5 : 1.25;
	}
	served = rotation_convert(&stored, CURVE_EULER, &arena);
	edited = *served;
	edited.frames = edited_frames;
	edited.values = edited_values;
	memcpy(edited_values, served->values, sizeof(edited_values));
	edited_values[3] = 11; /* changes the first key in frame 5 */
	back = rotation_restore(&edited, served, &stored, CURVE_QUATERNION, &arena);
	ck_assert(back->kind == CURVE_QUATERNION && back->interpolation == INTERPOLATION_STEP);
	ck_assert(back->count == 4 && curve_frame(back, 2) == 7);
	ck_assert(memcmp(back->values, values, 4 * sizeof(double)) == 0);
	ck_assert(memcmp(back->values + 12, values + 12, 4 * sizeof(double)) == 0);
	/* The changed key takes the sign of the old one, and so does the new key after it. */
	ck_assert(fabs(curve_value(back, 1, 3) + cos(5.5 * M_PI / 180)) < 1e-12);
	ck_assert(fabs(curve_value(back, 2, 3) + cos(10 * M_PI / 180)) < 1e-12);
	arena_release(&arena);
}
END_TEST

START_TEST(angles_are_stored_near_to_what_was_there)
{
	struct curve stored = curve_of(CURVE_EULER, 2), edited;
	static double edited_values[4 * 3];
	const struct curve *served, *back;

	memcpy(values, (double[]){730, 5, 7, 350, 0, 0}, 6 * sizeof(double));
	served = rotation_convert(&stored, CURVE_QUATERNION, &arena);
	edited = *served;
	edited.count = 3;
	edited.values = edited_values;
	memcpy(edited_values, served->values, 8 * sizeof(double));
	rotation_quaternion((double[]){20, 5, 7}, none, edited_values);
	rotation_quaternion((double[]){5, 0, 0}, none, edited_values + 8);
	back = rotation_restore(&edited, served, &stored, CURVE_EULER, &arena);
	ck_assert(fabs(curve_value(back, 0, 0) - 740) < 1e-9);
	ck_assert(curve_value(back, 1, 0) == 350);
	ck_assert(fabs(curve_value(back, 2, 0) - 365) < 1e-9);
	arena_release(&arena);
}
END_TEST

Suite *rotation_suite(void);

Suite *rotation_suite(void)
{
	Suite *s = suite_create("rotation");
	TCase *one = tcase_create("one"), *curves = tcase_create("curves");

	tcase_add_test(one, euler_angles_as_a_quaternion);
	tcase_add_test(one, a_quaternion_as_the_nearest_euler_angles);
	tcase_add_test(one, there_and_back_is_where_it_was);
	tcase_add_test(one, float32_quaternions_come_back_near_to_what_they_were);
	tcase_add_test(one, round_angles_are_round_numbers);
	tcase_add_test(one, a_quaternion_of_any_length_is_a_rotation);
	tcase_add_test(one, a_quaternion_of_no_length_turns_nothing);
	tcase_add_test(one, what_is_not_finite_is_nan);
	tcase_add_test(one, angles_that_are_very_far_attract_nothing);
	suite_add_tcase(s, one);
	tcase_add_loop_test(curves, turning_is_continuous, 0, 3);
	tcase_add_test(curves, equal_keys_stay_equal);
	tcase_add_test(curves, a_key_that_is_not_finite_is_no_guide);
	tcase_add_test(curves, the_way_back_keeps_what_was_not_changed);
	tcase_add_test(curves, angles_are_stored_near_to_what_was_there);
	suite_add_tcase(s, curves);
	return s;
}
