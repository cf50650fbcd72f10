/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "node.h"
#include <check.h>
#include <linux/limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct nodes table;
static unsigned gone; /* nodes whose memory went */

static void count_gone(struct node *node)
{
	(void)node;
	gone++;
}

static void begin(void)
{
	gone = 0;
	ck_assert(nodes_init(&table, count_gone));
	nodes_lock(&table);
}

static void end(void)
{
	nodes_unlock(&table);
	nodes_release(&table);
}

static struct node *root(void)
{
	return nodes_by_id(&table, NODE_ROOT);
}

/* A node under a name, as one that the kernel has looked up once. */
static struct node *looked_up(struct node *parent, const char *name)
{
	struct node *node = nodes_add(&table, NODE_REAL, name);

	ck_assert_ptr_nonnull(node);
	ck_assert(nodes_link(&table, node, parent, name));
	node->lookups = 1;
	return node;
}

START_TEST(a_new_table_has_the_root_alone)
{
	ck_assert_ptr_nonnull(root());
	ck_assert_uint_eq(root()->id, NODE_ROOT);
	ck_assert(root()->folder);
	ck_assert_uint_eq(table.count, 1);
	ck_assert_ptr_null(node_link(root()));
}
END_TEST

START_TEST(a_node_is_found_by_number_name_and_identity)
{
	struct identity id = {.dev = 5, .ino = 77, .born = 123};
	struct identity later = {.dev = 5, .ino = 77, .born = 124};
	struct node *node = looked_up(root(), "a");

	nodes_identify(&table, node, &id);
	ck_assert_ptr_eq(nodes_by_id(&table, node->id), node);
	ck_assert_ptr_eq(nodes_by_name(&table, root(), "a"), node);
	ck_assert_ptr_eq(nodes_by_identity(&table, &id), node);
	ck_assert_ptr_null(nodes_by_identity(&table, &later));
	ck_assert_ptr_null(nodes_by_name(&table, root(), "A"));
	ck_assert_ptr_null(nodes_by_name(&table, node, "a"));
	nodes_leave_identity(&table, node);
	ck_assert_ptr_null(nodes_by_identity(&table, &id));
}
END_TEST

START_TEST(a_table_that_keeps_has_what_has_a_name)
{
	struct node *folder, *file;
	uint64_t id;

	table.keeps = true;
	folder = looked_up(root(), "folder");
	file = looked_up(folder, "file");
	id = file->id;
	nodes_drop(&table, file, 1, 0);
	nodes_drop(&table, folder, 1, 0);
	ck_assert_ptr_eq(nodes_by_id(&table, id), file);
	ck_assert_ptr_eq(nodes_by_name(&table, folder, "file"), file);
	nodes_unlink(&table, folder, "file");
	ck_assert_ptr_null(nodes_by_id(&table, id));
	nodes_unlink(&table, root(), "folder");
	ck_assert_uint_eq(table.count, 1);
}
END_TEST

START_TEST(a_table_that_keeps_drops_what_lost_its_name_to_another)
{
	struct node *first, *second;

	table.keeps = true;
	first = looked_up(root(), "a");
	nodes_drop(&table, first, 1, 0);
	second = looked_up(root(), "a");
	ck_assert_uint_eq(gone, 1);
	ck_assert_ptr_eq(nodes_by_name(&table, root(), "a"), second);
	/* A handle keeps it, and its end is the node's. */
	second->references = 1;
	nodes_drop(&table, second, 1, 0);
	nodes_unlink(&table, root(), "a");
	ck_assert_uint_eq(gone, 1);
	nodes_drop(&table, second, 0, 1);
	ck_assert_uint_eq(gone, 2);
}
END_TEST

