/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_given.c - attributes that programs set for views, and their limits. */
#include "mounted.h"

#include "vfs/given.h"

#include <errno.h>

#define SAMPLE "tests/data/canm/wiki512.canm" /* this sample has a clip walk */

static uint8_t zeros[GIVEN_XATTRS_MAX];
static struct target clip;

static void begin(void)
{
	const struct request who = {.uid = getuid(), .pid = getpid()};
	struct entry entry;

	mounted_begin_in(SAMPLE);
	ck_assert_int_eq(vfs_lookup(mounted.v, &who, mounted.folder.node->id, "walk", &entry), 0);
	ck_assert_int_eq(target_get(mounted.v, entry.node, &clip), 0);
}

static void end(void)
{
	target_put(mounted.v, &clip);
	mounted_end();
}

static int set(const char *name, size_t size)
{
	int error;

	vfs_lock(mounted.v);
	error = given_set_xattr(mounted.v, given_need(mounted.v, clip.node), name,
				(struct bytes){zeros, size}, 0);
	vfs_unlock(mounted.v);
	return error;
}

static int drop(const char *name)
{
	int error;

	vfs_lock(mounted.v);
	error = given_remove_xattr(mounted.v, given_need(mounted.v, clip.node), name);
	vfs_unlock(mounted.v);
	return error;
}

START_TEST(a_view_has_a_limit)
{
	ck_assert_int_eq(set("user.a", 60000), 0);
	ck_assert_int_eq(set("user.b", 60000), ENOSPC);
	ck_assert_int_eq(set("user.a", 60000), 0);
	ck_assert_int_eq(set("user.a", 100), 0);
	ck_assert_int_eq(set("user.b", 60000), 0);
	ck_assert_int_eq(drop("user.b"), 0);
	ck_assert_int_eq(drop("user.b"), ENODATA);
	ck_assert_int_eq(set("user.c", 60000), 0);
	ck_assert_uint_eq(mounted.v->given.used, 100 + 60000 + 2 * sizeof("user.a"));
}
END_TEST

START_TEST(all_together_have_a_limit)
{
	mounted.v->given.limit = 1000;
	ck_assert_int_eq(set("user.a", 900), 0);
	ck_assert_int_eq(set("user.b", 900), ENOSPC);
	ck_assert_int_eq(set("user.a", 900), 0);
	vfs_lock(mounted.v);
	given_lose(mounted.v, clip.node);
	vfs_unlock(mounted.v);
	ck_assert_uint_eq(mounted.v->given.used, 0);
	ck_assert_int_eq(set("user.b", 900), 0);
}
END_TEST

Suite *given_suite(void);

Suite *given_suite(void)
{
	Suite *s = suite_create("given");
	TCase *t = tcase_create("given");

	tcase_add_checked_fixture(t, begin, end);
	tcase_add_test(t, a_view_has_a_limit);
	tcase_add_test(t, all_together_have_a_limit);
	suite_add_tcase(s, t);
	return s;
}
