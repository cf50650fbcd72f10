/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The template of a new container, which the program does not list. */
#include "archives.h"
#include "container/containers.h"

#define HEADER 8
#define ROW 32

static void add_row(struct buf *b, const char *path, uint32_t at, uint32_t size)
{
	size_t length = strlen(path);

	buf_add(b, path, length);
	buf_zero(b, 24 - length);
	buf_u32(b, at);
	buf_u32(b, size);
}

/* Makes an archive of two members, and a third whose bytes are missing. */
static struct buf made_archive(void)
{
	struct buf b = BUF_INIT;
	uint32_t at = HEADER + 3 * ROW;

	buf_text(&b, "SKLA");
	buf_u32(&b, 3);
	add_row(&b, "walk/hips.canm", at, 5);
	add_row(&b, "readme", at + 5, 2);
	add_row(&b, "lost", at + 6, 2);
	buf_text(&b, "first12");
	return b;
}

START_TEST(members_are_read)
{
	struct buf b = made_archive(), out = BUF_INIT;
	const struct input in = input_of_bytes(buf_bytes(&b));
	struct err err = {.code = ERR_NONE};
	struct archive *a = archive_open(&skel_container, &in, LIMIT, &err);

	ck_assert_msg(a != NULL, "%s", err.message);
	ck_assert_uint_eq(a->count, 3);
	ck_assert_str_eq(a->members[0].folder, "walk");
	ck_assert_str_eq(a->members[0].name, "hips.canm");
	ck_assert_str_eq(a->members[1].folder, "");
	ck_assert(archive_read(a, 0, LIMIT, &out, &err) && archive_read(a, 1, LIMIT, &out, &err));
	ck_assert(bytes_equal(buf_bytes(&out), bytes_of("first12")));
	ck_assert(!archive_read(a, 2, LIMIT, &out, &err));
	ck_assert_str_eq(err.message, "its bytes lie outside the file");
	archive_close(a);
	buf_release(&out);
	buf_release(&b);
}
END_TEST

START_TEST(archives_cut_at_every_length)
{
	struct buf b = made_archive();

	for (size_t size = 0; size <= b.size; size++) {
		struct buf cut = exact_copy(b.data, size);

		ck_assert(try_archive(&skel_container, buf_bytes(&cut)) ==
			  (size >= HEADER + 3 * ROW));
		buf_release(&cut);
	}
	buf_release(&b);
}
END_TEST

START_TEST(archives_with_every_byte_changed)
{
	struct buf b = made_archive();

	for (size_t at = 0; at < b.size; at++) {
		for (unsigned bit = 0; bit < 8; bit++) {
			b.data[at] ^= (uint8_t)(1u << bit);
			try_archive(&skel_container, buf_bytes(&b));
			b.data[at] ^= (uint8_t)(1u << bit);
		}
	}
	buf_release(&b);
}
END_TEST

Suite *skel_container_suite(void);

Suite *skel_container_suite(void)
{
	Suite *s = suite_create("skel_container");
	TCase *t = tcase_create("skel_container");

	tcase_add_test(t, members_are_read);
	tcase_add_test(t, archives_cut_at_every_length);
	tcase_add_test(t, archives_with_every_byte_changed);
	suite_add_tcase(s, t);
	return s;
}