START_TEST(numbers_are_never_used_again)
{
	uint64_t last = 0;

	for (int i = 0; i < 100; i++) {
		struct node *node = looked_up(root(), "a");

		ck_assert_uint_gt(node->id, last);
		last = node->id;
		nodes_drop(&table, node, 1, 0);
		ck_assert_ptr_null(nodes_by_id(&table, last));
	}
	ck_assert_uint_eq(gone, 100);
	ck_assert_uint_eq(table.count, 1);
	ck_assert_uint_eq(table.links, 0);
}
END_TEST

START_TEST(what_took_a_name_leaves_its_last_owner_nameless)
{
	struct node *old = looked_up(root(), "a"), *new = looked_up(root(), "a");

	ck_assert_ptr_eq(nodes_by_name(&table, root(), "a"), new);
	ck_assert_ptr_null(node_link(old));
	ck_assert_ptr_eq(nodes_by_id(&table, old->id), old);
	nodes_drop(&table, old, 1, 0);
	ck_assert_uint_eq(gone, 1);
	ck_assert_ptr_eq(nodes_by_name(&table, root(), "a"), new);
}
END_TEST

START_TEST(the_name_seen_last_comes_first)
{
	struct node *node = looked_up(root(), "a");

	ck_assert(nodes_link(&table, node, root(), "b"));
	ck_assert(nodes_link(&table, node, root(), "c"));
	ck_assert_str_eq(node_link(node)->name, "c");
	ck_assert(nodes_link(&table, node, root(), "a"));
	ck_assert_str_eq(node_link(node)->name, "a");
	ck_assert_uint_eq(table.links, 3);
	nodes_unlink(&table, root(), "a");
	ck_assert_ptr_nonnull(node_link(node));
	ck_assert_ptr_null(nodes_by_name(&table, root(), "a"));
	nodes_unlink_all(&table, node);
	ck_assert_ptr_null(node_link(node));
	ck_assert_uint_eq(table.links, 0);
	ck_assert_uint_eq(gone, 0);
}
END_TEST

/* The first lies in the node; one that is longer, and others, do not fit there. */
START_TEST(names_of_all_lengths_come_and_go)
{
	struct node *node = looked_up(root(), "short");
	char name[NAME_MAX + 1];

	memset(name, 'n', NAME_MAX);
	name[NAME_MAX] = '\0';
	ck_assert(nodes_link(&table, node, root(), name));
	nodes_unlink(&table, root(), "short");
	ck_assert_str_eq(node_link(node)->name, name);
	ck_assert_ptr_null(node_next_link(node, node_link(node)));
	nodes_unlink(&table, root(), name);
	ck_assert_ptr_null(node_link(node));
	ck_assert(nodes_link(&table, node, root(), "tiny"));
	ck_assert_ptr_eq(nodes_by_name(&table, root(), "tiny"), node);
	ck_assert_uint_eq(table.links, 1);
	node = looked_up(root(), name);
	ck_assert_str_eq(node_link(node)->name, name);
	nodes_drop(&table, node, 1, 0);
	ck_assert_uint_eq(table.links, 1);
}
END_TEST

START_TEST(every_name_follows_the_first)
{
	struct node *node = looked_up(root(), "a");
	char seen[8] = "";

	ck_assert(nodes_link(&table, node, root(), "b"));
	ck_assert(nodes_link(&table, node, root(), "c"));
	ck_assert(nodes_link(&table, node, root(), "b"));
	for (const struct link *l = node_link(node); l; l = node_next_link(node, l))
		strcat(seen, l->name);
	ck_assert_str_eq(seen, "bca");
	ck_assert(nodes_link(&table, node, root(), "a"));
	seen[0] = '\0';
	for (const struct link *l = node_link(node); l; l = node_next_link(node, l))
		strcat(seen, l->name);
	ck_assert_str_eq(seen, "abc");
}
END_TEST

