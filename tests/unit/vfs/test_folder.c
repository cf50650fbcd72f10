/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "scratch.h"
#include "vfs/deadline.h"
#include "vfs/folder.h"

#include <pthread.h>
#include <sys/resource.h>

#define KEPT 64 /* descriptors that the table keeps: an eighth of the process's limit */

static struct vfs *v;
static struct rlimit limit_before;

static void thing_gone(void *closure, struct thing *thing) REQUIRES(vfs_class)
{
	folder_forget(closure, thing);
}

UNSHARED static void begin(void)
{
	struct rlimit limit;

	scratch_begin();
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit_before), 0);
	limit = limit_before;
	limit.rlim_cur = 8 * KEPT;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	v = calloc(1, sizeof(*v));
	ck_assert_ptr_nonnull(v);
	lock_init(&v->lock);
	ck_assert(nodes_init(&v->nodes));
	v->nodes.thing_gone = thing_gone;
	v->nodes.closure = v;
	v->deadlines = deadlines_new(v);
	v->folders = folders_new(scratch_root);
	ck_assert(v->deadlines && v->folders);
}

static void end(void)
{
	vfs_lock(v);
	nodes_release(&v->nodes);
	vfs_unlock(v);
	deadlines_free(v->deadlines);
	folders_free(v->folders);
	lock_destroy(&v->lock);
	free(v);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit_before), 0);
	scratch_end();
}

static struct node *root(void)
{
	struct node *node;

	vfs_lock(v);
	node = nodes_by_id(&v->nodes, NODE_ROOT);
	vfs_unlock(v);
	return node;
}

/* Returns the node of the folder that is at `path` now, as a child of `parent`. */
static struct node *enter(struct node *parent, const char *name, const char *path)
{
	struct identity id;
	struct thing *thing;
	struct node *node;
	struct stat st;

	ck_assert_int_eq(identity_at(scratch_root, path, &id, &st), 0);
	vfs_lock(v);
	thing = thing_plain(&v->nodes, AREA_SOURCE, true, &id);
	ck_assert_ptr_nonnull(thing);
	node = nodes_add(&v->nodes, thing, NULL);
	ck_assert_ptr_nonnull(node);
	thing_put(&v->nodes, thing);
	ck_assert(nodes_link(&v->nodes, node, parent, name));
	vfs_unlock(v);
	return node;
}

static struct node *make(struct node *parent, const char *name, const char *path)
{
	ck_assert_int_eq(mkdir(path, 0755), 0);
	return enter(parent, name, path);
}

static void relink(struct node *node, struct node *parent, const char *name)
{
	vfs_lock(v);
	nodes_unlink_all(&v->nodes, node);
	ck_assert(nodes_link(&v->nodes, node, parent, name));
	vfs_unlock(v);
}

/* Checks that the folder of a node can be opened, and is the one at `path`. */
static void ck_opens(struct node *node, const char *path)
{
	struct folder folder;
	struct stat st, expected = stat_of(path);

	ck_assert_int_eq(folder_open(v, node, &folder), 0);
	ck_assert_int_eq(fstat(folder.fd, &st), 0);
	ck_assert_uint_eq(st.st_ino, expected.st_ino);
	folder_close(v, &folder);
}

static void forget(const struct node *node)
{
	vfs_lock(v);
	folder_forget(v, node->thing);
	vfs_unlock(v);
}

/* Makes the calls that are due, since this test has no thread for them. */
static unsigned call_due(void)
{
	struct deadline *deadline;
	unsigned calls = 0;

	for (; (deadline = deadlines_take(v->deadlines)); calls++)
		deadline->due(v, deadline->user);
	return calls;
}

static int error_of(struct node *node)
{
	struct folder folder;
	int error = folder_open(v, node, &folder);

	if (!error)
		folder_close(v, &folder);
	return error;
}

START_TEST(the_root_is_the_descriptor_given)
{
	struct folder folder;

	ck_assert_int_eq(folder_open(v, root(), &folder), 0);
	ck_assert_int_eq(folder.fd, scratch_root);
	folder_close(v, &folder);
	ck_opens(root(), ".");
}
END_TEST

START_TEST(folders_are_opened_by_the_names_above_them)
{
	struct node *a = make(root(), "a", "a"), *b = make(a, "b", "a/b");

	ck_opens(b, "a/b");
	ck_opens(b, "a/b");
	ck_opens(a, "a");
}
END_TEST

START_TEST(a_descriptor_follows_a_rename)
{
	struct node *a = make(root(), "a", "a"), *b = make(a, "b", "a/b");

	ck_opens(b, "a/b");
	ck_assert_int_eq(rename("a", "z"), 0);
	ck_opens(b, "z/b");
	forget(b);
	ck_assert_int_eq(error_of(b), ENOENT);
	relink(a, root(), "z");
	ck_opens(b, "z/b");
}
END_TEST

START_TEST(another_folder_of_the_name_is_stale)
{
	struct node *a = make(root(), "a", "a");

	ck_assert_int_eq(rename("a", "kept"), 0);
	ck_assert_int_eq(mkdir("a", 0755), 0);
	ck_assert_int_eq(error_of(a), ESTALE);
}
END_TEST

