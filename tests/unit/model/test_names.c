/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/names.h"
#include "text/utf.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *escaped(const char *stored, size_t limit)
{
	static struct buf out;

	buf_clear(&out);
	name_escape(stored, limit, &out);
	buf_char(&out, '\0');
	ck_assert(!out.failed);
	return (const char *)out.data;
}

/* Returns the name that a label stands for; NULL if no name has the label. */
static const char *unescaped(const char *label)
{
	static struct buf out;

	buf_clear(&out);
	buf_text(&out, "kept");
	if (!name_unescape(label, &out)) {
		ck_assert_uint_eq(out.size, 4);
		return NULL;
	}
	buf_char(&out, '\0');
	return (const char *)out.data + 4;
}

static const struct {
	const char *stored, *label;
} forms[] = {
	{"walk", "walk"},
	{"", "%"},
	{"%", "%25"},
	{".", "%2E"},
	{"..", "%2E%2E"},
	{"...", "%2E.%2E"},
	{".hidden", "%2Ehidden"},
	{"a.b", "a.b"},
	{"a.", "a%2E"},
	{"a ", "a%20"},
	{"a  ", "a %20"},
	{" a", "%20a"},
	{"  a", "%20 a"},
	{" ", "%20"},
	{"=1+1", "%3D1+1"},
	{"+a", "%2Ba"},
	{"-a-", "%2Da-"},
	{"@a@", "%40a@"},
	{"a/b\\c", "a%2Fb%5Cc"},
	{"a%b#c:d,e;f\"g", "a%25b%23c%3Ad%2Ce%3Bf%22g"},
	{"a\tb\x7f\x01", "a%09b%7F%01"},
	{"a~2", "a~2"},
	{"~", "~"},
	{"a'b<c>|?*", "a'b<c>|?*"},
	{"歩く", "歩く"},
	{"\xf0\x9f\x90\xb4", "\xf0\x9f\x90\xb4"},
	{"a\xed\xa0\x80z", "a%ED%A0%80z"},
	{"\xed\xbf\xbf", "%ED%BF%BF"},
	{"\xff\xc0\x80", "%FF%C0%80"},
	{"a\xe6\xad", "a%E6%AD"},
	{"\xf4\x90\x80\x80", "%F4%90%80%80"},
	{"\xc1\xbf\xe0\x9f\xbf", "%C1%BF%E0%9F%BF"},
};

START_TEST(names_and_their_forms)
{
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		ck_assert_str_eq(escaped(forms[i].stored, NAME_LIMIT), forms[i].label);
		ck_assert_pstr_eq(unescaped(forms[i].label), forms[i].stored);
	}
}
END_TEST

START_TEST(every_short_name_comes_back)
{
	static const char bytes[] = "a. %/~=\x01\x80\xed\xa0\xbf";
	const size_t n = sizeof(bytes) - 1;

	for (size_t i = 0; i < n * n * n * n; i++) {
		char name[5] = {bytes[i % n], bytes[i / n % n], bytes[i / n / n % n],
				bytes[i / n / n / n]};
		const char *label = escaped(name, NAME_LIMIT);

		ck_assert_ptr_null(strchr(label, '/'));
		ck_assert(label[0] && label[0] != '.');
		ck_assert_pstr_eq(unescaped(label), name);
	}
}
END_TEST

START_TEST(what_is_no_form_is_refused)
{
	static const char *const labels[] = {
		"",    "%2",    "a%",   "%%",  "%zz",          "%2f",   "%41",
		"%00", "a%00b", ".a",   "a ",  "a.",           "=a",    "a:b",
		"a,b", "a%20b", "\xff", "a/b", "\xed\xa0\x80", "a%2Eb", "%E6%AD%A9"};

	for (size_t i = 0; i < ARRAY_SIZE(labels); i++)
		ck_assert_msg(unescaped(labels[i]) == NULL, "\"%s\"", labels[i]);
}
END_TEST

