/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/curve_edit.h"
#include "model/rotation.h"

#include <check.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct format dense_format = {.name = "dense", .rate = 60, .max_frames = 100};
static const struct format sparse_format = {
	.name = "sparse", .rate = 30, .sparse = true, .max_frames = 1000};

/* A model of one bone with one curve, and a text about that curve. */
static struct bench {
	struct anim anim;
	struct clip clip;
	struct track track;
	struct curve old;
	uint32_t frames[16];
	double values[16 * 4];
	struct curve_edit_role text;
	struct curve_edit_key keys[16];
	struct arena arena;
	const struct curve *now;
	struct err err;
} b;

static const struct lane plain = {.form = LANE_DOUBLE, .unit = 1};

static void bench_init(const struct format *format, uint32_t frames, enum role role,
		       enum curve_kind kind)
{
	arena_release(&b.arena);
	b = (struct bench){.anim = {.format = format},
			   .clip = {.frames = frames},
			   .track = {.roles = 7, .rotation = CURVE_EULER},
			   .old = {.kind = kind, .lane = {plain, plain, plain, plain}},
			   .text = {.role = role, .kind = kind, .is_static = -1}};
	b.text.columns = kind == CURVE_QUATERNION ? 15 : 7;
	b.text.keys = b.keys;
	b.old.values = b.values;
	if (role == ROLE_ROTATION)
		b.track.rotation = kind;
}

/* Adds an old key; a vector has the same number in all components. */
static void old_key(uint32_t frame, double x)
{
	uint32_t key = b.old.count++;

	b.old.keyed = true;
	b.track.curve[b.text.role] = &b.old;
	b.frames[key] = frame;
	if (b.anim.format->sparse)
		b.old.frames = b.frames;
	for (unsigned axis = 0; axis < 3; axis++)
		b.values[key * curve_width(&b.old) + axis] = x;
}

/*
 * Adds a row. `given`: bits of the components that the row has. The cell's place is 100 * row +
 * axis.
 */
static struct curve_edit_key *row(uint32_t frame, uint8_t given, double x, double y, double z)
{
	struct curve_edit_key *key = &b.keys[b.text.count++];

	*key = (struct curve_edit_key){
		.frame = frame, .given = given, .value = {x, y, z}, .row_at = 100 * b.text.count};
	for (unsigned axis = 0; axis < 4; axis++)
		key->at[axis] = key->row_at + 1 + axis;
	return key;
}

static bool apply(void)
{
	b.err = (struct err){0};
	return curve_edit_curve(&b.anim, &b.clip, &b.track, &b.text, &b.arena, &b.now, &b.err);
}

static void expect_refused(enum err_code code, size_t at, const char *message)
{
	ck_assert(!apply());
	ck_assert_str_eq(b.err.message, message);
	ck_assert_int_eq(b.err.code, code);
	ck_assert_uint_eq(b.err.at, at);
}

/* Checks the number of keys, and the x component of each. */
static void expect_keys(uint32_t count, const double *x)
{
	ck_assert_msg(apply(), "%s", b.err.message);
	ck_assert_ptr_nonnull(b.now);
	ck_assert_uint_eq(b.now->count, count);
	for (uint32_t key = 0; key < count; key++)
		ck_assert_double_eq(curve_value(b.now, key, 0), x[key]);
}
#define EXPECT_KEYS(...)                                                                           \
	expect_keys(sizeof((double[]){__VA_ARGS__}) / sizeof(double), (double[]){__VA_ARGS__})

static void expect_frames(uint32_t count, const uint32_t *frames)
{
	for (uint32_t key = 0; key < count; key++)
		ck_assert_uint_eq(curve_frame(b.now, key), frames[key]);
}
#define EXPECT_FRAMES(...)                                                                         \
	expect_frames(sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t),                        \
		      (uint32_t[]){__VA_ARGS__})

static const struct lane turning = {LANE_GRID, 0, 1, DEGREES_PER_STEP, 360, true};
static const struct lane counted = {LANE_GRID, -32768, 1, 1, 0, false};
static const struct format full_format = {.name = "full",
					  .rate = 30,
					  .full = true,
					  .max_frames = 1000,
					  .lanes = {&counted, &turning, NULL}};

/* Sets the lanes of all components of the old curve. */
static void old_lanes(const struct lane *lane)
{
	for (unsigned axis = 0; axis < 4; axis++)
		b.old.lane[axis] = *lane;
}

/* ---- cells ---- */

