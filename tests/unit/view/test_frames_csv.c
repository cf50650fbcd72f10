/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_frames_csv.c - frames.csv: the stills of a kanim as a table. */
#include "sample.h"

#include <math.h>

#define SCENE "<X3D><Scene/></X3D>"

static const char file[] = "<animations>\n"
			   " <animation name='walk'>\n"
			   "  <frame url='a.x3d' time='0.0'/>\n"
			   "  <frame time='0.10'>" SCENE "</frame>\n"
			   "  <frame url='c,d &quot;e&quot;.x3d' time='2'/>\n"
			   " </animation>\n"
			   " <animation name='run, fast'>\n"
			   "  <frame url=' b.x3d' time='-0'/>\n"
			   "  <frame url='a.x3d' time='16777217'/>\n"
			   " </animation>\n"
			   "</animations>\n";

static const char table[] = "animation,frame,time,url\n"
			    "walk,0,0,a.x3d\n"
			    "walk,1,0.1,\n"
			    "walk,2,2,\"c,d \"\"e\"\".x3d\"\n"
			    "run%2C fast,0,-0,\" b.x3d\"\n"
			    "run%2C fast,1,16777216,a.x3d\n";

static const char single[] = "<animation>\n"
			     "  <frame url='a.x3d' time='0'/>\n"
			     "  <frame url='b.x3d' time='1'/>\n"
			     "</animation>\n";

static struct sample s;
static struct shown at;

static void open_text(const char *text)
{
	struct buf bytes = BUF_INIT;

	buf_text(&bytes, text);
	s = sample_decode("t.castle-anim-frames", bytes);
	at = sample_shown(&s, 0, NULL);
}

static void setup(void)
{
	open_text(file);
}

static void setup_single(void)
{
	open_text(single);
}

static void teardown(void)
{
	sample_close(&s);
}

/* Returns the file after the table was saved. */
static char *saved(const char *text)
{
	struct err err = {0};
	struct anim *edited = view_frames_csv.parse(&at, bytes_of(text), &err);
	struct sample now;
	char *out;

	ck_assert_msg(edited != NULL, "%s (%s)", err.message, err.accepted);
	now = sample_store(&s, edited);
	out = strndup((const char *)now.bytes.data, now.bytes.size);
	sample_close(&now);
	anim_free(edited);
	return out;
}

static void assert_saved(const char *text, const char *wanted)
{
	char *got = saved(text);

	ck_assert_str_eq(got, wanted);
	free(got);
}

/* Checks that the table with `was` replaced by `is` gives the file with `from` replaced by `to`. */
static void assert_edit(const char *was, const char *is, const char *from, const char *to)
{
	struct buf own = view_text(&view_frames_csv, &at);
	char *text = text_edit((const char *)own.data, was, is);
	char *old = strndup((const char *)s.bytes.data, s.bytes.size);
	char *wanted = text_edit(old, from, to);

	assert_saved(text, wanted);
	free(wanted);
	free(old);
	free(text);
	buf_release(&own);
}

static void refused(const char *was, const char *is, size_t line, size_t column, const char *words)
{
	view_edit_refused(&view_frames_csv, &at, was, is, ERR_TEXT, line, column, words);
}

static void refused_whole(const char *text, enum err_code code, const char *words)
{
	struct err err = {0};

	ck_assert_ptr_null(view_frames_csv.parse(&at, bytes_of(text), &err));
	ck_assert_msg(err.code == code, "%d: %s", err.code, err.message);
	ck_assert_msg(strstr(err.message, words) || strstr(err.accepted, words), "%s (%s)",
		      err.message, err.accepted);
}

/* ---- the text ---- */

START_TEST(stills_are_rows)
{
	struct buf text = view_text(&view_frames_csv, &at);

	ck_assert_str_eq((const char *)text.data, table);
	buf_release(&text);
}
END_TEST

START_TEST(other_formats_have_no_such_table)
{
	struct sample other = sample_open("wiki512.canm");
	struct shown there = sample_shown(&other, 0, NULL);

	ck_assert(!view_frames_csv.present(&there));
	ck_assert(view_frames_csv.present(&at));
	sample_close(&other);
}
END_TEST

/* ---- texts that change nothing ---- */