START_TEST(all_nodes_are_passed_once)
{
	enum { COUNT = 3000 };
	uint64_t sum = 0, want = NODE_ROOT;
	struct node *node;
	char name[32];
	size_t at = 0;

	for (unsigned i = 0; i < COUNT; i++) {
		snprintf(name, sizeof(name), "file %u", i);
		want += looked_up(root(), name)->id;
	}
	while ((node = nodes_next(&table, &at)))
		sum += node->id;
	ck_assert_uint_eq(sum, want);
}
END_TEST

START_TEST(a_folder_stays_while_something_in_it_does)
{
	struct node *folder = looked_up(root(), "d");
	uint64_t id = folder->id;
	struct node *child = looked_up(folder, "f");

	nodes_drop(&table, folder, 1, 0);
	ck_assert_ptr_eq(nodes_by_id(&table, id), folder);
	ck_assert_uint_eq(gone, 0);
	nodes_drop(&table, child, 1, 0);
	ck_assert_uint_eq(gone, 2);
	ck_assert_ptr_null(nodes_by_id(&table, id));
}
END_TEST

START_TEST(a_reference_keeps_what_the_kernel_forgot)
{
	struct node *node = looked_up(root(), "a");

	node->references++;
	nodes_drop(&table, node, 1, 0);
	ck_assert_ptr_eq(nodes_by_name(&table, root(), "a"), node);
	nodes_drop(&table, node, 0, 1);
	ck_assert_uint_eq(gone, 1);
}
END_TEST

START_TEST(the_root_is_never_freed)
{
	root()->lookups = 3;
	nodes_drop(&table, root(), 3, 0);
	ck_assert_ptr_nonnull(root());
	ck_assert_uint_eq(gone, 0);
}
END_TEST

/* Deeper than a recursion over the parents could go. */
START_TEST(a_long_chain_of_folders_goes_with_its_last_child)
{
	enum { DEPTH = 300000 };
	struct node *node = root();

	for (int i = 0; i < DEPTH; i++) {
		node = looked_up(node, "d");
		if (node_link(node)->parent != root())
			nodes_drop(&table, node_link(node)->parent, 1, 0);
	}
	ck_assert_uint_eq(table.count, DEPTH + 1);
	ck_assert_uint_eq(gone, 0);
	nodes_drop(&table, node, 1, 0);
	ck_assert_uint_eq(gone, DEPTH);
	ck_assert_uint_eq(table.count, 1);
	ck_assert_uint_eq(table.links, 0);
}
END_TEST

START_TEST(a_node_with_two_parents_frees_both)
{
	struct node *a = looked_up(root(), "a"), *b = looked_up(root(), "b");
	struct node *file = looked_up(a, "f");

	ck_assert(nodes_link(&table, file, b, "g"));
	nodes_drop(&table, a, 1, 0);
	nodes_drop(&table, b, 1, 0);
	ck_assert_uint_eq(gone, 0);
	nodes_drop(&table, file, 1, 0);
	ck_assert_uint_eq(gone, 3);
}
END_TEST

START_TEST(many_nodes_are_all_found)
{
	enum { COUNT = 5000 };
	struct node **nodes = calloc(COUNT, sizeof(*nodes));
	char name[32];

	ck_assert_ptr_nonnull(nodes);
	for (unsigned i = 0; i < COUNT; i++) {
		struct identity id = {.dev = 1, .ino = 1000 + i};

		snprintf(name, sizeof(name), "file %u", i);
		nodes[i] = looked_up(root(), name);
		nodes_identify(&table, nodes[i], &id);
	}
	for (unsigned i = 0; i < COUNT; i++) {
		struct identity id = {.dev = 1, .ino = 1000 + i};

		snprintf(name, sizeof(name), "file %u", i);
		ck_assert_ptr_eq(nodes_by_name(&table, root(), name), nodes[i]);
		ck_assert_ptr_eq(nodes_by_identity(&table, &id), nodes[i]);
		ck_assert_ptr_eq(nodes_by_id(&table, nodes[i]->id), nodes[i]);
	}
	for (unsigned i = 0; i < COUNT; i += 2)
		nodes_drop(&table, nodes[i], 1, 0);
	for (unsigned i = 1; i < COUNT; i += 2) {
		snprintf(name, sizeof(name), "file %u", i);
		ck_assert_ptr_eq(nodes_by_name(&table, root(), name), nodes[i]);
	}
	ck_assert_uint_eq(table.count, COUNT / 2 + 1);
	free(nodes);
}
END_TEST

