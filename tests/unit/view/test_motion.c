/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/rotation.h"
#include "odd.h"
#include "view/figure.h"
#include "view/motion.h"

static struct sample s;
static struct shown at;

static void open_sample(const char *name, uint32_t clip)
{
	s = sample_open(name);
	at = sample_shown(&s, clip, NULL);
}

/* Makes a clip with frames 0 to 2, of 1/30 s each, in each of which bone 2, "hip", moves. */
static void setup(void)
{
	open_sample("wiki512.canm", 0);
}

static void teardown(void)
{
	sample_close(&s);
}

#define HIP 2

static const double hip_moves[] = {0, -1, 2, 0.50000763, 1, 2.00001, 1, -1, 2.65535};

/* ---- motions of one channel ---- */

#define KEYS_MAX 64

/* A motion of one channel; keys need not be at frames. */
struct one {
	struct motion_channel channel;
	double times[KEYS_MAX], values[3 * 4 * KEYS_MAX];
};

static void one_make(struct one *one, uint32_t track, enum role role,
		     enum motion_interpolation interpolation, uint32_t count, const double *frames,
		     const double *values)
{
	double seconds = anim_seconds_per_frame(s.anim, &s.anim->clips[at.clip]);
	size_t width = role == ROLE_ROTATION ? 4 : 3;

	ck_assert_uint_le(count, KEYS_MAX);
	for (uint32_t i = 0; i < count; i++)
		one->times[i] = frames[i] * seconds;
	memcpy(one->values, values,
	       count * width * (interpolation == MOTION_CUBIC ? 3 : 1) * sizeof(*values));
	one->channel = (struct motion_channel){.track = track,
					       .role = role,
					       .interpolation = interpolation,
					       .count = count,
					       .times = one->times,
					       .values = one->values,
					       .at = 7,
					       .length = 5};
}

static struct anim *one_apply(const struct one *one, struct err *err)
{
	struct motion m = {1, &one->channel};

	return motion_apply(&at, &m, bytes_of("a text that is long enough"), err);
}

static struct anim *apply(uint32_t track, enum role role, enum motion_interpolation interpolation,
			  uint32_t count, const double *frames, const double *values)
{
	struct one one;
	struct err err = {0};
	struct anim *edited;

	one_make(&one, track, role, interpolation, count, frames, values);
	edited = one_apply(&one, &err);
	ck_assert_msg(edited != NULL, "%s", err.message);
	return edited;
}

static void refused(uint32_t track, enum role role, uint32_t count, const double *frames,
		    const double *values, enum err_code code, const char *words)
{
	struct one one;
	struct err err = {0};

	one_make(&one, track, role, MOTION_LINEAR, count, frames, values);
	ck_assert_ptr_null(one_apply(&one, &err));
	ck_assert_int_eq(err.code, code);
	ck_assert(err.placed && err.at == 7 && err.length == 5);
	ck_assert_msg(strstr(err.message, words) || strstr(err.accepted, words),
		      "\"%s\" is not in \"%s\" (%s)", words, err.message, err.accepted);
}

static const struct curve *curve_of(const struct anim *a, uint32_t track, enum role role)
{
	return a->clips[at.clip].tracks[track].curve[role];
}

/* Checks that every curve but one is the same pointer. */
static void assert_local(const struct anim *edited, uint32_t track, enum role role)
{
	const struct clip *clip = &s.anim->clips[at.clip];

	for (uint32_t t = 0; t < clip->track_count; t++)
		for (unsigned r = 0; r < ROLE_COUNT; r++)
			ck_assert((t == track && r == role) ==
				  (curve_of(edited, t, (enum role)r) != clip->tracks[t].curve[r]));
}

static const double frames_0_1_2[] = {0, 1, 2};

/* ---- dense curves ---- */

START_TEST(what_was_served_changes_nothing)
{
	struct anim *edited =
		apply(HIP, ROLE_TRANSLATION, MOTION_LINEAR, 3, frames_0_1_2, hip_moves);

	ck_assert(model_same(edited, s.anim));
	anim_free(edited);
}
END_TEST

