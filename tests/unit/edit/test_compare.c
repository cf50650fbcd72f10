/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "edit/compare.h"
#include "edit/structure.h"
#include "edited.h"
#include "model/clip.h"
#include "skeleton/difference.h"

static void ck_difference(const struct anim *a, const struct anim *b, const char *expected)
{
	struct buf out = BUF_INIT;
	bool same = compare_files(a, b, &out);

	buf_char(&out, '\0');
	ck_assert(!out.failed);
	ck_assert_str_eq((const char *)out.data, expected);
	ck_assert_int_eq(same, !*expected);
	buf_release(&out);
}

static void ck_edit(const char *expected)
{
	ck_difference(sample.anim, edited, expected);
	teardown();
}

START_TEST(a_file_is_like_itself)
{
	static const char *const names[] = {"wiki512.canm",   "nan512.canm", "edf6_768.canm",
					    "v203.cas",       "sparse.006",  "flags7.anm",
					    "ramp33.ff9anim", "stick.kanim"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct sample again = sample_open(names[i]);

		setup(names[i]);
		ck_difference(sample.anim, again.anim, "");
		sample_close(&again);
		teardown();
	}
}
END_TEST

START_TEST(keys)
{
	struct shown at;

	setup("wiki512.canm");
	at = sample_shown(&sample, 0, "hip");
	anim_free(edited);
	edited = view_edit_ok(&view_bone_csv, &at, "0.5000076", "0.25");
	ck_edit("bone walk/hip\n-  translation 1 0.5000076 1 2.00001\n"
		"+  translation 1 0.25 1 2.00001\n");
	setup("wiki512.canm");
	anim_edit_track(edited, 0, 1)->curve[ROLE_TRANSLATION] = NULL;
	ck_edit("bone walk/Bone01\n-  translation all 1.5 -2 0.25\n");
}
END_TEST

START_TEST(values)
{
	setup("wiki512.canm");
	clip_set_loop(edited, anim_edit_clip(edited, 0), false);
	ck_edit("clip walk\n-  loop true\n+  loop false\n");
	setup("wiki512.canm");
	anim_edit_clip(edited, 1)->frame_time = 3;
	ck_edit("clip Idle\n-  frame_time 5\n+  frame_time 3\n");
}
END_TEST

START_TEST(bones)
{
	setup("wiki512.canm");
	ck_assert(anim_bone_rename(edited, 0, 1, "arm", &err));
	ck_edit("clip walk\n   bone Bone01 is called arm\n");
	setup("wiki512.canm");
	ck_assert(anim_bone_remove(edited, 0, 1, &err));
	ck_assert(anim_bone_add(edited, 0, "tail", &err));
	ck_edit("clip walk\n-  bone Bone01 (7 keys)\n+  bone tail (0 keys)\n");
	setup("wiki512.canm");
	struct track *tracks = (struct track *)anim_edit_clip(edited, 0)->tracks, first = tracks[0];

	tracks[0] = tracks[1];
	tracks[1] = first;
	ck_edit("clip walk\n   the bones stand in another order\n");
}
END_TEST

START_TEST(clips)
{
	setup("wiki512.canm");
	ck_assert(anim_clip_rename(edited, 0, "stride", &err));
	ck_edit(" clip walk is called stride\n");
	setup("wiki512.canm");
	ck_assert(anim_clip_remove(edited, 1, &err));
	ck_assert(anim_clip_new(edited, "more", 5, &err));
	ck_edit("-clip Idle (3 frames, 2 bones)\n+clip more (5 frames, 0 bones)\n");
}
END_TEST

START_TEST(stills)
{
	setup("stick.kanim");
	anim_edit_clip(edited, 0)->frames--;
	ck_edit("clip %\n-  frames 3\n+  frames 2\n-  frame 2 2 frame_2.x3d\n");
}
END_TEST

