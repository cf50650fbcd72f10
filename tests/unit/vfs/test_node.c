/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "vfs/node.h"
#include <check.h>
#include <errno.h>
#include <linux/limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __clang__ /* the fixture takes the lock, which clang cannot see */
#pragma clang diagnostic ignored "-Wthread-safety-analysis"
#endif

static struct lock lock;
static struct nodes table;
static unsigned gone; /* number of nodes whose memory was freed */
/* number of things made and freed; things_made counts only those of animations */
static unsigned things_made, things_gone;

static void count_node(void *closure, struct node *node)
{
	ck_assert_ptr_eq(closure, &table);
	ck_assert_uint_ge(node->id, NODE_ROOT);
	gone++;
}

static void count_made(void *closure, struct thing *thing)
{
	ck_assert_ptr_eq(closure, &table);
	ck_assert_ptr_nonnull(thing->animation);
	things_made++;
}

static void count_thing(void *closure, struct thing *thing)
{
	ck_assert_ptr_eq(closure, &table);
	if (!table.ending) {
		ck_assert_uint_eq(thing->references, 0);
		ck_assert_ptr_null(thing->node);
	}
	things_gone++;
}

static void init(struct nodes *t)
{
	ck_assert(nodes_init(t));
	t->node_gone = count_node;
	t->thing_made = count_made;
	t->thing_gone = count_thing;
	t->closure = &table;
}

static void begin(void)
{
	gone = things_made = things_gone = 0;
	lock_init(&lock);
	init(&table);
	lock_acquire(&lock, &vfs_class);
}

static void end(void)
{
	nodes_release(&table);
	lock_release(&lock, &vfs_class);
	lock_destroy(&lock);
}

static struct node *root(void)
{
	return nodes_by_id(&table, NODE_ROOT);
}

/* Adds a thing that only a node uses. */
static struct node *add(struct thing *thing, const char *name)
{
	struct node *node = thing ? nodes_add(&table, thing, name) : NULL;

	ck_assert_ptr_nonnull(node);
	thing_put(&table, thing);
	return node;
}

/* Adds a node under a name, as if the kernel had looked the name up once. */
static struct node *enter(struct node *parent, const char *name, struct thing *thing)
{
	struct node *node = add(thing, name);

	ck_assert(nodes_link(&table, node, parent, name));
	node->lookups = 1;
	node_put(&table, node);
	return node;
}

static struct node *looked_up(struct node *parent, const char *name)
{
	return enter(parent, name, thing_plain(&table, AREA_SOURCE, true, NULL));
}

START_TEST(a_new_table_has_the_root_alone)
{
	ck_assert_ptr_nonnull(root());
	ck_assert_uint_eq(root()->id, NODE_ROOT);
	ck_assert(root()->thing->folder);
	ck_assert_uint_eq(root()->thing->kind, THING_PLAIN);
	ck_assert_ptr_eq(root()->thing->node, root());
	ck_assert_uint_eq(table.count, 1);
	ck_assert_ptr_null(node_link(root()));
}
END_TEST

START_TEST(a_node_is_found_by_number_name_and_identity)
{
	struct identity id = {.dev = 5, .ino = 77, .born = 123};
	struct identity later = {.dev = 5, .ino = 77, .born = 124};
	struct node *node = enter(root(), "a", thing_plain(&table, AREA_SOURCE, false, &id));

	ck_assert_ptr_eq(nodes_by_id(&table, node->id), node);
	ck_assert_ptr_eq(nodes_by_name(&table, root(), "a"), node);
	ck_assert_ptr_eq(nodes_by_identity(&table, &id)->node, node);
	ck_assert_ptr_null(nodes_by_identity(&table, &later));
	ck_assert_ptr_null(nodes_by_name(&table, root(), "A"));
	ck_assert_ptr_null(nodes_by_name(&table, node, "a"));
	thing_leave_identity(&table, node->thing);
	ck_assert_ptr_null(nodes_by_identity(&table, &id));
	thing_leave_identity(&table, node->thing);
}
END_TEST

/* ---- things ---- */

static int an_animation;
#define ANIMATION ((struct animation *)&an_animation)

