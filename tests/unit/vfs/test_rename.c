/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_rename.c - the requests of the kernel around a rename. */
#include "mounted.h"

#include "vfs/plain.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#define SAMPLE "tests/data/canm/wiki512.canm" /* this sample has a clip walk */

static struct request who;

static void begin(void)
{
	mounted_begin_in(SAMPLE);
	who = (struct request){.uid = getuid(), .gid = getgid(), .pid = getpid()};
}

static uint64_t look_up(uint64_t folder, const char *name)
{
	struct entry entry;

	ck_assert_int_eq(vfs_lookup(mounted.v, &who, folder, name, &entry), 0);
	return entry.node;
}

/*
 * The kernel skips a rename if both names have the same inode. But it looks the names up one after
 * the other: if the first lookup finds a node that was replaced, the names seem to have two.
 */
START_TEST(what_is_renamed_to_itself_stays)
{
	uint64_t clip = look_up(mounted.folder.node->id, "walk");
	uint64_t view = look_up(clip, "clip.json");
	struct after *after;

	ck_assert_int_eq(
		vfs_rename(mounted.v, &who, clip, "clip.json", clip, "clip.json", 0, &after), 0);
	vfs_after(mounted.v, after);
	ck_assert_uint_eq(look_up(clip, "clip.json"), view);
}
END_TEST

/* The kernel does not lock the folder when it looks up a name that it knows. */
START_TEST(a_look_from_before_a_rename_does_not_undo_it)
{
	struct target root;
	struct identity id;
	struct entry entry;
	struct after *after;
	struct stat st;
	unsigned moves = mounted.v->moves;
	uint64_t folder;

	ck_assert_int_eq(mkdirat(scratch_root, "one", 0755), 0);
	folder = look_up(NODE_ROOT, "one");
	ck_assert_int_eq(identity_at(scratch_root, "one", &id, &st), 0);
	ck_assert_int_eq(vfs_rename(mounted.v, &who, NODE_ROOT, "one", NODE_ROOT, "two", 0, &after),
			 0);
	vfs_after(mounted.v, after);
	ck_assert_int_eq(target_get(mounted.v, NODE_ROOT, &root), 0);
	ck_assert_int_eq(
		plain_entry_found(mounted.v, &root, AREA_SOURCE, "one", &id, &st, moves, &entry),
		ESTALE);
	target_put(mounted.v, &root);
	ck_assert_int_eq(vfs_getattr(mounted.v, &who, folder, NULL, &entry.st, &entry.attr_timeout),
			 0);
	ck_assert_int_eq(vfs_lookup(mounted.v, &who, NODE_ROOT, "one", &entry), ENOENT);
	ck_assert_uint_eq(look_up(NODE_ROOT, "two"), folder);
}
END_TEST

/* ---- exchange ---- */

static int exchange(uint64_t parent, const char *name, uint64_t new_parent, const char *new_name)
{
	struct after *after;
	int error = vfs_rename(mounted.v, &who, parent, name, new_parent, new_name, RENAME_EXCHANGE,
			       &after);

	vfs_after(mounted.v, after);
	return error;
}

static void make_note(uint64_t folder, const char *name)
{
	struct opened opened;
	struct entry entry;

	ck_assert_int_eq(vfs_create(mounted.v, &who, folder, name, 0644, O_WRONLY, &entry, &opened),
			 0);
	vfs_release(mounted.v, opened.handle);
}

static enum area area_of(uint64_t node)
{
	struct target t;
	enum area area;

	ck_assert_int_eq(target_get(mounted.v, node, &t), 0);
	ck_assert_int_eq(t.thing->kind, THING_PLAIN);
	area = (enum area)t.thing->area;
	target_put(mounted.v, &t);
	return area;
}

/*
 * Files beside views are in the state directory, not in SOURCE, so an exchange between the two is
 * refused.
 */
START_TEST(what_is_in_source_does_not_change_places_with_what_is_beside_views)
{
	uint64_t clip = look_up(mounted.folder.node->id, "walk");

	make_note(NODE_ROOT, "plain");
	make_note(clip, "note");
	look_up(NODE_ROOT, "plain");
	look_up(clip, "note");
	ck_assert_int_eq(exchange(NODE_ROOT, "plain", clip, "note"), EXDEV);
	ck_assert_int_eq(exchange(clip, "note", NODE_ROOT, "plain"), EXDEV);
	ck_assert_int_eq(area_of(look_up(NODE_ROOT, "plain")), AREA_SOURCE);
	ck_assert_int_eq(area_of(look_up(clip, "note")), AREA_UPPER);
	make_note(clip, "other");
	ck_assert_int_eq(exchange(clip, "other", clip, "note"), 0);
}
END_TEST

START_TEST(nor_an_animation_with_what_is_none)
{
	ck_assert_int_eq(mkdir("folder", 0755), 0);
	make_note(NODE_ROOT, "plain");
	look_up(NODE_ROOT, "folder");
	ck_assert_int_eq(exchange(NODE_ROOT, MOUNTED_FILE, NODE_ROOT, "plain"), EINVAL);
	ck_assert_int_eq(exchange(NODE_ROOT, "plain", NODE_ROOT, MOUNTED_FILE), EINVAL);
	ck_assert_int_eq(exchange(NODE_ROOT, MOUNTED_FILE, NODE_ROOT, "folder"), EINVAL);
	ck_assert_int_eq(exchange(NODE_ROOT, "folder", NODE_ROOT, MOUNTED_FILE), EINVAL);
	mounted_put("other.canm", buf_bytes(&mounted.sample));
	look_up(NODE_ROOT, "other.canm");
	ck_assert_int_eq(exchange(NODE_ROOT, "other.canm", NODE_ROOT, MOUNTED_FILE), 0);
}
END_TEST

Suite *rename_suite(void);

Suite *rename_suite(void)
{
	Suite *s = suite_create("rename");
	TCase *t = tcase_create("rename");

	tcase_add_checked_fixture(t, begin, mounted_end);
	tcase_add_test(t, a_look_from_before_a_rename_does_not_undo_it);
	tcase_add_test(t, what_is_renamed_to_itself_stays);
	tcase_add_test(t, what_is_in_source_does_not_change_places_with_what_is_beside_views);
	tcase_add_test(t, nor_an_animation_with_what_is_none);
	suite_add_tcase(s, t);
	return s;
}