START_TEST(a_number_is_unchanged_at_15_digits)
{
	static const struct lane degrees = {.form = LANE_FLOAT, .unit = 57.29577951308232};
	static const struct lane metres = {.form = LANE_FLOAT, .unit = 1};
	static const struct lane grid = {LANE_GRID, -3.14159274f, 3e-6f, 57.29577951308232,
					 0,         false};
	double angle = degrees.unit * (double)0.1f;
	double turn = grid.unit * ((double)grid.base + 349066 * (double)grid.step);

	ck_assert(curve_edit_unchanged(0.1, (double)0.1f, &metres));
	ck_assert(curve_edit_unchanged(0.100000001490116, (double)0.1f, &metres));
	ck_assert(!curve_edit_unchanged(0.10000001, (double)0.1f, &metres));
	ck_assert(curve_edit_unchanged(0, -0.0, &metres));
	ck_assert(curve_edit_unchanged(1e-45, (double)0x1p-149f, &metres));
	ck_assert(curve_edit_unchanged(3.40282346638529e38, (double)FLT_MAX, &metres));
	/* The text of a computed value is rounded, and the rounded number counts as unchanged. */
	ck_assert(curve_edit_unchanged(5.729578, angle, &degrees));
	ck_assert(curve_edit_unchanged(angle, angle, &degrees));
	ck_assert(!curve_edit_unchanged(5.7295784, angle, &degrees));
	ck_assert(!curve_edit_unchanged(5.7295780001, angle, &degrees));
	/* A program that keeps floats writes nine digits, or as many as give the float back. */
	ck_assert(curve_edit_unchanged((double)5.729578f, angle, &degrees));
	ck_assert(curve_edit_unchanged(5.72957802, angle, &degrees));
	ck_assert(!curve_edit_unchanged(5.72957801, angle, &degrees));
	ck_assert(curve_edit_unchanged(0.707104981, 0.707105, &plain));
	ck_assert(curve_edit_unchanged(-0.707104981, -0.707105, &plain));
	ck_assert(!curve_edit_unchanged(0.707104981, -0.707105, &plain));
	ck_assert(!curve_edit_unchanged(0.70710499, 0.707105, &plain));
	ck_assert(curve_edit_unchanged(-120, -120, &grid));
	ck_assert(!curve_edit_unchanged(turn * (1 + 1e-9), turn, &grid));
}
END_TEST

START_TEST(numbers_that_are_not_finite_are_unchanged_by_kind)
{
	ck_assert(curve_edit_unchanged((double)NAN, (double)NAN, &plain));
	ck_assert(curve_edit_unchanged((double)INFINITY, (double)INFINITY, &plain));
	ck_assert(!curve_edit_unchanged((double)INFINITY, (double)-INFINITY, &plain));
	ck_assert(!curve_edit_unchanged((double)NAN, (double)INFINITY, &plain));
	ck_assert(!curve_edit_unchanged(1, (double)NAN, &plain));
	ck_assert(!curve_edit_unchanged(1e39, (double)INFINITY,
					&(struct lane){LANE_FLOAT, 0, 0, 1, 0, false}));
	/* A grid may reach further than float32, where texts are rounded more. */
	ck_assert(curve_edit_unchanged(2e40, 1.95e40,
				       &(struct lane){LANE_GRID, FLT_MAX, 1e-3f, 57.3, 0, false}));
}
END_TEST

START_TEST(a_blank_keeps_what_is_not_finite)
{
	bench_init(&dense_format, 1, ROLE_SCALE, CURVE_VECTOR);
	old_key(0, (double)NAN);
	row(0, 0, 0, 0, 0);
	ck_assert(apply() && b.now == &b.old);
	/* A number for another component of the key does not change the result. */
	b.keys[0].given = 1;
	b.keys[0].value[0] = 2;
	ck_assert(apply() && b.now != &b.old);
	ck_assert(curve_value(b.now, 0, 0) == 2 && isnan(curve_value(b.now, 0, 2)));
}
END_TEST

START_TEST(bits_are_stored_as_given)
{
	double payload = (double)f32_from_bits(0x7fc01234);

	bench_init(&dense_format, 1, ROLE_SCALE, CURVE_VECTOR);
	old_key(0, payload);
	row(0, 7, payload, payload, payload)->exact = 7;
	ck_assert(apply() && b.now == &b.old);
	b.keys[0].value[1] = (double)0.1f;
	ck_assert(apply() && b.now != &b.old);
	ck_assert(curve_value(b.now, 0, 1) == (double)0.1f);
	/* Another NaN cannot be typed either. */
	b.keys[0].value[1] = (double)f32_from_bits(0x7fc04321);
	expect_refused(ERR_TEXT, b.keys[0].at[1], "sy cannot become infinite or nan");
	b.keys[0].exact = 5;
	ck_assert(apply() && b.now == &b.old);
}
END_TEST

/* ---- dense ---- */

START_TEST(a_clip_of_one_frame_keeps_what_it_was)
{
	bench_init(&dense_format, 1, ROLE_SCALE, CURVE_VECTOR);
	old_key(0, 1);
	row(0, 7, 2, 2, 2);
	EXPECT_KEYS(2);
	ck_assert(b.now->keyed);
	b.old.keyed = false;
	EXPECT_KEYS(2);
	ck_assert(!b.now->keyed);
	b.track.curve[ROLE_SCALE] = NULL;
	EXPECT_KEYS(2);
	ck_assert(!b.now->keyed);
}
END_TEST

