/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/shard.h"

#include <check.h>
#include <math.h>
#include <stdio.h>

static struct shard parsed(const char *value)
{
	struct shard s = {0};
	struct err err = {.code = ERR_NONE};

	ck_assert_msg(shard_parse(&s, value, &err), "%s: %s", value, err.message);
	return s;
}

static bool refused(const char *value)
{
	struct shard s = {0};
	struct err err = {.code = ERR_NONE};

	return !shard_parse(&s, value, &err) && err.code == ERR_TEXT && strstr(err.message, value);
}

START_TEST(a_part_is_a_number_of_a_number)
{
	struct shard s = parsed("2/5");

	ck_assert_uint_eq(s.index, 2);
	ck_assert_uint_eq(s.count, 5);
	parsed("1/1");
	parsed("4294967295/4294967295");
}
END_TEST

START_TEST(anything_else_is_refused)
{
	static const char *const values[] = {
		"",
		"1",
		"/",
		"1/",
		"/1",
		"0/1",
		"1/0",
		"3/2",
		"1/2 ",
		" 1/2",
		"+1/2",
		"1/-2",
		"1/2/3",
		"1 /2",
		"1/4294967296",
		"99999999999999999999/1",
	};

	for (size_t i = 0; i < ARRAY_SIZE(values); i++)
		ck_assert_msg(refused(values[i]), "\"%s\"", values[i]);
}
END_TEST

START_TEST(a_path_is_in_one_part)
{
	for (unsigned i = 0; i < 1000; i++) {
		unsigned parts = 0;
		char path[32];

		snprintf(path, sizeof(path), "object/%u.canm", i);
		for (uint32_t part = 1; part <= 7; part++)
			parts += shard_has(&(struct shard){part, 7}, path);
		ck_assert_uint_eq(parts, 1);
	}
}
END_TEST

START_TEST(parts_are_of_like_size)
{
	unsigned members = 0;

	for (unsigned i = 0; i < 10000; i++) {
		char path[32];

		snprintf(path, sizeof(path), "object/%u.canm", i);
		members += shard_has(&(struct shard){3, 4}, path);
	}
	/* Four standard deviations below and above the mean of 2500. */
	ck_assert_uint_gt(members, 2327);
	ck_assert_uint_lt(members, 2673);
}
END_TEST

/*
 * The expected values are of another implementation's XXH64: "" is 0xef46db3751d8e999, "a"
 * 0xd24ec4f1a98c6e5b.
 */
START_TEST(all_machines_agree)
{
	ck_assert(shard_has(&(struct shard){0xef46db3751d8e999u % 1000 + 1, 1000}, ""));
	ck_assert(shard_has(&(struct shard){0xd24ec4f1a98c6e5bu % 1000 + 1, 1000}, "a"));
}
END_TEST

START_TEST(the_whole_has_everything)
{
	struct shard one = parsed("1/1");

	ck_assert(shard_has(&(struct shard){0}, "a"));
	ck_assert(shard_has(&one, "a"));
}
END_TEST

/*
 * Ten million clips of a studio, a thousand to a folder: each of up to 64 parts is within 1 % of
 * its share. Of eight tasks, the one whose part has a path accepts it, and the others do not. Of N
 * parts of F files, chance alone makes the size of one differ by sqrt(N / F) of it.
 */
START_TEST(parts_of_ten_million_paths_are_even)
{
	enum { FOLDERS = 10000, FILES = 1000 };
	static const uint32_t counts[] = {2, 8, 64};
	static uint32_t members[ARRAY_SIZE(counts)][64];
	uint32_t part, owners = 0;
	char path[64];

	for (unsigned folder = 0; folder < FOLDERS; folder++) {
		int size = snprintf(path, sizeof(path), "show%02u/scene%03u/take%02u/clip0000.canm",
				    folder / 1000, folder / 20 % 50, folder % 20);
		char *digits = path + size - 9;

		for (unsigned file = 0; file < FILES; file++) {
			for (unsigned i = 0, n = file; i < 4; i++, n /= 10)
				digits[3 - i] = (char)('0' + n % 10);
			for (size_t i = 0; i < ARRAY_SIZE(counts); i++)
				members[i][shard_of(path, counts[i]) - 1]++;
			part = shard_of(path, 8);
			owners += shard_has(&(struct shard){part, 8}, path);
			owners += shard_has(&(struct shard){(part + file % 7) % 8 + 1, 8}, path);
		}
	}
	ck_assert_uint_eq(owners, FOLDERS * FILES);
	for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
		double share = (double)FOLDERS * FILES / counts[i];

		for (part = 0; part < counts[i]; part++)
			ck_assert_double_le(fabs(members[i][part] - share), share / 100);
	}
}
END_TEST

Suite *shard_suite(void);

Suite *shard_suite(void)
{
	Suite *suite = suite_create("shard");
	TCase *tests = tcase_create("shard");

	tcase_add_test(tests, a_part_is_a_number_of_a_number);
	tcase_add_test(tests, anything_else_is_refused);
	tcase_add_test(tests, a_path_is_in_one_part);
	tcase_add_test(tests, parts_are_of_like_size);
	tcase_add_test(tests, all_machines_agree);
	tcase_add_test(tests, the_whole_has_everything);
	tcase_add_test(tests, parts_of_ten_million_paths_are_even);
	suite_add_tcase(suite, tests);
	return suite;
}
