/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "text/json.h"

#include "view/json.h"
#include <check.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- writing ---- */

static void assert_written(struct buf *out, const char *wanted)
{
	buf_char(out, '\0');
	ck_assert(!out->failed);
	ck_assert_str_eq((const char *)out->data, wanted);
	buf_release(out);
}

START_TEST(names_are_quoted_and_escaped)
{
	struct buf out = BUF_INIT;

	json_write_name(&out, "a\"b\\c\n\x01/\xE5\x8F\xB3");
	assert_written(&out, "\"a\\\"b\\\\c\\u000a\\u0001/\xE5\x8F\xB3\"");
}
END_TEST

START_TEST(lone_surrogates_become_replacement_characters)
{
	struct buf out = BUF_INIT;

	json_write_name(&out, "x\xED\xA0\x80y");
	assert_written(&out, "\"x\xEF\xBF\xBDy\"");
}
END_TEST

START_TEST(numbers_that_are_not_finite_are_null)
{
	struct buf out = BUF_INIT;
	bool first = true;

	json_write_comma(&out, &first, "");
	json_write_f32(&out, 0.1f);
	json_write_comma(&out, &first, " ");
	json_write_f32(&out, NAN);
	json_write_comma(&out, &first, " ");
	json_write_f32(&out, -INFINITY);
	assert_written(&out, "0.1, null, null");
}
END_TEST

/* ---- errors of syntax ---- */

static struct err read_err(const char *text, size_t size)
{
	struct err err = {0};
	struct doc d;

	/* Use a block of exactly that size, so that the sanitizer detects reads past the end. */
	uint8_t *exact = malloc(size ? size : 1);
	ck_assert_ptr_nonnull(exact);
	memcpy(exact, text, size);
	if (doc_read(&d, (struct bytes){exact, size}, &err))
		ck_assert_int_eq(err.code, ERR_NONE);
	doc_release(&d);
	free(exact);
	return err;
}

static const struct {
	const char *text;
	enum err_code code;
	size_t at, length;
	const char *words;
} faults[] = {
	{"", ERR_EMPTY, 0, 0, "empty"},
	{"\xEF\xBB\xBF", ERR_EMPTY, 0, 0, "empty"},
	{" \n", ERR_EARLY, 2, 0, "ends"},
	{"{\"a\": 1", ERR_EARLY, 7, 0, "ends"},
	{"{\"a\": 1 \"bc\": 2}", ERR_TEXT, 8, 4, "not JSON"},
	{"{\"a\": trux}", ERR_TEXT, 6, 4, "not JSON"},
	{"{\"a\": trux", ERR_TEXT, 6, 4, "not JSON"},
	{"{\"a\": 1,}", ERR_TEXT, 8, 1, "not JSON"},
	{"{\"a\": 1, \"a\": 2}", ERR_TEXT, 9, 3, "twice, first in line 1, column 2"},
	{"{\"\xC3\xA9\": 1, \"a\": 2,\n\"a\": 2}", ERR_TEXT, 18, 3, "first in line 1, column 10"},
	{"{\"a\": 1e999}", ERR_TEXT, 6, 5, "large"},
	{"{\"a\": -", ERR_EARLY, 7, 0, "ends"},
	{"{\"a\": 1.", ERR_EARLY, 8, 0, "ends"},
	{"{\"a\": 1.e", ERR_TEXT, 6, 3, "not JSON"},
	{"{\"a\": 1.}", ERR_TEXT, 6, 2, "not JSON"},
	{"{\"a\": +1}", ERR_TEXT, 6, 2, "not JSON"},
	{"{\"a\": 0x1}", ERR_TEXT, 7, 1, "not JSON"},
	{"{\"a\" 1}", ERR_TEXT, 5, 1, "not JSON"},
	{"{a: 1}", ERR_TEXT, 1, 1, "not JSON"},
	{"{'a': 1}", ERR_TEXT, 1, 1, "not JSON"},
	{"{\"a\": [1 2]}", ERR_TEXT, 9, 1, "not JSON"},
	{"{\"a\": [1}", ERR_TEXT, 8, 1, "not JSON"},
	{"{\"a\": [,1]}", ERR_TEXT, 7, 1, "not JSON"},
	{"{\"a\": \xE5\x8F\xB3}", ERR_TEXT, 6, 3, "not JSON"},
	{"{\"a\": \xE5\x8F", ERR_EARLY, 8, 0, "ends"},
	{"{\"a\": \"x\ny\"}", ERR_TEXT, 8, 1, "control"},
	{"{\"a\": \"\\x\"}", ERR_TEXT, 7, 2, "escape"},
	{"{\"a\": \"\\u12g4\"}", ERR_TEXT, 7, 5, "escape"},
	{"{\"a\": \"\\ud83d\"}", ERR_TEXT, 7, 6, "half"},
	{"{\"a\": \"\\ude00\"}", ERR_TEXT, 7, 6, "half"},
	{"{\"a\": \"\\ud83d\\u0041\"}", ERR_TEXT, 7, 6, "half"},
	{"{\"a\": nan}", ERR_TEXT, 6, 3, "not JSON"},
	{"{\"a\": 01}", ERR_TEXT, 6, 2, "not JSON"},
	{"{} x", ERR_TEXT, 3, 1, "after the end"},
	{"{}}", ERR_TEXT, 2, 1, "after the end"},
	{"{\"a\": \"\xFF\"}", ERR_TEXT, 7, 1, "UTF-8"},
	{"{\"a\": \"\\u0000\"}", ERR_TEXT, 7, 6, "u0000"},
	{"[1, 2]", ERR_TEXT, 0, 6, "object"},
	{"\xEF\xBB\xBF[1]", ERR_TEXT, 3, 3, "object"},
	{"\"a\"", ERR_TEXT, 0, 3, "object"},
};

