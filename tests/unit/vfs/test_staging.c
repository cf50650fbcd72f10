/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_staging.c - when a staged folder becomes something, beside requests that take long. */
#include "mounted.h"

#include "vfs/gate.h"
#include "vfs/lookup.h"

#define SAMPLE "tests/data/canm/wiki512.canm"

static struct request maker, other;
static struct target staged; /* without a text in it: it ends as an ordinary folder */

static void begin(void)
{
	struct entry entry;

	mounted_begin_in(SAMPLE);
	clock_stop();
	maker = (struct request){.uid = getuid(), .pid = getpid()};
	other = (struct request){.uid = getuid(), .pid = getppid()};
	ck_assert_int_eq(vfs_mkdir(mounted.v, &maker, mounted.folder.node->id, "new", 0755, &entry),
			 0);
	ck_assert_int_eq(target_get(mounted.v, entry.node, &staged), 0);
}

static void end(void)
{
	target_put(mounted.v, &staged);
	mounted_end();
}

static bool is_staged_after(int64_t ms)
{
	ck_assert_int_eq(deadlines_advance(mounted.v->deadlines, ms), 0);
	return is_staged(mounted.v, staged.node);
}

static bool stayed;

/* In the middle of a request that takes this long. */
static bool take_long(void *closure, const char *name, const struct entry *entry, off_t next)
{
	(void)closure, (void)name, (void)entry, (void)next;
	stayed = is_staged_after(3 * END_MS);
	return false;
}

static bool stays_beside(const struct request *who, uint64_t folder)
{
	ck_assert_int_eq(vfs_readdir(mounted.v, who, folder, NULL, 0, false, take_long, NULL), 0);
	return stayed;
}

START_TEST(it_ends_after_a_pause)
{
	ck_assert(is_staged_after(END_MS - 1));
	ck_assert(!is_staged_after(1));
}
END_TEST

START_TEST(the_time_of_a_look_into_it_is_no_pause)
{
	ck_assert(is_staged_after(END_MS - 2));
	ck_assert(stays_beside(&other, staged.node->id));
	ck_assert(is_staged_after(1));
	ck_assert(!is_staged_after(1));
}
END_TEST

/* Who fills it looks at what is above it, too. */
START_TEST(nor_is_that_of_its_maker_anywhere)
{
	ck_assert(stays_beside(&maker, NODE_ROOT));
	ck_assert(is_staged_after(END_MS - 1));
	ck_assert(!is_staged_after(1));
}
END_TEST

START_TEST(what_others_do_elsewhere_does_not_count)
{
	ck_assert(!stays_beside(&other, NODE_ROOT));
}
END_TEST

/* Of looks that go on at the same time, each moment counts once at the most. */
START_TEST(looks_do_not_put_it_off_for_longer_than_a_change)
{
	struct look first, second;

	look_begin(mounted.v, &other, staged.node->id, &first);
	look_begin(mounted.v, &other, staged.node->id, &second);
	ck_assert(is_staged_after(END_MS + 1));
	look_end(mounted.v, &first);
	ck_assert(is_staged_after(END_MS));
	look_end(mounted.v, &second);
	ck_assert(is_staged_after(END_MS - 1));
	ck_assert(!is_staged_after(1));
}
END_TEST

Suite *staging_suite(void);

Suite *staging_suite(void)
{
	Suite *s = suite_create("staging");
	TCase *t = tcase_create("staging");

	tcase_add_checked_fixture(t, begin, end);
	tcase_add_test(t, it_ends_after_a_pause);
	tcase_add_test(t, the_time_of_a_look_into_it_is_no_pause);
	tcase_add_test(t, nor_is_that_of_its_maker_anywhere);
	tcase_add_test(t, what_others_do_elsewhere_does_not_count);
	tcase_add_test(t, looks_do_not_put_it_off_for_longer_than_a_change);
	suite_add_tcase(s, t);
	return s;
}
