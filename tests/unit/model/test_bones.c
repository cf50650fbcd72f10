/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/bones.h"

#include <check.h>
#include <string.h>

static const struct format by_hex = {.name = "owanim", .bone_name = "bone_%04X"};
static const struct format by_place = {.name = "ff9anim", .bone_name = "bone_%03u"};

static struct arena arena;

static void begin(void)
{
	arena = (struct arena)ARENA_INIT;
}

static void end(void)
{
	arena_release(&arena);
}

static struct bone_names *names_of(const char *text)
{
	struct err err = {0};
	struct bone_names *names = bone_names_read(bytes_of(text), &by_hex, &err);

	ck_assert_msg(names != NULL, "%s: %s", text, err.message);
	return names;
}

static void ck_name(const struct bone_names *names, uint32_t number, const char *name)
{
	uint32_t back = ~number;

	ck_assert_str_eq(bone_name(&by_hex, names, &arena, number), name);
	ck_assert_msg(bone_number(&by_hex, names, name, &back), "%s", name);
	ck_assert_uint_eq(back, number);
}

static void ck_no_number(const struct bone_names *names, const char *name)
{
	uint32_t number;

	ck_assert_msg(!bone_number(&by_hex, names, name, &number), "%s", name);
}

START_TEST(test_names_without_a_table)
{
	static const char *const wrong[] = {
		"",           "bone_",     "bone_30",   "bone_0f30",      "bone_00F30", "Bone_0F30",
		"bone_0F30 ", "bone_-001", "bone_0F3G", "bone_100000000", "hips",       "bone_0x0F",
	};
	uint32_t number;

	ck_name(NULL, 0, "bone_0000");
	ck_name(NULL, 0xF30, "bone_0F30");
	ck_name(NULL, 0xFFFF, "bone_FFFF");
	ck_name(NULL, 0x10000, "bone_10000");
	ck_name(NULL, UINT32_MAX, "bone_FFFFFFFF");
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		ck_no_number(NULL, wrong[i]);
	ck_assert_str_eq(bone_name(&by_place, NULL, &arena, 12), "bone_012");
	ck_assert(bone_number(&by_place, NULL, "bone_1234", &number));
	ck_assert_uint_eq(number, 1234);
	ck_assert(!bone_number(&by_place, NULL, "bone_00C", &number));
	ck_assert(!bone_number(&by_place, NULL, "bone_12", &number));
}
END_TEST

START_TEST(test_names_of_a_table)
{
	struct bone_names *names = names_of("id,name\n"
					    "3888,hips\n"
					    "0x89C,spine 1\n"
					    "4294967295,last\n"
					    "0,bone_0000\n"
					    "-2,\"a,b\"\n");

	ck_name(names, 0xF30, "hips");
	ck_name(names, 0x89C, "spine 1");
	ck_name(names, UINT32_MAX, "last");
	ck_name(names, UINT32_MAX - 1, "a,b");
	ck_name(names, 0, "bone_0000");
	ck_name(names, 1, "bone_0001");
	/* A bone with a name cannot be called by its number as well. */
	ck_no_number(names, "bone_0F30");
	ck_no_number(names, "Hips");
	bone_names_free(names);
}
END_TEST

/*
 * Tests the dialects of CSV that spreadsheets write, and columns that another program may have
 * added.
 */
START_TEST(test_dialects)
{
	static const char *const texts[] = {
		"id,name\n1,a\n2,b\n",          "\xEF\xBB\xBFname;id;note\r\na;1;x\r\nb;2;\r\n\r\n",
		"id\tname\n\"1\"\t\"a\"\n2\tb", "\n\nid, name\n1, a\n,\n2, b\n",
		"id,name\n0x1,a\n0X2,b\n",      "id,name\n2,b\n1,a\n",
		"id,name\n1.0,a\n+2e0,b\n",     ",id,name\n0,1,a\n1,2,b\n",
		"id,name\n1,a,more\n2,b\n",     "sep=;\nID;NAME\n1,0;a\n2;b\n",
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct bone_names *names = names_of(texts[i]);

		ck_name(names, 1, "a");
		ck_name(names, 2, "b");
		ck_name(names, 3, "bone_0003");
		bone_names_free(names);
	}
}
END_TEST

START_TEST(test_a_table_without_rows)
{
	struct bone_names *names = names_of("id,name\n");

	ck_name(names, 7, "bone_0007");
	ck_no_number(names, "hips");
	bone_names_free(names);
	bone_names_free(NULL);
}
END_TEST

START_TEST(test_refusals_say_where)
{
	static const struct {
		const char *text, *words;
		size_t line, column;
	} cases[] = {
		{"hips,1\n", "no column id", 1, 1},
		{"id,bone\n1,hips\n", "no column name", 1, 1},
		{"id,ID,name\n1,1,hips\n", "id is listed twice", 1, 4},
		{"id,name\n1,a\nx,b\n", "\"x\" is not the number of a bone", 3, 1},
		{"id,name\n1.5,a\n", "\"1.5\" is not", 2, 1},
		{"id,name\n4294967296,a\n", "\"4294967296\" is not", 2, 1},
		{"id,name\n-2147483649,a\n", "is not the number", 2, 1},
		{"id,name\n0x100000000,a\n", "is not the number", 2, 1},
		{"id,name\n0x,a\n", "is not the number", 2, 1},
		{"id,name\n-,a\n", "is not the number", 2, 1},
		{"name,id\na,\n", "is not the number", 2, 3},
		{"id,name\n1,\n", "\"\" is not a name", 2, 3},
		{"id,name\n1\n", "is not a name", 2, 2},
		{"id,name\n1,a\n2,b\n1,c\n", "number of bone 0x1 is listed twice, first in line 2",
		 4, 1},
		{"id,name\n1,a\n2,a\n", "name of bone 0x2 is listed twice, first in line 2", 3, 1},
		{"id,name\n1,bone_0002\n", "\"bone_0002\" is the name of another number", 2, 3},
		{"id,name\n1,\xFFhips\n", "not UTF-8", 2, 3},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct bytes text = bytes_of(cases[i].text);
		struct err err = {0};

		ck_assert_msg(!bone_names_read(text, &by_hex, &err), "%s", cases[i].text);
		ck_assert_int_eq(err.code, ERR_TEXT);
		ck_assert(err.placed);
		ck_assert_msg(strstr(err.message, cases[i].words), "%s: %s", cases[i].text,
			      err.message);
		ck_assert_msg(err_locate(text, err.at).line == cases[i].line &&
				      err_locate(text, err.at).column == cases[i].column,
			      "%s: line %zu, column %zu", cases[i].text,
			      err_locate(text, err.at).line, err_locate(text, err.at).column);
		ck_assert(!bone_names_read(text, &by_hex, NULL));
	}
}
END_TEST

START_TEST(test_an_empty_text_is_refused)
{
	struct err err = {0};

	ck_assert(!bone_names_read(bytes_of(""), &by_hex, &err));
	ck_assert_int_eq(err.code, ERR_EMPTY);
}
END_TEST

Suite *bones_suite(void);
Suite *bones_suite(void)
{
	Suite *s = suite_create("bones");
	TCase *tc = tcase_create("names");

	tcase_add_checked_fixture(tc, begin, end);
	tcase_add_test(tc, test_names_without_a_table);
	tcase_add_test(tc, test_names_of_a_table);
	tcase_add_test(tc, test_dialects);
	tcase_add_test(tc, test_a_table_without_rows);
	tcase_add_test(tc, test_refusals_say_where);
	tcase_add_test(tc, test_an_empty_text_is_refused);
	suite_add_tcase(s, tc);
	return s;
}
