/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_plain.c - which attributes ordinary files have; folders that others move. */
#include "mounted.h"
#include "vfs/plain.h"

#include <check.h>
#include <errno.h>
#include <stdint.h>
#include <sys/stat.h>

static uint64_t shown(uint64_t device, uint64_t number)
{
	static const struct mount_options options = {.uid = -1, .gid = -1, .umask = -1};
	const struct vfs v = {.options = &options, .root_identity = {.dev = 1}};
	struct stat st = {.st_dev = device, .st_ino = number};

	plain_show(&v, &st);
	return st.st_ino;
}

START_TEST(files_on_the_device_of_the_root_keep_their_inode_numbers)
{
	ck_assert_uint_eq(shown(1, UINT64_MAX), UINT64_MAX);
}
END_TEST

/* A device has 12 bits of its major and 20 of its minor number. */
START_TEST(those_on_two_devices_have_two_below_those_of_views)
{
	uint64_t one = (uint64_t)1 << _i;

	ck_assert_uint_ne(shown(one, 5), shown(0, 5));
	ck_assert_uint_lt(shown(one, 5), (uint64_t)1 << 62);
	ck_assert_uint_lt(shown(one, UINT64_MAX), (uint64_t)1 << 62);
}
END_TEST

/* ---- folders that others move ---- */

static struct request who;

static void begin(void)
{
	mounted_unwatched = true;
	mounted_begin_in("tests/data/canm/wiki512.canm");
	mounted_unwatched = false;
	who = (struct request){.uid = getuid(), .gid = getgid(), .pid = getpid()};
}

static uint64_t found(uint64_t folder, const char *name)
{
	struct entry entry;

	ck_assert_int_eq(vfs_lookup(mounted.v, &who, folder, name, &entry), 0);
	return entry.node;
}

static int error_of_lookup(uint64_t folder, const char *name)
{
	struct entry entry;

	return vfs_lookup(mounted.v, &who, folder, name, &entry);
}

static void ck_path(uint64_t node, const char *expected)
{
	struct target t;
	char *path;

	ck_assert_int_eq(target_get(mounted.v, node, &t), 0);
	ck_assert_int_eq(path_of(mounted.v, t.node, NULL, &path), 0);
	ck_assert_str_eq(path, expected);
	free(path);
	target_put(mounted.v, &t);
}

/* A process has its working directory in b, and uses a name in it before b itself is looked up. */
START_TEST(a_folder_that_changes_places_with_the_one_above_is_found_once_that_is)
{
	uint64_t a, b;

	ck_assert_int_eq(mkdir("a", 0755), 0);
	ck_assert_int_eq(mkdir("a/b", 0755), 0);
	ck_assert_int_eq(mkdir("a/b/c", 0755), 0);
	a = found(NODE_ROOT, "a");
	b = found(a, "b");
	found(b, "c"); /* the descriptor of b is kept now */
	ck_assert_int_eq(rename("a/b", "b"), 0);
	ck_assert_int_eq(rename("a", "b/a"), 0);
	ck_assert_int_eq(error_of_lookup(b, "a"), ESTALE);
	ck_path(a, "a");
	ck_path(b, "a/b");
	ck_assert_uint_eq(found(NODE_ROOT, "b"), b);
	ck_assert_uint_eq(found(b, "a"), a);
	ck_path(a, "b/a");
}
END_TEST

/*
 * The case of a folder that is bind-mounted inside itself: here, a name in the folder has the
 * folder's own identity.
 */
START_TEST(a_folder_is_not_found_in_itself)
{
	struct target folder;
	struct entry entry;
	struct identity id;
	struct stat st;

	ck_assert_int_eq(mkdir("a", 0755), 0);
	ck_assert_int_eq(target_get(mounted.v, _i ? NODE_ROOT : found(NODE_ROOT, "a"), &folder), 0);
	ck_assert_int_eq(identity_at(scratch_root, _i ? "." : "a", &id, &st), 0);
	ck_assert_int_eq(plain_entry_found(mounted.v, &folder, AREA_SOURCE, "again", &id, &st,
					   mounted.v->moves, &entry),
			 ELOOP);
	ck_path(folder.node->id, _i ? "" : "a");
	target_put(mounted.v, &folder);
}
END_TEST

Suite *plain_suite(void);

Suite *plain_suite(void)
{
	Suite *s = suite_create("plain");
	TCase *t = tcase_create("plain");

	tcase_add_test(t, files_on_the_device_of_the_root_keep_their_inode_numbers);
	tcase_add_loop_test(t, those_on_two_devices_have_two_below_those_of_views, 1, 32);
	suite_add_tcase(s, t);
	t = tcase_create("folders");
	tcase_add_checked_fixture(t, begin, mounted_end);
	tcase_add_test(t, a_folder_that_changes_places_with_the_one_above_is_found_once_that_is);
	tcase_add_loop_test(t, a_folder_is_not_found_in_itself, 0, 2);
	suite_add_tcase(s, t);
	return s;
}
