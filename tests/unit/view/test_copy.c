/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Texts of one format saved as those of another: data that both formats store is converted, other
 * data is refused with a message that names it.
 */
#include "sample.h"

#include <math.h>

static struct sample from, to;
static struct shown source, target;

static void setup(const char *from_name, uint32_t clip, const char *from_bone, const char *to_name,
		  const char *to_bone)
{
	from = sample_open(from_name);
	to = sample_open(to_name);
	source = sample_shown(&from, clip, from_bone);
	target = sample_shown(&to, 0, to_bone);
}

static void teardown(void)
{
	sample_close(&from);
	sample_close(&to);
}

/*
 * Saves the text of the source as that of the target; the first `was`, if given, is replaced by
 * `is`.
 */
static struct anim *copy(const struct view *view, const char *was, const char *is, struct err *err)
{
	struct buf own = view_text(view, &source);
	char *text = was ? text_edit((const char *)own.data, was, is) : NULL;
	struct anim *edited = view->parse(&target, text ? bytes_of(text) : buf_bytes(&own), err);

	free(text);
	buf_release(&own);
	return edited;
}

/* Saves a text like copy(), then stores and reads the file again. */
static struct sample copied(const struct view *view, const char *was, const char *is)
{
	struct err err = {0};
	struct anim *edited = copy(view, was, is, &err);
	struct sample now;

	ck_assert_msg(edited != NULL, "%s (%s)", err.message, err.accepted);
	now = sample_store(&to, edited);
	anim_free(edited);
	return now;
}

static void refused(const struct view *view, const char *was, const char *is, const char *words)
{
	struct err err = {0};
	struct anim *edited = copy(view, was, is, &err);

	ck_assert_msg(edited == NULL, "accepted");
	ck_assert_msg(strstr(err.message, words) || strstr(err.accepted, words),
		      "\"%s\" is not in \"%s\" (%s)", words, err.message, err.accepted);
	ck_assert(err.placed);
}

static const struct curve *curve_in(const struct anim *a, const struct shown *at, enum role role)
{
	return a->clips[at->clip].tracks[at->track].curve[role];
}

/* Computes the matrix of angles in degrees (R = Rz * Ry * Rx), and of a quaternion. */
static void euler_matrix(const double e[4], double m[3][3])
{
	double x = e[0] * M_PI / 180, y = e[1] * M_PI / 180, z = e[2] * M_PI / 180;

	m[0][0] = cos(z) * cos(y);
	m[0][1] = cos(z) * sin(y) * sin(x) - sin(z) * cos(x);
	m[0][2] = cos(z) * sin(y) * cos(x) + sin(z) * sin(x);
	m[1][0] = sin(z) * cos(y);
	m[1][1] = sin(z) * sin(y) * sin(x) + cos(z) * cos(x);
	m[1][2] = sin(z) * sin(y) * cos(x) - cos(z) * sin(x);
	m[2][0] = -sin(y);
	m[2][1] = cos(y) * sin(x);
	m[2][2] = cos(y) * cos(x);
}

static void quaternion_matrix(const double q[4], double m[3][3])
{
	double x = q[0], y = q[1], z = q[2], w = q[3];

	m[0][0] = 1 - 2 * (y * y + z * z);
	m[0][1] = 2 * (x * y - z * w);
	m[0][2] = 2 * (x * z + y * w);
	m[1][0] = 2 * (x * y + z * w);
	m[1][1] = 1 - 2 * (x * x + z * z);
	m[1][2] = 2 * (y * z - x * w);
	m[2][0] = 2 * (x * z - y * w);
	m[2][1] = 2 * (y * z + x * w);
	m[2][2] = 1 - 2 * (x * x + y * y);
}

/* Checks that the pose in every frame is the source's, within the tolerance `room`. */
static void assert_same_poses(const struct anim *now, enum role role, double room)
{
	const struct curve *a = curve_in(from.anim, &source, role);
	const struct curve *b = curve_in(now, &target, role);
	double m[2][3][3];

	ck_assert(a && b);
	for (uint32_t frame = 0; frame < from.anim->clips[source.clip].frames; frame++) {
		double x[2][4];

		curve_sample(a, frame, x[0]);
		curve_sample(b, frame, x[1]);
		for (unsigned axis = 0; axis < 3 && role != ROLE_ROTATION; axis++)
			ck_assert_double_eq_tol(x[0][axis], x[1][axis], room);
		for (int i = 0; i < 2 && role == ROLE_ROTATION; i++)
			((i ? b : a)->kind == CURVE_EULER ? euler_matrix : quaternion_matrix)(x[i],
											      m[i]);
		for (unsigned i = 0; i < 9 && role == ROLE_ROTATION; i++)
			ck_assert_double_eq_tol(m[0][i / 3][i % 3], m[1][i / 3][i % 3], room);
	}
}