START_TEST(syntax_faults_have_their_place)
{
	struct err err = read_err(faults[_i].text, strlen(faults[_i].text));

	ck_assert_msg(err.code == faults[_i].code, "%s: %s", faults[_i].text, err.message);
	ck_assert(err.placed);
	ck_assert_msg(err.at == faults[_i].at && err.length == faults[_i].length,
		      "%s: at %zu, length %zu", faults[_i].text, err.at, err.length);
	ck_assert_msg(strstr(err.message, faults[_i].words) != NULL, "%s: %s", faults[_i].text,
		      err.message);
}
END_TEST

START_TEST(nul_bytes_are_faults_and_not_ends)
{
	static const char *const texts[] = {"{\"a\":1,\0", "{\"a\":1\0}", "{\"a\0\":1}", "\0{}"};
	static const size_t sizes[] = {8, 8, 8, 3};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		ck_assert_int_eq(read_err(texts[i], sizes[i]).code, ERR_TEXT);
}
END_TEST

START_TEST(nesting_without_end_is_refused)
{
	char text[10001];

	memset(text, '[', sizeof(text) - 1);
	memcpy(text, "{\"a\":", 5);
	ck_assert_int_eq(read_err(text, sizeof(text) - 1).code, ERR_TEXT);
}
END_TEST

/* The text has every word, kind of number, escape and character that a cut can fall into. */
START_TEST(every_beginning_of_a_text_ends_early)
{
	static const char text[] =
		"{ \"a\" : [ true , false,null,-0.5e+10,1E-3,12, 0.25 "
		"],\t\"\\u00e9\\n\\ud83d\\ude00"
		"\xC3\xA9\xE5\x8F\xB3\xF0\x9F\x98\x80\": {\"x\": {}, \"y\": \"\\\\\\\"\"}\r\n}";

	ck_assert_int_eq(read_err(text, sizeof(text) - 1).code, ERR_NONE);
	for (size_t size = 1; size < sizeof(text) - 1; size++) {
		struct err err = read_err(text, size);

		ck_assert_msg(err.code == ERR_EARLY, "%zu: %s", size, err.message);
		ck_assert_uint_eq(err.at, size);
	}
}
END_TEST

START_TEST(any_bytes_are_read_or_refused)
{
	static const char alphabet[] = "{}[]\":,\\u0tfn1-+.e \n\xC3\xA9\xFF\0ab";
	char text[24];

	srand((unsigned)_i);
	for (int round = 0; round < 20000; round++) {
		size_t size = (size_t)rand() % sizeof(text);
		struct err err;

		for (size_t i = 0; i < size; i++)
			text[i] = alphabet[(size_t)rand() % (sizeof(alphabet) - 1)];
		err = read_err(text, size);
		ck_assert(err.code == ERR_NONE || err.message[0]);
		ck_assert_uint_le(err.at + err.length, size + (size == 0));
	}
}
END_TEST

/* ---- beside another reader ---- */

static bool is_same(json_t *other, const struct token *t);

