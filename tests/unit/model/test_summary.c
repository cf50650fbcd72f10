/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The differences between two versions, in one line. */
#include "edit/structure.h"
#include "model/clip.h"
#include "model/summary.h"
#include "sample.h"

static struct sample sample;
static struct anim *edited;

static void begin(void)
{
	sample = sample_open("wiki512.canm");
	edited = anim_edit(sample.anim);
	ck_assert_ptr_nonnull(edited);
}

static void end(void)
{
	anim_free(edited);
	sample_close(&sample);
}

/*
 * Checks the summary, also after the edit is stored and decoded again, when nothing is shared any
 * more.
 */
static void ck_summary(const char *expected)
{
	struct sample stored = sample_store(&sample, edited);
	const struct anim *after[] = {edited, stored.anim};

	for (size_t i = 0; i < ARRAY_SIZE(after); i++) {
		struct buf line = BUF_INIT;

		summary_files(sample.anim, after[i], &line);
		buf_char(&line, '\0');
		ck_assert_str_eq((const char *)line.data, expected);
		buf_release(&line);
	}
	sample_close(&stored);
}

/* Edits a bone: its keys in this clip are replaced. */
static void edit(const char *bone, const char *was, const char *is)
{
	struct shown at = sample_shown(&sample, 0, bone);

	anim_free(edited);
	edited = view_edit_ok(&view_bone_csv, &at, was, is);
}

START_TEST(nothing)
{
	ck_summary("");
}
END_TEST

START_TEST(keys)
{
	edit("hip", "0.5000076", "0.25");
	ck_summary("walk: hip translation 1 key");
}
END_TEST

START_TEST(a_curve_that_went)
{
	anim_edit_track(edited, 0, 1)->curve[ROLE_TRANSLATION] = NULL;
	ck_summary("walk: Bone01 translation removed");
}
END_TEST

START_TEST(values_of_a_clip)
{
	clip_set_loop(edited, anim_edit_clip(edited, 0), false);
	anim_edit_clip(edited, 1)->frame_time = 7;
	ck_summary("walk: clip.json loop; Idle: clip.json frame_time");
}
END_TEST

START_TEST(clips)
{
	struct err err = {.code = ERR_NONE};

	ck_assert(anim_clip_rename(edited, 0, "run", &err));
	ck_summary("clip walk is called run");
	ck_assert(anim_clip_remove(edited, 1, &err));
	ck_summary("clip walk is called run; clip Idle removed");
}
END_TEST

START_TEST(many_are_counted)
{
	for (uint32_t i = 0; i < edited->clip_count; i++) {
		struct clip *clip = anim_edit_clip(edited, i);

		clip_set_loop(edited, clip, !clip->loop);
		clip->frame_time += 1;
	}
	ck_assert_uint_eq(edited->clip_count, 4);
	ck_summary("walk: clip.json loop, clip.json frame_time; Idle: clip.json loop, clip.json "
		   "frame_time; 攻撃_01: clip.json loop, clip.json frame_time; and 2 more");
}
END_TEST

static void ck_joined(const char *earlier, const char *later, const char *expected)
{
	struct buf text = BUF_INIT, line = BUF_INIT;

	buf_text(&text, later);
	summary_join(earlier, &text, &line);
	buf_char(&line, '\0');
	ck_assert_str_eq((const char *)line.data, expected);
	buf_release(&text);
	buf_release(&line);
}

START_TEST(what_follows_is_joined)
{
	ck_joined("", "", "");
	ck_joined("", "walk: hips scale", "walk: hips scale");
	ck_joined("walk: hips scale", "", "walk: hips scale");
	ck_joined("walk: hips scale", "run: hips scale", "walk: hips scale; run: hips scale");
	ck_joined("walk: hips scale 3 keys", "walk: hips scale 12 keys",
		  "walk: hips scale 12 keys");
	ck_joined("a; b", "b", "a; b");
}
END_TEST

Suite *summary_suite(void);
Suite *summary_suite(void)
{
	Suite *s = suite_create("summary");
	TCase *tc = tcase_create("summary");

	tcase_add_checked_fixture(tc, begin, end);
	tcase_add_test(tc, nothing);
	tcase_add_test(tc, keys);
	tcase_add_test(tc, a_curve_that_went);
	tcase_add_test(tc, values_of_a_clip);
	tcase_add_test(tc, clips);
	tcase_add_test(tc, many_are_counted);
	tcase_add_test(tc, what_follows_is_joined);
	suite_add_tcase(s, tc);
	return s;
}