/* The tolerance is 1e-5 of a length, and not more. */
START_TEST(what_is_near_changes_nothing)
{
	double values[9];
	struct anim *edited;

	memcpy(values, hip_moves, sizeof(values));
	values[4] += 0.9e-5;
	edited = apply(HIP, ROLE_TRANSLATION, MOTION_LINEAR, 3, frames_0_1_2, values);
	ck_assert(model_same(edited, s.anim));
	anim_free(edited);
	values[4] += 0.5e-5;
	edited = apply(HIP, ROLE_TRANSLATION, MOTION_LINEAR, 3, frames_0_1_2, values);
	ck_assert(!model_same(edited, s.anim));
	anim_free(edited);
}
END_TEST

/* In the changed key, the other components keep their bits. */
START_TEST(only_what_changed_is_new)
{
	const struct curve *was = curve_of(s.anim, HIP, ROLE_TRANSLATION), *now;
	double values[9];
	struct anim *edited;
	struct sample stored;

	memcpy(values, hip_moves, sizeof(values));
	values[4] = 1.25;
	values[3] += 1e-6;
	edited = apply(HIP, ROLE_TRANSLATION, MOTION_LINEAR, 3, frames_0_1_2, values);
	assert_local(edited, HIP, ROLE_TRANSLATION);
	now = curve_of(edited, HIP, ROLE_TRANSLATION);
	ck_assert_uint_eq(now->count, 3);
	for (uint32_t key = 0; key < 3; key++)
		for (unsigned axis = 0; axis < 3; axis++)
			if (key == 1 && axis == 1)
				ck_assert_double_eq(curve_value(now, key, axis), 1.25);
			else
				ck_assert(f64_same(curve_value(now, key, axis),
						   curve_value(was, key, axis)));
	stored = sample_store(&s, edited);
	sample_close(&stored);
	anim_free(edited);
}
END_TEST

/* Returns the stored angles, rotated by some degrees about x. */
static void turned(uint32_t track, double degrees, double out[12])
{
	const struct curve *c = curve_of(s.anim, track, ROLE_ROTATION);
	static const double none[4] = {0, 0, 0, 1};

	for (uint32_t key = 0; key < 3; key++) {
		double angles[3];

		for (unsigned axis = 0; axis < 3; axis++)
			angles[axis] = curve_value(c, key, axis);
		angles[0] += degrees;
		rotation_quaternion(angles, none, out + 4 * key);
	}
}

START_TEST(rotations_are_the_same_within_a_hundredth_of_a_degree)
{
	double values[12];
	struct anim *edited;
	const struct curve *was = curve_of(s.anim, HIP, ROLE_ROTATION), *now;

	turned(HIP, 0.009, values);
	edited = apply(HIP, ROLE_ROTATION, MOTION_LINEAR, 3, frames_0_1_2, values);
	ck_assert(model_same(edited, s.anim));
	anim_free(edited);
	turned(HIP, 0.011, values);
	edited = apply(HIP, ROLE_ROTATION, MOTION_LINEAR, 3, frames_0_1_2, values);
	assert_local(edited, HIP, ROLE_ROTATION);
	now = curve_of(edited, HIP, ROLE_ROTATION);
	for (uint32_t key = 0; key < 3; key++) {
		ck_assert_double_eq_tol(curve_value(now, key, 0), curve_value(was, key, 0) + 0.011,
					1e-6);
		ck_assert(f64_same(curve_value(now, key, 1), curve_value(was, key, 1)));
		ck_assert(f64_same(curve_value(now, key, 2), curve_value(was, key, 2)));
	}
	anim_free(edited);
}
END_TEST