START_TEST(a_clip_without_frames_keeps_its_curves)
{
	bench_init(&dense_format, 0, ROLE_SCALE, CURVE_VECTOR);
	old_key(0, 1);
	ck_assert(apply() && b.now == &b.old);
	row(0, 7, 2, 2, 2);
	expect_refused(ERR_TEXT, 100, "frame 0 is not in the clip, which has 0 frames");
}
END_TEST

START_TEST(missing_columns_leave_their_components_alone)
{
	bench_init(&dense_format, 4, ROLE_SCALE, CURVE_VECTOR);
	for (uint32_t frame = 0; frame < 4; frame++)
		old_key(frame, frame * frame);
	b.text.columns = 1;
	row(0, 1, 1, 0, 0);
	row(3, 1, 4, 0, 0);
	EXPECT_KEYS(1, 2, 3, 4);
	for (uint32_t frame = 0; frame < 4; frame++)
		ck_assert(curve_value(b.now, frame, 2) == frame * frame);
	b.text.columns = 0;
	ck_assert(apply() && b.now == &b.old);
}
END_TEST

START_TEST(an_edited_curve_is_interpolated_as_it_was)
{
	bench_init(&dense_format, 1, ROLE_SCALE, CURVE_VECTOR);
	row(0, 7, 2, 2, 2);
	ck_assert(apply() && b.now->interpolation == INTERPOLATION_LINEAR);
	old_key(0, 1);
	b.old.interpolation = INTERPOLATION_STEP;
	ck_assert(apply() && b.now != &b.old && b.now->interpolation == INTERPOLATION_STEP);
}
END_TEST

START_TEST(static_can_be_asked_for)
{
	bench_init(&dense_format, 3, ROLE_SCALE, CURVE_VECTOR);
	for (uint32_t frame = 0; frame < 3; frame++)
		old_key(frame, 5);
	b.text.is_static = 1;
	row(0, 7, 5, 5, 5);
	EXPECT_KEYS(5);
	ck_assert(!b.now->keyed);
	row(2, 7, 5, 5, 5);
	EXPECT_KEYS(5);
	b.keys[1].value[1] = 6;
	expect_refused(ERR_TEXT, 202, "a static scale has one value, at frame 0");
	ck_assert_str_eq(b.err.accepted, "\"static\": false, with a key up to frame 2");
	b.text.is_static = 0;
	EXPECT_KEYS(5, 5, 5);
	ck_assert(curve_value(b.now, 1, 1) == 5.5);
}
END_TEST

/*
 * A key may stay because it is near enough to the typed value; the value that takes its place need
 * not be near.
 */
START_TEST(a_value_for_the_whole_clip_is_the_one_typed)
{
	bench_init(&dense_format, 2, ROLE_SCALE, CURVE_VECTOR);
	for (uint32_t frame = 0; frame < 2; frame++)
		old_key(frame, nextafter(5, 6));
	row(0, 7, 5, 5, 5);
	row(1, 7, 5, 5, 5);
	ck_assert(apply() && b.now == &b.old);
	b.text.is_static = 1;
	EXPECT_KEYS(5);
}
END_TEST

START_TEST(keyed_can_be_asked_for)
{
	bench_init(&dense_format, 1, ROLE_SCALE, CURVE_VECTOR);
	b.text.is_static = 0;
	row(0, 7, 1, 1, 1);
	EXPECT_KEYS(1);
	ck_assert(b.now->keyed);
	b.clip.frames = 3;
	expect_refused(ERR_TEXT, 100, "frame 2 is missing, the last that the scale needs");
}
END_TEST

START_TEST(a_gap_beside_a_value_that_is_not_finite_is_refused)
{
	bench_init(&dense_format, 3, ROLE_SCALE, CURVE_VECTOR);
	old_key(0, 1);
	old_key(1, 1);
	old_key(2, (double)NAN);
	row(0, 7, 1, 1, 1);
	row(2, 0, 0, 0, 0);
	expect_refused(ERR_TEXT, 200,
		       "sx cannot be filled in between frames 0 and 2: one of them is not finite");
}
END_TEST

START_TEST(more_frames_than_the_format_has_are_refused_before_memory_is_asked_for)
{
	bench_init(&dense_format, UINT32_MAX, ROLE_SCALE, CURVE_VECTOR);
	row(0, 7, 1, 1, 1);
	row(UINT32_MAX - 1, 7, 1, 1, 1);
	expect_refused(ERR_STORE, 200, "dense has keys in at most 100 frames");
}
END_TEST

START_TEST(an_unchanged_quaternion_need_not_be_of_unit_length)
{
	bench_init(&dense_format, 1, ROLE_ROTATION, CURVE_QUATERNION);
	old_key(0, 3);
	row(0, 15, 3, 3, 3);
	ck_assert(apply() && b.now == &b.old);
	b.keys[0].value[3] = 1;
	expect_refused(ERR_TEXT, 101, "the quaternion has length 5.2915, not 1");
}
END_TEST

