/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_exports.c - what the page calls, and what it is told. */
#include "load.h"
#include "web/exports.h"

#include <check.h>

#define NAME "wiki512.canm"
#define VIEW "walk/bones/hip.csv"

static struct document *open_file(const char *name, const char *path, bool fine)
{
	struct buf bytes = load_file(path);
	struct document *d = web_new(name);
	uint8_t *room = web_room(bytes.size);

	memcpy(room, bytes.data, bytes.size);
	ck_assert_int_eq(web_open(d, room, bytes.size), fine);
	buf_release(&bytes);
	return d;
}

static bool answers(const char *wanted)
{
	const size_t size = strlen(wanted);

	for (size_t at = 0; at + size <= web_answer_size(); at++)
		if (memcmp(web_answer() + at, wanted, size) == 0)
			return true;
	return false;
}

static enum document_saved save(struct document *d, const char *path, const char *text)
{
	return web_save(d, path, (const uint8_t *)text, strlen(text));
}

START_TEST(a_file_and_its_texts_are_answered)
{
	struct document *d = open_file(NAME, "tests/data/canm/" NAME, true);

	ck_assert_uint_eq(web_answer_size(), 0);
	ck_assert(web_list(d, ""));
	ck_assert(answers("[\n{\"name\": \"raw.canm\""));
	ck_assert(web_text(d, VIEW));
	ck_assert(answers("frame,time,"));
	web_bytes(d);
	ck_assert(answers("CANM"));
	web_notices(d);
	ck_assert_uint_eq(web_answer_size(), 0);
	web_beside(d, "nothing");
	ck_assert_uint_eq(web_answer_size(), 0);
	web_free(d);
}
END_TEST

START_TEST(a_refusal_has_its_place_and_cell)
{
	struct document *d = open_file(NAME, "tests/data/canm/" NAME, true);

	ck_assert_int_eq(save(d, VIEW, "frame,time,tx\n0,,1\n1,,12..5\n"), DOCUMENT_REFUSED);
	ck_assert(answers("{\"text\": \"" NAME "/" VIEW
			  ":3:4: tx: \\\"12..5\\\" is not a number\\u000a"));
	ck_assert(answers("\"accepted\": "));
	ck_assert(answers("\"line\": 3, \"column\": 4, \"cell\": \"C3\", \"heading\": \"tx\"}"));
	ck_assert(!web_text(d, "walk/bones/hop.csv"));
	ck_assert(answers("{\"text\": \"walk/bones/hop.csv: "));
	web_free(d);
}
END_TEST

START_TEST(what_is_saved_is_answered)
{
	struct document *d = open_file(NAME, "tests/data/canm/" NAME, true);
	uint8_t *room = web_room(64);
	size_t size = (size_t)snprintf((char *)room, 64, "bone,parent\nhip,\n");

	ck_assert_int_eq(
		save(d, VIEW, "frame,time,tx,ty,tz\n0,,0.25,-1,2\n1,,0.5,1,2\n2,,1,-1,2\n"),
		DOCUMENT_SAVED);
	ck_assert_uint_eq(web_answer_size(), 2);
	ck_assert(answers("{}"));
	ck_assert(web_add(d, "skeleton.csv", room, size));
	web_beside(d, "skeleton.csv");
	ck_assert(answers("hip,"));
	web_free(d);
}
END_TEST

START_TEST(a_damaged_file_says_at_which_byte)
{
	web_free(open_file(NAME, "tests/data/canm/bad_truncated.canm", false));
	ck_assert(answers("{\"text\": \"" NAME ":0x"));
	ck_assert(answers("\"at\": "));
}
END_TEST

Suite *exports_suite(void);

Suite *exports_suite(void)
{
	Suite *s = suite_create("exports");
	TCase *t = tcase_create("exports");

	tcase_add_test(t, a_file_and_its_texts_are_answered);
	tcase_add_test(t, a_refusal_has_its_place_and_cell);
	tcase_add_test(t, what_is_saved_is_answered);
	tcase_add_test(t, a_damaged_file_says_at_which_byte);
	suite_add_tcase(s, t);
	return s;
}
