/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "util/later.h"

#include <check.h>

static unsigned freed;

static void count_freed(struct later *l)
{
	(void)l;
	freed++;
}

/* Frees an object, which drops further objects. */
static void free_another(struct later *l)
{
	static struct later other;

	later_free(&other, count_freed);
	count_freed(l);
}

START_TEST(what_is_dropped_in_between_is_freed_at_the_end)
{
	struct later some[3] = {{0}};

	freed = 0;
	later_free(&some[0], count_freed);
	ck_assert_uint_eq(freed, 1);
	later_begin();
	later_free(&some[1], count_freed);
	later_free(&some[2], free_another);
	ck_assert_uint_eq(freed, 1);
	later_end();
	ck_assert_uint_eq(freed, 4);
	later_end();
	ck_assert_uint_eq(freed, 4);
}
END_TEST

Suite *later_suite(void);

Suite *later_suite(void)
{
	Suite *s = suite_create("later");
	TCase *tc = tcase_create("later");

	tcase_add_test(tc, what_is_dropped_in_between_is_freed_at_the_end);
	suite_add_tcase(s, tc);
	return s;
}