/* ---- dense and full: every curve has a key in every frame ---- */

static void full_bench(enum role role, enum curve_kind kind, const struct lane *lane)
{
	bench_init(&full_format, 5, role, kind);
	old_lanes(lane);
	for (uint32_t frame = 0; frame < 5; frame++)
		old_key(frame, 90);
}

START_TEST(one_value_of_a_full_curve_is_for_every_frame)
{
	full_bench(ROLE_TRANSLATION, CURVE_VECTOR, &counted);
	b.text.is_static = 1;
	row(0, 7, 7, 7, 7);
	EXPECT_KEYS(7, 7, 7, 7, 7);
	ck_assert(b.now->keyed);
	/* The rows after it exist, but are blank. */
	b.text.is_static = -1;
	for (uint32_t frame = 1; frame < 5; frame++)
		row(frame, 0, 0, 0, 0);
	EXPECT_KEYS(7, 7, 7, 7, 7);
	b.text.count = 3;
	expect_refused(ERR_TEXT, 300, "frame 4 is missing, the last that the translation needs");
}
END_TEST

START_TEST(a_full_curve_cannot_be_removed)
{
	full_bench(ROLE_TRANSLATION, CURVE_VECTOR, &counted);
	b.track.label = "bone_000";
	for (uint32_t frame = 0; frame < 5; frame++)
		row(frame, 0, 0, 0, 0);
	expect_refused(
		ERR_STORE, 0,
		"full stores a translation of bone_000 in every frame: it cannot be removed");
}
END_TEST

START_TEST(angles_that_turn_are_filled_the_shorter_way)
{
	full_bench(ROLE_ROTATION, CURVE_EULER, &turning);
	row(0, 7, 350, 350, 10);
	row(4, 7, 10, 330, 350);
	ck_assert(apply());
	for (uint32_t key = 0; key < 5; key++) {
		ck_assert_double_eq_tol(curve_value(b.now, key, 0), key < 4 ? 350 + 5.0 * key : 10,
					1e-9);
		ck_assert_double_eq_tol(curve_value(b.now, key, 1), 350 - 5.0 * key, 1e-9);
		ck_assert_double_eq_tol(curve_value(b.now, key, 2), key < 4 ? 10 - 5.0 * key : 350,
					1e-9);
	}
}
END_TEST

START_TEST(what_lies_past_a_fixed_grid_is_refused_where_it_stands)
{
	full_bench(ROLE_TRANSLATION, CURVE_VECTOR, &counted);
	for (uint32_t frame = 0; frame < 5; frame++)
		row(frame, 7, 32767.4, -32768.4, 0);
	ck_assert(apply());
	b.keys[2].value[1] = -32769;
	expect_refused(ERR_STORE, 302, "full cannot store -32769 as ty");
	ck_assert_str_eq(b.err.accepted, "a number from -32768 to 32767");
	/* An angle is never too large to be stored. */
	full_bench(ROLE_ROTATION, CURVE_EULER, &turning);
	for (uint32_t frame = 0; frame < 5; frame++)
		row(frame, 7, 1e6, -1e6, 0);
	ck_assert(apply());
}
END_TEST

/* ---- sparse ---- */

static void sparse_bench(void)
{
	bench_init(&sparse_format, 10, ROLE_TRANSLATION, CURVE_VECTOR);
	old_key(0, 1);
	old_key(3, 2);
	old_key(3, 3);
	old_key(7, 4);
}

static void sparse_rows(void)
{
	row(0, 7, 1, 1, 1);
	row(3, 7, 2, 2, 2);
	row(3, 7, 3, 3, 3);
	row(7, 7, 4, 4, 4);
}

START_TEST(sparse_rows_are_matched_by_frame_and_occurrence)
{
	sparse_bench();
	sparse_rows();
	ck_assert(apply() && b.now == &b.old);
	b.keys[2].value[0] = 9;
	EXPECT_KEYS(1, 2, 9, 4);
	EXPECT_FRAMES(0, 3, 3, 7);
}
END_TEST

START_TEST(sparse_rows_may_stand_in_any_order)
{
	sparse_bench();
	row(7, 7, 4, 4, 4);
	row(3, 7, 2, 2, 2);
	row(0, 7, 1, 1, 1);
	row(3, 7, 3, 3, 3);
	ck_assert(apply() && b.now == &b.old);
}
END_TEST

START_TEST(a_sparse_row_more_is_a_key_more)
{
	sparse_bench();
	sparse_rows();
	row(5, 7, 8, 8, 8);
	EXPECT_KEYS(1, 2, 3, 8, 4);
	EXPECT_FRAMES(0, 3, 3, 5, 7);
}
END_TEST

