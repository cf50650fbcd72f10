/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ages.h"
#include "sample.h"
#include "snap.h"

static const struct timespec first = {100, 1}, second = {200, 2};

static struct snap *snap_of(const char *path)
{
	struct buf bytes = load_file(path);
	struct err err = {0};
	struct snap *snap = snap_of_bytes(NULL, &bytes, strrchr(path, '/') + 1, NULL, &err);

	ck_assert_msg(snap != NULL, "%s", err.message);
	ck_assert(ages_init(&snap->ages, snap->anim, first, NULL, NULL));
	return snap;
}

static struct snap *sample_snap(void)
{
	return snap_of("tests/data/canm/wiki512.canm");
}

START_TEST(a_first_version_is_as_old_as_its_file)
{
	struct snap *s = sample_snap();

	for (uint32_t i = 0; i < s->anim->clip_count; i++) {
		for (int64_t j = -1; j < (int64_t)s->anim->clips[i].track_count; j++)
			ck_assert_int_eq(ages_of(&s->ages, i, j).tv_sec, first.tv_sec);
	}
	snap_put(s);
}
END_TEST

START_TEST(only_what_changed_is_younger)
{
	struct snap *s = sample_snap();
	struct anim *edited = anim_edit(s->anim);
	double values[3] = {42};
	const struct curve curve = {.kind = CURVE_VECTOR, .count = 1, .values = values};
	struct ages ages;

	anim_edit_track(edited, 0, 2)->curve[ROLE_TRANSLATION] = &curve;
	ck_assert(ages_init(&ages, edited, second, s, _i ? edited : NULL));
	for (uint32_t i = 0; i < s->anim->clip_count; i++) {
		for (int64_t j = -1; j < (int64_t)s->anim->clips[i].track_count; j++) {
			bool changed = i == 0 && (j == 2 || j == -1);

			ck_assert_int_eq(ages_of(&ages, i, j).tv_sec,
					 changed ? second.tv_sec : first.tv_sec);
			ck_assert_int_eq(ages_kept(&ages, i, j), !changed);
		}
	}
	ages_release(&ages);
	anim_free(edited);
	snap_put(s);
}
END_TEST

START_TEST(flags_of_keyframes_are_what_a_bone_says)
{
	struct snap *s = snap_of("tests/data/ribbon/objects024.anm");
	struct anim *edited = anim_edit(s->anim);
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
	ck_assert(ages_init(&ages, edited, second, s, _i ? edited : NULL));
	ck_assert_int_eq(ages_of(&ages, 0, -1).tv_sec, second.tv_sec);
	for (int64_t j = 0; j < (int64_t)s->anim->clips[0].track_count; j++)
		ck_assert_int_eq(ages_of(&ages, 0, j).tv_sec,
				 j == 1 ? second.tv_sec : first.tv_sec);
	ages_release(&ages);
	anim_free(edited);
	snap_put(s);
}
END_TEST

START_TEST(a_name_is_what_a_bone_says)
{
	struct snap *s = sample_snap();
	struct anim *edited = anim_edit(s->anim);
	struct ages ages;

	anim_edit_track(edited, 0, 1)->name = "another name of the same file name";
	ck_assert(ages_init(&ages, edited, second, s, NULL));
	ck_assert_int_eq(ages_of(&ages, 0, -1).tv_sec, second.tv_sec);
	ck_assert_int_eq(ages_of(&ages, 0, 0).tv_sec, first.tv_sec);
	ck_assert_int_eq(ages_of(&ages, 0, 1).tv_sec, second.tv_sec);
	ages_release(&ages);
	anim_free(edited);
	snap_put(s);
}
END_TEST

START_TEST(a_loop_is_the_clips_and_a_frame_time_everybodys)
{
	struct snap *s = sample_snap();
	struct anim *edited = anim_edit(s->anim);
	struct ages ages;

	anim_edit_clip(edited, 0)->loop = false;
	anim_edit_clip(edited, 1)->frame_time = 9;
	ck_assert(ages_init(&ages, edited, second, s, NULL));
	ck_assert_int_eq(ages_of(&ages, 0, -1).tv_sec, second.tv_sec);
	ck_assert_int_eq(ages_of(&ages, 0, 0).tv_sec, first.tv_sec);
	ck_assert_int_eq(ages_of(&ages, 1, -1).tv_sec, second.tv_sec);
	ck_assert_int_eq(ages_of(&ages, 1, 0).tv_sec, second.tv_sec);
	ck_assert_int_eq(ages_of(&ages, 2, -1).tv_sec, first.tv_sec);
	ages_release(&ages);
	anim_free(edited);
	snap_put(s);
}
END_TEST

START_TEST(the_order_of_bones_is_the_clips)
{
	struct snap *s = sample_snap();
	struct anim *edited = anim_edit(s->anim);
	struct clip *clip = anim_edit_clip(edited, 0);
	struct track *tracks = anim_edit_track(edited, 0, 0), moved = tracks[0];
	struct ages ages;

	memmove(tracks, tracks + 1, (clip->track_count - 1) * sizeof(*tracks));
	tracks[clip->track_count - 1] = moved;
	ck_assert(ages_init(&ages, edited, second, s, NULL));
	ck_assert_int_eq(ages_of(&ages, 0, -1).tv_sec, second.tv_sec);
	for (int64_t j = 0; j < (int64_t)clip->track_count; j++)
		ck_assert_int_eq(ages_of(&ages, 0, j).tv_sec, first.tv_sec);
	ages_release(&ages);
	anim_free(edited);
	snap_put(s);
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
	suite_add_tcase(suite, tc);
	return suite;
}
