/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "disk/portable.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Checks that a name is stored as `stored`, and read back. */
static void ck_name(const char *name, const char *stored)
{
	char out[NAME_MAX + 1], back[NAME_MAX + 1];

	ck_assert_int_eq(portable_name(name, out), 0);
	ck_assert_str_eq(out, stored);
	portable_read(out, back);
	ck_assert_str_eq(back, name);
}

START_TEST(usual_names_are_stored_as_they_are)
{
	ck_name("hips.csv", "hips.csv");
	ck_name(".hips.csv.swp", ".hips.csv.swp");
	ck_name("hips.csv~", "hips.csv~");
	ck_name("a b, c; (#1) 'd' [e] +=@-_^&!$", "a b, c; (#1) 'd' [e] +=@-_^&!$");
	ck_name("\303\274\346\255\251\360\237\220\216", "\303\274\346\255\251\360\237\220\216");
}
END_TEST

START_TEST(what_some_filesystem_refuses_is_escaped)
{
	ck_name("w?*<|>k", "w%3F%2A%3C%7C%3Ek");
	ck_name("\"a\\b:c\"", "%22a%5Cb%3Ac%22");
	ck_name("a%3Fb", "a%253Fb");
	ck_name("\t\x7f\x01", "%09%7F%01");
	ck_name("end.", "end%2E");
	ck_name("end ", "end%20");
	ck_name("...", "..%2E");
	ck_name("\377a\303", "%FFa%C3");
	ck_name("\355\240\200", "%ED%A0%80"); /* a surrogate in UTF-8 is escaped */
	ck_name("\300\257", "%C0%AF");        /* an overlong UTF-8 form is escaped */
}
END_TEST

/* All names of three bytes are stored in FAT's characters, and no two of them alike. */
START_TEST(any_name_is_read_back)
{
	char name[4] = "", stored[NAME_MAX + 1], back[NAME_MAX + 1];

	for (unsigned i = 1; i < 1u << 24; i += i % 997 + 1) {
		for (unsigned j = 0; j < 3; j++)
			name[j] = (char)(i >> 8 * j);
		if (portable_name(name, stored) != 0) {
			ck_assert(strchr(name, '/') || !strcmp(name, ".") || !strcmp(name, ".."));
			continue;
		}
		ck_assert_ptr_null(strpbrk(stored, "\"*:<>?\\|\x7f"));
		for (const char *p = stored; *p; p++)
			ck_assert(*p < 0 || *p >= ' ');
		if (*stored)
			ck_assert(!strchr(". ", stored[strlen(stored) - 1]));
		portable_read(stored, back);
		ck_assert_str_eq(back, name);
	}
}
END_TEST

START_TEST(what_is_no_name_is_refused)
{
	char stored[NAME_MAX + 1] = "x";

	ck_assert_int_eq(portable_name(".", stored), EINVAL);
	ck_assert_str_eq(stored, "");
	ck_assert_int_eq(portable_name("..", stored), EINVAL);
	ck_assert_int_eq(portable_name("a/b", stored), EINVAL);
}
END_TEST

START_TEST(names_have_room_for_as_much_as_a_folder_takes)
{
	char name[NAME_MAX + 2], stored[NAME_MAX + 1];

	memset(name, '?', sizeof(name));
	name[NAME_MAX / 3] = '\0';
	ck_assert_int_eq(portable_name(name, stored), 0);
	ck_assert_uint_eq(strlen(stored), NAME_MAX);
	name[NAME_MAX / 3] = 'a';
	name[NAME_MAX / 3 + 1] = '\0';
	ck_name(name, name);
	memset(name, '\377', sizeof(name));
	name[NAME_MAX] = '\0';
	ck_name(name, name);
	memset(name, 'a', sizeof(name));
	name[NAME_MAX] = '\0';
	ck_name(name, name);
	name[NAME_MAX] = 'a';
	name[NAME_MAX + 1] = '\0';
	ck_assert_int_eq(portable_name(name, stored), ENAMETOOLONG);
}
END_TEST

/* FAT drops a dot or space at the end, so that another name would be the same. */
START_TEST(a_long_name_ends_as_it_is_everywhere)
{
	char name[NAME_MAX + 1], stored[NAME_MAX + 1];

	memset(name, 'a', NAME_MAX);
	name[NAME_MAX] = '\0';
	ck_name(name, name);
	for (const char *last = ". "; *last; last++) {
		name[NAME_MAX - 1] = *last;
		ck_assert_int_eq(portable_name(name, stored), ENAMETOOLONG);
		ck_assert_str_eq(stored, "");
	}
}
END_TEST

/* A name that is stored unchanged must not be read as another name that is stored escaped. */
START_TEST(a_long_name_is_not_taken_for_another)
{
	char name[NAME_MAX + 1], stored[NAME_MAX + 1], other[NAME_MAX + 1] = "";

	memset(name, '?', NAME_MAX / 3);
	name[NAME_MAX / 3] = '\0';
	ck_assert_int_eq(portable_name(name, stored), 0);
	ck_assert_int_eq(portable_name(stored, other), ENAMETOOLONG);
	ck_assert_str_eq(other, "");
	for (size_t i = 0; i + 3 <= NAME_MAX; i += 3)
		memcpy(name + i, "%3f", 3); /* escapes have capital digits, so this is none */
	name[NAME_MAX] = '\0';
	ck_name(name, name);
}
END_TEST

START_TEST(what_is_stored_otherwise_is_taken_as_it_is)
{
	static const char *const others[] = {"a?b", "%41", "100%",  "%3f",
					     "%2F", "%00", "a%2Eb", "end."};
	char back[NAME_MAX + 1];

	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		portable_read(others[i], back);
		ck_assert_str_eq(back, others[i]);
	}
}
END_TEST

static void ck_path(const char *path, int error, const char *stored)
{
	struct buf out = BUF_INIT;

	ck_assert_int_eq(portable_path(path, &out), error);
	if (!error)
		ck_assert_str_eq((const char *)out.data, stored);
	buf_release(&out);
}

START_TEST(each_name_of_a_path_is_stored)
{
	char name[NAME_MAX + 2];

	ck_path("", 0, "");
	ck_path("a.canm/w?/bones", 0, "a.canm/w%3F/bones");
	ck_path("a./b /c", 0, "a%2E/b%20/c");
	ck_path("a/../b", EINVAL, NULL);
	memset(name, 'a', sizeof(name));
	name[NAME_MAX + 1] = '\0';
	ck_path(name, ENAMETOOLONG, NULL);
}
END_TEST

Suite *portable_suite(void)
{
	Suite *s = suite_create("portable");
	TCase *tc = tcase_create("portable");

	tcase_add_test(tc, usual_names_are_stored_as_they_are);
	tcase_add_test(tc, what_some_filesystem_refuses_is_escaped);
	tcase_add_test(tc, any_name_is_read_back);
	tcase_add_test(tc, what_is_no_name_is_refused);
	tcase_add_test(tc, names_have_room_for_as_much_as_a_folder_takes);
	tcase_add_test(tc, a_long_name_ends_as_it_is_everywhere);
	tcase_add_test(tc, a_long_name_is_not_taken_for_another);
	tcase_add_test(tc, what_is_stored_otherwise_is_taken_as_it_is);
	tcase_add_test(tc, each_name_of_a_path_is_stored);
	suite_add_tcase(s, tc);
	return s;
}