START_TEST(a_sparse_row_or_cell_less_is_a_key_less)
{
	sparse_bench();
	row(0, 7, 1, 1, 1);
	row(3, 0, 0, 0, 0);
	row(3, 7, 3, 3, 3);
	EXPECT_KEYS(1, 3);
	EXPECT_FRAMES(0, 3);
	b.text.count = 0;
	row(3, 0, 0, 0, 0);
	ck_assert(apply() && !b.now);
}
END_TEST

START_TEST(a_sparse_frame_may_repeat_as_often_as_it_did)
{
	sparse_bench();
	sparse_rows();
	row(3, 7, 8, 8, 8);
	expect_refused(ERR_TEXT, 500, "frame 3 is given twice, first in line 1");
	b.keys[2].frame = 7; /* frames in order: 0 3 3 3 7 */
	b.keys[3].frame = 7;
	expect_refused(ERR_TEXT, 400, "frame 7 is given twice, first in line 1");
}
END_TEST

START_TEST(a_sparse_vector_is_given_whole)
{
	sparse_bench();
	row(0, 3, 1, 1, 1);
	expect_refused(ERR_TEXT, 103,
		       "tz of frame 0 is blank, but another part of its translation is given");
	/* A component without a column stays as it was; a new key has no old component. */
	b.text.columns = 3;
	b.keys[0].value[0] = 5;
	EXPECT_KEYS(5);
	ck_assert(curve_value(b.now, 0, 2) == 1);
	b.keys[0].frame = 1;
	expect_refused(ERR_TEXT, 100, "frame 1 gets a new key, but there is no column tz");
}
END_TEST

START_TEST(sparse_keys_past_the_end_survive)
{
	sparse_bench();
	b.clip.frames = 4;
	row(0, 7, 1, 1, 1);
	row(3, 7, 2, 2, 2);
	row(3, 7, 3, 3, 3);
	ck_assert(apply() && b.now == &b.old);
	b.text.count = 1;
	EXPECT_KEYS(1, 4);
	EXPECT_FRAMES(0, 7);
}
END_TEST

START_TEST(a_new_sparse_curve_has_the_keys_it_is_given)
{
	bench_init(&sparse_format, 10, ROLE_TRANSLATION, CURVE_VECTOR);
	row(4, 7, 1, 2, 3);
	EXPECT_KEYS(1);
	EXPECT_FRAMES(4);
	ck_assert(b.now->keyed && b.now->lane[0].form == LANE_DOUBLE);
}
END_TEST

START_TEST(a_static_sparse_curve_stays_static_with_one_key_in_the_first_frame)
{
	bench_init(&sparse_format, 10, ROLE_TRANSLATION, CURVE_VECTOR);
	old_key(0, 1);
	b.old.keyed = false;
	b.old.frames = NULL;
	row(0, 7, 1, 1, 1);
	ck_assert(apply() && b.now == &b.old);
	row(4, 7, 1, 1, 1);
	EXPECT_KEYS(1, 1);
	ck_assert(b.now->keyed);
	b.text.count = 1;
	b.keys[0].frame = 4;
	EXPECT_KEYS(1);
	ck_assert(b.now->keyed);
}
END_TEST

START_TEST(a_sparse_quaternion_is_normalised)
{
	bench_init(&sparse_format, 10, ROLE_ROTATION, CURVE_QUATERNION);
	row(0, 15, 0.6, 0, 0)->value[3] = 0.805;
	ck_assert(apply());
	ck_assert(fabs(curve_value(b.now, 0, 0) - 0.6 / hypot(0.6, 0.805)) < 1e-12);
	ck_assert(fabs(curve_value(b.now, 0, 3) - 0.805 / hypot(0.6, 0.805)) < 1e-12);
}
END_TEST

/* ---- rotations in the other form ---- */

static const double no_turn[4] = {0, 0, 0, 1};

/*
 * Sets up a bone with rotations of one kind, about x by 10 degrees per key, and a text of the other
 * kind.
 */
static void other_bench(const struct format *format, uint32_t frames, enum curve_kind stored)
{
	bool quaternion = stored == CURVE_QUATERNION;

	bench_init(format, frames, ROLE_ROTATION, stored);
	b.text.kind = quaternion ? CURVE_EULER : CURVE_QUATERNION;
	b.text.columns = quaternion ? 7 : 15;
}

static void old_turn(uint32_t frame, double rx)
{
	double *value = &b.values[b.old.count * curve_width(&b.old)];

	old_key(frame, 0);
	if (b.old.kind == CURVE_QUATERNION)
		rotation_quaternion((double[]){rx, 0, 0}, no_turn, value);
	else
		value[0] = rx;
}

static struct curve_edit_key *turn_row(uint32_t frame, double rx)
{
	struct curve_edit_key *key = row(frame, b.text.columns, rx, 0, 0);

	if (b.text.kind == CURVE_QUATERNION)
		rotation_quaternion((double[]){rx, 0, 0}, no_turn, key->value);
	return key;
}