static bool are_same(json_t *other, const struct token *list)
{
	bool object = list->type == TOKEN_OBJECT;
	size_t i = 0;

	for (const struct token *t = token_first(list); t; t = token_next(list, t), i++)
		if (!is_same(object ? json_object_get(other, token_name(t))
				    : json_array_get(other, i),
			     t))
			return false;
	return i == (object ? json_object_size(other) : json_array_size(other));
}

static bool is_same(json_t *other, const struct token *t)
{
	static const json_type types[] = {JSON_OBJECT, JSON_ARRAY, JSON_STRING, JSON_REAL,
					  JSON_TRUE,   JSON_FALSE, JSON_NULL};

	if (!other || json_typeof(other) != types[t->type])
		return false;
	if (t->type == TOKEN_NUMBER)
		return f64_same(json_real_value(other), token_number(t, NAN));
	if (t->type == TOKEN_STRING)
		return strcmp(json_string_value(other), t->text) == 0;
	return t->type > TOKEN_LIST || are_same(other, t);
}

static void assert_read_alike(const char *text, size_t size)
{
	const size_t flags = JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL;
	json_t *other = json_loadb(text, size, flags, NULL);
	struct err err = {0};
	struct doc d;
	bool fine = doc_read(&d, (struct bytes){(const uint8_t *)text, size}, &err);

	ck_assert_msg(fine == json_is_object(other), "%.*s: %s", (int)size, text, err.message);
	ck_assert_msg(!fine || is_same(other, d.root), "%.*s", (int)size, text);
	doc_release(&d);
	json_decref(other);
}

static size_t put_in(char *text, size_t size, size_t at, const char *piece)
{
	size_t more = strlen(piece);

	memmove(text + at + more, text + at, size - at);
	memcpy(text + at, piece, more);
	return size + more;
}

START_TEST(mutated_texts_are_read_as_jansson_reads_them)
{
	static const char own[] =
		"{\"\\u00e9\": [true, -0.5e+10, \"\\n\\ud83d\\ude00\xC3\xA9\", {}], "
		"\"x\": {\"frame\": 0, \"value\": [1.25, null]}}";
	static const char *const pieces[] = {
		"1e999", "-0", "1e-400",     "123456789012345678901234567890",
		"{}",    "[]", "\"x\": 1, ", "4.9e-324",
		",",     "\"", "\\ud83d",    "1.7976931348623159e308",
		"]",     "}",  "\xF0\x9F",   "0.1",
	};

	srand((unsigned)_i + 1);
	for (int round = 0; round < 10000; round++) {
		size_t size = sizeof(own) - 1;
		char text[512];

		memcpy(text, own, size);
		for (int change = 0; change < 1 + rand() % 4; change++) {
			size_t at = (size_t)rand() % size;

			if (rand() % 2)
				size = put_in(text, size, at,
					      pieces[(size_t)rand() % ARRAY_SIZE(pieces)]);
			else
				text[at] = own[(size_t)rand() % (sizeof(own) - 1)];
		}
		assert_read_alike(text, size);
	}
}
END_TEST

/* ---- places ---- */

static const char tree_text[] = " {\"a\": [1, {\"b, c\": \"]}\\\"\"}, [ ] , -2.5],\n"
				" \"\\u0064\": {\"a\": true, \"e\\\\\": null} }";

static void assert_place(const struct spot *s, const char *wanted)
{
	size_t length, at = spot_place(s, &length);

	ck_assert_uint_eq(length, strlen(wanted));
	ck_assert_mem_eq(tree_text + at, wanted, length);
}

static struct spot element(const struct spot *list, size_t index)
{
	struct spot s = spot_first(list);

	while (s.index < index)
		spot_next(&s);
	return s;
}

START_TEST(values_are_found_in_the_text)
{
	struct err err = {0};
	struct doc d;
	struct spot root, a, one, b, d_object;

	ck_assert(doc_read(&d, bytes_of(tree_text), &err));
	root = spot_root(&d);
	a = spot_member(&root, "a");
	one = element(&a, 1);
	b = spot_member(&one, "b, c");
	d_object = spot_member(&root, "d");
	assert_place(&b, "\"]}\\\"\"");
	b = element(&a, 2);
	assert_place(&b, "[ ]");
	b = element(&a, 3);
	assert_place(&b, "-2.5");
	b = spot_member(&d_object, "a");
	assert_place(&b, "true");
	b = spot_member(&d_object, "e\\");
	assert_place(&b, "null");
	doc_release(&d);
}
END_TEST

