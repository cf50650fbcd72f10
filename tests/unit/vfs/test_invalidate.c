/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_invalidate.c - the notifications that the kernel gets, and when; the kernel is a model that
 * records them.
 */
#include "vfs/invalidate.h"

#include <check.h>
#include <errno.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FOLDER 100 /* number of the folder's node */

static struct model {
	pthread_mutex_t lock;
	pthread_cond_t more;
	char record[1 << 20]; /* notifications, one per line: "drop 100 walk" */
	size_t size;
	bool expires;           /* the kernel supports expiring names */
	int64_t pause;          /* time that dropping a name takes, in ms */
	sem_t *blocked, *go_on; /* dropping a name posts `blocked`, and waits for `go_on` */
} model;

static void add_record(const char *what, uint64_t node, const char *name)
{
	pthread_mutex_lock(&model.lock);
	model.size += (size_t)snprintf(model.record + model.size, sizeof(model.record) - model.size,
				       "%s %llu%s%s\n", what, (unsigned long long)node,
				       *name ? " " : "", name);
	ck_assert_uint_lt(model.size, sizeof(model.record));
	pthread_cond_broadcast(&model.more);
	pthread_mutex_unlock(&model.lock);
}

static int inval_node(void *closure, uint64_t node, bool pages)
{
	ck_assert_ptr_eq(closure, &model);
	add_record(pages ? "pages" : "attributes", node, "");
	return ENOENT;
}

static int inval_name(void *closure, uint64_t folder, const char *name)
{
	const struct timespec pause = {.tv_nsec = model.pause * 1000000};

	ck_assert_ptr_eq(closure, &model);
	if (model.blocked) {
		sem_post(model.blocked);
		sem_wait(model.go_on);
	}
	if (model.pause)
		nanosleep(&pause, NULL);
	add_record("drop", folder, name);
	return 0;
}

static int expire_name(void *closure, uint64_t folder, const char *name)
{
	ck_assert_ptr_eq(closure, &model);
	if (!model.expires)
		return ENOSYS;
	add_record("expire", folder, name);
	return ENOENT;
}

static const struct kernel kernel = {
	.inval_node = inval_node,
	.inval_name = inval_name,
	.expire_name = expire_name,
	.closure = &model,
};

static struct vfs *v;
/* a folder "folder" in the root, and a file "file" in the folder */
static struct node *folder, *file;

static struct node *add_node(struct node *parent, const char *name, bool is_folder)
{
	struct thing *thing;
	struct node *node;

	vfs_lock(v);
	thing = thing_plain(&v->nodes, AREA_SOURCE, is_folder, NULL);
	ck_assert_ptr_nonnull(thing);
	node = nodes_add(&v->nodes, thing, name);
	thing_put(&v->nodes, thing);
	ck_assert_ptr_nonnull(node);
	ck_assert(nodes_link(&v->nodes, node, parent ? parent : nodes_by_id(&v->nodes, NODE_ROOT),
			     name));
	vfs_unlock(v);
	return node;
}

UNSHARED static void begin(void)
{
	memset(&model, 0, sizeof(model));
	pthread_mutex_init(&model.lock, NULL);
	pthread_cond_init(&model.more, NULL);
	model.expires = true;
	v = calloc(1, sizeof(*v));
	ck_assert_ptr_nonnull(v);
	lock_init(&v->lock);
	v->kernel = &kernel;
	v->invalidator = invalidator_new(&kernel);
	ck_assert_ptr_nonnull(v->invalidator);
	ck_assert(nodes_init(&v->nodes));
	v->nodes.next_id = FOLDER;
	folder = add_node(NULL, "folder", true);
	file = add_node(folder, "file", false);
}

static void end(void)
{
	invalidator_free(v->invalidator);
	nodes_release(&v->nodes);
	lock_destroy(&v->lock);
	free(v);
	pthread_cond_destroy(&model.more);
	pthread_mutex_destroy(&model.lock);
}

static void start(void)
{
	ck_assert(invalidator_start(v->invalidator));
}

