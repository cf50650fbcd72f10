/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_sight.c - places below an animation's folder, in versions that are no longer the latest. */
#include "add_node.h"
#include "load.h"
#include "vfs/view.h"

#include <errno.h>

#define SAMPLE "tests/data/canm/wiki512.canm" /* this sample has a clip walk */

static struct vfs *v;
static struct animation a, other;
static struct version *version;
static struct node *file;
static struct target clip;

static struct node *add(struct node *parent, enum thing_kind kind, const char *name)
	REQUIRES(vfs_class)
{
	return add_node(v, parent, thing_of(&v->nodes, kind, &a), name);
}

UNSHARED static void begin(void)
{
	struct buf bytes = load_file(SAMPLE);
	struct err err = {.code = ERR_NONE};

	version = version_of_bytes(NULL, &bytes, "a.canm", NULL, &err);
	ck_assert_ptr_nonnull(version);
	v = calloc(1, sizeof(*v));
	ck_assert_ptr_nonnull(v);
	lock_init(&v->lock);
	ck_assert(nodes_init(&v->nodes));
	a = (struct animation){.generation = version->generation};
	vfs_lock(v);
	file = add(nodes_by_id(&v->nodes, NODE_ROOT), THING_ANIMATION, "a.canm");
	clip.node = add(file, THING_CLIP, "walk");
	clip.thing = clip.node->thing;
	vfs_unlock(v);
}

static void end(void)
{
	vfs_lock(v);
	node_put(&v->nodes, clip.node);
	node_put(&v->nodes, file);
	nodes_release(&v->nodes);
	vfs_unlock(v);
	lock_destroy(&v->lock);
	free(v);
	version_put(version);
}

static void rename_clip(const char *name)
{
	vfs_lock(v);
	ck_assert(nodes_link(&v->nodes, clip.node, file, name));
	nodes_unlink(&v->nodes, file, "walk");
	vfs_unlock(v);
}

START_TEST(places_are_found_by_the_names_above_them)
{
	struct place place;

	ck_assert_int_eq(place_in(v, &clip, version, "bones", &place), 0);
	ck_assert_int_eq(place.kind, PLACE_BONES);
	ck_assert_int_eq(place_in(v, &clip, version, "none", &place), ENOENT);
	rename_clip("run_9");
	ck_assert_int_eq(place_in(v, &clip, version, "bones", &place), ENOENT);
}
END_TEST

/*
 * An outdated version must not be looked at: an ordinary folder of that name would replace the
 * clip's own folder.
 */
START_TEST(an_overtaken_version_is_not_looked_at)
{
	struct place place;

	vfs_lock(v);
	a.generation = version->generation + 1;
	vfs_unlock(v);
	ck_assert_int_eq(place_in(v, &clip, version, "bones", &place), ESTALE);
	ck_assert_int_eq(place_in(v, &clip, version, "none", &place), ESTALE);
	rename_clip("run_9");
	ck_assert_int_eq(place_in(v, &clip, version, "bones", &place), ESTALE);
}
END_TEST

/* The clip was moved into another file. */
START_TEST(a_folder_that_stands_for_another_thing_is_looked_at_again)
{
	struct place place;
	struct thing *thing;

	vfs_lock(v);
	thing = thing_get(clip.thing);
	node_point(&v->nodes, clip.node, thing_of(&v->nodes, THING_CLIP, &other));
	vfs_unlock(v);
	ck_assert_int_eq(place_in(v, &clip, version, "bones", &place), ESTALE);
	vfs_lock(v);
	thing_put(&v->nodes, thing);
	thing_put(&v->nodes, clip.node->thing);
	vfs_unlock(v);
}
END_TEST

static const struct place bones = {.kind = PLACE_BONES};

/*
 * The clip was moved into another file after the lookup, so the folder does not belong to this file
 * any more.
 */
START_TEST(nothing_is_made_in_a_folder_that_stands_for_another_thing)
{
	struct thing *thing;
	struct target found;

	vfs_lock(v);
	thing = thing_get(clip.thing);
	node_point(&v->nodes, clip.node, thing_of(&v->nodes, THING_CLIP, &other));
	vfs_unlock(v);
	ck_assert_int_eq(place_node(v, &clip, "bones", &bones, &found), ESTALE);
	vfs_lock(v);
	ck_assert_ptr_null(nodes_by_name(&v->nodes, clip.node, "bones"));
	thing_put(&v->nodes, thing);
	thing_put(&v->nodes, clip.node->thing);
	vfs_unlock(v);
}
END_TEST

START_TEST(what_stands_for_a_thing_of_another_file_is_not_found)
{
	struct target found;
	struct node *node;

	vfs_lock(v);
	node = add_node(v, clip.node, thing_of(&v->nodes, THING_BONES, &other), "bones");
	vfs_unlock(v);
	ck_assert_int_eq(place_node(v, &clip, "bones", &bones, &found), 0);
	ck_assert_ptr_ne(found.node, node);
	ck_assert_ptr_eq(found.thing->animation, &a);
	target_put(v, &found);
	vfs_lock(v);
	node_put(&v->nodes, node);
	vfs_unlock(v);
}
END_TEST

/*
 * While a file is damaged, the mount shows an older version than the last one read; that version
 * does not count as outdated.
 */
START_TEST(a_damaged_file_has_no_newer_version)
{
	struct place place;

	vfs_lock(v);
	a.generation = version->generation + 1;
	a.damaged = true;
	vfs_unlock(v);
	ck_assert_int_eq(place_in(v, &clip, version, "none", &place), ENOENT);
}
END_TEST

Suite *sight_suite(void);
Suite *sight_suite(void)
{
	Suite *s = suite_create("sight");
	TCase *tc = tcase_create("places");

	tcase_add_checked_fixture(tc, begin, end);
	tcase_add_test(tc, places_are_found_by_the_names_above_them);
	tcase_add_test(tc, an_overtaken_version_is_not_looked_at);
	tcase_add_test(tc, a_folder_that_stands_for_another_thing_is_looked_at_again);
	tcase_add_test(tc, a_damaged_file_has_no_newer_version);
	tcase_add_test(tc, nothing_is_made_in_a_folder_that_stands_for_another_thing);
	tcase_add_test(tc, what_stands_for_a_thing_of_another_file_is_not_found);
	suite_add_tcase(s, tc);
	return s;
}