START_TEST(a_constant_stays_one_until_it_moves)
{
	static const double still[] = {1, 2, 3}, zero = 0;
	static const double moves[] = {1.5, -2, 0.25, 1.5, -2, 1};
	static const double ends[] = {0, 2};
	struct anim *edited = apply(1, ROLE_TRANSLATION, MOTION_LINEAR, 1, &zero, still);
	const struct curve *now = curve_of(edited, 1, ROLE_TRANSLATION);

	ck_assert(!now->keyed && now->count == 1);
	ck_assert_double_eq(curve_value(now, 0, 2), 3);
	anim_free(edited);
	edited = apply(1, ROLE_TRANSLATION, MOTION_LINEAR, 2, ends, moves);
	now = curve_of(edited, 1, ROLE_TRANSLATION);
	ck_assert(now->keyed && now->count == 3);
	ck_assert_double_eq(curve_value(now, 0, 2), 0.25);
	ck_assert_double_eq(curve_value(now, 1, 2), 0.625);
	ck_assert_double_eq(curve_value(now, 2, 2), 1);
	anim_free(edited);
}
END_TEST

START_TEST(a_role_without_keys_is_at_rest)
{
	static const double one[] = {1, 1, 1}, two[] = {1, 2, 1}, zero = 0;
	struct anim *edited;

	ck_assert_ptr_null(curve_of(s.anim, HIP, ROLE_SCALE));
	edited = apply(HIP, ROLE_SCALE, MOTION_LINEAR, 1, &zero, one);
	ck_assert(model_same(edited, s.anim));
	anim_free(edited);
	edited = apply(HIP, ROLE_SCALE, MOTION_LINEAR, 1, &zero, two);
	assert_local(edited, HIP, ROLE_SCALE);
	ck_assert_double_eq(curve_value(curve_of(edited, HIP, ROLE_SCALE), 0, 1), 2);
	anim_free(edited);
}
END_TEST

/* The clip's longest translation is 304: programs compute with float32 positions of that size. */
START_TEST(a_bone_without_translations_gets_none_of_rounding)
{
	static const double near[] = {0, 3e-4, -3e-4}, moved[] = {0, 3.1e-4, 0}, zero = 0;
	const uint32_t bone = 2;
	struct anim *edited;

	teardown();
	open_sample("walk.anim", 0);
	ck_assert_str_eq(s.anim->clips[0].tracks[bone].label, "bone002");
	ck_assert_ptr_null(curve_of(s.anim, bone, ROLE_TRANSLATION));
	edited = apply(bone, ROLE_TRANSLATION, MOTION_LINEAR, 1, &zero, near);
	ck_assert(model_same(edited, s.anim));
	anim_free(edited);
	edited = apply(bone, ROLE_TRANSLATION, MOTION_LINEAR, 1, &zero, moved);
	ck_assert_double_eq_tol(curve_value(curve_of(edited, bone, ROLE_TRANSLATION), 0, 1), 3.1e-4,
				1e-9);
	anim_free(edited);
}
END_TEST

/* ---- keys at other times ---- */

static double moved_to(enum motion_interpolation interpolation, uint32_t count,
		       const double *frames, const double *values, uint32_t key)
{
	struct anim *edited = apply(HIP, ROLE_TRANSLATION, interpolation, count, frames, values);
	double x = curve_value(curve_of(edited, HIP, ROLE_TRANSLATION), key, 0);

	anim_free(edited);
	return x;
}

START_TEST(a_motion_is_read_at_the_frames)
{
	static const double frames[] = {0, 0.5, 1.5, 2};
	static const double values[] = {0, 0, 0, 10, 0, 0, 20, 0, 0, 40, 0, 0};

	ck_assert_double_eq(moved_to(MOTION_LINEAR, 4, frames, values, 0), 0);
	ck_assert_double_eq_tol(moved_to(MOTION_LINEAR, 4, frames, values, 1), 15, 1e-9);
	ck_assert_double_eq(moved_to(MOTION_LINEAR, 4, frames, values, 2), 40);
	ck_assert_double_eq(moved_to(MOTION_STEP, 4, frames, values, 1), 10);
}
END_TEST

