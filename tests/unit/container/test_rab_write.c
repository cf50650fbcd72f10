/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A RAB with one member replaced. tests/mount/rab.py reads it independently. */
#include "container/rab_write.h"

#include "archives.h"
#include "container/containers.h"

static struct archive *open_rab(const struct buf *b)
{
	const struct input in = input_of_bytes(buf_bytes(b));
	struct err err = {.code = ERR_NONE};
	struct archive *a = archive_open(&rab_container, &in, LIMIT, &err);

	ck_assert_msg(a != NULL, "%s", err.message);
	return a;
}

static struct bytes stored_bytes(const struct buf *b, const struct member *m)
{
	ck_assert_uint_le(m->at + m->stored, b->size);
	return (struct bytes){b->data + m->at, (size_t)m->stored};
}

static const char *const laid_out[] = {"tests/data/rab/walker.mrab", "tests/data/rab/tools.rab"};

START_TEST(own_bytes_change_nothing)
{
	struct buf b = load_file(laid_out[_i]);
	struct archive *a = open_rab(&b);
	struct err err = {.code = ERR_NONE};

	for (uint32_t i = 0; i < a->count; i++) {
		struct buf own = BUF_INIT, out = BUF_INIT;

		ck_assert(archive_read(a, i, LIMIT, &own, &err));
		ck_assert_msg(rab_replace(buf_bytes(&b), LIMIT, i, buf_bytes(&own), &out, &err),
			      "%s", err.message);
		ck_assert(bytes_equal(buf_bytes(&out), buf_bytes(&b)));
		buf_release(&own);
		buf_release(&out);
	}
	archive_close(a);
	buf_release(&b);
}
END_TEST

/* New contents: sizes around a flag byte of CMPL, one that looks packed, and an empty one. */
static const char *const contents[] = {"",
				       "1",
				       "12345678",
				       "123456789",
				       "CMPL, it seems",
				       "a text that is longer than some of the members"};

START_TEST(other_members_keep_their_bytes)
{
	struct buf b = load_file(laid_out[_i]);
	struct archive *a = open_rab(&b);
	struct err err = {.code = ERR_NONE};

	for (uint32_t i = 0; i < a->count * ARRAY_SIZE(contents); i++) {
		const uint32_t number = i % a->count;
		const struct bytes bytes = bytes_of(contents[i / a->count]);
		struct buf made = BUF_INIT, now = BUF_INIT;
		struct archive *m;

		ck_assert(rab_replace(buf_bytes(&b), LIMIT, number, bytes, &made, &err));
		m = open_rab(&made);
		ck_assert_uint_eq(m->count, a->count);
		ck_assert(archive_read(m, number, LIMIT, &now, &err));
		ck_assert(bytes_equal(buf_bytes(&now), bytes));
		for (uint32_t j = 0; j < a->count; j++) {
			ck_assert_str_eq(m->members[j].name, a->members[j].name);
			ck_assert_str_eq(m->members[j].folder, a->members[j].folder);
			ck_assert_int_eq(m->members[j].time, a->members[j].time);
			ck_assert(j == number || bytes_equal(stored_bytes(&made, &m->members[j]),
							     stored_bytes(&b, &a->members[j])));
		}
		archive_close(m);
		buf_release(&made);
		buf_release(&now);
	}
	archive_close(a);
	buf_release(&b);
}
END_TEST

static void refuses(const struct buf *b, const char *why)
{
	struct err err = {.code = ERR_NONE};
	struct buf out = BUF_INIT;

	ck_assert(!rab_replace(buf_bytes(b), LIMIT, 0, bytes_of("x"), &out, &err));
	ck_assert_int_eq(err.code, ERR_STORE);
	ck_assert_msg(strstr(err.message, why) != NULL, "%s", err.message);
	ck_assert_uint_eq(out.size, 0);
	buf_release(&out);
}

static void set_u32(struct buf *b, size_t at, uint32_t value)
{
	for (unsigned i = 0; i < 4; i++)
		b->data[at + i] = (uint8_t)(value >> (8 * i));
}

/* Changed fields: of the header, of the first file, and of its place in the index. */
START_TEST(what_the_game_did_not_lay_out_is_refused)
{
	static const struct {
		size_t at;
		uint32_t plus;
		const char *why;
	} changes[] = {
		{0x04, 1, "its version is not 0x110"},
		{0x0C, 1, "the largest size in the header"},
		{0x10, 1, "the largest size in the header"},
		{0x1C, 8, "the index is not behind the file table"},
		{0x28 + 0x1C, 1, "a field that should be 0 is not"},
		{0x28 + 0x04, (uint32_t)-1, "do not follow those of the one before"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
		struct buf b = load_file(laid_out[0]);

		set_u32(&b, changes[i].at, get_u32(b.data + changes[i].at) + changes[i].plus);
		refuses(&b, changes[i].why);
		buf_release(&b);
	}
}
END_TEST

START_TEST(bytes_behind_the_last_file_are_refused)
{
	struct buf b = load_file(laid_out[0]);

	buf_char(&b, 'x');
	refuses(&b, "there are bytes behind the last file");
	buf_release(&b);
}
END_TEST

START_TEST(archives_with_every_byte_changed)
{
	struct buf b = load_file(laid_out[0]);

	for (size_t at = 0; at < b.size; at++) {
		struct err err = {.code = ERR_NONE};
		struct buf out = BUF_INIT;

		b.data[at] ^= 0xFF;
		if (!rab_replace(buf_bytes(&b), LIMIT, 0, bytes_of("x"), &out, &err))
			ck_assert(*err.message && out.size == 0);
		b.data[at] ^= 0xFF;
		buf_release(&out);
	}
	buf_release(&b);
}
END_TEST

/* Another program may have replaced the archive by one with fewer members. */
START_TEST(a_number_behind_the_last_is_a_conflict)
{
	struct buf b = load_file(laid_out[0]), out = BUF_INIT;
	struct archive *a = open_rab(&b);
	struct err err = {.code = ERR_NONE};

	ck_assert(!rab_replace(buf_bytes(&b), LIMIT, a->count, bytes_of("x"), &out, &err));
	ck_assert_int_eq(err.code, ERR_CONFLICT);
	ck_assert_uint_eq(out.size, 0);
	archive_close(a);
	buf_release(&b);
}
END_TEST

Suite *rab_write_suite(void);

Suite *rab_write_suite(void)
{
	Suite *s = suite_create("rab_write");
	TCase *t = tcase_create("rab_write");

	tcase_add_loop_test(t, own_bytes_change_nothing, 0, ARRAY_SIZE(laid_out));
	tcase_add_loop_test(t, other_members_keep_their_bytes, 0, ARRAY_SIZE(laid_out));
	tcase_add_test(t, what_the_game_did_not_lay_out_is_refused);
	tcase_add_test(t, a_number_behind_the_last_is_a_conflict);
	tcase_add_test(t, bytes_behind_the_last_file_are_refused);
	tcase_add_test(t, archives_with_every_byte_changed);
	suite_add_tcase(s, t);
	return s;
}
