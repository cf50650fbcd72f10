/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "disk/attributes.h"
#include "replacing.h"
#include "sample.h"
#include "scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/xattr.h>
#include <unistd.h>

static int make(const char *name, mode_t mode)
{
	int fd = openat(scratch_root, name, O_RDWR | O_CREAT | O_EXCL, 0600);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(fchmod(fd, mode), 0);
	return fd;
}

/*
 * Sets an attribute. Returns false, and the test ends, if the filesystem of the scratch folder has
 * none.
 */
static bool set(int fd, const char *name, const char *value)
{
	if (fsetxattr(fd, name, value, strlen(value), 0) == 0)
		return true;
	ck_assert_int_eq(errno, ENOTSUP);
	return false;
}

static void has(int fd, const char *name, const char *value)
{
	char got[64];
	ssize_t size = fgetxattr(fd, name, got, sizeof(got));

	ck_assert_int_eq(size, (ssize_t)strlen(value));
	ck_assert_int_eq(memcmp(got, value, (size_t)size), 0);
}

START_TEST(what_one_file_has_another_gets)
{
	struct attributes a = ATTRIBUTES_INIT;
	int from = make("from", 0640), to = make("to", 0666);
	struct stat st;

	ck_assert_int_eq(attributes_read(from, &a), 0);
	a.has_mtime = true;
	a.mtime = (struct timespec){1000, 0};
	ck_assert_int_eq(attributes_give(&a, to), 0);
	ck_assert_int_eq(fstat(to, &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0640);
	ck_assert_int_eq(st.st_mtim.tv_sec, 1000);
	attributes_release(&a);
	close(from);
	close(to);
}
END_TEST

extern int chown_error; /* defined in test_replace.c */

START_TEST(a_full_quota_of_the_owner_is_an_error)
{
	struct attributes a = ATTRIBUTES_INIT;
	int from = make("from", 0640), to = make("to", 0600);

	ck_assert_int_eq(attributes_read(from, &a), 0);
	chown_error = EDQUOT;
	ck_assert_int_eq(attributes_give(&a, to), EDQUOT);
	chown_error = EPERM;
	ck_assert_int_eq(attributes_give(&a, to), 0);
	chown_error = 0;
	attributes_release(&a);
	close(from);
	close(to);
}
END_TEST

START_TEST(of_two_that_are_read_the_second_counts)
{
	struct attributes a = ATTRIBUTES_INIT;
	int first = make("first", 0644), second = make("second", 0600), to = make("to", 0666);

	if (set(first, "user.a", "1") && set(first, "user.b", "1") && set(second, "user.b", "22")) {
		ck_assert_int_eq(attributes_read(first, &a), 0);
		ck_assert_int_eq(attributes_read(second, &a), 0);
		ck_assert_int_eq(attributes_give(&a, to), 0);
		has(to, "user.a", "1");
		has(to, "user.b", "22");
		ck_assert_uint_eq(a.mode, 0600);
	}
	attributes_release(&a);
	close(first);
	close(second);
	close(to);
}
END_TEST

START_TEST(set_id_bits_are_not_read)
{
	struct attributes a = ATTRIBUTES_INIT;
	int from = make("from", 06755);

	ck_assert_int_eq(attributes_read(from, &a), 0);
	ck_assert_uint_eq(a.mode, 0755);
	attributes_release(&a);
	close(from);
}
END_TEST

START_TEST(a_new_file_has_them_when_it_gets_its_name)
{
	struct attributes a = ATTRIBUTES_INIT;
	struct replacement made = {.dir = scratch_root, .name = "new", .as = &a};
	int from = make("from", 0604);
	struct file_version now;
	struct stat st;

	ck_assert_int_eq(attributes_read(from, &a), 0);
	a.has_mtime = true;
	a.mtime = (struct timespec){1000, 5};
	ck_assert_int_eq(replace_now(made, bytes_of("x"), &now, NULL), 0);
	ck_assert_int_eq(fstatat(scratch_root, "new", &st, 0), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0604);
	ck_assert_int_eq(st.st_mtim.tv_sec, 1000);
	ck_assert_int_eq(now.mtime.tv_sec, 1000);
	ck_assert_int_eq(replace_now(made, bytes_of("y"), &now, NULL), EAGAIN);
	attributes_release(&a);
	close(from);
}
END_TEST

Suite *attributes_suite(void);
Suite *attributes_suite(void)
{
	Suite *suite = suite_create("attributes");
	TCase *tc = tcase_create("attributes");

	tcase_add_checked_fixture(tc, scratch_begin, scratch_end);
	tcase_add_test(tc, what_one_file_has_another_gets);
	tcase_add_test(tc, a_full_quota_of_the_owner_is_an_error);
	tcase_add_test(tc, of_two_that_are_read_the_second_counts);
	tcase_add_test(tc, set_id_bits_are_not_read);
	tcase_add_test(tc, a_new_file_has_them_when_it_gets_its_name);
	suite_add_tcase(suite, tc);
	return suite;
}
