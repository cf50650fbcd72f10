/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "add_node.h"
#include "vfs/gate.h"

#include <stdlib.h>

static struct vfs *v;
static struct node *staged, *text, *other;

static struct node *add(struct node *parent, const char *name, uint64_t inode) REQUIRES(vfs_class)
{
	const struct identity id = {.dev = 1, .ino = inode};

	return add_node(v, parent, thing_plain(&v->nodes, AREA_SOURCE, true, &id), name);
}

UNSHARED static void begin(void)
{
	struct node *root;

	v = calloc(1, sizeof(*v));
	ck_assert_ptr_nonnull(v);
	lock_init(&v->lock);
	lock_condition_init(&v->gate.moved);
	ck_assert(nodes_init(&v->nodes));
	vfs_lock(v);
	root = nodes_by_id(&v->nodes, NODE_ROOT);
	staged = add(root, "staged", 2);
	text = add(staged, "bones", 3);
	other = add(root, "other", 4);
	vfs_unlock(v);
}

static void end(void)
{
	vfs_lock(v);
	node_put(&v->nodes, other);
	node_put(&v->nodes, text);
	node_put(&v->nodes, staged);
	nodes_release(&v->nodes);
	vfs_unlock(v);
	pthread_cond_destroy(&v->gate.moved);
	lock_destroy(&v->lock);
	free(v);
}

static void turn(void (*how)(struct vfs *v, const struct node *folder), const struct node *folder)
{
	static struct lock staging;

	lock_init(&staging);
	lock_acquire(&staging, &staging_class);
	vfs_lock(v);
	how(v, folder);
	vfs_unlock(v);
	lock_release(&staging, &staging_class);
	lock_destroy(&staging);
}

static void open_it(struct vfs *in, const struct node *folder) REQUIRES(staging_class, vfs_class)
{
	(void)folder;
	gate_open(in);
}

START_TEST(who_found_nothing_looks_again_where_a_folder_was_closed_meanwhile)
{
	unsigned before = v->gate_turns;

	ck_assert(!gate_await(v, text->id, before));
	turn(gate_close, staged);
	turn(open_it, NULL);
	ck_assert(gate_await(v, text->id, before));
	ck_assert(!gate_await(v, text->id, v->gate_turns));
}
END_TEST

/*
 * A folder that stays closed elsewhere must not cause a wait: the thread would look again and again
 * until it opens.
 */
START_TEST(a_folder_that_stays_closed_elsewhere_is_nothing_to_look_again_for)
{
	unsigned before = v->gate_turns;

	turn(gate_close, staged);
	ck_assert(gate_await(v, other->id, before));
	ck_assert(!gate_await(v, other->id, v->gate_turns));
	turn(open_it, NULL);
}
END_TEST

START_TEST(a_guest_finds_his_own_folder_open)
{
	struct guest guest;
	unsigned turns;

	gate_enter(v, text->id, &guest);
	turn(gate_close, staged);
	turns = v->gate_turns;
	ck_assert(!gate_await(v, text->id, turns));
	gate_leave(v, &guest);
	turn(open_it, NULL);
}
END_TEST

Suite *gate_suite(void);
Suite *gate_suite(void)
{
	Suite *s = suite_create("gate");
	TCase *tc = tcase_create("gate");

	tcase_add_checked_fixture(tc, begin, end);
	tcase_add_test(tc, who_found_nothing_looks_again_where_a_folder_was_closed_meanwhile);
	tcase_add_test(tc, a_folder_that_stays_closed_elsewhere_is_nothing_to_look_again_for);
	tcase_add_test(tc, a_guest_finds_his_own_folder_open);
	suite_add_tcase(s, tc);
	return s;
}
