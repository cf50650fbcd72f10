/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/recent.h"
#include <check.h>
#include <stdio.h>
#include <string.h>

static struct recent *recent;

static void begin(void)
{
	recent = recent_new(1000);
	ck_assert_ptr_nonnull(recent);
}

static void end(void)
{
	recent_free(recent);
}

/* Puts a text of `size` bytes, which begins with a number, into the cache. */
static void put(uint64_t node, uint64_t generation, size_t size)
{
	struct buf bytes = BUF_INIT;
	struct text *text;

	buf_zero(&bytes, size);
	memcpy(bytes.data, &node, sizeof(node));
	text = text_new(&bytes);
	ck_assert_ptr_null(bytes.data);
	recent_put(recent, node, generation, text);
	text_put(text);
}

static bool has(uint64_t node, uint64_t generation)
{
	struct text *text = recent_get(recent, node, generation);

	ck_assert(!text || memcmp(text_bytes(text).data, &node, sizeof(node)) == 0);
	text_put(text);
	return text != NULL;
}

START_TEST(a_text_stays_and_is_shared)
{
	struct text *first, *second;

	put(7, 1, 100);
	first = recent_get(recent, 7, 1);
	second = recent_get(recent, 7, 1);
	ck_assert_ptr_nonnull(first);
	ck_assert_ptr_eq(first, second);
	text_put(second);
	put(7, 2, 100);
	ck_assert(!has(7, 1));
	ck_assert_uint_eq(text_bytes(first).size, 100); /* the holder's text is still valid */
	text_put(first);
}
END_TEST

START_TEST(a_text_of_another_version_is_not_the_text)
{
	put(7, 1, 100);
	ck_assert(!has(7, 2));
	ck_assert(!has(8, 1));
	put(7, 2, 100);
	ck_assert(!has(7, 1));
	ck_assert(has(7, 2));
}
END_TEST

START_TEST(all_together_never_exceed_the_limit)
{
	unsigned kept = 0;

	for (uint64_t node = 1; node <= 100; node++)
		put(node, 1, 90);
	ck_assert(has(100, 1));
	for (uint64_t node = 1; node < 100; node++)
		kept += has(node, 1);
	ck_assert_uint_ge(kept, 1);
	ck_assert_uint_le(kept, 10);
}
END_TEST

START_TEST(a_text_larger_than_the_limit_is_not_kept)
{
	put(1, 1, 100);
	put(2, 1, 1001);
	ck_assert(!has(2, 1));
	ck_assert(has(1, 1));
}
END_TEST

START_TEST(another_node_in_the_same_slot_takes_its_place)
{
	put(1, 1, 100);
	put(1 + 1024, 1, 100);
	ck_assert(!has(1, 1));
	ck_assert(has(1 + 1024, 1));
}
END_TEST

START_TEST(the_last_of_many_nodes_are_all_kept)
{
	recent_free(recent);
	recent = recent_new(1 << 20);
	for (uint64_t node = 1; node <= 5000; node++)
		put(node, 1, 16);
	for (uint64_t node = 5000; node > 5000 - 1024; node--)
		ck_assert(has(node, 1));
	ck_assert(!has(5000 - 1024, 1));
}
END_TEST

Suite *recent_suite(void);
Suite *recent_suite(void)
{
	Suite *s = suite_create("recent");
	TCase *tc = tcase_create("texts");

	tcase_add_checked_fixture(tc, begin, end);
	tcase_add_test(tc, a_text_stays_and_is_shared);
	tcase_add_test(tc, a_text_of_another_version_is_not_the_text);
	tcase_add_test(tc, all_together_never_exceed_the_limit);
	tcase_add_test(tc, a_text_larger_than_the_limit_is_not_kept);
	tcase_add_test(tc, another_node_in_the_same_slot_takes_its_place);
	tcase_add_test(tc, the_last_of_many_nodes_are_all_kept);
	suite_add_tcase(s, tc);
	return s;
}
