/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_plain.c - which attributes ordinary files have. */
#include "vfs/mount_options.h"
#include "vfs/plain.h"

#include <check.h>
#include <stdint.h>

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

Suite *plain_suite(void);

Suite *plain_suite(void)
{
	Suite *s = suite_create("plain");
	TCase *t = tcase_create("plain");

	tcase_add_test(t, files_on_the_device_of_the_root_keep_their_inode_numbers);
	tcase_add_loop_test(t, those_on_two_devices_have_two_below_those_of_views, 1, 32);
	suite_add_tcase(s, t);
	return s;
}