/* ---- bones ---- */

START_TEST(a_canm_bone_becomes_an_overwatch_bone)
{
	const struct view *views_of_bones[] = {&view_bone_csv, &view_bone_json};
	struct sample now;

	setup("wiki512.canm", 0, "Bone01", "small.006", "bone_0E7A");
	now = copied(views_of_bones[_i], NULL, NULL);
	assert_same_poses(now.anim, ROLE_TRANSLATION, 1e-7);
	assert_same_poses(now.anim, ROLE_ROTATION, 2e-4);
	assert_same_poses(now.anim, ROLE_SCALE, 0.5 / 1024);
	/* The keys are those of the text; a single value in row 0 is a single key. */
	ck_assert_uint_eq(curve_in(now.anim, &target, ROLE_TRANSLATION)->count, 1);
	ck_assert_uint_eq(curve_in(now.anim, &target, ROLE_ROTATION)->count, 3);
	sample_close(&now);
	teardown();
}
END_TEST

START_TEST(an_overwatch_bone_becomes_a_canm_bone)
{
	struct sample now;

	/* The source has keys at frames 0 and 1 of 5; the canm clip has 2 frames. */
	setup("small.006", 0, "bone_0E7A", "edf6_768.canm", "body");
	now = copied(&view_bone_csv, NULL, NULL);
	ck_assert_int_eq(curve_in(now.anim, &target, ROLE_ROTATION)->kind, CURVE_QUATERNION);
	ck_assert_uint_eq(curve_in(now.anim, &target, ROLE_ROTATION)->count, 2);
	ck_assert(!curve_in(now.anim, &target, ROLE_SCALE)->keyed);
	ck_assert_ptr_null(curve_in(now.anim, &target, ROLE_TRANSLATION));
	sample_close(&now);
	teardown();
	setup("walk.006", 0, "bone_0F30", "edf6_768.canm", "body");
	refused(&view_bone_csv, NULL, NULL, "the number of frames is edited in clip.json");
	teardown();
}
END_TEST

START_TEST(a_final_fantasy_bone_becomes_a_vib_ribbon_object)
{
	struct sample now;

	setup("frames002_low.ff9anim", 0, "bone_000", "flags3.anm", "object_000");
	now = copied(&view_bone_csv, NULL, NULL);
	assert_same_poses(now.anim, ROLE_TRANSLATION, 1e-12);
	assert_same_poses(now.anim, ROLE_ROTATION, 1e-9);
	ck_assert_uint_eq(now.anim->clips[0].tracks[target.track].keyframes->count, 2);
	/* FF9 has no scale, so the target's stays. */
	ck_assert(curve_same(curve_in(now.anim, &target, ROLE_SCALE),
			     curve_in(to.anim, &target, ROLE_SCALE)));
	sample_close(&now);
	teardown();
	/* Keyframes cannot be combined with a scale that the text does not have. */
	setup("frames002_low.ff9anim", 0, "bone_000", "frames030.anm", "object_003");
	refused(&view_bone_csv, NULL, NULL, "this text has no columns for that");
	teardown();
}
END_TEST

START_TEST(what_a_format_cannot_say_is_refused_by_name)
{
	setup("wiki512.canm", 0, "Bone01", "frames007_low.ff9anim", "bone_001");
	refused(&view_bone_csv, NULL, NULL, "ff9anim stores no translation");
	teardown();
	setup("wiki512.canm", 2, "Bone01", "frames001_nolow.ff9anim", "bone_000");
	refused(&view_bone_csv, "0,0,0,,,", "0,0,0,1,1,1", "ff9anim stores no scale");
	teardown();
	setup("empty_mid.anm", 0, "object_000", "wiki512.canm", "hip");
	refused(&view_bone_csv, NULL, NULL, "\"flags\" is not a column");
	refused(&view_bone_json, NULL, NULL, "\"keyframes\"");
	teardown();
	setup("empty_mid.anm", 0, "object_000", "small.006", "bone_0E7A");
	refused(&view_bone_csv, "flags", "", "in a column without a name");
	teardown();
	setup("wiki512.canm", 0, "Bone01", "small.006", "bone_0E7A");
	refused(&view_bone_csv, "1.0000076,1.0000153,1.0000229", "64.5,1,1",
		"a number from 0 to 63.999");
	teardown();
}
END_TEST

