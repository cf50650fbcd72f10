/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names whose characters are composed or taken apart. */
#include "util/composed.h"

#include <check.h>
#include <string.h>

START_TEST(composed_and_taken_apart_are_the_same)
{
	static const char *const pairs[][2] = {
		{"", ""},
		{"hips", "hips"},
		{"Z\u00e4hne", "Za\u0308hne"},
		{"\u00c5ngstr\u00f6m", "A\u030angstro\u0308m"},
		{"\u1ead", "a\u0323\u0302"}, /* a character with two marks */
		{"\u01d8", "u\u0308\u0301"}, /* a character whose first mark is composed already */
		{"\u304c\u30d1", "\u304b\u3099\u30cf\u309a"}, /* kana with sound marks */
		{"\ud55c\uae00", "\u1112\u1161\u11ab\u1100\u1173\u11af"}, /* Hangul syllables */
		{"\uac00", "\u1100\u1161"}, /* a Hangul syllable without a final consonant */
		{"\ufb2a", "\u05e9\u05c1"},
		{"\xff\xc3", "\xff\xc3"}, /* not UTF-8, so unchanged */
	};

	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++)
		ck_assert_msg(composed_same(pairs[i][0], pairs[i][1]), "pair %zu", i);
}
END_TEST

START_TEST(others_are_not)
{
	ck_assert(!composed_same("Z\u00e4hne", "Zahne"));
	ck_assert(!composed_same("Z\u00e4hne", "Za\u0301hne"));
	ck_assert(!composed_same("\u00e4", "\u00c4"));
	ck_assert(!composed_same("\uac00", "\uac01"));
	ck_assert(!composed_same("\xff", "\xfe"));
}
END_TEST

START_TEST(ascii_has_one_form)
{
	ck_assert(!composed_may_differ(""));
	ck_assert(!composed_may_differ("hips~2"));
	ck_assert(composed_may_differ("Za\u0308hne"));
}
END_TEST

START_TEST(code_points_tell_names_apart)
{
	static const char *const names[][2] = {
		{"hips.csv", "hips.csv"},         {"Z\u00e4hne", "Z<U+00E4>hne"},
		{"Za\u0308hne", "Za<U+0308>hne"}, {"a b\u200b", "a<U+0020>b<U+200B>"},
		{"\U0001f9b4", "<U+1F9B4>"},      {"a\xff", "a\\xff"},
	};
	char text[64];

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		composed_points(names[i][0], text, sizeof(text));
		ck_assert_str_eq(text, names[i][1]);
	}
	composed_points("a\u0308b", text, 5); /* no room for all */
	ck_assert_str_eq(text, "a<U+");
}
END_TEST

START_TEST(what_is_not_seen_is_hinted_at)
{
	static const char *const names[][2] = {
		{"hips", ""},
		{"Z\u00e4hne", ""},
		{"\u53f3\u624b", ""},
		{"\xff", ""},
		{"Za\u0308hne", " (Za<U+0308>hne)"},
		{"hips\u200b", " (hips<U+200B>)"},
		{"arm\u00a0L", " (arm<U+00A0>L)"},
		{"\ufeffhips", " (<U+FEFF>hips)"},
		{"\uff28ips", " (<U+FF28>ips)"},
	};
	char hint[64];

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		composed_hint(names[i][0], hint, sizeof(hint));
		ck_assert_str_eq(hint, names[i][1]);
	}
}
END_TEST

Suite *composed_suite(void);

Suite *composed_suite(void)
{
	Suite *s = suite_create("composed");
	TCase *t = tcase_create("composed");

	tcase_add_test(t, composed_and_taken_apart_are_the_same);
	tcase_add_test(t, others_are_not);
	tcase_add_test(t, ascii_has_one_form);
	tcase_add_test(t, code_points_tell_names_apart);
	tcase_add_test(t, what_is_not_seen_is_hinted_at);
	suite_add_tcase(s, t);
	return s;
}
