/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "folder.h"
#include "scratch.h"

static struct nodes table;
static struct folders folders;

static void nothing(struct node *node)
{
	(void)node;
}

static void begin(void)
{
	scratch_begin();
	ck_assert(nodes_init(&table, nothing));
	folders_init(&folders, &table, scratch_root);
}

static void end(void)
{
	folders_release(&folders);
	nodes_release(&table);
	scratch_end();
}

static struct node *root(void)
{
	struct node *node;

	nodes_lock(&table);
	node = nodes_by_id(&table, NODE_ROOT);
	nodes_unlock(&table);
	return node;
}

/* The node of the folder that is at `path` now, as a child of `parent`. */
static struct node *enter(struct node *parent, const char *name, const char *path)
{
	struct identity id;
	struct node *node;
	struct stat st;

	ck_assert_int_eq(identity_at(scratch_root, path, &id, &st), 0);
	nodes_lock(&table);
	node = nodes_add(&table, NODE_REAL, NULL);
	ck_assert_ptr_nonnull(node);
	node->folder = true;
	node->lookups = 1;
	nodes_identify(&table, node, &id);
	ck_assert(nodes_link(&table, node, parent, name));
	nodes_unlock(&table);
	return node;
}

static struct node *make(struct node *parent, const char *name, const char *path)
{
	ck_assert_int_eq(mkdir(path, 0755), 0);
	return enter(parent, name, path);
}

static void relink(struct node *node, struct node *parent, const char *name)
{
	nodes_lock(&table);
	nodes_unlink_all(&table, node);
	ck_assert(nodes_link(&table, node, parent, name));
	nodes_unlock(&table);
}

/* Can it be opened, and is it the folder at `path`? */
static void ck_opens(struct node *node, const char *path)
{
	struct folder folder;
	struct stat st, expected = stat_of(path);

	ck_assert_int_eq(folder_open(&folders, node, &folder), 0);
	ck_assert_int_eq(fstat(folder.fd, &st), 0);
	ck_assert_uint_eq(st.st_ino, expected.st_ino);
	folder_close(&folders, &folder);
}

static int error_of(struct node *node)
{
	struct folder folder;
	int error = folder_open(&folders, node, &folder);

	if (!error)
		folder_close(&folders, &folder);
	return error;
}

START_TEST(the_root_is_the_descriptor_given)
{
	struct folder folder;

	ck_assert_int_eq(folder_open(&folders, root(), &folder), 0);
	ck_assert_int_eq(folder.fd, scratch_root);
	folder_close(&folders, &folder);
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
	folder_forget(&folders, b);
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

	nodes_lock(&table);
	nodes_unlink_all(&table, a);
	nodes_unlock(&table);
	ck_assert_int_eq(error_of(a), ENOENT);
}
END_TEST

START_TEST(more_folders_than_descriptors)
{
	enum { COUNT = 3 * FOLDERS_KEPT };
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
	ck_assert_int_le(count_descriptors() - before, FOLDERS_KEPT);
}
END_TEST

START_TEST(one_that_is_on_loan_stays_open)
{
	enum { COUNT = 2 * FOLDERS_KEPT };
	struct folder loans[COUNT];
	char name[16];

	for (int i = 0; i < COUNT; i++) {
		snprintf(name, sizeof(name), "d%d", i);
		ck_assert_int_eq(folder_open(&folders, make(root(), name, name), &loans[i]), 0);
	}
	for (int i = 0; i < COUNT; i++) {
		struct stat st, expected;

		snprintf(name, sizeof(name), "d%d", i);
		expected = stat_of(name);
		ck_assert_int_eq(fstat(loans[i].fd, &st), 0);
		ck_assert_uint_eq(st.st_ino, expected.st_ino);
		folder_close(&folders, &loans[i]);
	}
}
END_TEST

START_TEST(the_same_folder_twice_is_one_descriptor)
{
	struct node *a = make(root(), "a", "a");
	struct folder one, two;

	ck_assert_int_eq(folder_open(&folders, a, &one), 0);
	ck_assert_int_eq(folder_open(&folders, a, &two), 0);
	ck_assert_int_eq(one.fd, two.fd);
	folder_close(&folders, &one);
	ck_opens(a, "a");
	folder_close(&folders, &two);
}
END_TEST

START_TEST(forgetting_closes_what_is_not_on_loan)
{
	int before = count_descriptors();
	struct node *a = make(root(), "a", "a");
	struct folder folder;

	ck_opens(a, "a");
	ck_assert_int_eq(count_descriptors(), before + 1);
	folder_forget(&folders, a);
	ck_assert_int_eq(count_descriptors(), before);
	ck_assert_int_eq(folder_open(&folders, a, &folder), 0);
	folder_forget(&folders, a);
	ck_assert_int_eq(fcntl(folder.fd, F_GETFD), FD_CLOEXEC);
	folder_close(&folders, &folder);
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

START_TEST(a_path_is_made_of_all_names)
{
	struct node *a = make(root(), "a", "a"), *b = make(a, "b c", "a/b c");
	struct buf path = BUF_INIT;

	nodes_lock(&table);
	ck_assert_int_eq(node_path(b, &path), 0);
	ck_assert_str_eq((const char *)path.data, "a/b c");
	buf_clear(&path);
	ck_assert_int_eq(node_path(nodes_by_id(&table, NODE_ROOT), &path), 0);
	ck_assert_str_eq((const char *)path.data, "");
	buf_clear(&path);
	nodes_unlink(&table, a, "b c");
	ck_assert_int_eq(node_path(b, &path), ENOENT);
	nodes_unlock(&table);
	buf_release(&path);
}
END_TEST

/* Who moves names holds the others still, itself included. */
START_TEST(a_move_may_open_folders)
{
	struct node *a = make(root(), "a", "a");

	folders_hold_still(&folders);
	ck_opens(a, "a");
	ck_assert_int_eq(rename("a", "b"), 0);
	relink(a, root(), "b");
	folder_forget(&folders, a);
	ck_opens(a, "b");
	folders_let_move(&folders);
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
	tcase_add_test(tc, a_path_is_made_of_all_names);
	tcase_add_test(tc, a_move_may_open_folders);
	suite_add_tcase(s, tc);
	return s;
}