static bool has_record(const char *line)
{
	bool has;

	pthread_mutex_lock(&model.lock);
	has = strstr(model.record, line) != NULL;
	pthread_mutex_unlock(&model.lock);
	return has;
}

/* Waits for a notification, and checks all that were recorded. */
static void ck_records(const char *last, const char *expected)
{
	pthread_mutex_lock(&model.lock);
	while (!strstr(model.record, last))
		pthread_cond_wait(&model.more, &model.lock);
	ck_assert_str_eq(model.record, expected);
	pthread_mutex_unlock(&model.lock);
}

/* ---- notifications ---- */

START_TEST(attributes_are_sent_by_the_caller_and_before_all_else)
{
	struct changes c = CHANGES_INIT;

	vfs_lock(v);
	changes_data(&c, file);
	changes_data(&c, folder);
	changes_attributes(&c, file);
	vfs_unlock(v);
	ck_assert(!has_record("1"));
	ck_assert_ptr_null(changes_send(v, &c));
	/* The notification for a folder's listing never waits for a request. */
	ck_records("pages 100", "attributes 101\npages 100\nattributes 101\n");
	ck_assert_uint_eq(c.count, 0);
	start();
	ck_records("pages 101", "attributes 101\npages 100\nattributes 101\npages 101\n");
}
END_TEST

START_TEST(names_and_pages_are_sent_by_the_thread_in_their_order)
{
	invalidate_data(v, 7);
	invalidate_name(v, 8, "expired");
	invalidate_data(v, 9);
	start();
	ck_records("pages 9", "pages 7\nexpire 8 expired\npages 9\n");
}
END_TEST

START_TEST(a_name_is_dropped_where_the_kernel_cannot_expire_it)
{
	model.expires = false;
	invalidate_name(v, 8, "a");
	start();
	ck_records("a", "drop 8 a\n");
}
END_TEST

START_TEST(all_names_of_a_node_are_sent)
{
	struct changes c = CHANGES_INIT;

	vfs_lock(v);
	ck_assert(nodes_link(&v->nodes, file, nodes_by_id(&v->nodes, NODE_ROOT), "other"));
	changes_names(&c, file, true);
	changes_name(&c, folder, "one", false);
	vfs_unlock(v);
	changes_send_all(v, &c);
	start();
	ck_records("one", "drop 1 other\ndrop 100 file\nexpire 100 one\n");
}
END_TEST

START_TEST(what_is_discarded_is_not_sent)
{
	struct changes c = CHANGES_INIT;

	start();
	vfs_lock(v);
	changes_data(&c, file);
	changes_names(&c, file, true);
	vfs_unlock(v);
	changes_discard(&c);
	changes_send_all(v, &c);
	invalidate_data(v, 1);
	ck_records("pages 1", "pages 1\n");
}
END_TEST

START_TEST(nothing_is_sent_once_it_is_silent)
{
	struct changes c = CHANGES_INIT;

	start();
	invalidate_data(v, 1);
	ck_records("pages 1", "pages 1\n");
	invalidator_silence(v->invalidator);
	vfs_lock(v);
	changes_data(&c, file);
	changes_names(&c, file, true);
	vfs_unlock(v);
	c.saved = true;
	changes_send_all(v, &c); /* changes_send_all waits for the thread */
	invalidator_free(v->invalidator);
	v->invalidator = NULL;
	ck_assert_str_eq(model.record, "pages 1\n");
}
END_TEST

/* ---- nodes that the kernel does not know yet ---- */

static void change_looked_up_file(struct changes *c)
{
	vfs_lock(v);
	file->lookups = 1;
	changes_attributes(c, file);
	vfs_unlock(v);
}

START_TEST(attributes_that_come_before_the_node_are_sent_again_behind_its_name)
{
	struct changes c = CHANGES_INIT;

	change_looked_up_file(&c);
	changes_send_all(v, &c);
	ck_records("attributes", "attributes 101\n");
	invalidate_data(v, 9);
	start();
	ck_records("pages 9", "attributes 101\nexpire 100 file\nattributes 101\npages 9\n");
}
END_TEST