static const char *const same[] = {
	table,
	"\xef\xbb\xbf"
	"animation;frame;time;url;;\r\nwalk;0;0;a.x3d;;\r\n\"walk\";1,0;0,1;;;\r\n"
	"walk;2;2,000;\"c,d \"\"e\"\".x3d\";;\r\nrun%2C fast;0;0;b.x3d\r\n"
	"run%2C fast;1;16777216;a.x3d\r\n;;;;\r\n\r\n",
	"url\tframe\ttime\tanimation\na.x3d\t1\t1.6777216E+07\trun%2C fast\n"
	"\t1\t0.100000001\twalk\n\"c,d \"\"e\"\".x3d\"\t2\t2\twalk\n b.x3d\t0\t0\trun%2C fast\n"
	"a.x3d\t0\t-0\twalk\n",
	"animation,frame\nwalk,0\nwalk,1\nwalk,2\nrun%2C fast,0\nrun%2C fast,1\n",
	"animation,frame,url\nwalk,0,a.x3d\nwalk,1\nwalk,2,\"c,d \"\"e\"\".x3d\"\n"
	"run%2C fast,0,b.x3d\nrun%2C fast,1,a.x3d",
};

START_TEST(what_a_spreadsheet_makes_of_it_changes_nothing)
{
	struct err err = {0};
	struct anim *edited = view_frames_csv.parse(&at, bytes_of(same[_i]), &err);

	ck_assert_msg(edited != NULL, "%s", err.message);
	for (uint32_t i = 0; i < edited->clip_count; i++)
		ck_assert_ptr_eq(edited->clips[i].stills, s.anim->clips[i].stills);
	anim_free(edited);
	assert_saved(same[_i], file);
}
END_TEST

/* ---- edits ---- */

START_TEST(a_cell_is_a_value)
{
	assert_edit("walk,2,2,", "walk,2,2.5,", "'2'", "'2.5'");
	assert_edit("walk,0,0,a", "walk,0,-7,a", "'0.0'", "'-7'");
	assert_edit("0.1,", "0.3,", "'0.10'", "'0.3'");
	assert_edit("0,0,a.x3d", "0,0,\" = 'x'\"", "'a.x3d'", "' = &#39;x&#39;'");
	assert_edit("16777216", "16777218", "16777217", "16777218");
}
END_TEST

START_TEST(a_row_is_a_frame)
{
	assert_edit("walk,2,2,\"c,d \"\"e\"\".x3d\"\n", "",
		    "\n  <frame url='c,d &quot;e&quot;.x3d' time='2'/>", "");
	assert_edit("walk,1,0.1,\n", "", "\n  <frame time='0.10'>" SCENE "</frame>", "");
	assert_edit("walk,2", "walk,99,0.05,n.x3d\nwalk,2", "\n  <frame time='0.10",
		    "\n  <frame url='n.x3d' time='0.05'/>\n  <frame time='0.10");
	assert_edit("walk,0", "walk,3,-1,n.x3d\nwalk,0", "\n  <frame url='a.x3d' time='0.0",
		    "\n  <frame url='n.x3d' time='-1'/>\n  <frame url='a.x3d' time='0.0");
	assert_edit("16777216,a.x3d\n", "16777216,a.x3d\nrun%2C fast,2,3e8,z", "16777217'/>",
		    "16777217'/>\n  <frame url='z' time='300000000'/>");
}
END_TEST

START_TEST(rows_are_ordered_by_time)
{
	static const char exchanged[] = "<animation>\n"
					"  <frame url='b.x3d' time='1'/>\n"
					"  <frame url='n.x3d' time='2'/>\n"
					"  <frame url='a.x3d' time='3'/>\n"
					"</animation>\n";

	assert_saved("frame,time,url\n0,3,a.x3d\n1,1,b.x3d\n7,2,n.x3d\n", exchanged);
	assert_saved("frame,time,url\n7,2,n.x3d\n1,1,b.x3d\n0,3,a.x3d", exchanged);
}
END_TEST

START_TEST(the_only_animation_need_not_be_named)
{
	assert_saved("frame,time\n0,0\n1,1.5\n",
		     "<animation>\n  <frame url='a.x3d' time='0'/>\n"
		     "  <frame url='b.x3d' time='1.5'/>\n</animation>\n");
	assert_saved("animation,frame,time\n,0,0\n%,1,1\n", single);
}
END_TEST

/* ---- refusals ---- */

