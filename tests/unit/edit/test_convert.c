/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What of a file another format can store: each loss has its line. */
#include "edit/convert.h"
#include "edit/structure.h"
#include "edited.h"
#include "model/clip.h"

/* The lines about converting the sample, as `edited` now is, to a format. */
static struct buf losses(const char *format)
{
	struct anim *to = anim_blank(codec_named(format)->format, NULL);
	struct buf lost = BUF_INIT;
	struct anim *reduced;

	ck_assert(to != NULL);
	reduced = convert_reduce(edited, to, &lost, &err);
	ck_assert(reduced != NULL);
	buf_char(&lost, '\0');
	anim_free(reduced);
	anim_free(to);
	return lost;
}

static void loses(const char *format, const char *lines)
{
	struct buf lost = losses(format);

	ck_assert_str_eq((const char *)lost.data, lines);
	buf_release(&lost);
}

static void loses_line(const char *format, const char *line)
{
	struct buf lost = losses(format);

	ck_assert_msg(strstr((const char *)lost.data, line), "no \"%s\" in:\n%s", line,
		      (const char *)lost.data);
	buf_release(&lost);
}

START_TEST(within_a_format_nothing_is_lost)
{
	for (const char *const *name = sample_names; *name; name++) {
		setup(*name);
		loses(sample.anim->format->name, "");
		teardown();
	}
}
END_TEST

START_TEST(fields_of_one_format_are_lost_with_their_values)
{
	setup("small.006");
	loses("canm",
	      "the file: bytes without a known meaning: in the header, the table or at the end\n"
	      "the file: effect_high 118489088, effect_low 4660\n"
	      "small: counter1 160\n"
	      "small: which frames have keys (all get one) of 3 bones (bone_0E7A, bone_1BB5, "
	      "bone_11EA)\n");
	teardown();
	setup("walk.anim");
	loses_line("ff9anim", "walk: name \"ANH_MAIN_F0_ZDN_WALK\", before 2, after 2, legacy 1, ");
	loses_line("ff9anim", "walk: the path, which says the parent, of 3 bones (bone001, ");
	loses_line("canm", "walk: the tangents (keys in all frames instead) of 4 bones (");
	teardown();
	setup("floats.anim");
	loses_line("ff9anim", "the file: its float and pointer curves, and the bytes behind its ");
	teardown();
	setup("v203.cas");
	loses_line("canm", "the file: its records, by which the game decides ");
	teardown();
}
END_TEST

START_TEST(a_text_of_a_file_stays_on_its_line)
{
	struct clip *clip;
	bool found;

	setup("floats.anim");
	clip = anim_edit_clip(edited, 0);
	clip_edit_field(edited, clip, "name", &found)->text = "a\nfloats: \033[31m";
	ck_assert(found);
	loses_line("canm", "floats: name \"a?floats: ?[31m\", before 2");
	teardown();
}
END_TEST

/* Both formats store a loop as a number, of which games know more than 0 and 1. */
START_TEST(a_loop_number_is_kept_where_the_format_has_one)
{
	struct anim *to = anim_blank(codec_named("canm")->format, NULL), *reduced;
	struct buf lost = BUF_INIT;
	struct clip *clip;
	bool found;

	setup("v203.cas");
	clip = anim_edit_clip(edited, 0);
	ck_assert(clip_set_loop(edited, clip, false));
	clip_edit_field(edited, clip, "loop", &found)->integer = 2;
	ck_assert(found);
	reduced = convert_reduce(edited, to, &lost, &err);
	ck_assert(reduced && anim_clip_copy(to, reduced, 0, "a", NULL, &err));
	ck_assert_uint_eq(to->clips[0].field_count, 1);
	ck_assert_str_eq(to->clips[0].fields[0].name, "loop");
	ck_assert_int_eq(to->clips[0].fields[0].integer, 2);
	ck_assert(!to->clips[0].loop);
	buf_char(&lost, '\0');
	ck_assert_ptr_null(strstr((const char *)lost.data, "loop"));
	buf_release(&lost);
	anim_free(to);
	anim_free(reduced);
	teardown();
}
END_TEST

START_TEST(numbers_out_of_range_become_the_end_of_it)
{
	static const double values[3] = {40000, 32767.25, -1e30}, none[3] = {0, NAN, 0};
	static const struct curve far = {.kind = CURVE_VECTOR, .count = 1, .values = values},
				  nan = {.kind = CURVE_VECTOR, .count = 1, .values = none};
	struct anim *to = anim_blank(codec_named("ff9anim")->format, NULL), *reduced;
	struct buf lost = BUF_INIT;
	const struct curve *c;

	setup("edf6_768.canm");
	anim_edit_track(edited, 0, 0)->curve[ROLE_TRANSLATION] = &far;
	loses_line("ff9anim", "turn: the translation beyond -32768 to 32767 (the nearest end "
			      "instead) of 1 bone (Scene_Root)\n");
	reduced = convert_reduce(edited, to, &lost, &err);
	ck_assert(reduced != NULL);
	c = reduced->clips[0].tracks[0].curve[ROLE_TRANSLATION];
	ck_assert_double_eq(curve_value(c, 0, 0), 32767);
	ck_assert_double_eq(curve_value(c, 0, 1), 32767.25); /* only rounding moves it past */
	ck_assert_double_eq(curve_value(c, 0, 2), -32768);
	anim_free(reduced);
	anim_edit_track(edited, 0, 0)->curve[ROLE_TRANSLATION] = &nan;
	buf_clear(&lost);
	reduced = convert_reduce(edited, to, &lost, &err);
	ck_assert(reduced && reduced->clips[0].tracks[0].curve[ROLE_TRANSLATION] == &nan);
	buf_char(&lost, '\0');
	ck_assert_ptr_null(strstr((const char *)lost.data, "beyond"));
	buf_release(&lost);
	anim_free(reduced);
	anim_free(to);
	teardown();
}
END_TEST

