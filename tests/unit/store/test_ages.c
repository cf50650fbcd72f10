/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sample.h"
#include "store/ages.h"

static const struct timespec first = {100, 1};
static const struct age second = {{200, 2}, UINT64_MAX};

static bool ages_after(struct ages *ages, const struct anim *edited, const struct version *v,
		       const struct anim *edit)
{
	const struct aged before = {v->anim, v->labels, &v->ages};

	return ages_init(ages, edited, second, &before, true, edit);
}

/* Checks that the views of a bone and those of the clip changed at the same time. */
static void ck_changed(const struct ages *ages, const struct version *v, uint32_t clip,
		       int64_t track, bool changed)
{
	struct age age = ages_of(ages, clip, track);

	ck_assert_int_eq(age.time.tv_sec, changed ? second.time.tv_sec : first.tv_sec);
	ck_assert_uint_eq(age.since, changed ? second.since : v->generation);
}

static struct version *read_version(const char *path)
{
	struct buf bytes = load_file(path);
	struct err err = {0};
	struct version *version =
		version_of_bytes(NULL, &bytes, strrchr(path, '/') + 1, NULL, &err);

	ck_assert_msg(version != NULL, "%s", err.message);
	version_settle_ages(version, first, NULL, NULL);
	return version;
}

static struct version *sample_version(void)
{
	return read_version("tests/data/canm/wiki512.canm");
}

/* Makes an edit with another translation of the first clip's third bone. */
static struct anim *edit(const struct version *v)
{
	static double values[3] = {42};
	static const struct curve curve = {.kind = CURVE_VECTOR, .count = 1, .values = values};
	struct anim *edited = anim_edit(v->anim);

	anim_edit_track(edited, 0, 2)->curve[ROLE_TRANSLATION] = &curve;
	return edited;
}

START_TEST(a_first_version_is_as_old_as_its_file)
{
	struct version *v = sample_version();

	for (uint32_t i = 0; i < v->anim->clip_count; i++) {
		for (int64_t j = -1; j < (int64_t)v->anim->clips[i].track_count; j++)
			ck_changed(&v->ages, v, i, j, false);
	}
	version_put(v);
}
END_TEST

START_TEST(only_what_changed_is_younger)
{
	struct version *v = sample_version();
	struct anim *edited = edit(v);
	struct ages ages;

	ck_assert(ages_after(&ages, edited, v, _i ? edited : NULL));
	for (uint32_t i = 0; i < v->anim->clip_count; i++) {
		for (int64_t j = -1; j < (int64_t)v->anim->clips[i].track_count; j++) {
			bool changed = i == 0 && (j == 2 || j == -1);

			ck_changed(&ages, v, i, j, changed);
		}
	}
	ages_release(&ages);
	anim_free(edited);
	version_put(v);
}
END_TEST

START_TEST(flags_of_keyframes_are_what_a_bone_says)
{
	struct version *v = read_version("tests/data/ribbon/objects024.anm");
	struct anim *edited = anim_edit(v->anim);
	struct track *track = anim_edit_track(edited, 0, 1);
	struct keyframes changed = *track->keyframes;
	uint8_t flags[256];
	struct ages ages;

	ck_assert_uint_gt(changed.count, 0);
	ck_assert_uint_le(changed.count, sizeof(flags));
	memcpy(flags, changed.flags, changed.count);
	flags[0] ^= 8;
	changed.flags = flags;
	track->keyframes = &changed;
	ck_assert(ages_after(&ages, edited, v, _i ? edited : NULL));
	ck_changed(&ages, v, 0, -1, true);
	for (int64_t j = 0; j < (int64_t)v->anim->clips[0].track_count; j++)
		ck_changed(&ages, v, 0, j, j == 1);
	ages_release(&ages);
	anim_free(edited);
	version_put(v);
}
END_TEST

START_TEST(a_name_is_what_a_bone_says)
{
	struct version *v = sample_version();
	struct anim *edited = anim_edit(v->anim);
	struct ages ages;

	anim_edit_track(edited, 0, 1)->name = "another name of the same file name";
	ck_assert(ages_after(&ages, edited, v, NULL));
	ck_changed(&ages, v, 0, -1, true);
	ck_changed(&ages, v, 0, 0, false);
	ck_changed(&ages, v, 0, 1, true);
	ages_release(&ages);
	anim_free(edited);
	version_put(v);
}
END_TEST