/* The same movement in another format is no difference; another movement is. */
START_TEST(formats)
{
	struct anim *other = anim_blank(codec_named("canm")->format, NULL);
	struct buf bytes = BUF_INIT;
	struct sample canm;
	struct track *track;
	struct buf out = BUF_INIT;

	setup("walk.006");
	ck_assert(anim_clip_copy(other, sample.anim, 0, "anything", NULL, &err));
	ck_assert(codec_named("canm")->encode(other, (struct bytes){NULL, 0}, &bytes, &err));
	canm = sample_decode("walk.canm", bytes);
	ck_difference(sample.anim, canm.anim, "");
	ck_difference(canm.anim, sample.anim, "");
	track = anim_edit_track(edited, 0, 2);
	ck_assert_ptr_nonnull(track->curve[ROLE_ROTATION]);
	track->curve[ROLE_ROTATION] = edited->clips[0].tracks[3].curve[ROLE_ROTATION];
	ck_assert(!compare_files(canm.anim, edited, &out));
	buf_char(&out, '\0');
	ck_assert_msg(strncmp((const char *)out.data, "bone anything/", 14) == 0, "%s", out.data);
	ck_assert_ptr_nonnull(strstr((const char *)out.data, "\n-  rotation "));
	ck_assert_ptr_nonnull(strstr((const char *)out.data, "\n+  rotation "));
	buf_release(&out);
	sample_close(&canm);
	anim_free(other);
	teardown();
}
END_TEST

START_TEST(parts_of_files)
{
	struct buf out = BUF_INIT;

	setup("wiki512.canm");
	ck_assert(compare_clips(sample.anim, 0, sample.anim, 0, &out));
	ck_assert(!compare_clips(sample.anim, 0, sample.anim, 1, &out));
	ck_assert_uint_gt(out.size, 0);
	buf_clear(&out);
	ck_assert(compare_bones(sample.anim, 0, 1, sample.anim, 0, 1, &out));
	ck_assert_uint_eq(out.size, 0);
	ck_assert(!compare_bones(sample.anim, 0, 1, sample.anim, 0, 2, &out));
	buf_release(&out);
	teardown();
}
END_TEST

static struct skeleton *skeleton_of(const char *text)
{
	struct skeleton *s = skeleton_read(bytes_of(text), NULL, &err);

	ck_assert_msg(s != NULL, "%s", err.message);
	return s;
}

START_TEST(skeletons)
{
	struct skeleton *a = skeleton_of("bone,parent,tx\nhip,,1\nleg,hip,2\nfloor,,3\n");
	struct skeleton *b = skeleton_of("bone,parent,tx\nleg,hip,4\nhip,,1\nhead,,5\n");
	struct buf out = BUF_INIT;

	ck_assert(!skeleton_difference(a, b, &out));
	buf_char(&out, '\0');
	ck_assert_str_eq((char *)out.data,
			 "-leg,hip,2,0,0,0,0,0,1,1,1\n+leg,hip,4,0,0,0,0,0,1,1,1\n"
			 "-floor,,3,0,0,0,0,0,1,1,1\n"
			 "+head,,5,0,0,0,0,0,1,1,1\n");
	buf_clear(&out);
	ck_assert(skeleton_difference(a, a, &out));
	ck_assert(skeleton_difference(NULL, NULL, &out));
	ck_assert_uint_eq(out.size, 0);
	ck_assert(!skeleton_difference(a, NULL, &out));
	ck_assert(!skeleton_difference(NULL, a, &out));
	buf_release(&out);
	skeleton_free(a);
	skeleton_free(b);
}
END_TEST

Suite *compare_suite(void);
Suite *compare_suite(void)
{
	Suite *s = suite_create("compare");
	TCase *tc = tcase_create("compare");

	tcase_add_test(tc, a_file_is_like_itself);
	tcase_add_test(tc, keys);
	tcase_add_test(tc, values);
	tcase_add_test(tc, bones);
	tcase_add_test(tc, clips);
	tcase_add_test(tc, stills);
	tcase_add_test(tc, formats);
	tcase_add_test(tc, parts_of_files);
	tcase_add_test(tc, skeletons);
	suite_add_tcase(s, tc);
	return s;
}