START_TEST(what_is_wrong_is_told_with_its_place)
{
	refused("animation,", "clip,", 1, 1, "animation, frame, time, url");
	refused("time,url", "time,time", 1, 22, "twice");
	refused("animation,", ",", 1, 1, "no column animation");
	refused("frame,", ",", 1, 1, "no column frame");
	refused("walk,1", "wlk,1", 3, 1, "walk, run%2C fast");
	refused("walk,1", ",1", 3, 1, "no animation");
	refused("walk,1", "walk,x", 3, 6, "not a frame number");
	refused("walk,1", "walk,-1", 3, 6, "not a frame number");
	refused("walk,1", "walk,", 3, 6, "no frame in this row");
	refused("walk,1,0.1,", "walk,0,5,z", 3, 6, "given twice, first in line 2");
	refused("0.1,", "x,", 3, 8, "not a time");
	refused("0.1,", "nan,", 3, 8, "not a time");
	refused("0.1,", "1e39,", 3, 8, "not a time");
	refused("0.1,", "12:30,", 3, 8, "clock time");
	refused("0.1,", ",", 3, 8, "no time");
	refused("0.1,", "0,", 3, 8, "that of line 2");
	refused("walk,0,0", "walk,0,2.00000001", 4, 8, "line 2");
	refused("0.1,", "0.1,x.x3d", 3, 12, "would be lost");
	refused("0,0,a.x3d", "0,0,", 2, 10, "no url any more");
	refused("walk,1,0.1,\n", "walk,1,0.1,\nwalk,8,1,\n", 4, 10, "no url");
	refused("walk,1,0.1,\n", "walk,1,0.1,\nwalk,8,,x\n", 4, 8, "no time");
	refused("walk,1,0.1,\n", "walk,1,0.1,,x\n", 3, 13, "without a name");
}
END_TEST

START_TEST(new_frames_have_each_a_number)
{
	refused("walk,2,", "walk,8,5,x\nwalk,8,6,y\nwalk,2,", 5, 6, "first in line 4");
}
END_TEST

/* ---- texts that end early ---- */

START_TEST(half_a_text_is_no_save)
{
	refused_whole("", ERR_EMPTY, "empty");
	refused_whole("\n\n", ERR_EMPTY, "empty");
	refused_whole("animation,frame,time,url\n", ERR_EMPTY, "rows");
	refused_whole("animation,frame,time,url\nwalk,0,0,a.x3d\n", ERR_EARLY,
		      "run%2C fast has no frame left");
	refused_whole("animation,frame,time,url\nwalk,0,0,a.x3d\nru", ERR_EARLY, "columns");
	refused_whole("frame,animation\n0,walk\n0,ru", ERR_EARLY, "no animation");
	refused_whole("animation,frame,time,url\nrun%2C fast,0,0,b.x3d\nwalk,0,0,a.x", ERR_EARLY,
		      "end before this url");
	refused_whole("animation,frame,time,url\nrun%2C fast,0,0,b.x3d\nwalk,0,0,", ERR_EARLY,
		      "no url");
	refused_whole("animation,frame,time,url\nrun%2C fast,0,0,\" b.x", ERR_EARLY, "quote");
}
END_TEST

/* A text that is cut anywhere counts as whole only at the end of a line. */
START_TEST(cut_at_every_length)
{
	for (size_t size = 0; size < sizeof(table) - 1; size++) {
		char *cut = strndup(table, size);
		struct err err = {0};
		struct anim *edited = view_frames_csv.parse(&at, bytes_of(cut), &err);

		if (edited)
			ck_assert_msg(table[size] == '\n' || table[size - 1] == '\n', "%zu", size);
		else
			ck_assert_msg(err.code == ERR_EARLY || err.code == ERR_EMPTY ||
					      size < sizeof("animation,frame,time,url"),
				      "%zu: %d %s", size, err.code, err.message);
		anim_free(edited);
		free(cut);
	}
}
END_TEST

START_TEST(every_byte_changed)
{
	static const char values[] = "\n,;\"x9 .-\t\r\x80";
	char *text = strdup(table);

	for (size_t i = 0; i < sizeof(table) - 1; i++) {
		for (const char *v = values; *v; v++) {
			struct err err = {0};
			struct anim *edited;

			text[i] = *v;
			edited = view_frames_csv.parse(&at, bytes_of(text), &err);
			if (edited) {
				struct sample now = sample_store(&s, edited);

				sample_close(&now);
			} else {
				ck_assert_int_ne(err.code, ERR_NONE);
			}
			anim_free(edited);
		}
		text[i] = table[i];
	}
	free(text);
}
END_TEST

/* ---- saved twice, and after others ---- */