START_TEST(a_retired_node_has_its_name_but_is_not_found_by_it)
{
	static const char *const names[] = {"short", "a name that is longer than the one before"};
	struct node *old = looked_up(root(), names[0]), *now;

	for (int i = 0; i < 2; i++) {
		ck_assert(nodes_link(&table, old, root(), names[1]));
		nodes_unlink(&table, root(), names[0]);
		ck_assert(!node_is_retired(old));
		nodes_retire(&table, old);
		nodes_retire(&table, old);
		ck_assert(node_is_retired(old));
		ck_assert_ptr_null(nodes_by_name(&table, root(), names[1]));
		ck_assert_str_eq(node_link(old)->name, names[1]);
		now = looked_up(root(), names[1]);
		ck_assert_ptr_eq(nodes_by_name(&table, root(), names[1]), now);
		nodes_drop(&table, old, 1, 0);
		ck_assert_ptr_eq(nodes_by_name(&table, root(), names[1]), now);
		ck_assert(!node_is_retired(now));
		old = now;
	}
	nodes_drop(&table, old, 1, 0);
	ck_assert_uint_eq(table.count, 1);
	ck_assert_uint_eq(table.links, 0);
	ck_assert_uint_eq(root()->references, 0);
}
END_TEST

START_TEST(releasing_the_table_frees_what_is_left)
{
	struct nodes other;
	struct node *folder;

	ck_assert(nodes_init(&other, count_gone));
	nodes_lock(&other);
	folder = nodes_add(&other, NODE_REAL, "d");
	nodes_link(&other, folder, nodes_by_id(&other, NODE_ROOT), "d");
	nodes_link(&other, nodes_add(&other, NODE_REAL, NULL), folder, "f");
	nodes_unlock(&other);
	nodes_release(&other);
	ck_assert_uint_eq(gone, 3);
}
END_TEST

Suite *node_suite(void);
Suite *node_suite(void)
{
	Suite *s = suite_create("node");
	TCase *tc = tcase_create("table");

	tcase_add_checked_fixture(tc, begin, end);
	tcase_add_test(tc, a_new_table_has_the_root_alone);
	tcase_add_test(tc, a_node_is_found_by_number_name_and_identity);
	tcase_add_test(tc, a_table_that_keeps_has_what_has_a_name);
	tcase_add_test(tc, a_table_that_keeps_drops_what_lost_its_name_to_another);
	tcase_add_test(tc, numbers_are_never_used_again);
	tcase_add_test(tc, what_took_a_name_leaves_its_last_owner_nameless);
	tcase_add_test(tc, the_name_seen_last_comes_first);
	tcase_add_test(tc, names_of_all_lengths_come_and_go);
	tcase_add_test(tc, every_name_follows_the_first);
	tcase_add_test(tc, all_nodes_are_passed_once);
	tcase_add_test(tc, a_folder_stays_while_something_in_it_does);
	tcase_add_test(tc, a_reference_keeps_what_the_kernel_forgot);
	tcase_add_test(tc, the_root_is_never_freed);
	tcase_add_test(tc, a_long_chain_of_folders_goes_with_its_last_child);
	tcase_add_test(tc, a_node_with_two_parents_frees_both);
	tcase_add_test(tc, many_nodes_are_all_found);
	tcase_add_test(tc, a_retired_node_has_its_name_but_is_not_found_by_it);
	tcase_add_test(tc, releasing_the_table_frees_what_is_left);
	suite_add_tcase(s, tc);
	return s;
}
