/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ages.h"
#include "sample.h"

static const struct timespec first = {100, 1}, second = {200, 2};

START_TEST(a_first_version_is_as_old_as_its_file)
{
	struct sample s = sample_open("wiki512.canm");
	struct ages ages;

	ck_assert(ages_init(&ages, s.anim, first, NULL, NULL));
	for (uint32_t i = 0; i < s.anim->clip_count; i++) {
		for (int64_t j = -1; j < (int64_t)s.anim->clips[i].track_count; j++)
			ck_assert_int_eq(ages_of(&ages, i, j).tv_sec, first.tv_sec);
	}
	ages_release(&ages);
	sample_close(&s);
}
END_TEST

/* The ages of a model in which the first key of one curve is another. */
static struct ages after_edit(const struct sample *s, uint32_t clip, uint32_t track)
{
	struct anim *edited = anim_edit(s->anim);
	struct track *t = anim_edit_track(edited, clip, track);
	struct curve *curve = arena_alloc(&edited->arena, 1, sizeof(*curve));
	double *values = arena_alloc(&edited->arena, 3, sizeof(*values));
	struct ages was, ages;

	*curve = (struct curve){.kind = CURVE_VECTOR, .count = 1, .values = values};
	values[0] = 42;
	t->curve[ROLE_TRANSLATION] = curve;
	ck_assert(ages_init(&was, s->anim, first, NULL, NULL));
	ck_assert(ages_init(&ages, edited, second, s->anim, &was));
	ages_release(&was);
	anim_free(edited);
	return ages;
}

START_TEST(only_what_changed_is_younger)
{
	struct sample s = sample_open("wiki512.canm");
	struct ages ages = after_edit(&s, 0, 2);

	for (uint32_t i = 0; i < s.anim->clip_count; i++) {
		for (int64_t j = -1; j < (int64_t)s.anim->clips[i].track_count; j++) {
			bool changed = i == 0 && (j == 2 || j == -1);

			ck_assert_int_eq(ages_of(&ages, i, j).tv_sec,
					 changed ? second.tv_sec : first.tv_sec);
		}
	}
	ages_release(&ages);
	sample_close(&s);
}
END_TEST

START_TEST(a_loop_is_the_clips_and_a_frame_time_everybodys)
{
	struct sample s = sample_open("wiki512.canm");
	struct anim *edited = anim_edit(s.anim);
	struct ages was, ages;

	anim_edit_clip(edited, 0)->loop = false;
	anim_edit_clip(edited, 1)->frame_time = 9;
	ck_assert(ages_init(&was, s.anim, first, NULL, NULL));
	ck_assert(ages_init(&ages, edited, second, s.anim, &was));
	ck_assert_int_eq(ages_of(&ages, 0, -1).tv_sec, second.tv_sec);
	ck_assert_int_eq(ages_of(&ages, 0, 0).tv_sec, first.tv_sec);
	ck_assert_int_eq(ages_of(&ages, 1, -1).tv_sec, second.tv_sec);
	ck_assert_int_eq(ages_of(&ages, 1, 0).tv_sec, second.tv_sec);
	ck_assert_int_eq(ages_of(&ages, 2, -1).tv_sec, first.tv_sec);
	ages_release(&was);
	ages_release(&ages);
	anim_free(edited);
	sample_close(&s);
}
END_TEST

Suite *ages_suite(void);
Suite *ages_suite(void)
{
	Suite *suite = suite_create("ages");
	TCase *tc = tcase_create("ages");

	tcase_add_test(tc, a_first_version_is_as_old_as_its_file);
	tcase_add_test(tc, only_what_changed_is_younger);
	tcase_add_test(tc, a_loop_is_the_clips_and_a_frame_time_everybodys);
	suite_add_tcase(suite, tc);
	return suite;
}