START_TEST(a_loop_number_that_is_no_loop_is_lost)
{
	struct clip *clip;
	struct field *loop;
	bool found;

	setup("edf6_768.canm");
	clip = anim_edit_clip(edited, 0);
	ck_assert(clip_set_loop(edited, clip, false));
	loop = clip_edit_field(edited, clip, "loop", &found);
	ck_assert(found);
	loop->integer = 2;
	loses("cas", "");
	loses_line("owanim", "turn: loop 2\n");
	teardown();
}
END_TEST

START_TEST(times_that_the_frames_do_not_give_are_lost)
{
	struct clip *clip;

	setup("edf6_768.canm");
	clip = anim_edit_clip(edited, 0);
	clip->duration += 0.5f;
	loses("cas", "turn: its duration, 0.025 s: its frames take 0.0166667 s\n");
	clip->duration = 1;
	clip->frame_time = 0;
	loses("cas", "turn: its frame time, 0: frames get 0.0166667 s\n");
	teardown();
}
END_TEST

START_TEST(keys_that_are_made_anew_are_lost)
{
	setup("odd512.canm");
	loses_line("owanim", "the file: 1 name of bones that no clip has\n"
			     "dup~2: the clip: owanim files hold one\n");
	loses_line("owanim", "dup: the keys past the end of 1 bone (zz)\n");
	teardown();
	setup("duplicate.anm");
	loses_line("canm", "duplicate: all but the last of the keys that a frame has twice of 1 ");
	teardown();
	setup("flags7.anm");
	loses_line("canm", "flags7: the flags of keyframes, and in which frames they are drawn, ");
	teardown();
}
END_TEST

START_TEST(bones_without_keys_are_lost_where_they_are_their_keys)
{
	setup("wiki512.canm");
	loses_line("ribbon", "walk: all, since they have no keys, of 1 bone (右手)\n"
			     "walk: the frames without keys, in which they are not drawn there, of "
			     "1 bone (Scene_Root)\n");
	loses_line("ff9clip", "walk: the order of its bones\n");
	teardown();
}
END_TEST

START_TEST(the_space_of_the_values_is_lost)
{
	setup("flags0.anm");
	loses_line("canm", "the file: that Y points down: the values stay, in canm it points up\n"
			   "the file: the space of its bones, the model's: the values stay, in "
			   "canm it is their parents'\n"
			   "the file: its unit of length, game unit: the values stay, in canm it "
			   "is m\n");
	teardown();
}
END_TEST

START_TEST(what_ff9_blocks_keep_beside_the_model_is_lost)
{
	setup("trailing.ff9anim");
	loses("ff9clip", "the file: the bytes behind its last part\n");
	teardown();
	setup("mask_high_bits.ff9anim");
	loses("ff9clip", "the file: bits of its masks without a known meaning\n");
	teardown();
	setup("word0_nonzero.ff9anim");
	loses("ff9clip", "word0_nonzero: word0 1\n");
	teardown();
	setup("frames007_low.ff9anim");
	loses("ff9clip", "");
	teardown();
}
END_TEST

/* What is left can be copied, whatever the formats; only numbers may not fit. */
START_TEST(what_is_left_can_be_copied)
{
	for (const char *const *name = sample_names; *name; name++) {
		setup(*name);
		for (unsigned i = 0; codecs[i]; i++) {
			struct anim *to = anim_blank(codecs[i]->format, NULL), *reduced;
			struct buf lost = BUF_INIT;

			if (codecs[i]->format->stills || codecs[i]->format->parts) {
				anim_free(to);
				continue;
			}
			reduced = convert_reduce(edited, to, &lost, &err);
			ck_assert(reduced != NULL);
			for (uint32_t c = 0; c < reduced->clip_count; c++)
				ck_assert_msg(
					anim_clip_copy(to, reduced, c, c ? "b" : "a", NULL, &err) ||
						c > 0,
					"%s to %s: %s", *name, codecs[i]->format->name,
					err.message);
			err_clear(&err);
			buf_release(&lost);
			anim_free(to);
			anim_free(reduced);
		}
		teardown();
	}
}
END_TEST

Suite *convert_suite(void);

Suite *convert_suite(void)
{
	Suite *s = suite_create("convert");
	TCase *tc = tcase_create("convert");

	tcase_add_test(tc, within_a_format_nothing_is_lost);
	tcase_add_test(tc, fields_of_one_format_are_lost_with_their_values);
	tcase_add_test(tc, a_text_of_a_file_stays_on_its_line);
	tcase_add_test(tc, a_loop_number_is_kept_where_the_format_has_one);
	tcase_add_test(tc, numbers_out_of_range_become_the_end_of_it);
	tcase_add_test(tc, a_loop_number_that_is_no_loop_is_lost);
	tcase_add_test(tc, times_that_the_frames_do_not_give_are_lost);
	tcase_add_test(tc, keys_that_are_made_anew_are_lost);
	tcase_add_test(tc, bones_without_keys_are_lost_where_they_are_their_keys);
	tcase_add_test(tc, the_space_of_the_values_is_lost);
	tcase_add_test(tc, what_ff9_blocks_keep_beside_the_model_is_lost);
	tcase_add_test(tc, what_is_left_can_be_copied);
	suite_add_tcase(s, tc);
	return s;
}