START_TEST(elements_come_one_after_the_other)
{
	static const char *const wanted[] = {"1", "{\"b, c\": \"]}\\\"\"}", "[ ]", "-2.5"};
	struct err err = {0};
	struct doc d;
	struct spot root, a, s;
	size_t count = 0;

	ck_assert(doc_read(&d, bytes_of(tree_text), &err));
	root = spot_root(&d);
	a = spot_member(&root, "a");
	for (s = spot_first(&a); s.value; spot_next(&s))
		assert_place(&s, wanted[count++]);
	ck_assert_uint_eq(count, 4);
	a = element(&a, 2);
	ck_assert_ptr_null(spot_first(&a).value);
	doc_release(&d);
}
END_TEST

/* ---- values ---- */

/* Reads {"x": TEXT} as a float32. */
static struct err parse_f32(const char *text, float *out)
{
	struct err err = {0};
	struct spot root, x;
	struct doc d;
	char *whole;

	ck_assert_int_ge(asprintf(&whole, "{\"x\": %s}", text), 0);
	ck_assert(doc_read(&d, bytes_of(whole), &err));
	root = spot_root(&d);
	x = spot_member(&root, "x");
	ck_assert(spot_f32(&x, &err, out) == (err.code == ERR_NONE));
	doc_release(&d);
	free(whole);
	return err;
}

static void assert_f32(const char *text, float wanted)
{
	float got = 0;

	ck_assert_int_eq(parse_f32(text, &got).code, ERR_NONE);
	ck_assert_msg(f32_bits(got) == f32_bits(wanted), "%s: %a, not %a", text, (double)got,
		      (double)wanted);
}

/* A decimal just beside the middle of two float32 would be rounded to the middle as a double. */
START_TEST(float32_are_rounded_once)
{
	assert_f32("0.1", 0.1f);
	assert_f32("-0", -0.0f);
	assert_f32("1.00000005960464477539062500", 1.0f); /* the middle itself is rounded to even */
	assert_f32("1.000000059604644775390625000001", 0x1.000002p0f);
	assert_f32("1.000000059604644775390624999999", 1.0f);
	assert_f32("-1.000000059604644775390625000001", -0x1.000002p0f);
	assert_f32("1.000000178813934326171874999999", 0x1.000002p0f);
	assert_f32("1.000000178813934326171875", 0x1.000004p0f);
	assert_f32("340282356779733661637539395458142568447", 0x1.fffffep127f);
	assert_f32("340282356779733661637539395458142568447.9999", 0x1.fffffep127f);
	assert_f32("7.006492321624085354618e-46", 0);
	assert_f32("7.006492321624085354619e-46", 0x1p-149f);
}
END_TEST

START_TEST(what_is_no_float32_is_refused)
{
	float got;

	ck_assert_int_eq(parse_f32("1e39", &got).code, ERR_STORE);
	ck_assert_int_eq(parse_f32("340282356779733661637539395458142568448", &got).code,
			 ERR_STORE);
	ck_assert_int_eq(parse_f32("\"1\"", &got).code, ERR_TEXT);
	ck_assert_int_eq(parse_f32("null", &got).code, ERR_TEXT);
}
END_TEST

START_TEST(whole_numbers_may_have_a_point)
{
	struct err err = {0};
	struct spot root, s;
	struct doc d;
	int64_t got = 0;

	ck_assert(doc_read(&d, bytes_of("{\"a\": 5.0, \"b\": 5.5, \"c\": -1, \"d\": 1e3}"), &err));
	root = spot_root(&d);
	s = spot_member(&root, "a");
	ck_assert(spot_integer(&s, 0, 9, &err, &got));
	ck_assert_int_eq(got, 5);
	s = spot_member(&root, "d");
	ck_assert(spot_integer(&s, 0, 1000, &err, &got));
	ck_assert_int_eq(got, 1000);
	s = spot_member(&root, "b");
	ck_assert(!spot_integer(&s, 0, 9, &err, &got));
	ck_assert_uint_eq(err.at, 16);
	err_clear(&err);
	s = spot_member(&root, "c");
	ck_assert(!spot_integer(&s, 0, 9, &err, &got));
	ck_assert_str_eq(err.accepted, "a whole number from 0 to 9");
	err_clear(&err);
	s = spot_member(&root, "none");
	ck_assert(!spot_integer(&s, 0, 9, &err, &got));
	ck_assert_str_eq(err.message, "\"none\" is missing");
	doc_release(&d);
}
END_TEST

/* ---- unchanged ---- */

