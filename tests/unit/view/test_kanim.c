/* SPDX-License-Identifier: GPL-3.0-or-later */
#define FIRST_CLIP_OF "wiki512.canm"
#include "first_clip.h"

#include <math.h>

static const char walk[] = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
			   "<animation scenes_per_time=\"30\" loop=\"true\">\n"
			   "  <frame url=\"frames/frame_00000.x3d\" time=\"0\"/>\n"
			   "  <frame url=\"frames/frame_00001.x3d\" time=\"0.033333335\"/>\n"
			   "  <frame url=\"frames/frame_00002.x3d\" time=\"0.06666667\"/>\n"
			   "</animation>\n";

static void refused(const char *was, const char *is, size_t line, size_t column, const char *words)
{
	view_edit_refused(&view_kanim, &at, was, is, ERR_TEXT, line, column, words);
}

static struct anim *save(const char *text)
{
	struct err err = {0};
	struct anim *edited = view_kanim.parse(&at, bytes_of(text), &err);

	ck_assert_msg(edited != NULL, "%s", err.message);
	return edited;
}

/* Returns a kanim of the clip with other times; `times` has one for each frame of the clip. */
static char *retimed(const char *const *times)
{
	struct buf out = BUF_INIT;

	buf_text(&out, "<animation loop=\"true\">");
	for (unsigned i = 0; i < s.anim->clips[at.clip].frames; i++)
		buf_format(&out, "<frame url=\"frames/frame_%05u.x3d\" time=\"%s\"/>", i, times[i]);
	buf_text(&out, "</animation>");
	buf_char(&out, '\0');
	ck_assert(!out.failed);
	return (char *)out.data;
}

/* ---- render ---- */

START_TEST(a_clip_is_one_frame_a_still)
{
	struct buf text = view_text(&view_kanim, &at);

	ck_assert_str_eq((const char *)text.data, walk);
	buf_release(&text);
}
END_TEST

START_TEST(clips_without_bones_have_no_stills)
{
	ck_assert(view_kanim.present(&at));
	ck_assert(view_x3d_frame.present(&at));
	at.frame = 3;
	ck_assert(!view_x3d_frame.present(&at));
	at.clip = 3;
	ck_assert(!view_kanim.present(&at));
}
END_TEST

/*
 * Reads the next time in the text, and moves the text's start behind it. No line is longer than the
 * window.
 */
static bool next_time(struct bytes *text, float *time)
{
	static const char name[] = " time=\"";
	size_t window = text->size < 200 ? text->size : 200;
	const uint8_t *found = memmem(text->data, window, name, sizeof(name) - 1);
	char number[64] = "";

	if (!found)
		return false;
	found += sizeof(name) - 1;
	text->size -= (size_t)(found - text->data);
	text->data = found;
	memcpy(number, found, text->size < sizeof(number) ? text->size : sizeof(number) - 1);
	*time = strtof(number, NULL);
	return true;
}

/* Checks that times ascend as float32, which the engine needs; it also fails on "nan" and "inf". */
static void assert_ascending(const struct anim *a)
{
	struct shown now = at;
	float last = -1, time = 0;
	bool ascending = true;
	struct bytes rest;
	struct buf text;

	now.anim = a;
	text = view_text(&view_kanim, &now);
	ck_assert_ptr_null(strstr((const char *)text.data, "=\"nan"));
	ck_assert_ptr_null(strstr((const char *)text.data, "=\"inf"));
	for (rest = buf_bytes(&text); next_time(&rest, &time); last = time)
		ascending = ascending && time > last && isfinite(time);
	ck_assert(ascending);
	ck_assert(last >= 0);
	buf_release(&text);
}

START_TEST(times_ascend_whatever_is_stored)
{
	static const float times[] = {2,     0,        -1,  0x1p-149f,       1e-38f,
				      1e38f, INFINITY, NAN, 0x1.fffffep127f, 1e-7f};

	for (size_t i = 0; i < ARRAY_SIZE(times); i++) {
		struct anim *odd = anim_edit(s.anim);
		struct clip *clip = anim_edit_clip(odd, 0);
		struct shown now = at;
		struct anim *again;
		struct buf text;
		struct err err = {0};

		clip->frame_time = times[i];
		clip->frames = i % 2 ? 65535 : 3;
		assert_ascending(odd);
		now.anim = odd;
		text = view_text(&view_kanim, &now);
		again = view_kanim.parse(&now, buf_bytes(&text), &err);
		ck_assert_msg(again != NULL, "%s", err.message);
		ck_assert(model_same(again, odd));
		anim_free(again);
		anim_free(odd);
		buf_release(&text);
	}
}
END_TEST

