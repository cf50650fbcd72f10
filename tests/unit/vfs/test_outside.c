/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_outside.c - changes by others, also changes whose inotify events were lost. */
#include "mounted.h"

#include "disk/watch.h"
#include "vfs/invalidate.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <sys/stat.h>

#define SAMPLE "tests/data/canm/wiki512.canm" /* has a clip named walk */
#define LONG_MS 60000

static uint64_t walk;
static _Atomic unsigned sent; /* number of notifications that dropped the cache of walk */

static int count_sent(uint64_t node)
{
	sent += node == walk;
	return 0;
}

static void begin(void)
{
	const struct request who = {.uid = getuid(), .gid = getgid(), .pid = getpid()};
	struct entry entry;

	clock_stop();
	mounted_begin_in(SAMPLE);
	ck_assert_int_eq(vfs_lookup(mounted.v, &who, mounted.folder.node->id, "walk", &entry), 0);
	walk = entry.node;
	mounted_drops = count_sent;
}

static void end(void)
{
	mounted_drops = NULL;
	mounted_end();
}

/* Waits until all changes in SOURCE are noticed, and the kernel has been notified. */
static void settle(void)
{
	ck_assert(watch_settle(mounted.v->watch, LONG_MS));
	ck_assert_int_eq(invalidate_settle(mounted.v), 0);
}

/*
 * Causes more events than the kernel queues; they differ, since equal events in a row would be
 * merged.
 */
static void flood(void)
{
	unsigned count = 0;
	FILE *file = fopen("/proc/sys/fs/inotify/max_queued_events", "r");

	ck_assert_ptr_nonnull(file);
	ck_assert_int_eq(fscanf(file, "%u", &count), 1);
	fclose(file);
	put("a", "");
	put("b", "");
	for (unsigned i = 0; i < count + 1024; i++)
		ck_assert_int_eq(chmod(i % 2 ? "a" : "b", 0600), 0);
}

static void make_folder(const char *path)
{
	ck_assert_int_eq(mkdir(path, 0755), 0);
}

/* Another mount makes the state directory, and later puts a file beside the views of walk. */
START_TEST(what_came_while_events_were_lost_is_watched)
{
	vfs_lock(mounted.v); /* so that the thread that reads events must wait */
	flood();
	make_folder(".animfs");
	make_folder(".animfs/extra");
	make_folder(".animfs/extra/" MOUNTED_FILE);
	make_folder(".animfs/extra/" MOUNTED_FILE "/walk");
	vfs_unlock(mounted.v);
	settle();
	ck_assert_uint_gt(sent, 0);
	sent = 0;
	put(".animfs/extra/" MOUNTED_FILE "/walk/note", "1");
	settle();
	ck_assert_uint_gt(sent, 0);
}
END_TEST

Suite *outside_suite(void);

Suite *outside_suite(void)
{
	Suite *s = suite_create("outside");
	TCase *t = tcase_create("outside");

	tcase_add_checked_fixture(t, begin, end);
	tcase_add_test(t, what_came_while_events_were_lost_is_watched);
	suite_add_tcase(s, t);
	return s;
}