START_TEST(things_are_what_they_were_made_as)
{
	struct thing *folder = thing_of(&table, THING_BONES, ANIMATION);
	struct thing *view = thing_view(&table, ANIMATION, views[2]);
	struct thing *plain = thing_plain(&table, AREA_REJECTED, false, NULL);

	ck_assert_uint_eq(things_made, 2);
	ck_assert(folder->folder && thing_is_virtual(folder) && !folder->node);
	ck_assert(!view->folder && !thing_is_virtual(view));
	ck_assert_ptr_eq(view->animation, ANIMATION);
	ck_assert_ptr_eq(view_of(view), views[2]);
	ck_assert_uint_eq(plain->area, AREA_REJECTED);
	ck_assert(!plain->folder && !thing_is_virtual(plain));
	thing_put(&table, folder);
	thing_put(&table, view);
	thing_put(&table, plain);
	ck_assert_uint_eq(things_gone, 3);
}
END_TEST

START_TEST(a_thing_goes_with_its_node_or_its_last_call)
{
	struct identity id = {.dev = 1, .ino = 2};
	struct node *node = enter(root(), "a", thing_plain(&table, AREA_SOURCE, false, &id));
	struct thing *thing = thing_get(node->thing);

	node_forget(&table, node, 1);
	ck_assert_uint_eq(gone, 1);
	ck_assert_uint_eq(things_gone, 0);
	ck_assert_ptr_null(thing->node);
	ck_assert_ptr_eq(nodes_by_identity(&table, &id), thing);
	thing_put(&table, thing);
	ck_assert_uint_eq(things_gone, 1);
	ck_assert_ptr_null(nodes_by_identity(&table, &id));
}
END_TEST

START_TEST(a_node_may_come_to_stand_for_another_thing)
{
	struct node *node = looked_up(root(), "a");
	struct thing *view = thing_view(&table, ANIMATION, views[0]);

	node_point(&table, node, view);
	ck_assert_uint_eq(things_gone, 1);
	ck_assert_uint_eq(gone, 0);
	ck_assert_ptr_eq(node->thing, view);
	ck_assert_ptr_eq(view->node, node);
	node_point(&table, node, view);
	ck_assert_ptr_eq(view->node, node);
	thing_put(&table, view);
	ck_assert_uint_eq(things_gone, 1);
	node_forget(&table, node, 1);
	ck_assert_uint_eq(things_gone, 2);
}
END_TEST

START_TEST(a_thing_knows_the_node_that_took_it_over)
{
	struct node *old = looked_up(root(), "a"), *now = looked_up(root(), "b");

	node_point(&table, now, old->thing);
	ck_assert_ptr_eq(old->thing->node, now);
	node_forget(&table, old, 1);
	ck_assert_ptr_eq(now->thing->node, now);
	ck_assert_uint_eq(things_gone, 1);
}
END_TEST

/* ---- nodes and names ---- */

static uint64_t ino_below(const struct identity *id)
{
	struct node *folder = enter(root(), "a", thing_plain(&table, AREA_SOURCE, true, id));
	uint64_t ino;

	folder->shown_ino = virtual_ino(folder, "walk");
	ino = virtual_ino(folder, "bones");
	node_forget(&table, folder, 1);
	return ino;
}

/* In the next mount, nodes are made in another order, but have the same inode numbers. */
START_TEST(inode_numbers_depend_on_the_folder_and_not_on_its_node)
{
	const struct identity id = {.dev = 5, .ino = 77}, other = {.dev = 5, .ino = 78};
	uint64_t ino = ino_below(&id), next = table.next_id;

	ck_assert_uint_ne(ino_below(&other), ino);
	ck_assert_uint_eq(ino_below(&id), ino);
	ck_assert_uint_gt(table.next_id, next);
}
END_TEST

START_TEST(inode_numbers_fit_into_signed_ones)
{
	char name[16];

	for (int i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "%d", i);
		ck_assert_int_gt((int64_t)virtual_ino(root(), name), 0);
	}
}
END_TEST

