/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_remove.c - removing what others replace meanwhile. */
#include "mounted.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#define SAMPLE "tests/data/canm/wiki512.canm"
#define PLAIN "plain.txt"
#define REFUSED "file.json.rejected"
#define REFUSALS ".animfs/rejected/" MOUNTED_FILE "/"

static struct request who;

static void begin(void)
{
	int folder;

	mounted_begin_in(SAMPLE);
	who = (struct request){.uid = getuid(), .gid = getgid(), .pid = getpid()};
	ck_assert_int_eq(state_folder(mounted.state, STATE_REJECTED, MOUNTED_FILE, true, &folder),
			 0);
	close(folder);
}

/* By another program: as what a save has refused is replaced, too. */
static void replace(const char *path, const char *text)
{
	mounted_put("new", bytes_of(text));
	ck_assert_int_eq(rename("new", path), 0);
}

/* The kernel looks the name up again, once. */
START_TEST(a_file_that_was_replaced_is_looked_up_again_before_it_is_removed)
{
	const char *path = _i ? REFUSALS REFUSED : PLAIN, *name = _i ? REFUSED : PLAIN;
	uint64_t folder = _i ? mounted.folder.node->id : NODE_ROOT;
	struct entry entry;

	replace(path, "1");
	ck_assert_int_eq(vfs_lookup(mounted.v, &who, folder, name, &entry), 0);
	replace(path, "2");
	ck_assert_int_eq(vfs_unlink(mounted.v, &who, folder, name), ESTALE);
	ck_assert_int_eq(access(path, F_OK), 0);
	ck_assert_int_eq(vfs_lookup(mounted.v, &who, folder, name, &entry), 0);
	ck_assert_int_eq(vfs_unlink(mounted.v, &who, folder, name), 0);
	ck_assert_int_ne(access(path, F_OK), 0);
}
END_TEST

Suite *remove_suite(void);

Suite *remove_suite(void)
{
	Suite *s = suite_create("remove");
	TCase *t = tcase_create("remove");

	tcase_add_checked_fixture(t, begin, mounted_end);
	tcase_add_loop_test(t, a_file_that_was_replaced_is_looked_up_again_before_it_is_removed, 0,
			    2);
	suite_add_tcase(s, t);
	return s;
}
