/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "view/base64.h"

#include <check.h>
#include <string.h>

/* The examples of RFC 4648, and a text with the last letters of the alphabet. */
static const struct {
	const char *bytes, *text;
} examples[] = {
	{"", ""},
	{"f", "Zg=="},
	{"fo", "Zm8="},
	{"foo", "Zm9v"},
	{"foob", "Zm9vYg=="},
	{"fooba", "Zm9vYmE="},
	{"foobar", "Zm9vYmFy"},
	{"\xfb\xef\xbe\xff\xff\xff", "++++////"},
};

static void assert_encoded(size_t example, size_t piece)
{
	const char *bytes = examples[example].bytes;
	struct buf out = BUF_INIT;
	struct base64 b = {.out = &out};

	for (size_t at = 0; at < strlen(bytes); at += piece)
		base64_add(&b, bytes + at, strlen(bytes) - at < piece ? strlen(bytes) - at : piece);
	base64_end(&b);
	buf_char(&out, '\0');
	ck_assert_str_eq((const char *)out.data, examples[example].text);
	buf_release(&out);
}

START_TEST(bytes_in_pieces_of_any_size_make_the_same_text)
{
	for (size_t piece = 1; piece < 8; piece++)
		assert_encoded((size_t)_i, piece);
}
END_TEST

START_TEST(texts_are_read_with_and_without_padding)
{
	size_t length = strlen(examples[_i].text), size;
	uint8_t out[16];

	for (; length > 0 && examples[_i].text[length - 1] == '='; length--)
		;
	ck_assert(base64_read(bytes_of(examples[_i].text), out, &size));
	ck_assert_uint_eq(size, strlen(examples[_i].bytes));
	ck_assert_mem_eq(out, examples[_i].bytes, size);
	ck_assert(base64_read((struct bytes){(const uint8_t *)examples[_i].text, length}, out,
			      &size));
	ck_assert_uint_eq(size, strlen(examples[_i].bytes));
}
END_TEST

START_TEST(other_letters_and_odd_lengths_are_refused)
{
	static const char *const texts[] = {"Zg=f", "Zg===", "Zm9vY", "Zm9 v", "-_-_", "A", "\xff"};
	uint8_t out[16];
	size_t size;

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		ck_assert_msg(!base64_read(bytes_of(texts[i]), out, &size), "%s", texts[i]);
}
END_TEST

Suite *base64_suite(void);

Suite *base64_suite(void)
{
	Suite *suite = suite_create("base64");
	TCase *t = tcase_create("base64");

	suite_add_tcase(suite, t);
	tcase_add_loop_test(t, bytes_in_pieces_of_any_size_make_the_same_text, 0,
			    ARRAY_SIZE(examples));
	tcase_add_loop_test(t, texts_are_read_with_and_without_padding, 0, ARRAY_SIZE(examples));
	tcase_add_test(t, other_letters_and_odd_lengths_are_refused);
	return suite;
}
