/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/stamp.h"

#include "cmd/export_hive.h"
#include "disk/dirfd.h"
#include "scratch.h"

#include <check.h>

static text_hash hash_of(const char *text)
{
	return text_hash_of(bytes_of(text));
}

static void write_stamp(int folder)
{
	struct stamp s = STAMP_INIT;

	s.file = "ranger.canm";
	s.made_of = "18234 1700000000.5 with spaces";
	ck_assert(stamp_add(&s, "walk/clip.json", hash_of("clip")));
	ck_assert(stamp_add(&s, "raw.canm", hash_of("raw")));
	/* A name that looks like a hash, and one that no line can hold. */
	ck_assert(stamp_add(&s, "0123456789abcdef0123456789abcdef /bones/b.csv", hash_of("b")));
	ck_assert(stamp_add(&s, "raw.c\nnm", hash_of("raw")));
	s.texts[0].said = hash_of("another");
	ck_assert_int_eq(stamp_write(folder, &s), 0);
	stamp_release(&s);
}

START_TEST(what_was_noted_is_known_again)
{
	struct stamp s = STAMP_INIT;
	struct stamp_text *text;

	write_stamp(scratch_root);
	ck_assert_int_eq(stamp_read(scratch_root, "ranger.canm", &s), 0);
	ck_assert_str_eq(s.file, "ranger.canm");
	ck_assert_str_eq(s.made_of, "18234 1700000000.5 with spaces");
	ck_assert_uint_eq(s.count, 3);
	text = stamp_find(&s, "walk/clip.json");
	ck_assert_ptr_nonnull(text);
	ck_assert(XXH128_isEqual(text->text, hash_of("clip")));
	ck_assert(XXH128_isEqual(text->said, hash_of("another")));
	text = stamp_find(&s, "0123456789abcdef0123456789abcdef /bones/b.csv");
	ck_assert_ptr_nonnull(text);
	ck_assert(XXH128_isEqual(text->said, hash_of("b")));
	ck_assert_ptr_null(stamp_find(&s, "walk/clip.jso"));
	stamp_release(&s);
}
END_TEST

START_TEST(a_stamp_of_another_file_is_none)
{
	struct stamp s = STAMP_INIT;

	ck_assert_int_eq(stamp_read(scratch_root, "ranger.canm", &s), 0);
	ck_assert_ptr_null(s.file);
	write_stamp(scratch_root);
	ck_assert_int_eq(stamp_read(scratch_root, "diver.canm", &s), 0);
	ck_assert_ptr_null(s.file);
	ck_assert_uint_eq(s.count, 0);
	stamp_release(&s);
}
END_TEST

START_TEST(a_stamp_that_was_cut_is_no_trouble)
{
	struct buf whole = BUF_INIT;
	struct stat st;
	int fd;

	write_stamp(scratch_root);
	ck_assert_int_eq(dirfd_read(scratch_root, STAMP_FILE, 1 << 20, &whole, &st), 0);
	for (size_t size = 0; size < whole.size; size++) {
		struct stamp s = STAMP_INIT;

		fd = openat(scratch_root, STAMP_FILE, O_WRONLY | O_TRUNC);
		ck_assert_int_eq(dirfd_write(fd, (struct bytes){whole.data, size}), 0);
		close(fd);
		ck_assert_int_eq(stamp_read(scratch_root, "ranger.canm", &s), 0);
		ck_assert(s.count <= 3);
		stamp_release(&s);
	}
	buf_release(&whole);
}
END_TEST

START_TEST(partitions_are_escaped_as_hive_does)
{
	struct buf out = BUF_INIT;

	hive_escape("a/b c=d%e:f?\"'#*\\[]{}^\x01\x7f\xe5\xbe\x85", &out);
	buf_char(&out, '\0');
	ck_assert_str_eq((const char *)out.data, "a%2Fb c%3Dd%25e%3Af%3F%22%27%23%2A%5C%5B%5D%7B}"
						 "%5E%01%7F\xe5\xbe\x85");
	buf_release(&out);
}
END_TEST

Suite *stamp_suite(void);
Suite *stamp_suite(void)
{
	Suite *suite = suite_create("stamp");
	TCase *tests = tcase_create("stamp");

	tcase_add_checked_fixture(tests, scratch_begin, scratch_end);
	tcase_add_test(tests, what_was_noted_is_known_again);
	tcase_add_test(tests, a_stamp_of_another_file_is_none);
	tcase_add_test(tests, a_stamp_that_was_cut_is_no_trouble);
	tcase_add_test(tests, partitions_are_escaped_as_hive_does);
	suite_add_tcase(suite, tests);
	return suite;
}