static struct anim *parse(const char *text)
{
	struct err err = {0};
	struct anim *edited = view_frames_csv.parse(&at, bytes_of(text), &err);

	ck_assert_msg(edited != NULL, "%s", err.message);
	return edited;
}

static struct sample commit(const struct sample *current, const struct anim *edited,
			    const struct anim *last, struct err *err)
{
	struct anim *merged = anim_merge(s.anim, edited, last, current->anim, NULL, err);
	struct sample now = {.name = NULL};

	if (merged)
		now = sample_store(current, merged);
	anim_free(merged);
	return now;
}

/*
 * The subshells of a shell flush parts; in the end the file is as if the whole text had been
 * written at once.
 */
START_TEST(a_part_and_then_the_whole_is_the_whole)
{
	static const char *const parts[] = {
		"animation,frame\nwalk,0\nrun%2C fast,0\n",
		"animation,frame\nwalk,2\nrun%2C fast,1\n",
		"animation,frame\nwalk,1\nrun%2C fast,0\nrun%2C fast,1\n",
	};
	struct err err = {0};
	struct anim *part = parse(parts[_i]), *whole = parse(table);
	struct sample first = sample_store(&s, part);
	struct sample second = commit(&first, whole, part, &err);

	ck_assert_msg(second.name != NULL, "%s", err.message);
	ck_assert(anim_stored(s.anim, s.anim, second.anim, &err));
	ck_assert_ptr_nonnull(memmem(second.bytes.data, second.bytes.size, SCENE, strlen(SCENE)));
	sample_close(&second);
	sample_close(&first);
	anim_free(whole);
	anim_free(part);
}
END_TEST

START_TEST(edits_of_different_animations_do_not_meet)
{
	struct err err = {0};
	struct anim *theirs = parse("animation,frame\nwalk,2\nwalk,0\nrun%2C fast,1\n");
	struct anim *ours = parse("animation,frame,time\nwalk,1,5\nwalk,0,0\nwalk,2,2\n"
				  "run%2C fast,0,0\nrun%2C fast,1,16777216\n");
	struct sample current = sample_store(&s, theirs);
	struct sample both = commit(&current, ours, NULL, &err);

	ck_assert_ptr_null(both.name);
	ck_assert_int_eq(err.code, ERR_CONFLICT);
	anim_free(ours);
	err = (struct err){0};
	ours = parse("animation,frame,time\nwalk,0,0\nwalk,1,0.1\nwalk,2,2\nrun%2C fast,0,3\n");
	sample_close(&current);
	anim_free(theirs);
	theirs = parse("animation,frame\nwalk,2\nrun%2C fast,0\nrun%2C fast,1\n");
	current = sample_store(&s, theirs);
	both = commit(&current, ours, NULL, &err);
	ck_assert_msg(both.name != NULL, "%s", err.message);
	ck_assert_uint_eq(both.anim->clips[0].frames, 1);
	ck_assert_uint_eq(both.anim->clips[1].frames, 1);
	ck_assert(both.anim->clips[1].stills[0].time == 3);
	sample_close(&both);
	sample_close(&current);
	anim_free(ours);
	anim_free(theirs);
}
END_TEST

Suite *frames_csv_suite(void);

Suite *frames_csv_suite(void)
{
	Suite *suite = suite_create("frames_csv");
	TCase *t = tcase_create("table"), *one = tcase_create("one animation");

	suite_add_tcase(suite, t);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, stills_are_rows);
	tcase_add_test(t, other_formats_have_no_such_table);
	tcase_add_loop_test(t, what_a_spreadsheet_makes_of_it_changes_nothing, 0,
			    (int)ARRAY_SIZE(same));
	tcase_add_test(t, a_cell_is_a_value);
	tcase_add_test(t, a_row_is_a_frame);
	tcase_add_test(t, what_is_wrong_is_told_with_its_place);
	tcase_add_test(t, new_frames_have_each_a_number);
	tcase_add_test(t, half_a_text_is_no_save);
	tcase_add_test(t, cut_at_every_length);
	tcase_add_test(t, every_byte_changed);
	tcase_add_loop_test(t, a_part_and_then_the_whole_is_the_whole, 0, 3);
	tcase_add_test(t, edits_of_different_animations_do_not_meet);

	suite_add_tcase(suite, one);
	tcase_add_checked_fixture(one, setup_single, teardown);
	tcase_add_test(one, rows_are_ordered_by_time);
	tcase_add_test(one, the_only_animation_need_not_be_named);
	return suite;
}