/* Checks rotations about x in the stored kind, in degrees. */
static void expect_turns(enum curve_kind kind, uint32_t count, const double *rx)
{
	ck_assert_msg(apply(), "%s", b.err.message);
	ck_assert(b.now && b.now->kind == kind);
	ck_assert_uint_eq(b.now->count, count);
	for (uint32_t key = 0; key < count; key++) {
		double angle = curve_value(b.now, key, 0);

		if (kind == CURVE_QUATERNION)
			angle = 2 * atan2(angle, curve_value(b.now, key, 3)) * 180 / M_PI;
		ck_assert_msg(fabs(angle - rx[key]) < 1e-9, "key %u: %.12g", key, angle);
		ck_assert(fabs(curve_value(b.now, key, 1)) < 1e-12);
	}
}
#define EXPECT_TURNS(kind, ...)                                                                    \
	expect_turns(kind, sizeof((double[]){__VA_ARGS__}) / sizeof(double),                       \
		     (double[]){__VA_ARGS__})

static bool key_kept(uint32_t now, uint32_t old)
{
	size_t width = curve_width(&b.old);

	return memcmp(b.now->values + now * width, b.values + old * width,
		      width * sizeof(double)) == 0;
}

static const enum curve_kind both_kinds[] = {CURVE_EULER, CURVE_QUATERNION};

/* Adds rows for all old keys, as a text of the other kind shows them. */
static void served_rows(void)
{
	struct curve *served = rotation_convert(&b.old, b.text.kind, &b.arena);

	for (uint32_t key = 0; key < served->count; key++) {
		struct curve_edit_key *now = row(curve_frame(served, key), 0, 0, 0, 0);

		for (unsigned axis = 0; axis < curve_width(served); axis++) {
			now->value[axis] = curve_value(served, key, axis);
			now->given |= (uint8_t)(isfinite(now->value[axis]) << axis);
		}
	}
}

START_TEST(what_the_other_form_serves_changes_nothing)
{
	const struct format *format = _i / 2 ? &sparse_format : &dense_format;

	other_bench(format, 5, both_kinds[_i % 2]);
	for (uint32_t frame = 0; frame < 5; frame++)
		old_turn(frame, 100.0 * frame);
	/* Values that are no rotation, or have another length, or are a turn and a half away. */
	b.values[2 * curve_width(&b.old) + 1] = (double)NAN;
	for (unsigned axis = 0; axis < curve_width(&b.old); axis++)
		b.values[3 * curve_width(&b.old) + axis] *= -3;
	served_rows();
	ck_assert_msg(apply() && b.now == &b.old, "%s", b.err.message);
	b.text.columns = 1;
	ck_assert_msg(apply() && b.now == &b.old, "%s", b.err.message);
}
END_TEST

START_TEST(one_key_changed_in_the_other_form_leaves_the_others)
{
	const struct format *format = _i / 2 ? &sparse_format : &dense_format;
	enum curve_kind kind = both_kinds[_i % 2];

	other_bench(format, 3, kind);
	for (uint32_t frame = 0; frame < 3; frame++)
		old_turn(frame, 10.0 * frame);
	b.old.lane[0] = (struct lane){.form = LANE_FLOAT, .unit = 3};
	b.old.interpolation = INTERPOLATION_STEP;
	turn_row(0, 0);
	turn_row(1, 12);
	turn_row(2, 20);
	EXPECT_TURNS(kind, 0, 12, 20);
	ck_assert(key_kept(0, 0) && key_kept(2, 2));
	ck_assert(b.now->interpolation == INTERPOLATION_STEP);
	ck_assert(b.now->lane[0].form == LANE_FLOAT && b.now->lane[0].unit == 3);
}
END_TEST

START_TEST(keys_come_and_go_in_the_other_form)
{
	enum curve_kind kind = both_kinds[_i];

	other_bench(&sparse_format, 10, kind);
	old_turn(0, 5);
	old_turn(3, 15);
	old_turn(3, 25);
	turn_row(0, 5);
	turn_row(3, 15);
	turn_row(3, 25);
	turn_row(7, 30);
	EXPECT_TURNS(kind, 5, 15, 25, 30);
	EXPECT_FRAMES(0, 3, 3, 7);
	ck_assert(key_kept(0, 0) && key_kept(1, 1) && key_kept(2, 2));
	b.text.count = 2;
	EXPECT_TURNS(kind, 5, 15);
	ck_assert(key_kept(0, 0) && key_kept(1, 1));
	b.keys[0].given = b.keys[1].given = 0;
	ck_assert(apply() && !b.now);
}
END_TEST

START_TEST(gaps_are_filled_in_the_other_form)
{
	enum curve_kind kind = both_kinds[_i];

	other_bench(&dense_format, 4, kind);
	for (uint32_t frame = 0; frame < 4; frame++)
		old_turn(frame, 0);
	turn_row(0, 0);
	turn_row(3, 30);
	EXPECT_TURNS(kind, 0, 10, 20, 30);
}
END_TEST

