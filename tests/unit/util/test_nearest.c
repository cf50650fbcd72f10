/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "util/nearest.h"

#include "animfs/base.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const names[] = {"hips.csv", "hips.json", "hand_L.csv", "hand_R.csv", "walk",
				    "csv",      "svg",       "x",          "x3d",        NULL};

static const struct {
	const char *word, *meant;
} cases[] = {
	{"hipz.csv", "; did you mean \"hips.csv\"?"},
	/* two exchanged letters count as one mistake */
	{"hisp.csv", "; did you mean \"hips.csv\"?"},
	/* a difference of case counts as no mistake, so this name is the nearest */
	{"HIPS.CSV", "; did you mean \"hips.csv\"?"},
	{"ihpz.csv", "; did you mean \"hips.csv\"?"}, /* two mistakes */
	{"ihzs.csx", ""},                             /* three mistakes */
	{"hips", "; did you mean \"hips.csv\" or \"hips.json\"?"},
	{"hand_.csv", "; did you mean \"hand_L.csv\" or \"hand_R.csv\"?"},
	{"hand_M.csv", "; did you mean \"hand_L.csv\" or \"hand_R.csv\"?"},
	{"wlak", "; did you mean \"walk\"?"},
	{"walking", ""},
	{"wolf", ""}, /* two of four letters are wrong */
	{"cvs", "; did you mean \"csv\"?"},
	{"cv", "; did you mean \"csv\"?"},
	{"vcs", ""}, /* two of three letters are wrong */
	{"x3", "; did you mean \"x\" or \"x3d\"?"},
	{"y", ""}, /* all letters of "x" would be wrong */
	{"", ""},
};

START_TEST(what_is_near_is_named)
{
	struct nearest n = nearest_to(cases[_i].word, strlen(cases[_i].word));
	char text[1024];

	for (size_t i = 0; names[i]; i++)
		nearest_offer(&n, names[i]);
	nearest_text(&n, text, sizeof(text));
	ck_assert_str_eq(text, cases[_i].meant);
}
END_TEST

START_TEST(three_names_at_most)
{
	struct nearest n = nearest_to("bone_00", 7);
	char text[1024], name[16];

	for (int i = 10; i < 20; i++) {
		snprintf(name, sizeof(name), "bone_%02d", i);
		nearest_offer(&n, name);
	}
	nearest_text(&n, text, sizeof(text));
	ck_assert_str_eq(text, "; did you mean \"bone_10\"?");
	n = nearest_to("bone_1", 6);
	for (int i = 10; i < 20; i++) {
		snprintf(name, sizeof(name), "bone_%02d", i);
		nearest_offer(&n, name);
	}
	nearest_text(&n, text, sizeof(text));
	ck_assert_str_eq(text, "; did you mean \"bone_10\" or \"bone_11\" or \"bone_12\"?");
}
END_TEST

START_TEST(the_word_need_not_end)
{
	struct nearest n = nearest_to("cvs,json", 3);
	char text[64];

	nearest_offer(&n, "csv");
	nearest_offer(&n, "csv"); /* a name that is offered twice is listed once */
	nearest_text(&n, text, sizeof(text));
	ck_assert_str_eq(text, "; did you mean \"csv\"?");
}
END_TEST

/* Names are in heap blocks of exactly their size, for the sanitizer. */
START_TEST(long_names_are_near_to_nothing)
{
	for (size_t length = NEAREST_LENGTH - 1; length <= NEAREST_LENGTH + 1; length++) {
		char *word = malloc(length), *name = malloc(length + 1), text[600];
		struct nearest n = nearest_to(word, length);

		memset(word, 'a', length);
		memset(name, 'a', length);
		word[length / 2] = 'b';
		name[length] = '\0';
		nearest_offer(&n, name);
		nearest_text(&n, text, sizeof(text));
		ck_assert_uint_eq(n.count, length <= NEAREST_LENGTH);
		/* A text that is too long is cut. */
		nearest_text(&n, text, 20);
		ck_assert_uint_lt(strlen(text), 20);
		free(word);
		free(name);
	}
}
END_TEST

Suite *nearest_suite(void);

Suite *nearest_suite(void)
{
	Suite *s = suite_create("nearest");
	TCase *t = tcase_create("nearest");

	tcase_add_loop_test(t, what_is_near_is_named, 0, ARRAY_SIZE(cases));
	tcase_add_test(t, three_names_at_most);
	tcase_add_test(t, the_word_need_not_end);
	tcase_add_test(t, long_names_are_near_to_nothing);
	suite_add_tcase(s, t);
	return s;
}