START_TEST(angles_come_back_as_they_were)
{
	struct sample there, back;
	struct shown at;

	setup("tmask3.ff9anim", 0, "bone_001", "sparse.006", "bone_1EAA");
	there = copied(&view_bone_csv, NULL, NULL);
	at = sample_shown(&there, 0, "bone_1EAA");
	sample_close(&to);
	to = sample_open("tmask3.ff9anim");
	target = source;
	target.anim = to.anim;
	source = at;
	{
		struct buf text = view_text(&view_bone_csv, &source), cut = BUF_INIT;
		struct err err = {0};
		struct anim *edited;

		/*
		 * Remove the columns that FF9 does not store: columns 0, 1 and the quaternion
		 * remain.
		 */
		for (const char *p = (const char *)text.data; *p; p += strcspn(p, "\n") + 1) {
			unsigned column = 0;

			if (strtoul(p, NULL, 10) > 4)
				break;
			for (const char *c = p; *c != '\n'; c++) {
				if (column < 2 || (column > 4 && column < 9))
					buf_char(&cut, *c);
				column += *c == ',';
			}
			if (cut.data[cut.size - 1] == ',')
				cut.size--;
			buf_char(&cut, '\n');
		}
		edited = view_bone_csv.parse(&target, buf_bytes(&cut), &err);
		ck_assert_msg(edited != NULL, "%s (%s)", err.message, err.accepted);
		back = sample_store(&to, edited);
		anim_free(edited);
		buf_release(&cut);
		buf_release(&text);
	}
	source = target; /* the target whose angles were copied is now the source */
	assert_same_poses(back.anim, ROLE_ROTATION, 1e-3);
	sample_close(&back);
	sample_close(&there);
	teardown();
}
END_TEST

/* ---- clips ---- */

START_TEST(a_clip_brings_its_length_loop_and_order)
{
	struct sample now;

	setup("small.006", 0, NULL, "wiki512.canm", NULL);
	now = copied(&view_clip_json, "bone_1BB5", "hip");
	ck_assert_str_eq(now.anim->clips[0].label, "walk");
	ck_assert_uint_eq(now.anim->clips[0].frames, 5);
	ck_assert_double_eq((double)now.anim->clips[0].frame_time, 2);
	ck_assert_double_eq((double)now.anim->clips[0].duration, 8);
	/* Data that the text does not contain stays. */
	ck_assert(now.anim->clips[0].loop);
	ck_assert_str_eq(now.anim->clips[0].tracks[0].label, "hip");
	ck_assert_str_eq(now.anim->clips[0].tracks[1].label, "Scene_Root");
	ck_assert_str_eq(now.anim->clips[0].tracks[2].label, "Bone01");
	sample_close(&now);
	teardown();

	setup("wiki512.canm", 0, NULL, "walk.006", NULL);
	refused(&view_clip_json, NULL, NULL, "store no \"loop\"");
	now = copied(&view_clip_json, "\"loop\": true", "\"loop\": false");
	ck_assert_uint_eq(now.anim->clips[0].frames, 3);
	ck_assert_double_eq(now.anim->rate, 30);
	ck_assert_str_eq(now.anim->clips[0].label, "walk");
	sample_close(&now);
	teardown();
}
END_TEST

START_TEST(a_rate_is_taken_where_it_can_be_stored)
{
	struct sample now;

	/* 3 frames in 1/15 s, as 2 frames at 15 per second. */
	setup("wiki512.canm", 0, NULL, "walk.006", NULL);
	now = copied(&view_clip_json, "true, \"frames\": 3", "false, \"frames\": 2");
	ck_assert_double_eq(now.anim->rate, 15);
	ck_assert_uint_eq(now.anim->clips[0].frames, 2);
	sample_close(&now);
	teardown();
	setup("wiki512.canm", 0, NULL, "frames007_low.ff9anim", NULL);
	refused(&view_clip_json, "true, \"frames\": 3", "false, \"frames\": 2",
		"take 0.033333 seconds");
	now = copied(&view_clip_json, "\"loop\": true", "\"loop\": false");
	ck_assert_uint_eq(now.anim->clips[0].frames, 3);
	sample_close(&now);
	teardown();
}
END_TEST

Suite *copy_suite(void);

Suite *copy_suite(void)
{
	Suite *suite = suite_create("copy");
	TCase *t = tcase_create("between formats");

	suite_add_tcase(suite, t);
	tcase_add_loop_test(t, a_canm_bone_becomes_an_overwatch_bone, 0, 2);
	tcase_add_test(t, an_overwatch_bone_becomes_a_canm_bone);
	tcase_add_test(t, a_final_fantasy_bone_becomes_a_vib_ribbon_object);
	tcase_add_test(t, what_a_format_cannot_say_is_refused_by_name);
	tcase_add_test(t, angles_come_back_as_they_were);
	tcase_add_test(t, a_clip_brings_its_length_loop_and_order);
	tcase_add_test(t, a_rate_is_taken_where_it_can_be_stored);
	return suite;
}