static struct err compare(const char *served_text, const char *text)
{
	static const char *const editable[] = {"free", NULL};
	struct buf own = BUF_INIT;
	struct err err = {0};
	struct doc d, served;
	struct spot root;

	buf_text(&own, served_text);
	ck_assert(doc_served(&served, &own, &err));
	ck_assert(doc_read(&d, bytes_of(text), &err));
	root = spot_root(&d);
	ck_assert(spot_unchanged(&root, served.root, editable, &err) == (err.code == ERR_NONE));
	doc_release(&d);
	doc_release(&served);
	buf_release(&own);
	return err;
}

START_TEST(what_was_served_is_unchanged_however_it_is_written)
{
	static const char served[] = "{\"a\": [0.1, null, {\"b\": \"\xC3\xA9\"}], \"c\": 0, "
				     "\"free\": 1}";

	ck_assert_int_eq(compare(served, served).code, ERR_NONE);
	ck_assert_int_eq(compare(served, "{}").code, ERR_NONE);
	ck_assert_int_eq(compare(served, "{\"c\": -0.0, \"a\": [1.00000000000000001e-1, null, "
					 "{\"b\": \"\\u00e9\"}]}")
				 .code,
			 ERR_NONE);
	ck_assert_int_eq(compare(served, "{\"a\": [0.1, null, {}], \"free\": [2]}").code, ERR_NONE);
}
END_TEST

static const struct {
	const char *text;
	size_t at;
	const char *words;
} differences[] = {
	{"{\"x\": 1}", 1, "\"x\""},
	{"{\"a\": 1, \"free\": 1}", 6, "\"a\" cannot be changed"},
	{"{\"a\": [1]}", 6, "\"a\""},
	{"{\"a\": [1, 3]}", 10, "\"a\""},
	{"{\"a\": [1, null]}", 10, "\"a\""},
	{"{\"b\": {\"c\": \"y\"}}", 12, "\"c\""},
	{"{\"b\": {\"d\": 1}}", 7, "\"d\""},
	{"{\"b\": null}", 6, "\"b\""},
};

START_TEST(differences_are_named)
{
	struct err err = compare("{\"a\": [1, 2], \"b\": {\"c\": \"x\"}, \"free\": 0}",
				 differences[_i].text);

	ck_assert_int_eq(err.code, ERR_TEXT);
	ck_assert_uint_eq(err.at, differences[_i].at);
	ck_assert_msg(strstr(err.message, differences[_i].words) != NULL, "%s", err.message);
}
END_TEST

/* ---- memory ---- */

#define USUAL ((size_t)1 << 30)

/* Makes a text that needs much memory: each of the small values is a token. */
static struct buf many(const char *value, int count)
{
	struct buf out = BUF_INIT;

	buf_text(&out, "{\"a\": [0");
	for (int i = 0; i < count; i++) {
		buf_char(&out, ',');
		buf_text(&out, value);
	}
	buf_text(&out, "]}");
	return out;
}

static void assert_limited(struct buf text)
{
	struct err err = {0};
	struct doc d;

	ck_assert(!doc_read(&d, buf_bytes(&text), &err));
	ck_assert_int_eq(err.code, ERR_TEXT);
	ck_assert_ptr_nonnull(strstr(err.message, "--max-text"));
	doc_release(&d);
}

START_TEST(values_beyond_the_limit_are_refused)
{
	static const char *const values[] = {"{}", "[]", "1.5", "\"a\"", "{\"a\":[{\"b\":[]}]}"};
	struct buf text = many(values[_i], 10000);
	struct err err = {0};
	struct doc d;

	json_limit(text.size);
	assert_limited(text);
	json_limit(40 * text.size);
	ck_assert(doc_read(&d, buf_bytes(&text), &err));
	ck_assert_uint_eq(token_count(token_member(d.root, "a")), 10001);
	json_limit(USUAL);
	doc_release(&d);
	buf_release(&text);
}
END_TEST

START_TEST(one_string_or_number_has_the_same_limit)
{
	struct buf text = BUF_INIT;
	bool string = _i == 0;

	buf_text(&text, string ? "{\"a\": \"" : "{\"a\": 1.");
	for (int i = 0; i < 100000; i++)
		buf_char(&text, '0');
	buf_text(&text, string ? "\"}" : "}");
	json_limit(50000);
	assert_limited(text);
	json_limit(USUAL);
	buf_release(&text);
}
END_TEST

