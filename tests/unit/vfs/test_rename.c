/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_rename.c - what the kernel asks at the time of a rename. */
#include "mounted.h"

#include "vfs/plain.h"

#include <errno.h>
#include <sys/stat.h>

#define SAMPLE "tests/data/canm/wiki512.canm" /* has a clip walk */

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
 * The kernel does nothing if both names are of one file, but looks them up one after the other:
 * when the first lookup finds a node that was replaced, they are of two.
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

/* The kernel holds no lock of the folder when it looks a name up that it knows. */
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

Suite *rename_suite(void);

Suite *rename_suite(void)
{
	Suite *s = suite_create("rename");
	TCase *t = tcase_create("rename");

	tcase_add_checked_fixture(t, begin, mounted_end);
	tcase_add_test(t, a_look_from_before_a_rename_does_not_undo_it);
	tcase_add_test(t, what_is_renamed_to_itself_stays);
	suite_add_tcase(s, t);
	return s;
}