START_TEST(a_link_in_the_way_is_not_followed)
{
	struct node *a = make(root(), "a", "a"), *b = make(a, "b", "a/b");

	ck_assert_int_eq(rename("a", "kept"), 0);
	ck_assert_int_eq(symlink("kept", "a"), 0);
	ck_assert_int_eq(error_of(b), ESTALE);
	ck_assert_int_eq(error_of(a), ESTALE);
}
END_TEST

START_TEST(a_file_in_the_way_is_stale)
{
	struct node *a = make(root(), "a", "a");

	ck_assert_int_eq(rmdir("a"), 0);
	put("a", "");
	ck_assert_int_eq(error_of(a), ESTALE);
}
END_TEST

START_TEST(without_a_name_it_is_not_found)
{
	struct node *a = make(root(), "a", "a");

	vfs_lock(v);
	nodes_unlink_all(&v->nodes, a);
	vfs_unlock(v);
	ck_assert_int_eq(error_of(a), ENOENT);
}
END_TEST

START_TEST(more_folders_than_descriptors)
{
	enum { COUNT = 3 * KEPT };
	int before = count_descriptors();
	struct node *nodes[COUNT];
	char name[16];

	for (int i = 0; i < COUNT; i++) {
		snprintf(name, sizeof(name), "d%d", i);
		nodes[i] = make(root(), name, name);
	}
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < COUNT; i++) {
			snprintf(name, sizeof(name), "d%d", i);
			ck_opens(nodes[i], name);
		}
	}
	ck_assert_int_le(count_descriptors() - before, KEPT);
}
END_TEST

START_TEST(one_that_is_on_loan_stays_open)
{
	enum { COUNT = 2 * KEPT };
	struct folder loans[COUNT];
	char name[16];

	for (int i = 0; i < COUNT; i++) {
		snprintf(name, sizeof(name), "d%d", i);
		ck_assert_int_eq(folder_open(v, make(root(), name, name), &loans[i]), 0);
	}
	for (int i = 0; i < COUNT; i++) {
		struct stat st, expected;

		snprintf(name, sizeof(name), "d%d", i);
		expected = stat_of(name);
		ck_assert_int_eq(fstat(loans[i].fd, &st), 0);
		ck_assert_uint_eq(st.st_ino, expected.st_ino);
		folder_close(v, &loans[i]);
	}
}
END_TEST

START_TEST(the_same_folder_twice_is_one_descriptor)
{
	struct node *a = make(root(), "a", "a");
	struct folder one, two;

	ck_assert_int_eq(folder_open(v, a, &one), 0);
	ck_assert_int_eq(folder_open(v, a, &two), 0);
	ck_assert_int_eq(one.fd, two.fd);
	folder_close(v, &one);
	ck_opens(a, "a");
	folder_close(v, &two);
}
END_TEST

START_TEST(forgetting_closes_what_is_not_on_loan)
{
	int before = count_descriptors();
	struct node *a = make(root(), "a", "a");
	struct folder folder;

	ck_opens(a, "a");
	ck_assert_int_eq(count_descriptors(), before + 1);
	forget(a);
	ck_assert_uint_eq(call_due(), 1);
	ck_assert_int_eq(count_descriptors(), before);
	ck_assert_int_eq(folder_open(v, a, &folder), 0);
	forget(a);
	ck_assert_uint_eq(call_due(), 0);
	ck_assert_int_eq(fcntl(folder.fd, F_GETFD), FD_CLOEXEC);
	folder_close(v, &folder);
	ck_assert_int_eq(count_descriptors(), before);
}
END_TEST

/* Others moved the folder: on some filesystems, descriptors from before lead nowhere. */
START_TEST(what_others_moved_is_opened_again)
{
	struct node *a = make(root(), "a", "a"), *b = make(a, "b", "a/b");
	struct node *c = make(root(), "c", "c");
	int before = count_descriptors();

	ck_opens(a, "a");
	ck_opens(b, "a/b");
	ck_opens(c, "c");
	vfs_lock(v);
	folder_moved(v, a);
	vfs_unlock(v);
	ck_assert_uint_eq(call_due(), 1);
	ck_assert_int_eq(count_descriptors(), before + 1);
	ck_opens(b, "a/b");
}
END_TEST

START_TEST(a_descriptor_goes_with_its_thing)
{
	int before = count_descriptors();
	struct node *a = make(root(), "a", "a");

	ck_opens(a, "a");
	vfs_lock(v);
	nodes_unlink(&v->nodes, nodes_by_id(&v->nodes, NODE_ROOT), "a");
	node_put(&v->nodes, a);
	vfs_unlock(v);
	ck_assert_uint_eq(call_due(), 1);
	ck_assert_int_eq(count_descriptors(), before);
}
END_TEST

