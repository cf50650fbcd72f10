/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "json_load.h"

#include "view/json.h"
#include <check.h>
#include <stdlib.h>

#define USUAL ((size_t)1 << 30)

/* Small texts that take much: each of their values is a table of its own. */
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
	struct json_fault fault;
	struct err err = {0};
	struct doc d;

	ck_assert_ptr_null(json_load_bytes(buf_bytes(&text), 0, &fault));
	ck_assert_int_eq(fault.why, JSON_LIMIT);
	ck_assert(!doc_read(&d, buf_bytes(&text), &err));
	ck_assert_int_eq(err.code, ERR_TEXT);
	ck_assert_ptr_nonnull(strstr(err.message, "--max-text"));
	doc_release(&d);
}

START_TEST(values_beyond_the_limit_are_refused)
{
	static const char *const values[] = {"{}", "[]", "1.5", "\"a\"", "{\"a\":[{\"b\":[]}]}"};
	struct buf text = many(values[_i], 10000);
	struct json_fault fault;
	json_t *value;

	json_load_limit(text.size);
	assert_limited(text);
	json_load_limit(200 * text.size);
	value = json_load_bytes(buf_bytes(&text), 0, &fault);
	ck_assert_uint_eq(json_array_size(json_object_get(value, "a")), 10001);
	json_load_limit(USUAL);
	json_decref(value);
	buf_release(&text);
}
END_TEST

/* What a load has freed again does not count, nor what other values hold. */
START_TEST(only_what_is_held_counts)
{
	struct json_fault fault;
	json_t *values[100];

	json_load_limit(2000);
	for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
		values[i] = json_load_bytes(bytes_of("{\"a\": [1, 2, 3]}"), 0, &fault);
		ck_assert_ptr_nonnull(values[i]);
		ck_assert_ptr_null(json_load_bytes(bytes_of("{\"a\": [1, 2, 3"), 0, &fault));
		ck_assert_int_eq(fault.why, JSON_MALFORMED);
	}
	json_load_limit(USUAL);
	for (size_t i = 0; i < ARRAY_SIZE(values); i++)
		json_decref(values[i]);
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
	json_load_limit(50000);
	assert_limited(text);
	json_load_limit(USUAL);
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

/* A table that no text was loaded for (view/curves_csv.c) is freed after one was. */
START_TEST(values_made_before_the_first_load_are_freed_after_it)
{
	static const uint8_t text[] = "{\"a\": 1}";
	json_t *made = json_object(), *loaded;
	struct json_fault fault;

	json_object_set_new(made, "key", json_integer(1));
	loaded = json_load_bytes((struct bytes){text, sizeof(text) - 1}, 0, &fault);
	ck_assert_ptr_nonnull(loaded);
	json_decref(made);
	json_decref(loaded);
}
END_TEST

Suite *json_load_suite(void);

Suite *json_load_suite(void)
{
	Suite *s = suite_create("json_load");
	TCase *t = tcase_create("json_load");

	tcase_add_loop_test(t, values_beyond_the_limit_are_refused, 0, 5);
	tcase_add_test(t, only_what_is_held_counts);
	tcase_add_loop_test(t, one_string_or_number_has_the_same_limit, 0, 2);
	tcase_add_test(t, deep_nesting_is_refused);
	tcase_add_test(t, values_made_before_the_first_load_are_freed_after_it);
	suite_add_tcase(s, t);
	return s;
}
