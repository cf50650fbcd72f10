/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "codec/index.h"

#include <check.h>
#include <string.h>

static bool same_word(const void *owner, uint32_t number, const void *key)
{
	return strcmp(((const char *const *)owner)[number], key) == 0;
}

START_TEST(test_found_by_what_they_are)
{
	static const char *const words[] = {"arm", "leg", "head", "arm"};
	struct arena arena = ARENA_INIT;
	struct index x;
	uint32_t i, number;

	ck_assert(index_init(&x, &arena, 4));
	ck_assert(!index_find(&x, index_text("arm"), same_word, words, "arm", &number));
	for (i = 0; i < 4; i++)
		index_add(&x, index_text(words[i]), same_word, words, words[i], i);
	for (i = 0; i < 4; i++) {
		ck_assert(
			index_find(&x, index_text(words[i]), same_word, words, words[i], &number));
		ck_assert_uint_eq(number, i % 3);
	}
	ck_assert(!index_find(&x, index_text("foot"), same_word, words, "foot", &number));
	arena_release(&arena);
}
END_TEST

START_TEST(test_equal_hashes)
{
	static const char *const words[] = {"a", "b", "c", "d", "e", "f", "g", "h"};
	struct arena arena = ARENA_INIT;
	struct index x;
	uint32_t i, number;

	ck_assert(index_init(&x, &arena, 8));
	for (i = 0; i < 8; i++)
		index_put(&x, UINT64_MAX, i);
	for (i = 0; i < 8; i++) {
		ck_assert(index_find(&x, UINT64_MAX, same_word, words, words[i], &number));
		ck_assert_uint_eq(number, i);
	}
	ck_assert(!index_find(&x, UINT64_MAX, same_word, words, "i", &number));
	arena_release(&arena);
}
END_TEST

Suite *index_suite(void)
{
	Suite *suite = suite_create("index");
	TCase *tc = tcase_create("index");

	tcase_add_test(tc, test_found_by_what_they_are);
	tcase_add_test(tc, test_equal_hashes);
	suite_add_tcase(suite, tc);
	return suite;
}
