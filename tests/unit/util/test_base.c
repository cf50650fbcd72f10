/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "animfs/base.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

START_TEST(a_reader_goes_bad_and_stays_bad)
{
	static const uint8_t data[] = {1, 2, 3, 4, 5};
	struct reader r = reader_at((struct bytes){data, sizeof(data)}, 0);

	ck_assert_uint_eq(read_u32(&r), 0x04030201);
	ck_assert(!r.bad);
	ck_assert_uint_eq(read_u16(&r), 0);
	ck_assert(r.bad);
	ck_assert_uint_eq(read_u8(&r), 0); /* bad, although one byte is left */
	ck_assert(r.bad);
}
END_TEST

START_TEST(a_reader_past_the_end_is_bad_at_once)
{
	static const uint8_t data[] = {1};

	ck_assert(reader_at((struct bytes){data, 1}, 2).bad);
	ck_assert(!reader_at((struct bytes){data, 1}, 1).bad);
	ck_assert(reader_at((struct bytes){data, 1}, SIZE_MAX).bad);
}
END_TEST

START_TEST(bytes_hold_never_overflows)
{
	static const uint8_t data[16];
	struct bytes src = {data, sizeof(data)};

	ck_assert(bytes_hold(src, 0, 4, 4));
	ck_assert(bytes_hold(src, 12, 1, 4));
	ck_assert(bytes_hold(src, 16, 0, 4));
	ck_assert(!bytes_hold(src, 13, 1, 4));
	ck_assert(!bytes_hold(src, 17, 0, 4));
	ck_assert(!bytes_hold(src, 4, UINT64_MAX / 4, 8));
	ck_assert(!bytes_hold(src, UINT64_MAX, 1, 1));
}
END_TEST

START_TEST(what_is_put_is_got)
{
	struct buf b = BUF_INIT;
	struct reader r;

	buf_u16(&b, 0xFFFE);
	buf_u32(&b, 0x80000001);
	buf_f32(&b, -0.0F);
	buf_align(&b, 16);
	ck_assert_uint_eq(b.size, 16);
	r = reader_at(buf_bytes(&b), 0);
	ck_assert_int_eq((int16_t)read_u16(&r), -2);
	ck_assert_uint_eq(read_u32(&r), 0x80000001);
	ck_assert_uint_eq(read_u32(&r), 0x80000000);
	ck_assert(!r.bad);
	buf_release(&b);
	ck_assert_ptr_null(b.data);
}
END_TEST

START_TEST(a_buffer_that_failed_takes_no_more)
{
	struct buf b = BUF_INIT;

	buf_text(&b, "kept");
	ck_assert(!buf_reserve(&b, SIZE_MAX));
	ck_assert(b.failed);
	buf_text(&b, "lost");
	ck_assert_uint_eq(b.size, 4);
	buf_clear(&b);
	buf_text(&b, "again");
	ck_assert_uint_eq(b.size, 5);
	buf_release(&b);
}
END_TEST

START_TEST(a_buffer_may_have_a_limit)
{
	struct buf b = {.limit = 300};

	for (int i = 0; i < 30; i++)
		buf_text(&b, "ten bytes.");
	ck_assert(!b.failed && b.size == 300);
	buf_char(&b, '.');
	ck_assert(b.failed && b.size == 300);
	buf_release(&b);
}
END_TEST

START_TEST(an_array_keeps_what_it_has_as_it_grows)
{
	uint32_t *list = NULL;
	size_t room = 0;

	for (uint32_t i = 0; i < 1000; i++) {
		list = array_room(list, i, &room, sizeof(*list));
		ck_assert_ptr_nonnull(list);
		ck_assert_uint_gt(room, i);
		list[i] = i;
	}
	ck_assert_uint_lt(room, 2000);
	for (uint32_t i = 0; i < 1000; i++)
		ck_assert_uint_eq(list[i], i);
	free(list);
}
END_TEST

START_TEST(an_arena_gives_zeroed_aligned_memory)
{
	struct arena a = ARENA_INIT;

	for (size_t size = 1; size < 20000; size = size * 3 + 1) {
		uint8_t *p = arena_alloc(&a, size, 1);

		ck_assert_ptr_nonnull(p);
		ck_assert_uint_eq((uintptr_t)p % _Alignof(max_align_t), 0);
		for (size_t i = 0; i < size; i++)
			ck_assert_uint_eq(p[i], 0);
		memset(p, 0xAA, size);
	}
	ck_assert_str_eq(arena_text(&a, "hipsX", 4), "hips");
	ck_assert_str_eq(arena_format(&a, "%s.%d", "a", 7), "a.7");
	ck_assert(!a.failed);
	ck_assert_ptr_null(arena_alloc(&a, SIZE_MAX / 2, 4));
	ck_assert(a.failed);
	ck_assert_ptr_null(arena_alloc(&a, 1, 1));
	arena_release(&a);
	ck_assert_uint_eq(a.total, 0);
}
END_TEST