START_TEST(deep_nesting_is_refused)
{
	struct buf text = BUF_INIT;
	struct err err = {0};
	struct doc d;

	buf_text(&text, "{\"a\": ");
	for (int i = 0; i < 1000000; i++)
		buf_char(&text, '[');
	ck_assert(!doc_read(&d, buf_bytes(&text), &err));
	ck_assert_str_eq(err.message, "nested too deeply");
	doc_release(&d);
	buf_release(&text);
}
END_TEST

/* Few member names are compared pairwise; many are sorted. */
START_TEST(a_name_that_is_there_twice_is_found_among_many)
{
	static const int counts[] = {3, 16, 17, 18, 1000};

	for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
		struct buf text = BUF_INIT;
		size_t last = 0;
		struct err err;

		for (int k = 0; k < counts[i]; k++) {
			buf_text(&text, k ? ", " : "\n\n{");
			last = text.size;
			buf_format(&text, "\"%d\": {}", k * 7919 % counts[i]);
		}
		buf_char(&text, '}');
		err = read_err((const char *)text.data, text.size);
		ck_assert_msg(err.code == ERR_NONE, "%s", err.message);
		/* The last member gets the name of the first, 0. */
		text.size = last;
		buf_text(&text, "\"\\u0030\": 1}");
		err = read_err((const char *)text.data, text.size);
		ck_assert_str_eq(err.message,
				 "this member is given twice, first in line 3, column 2");
		ck_assert_uint_eq(err.at, last);
		ck_assert_uint_eq(err.length, 8);
		buf_release(&text);
	}
}
END_TEST

START_TEST(texts_in_utf16_are_read)
{
	static const char little[] = "\xFF\xFE{\0\"\0a\0\"\0:\0\"\0\x3D\xD8\x00\xDE\xE9\0\"\0}\0";
	struct buf big = BUF_INIT;
	struct err err = {0};
	struct doc d;

	for (size_t i = 0; i < sizeof(little) - 1; i += 2) {
		buf_char(&big, little[i + 1]);
		buf_char(&big, little[i]);
	}
	for (int form = 0; form < 2; form++) {
		struct bytes text = {(const uint8_t *)little, sizeof(little) - 1};

		ck_assert(doc_read(&d, form ? buf_bytes(&big) : text, &err));
		ck_assert_str_eq(token_text(token_member(d.root, "a")), "\xF0\x9F\x98\x80\xC3\xA9");
		doc_release(&d);
	}
	for (size_t size = 3; size < big.size; size++)
		ck_assert_int_eq(read_err((const char *)big.data, size).code, ERR_EARLY);
	ck_assert_int_eq(read_err("\xFF\xFE", 2).code, ERR_EMPTY);
	buf_release(&big);
}
END_TEST

Suite *json_suite(void);

Suite *json_suite(void)
{
	Suite *s = suite_create("json");
	TCase *t = tcase_create("json");

	suite_add_tcase(s, t);
	tcase_add_test(t, names_are_quoted_and_escaped);
	tcase_add_test(t, lone_surrogates_become_replacement_characters);
	tcase_add_test(t, numbers_that_are_not_finite_are_null);
	tcase_add_loop_test(t, syntax_faults_have_their_place, 0, (int)ARRAY_SIZE(faults));
	tcase_add_test(t, nul_bytes_are_faults_and_not_ends);
	tcase_add_test(t, nesting_without_end_is_refused);
	tcase_add_test(t, every_beginning_of_a_text_ends_early);
	tcase_add_loop_test(t, any_bytes_are_read_or_refused, 0, 4);
	tcase_add_loop_test(t, mutated_texts_are_read_as_jansson_reads_them, 0, 4);
	tcase_add_test(t, values_are_found_in_the_text);
	tcase_add_test(t, elements_come_one_after_the_other);
	tcase_add_test(t, float32_are_rounded_once);
	tcase_add_test(t, what_is_no_float32_is_refused);
	tcase_add_test(t, whole_numbers_may_have_a_point);
	tcase_add_test(t, what_was_served_is_unchanged_however_it_is_written);
	tcase_add_loop_test(t, values_beyond_the_limit_are_refused, 0, 5);
	tcase_add_loop_test(t, one_string_or_number_has_the_same_limit, 0, 2);
	tcase_add_test(t, deep_nesting_is_refused);
	tcase_add_test(t, a_name_that_is_there_twice_is_found_among_many);
	tcase_add_test(t, texts_in_utf16_are_read);
	tcase_add_loop_test(t, differences_are_named, 0, (int)ARRAY_SIZE(differences));
	return s;
}