/* ---- edits ---- */

START_TEST(loop_can_be_edited)
{
	struct anim *edited = view_edit_ok(&view_kanim, &at, "\"true\"", "\"FALSE\"");

	ck_assert(!edited->clips[0].loop);
	ck_assert_int_eq(edited->clips[0].fields[0].integer, 0);
	ck_assert(f32_bits(edited->clips[0].frame_time) == f32_bits(2));
	anim_free(edited);
	edited = view_edit_ok(&view_kanim, &at, " loop=\"true\"", "");
	ck_assert(!edited->clips[0].loop);
	anim_free(edited);
	at.clip = 1;
	edited = view_edit_ok(&view_kanim, &at, "\"false\"", "\"1\"");
	ck_assert(edited->clips[1].loop);
	ck_assert_int_eq(edited->clips[1].fields[0].integer, 1);
	anim_free(edited);
}
END_TEST

static const struct {
	const char *times[3];
	float frame_time, duration;
} steps[] = {
	{{"0", "0.1", "0.2"}, 6, 12},
	{{"0.0", "5e-1", "1"}, 30, 60},
	{{"0", "0.016666668", "0.033333335"}, 1, 2},
	{{"0", "0.0333333", "0.0666667"}, 2.000001f, 4.000002f},
	{{"0", "0.033333", "0.066666"}, 1.99998f, 3.99996f},
};

START_TEST(even_times_are_a_new_frame_time)
{
	char *text = retimed(steps[_i].times);
	struct anim *edited = save(text);
	const struct clip *clip = &edited->clips[0];

	ck_assert_msg(fabsf(clip->frame_time - steps[_i].frame_time) <=
			      steps[_i].frame_time * 1e-7f,
		      "%.9g", (double)clip->frame_time);
	ck_assert(fabsf(clip->duration - steps[_i].duration) <= steps[_i].duration * 1e-7f);
	ck_assert(f32_bits(clip->duration) == f32_bits(clip->frame_time * 2));
	ck_assert_ptr_eq(clip->tracks[1].curve[0], s.anim->clips[0].tracks[1].curve[0]);
	anim_free(edited);
	free(text);
}
END_TEST

/* Saved times are read back, to the precision of float32. */
START_TEST(saved_times_are_read_again)
{
	static const double factors[] = {0.5, 2, 3, 0.1, 1.0 / 3, 60, 1e-3, 1234.5};

	for (size_t i = 0; i < ARRAY_SIZE(factors); i++) {
		char times[3][32];
		const char *list[3] = {times[0], times[1], times[2]};
		struct anim *edited;
		struct shown now = at;
		struct bytes rest;
		struct buf shown;
		char *text;

		for (unsigned frame = 0; frame < 3; frame++)
			snprintf(times[frame], 32, "%.9g",
				 (double)(float)(frame * factors[i] / 60));
		text = retimed(list);
		edited = save(text);
		ck_assert_float_eq_tol(edited->clips[0].frame_time, (float)factors[i],
				       (float)factors[i] * 2e-7f);
		now.anim = edited;
		shown = view_text(&view_kanim, &now);
		rest = buf_bytes(&shown);
		for (unsigned frame = 0; frame < 3; frame++) {
			float time = 0;

			ck_assert(next_time(&rest, &time));
			ck_assert_float_eq_tol(time, strtof(times[frame], NULL),
					       (float)factors[i] * 1e-8f);
		}
		buf_release(&shown);
		anim_free(edited);
		free(text);
	}
}
END_TEST

START_TEST(xml_may_be_written_otherwise)
{
	struct anim *edited =
		save("\xEF\xBB\xBF<?xml version='1.0'?><!-- a comment -->\r\n"
		     "<animation loop='true'\n scenes_per_time='30'>\r\n<!-- another -->\n"
		     "<frame time='0.0' url='frames/frame_00000.x3d'></frame>"
		     "<frame url=\"frames&#47;frame_00001.x3d\" time=\" 0.033333335 \"/>"
		     "<frame url='frames/frame_00002.x3d' time='0.06666667'/>\n</animation><!-- "
		     "end -->");

	ck_assert(model_same(edited, s.anim));
	anim_free(edited);
}
END_TEST

/* ---- errors ---- */

START_TEST(uneven_times_are_refused)
{
	refused("0.033333335", "0.04", 4, 45, "bones/NAME.csv");
	refused("0.033333335", "0.06666667", 4, 45, "even");
	refused("time=\"0\"", "time=\"0.01\"", 3, 45, "begin at 0");
	refused("0.06666667", "0", 4, 45, "even");
	refused("0.06666667", "-1", 4, 45, "even");
	refused("0.06666667", "x", 5, 45, "not a time");
	refused("0.06666667", "nan", 5, 45, "not a time");
	refused("0.06666667", "1e300", 5, 45, "not a time");
	at.clip = 2;
	refused("time=\"0\"", "time=\"1\"", 3, 45, "one frame");
}
END_TEST