START_TEST(long_names_are_cut_on_a_character)
{
	char name[400] = "", other[400];
	const char *label;

	memset(name, 'a', 255);
	ck_assert_str_eq(escaped(name, 255), name);
	name[255] = 'a';
	label = escaped(name, 255);
	ck_assert_uint_eq(strlen(label), 255);
	ck_assert_int_eq(label[255 - 17], '~');
	ck_assert_uint_eq(strspn(label + 255 - 16, "0123456789abcdef"), 16);

	/* the hash is of the whole name, including the part cut off */
	strcpy(other, label);
	name[255] = 'b';
	ck_assert_str_ne(escaped(name, 255), other);

	/* 238 bytes are left: 79 characters of three bytes fill 237 */
	memset(name, 0, sizeof(name));
	for (int i = 0; i < 100; i++)
		strcat(name, "歩");
	label = escaped(name, 255);
	ck_assert_uint_eq(strlen(label), 237 + 17);
	ck_assert_int_eq(memcmp(label, name, 237), 0);

	/*
	 * the cut falls between escapes of three bytes, and the three of a lone surrogate stay
	 * together
	 */
	memset(name, '/', 100);
	name[100] = '\0';
	ck_assert_uint_eq(strlen(escaped(name, 255)), 237 + 17);
	name[0] = '\0';
	for (int i = 0; i < 40; i++)
		strcat(name, "\xed\xa0\x80");
	label = escaped(name, 255);
	ck_assert_uint_eq(strlen(label), 234 + 17);
	ck_assert_int_eq(label[234], '~');
}
END_TEST

/* ---- labels ---- */

/* Makes a file of one clip for each name, or of one clip with a track for each. */
static struct anim *labelled(const char *const *names, uint32_t count, bool tracks,
			     const char *const *reserved)
{
	struct anim *a = calloc(1, sizeof(*a));
	struct clip *clips;
	struct track *all;

	ck_assert_ptr_nonnull(a);
	clips = arena_alloc(&a->arena, count + 1, sizeof(*clips));
	all = arena_alloc(&a->arena, count + 1, sizeof(*all));
	ck_assert(clips && all);
	for (uint32_t i = 0; i < count; i++)
		clips[i].name = all[i].name = names[i];
	a->clips = clips;
	a->clip_count = tracks ? 1 : count;
	if (tracks) {
		clips[0].name = "clip";
		clips[0].tracks = all;
		clips[0].track_count = count;
	}
	ck_assert(names_label(a, reserved));
	return a;
}

static void unlabelled(struct anim *a)
{
	arena_release(&a->arena);
	free(a);
}

static void expect_labels(const char *const *names, const char *const *labels)
{
	static const char *const none[] = {NULL};
	uint32_t count = 0;
	struct anim *clips, *tracks;

	while (names[count])
		count++;
	clips = labelled(names, count, false, none);
	tracks = labelled(names, count, true, none);
	for (uint32_t i = 0; i < count; i++) {
		ck_assert_str_eq(clips->clips[i].label, labels[i]);
		ck_assert_str_eq(tracks->clips[0].tracks[i].label, labels[i]);
	}
	unlabelled(clips);
	unlabelled(tracks);
}

START_TEST(equal_names_are_numbered_in_file_order)
{
	expect_labels((const char *const[]){"a", "b", "a", "A", "a", "", "", NULL},
		      (const char *const[]){"a", "b", "a~2", "A", "a~3", "%", "%~2"});
}
END_TEST

START_TEST(numbers_keep_clear_of_literal_names)
{
	expect_labels((const char *const[]){"a", "a~2", "a", "a", NULL},
		      (const char *const[]){"a", "a~2", "a~3", "a~4"});
	expect_labels((const char *const[]){"a", "a", "a~2", "a", "a~2", NULL},
		      (const char *const[]){"a", "a~2", "a~2~2", "a~3", "a~2~3"});
}
END_TEST

START_TEST(reserved_names_are_taken)
{
	static const char *const reserved[] = {"file.json", "raw.canm", "file.json~2", NULL};
	static const char *const names[] = {"walk", "file.json", "raw.canm", "file.json"};
	struct anim *clips = labelled(names, 4, false, reserved);
	struct anim *tracks = labelled(names, 3, true, reserved);

	ck_assert_str_eq(clips->clips[0].label, "walk");
	ck_assert_str_eq(clips->clips[1].label, "file.json~3");
	ck_assert_str_eq(clips->clips[2].label, "raw.canm~2");
	ck_assert_str_eq(clips->clips[3].label, "file.json~4");
	ck_assert_str_eq(tracks->clips[0].tracks[1].label, "file.json");
	unlabelled(clips);
	unlabelled(tracks);
}
END_TEST

START_TEST(long_labels_leave_room_for_what_follows)
{
	static const char *const none[] = {NULL};
	char name[300];
	const char *names[12];
	struct anim *clips, *tracks;

	memset(name, 'x', sizeof(name));
	name[NAME_LIMIT] = '\0';
	for (int i = 0; i < 12; i++)
		names[i] = name;
	clips = labelled(names, 12, false, none);
	tracks = labelled(names, 12, true, none);
	ck_assert_str_eq(clips->clips[0].label, name);
	for (int i = 0; i < 12; i++) {
		const char *clip = clips->clips[i].label;
		const char *track = tracks->clips[0].tracks[i].label;

		ck_assert_uint_eq(strlen(clip), NAME_LIMIT);
		ck_assert_uint_eq(strlen(track), NAME_LIMIT - NAME_SUFFIX_ROOM);
		for (int j = 0; j < i; j++) {
			ck_assert_str_ne(clip, clips->clips[j].label);
			ck_assert_str_ne(track, tracks->clips[0].tracks[j].label);
		}
	}
	unlabelled(clips);
	unlabelled(tracks);
}
END_TEST