/* Times are float32: a key nearly at a frame counts as at it, also if values hold until a key. */
START_TEST(a_key_beside_a_frame_stands_in_it)
{
	static const double frames[] = {0, 1.004, 1.996};
	static const double values[] = {0, 0, 0, 10, 0, 0, 20, 0, 0};

	ck_assert_double_eq(moved_to(MOTION_STEP, 3, frames, values, 1), 10);
	ck_assert_double_eq(moved_to(MOTION_LINEAR, 3, frames, values, 1), 10);
	ck_assert_double_eq(moved_to(MOTION_LINEAR, 3, frames, values, 2), 20);
}
END_TEST

/* p(t) = (2t^3 - 3t^2 + 1) a + (t^3 - 2t^2 + t) d m + (3t^2 - 2t^3) b + (t^3 - t^2) d n */
START_TEST(splines_bend_by_their_tangents)
{
	static const double frames[] = {0, 2};
	static const double values[] = {9, 9, 9, 1, 0, 0, 30, 0, 0, 60, 0, 0, 3, 0, 0, 9, 9, 9};
	const double d = 2 / 30.0;

	ck_assert_double_eq(moved_to(MOTION_CUBIC, 2, frames, values, 0), 1);
	ck_assert_double_eq_tol(moved_to(MOTION_CUBIC, 2, frames, values, 1),
				0.5 * 1 + 0.125 * d * 30 + 0.5 * 3 - 0.125 * d * 60, 1e-12);
	ck_assert_double_eq(moved_to(MOTION_CUBIC, 2, frames, values, 2), 3);
}
END_TEST

START_TEST(a_motion_must_last_as_long_as_the_keys)
{
	static const double late[] = {1, 2}, early[] = {0, 1}, over[] = {0, 3}, before[] = {-1, 2};
	static const double one = 1, past = 3;

	refused(HIP, ROLE_TRANSLATION, 2, late, hip_moves, ERR_TEXT, "begins");
	refused(HIP, ROLE_TRANSLATION, 2, early, hip_moves, ERR_TEXT, "ends");
	refused(HIP, ROLE_TRANSLATION, 2, over, hip_moves, ERR_TEXT, "clip.json");
	refused(HIP, ROLE_TRANSLATION, 2, before, hip_moves, ERR_TEXT, "begins");
	refused(HIP, ROLE_TRANSLATION, 1, &past, hip_moves, ERR_TEXT, "ends");
	anim_free(apply(HIP, ROLE_TRANSLATION, MOTION_LINEAR, 1, &one, hip_moves));
}
END_TEST

/* ---- other ways of storing ---- */

START_TEST(what_is_no_number_counts_as_unchanged)
{
	static const double rest[] = {0, 0, 0}, moved[] = {5, 0, 0}, zero = 0;
	const struct curve *now;
	struct anim *edited;

	teardown();
	open_sample("nan512.canm", 0);
	edited = apply(0, ROLE_TRANSLATION, MOTION_LINEAR, 1, &zero, rest);
	ck_assert(model_same(edited, s.anim));
	anim_free(edited);
	edited = apply(0, ROLE_TRANSLATION, MOTION_LINEAR, 1, &zero, moved);
	now = curve_of(edited, 0, ROLE_TRANSLATION);
	ck_assert_double_eq(curve_value(now, 0, 0), 5);
	ck_assert(f64_same(curve_value(now, 0, 1),
			   curve_value(curve_of(s.anim, 0, ROLE_TRANSLATION), 0, 1)));
	anim_free(edited);
}
END_TEST