START_TEST(and_after_the_reply_if_the_folder_is_locked)
{
	struct changes c = CHANGES_INIT;
	struct after *after;

	c.locked[1] = FOLDER;
	change_looked_up_file(&c);
	after = changes_send(v, &c);
	ck_assert_ptr_nonnull(after);
	invalidate_data(v, 8);
	start();
	ck_records("pages 8", "attributes 101\npages 8\n");
	after_send(v, after);
	invalidate_data(v, 9);
	ck_records("pages 9", "attributes 101\npages 8\nexpire 100 file\nattributes 101\n"
			      "pages 9\n");
}
END_TEST

/* ---- locked folders ---- */

START_TEST(names_in_locked_folders_are_for_after_the_reply)
{
	struct changes c = CHANGES_INIT;
	struct after *after;

	c.locked[_i] = FOLDER;
	vfs_lock(v);
	changes_names(&c, file, true);
	changes_names(&c, folder, true);
	changes_data(&c, folder);
	changes_name(&c, folder, "late", false);
	vfs_unlock(v);
	after = changes_send(v, &c);
	ck_assert_ptr_nonnull(after);
	invalidate_name(v, 3, "later");
	start();
	ck_records("later", "pages 100\ndrop 1 folder\nexpire 3 later\n");
	after_send(v, after);
	after_send(v, NULL);
	ck_records("late\n", "pages 100\ndrop 1 folder\nexpire 3 later\n"
			     "drop 100 file\nexpire 100 late\n");
}
END_TEST

/* ---- folders whose names are kept ---- */

START_TEST(kept_names_wait_and_pages_do_not)
{
	start();
	names_keep(v, 5);
	names_keep(v, 5);
	names_keep(v, 6);
	invalidate_name(v, 5, "a");
	invalidate_data(v, 5);
	invalidate_name(v, 5, "b");
	invalidate_name(v, 6, "c");
	invalidate_name(v, 7, "d");
	ck_records("7 d", "pages 5\nexpire 7 d\n");
	names_release(v, 5);
	names_release(v, 4); /* `names` has names that the kernel does not keep */
	invalidate_name(v, 7, "e");
	ck_records("7 e", "pages 5\nexpire 7 d\nexpire 7 e\n");
	names_release(v, 5);
	invalidate_name(v, 7, "f");
	ck_records("7 f", "pages 5\nexpire 7 d\nexpire 7 e\nexpire 5 a\nexpire 5 b\nexpire 7 f\n");
	names_release(v, 6);
	ck_records("6 c", "pages 5\nexpire 7 d\nexpire 7 e\nexpire 5 a\nexpire 5 b\nexpire 7 f\n"
			  "expire 6 c\n");
}
END_TEST

/* ---- saves ---- */

static void save(const char *name)
{
	struct changes c = CHANGES_INIT;

	vfs_lock(v);
	changes_name(&c, folder, name, true);
	vfs_unlock(v);
	c.saved = true;
	changes_send_all(v, &c);
}

/* Repeat the test: the machine may be slower than a save waits. */
START_TEST(a_save_waits_until_names_are_dropped)
{
	char name[16], line[32];
	bool waited = false;

	model.pause = 5;
	start();
	for (unsigned i = 0; i < 50 && !waited; i++) {
		snprintf(name, sizeof(name), "n%u", i);
		snprintf(line, sizeof(line), "drop 100 n%u\n", i);
		save(name);
		waited = has_record(line);
	}
	ck_assert(waited);
}
END_TEST

START_TEST(a_save_does_not_wait_for_a_kernel_that_waits_for_it)
{
	sem_t blocked, go_on;

	sem_init(&blocked, 0, 0);
	sem_init(&go_on, 0, 0);
	model.blocked = &blocked;
	model.go_on = &go_on;
	start();
	save("a");
	sem_wait(&blocked);
	ck_assert(!has_record("a"));
	save("b");
	sem_post(&go_on);
	sem_post(&go_on);
	ck_records("100 b", "drop 100 a\ndrop 100 b\n");
	sem_destroy(&blocked);
	sem_destroy(&go_on);
}
END_TEST