START_TEST(a_static_rotation_in_the_other_form)
{
	enum curve_kind kind = both_kinds[_i];

	other_bench(&dense_format, 3, kind);
	old_turn(0, 10);
	b.old.keyed = false;
	turn_row(0, 10);
	ck_assert(apply() && b.now == &b.old);
	b.text.count = 0;
	turn_row(0, 11);
	EXPECT_TURNS(kind, 11);
	ck_assert(!b.now->keyed);
	turn_row(2, 13);
	EXPECT_TURNS(kind, 11, 12, 13);
	ck_assert(b.now->keyed);
}
END_TEST

START_TEST(a_new_rotation_is_stored_as_the_bone_stores_it)
{
	enum curve_kind kind = both_kinds[_i % 2];

	other_bench(_i / 2 ? &sparse_format : &dense_format, 2, kind);
	turn_row(0, 10);
	turn_row(1, 20);
	EXPECT_TURNS(kind, 10, 20);
	ck_assert(b.now->lane[0].form == LANE_DOUBLE && b.now->lane[0].unit == 1);
}
END_TEST

START_TEST(angles_from_quaternions_stay_near_to_those_that_were_stored)
{
	other_bench(&dense_format, 3, CURVE_EULER);
	old_turn(0, 725);
	old_turn(1, -10);
	old_turn(2, 360);
	turn_row(0, 10);
	turn_row(1, -10);
	turn_row(2, -5);
	EXPECT_TURNS(CURVE_EULER, 730, -10, 355);
	ck_assert(key_kept(1, 1));
}
END_TEST

START_TEST(quaternions_from_angles_keep_their_sign)
{
	other_bench(&sparse_format, 3, CURVE_QUATERNION);
	old_turn(0, 10);
	for (unsigned axis = 0; axis < 4; axis++)
		b.values[axis] *= -1;
	turn_row(0, 11);
	turn_row(1, 12);
	ck_assert(apply() && curve_value(b.now, 0, 3) < -0.9 && curve_value(b.now, 1, 3) < -0.9);
}
END_TEST

START_TEST(a_rotation_that_is_none_is_given_whole)
{
	other_bench(&dense_format, 1, CURVE_QUATERNION);
	old_turn(0, 0);
	b.values[0] = (double)NAN;
	row(0, 1, 5, 0, 0);
	expect_refused(ERR_TEXT, 100,
		       "ry of frame 0 is no number, and another part of the rotation is changed");
	b.keys[0].given = 7;
	EXPECT_TURNS(CURVE_QUATERNION, 5);
}
END_TEST

START_TEST(a_quaternion_for_angles_is_of_unit_length)
{
	other_bench(&dense_format, 1, CURVE_EULER);
	old_turn(0, 0);
	row(0, 15, 1, 1, 0);
	expect_refused(ERR_TEXT, 101, "the quaternion has length 1.41421, not 1");
}
END_TEST

/* Quaternions that are not finite, or not of length 1. */
START_TEST(what_has_no_angles_is_shown_as_it_is)
{
	static const double none[] = {NAN, INFINITY, 0, 1.02, -1.02};

	other_bench(&dense_format, 2, CURVE_QUATERNION);
	old_turn(0, 0);
	old_turn(1, 0);
	b.anim.rotations = ROTATIONS_EULER;
	for (size_t i = 0; i < ARRAY_SIZE(none); i++) {
		b.values[7] = none[i];
		ck_assert(curve_edit_shown_rotation(&b.anim, &b.track) == CURVE_QUATERNION);
		ck_assert(curve_edit_table_rotation(&b.anim, &b.track) == CURVE_QUATERNION);
	}
	b.values[7] = 1.005;
	ck_assert(curve_edit_table_rotation(&b.anim, &b.track) == CURVE_EULER);
}
END_TEST

START_TEST(a_bone_is_shown_in_the_form_that_is_asked_for)
{
	struct track shown;

	other_bench(&dense_format, 2, CURVE_QUATERNION);
	old_turn(0, 10);
	old_turn(1, 20);
	shown = curve_edit_shown(&b.anim, &b.track, &b.arena);
	ck_assert_ptr_eq(shown.curve[ROLE_ROTATION], &b.old);
	b.anim.rotations = ROTATIONS_QUATERNION;
	shown = curve_edit_shown(&b.anim, &b.track, &b.arena);
	ck_assert_ptr_eq(shown.curve[ROLE_ROTATION], &b.old);
	b.anim.rotations = ROTATIONS_EULER;
	shown = curve_edit_shown(&b.anim, &b.track, &b.arena);
	ck_assert(shown.curve[ROLE_ROTATION]->kind == CURVE_EULER);
	ck_assert(fabs(curve_value(shown.curve[ROLE_ROTATION], 1, 0) - 20) < 1e-12);
	ck_assert(curve_edit_table_rotation(&b.anim, &b.track) == CURVE_EULER);
	/* By default tables show degrees, and other texts what is stored. */
	b.anim.rotations = ROTATIONS_IN_TABLES;
	ck_assert(curve_edit_table_rotation(&b.anim, &b.track) == CURVE_EULER);
	ck_assert(curve_edit_shown_rotation(&b.anim, &b.track) == CURVE_QUATERNION);
	b.anim.rotations = ROTATIONS_STORED;
	ck_assert(curve_edit_table_rotation(&b.anim, &b.track) == CURVE_QUATERNION);
	b.anim.rotations = ROTATIONS_EULER;
	b.track.curve[ROLE_ROTATION] = NULL;
	shown = curve_edit_shown(&b.anim, &b.track, &b.arena);
	ck_assert(!shown.curve[ROLE_ROTATION] && shown.rotation == CURVE_EULER);
	ck_assert(curve_edit_shown_rotation(&b.anim, &b.track) == CURVE_EULER);
	ck_assert(curve_edit_rotation(&b.track) == CURVE_QUATERNION);
}
END_TEST