START_TEST(numbers_are_never_used_again)
{
	uint64_t last = 0;

	for (int i = 0; i < 100; i++) {
		struct node *node = looked_up(root(), "a");

		ck_assert_uint_gt(node->id, last);
		last = node->id;
		node_forget(&table, node, 1);
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
	node_forget(&table, old, 1);
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

/* A node has room for a short name; longer names, and further ones, are allocated. */
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
	node_forget(&table, node, 1);
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

	node_forget(&table, folder, 1);
	ck_assert_ptr_eq(nodes_by_id(&table, id), folder);
	ck_assert_uint_eq(gone, 0);
	node_forget(&table, child, 1);
	ck_assert_uint_eq(gone, 2);
	ck_assert_ptr_null(nodes_by_id(&table, id));
}
END_TEST

START_TEST(a_reference_keeps_what_the_kernel_forgot)
{
	struct node *node = looked_up(root(), "a");

	node_get(node);
	node_forget(&table, node, 1);
	ck_assert_ptr_eq(nodes_by_name(&table, root(), "a"), node);
	node_put(&table, node);
	ck_assert_uint_eq(gone, 1);
}
END_TEST

START_TEST(the_root_is_never_freed)
{
	root()->lookups = 3;
	node_forget(&table, root(), 3);
	ck_assert_ptr_nonnull(root());
	ck_assert_uint_eq(gone, 0);
}
END_TEST

/* The chain is deeper than a recursion over the parents could go. */
START_TEST(a_long_chain_of_folders_goes_with_its_last_child)
{
	enum { DEPTH = 300000 };
	struct node *node = root();

	for (int i = 0; i < DEPTH; i++) {
		node = looked_up(node, "d");
		if (node_link(node)->parent != root())
			node_forget(&table, node_link(node)->parent, 1);
	}
	ck_assert_uint_eq(table.count, DEPTH + 1);
	ck_assert_uint_eq(gone, 0);
	node_forget(&table, node, 1);
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
	node_forget(&table, a, 1);
	node_forget(&table, b, 1);
	ck_assert_uint_eq(gone, 0);
	node_forget(&table, file, 1);
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
		nodes[i] = enter(root(), name, thing_plain(&table, AREA_SOURCE, false, &id));
	}
	for (unsigned i = 0; i < COUNT; i++) {
		struct identity id = {.dev = 1, .ino = 1000 + i};

		snprintf(name, sizeof(name), "file %u", i);
		ck_assert_ptr_eq(nodes_by_name(&table, root(), name), nodes[i]);
		ck_assert_ptr_eq(nodes_by_identity(&table, &id)->node, nodes[i]);
		ck_assert_ptr_eq(nodes_by_id(&table, nodes[i]->id), nodes[i]);
	}
	for (unsigned i = 0; i < COUNT; i += 2)
		node_forget(&table, nodes[i], 1);
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
		nodes_retire(&table, old);
		nodes_retire(&table, old);
		ck_assert_ptr_null(nodes_by_name(&table, root(), names[1]));
		ck_assert_str_eq(node_link(old)->name, names[1]);
		now = looked_up(root(), names[1]);
		ck_assert_ptr_eq(nodes_by_name(&table, root(), names[1]), now);
		node_forget(&table, old, 1);
		ck_assert_ptr_eq(nodes_by_name(&table, root(), names[1]), now);
		old = now;
	}
	node_forget(&table, old, 1);
	ck_assert_uint_eq(table.count, 1);
	ck_assert_uint_eq(table.links, 0);
	ck_assert_uint_eq(root()->references, 0);
}
END_TEST

START_TEST(one_more_name_needs_no_memory_when_it_was_made_ready)
{
	struct node *node = looked_up(root(), "a");
	char name[NAME_MAX + 1];

	memset(name, 'n', NAME_MAX);
	name[NAME_MAX] = '\0';
	ck_assert(node_ready(node));
	ck_assert(nodes_link(&table, node, root(), name));
	node_settle(node);
	ck_assert_str_eq(node_link(node)->name, name);
	ck_assert(node_ready(node)); /* freed with the node */
	node_forget(&table, node, 1);
	ck_assert_uint_eq(table.links, 0);
}
END_TEST

/* ---- paths ---- */

static void ck_path(const struct node *node, const char *expected)
{
	struct buf path = BUF_INIT;

	buf_text(&path, "before ");
	ck_assert_int_eq(node_path(node, &path), 0);
	ck_assert_uint_eq(path.size, strlen("before ") + strlen(expected) + 1);
	ck_assert_str_eq((const char *)path.data + strlen("before "), expected);
	buf_release(&path);
}

START_TEST(a_path_is_made_of_all_names)
{
	struct node *a = looked_up(root(), "a"), *b = looked_up(a, "b c");
	struct buf path = BUF_INIT;

	ck_path(root(), "");
	ck_path(a, "a");
	ck_path(b, "a/b c");
	ck_assert_int_eq(node_path_of(root(), "x", &path), 0);
	ck_assert_str_eq((const char *)path.data, "x");
	buf_clear(&path);
	ck_assert_int_eq(node_path_of(b, "x", &path), 0);
	ck_assert_str_eq((const char *)path.data, "a/b c/x");
	ck_assert_uint_eq(path.size, sizeof("a/b c/x"));
	buf_clear(&path);
	nodes_unlink(&table, root(), "a");
	ck_assert_int_eq(node_path(b, &path), ENOENT);
	ck_assert_int_eq(node_path_of(b, "x", &path), ENOENT);
	ck_assert_uint_eq(path.size, 0);
	buf_release(&path);
}
END_TEST