/* A save does not wait for notifications that are kept back. */
START_TEST(a_save_does_not_wait_for_kept_names)
{
	start();
	names_keep(v, FOLDER);
	save("a");
	save("b");
	names_release(v, FOLDER);
	ck_records("100 b", "drop 100 a\ndrop 100 b\n");
}
END_TEST

/* ---- all at once ---- */

#define THREADS 4
#define ROUNDS 500

static void *send_all(void *closure)
{
	unsigned *number = closure;
	char name[32];

	for (unsigned i = 0; i < ROUNDS; i++) {
		struct changes c = CHANGES_INIT;

		names_keep(v, FOLDER + i % 3);
		snprintf(name, sizeof(name), "n%u.%u", *number, i);
		vfs_lock(v);
		changes_name(&c, folder, name, i % 2);
		changes_attributes(&c, file);
		vfs_unlock(v);
		if (i % 5 == 0)
			c.locked[0] = FOLDER;
		c.saved = i % 50 == 0;
		changes_send_all(v, &c);
		invalidate_data(v, i);
		names_release(v, FOLDER + i % 3);
	}
	return NULL;
}

static unsigned count_lines(const char *what)
{
	unsigned count = 0;

	for (const char *at = model.record; (at = strstr(at, what)); at++)
		count++;
	return count;
}

START_TEST(each_is_sent_once)
{
	unsigned numbers[THREADS];
	pthread_t threads[THREADS];

	start();
	for (unsigned i = 0; i < THREADS; i++) {
		numbers[i] = i;
		ck_assert_int_eq(pthread_create(&threads[i], NULL, send_all, &numbers[i]), 0);
	}
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	invalidate_name(v, 1, "last");
	pthread_mutex_lock(&model.lock);
	while (!strstr(model.record, "last"))
		pthread_cond_wait(&model.more, &model.lock);
	pthread_mutex_unlock(&model.lock);
	ck_assert_uint_eq(count_lines("attributes "), THREADS * ROUNDS);
	ck_assert_uint_eq(count_lines("pages "), THREADS * ROUNDS);
	ck_assert_uint_eq(count_lines("drop "), THREADS * ROUNDS / 2);
	ck_assert_uint_eq(count_lines("expire "), THREADS * ROUNDS / 2 + 1);
	ck_assert_uint_eq(count_lines("n3.499\n"), 1);
}
END_TEST

Suite *invalidate_suite(void);
Suite *invalidate_suite(void)
{
	Suite *suite = suite_create("invalidate");
	TCase *tc = tcase_create("invalidate");

	tcase_add_checked_fixture(tc, begin, end);
	tcase_add_test(tc, attributes_are_sent_by_the_caller_and_before_all_else);
	tcase_add_test(tc, names_and_pages_are_sent_by_the_thread_in_their_order);
	tcase_add_test(tc, a_name_is_dropped_where_the_kernel_cannot_expire_it);
	tcase_add_test(tc, all_names_of_a_node_are_sent);
	tcase_add_test(tc, what_is_discarded_is_not_sent);
	tcase_add_test(tc, nothing_is_sent_once_it_is_silent);
	tcase_add_test(tc, attributes_that_come_before_the_node_are_sent_again_behind_its_name);
	tcase_add_test(tc, and_after_the_reply_if_the_folder_is_locked);
	tcase_add_loop_test(tc, names_in_locked_folders_are_for_after_the_reply, 0,
			    ARRAY_SIZE(((struct changes *)NULL)->locked));
	tcase_add_test(tc, kept_names_wait_and_pages_do_not);
	tcase_add_test(tc, a_save_waits_until_names_are_dropped);
	tcase_add_test(tc, a_save_does_not_wait_for_a_kernel_that_waits_for_it);
	tcase_add_test(tc, a_save_does_not_wait_for_kept_names);
	tcase_add_test(tc, each_is_sent_once);
	suite_add_tcase(suite, tc);
	return suite;
}