START_TEST(a_loop_is_the_clips_and_a_frame_time_everybodys)
{
	struct version *v = sample_version();
	struct anim *edited = anim_edit(v->anim);
	struct ages ages;

	anim_edit_clip(edited, 0)->loop = false;
	anim_edit_clip(edited, 1)->frame_time = 9;
	ck_assert(ages_after(&ages, edited, v, NULL));
	ck_changed(&ages, v, 0, -1, true);
	ck_changed(&ages, v, 0, 0, false);
	ck_changed(&ages, v, 1, -1, true);
	ck_changed(&ages, v, 1, 0, true);
	ck_changed(&ages, v, 2, -1, false);
	ages_release(&ages);
	anim_free(edited);
	version_put(v);
}
END_TEST

START_TEST(the_order_of_bones_is_the_clips)
{
	struct version *v = sample_version();
	struct anim *edited = anim_edit(v->anim);
	struct clip *clip = anim_edit_clip(edited, 0);
	struct track *tracks = anim_edit_track(edited, 0, 0), moved = tracks[0];
	struct ages ages;

	memmove(tracks, tracks + 1, (clip->track_count - 1) * sizeof(*tracks));
	tracks[clip->track_count - 1] = moved;
	ck_assert(ages_after(&ages, edited, v, NULL));
	ck_changed(&ages, v, 0, -1, true);
	for (int64_t j = 0; j < (int64_t)clip->track_count; j++)
		ck_changed(&ages, v, 0, j, false);
	ages_release(&ages);
	anim_free(edited);
	version_put(v);
}
END_TEST

/* Their texts may differ, although nothing in the clip does. */
START_TEST(what_else_texts_depend_on_is_newer_and_no_older)
{
	struct version *v = sample_version();
	const struct aged before = {v->anim, v->labels, &v->ages};
	struct ages ages;

	ck_assert(ages_init(&ages, v->anim, second, &before, false, _i ? v->anim : NULL));
	for (int64_t j = -1; j < (int64_t)v->anim->clips[0].track_count; j++) {
		ck_assert_int_eq(ages_of(&ages, 0, j).time.tv_sec, first.tv_sec);
		ck_assert_uint_eq(ages_of(&ages, 0, j).since, second.since);
	}
	ages_release(&ages);
	version_put(v);
}
END_TEST

/* 0.1 as a float32 and 0.1 on a grid are the same value, but have different digits. */
START_TEST(another_lane_is_another_text)
{
	struct version *v = sample_version();
	struct anim *edited = anim_edit(v->anim);
	struct track *track = anim_edit_track(edited, 0, 0);
	struct curve curve;
	struct ages ages;
	unsigned role = 0;

	while (!track->curve[role])
		role++;
	curve = *track->curve[role];
	curve.lane[0].exact = !curve.lane[0].exact;
	track->curve[role] = &curve;
	ck_assert(ages_after(&ages, edited, v, NULL));
	ck_assert_int_eq(ages_of(&ages, 0, 0).time.tv_sec, first.tv_sec);
	ck_assert_uint_eq(ages_of(&ages, 0, 0).since, second.since);
	ck_assert_uint_eq(ages_of(&ages, 0, -1).since, second.since);
	ages_release(&ages);
	anim_free(edited);
	version_put(v);
}
END_TEST

/* file.json lists the bones whose rotations have no angles. */
START_TEST(the_list_is_younger_when_a_bone_loses_its_angles)
{
	static const double values[][4] = {{0}, {0, 0, 0, 1}, {1, 0, 0, 0}};
	static const struct {
		bool was, is; /* rotations that have angles */
	} cases[] = {{false, false}, {false, true}, {true, false}, {true, true}};
	struct version *v = read_version("tests/data/canm/edf6_768.canm");
	struct curve was = {.kind = CURVE_QUATERNION, .count = 1, .values = values[cases[_i].was]};
	struct curve is = {
		.kind = CURVE_QUATERNION, .count = 1, .values = values[cases[_i].is ? 2 : 0]};
	struct anim *old = anim_edit(v->anim), *edited;
	struct ages ages;
	struct aged before = {old, v->labels, &v->ages};

	anim_edit_track(old, 0, 0)->curve[ROLE_ROTATION] = &was;
	edited = anim_edit(old);
	anim_edit_track(edited, 0, 0)->curve[ROLE_ROTATION] = &is;
	ck_assert(ages_init(&ages, edited, second, &before, true, NULL));
	ck_changed(&ages, v, 0, 0, cases[_i].was || cases[_i].is);
	ck_assert_int_eq(ages_listed(&ages).time.tv_sec,
			 cases[_i].was == cases[_i].is ? first.tv_sec : second.time.tv_sec);
	ages_release(&ages);
	anim_free(edited);
	anim_free(old);
	version_put(v);
}
END_TEST