START_TEST(a_node_that_stands_for_something_else_is_stale)
{
	struct node *a = make(root(), "a", "a"), *b = make(a, "b", "a/b");
	struct thing *view;

	vfs_lock(v);
	view = thing_view(&v->nodes, NULL, views[0]);
	node_point(&v->nodes, b, view);
	thing_put(&v->nodes, view);
	vfs_unlock(v);
	ck_assert_int_eq(error_of(b), ESTALE);
	ck_opens(a, "a");
}
END_TEST

START_TEST(an_identity_tells_things_apart)
{
	struct identity a, b, hard, symbolic;
	struct stat st;

	put("a", "text");
	put("b", "");
	ck_assert_int_eq(link("a", "hard"), 0);
	ck_assert_int_eq(symlink("a", "link"), 0);
	ck_assert_int_eq(identity_at(scratch_root, "a", &a, &st), 0);
	ck_assert_int_eq(st.st_size, 4);
	ck_assert_uint_eq(st.st_nlink, 2);
	ck_assert_uint_eq(st.st_dev, stat_of("a").st_dev);
	ck_assert_int_eq(st.st_mtim.tv_nsec, stat_of("a").st_mtim.tv_nsec);
	ck_assert_int_eq(st.st_blocks, stat_of("a").st_blocks);
	ck_assert_int_eq(identity_at(scratch_root, "b", &b, &st), 0);
	ck_assert_int_eq(identity_at(scratch_root, "hard", &hard, &st), 0);
	ck_assert_int_eq(identity_at(scratch_root, "link", &symbolic, &st), 0);
	ck_assert(S_ISLNK(st.st_mode));
	ck_assert(identity_same(&a, &hard));
	ck_assert(!identity_same(&a, &b));
	ck_assert(!identity_same(&a, &symbolic));
	ck_assert_int_eq(identity_at(scratch_root, "none", &a, &st), ENOENT);
	ck_assert_int_eq(identity_at(scratch_root, "", &a, &st), 0);
	ck_assert(S_ISDIR(st.st_mode));
}
END_TEST

/*
 * A thread that moves names blocks all others that would, but must be able to open folders itself.
 */
START_TEST(a_move_may_open_folders)
{
	struct node *a = make(root(), "a", "a");

	folders_hold_still(v);
	ck_opens(a, "a");
	ck_assert_int_eq(rename("a", "b"), 0);
	forget(a);
	ck_assert_int_eq(
		error_of(a),
		ENOENT); /* the error also comes at the second attempt, which waits for moves */
	relink(a, root(), "b");
	ck_opens(a, "b");
	folders_let_move(v);
}
END_TEST

static void *rename_to_and_fro(void *folder)
{
	static const char *const names[] = {"a", "b"};
	const struct timespec pause = {.tv_nsec = 100000};

	for (unsigned i = 0; i < 300; i++) {
		folders_hold_still(v);
		ck_assert_int_eq(rename(names[i % 2], names[1 - i % 2]), 0);
		nanosleep(&pause, NULL); /* now the disk and the table differ */
		relink(folder, root(), names[1 - i % 2]);
		folders_let_move(v);
	}
	return NULL;
}

static void *open_often(void *folder)
{
	for (unsigned i = 0; i < 300; i++) {
		ck_assert_int_eq(error_of(folder), 0);
		forget(folder);
	}
	return NULL;
}

START_TEST(what_moves_is_found_all_the_time)
{
	struct node *a = make(root(), "a", "a"), *inner = make(a, "inner", "a/inner");
	pthread_t threads[4];

	for (unsigned i = 0; i < 4; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL,
						i ? open_often : rename_to_and_fro, i ? inner : a),
				 0);
	for (unsigned i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	call_due();
}
END_TEST

Suite *folder_suite(void);
Suite *folder_suite(void)
{
	Suite *s = suite_create("folder");
	TCase *tc = tcase_create("descriptors");

	tcase_add_checked_fixture(tc, begin, end);
	tcase_add_test(tc, the_root_is_the_descriptor_given);
	tcase_add_test(tc, folders_are_opened_by_the_names_above_them);
	tcase_add_test(tc, a_descriptor_follows_a_rename);
	tcase_add_test(tc, another_folder_of_the_name_is_stale);
	tcase_add_test(tc, a_link_in_the_way_is_not_followed);
	tcase_add_test(tc, a_file_in_the_way_is_stale);
	tcase_add_test(tc, without_a_name_it_is_not_found);
	tcase_add_test(tc, more_folders_than_descriptors);
	tcase_add_test(tc, one_that_is_on_loan_stays_open);
	tcase_add_test(tc, the_same_folder_twice_is_one_descriptor);
	tcase_add_test(tc, forgetting_closes_what_is_not_on_loan);
	tcase_add_test(tc, an_identity_tells_things_apart);
	tcase_add_test(tc, a_descriptor_goes_with_its_thing);
	tcase_add_test(tc, what_others_moved_is_opened_again);
	tcase_add_test(tc, a_node_that_stands_for_something_else_is_stale);
	tcase_add_test(tc, a_move_may_open_folders);
	tcase_add_test(tc, what_moves_is_found_all_the_time);
	suite_add_tcase(s, tc);
	return s;
}