/* The curve has five keys in nine frames: the last one holds, and still does after the edit. */
START_TEST(a_curve_that_ends_early_stays_so_while_it_can)
{
	double frames[9], values[27];
	const struct curve *now;
	struct anim *edited;

	teardown();
	open_sample("odd512.canm", 1);
	ck_assert_uint_eq(curve_of(s.anim, 0, ROLE_TRANSLATION)->count, 5);
	for (unsigned i = 0; i < 9; i++) {
		frames[i] = i;
		for (unsigned axis = 0; axis < 3; axis++)
			values[3 * i + axis] = fmin(i, 4) * (axis + 1);
	}
	values[3] = 1.5;
	edited = apply(0, ROLE_TRANSLATION, MOTION_LINEAR, 9, frames, values);
	ck_assert_uint_eq(curve_of(edited, 0, ROLE_TRANSLATION)->count, 5);
	anim_free(edited);
	values[3 * 6] = 7;
	edited = apply(0, ROLE_TRANSLATION, MOTION_LINEAR, 9, frames, values);
	now = curve_of(edited, 0, ROLE_TRANSLATION);
	ck_assert_uint_eq(now->count, 8);
	ck_assert_double_eq(curve_value(now, 5, 0), 4);
	ck_assert_double_eq(curve_value(now, 6, 0), 7);
	ck_assert_double_eq(curve_value(now, 7, 0), 4);
	anim_free(edited);
}
END_TEST

/* Opens small.006, whose bone 1 moves from frame 0 to 3, of five frames. */
static void open_sparse(double ends[6])
{
	const struct curve *c;

	teardown();
	open_sample("small.006", 0);
	c = curve_of(s.anim, 1, ROLE_TRANSLATION);
	ck_assert_uint_eq(c->count, 2);
	for (unsigned i = 0; i < 6; i++)
		ends[i] = curve_value(c, i / 3, i % 3);
}

/* Makes a key in each frame, on a straight line between the two values. */
static void every_frame(const double ends[6], double frames[5], double values[15])
{
	for (unsigned i = 0; i < 15; i++) {
		double t = fmin(i / 3, 3) / 3;

		frames[i / 3] = i / 3;
		values[i] = (1 - t) * ends[i % 3] + t * ends[3 + i % 3];
	}
}

START_TEST(sparse_keys_stay_where_they_say_the_motion)
{
	double ends[6], frames[5], values[15];
	const struct curve *now;
	struct anim *edited;

	open_sparse(ends);
	every_frame(ends, frames, values);
	edited = apply(1, ROLE_TRANSLATION, MOTION_LINEAR, 5, frames, values);
	ck_assert(model_same(edited, s.anim));
	anim_free(edited);
	ends[3] += 1;
	every_frame(ends, frames, values);
	edited = apply(1, ROLE_TRANSLATION, MOTION_LINEAR, 5, frames, values);
	assert_local(edited, 1, ROLE_TRANSLATION);
	now = curve_of(edited, 1, ROLE_TRANSLATION);
	ck_assert_uint_eq(now->count, 2);
	ck_assert_uint_eq(curve_frame(now, 1), 3);
	ck_assert_float_eq((float)curve_value(now, 1, 0), (float)ends[3]);
	for (unsigned axis = 1; axis < 3; axis++)
		ck_assert(f64_same(curve_value(now, 1, axis), ends[3 + axis]));
	anim_free(edited);
}
END_TEST

START_TEST(sparse_keys_are_added_where_they_do_not)
{
	double ends[6], frames[5], values[15];
	const struct curve *now;
	struct anim *edited;

	open_sparse(ends);
	every_frame(ends, frames, values);
	values[3 * 1 + 1] += 1;
	edited = apply(1, ROLE_TRANSLATION, MOTION_LINEAR, 5, frames, values);
	now = curve_of(edited, 1, ROLE_TRANSLATION);
	ck_assert_uint_eq(now->count, 5);
	for (uint32_t key = 0; key < 5; key++)
		ck_assert_uint_eq(curve_frame(now, key), key);
	ck_assert(f64_same(curve_value(now, 3, 2), ends[5]));
	anim_free(edited);
}
END_TEST