START_TEST(an_animation_file_has_its_own_name_in_a_path)
{
	static const char *const names[] = {"x.canm.d", "y.canm.d~2", "z.list.d"};
	static const char *const ends[] = {"", "", ".csv"};
	static const char *const paths[] = {"x.canm/walk", "y.canm/walk", "z.list.csv/walk"};

	for (unsigned i = 0; i < ARRAY_SIZE(names); i++) {
		struct thing *thing = thing_of(&table, THING_ANIMATION, ANIMATION);
		struct node *folder;

		thing->beside = ends[i];
		folder = enter(root(), names[i], thing);
		ck_path(enter(folder, "walk", thing_of(&table, THING_CLIP, ANIMATION)), paths[i]);
	}
	ck_path(looked_up(root(), "z.d"), "z.d");
}
END_TEST

START_TEST(what_is_below_a_folder)
{
	struct node *a = looked_up(root(), "a"), *b = looked_up(a, "b");

	ck_assert(node_is_below(b, root()));
	ck_assert(node_is_below(b, a));
	ck_assert(node_is_below(a, a));
	ck_assert(!node_is_below(a, b));
	ck_assert(!node_is_below(root(), a));
	nodes_unlink(&table, root(), "a");
	ck_assert(node_is_below(b, a));
	ck_assert(!node_is_below(b, root()));
}
END_TEST

START_TEST(releasing_the_table_frees_what_is_left)
{
	struct nodes other;
	struct thing *thing;
	struct node *folder, *file;

	init(&other);
	thing = thing_plain(&other, AREA_SOURCE, true, NULL);
	folder = nodes_add(&other, thing, "d");
	nodes_link(&other, folder, nodes_by_id(&other, NODE_ROOT), "d");
	file = nodes_add(&other, thing_plain(&other, AREA_SOURCE, false, NULL), NULL);
	nodes_link(&other, file, folder, "f");
	table.ending = true; /* so that lookups fail, as at the end of a mount */
	nodes_release(&other);
	table.ending = false;
	ck_assert_uint_eq(gone, 3);
	ck_assert_uint_eq(things_gone, 3);
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
	tcase_add_test(tc, numbers_are_never_used_again);
	tcase_add_test(tc, what_took_a_name_leaves_its_last_owner_nameless);
	tcase_add_test(tc, the_name_seen_last_comes_first);
	tcase_add_test(tc, names_of_all_lengths_come_and_go);
	tcase_add_test(tc, every_name_follows_the_first);
	tcase_add_test(tc, all_nodes_are_passed_once);
	tcase_add_test(tc, a_folder_stays_while_something_in_it_does);
	tcase_add_test(tc, inode_numbers_depend_on_the_folder_and_not_on_its_node);
	tcase_add_test(tc, inode_numbers_fit_into_signed_ones);
	tcase_add_test(tc, a_reference_keeps_what_the_kernel_forgot);
	tcase_add_test(tc, the_root_is_never_freed);
	tcase_add_test(tc, a_long_chain_of_folders_goes_with_its_last_child);
	tcase_add_test(tc, a_node_with_two_parents_frees_both);
	tcase_add_test(tc, many_nodes_are_all_found);
	tcase_add_test(tc, a_retired_node_has_its_name_but_is_not_found_by_it);
	tcase_add_test(tc, one_more_name_needs_no_memory_when_it_was_made_ready);
	tcase_add_test(tc, things_are_what_they_were_made_as);
	tcase_add_test(tc, a_thing_goes_with_its_node_or_its_last_call);
	tcase_add_test(tc, a_node_may_come_to_stand_for_another_thing);
	tcase_add_test(tc, a_thing_knows_the_node_that_took_it_over);
	tcase_add_test(tc, a_path_is_made_of_all_names);
	tcase_add_test(tc, an_animation_file_has_its_own_name_in_a_path);
	tcase_add_test(tc, what_is_below_a_folder);
	tcase_add_test(tc, releasing_the_table_frees_what_is_left);
	suite_add_tcase(s, tc);
	return s;
}