/* If each name were compared with all others, this would exceed the time limit of a test. */
START_TEST(very_many_equal_names)
{
	enum { COUNT = 65535 };
	static const char *const none[] = {NULL};
	static char texts[COUNT][16];
	static const char *names[2 * COUNT];
	struct anim *a;
	char last[16];

	for (int i = 0; i < COUNT; i++) {
		names[i] = "a";
		snprintf(texts[i], sizeof(texts[i]), "a~%d", 2 * i + 2);
		names[COUNT + i] = texts[i];
	}
	a = labelled(names, COUNT, true, none);
	ck_assert_str_eq(a->clips[0].tracks[COUNT - 1].label, "a~65535");
	unlabelled(a);

	/* literal names first: every second number is taken */
	for (int i = 0; i < COUNT; i++) {
		const char *swap = names[i];

		names[i] = names[COUNT + i];
		names[COUNT + i] = swap;
	}
	a = labelled(names, 2 * COUNT, false, none);
	snprintf(last, sizeof(last), "a~%d", 2 * COUNT - 1);
	ck_assert_str_eq(a->clips[2 * COUNT - 1].label, last);
	unlabelled(a);
}
END_TEST

/* ---- encodings ---- */

static void expect_utf16(const uint16_t *units, size_t count, const char *name)
{
	struct arena arena = ARENA_INIT;
	struct buf in = BUF_INIT, back = BUF_INIT;
	const char *text;

	for (size_t i = 0; i < count; i++)
		buf_u16(&in, units[i]);
	text = utf8_from_utf16(&arena, in.data, count);
	ck_assert_str_eq(text, name);
	utf8_to_utf16(text, &back);
	ck_assert(bytes_equal(buf_bytes(&in), buf_bytes(&back)));
	buf_release(&in);
	buf_release(&back);
	arena_release(&arena);
}

#define EXPECT_UTF16(name, ...)                                                                    \
	expect_utf16((const uint16_t[]){__VA_ARGS__},                                              \
		     sizeof((const uint16_t[]){__VA_ARGS__}) / sizeof(uint16_t), name)

START_TEST(utf16_comes_back_as_it_was)
{
	expect_utf16(NULL, 0, "");
	EXPECT_UTF16("a", 'a');
	EXPECT_UTF16("\x7f\xc2\x80\xdf\xbf\xe0\xa0\x80", 0x7f, 0x80, 0x7ff, 0x800);
	EXPECT_UTF16("一", 0x4e00);
	EXPECT_UTF16("\xef\xbf\xbf", 0xffff);
	EXPECT_UTF16("\xf0\x90\x80\x80", 0xd800, 0xdc00);
	EXPECT_UTF16("\xf4\x8f\xbf\xbf", 0xdbff, 0xdfff);
	EXPECT_UTF16("\xed\xa0\x80", 0xd800);
	EXPECT_UTF16("\xed\xbf\xbf"
		     "a",
		     0xdfff, 'a');
	EXPECT_UTF16("\xed\xb0\x80\xed\xa0\x80", 0xdc00, 0xd800);
	EXPECT_UTF16("\xed\xa0\x80\xf0\x90\x80\x80", 0xd800, 0xd800, 0xdc00);
}
END_TEST

START_TEST(printable_names_are_valid_utf8)
{
	struct buf out = BUF_INIT;

	utf8_printable("a歩\xed\xa0\x80\xff\xe6\xad\xf0\x9f\x90\xb4\"", &out);
	buf_char(&out, '\0');
	ck_assert_str_eq((const char *)out.data, "a歩����\xf0\x9f\x90\xb4\"");
	buf_release(&out);
}
END_TEST

START_TEST(bytes_that_are_no_utf8_become_one_unit_each)
{
	struct buf out = BUF_INIT;

	utf8_to_utf16("\xff"
		      "a\xe6\xad",
		      &out);
	ck_assert_uint_eq(out.size, 8);
	ck_assert_uint_eq(get_u16(out.data), 0xfffd);
	ck_assert_uint_eq(get_u16(out.data + 2), 'a');
	ck_assert_uint_eq(get_u16(out.data + 6), 0xfffd);
	buf_release(&out);
}
END_TEST