Suite *curve_edit_suite(void);

Suite *curve_edit_suite(void)
{
	Suite *s = suite_create("curve_edit");
	TCase *cells = tcase_create("cells"), *dense = tcase_create("dense");
	TCase *sparse = tcase_create("sparse"), *rotations = tcase_create("rotations");

	tcase_add_test(cells, a_number_is_unchanged_at_15_digits);
	tcase_add_test(cells, numbers_that_are_not_finite_are_unchanged_by_kind);
	tcase_add_test(cells, a_blank_keeps_what_is_not_finite);
	tcase_add_test(cells, bits_are_stored_as_given);
	suite_add_tcase(s, cells);
	tcase_add_test(dense, a_clip_of_one_frame_keeps_what_it_was);
	tcase_add_test(dense, a_clip_without_frames_keeps_its_curves);
	tcase_add_test(dense, missing_columns_leave_their_components_alone);
	tcase_add_test(dense, an_edited_curve_is_interpolated_as_it_was);
	tcase_add_test(dense, static_can_be_asked_for);
	tcase_add_test(dense, a_value_for_the_whole_clip_is_the_one_typed);
	tcase_add_test(dense, keyed_can_be_asked_for);
	tcase_add_test(dense, a_gap_beside_a_value_that_is_not_finite_is_refused);
	tcase_add_test(dense,
		       more_frames_than_the_format_has_are_refused_before_memory_is_asked_for);
	tcase_add_test(dense, an_unchanged_quaternion_need_not_be_of_unit_length);
	suite_add_tcase(s, dense);
	tcase_add_test(dense, one_value_of_a_full_curve_is_for_every_frame);
	tcase_add_test(dense, a_full_curve_cannot_be_removed);
	tcase_add_test(dense, angles_that_turn_are_filled_the_shorter_way);
	tcase_add_test(dense, what_lies_past_a_fixed_grid_is_refused_where_it_stands);
	tcase_add_test(sparse, sparse_rows_are_matched_by_frame_and_occurrence);
	tcase_add_test(sparse, sparse_rows_may_stand_in_any_order);
	tcase_add_test(sparse, a_sparse_row_more_is_a_key_more);
	tcase_add_test(sparse, a_sparse_row_or_cell_less_is_a_key_less);
	tcase_add_test(sparse, a_sparse_frame_may_repeat_as_often_as_it_did);
	tcase_add_test(sparse, a_sparse_vector_is_given_whole);
	tcase_add_test(sparse, sparse_keys_past_the_end_survive);
	tcase_add_test(sparse, a_new_sparse_curve_has_the_keys_it_is_given);
	tcase_add_test(sparse, a_static_sparse_curve_stays_static_with_one_key_in_the_first_frame);
	tcase_add_test(sparse, a_sparse_quaternion_is_normalised);
	suite_add_tcase(s, sparse);
	tcase_add_loop_test(rotations, what_the_other_form_serves_changes_nothing, 0, 4);
	tcase_add_loop_test(rotations, one_key_changed_in_the_other_form_leaves_the_others, 0, 4);
	tcase_add_loop_test(rotations, keys_come_and_go_in_the_other_form, 0, 2);
	tcase_add_loop_test(rotations, gaps_are_filled_in_the_other_form, 0, 2);
	tcase_add_loop_test(rotations, a_static_rotation_in_the_other_form, 0, 2);
	tcase_add_loop_test(rotations, a_new_rotation_is_stored_as_the_bone_stores_it, 0, 4);
	tcase_add_test(rotations, angles_from_quaternions_stay_near_to_those_that_were_stored);
	tcase_add_test(rotations, quaternions_from_angles_keep_their_sign);
	tcase_add_test(rotations, a_rotation_that_is_none_is_given_whole);
	tcase_add_test(rotations, a_quaternion_for_angles_is_of_unit_length);
	tcase_add_test(rotations, what_has_no_angles_is_shown_as_it_is);
	tcase_add_test(rotations, a_bone_is_shown_in_the_form_that_is_asked_for);
	suite_add_tcase(s, rotations);
	return s;
}