START_TEST(the_list_is_younger_when_a_bone_without_angles_moves)
{
	static const double nothing[4] = {0};
	static const struct curve none = {.kind = CURVE_QUATERNION, .count = 1, .values = nothing};
	struct version *v = read_version("tests/data/canm/edf6_768.canm");
	struct anim *old = anim_edit(v->anim), *edited;
	struct ages ages;
	struct aged before = {old, v->labels, &v->ages};
	struct track *tracks, moved;

	ck_assert_uint_ge(v->anim->clips[0].track_count, 2);
	if (_i)
		anim_edit_track(old, 0, 0)->curve[ROLE_ROTATION] = &none;
	edited = anim_edit(old);
	tracks = anim_edit_track(edited, 0, 0);
	moved = tracks[0];
	tracks[0] = tracks[1];
	tracks[1] = moved;
	ck_assert(ages_init(&ages, edited, second, &before, true, NULL));
	ck_assert_int_eq(ages_listed(&ages).time.tv_sec, _i ? second.time.tv_sec : first.tv_sec);
	ages_release(&ages);
	anim_free(edited);
	anim_free(old);
	version_put(v);
}
END_TEST

/* Checks that ages saved from one version fit the same version after it is read again. */
static void ck_resumed(const struct ages *was)
{
	struct version *again = sample_version();
	struct ages ages, remembered;

	ck_assert(ages_remember(&remembered, was));
	ck_assert(ages_init(&ages, again->anim, (struct age){{300, 3}, 7}, NULL, false, NULL));
	ages_resume(&ages, &remembered, true);
	ck_assert_uint_eq(ages.count, was->count);
	ck_assert_int_eq(memcmp(ages.at, was->at, was->count * sizeof(*was->at)), 0);
	ck_assert_int_eq(memcmp(&ages.listed, &was->listed, sizeof(was->listed)), 0);
	ages_release(&remembered);
	ages_release(&ages);
	version_put(again);
}

START_TEST(of_a_file_that_was_only_read_one_age_is_remembered)
{
	struct version *v = sample_version();
	struct ages remembered;

	ck_assert(ages_remember(&remembered, &v->ages));
	ck_assert_ptr_null(remembered.at);
	ck_assert_uint_eq(remembered.size, 0);
	ages_release(&remembered);
	ck_resumed(&v->ages);
	version_put(v);
}
END_TEST

/* Ages of 0 must not be kept: the next version's texts would be from 1970. */
START_TEST(of_unknown_ages_nothing_is_remembered)
{
	struct version *v = sample_version();
	struct trace trace = {.generation = 0};
	struct ages remembered;

	ages_release(&v->ages); /* as if allocating them had failed */
	ck_assert(!ages_remember(&remembered, &v->ages));
	version_leave_trace(v, &trace);
	ck_assert_uint_eq(trace.generation, 0);
	version_put(v);
}
END_TEST

START_TEST(of_an_edited_file_all_ages_are_remembered)
{
	struct version *v = sample_version();
	struct anim *edited = edit(v);
	struct ages ages;

	ck_assert(ages_after(&ages, edited, v, edited));
	ck_resumed(&ages);
	ages_release(&ages);
	anim_free(edited);
	version_put(v);
}
END_TEST

Suite *ages_suite(void);
Suite *ages_suite(void)
{
	Suite *suite = suite_create("ages");
	TCase *tc = tcase_create("ages");

	tcase_add_test(tc, a_first_version_is_as_old_as_its_file);
	tcase_add_loop_test(tc, only_what_changed_is_younger, 0, 2);
	tcase_add_loop_test(tc, flags_of_keyframes_are_what_a_bone_says, 0, 2);
	tcase_add_test(tc, a_name_is_what_a_bone_says);
	tcase_add_test(tc, a_loop_is_the_clips_and_a_frame_time_everybodys);
	tcase_add_test(tc, the_order_of_bones_is_the_clips);
	tcase_add_loop_test(tc, what_else_texts_depend_on_is_newer_and_no_older, 0, 2);
	tcase_add_test(tc, another_lane_is_another_text);
	tcase_add_loop_test(tc, the_list_is_younger_when_a_bone_loses_its_angles, 0, 4);
	tcase_add_loop_test(tc, the_list_is_younger_when_a_bone_without_angles_moves, 0, 2);
	tcase_add_test(tc, of_a_file_that_was_only_read_one_age_is_remembered);
	tcase_add_test(tc, of_unknown_ages_nothing_is_remembered);
	tcase_add_test(tc, of_an_edited_file_all_ages_are_remembered);
	suite_add_tcase(suite, tc);
	return suite;
}