START_TEST(a_stem_stands_before_the_last_dot_unless_that_is_the_first_letter)
{
	ck_assert_uint_eq(name_stem("walk.006"), 4);
	ck_assert_uint_eq(name_stem("a.b.anm"), 3);
	ck_assert_uint_eq(name_stem("walk."), 4);
	ck_assert_uint_eq(name_stem("walk"), 4);
	ck_assert_uint_eq(name_stem(".canm"), 5);
	ck_assert_uint_eq(name_stem(""), 0);
}
END_TEST

/* The file has two clips of the same bones, most of which share the pointers to their names. */
START_TEST(clips_of_the_same_bones_are_labelled_alike)
{
	static const char *const none[] = {NULL};
	static const char *const names[] = {"hip", "a/b", "hip", "leg"};
	static const char *const others[] = {"hip", "a/b", "hip~2", "leg"};
	static const char *const labels[] = {"hip", "a%2Fb", "hip~2", "leg"};
	static const char arm[] = "arm";
	struct track tracks[4][4] = {{{.name = NULL}}};
	struct clip clips[4];
	struct anim a = {.arena = ARENA_INIT, .clip_count = 4, .clips = clips};

	for (uint32_t i = 0; i < 4; i++) {
		clips[i] = (struct clip){.name = names[i], .tracks = tracks[i], .track_count = 4};
		for (uint32_t j = 0; j < 4; j++)
			tracks[i][j].name = i == 2 ? others[j] : names[j];
	}
	tracks[3][1].name = arm;
	ck_assert(names_label(&a, none));
	for (uint32_t i = 0; i < 3; i++)
		for (uint32_t j = 0; j < 4; j++)
			ck_assert_str_eq(tracks[i][j].label, labels[j]);
	ck_assert_str_eq(tracks[3][1].label, arm);
	ck_assert_str_eq(tracks[3][2].label, "hip~2");
	arena_release(&a.arena);
}
END_TEST

START_TEST(extensions_are_found_in_any_case)
{
	static const struct {
		const char *name, *end;
		int at; /* -1: the name does not end so */
	} cases[] = {
		{"x.cas", ".cas", 1},
		{"x.CAS", ".cas", 1},
		{"X.cAs", ".cas", 1},
		{".cas", ".cas", 0},
		{"cas", ".cas", -1},
		{"x.cas.", ".cas", -1},
		{"x.cas.b", ".cas", -1},
		{"x.cas.CAS", ".cas", 5},
		{"x.sequence.csv", ".sequence.csv", 1},
		{"x.csv", ".sequence.csv", -1},
		{"x.006", ".006", 1},
		{"x.\x10"
		 "06",
		 ".006", -1},
		{"", ".cas", -1},
		{"\xC3\xA4.\xC3\xA4.rab", ".rab", 5},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const char *name = cases[i].name;
		const char *at = name_end(name, name_dots(name), cases[i].end);

		ck_assert_msg((at ? (int)(at - name) : -1) == cases[i].at, "%s %s", name,
			      cases[i].end);
	}
}
END_TEST

Suite *names_suite(void);

Suite *names_suite(void)
{
	Suite *s = suite_create("names");
	TCase *escape = tcase_create("forms"), *labels = tcase_create("labels");
	TCase *encodings = tcase_create("encodings");

	tcase_add_test(escape, names_and_their_forms);
	tcase_add_test(escape, every_short_name_comes_back);
	tcase_add_test(escape, what_is_no_form_is_refused);
	tcase_add_test(escape, long_names_are_cut_on_a_character);
	suite_add_tcase(s, escape);
	tcase_add_test(labels, extensions_are_found_in_any_case);
	tcase_add_test(labels, equal_names_are_numbered_in_file_order);
	tcase_add_test(labels, numbers_keep_clear_of_literal_names);
	tcase_add_test(labels, reserved_names_are_taken);
	tcase_add_test(labels, long_labels_leave_room_for_what_follows);
	tcase_add_test(labels, very_many_equal_names);
	tcase_add_test(labels, clips_of_the_same_bones_are_labelled_alike);
	suite_add_tcase(s, labels);
	tcase_add_test(encodings, utf16_comes_back_as_it_was);
	tcase_add_test(encodings, printable_names_are_valid_utf8);
	tcase_add_test(encodings,
		       a_stem_stands_before_the_last_dot_unless_that_is_the_first_letter);
	tcase_add_test(encodings, bytes_that_are_no_utf8_become_one_unit_each);
	suite_add_tcase(s, encodings);
	return s;
}
