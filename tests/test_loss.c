/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What counts as taking something away. */
#include "loss.h"
#include "sample.h"
#include "structure.h"
#include "view/clip.h"

static struct sample sample;
static struct anim *edited;
static struct err err;

static void setup(const char *name)
{
	sample = sample_open(name);
	edited = anim_edit(sample.anim);
	err_clear(&err);
}

/* As an edit, and as the file that comes of it. */
static void assert_loses(bool expected, bool expected_of_file)
{
	struct sample now = sample_store(&sample, edited);

	ck_assert_int_eq(anim_loses(sample.anim, edited, true), expected);
	ck_assert_int_eq(anim_loses(sample.anim, now.anim, false), expected_of_file);
	sample_close(&now);
	anim_free(edited);
	sample_close(&sample);
}

static void assert_same_loses(bool expected)
{
	assert_loses(expected, expected);
}

static void edit_bone(const char *bone, const char *was, const char *is)
{
	struct shown at = sample_shown(&sample, 0, bone);

	anim_free(edited);
	edited = view_edit_ok(&view_bone_csv, &at, was, is);
}

START_TEST(nothing_is_no_loss)
{
	setup("wiki512.canm");
	assert_same_loses(false);
	setup("sparse.006");
	assert_same_loses(false);
	setup("flags7.anm");
	assert_same_loses(false);
	setup("stick.kanim");
	assert_same_loses(false);
}
END_TEST

START_TEST(another_value_is_no_loss)
{
	setup("wiki512.canm");
	edit_bone("hip", "0.5000076", "0.25");
	assert_same_loses(false);
}
END_TEST

START_TEST(keys_that_go_are_a_loss)
{
	setup("wiki512.canm");
	edit_bone("Bone01", "1.5,-2,0.25", ",,");
	assert_same_loses(true);
	setup("wiki512.canm");
	anim_edit_track(edited, 0, 1)->curve[ROLE_SCALE] = NULL;
	assert_same_loses(true);
}
END_TEST

START_TEST(one_value_that_becomes_keys_is_no_loss)
{
	setup("wiki512.canm");
	edit_bone("Scene_Root", "0,0,0,0,0,0,0,0,,,",
		  "0,0,0,0,0,0,0,0,,,\n1,0,1,1,1,,,,,,\n2,0,2,2,2,,,,,,");
	assert_same_loses(false);
}
END_TEST

START_TEST(a_shorter_clip_is_a_loss_where_keys_go)
{
	setup("wiki512.canm");
	ck_assert(clip_set_frames(edited, 0, 2));
	assert_same_loses(true);
	setup("wiki512.canm");
	ck_assert(clip_set_frames(edited, 0, 5));
	assert_same_loses(false);
}
END_TEST

/* A curve without one of its keys. */
static const struct curve *without_key(const struct curve *c, uint32_t key)
{
	struct curve *made = arena_alloc(&edited->arena, 1, sizeof(*made));
	uint32_t *frames = arena_alloc(&edited->arena, c->count, sizeof(*frames)), count = 0;
	double *values = arena_alloc(&edited->arena, c->count, 4 * sizeof(*values));

	*made = *c;
	for (uint32_t i = 0; i < c->count; i++) {
		if (i == key)
			continue;
		for (unsigned axis = 0; axis < curve_width(c); axis++)
			values[count * curve_width(c) + axis] = curve_value(c, i, axis);
		frames[count++] = curve_frame(c, i);
	}
	made->count = count;
	made->frames = frames;
	made->values = values;
	made->stored = NULL;
	return made;
}

START_TEST(a_sparse_key_that_goes_is_a_loss)
{
	struct track *track;

	for (uint32_t key = 0; key < 3; key++) {
		setup("walk.006");
		track = anim_edit_track(edited, 0, 0);
		while (!track->curve[ROLE_ROTATION] || track->curve[ROLE_ROTATION]->count < 3)
			track++;
		track->curve[ROLE_ROTATION] = without_key(track->curve[ROLE_ROTATION], key);
		assert_same_loses(true);
	}
}
END_TEST

START_TEST(keyframes_that_go_are_a_loss)
{
	static const struct {
		uint32_t frames[3];
		uint8_t roles[3];
		uint32_t count;
		bool loses;
	} cases[] = {
		{{0, 4, 4}, {1, 2, 7}, 3, false},
		{{0, 4}, {1, 2}, 2, true},
		{{0, 4}, {1, 7}, 2, true},
		{{0, 3, 4}, {1, 2, 7}, 3, true},
		{{0, 4, 4}, {7, 7, 7}, 3, false},
		{{0, 4, 4}, {1, 7, 2}, 3, true},
		{{0}, {0}, 0, true},
	};
	static const uint8_t flags[3];
	struct keyframes a = {3, cases[0].frames, flags, cases[0].roles};
	struct track before = {.name = "a", .label = "a", .origin = 0, .keyframes = &a};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct keyframes b = {cases[i].count, cases[i].frames, flags, cases[i].roles};
		struct track after = before;
		struct clip x = {.label = "x", .track_count = 1, .tracks = &before}, y = x;
		struct anim p = {.clip_count = 1, .clips = &x}, q = {.clip_count = 1, .clips = &y};

		after.keyframes = &b;
		y.tracks = &after;
		ck_assert_msg(anim_loses(&p, &q, true) == cases[i].loses, "case %zu", i);
	}
}
END_TEST

/* By its labels alone a file does not tell a new name from another bone. */
START_TEST(bones_that_go_are_a_loss_and_new_names_are_none)
{
	setup("wiki512.canm");
	ck_assert(anim_bone_remove(edited, 0, 3, &err));
	assert_same_loses(true);
	setup("wiki512.canm");
	ck_assert(anim_bone_rename(edited, 0, 3, "tail", &err));
	assert_loses(false, true);
	setup("wiki512.canm");
	ck_assert(anim_bone_add(edited, 0, "tail", &err));
	assert_same_loses(false);
}
END_TEST

START_TEST(clips_that_go_are_a_loss_and_new_names_are_none)
{
	setup("wiki512.canm");
	ck_assert(anim_clip_remove(edited, 0, &err));
	assert_same_loses(true);
	setup("wiki512.canm");
	ck_assert(anim_clip_rename(edited, 0, "stride", &err));
	assert_loses(false, true);
	setup("wiki512.canm");
	ck_assert(anim_clip_copy(edited, sample.anim, 0, "more", &err));
	assert_same_loses(false);
}
END_TEST

START_TEST(stills_that_go_are_a_loss)
{
	setup("stick.kanim");
	anim_edit_clip(edited, 0)->frames--;
	assert_same_loses(true);
}
END_TEST

Suite *loss_suite(void);
Suite *loss_suite(void)
{
	Suite *s = suite_create("loss");
	TCase *tc = tcase_create("loss");

	tcase_add_test(tc, nothing_is_no_loss);
	tcase_add_test(tc, another_value_is_no_loss);
	tcase_add_test(tc, keys_that_go_are_a_loss);
	tcase_add_test(tc, one_value_that_becomes_keys_is_no_loss);
	tcase_add_test(tc, a_shorter_clip_is_a_loss_where_keys_go);
	tcase_add_test(tc, a_sparse_key_that_goes_is_a_loss);
	tcase_add_test(tc, keyframes_that_go_are_a_loss);
	tcase_add_test(tc, bones_that_go_are_a_loss_and_new_names_are_none);
	tcase_add_test(tc, clips_that_go_are_a_loss_and_new_names_are_none);
	tcase_add_test(tc, stills_that_go_are_a_loss);
	suite_add_tcase(s, tc);
	return s;
}
