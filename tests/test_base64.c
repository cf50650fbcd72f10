/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "view/base64.h"

#include <check.h>
#include <string.h>

/* The examples of RFC 4648, and one with the last letters of the alphabet. */
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

Suite *base64_suite(void);

Suite *base64_suite(void)
{
	Suite *suite = suite_create("base64");
	TCase *t = tcase_create("base64");

	suite_add_tcase(suite, t);
	tcase_add_loop_test(t, bytes_in_pieces_of_any_size_make_the_same_text, 0,
			    ARRAY_SIZE(examples));
	return suite;
}
