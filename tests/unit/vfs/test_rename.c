/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_rename.c - a name that is renamed to itself. */
#include "mounted.h"

#include "vfs/vfs.h"

#include <errno.h>

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

Suite *rename_suite(void);

Suite *rename_suite(void)
{
	Suite *s = suite_create("rename");
	TCase *t = tcase_create("rename");

	tcase_add_checked_fixture(t, begin, mounted_end);
	tcase_add_test(t, what_is_renamed_to_itself_stays);
	suite_add_tcase(s, t);
	return s;
}