START_TEST(stills_cannot_be_changed)
{
	refused("frame_00001.x3d", "frame_00002.x3d", 4, 15, "clip.json");
	refused("frame_00001.x3d", "my.x3d", 4, 15, "bones/NAME.csv");
	refused("  <frame url=\"frames/frame_00002.x3d\" time=\"0.06666667\"/>\n", "", 5, 1,
		"clip.json");
	refused("</animation>", "<frame url=\"frames/frame_00003.x3d\" time=\"0.1\"/></animation>",
		6, 1, "clip.json");
	refused(" time=\"0\"", "", 3, 3, "url and time");
}
END_TEST

START_TEST(what_has_no_place_is_refused)
{
	refused("loop=", "backwards=", 2, 44, "attribute");
	refused("scenes_per_time=\"30\"", "scenes_per_time=\"31\"", 2, 29, "scenes_per_time");
	refused("scenes_per_time=\"30\"", "scenes_per_time=\"x\"", 2, 29, "not a number");
	refused("\"true\"", "\"yes\"", 2, 39, "true or false");
	refused(" time=\"0\"", " time=\"0\" x=\"1\"", 3, 51, "attribute");
	refused("<animation ", "<animation xmlns=\"urn:x\" ", 2, 1, "element");
	refused("<animation ", "<!DOCTYPE animation><animation ", 2, 1, "DOCTYPE");
	refused("<animation ", "<!DOCTYPE a [<!ENTITY x \"y\">]><animation ", 2, 1, "DOCTYPE");
	refused("  <frame", "  <b/><frame", 3, 3, "element");
	refused("  <frame", "text<frame", 3, 1, "text");
	refused("time=\"0\"/>", "time=\"0\"><x/></frame>", 3, 48, "element");
	refused("time=\"0\"", "time=\"&x;\"", 3, 48, "not XML");
	refused("</animation>", "</animatio>", 6, 12, "not XML");
	refused("</animation>\n", "</animation>\n<x/>", 7, 1, "not XML");
	refused("</animation>\n", "</animation>x", 6, 13, "not XML");
}
END_TEST

START_TEST(a_format_without_loop_refuses_it)
{
	struct format format = *s.anim->format;
	struct anim *other = anim_edit(s.anim);

	format.has_loop = false;
	format.has_frame_time = false;
	format.has_duration = false;
	other->format = &format;
	at.anim = other;
	refused("\"true\"", "\"false\"", 2, 39, "no loop");
	refused("0.033333335\"/>\n  <frame url=\"frames/frame_00002.x3d\" time=\"0.06666667",
		"1\"/>\n  <frame url=\"frames/frame_00002.x3d\" time=\"2", 4, 45, "no frame time");
	anim_free(other);
}
END_TEST

/* Reading the text opens no other file, and entities do not expand. */
START_TEST(entities_do_not_unfold)
{
	struct err err = {0};

	ck_assert_ptr_null(view_kanim.parse(
		&at,
		bytes_of("<!DOCTYPE a SYSTEM \"file:///etc/passwd\" [<!ENTITY a \"aaaaaaaaaa\">"
			 "<!ENTITY b \"&a;&a;&a;&a;\">]><animation loop=\"&b;\"/>"),
		&err));
	ck_assert_int_eq(err.code, ERR_TEXT);
}
END_TEST

Suite *kanim_suite(void);

Suite *kanim_suite(void)
{
	Suite *suite = suite_create("kanim");
	TCase *t = tcase_create("kanim");

	suite_add_tcase(suite, t);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, a_clip_is_one_frame_a_still);
	tcase_add_test(t, clips_without_bones_have_no_stills);
	tcase_add_test(t, times_ascend_whatever_is_stored);
	tcase_add_test(t, loop_can_be_edited);
	tcase_add_loop_test(t, even_times_are_a_new_frame_time, 0, (int)ARRAY_SIZE(steps));
	tcase_add_test(t, saved_times_are_read_again);
	tcase_add_test(t, xml_may_be_written_otherwise);
	tcase_add_test(t, uneven_times_are_refused);
	tcase_add_test(t, stills_cannot_be_changed);
	tcase_add_test(t, what_has_no_place_is_refused);
	tcase_add_test(t, a_format_without_loop_refuses_it);
	tcase_add_test(t, entities_do_not_unfold);
	return suite;
}