START_TEST(the_first_error_wins)
{
	struct err err = {.code = ERR_NONE}, copy = err, other = err;

	ck_assert(!err_at(&err, ERR_TEXT, 7, 2, "\"%s\" is wrong", "xy"));
	ck_assert(!err_system(&err, EIO, "read"));
	ck_assert(!err_accept(&err, "a number"));
	ck_assert(!err_accept(&err, "something else"));
	ck_assert_int_eq(err.code, ERR_TEXT);
	ck_assert_uint_eq(err.at, 7);
	ck_assert_str_eq(err.message, "\"xy\" is wrong");
	ck_assert_str_eq(err.accepted, "a number");
	err_clear(&err);
	ck_assert(!err_system(&err, ENOSPC, "write"));
	ck_assert_int_eq(err.number, ENOSPC);
	ck_assert(!err_set(NULL, ERR_TEXT, "nobody listens"));
	err_copy(NULL, &err);
	err_copy(&copy, &err);
	ck_assert_int_eq(copy.number, ENOSPC);
	err_set(&other, ERR_TEXT, "later");
	err_copy(&copy, &other);
	ck_assert_int_eq(copy.number, ENOSPC);
}
END_TEST

START_TEST(a_place_is_a_line_and_a_column_of_characters)
{
	static const struct {
		const char *text;
		size_t at, line, column;
	} cases[] = {
		{"", 0, 1, 1},
		{"abc", 2, 1, 3},
		{"a\nbc\n", 3, 2, 2},
		{"a\r\nbc", 3, 2, 1},
		{"a\n", 2, 2, 1},
		{"\xE5\x8F\xB3,x", 4, 1, 3}, /* one character of three bytes */
		{"ab", 99, 1, 3},
		/* The byte order mark does not count as a column. */
		{"\xEF\xBB\xBF"
		 "ab",
		 4, 1, 2},
		/*
		 * In an XML text in ISO-8859-1 a byte is a character, and offsets count in its
		 * UTF-8 form.
		 */
		{"<?xml encoding='ISO-8859-1'?>\n<a b='\xE9' c='x'/>", 43, 2, 13},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct position p = err_locate(bytes_of(cases[i].text), cases[i].at);

		ck_assert_uint_eq(p.line, cases[i].line);
		ck_assert_uint_eq(p.column, cases[i].column);
	}
	/* Offsets in a UTF-16 text count in its UTF-8 form: "<\xE9\n\xE9x". */
	for (size_t at = 0; at <= 7; at++) {
		static const uint8_t text[] = "\xFF\xFE<\0\xE9\0\n\0\xE9\0x\0";
		static const size_t columns[] = {1, 2, 3, 3, 1, 2, 2, 3};
		struct position p = err_locate((struct bytes){text, sizeof(text) - 1}, at);

		ck_assert_uint_eq(p.line, at < 4 ? 1 : 2);
		ck_assert_uint_eq(p.column, columns[at]);
	}
}
END_TEST

START_TEST(numbers_are_the_same_by_their_bits)
{
	ck_assert(f64_same(__builtin_nan("1"), __builtin_nan("1")));
	ck_assert(!f64_same(__builtin_nan("1"), __builtin_nan("2")));
	ck_assert(!f64_same(0.0, -0.0));
	ck_assert(f64_same(1.5, 1.5));
}
END_TEST

Suite *base_suite(void);
Suite *base_suite(void)
{
	Suite *suite = suite_create("base");
	TCase *tc = tcase_create("base");

	tcase_add_test(tc, a_reader_goes_bad_and_stays_bad);
	tcase_add_test(tc, a_reader_past_the_end_is_bad_at_once);
	tcase_add_test(tc, bytes_hold_never_overflows);
	tcase_add_test(tc, what_is_put_is_got);
	tcase_add_test(tc, a_buffer_that_failed_takes_no_more);
	tcase_add_test(tc, a_buffer_may_have_a_limit);
	tcase_add_test(tc, an_array_keeps_what_it_has_as_it_grows);
	tcase_add_test(tc, an_arena_gives_zeroed_aligned_memory);
	tcase_add_test(tc, the_first_error_wins);
	tcase_add_test(tc, a_place_is_a_line_and_a_column_of_characters);
	tcase_add_test(tc, numbers_are_the_same_by_their_bits);
	suite_add_tcase(suite, tc);
	return suite;
}