/* Blender interpolates quaternions linearly, not spherically. */
START_TEST(rotations_may_go_straight)
{
	static const double frames[] = {0, 3};
	const double turn[] = {0, 0, 0, 1, sqrt(0.5), 0, 0, sqrt(0.5)};
	struct anim *edited, *again;
	double each[5], between[20];
	struct sample stored;

	teardown();
	open_sample("small.006", 0);
	edited = apply(1, ROLE_ROTATION, MOTION_LINEAR, 2, frames, turn);
	stored = sample_store(&s, edited);
	anim_free(edited);
	sample_close(&s);
	s = stored;
	at = sample_shown(&s, 0, NULL);
	for (unsigned key = 0; key < 5; key++) {
		double t = fmin(key, 3) / 3, q[4];

		for (unsigned axis = 0; axis < 4; axis++)
			q[axis] = (1 - t) * turn[axis] + t * turn[4 + axis];
		each[key] = key;
		ck_assert(rotation_unit(q, between + 4 * key));
	}
	again = apply(1, ROLE_ROTATION, MOTION_LINEAR, 5, each, between);
	ck_assert(model_same(again, s.anim));
	anim_free(again);
}
END_TEST

START_TEST(what_the_format_cannot_store_is_refused)
{
	static const double far[] = {40000, 0, 0}, zero = 0, moved[] = {1, 0, 0};

	teardown();
	open_sample("frames007_low.ff9anim", 0);
	refused(0, ROLE_TRANSLATION, 1, &zero, far, ERR_STORE, "cannot store 40000");
	refused(1, ROLE_TRANSLATION, 1, &zero, moved, ERR_STORE, "stores no translation");
}
END_TEST

START_TEST(keyframes_are_not_edited)
{
	static const double moved[] = {1, 0, 0}, zero = 0;

	teardown();
	open_sample("duplicate.anm", 0);
	refused(0, ROLE_TRANSLATION, 1, &zero, moved, ERR_STORE, "bones/object_002.csv");
}
END_TEST

START_TEST(bones_are_found_by_their_names)
{
	struct arena arena = ARENA_INIT;
	struct motion_names names;
	const struct clip *clip = &s.anim->clips[0];

	ck_assert(motion_names_make(&names, clip, &arena));
	for (uint32_t i = 0; i < clip->track_count; i++)
		ck_assert_uint_eq(motion_names_find(&names, clip->tracks[i].label), i);
	ck_assert_uint_eq(motion_names_find(&names, "Bone0"), UINT32_MAX);
	ck_assert_uint_eq(motion_names_find(&names, ""), UINT32_MAX);
	ck_assert_uint_eq(motion_names_find_cut(&names, "Bone0"), 1);
	ck_assert_uint_eq(motion_names_find_cut(&names, "hip"), HIP);
	ck_assert_uint_eq(motion_names_find_cut(&names, "hipp"), UINT32_MAX);
	ck_assert_uint_eq(motion_names_find_cut(&names, ""), UINT32_MAX);
	arena_release(&arena);
}
END_TEST

Suite *motion_suite(void);

Suite *motion_suite(void)
{
	Suite *suite = suite_create("motion");
	TCase *t = tcase_create("motion");

	suite_add_tcase(suite, t);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, what_was_served_changes_nothing);
	tcase_add_test(t, what_is_near_changes_nothing);
	tcase_add_test(t, only_what_changed_is_new);
	tcase_add_test(t, rotations_are_the_same_within_a_hundredth_of_a_degree);
	tcase_add_test(t, a_constant_stays_one_until_it_moves);
	tcase_add_test(t, a_role_without_keys_is_at_rest);
	tcase_add_test(t, a_motion_is_read_at_the_frames);
	tcase_add_test(t, a_key_beside_a_frame_stands_in_it);
	tcase_add_test(t, a_bone_without_translations_gets_none_of_rounding);
	tcase_add_test(t, splines_bend_by_their_tangents);
	tcase_add_test(t, a_motion_must_last_as_long_as_the_keys);
	tcase_add_test(t, what_is_no_number_counts_as_unchanged);
	tcase_add_test(t, a_curve_that_ends_early_stays_so_while_it_can);
	tcase_add_test(t, sparse_keys_stay_where_they_say_the_motion);
	tcase_add_test(t, sparse_keys_are_added_where_they_do_not);
	tcase_add_test(t, rotations_may_go_straight);
	tcase_add_test(t, what_the_format_cannot_store_is_refused);
	tcase_add_test(t, keyframes_are_not_edited);
	tcase_add_test(t, bones_are_found_by_their_names);
	return suite;
}
