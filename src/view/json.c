/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "json.h"

#include "json_load.h"
#include "names.h"
#include "num.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define READ_FLAGS (JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL)

/* ---- writing ---- */

static void write_escaped(struct buf *out, uint8_t c)
{
	if (c == '"' || c == '\\')
		buf_format(out, "\\%c", c);
	else if (c < 0x20)
		buf_format(out, "\\u%04x", c);
	else
		buf_char(out, (char)c);
}

void json_write_name(struct buf *out, const char *name)
{
	struct buf printable = BUF_INIT;

	name_printable(name, &printable);
	buf_char(out, '"');
	for (size_t i = 0; i < printable.size; i++)
		write_escaped(out, printable.data[i]);
	buf_char(out, '"');
	out->failed |= printable.failed;
	buf_release(&printable);
}

void json_write_f32(struct buf *out, float v)
{
	if (isfinite(v))
		buf_f32_text(out, v);
	else
		buf_text(out, "null");
}

void json_write_field(struct buf *out, const struct field *field)
{
	buf_format(out, "\"%s\": ", field->name);
	if (field->type == FIELD_REAL)
		json_write_f32(out, (float)field->real);
	else if (field->type == FIELD_BOOL)
		buf_text(out, field->integer ? "true" : "false");
	else
		buf_format(out, "%lld", (long long)field->integer);
}

void json_write_fields(struct buf *out, const char *format, const struct field *fields,
		       uint32_t count)
{
	bool first = true;

	buf_format(out, "\"%s\": {", format);
	for (uint32_t i = 0; i < count; i++) {
		json_write_comma(out, &first, i > 0 ? " " : "");
		json_write_field(out, &fields[i]);
	}
	buf_char(out, '}');
}

void json_write_comma(struct buf *out, bool *first, const char *space)
{
	if (!*first)
		buf_char(out, ',');
	buf_text(out, space);
	*first = false;
}

/* ---- places in a text that is known to be JSON ---- */

static size_t skip_space(struct bytes t, size_t at)
{
	while (at < t.size && memchr(" \t\r\n", t.data[at], 4))
		at++;
	return at;
}

static size_t skip_string(struct bytes t, size_t at)
{
	for (at++; at < t.size && t.data[at] != '"'; at++)
		at += t.data[at] == '\\';
	return at + 1;
}

static size_t skip_value(struct bytes t, size_t at)
{
	unsigned depth = 0;

	do {
		uint8_t c = t.data[at];

		if (c == '{' || c == '[')
			depth++;
		else if (c == '}' || c == ']')
			depth--;
		at = c == '"' ? skip_string(t, at) : at + 1;
	} while (at < t.size && (depth > 0 || !memchr(",:]} \t\r\n", t.data[at], 8)));
	return at;
}

static bool key_is(struct bytes t, size_t at, size_t end, const char *name)
{
	const char *text = (const char *)t.data + at;
	size_t size = end - at, length = strlen(name);
	bool same = size == length + 2 && memcmp(text + 1, name, length) == 0;
	struct json_fault fault;
	json_t *key = NULL;

	if (!same && memchr(text, '\\', size))
		key = json_load_bytes((struct bytes){t.data + at, size}, JSON_DECODE_ANY, &fault);
	if (key)
		same = strcmp(json_string_value(key), name) == 0;
	json_decref(key);
	return same;
}

/* The member or element `s` of what begins at `at`: where its value begins, and its name. */
static size_t find_child(struct bytes t, size_t at, const struct spot *s, size_t *name)
{
	for (size_t i = 0; at < t.size; i++) {
		size_t value = skip_space(t, at + 1); /* behind the bracket or comma */
		bool found = i == s->index;

		*name = value;
		if (value >= t.size)
			break;
		if (s->member) {
			size_t end = skip_value(t, value);

			found = key_is(t, value, end, s->member);
			value = skip_space(t, skip_space(t, end) + 1);
		}
		if (found || value >= t.size)
			return value;
		at = skip_space(t, skip_value(t, value));
	}
	return at; /* only where memory ran out while names were compared */
}

/* An UTF-8 byte order mark, which some editors put in front. */
static size_t mark_size(struct bytes t)
{
	return t.size >= 3 && memcmp(t.data, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
}

static size_t locate(const struct spot *s, size_t *name)
{
	struct bytes t = s->doc->text;

	if (s->at > 0)
		return s->at;
	if (!s->up)
		return skip_space(t, mark_size(t));
	return find_child(t, locate(s->up, name), s, name);
}

static size_t length_at(struct bytes t, size_t at)
{
	return at < t.size ? skip_value(t, at) - at : 0;
}

size_t spot_place(const struct spot *s, size_t *length)
{
	size_t name, at = locate(s, &name);

	*length = length_at(s->doc->text, at);
	return at;
}

size_t spot_name_place(const struct spot *s, size_t *length)
{
	size_t name = 0;

	locate(s, &name);
	*length = length_at(s->doc->text, name);
	return name;
}

/* ---- reading ---- */

static bool ends_in_cut_number(const char *p, size_t n)
{
	char last = n > 0 ? p[n - 1] : '\0', before = n > 1 ? p[n - 2] : '\0';

	if (last == '-' || last == '+')
		return last == '-' || before == 'e' || before == 'E';
	return (last == '.' || last == 'e' || last == 'E') && before >= '0' && before <= '9';
}

static bool ends_in_cut_word(const char *p, size_t n)
{
	static const char *const words[] = {"true", "false", "null"};
	size_t run = 0;

	while (run < n && run < 5 && p[n - 1 - run] >= 'a' && p[n - 1 - run] <= 'z')
		run++;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (run > 0 && run < strlen(words[i]) && memcmp(p + n - run, words[i], run) == 0)
			return true;
	return false;
}

static bool ends_in_cut_escape(const char *p, size_t n)
{
	size_t digits = 0;

	while (digits < n && digits < 3 && strchr("0123456789abcdefABCDEF", p[n - 1 - digits]))
		digits++;
	n -= digits;
	if (n > 0 && p[n - 1] == 'u')
		return n > 1 && p[n - 2] == '\\';
	return digits == 0 && n > 0 && p[n - 1] == '\\';
}

static bool is_cut_character(const uint8_t *p, size_t n)
{
	size_t whole = p[0] >= 0xF0 ? 4 : p[0] >= 0xE0 ? 3 : 2;

	if (p[0] < 0xC2 || p[0] > 0xF4 || n >= whole)
		return false;
	for (size_t i = 1; i < n; i++)
		if ((p[i] & 0xC0) != 0x80)
			return false;
	return true;
}

/* jansson stopped at `at`: would more text have helped? It calls a cut word or number a bad one. */
static bool ends_early(struct bytes t, size_t at, enum json_error_code code)
{
	const char *p = (const char *)t.data;

	if (code == json_error_invalid_utf8)
		return at < t.size && is_cut_character(t.data + at, t.size - at);
	if (at < t.size)
		return false;
	if (code == json_error_invalid_syntax)
		return ends_in_cut_number(p, at) || ends_in_cut_word(p, at) ||
		       ends_in_cut_escape(p, at);
	return code == json_error_premature_end_of_input;
}

/* Where the token that ends at `end` begins. */
static size_t token_begin(struct bytes t, size_t end)
{
	size_t at = end > 0 ? end - 1 : 0;

	if (end > 1 && t.data[at] == '"') {
		do {
			at--;
		} while (at > 0 && (t.data[at] != '"' || t.data[at - 1] == '\\'));
		return at;
	}
	while (at > 0 && (t.data[at] | 0x20) >= 'a' && (t.data[at] | 0x20) <= 'z' &&
	       (t.data[at - 1] | 0x20) >= 'a' && (t.data[at - 1] | 0x20) <= 'z')
		at--;
	return at;
}

static const char *fault_words(enum json_error_code code)
{
	switch (code) {
	case json_error_invalid_utf8:
		return "this is not UTF-8";
	case json_error_end_of_input_expected:
		return "there is more after the end of the JSON";
	case json_error_duplicate_key:
		return "this member is given twice";
	case json_error_numeric_overflow:
		return "this number is too large";
	case json_error_stack_overflow:
		return "nested too deeply";
	case json_error_null_character:
	case json_error_null_byte_in_key:
		return "\\u0000 has no place in a name";
	default:
		return "this is not JSON";
	}
}

/* The text without its mark, which is `mark` bytes. */
static bool refuse_load(struct bytes t, size_t mark, const struct json_fault *fault,
			struct err *err)
{
	enum json_error_code code = json_error_code(&fault->syntax);
	size_t begin, at = mark + (size_t)fault->syntax.position;

	if (fault->why == JSON_MEMORY)
		return err_memory(err);
	if (fault->why == JSON_LIMIT)
		return err_at(err, ERR_TEXT, 0, 0,
			      "the values of this JSON take more memory than --max-text allows");
	if (ends_early(t, at, code)) {
		err_at(err, ERR_EARLY, t.size, 0, "the text ends before its JSON does");
		return err_accept(err, "the whole text, closed by \"}\"");
	}
	begin = code == json_error_invalid_utf8 ? at : token_begin(t, at);
	err_at(err, ERR_TEXT, begin, at > begin ? at - begin : 1, "%s", fault_words(code));
	return err_accept(err,
			  "JSON: names in double quotes, a comma between two members or values "
			  "and none before a closing bracket");
}

bool doc_read(struct doc *d, struct bytes text, struct err *err)
{
	size_t mark = mark_size(text);
	struct json_fault fault;
	const uint8_t *nul;

	*d = (struct doc){.text = text};
	if (text.size == mark) {
		err_at(err, ERR_EMPTY, 0, 0, "the text is empty");
		return err_accept(err, "the whole text, from \"{\" to \"}\"");
	}
	nul = memchr(text.data, '\0', text.size);
	if (nul) /* jansson passes over one behind a number or word */
		return err_at(err, ERR_TEXT, (size_t)(nul - text.data), 1,
			      "a NUL byte has no place in JSON");
	d->root = json_load_bytes((struct bytes){text.data + mark, text.size - mark}, READ_FLAGS,
				  &fault);
	if (!d->root)
		return refuse_load(text, mark, &fault, err);
	if (!json_is_object(d->root)) {
		struct spot root = spot_root(d);

		return spot_refuse(&root, err, ERR_TEXT, "the text must be one object, in braces");
	}
	return true;
}

void doc_release(struct doc *d)
{
	json_decref(d->root);
	d->root = NULL;
}

json_t *json_served(const struct buf *text, struct err *err)
{
	struct json_fault fault;
	json_t *served = NULL;

	if (!text->failed)
		served = json_load_bytes(buf_bytes(text), READ_FLAGS, &fault);
	if (!served)
		err_memory(err);
	return served;
}

/* ---- spots ---- */

struct spot spot_root(const struct doc *d)
{
	return (struct spot){.doc = d, .value = d->root};
}

struct spot spot_member(const struct spot *up, const char *member)
{
	return (struct spot){
		.doc = up->doc,
		.up = up,
		.member = member,
		.value = json_object_get(up->value, member),
	};
}

struct spot spot_element(const struct spot *up, size_t index)
{
	return (struct spot){
		.doc = up->doc,
		.up = up,
		.index = index,
		.value = json_array_get(up->value, index),
	};
}

struct spot spot_first(const struct spot *list)
{
	struct spot s = spot_element(list, 0);
	size_t name;

	if (s.value)
		s.at = locate(&s, &name);
	return s;
}

void spot_next(struct spot *s)
{
	struct bytes t = s->doc->text;

	s->index++;
	s->value = json_array_get(s->up->value, s->index);
	if (s->value)
		s->at = skip_space(t, skip_space(t, skip_value(t, s->at)) + 1);
}

bool spot_refuse(const struct spot *s, struct err *err, enum err_code code, const char *format, ...)
{
	const struct spot *there = s->value || !s->up ? s : s->up;
	char message[sizeof(err->message)];
	size_t at, length;
	va_list args;

	if (!err || err->code != ERR_NONE)
		return false;
	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	at = spot_place(there, &length);
	return err_at(err, code, at, length, "%s", message);
}

static bool refuse_unknown(const struct spot *s, const json_t *known, struct err *err)
{
	struct buf names = BUF_INIT;
	size_t at, length;
	const char *key;
	json_t *value;
	bool first = true;

	if (!err || err->code != ERR_NONE)
		return false;
	at = spot_name_place(s, &length);
	err_at(err, ERR_TEXT, at, length, "there is no member \"%s\" here", s->member);
	json_object_foreach((json_t *)(uintptr_t)known, key, value)
	{
		json_write_comma(&names, &first, first ? "" : " ");
		buf_text(&names, key);
	}
	buf_char(&names, '\0');
	if (!names.failed)
		err_accept(err, "%s", (const char *)names.data);
	buf_release(&names);
	return false;
}

/* What the last step to a value is called in a message. */
static const char *spot_name(const struct spot *s)
{
	while (s->up && !s->member)
		s = s->up;
	return s->member ? s->member : "the text";
}

static bool refuse_type(const struct spot *s, struct err *err, const char *wanted)
{
	if (s->value)
		spot_refuse(s, err, ERR_TEXT, "\"%s\" must be %s", spot_name(s), wanted);
	else
		spot_refuse(s, err, ERR_TEXT, "\"%s\" is missing", spot_name(s));
	return false;
}

bool spot_array(const struct spot *s, struct err *err)
{
	return json_is_array(s->value) || refuse_type(s, err, "a list, in square brackets");
}

bool spot_object(const struct spot *s, struct err *err)
{
	return json_is_object(s->value) || refuse_type(s, err, "an object, in braces");
}

bool spot_text(const struct spot *s, struct err *err, const char **out)
{
	if (!json_is_string(s->value))
		return refuse_type(s, err, "a text, in double quotes");
	*out = json_string_value(s->value);
	return true;
}

bool spot_bool(const struct spot *s, struct err *err, bool *out)
{
	if (!json_is_boolean(s->value))
		return refuse_type(s, err, "true or false");
	*out = json_is_true(s->value);
	return true;
}

/* Exactly between two float32: which of them is nearer to the decimal is lost in the double. */
static bool is_half_way(double d)
{
	float near = (float)d;
	float other = nextafterf(near, d > (double)near ? INFINITY : -INFINITY);

	if (isinf(near))
		return fabs(d) == 0x1.ffffffp127;
	return (double)near != d && d - (double)near == (double)other - d;
}

bool spot_real(const struct spot *s, struct err *err, double *out)
{
	size_t at, length;
	float exact;

	if (!json_is_real(s->value))
		return refuse_type(s, err, "a number");
	*out = json_real_value(s->value);
	if (!is_half_way(*out))
		return true;
	at = spot_place(s, &length);
	if (num_parse_f32((const char *)s->doc->text.data + at, length, '.', &exact) &&
	    (float)*out != exact)
		*out = nextafter(*out, (double)exact);
	return true;
}

bool spot_f32(const struct spot *s, struct err *err, float *out)
{
	double real;

	if (!spot_real(s, err, &real))
		return false;
	*out = (float)real;
	return isfinite(*out) ||
	       spot_refuse(s, err, ERR_STORE, "\"%s\" is too large for a float32", spot_name(s));
}

bool spot_integer(const struct spot *s, int64_t least, int64_t most, struct err *err, int64_t *out)
{
	double real = json_is_real(s->value) ? json_real_value(s->value) : NAN;

	if (!json_is_real(s->value))
		return refuse_type(s, err, "a whole number");
	if (real != floor(real) || real < (double)least || real > (double)most) {
		spot_refuse(s, err, ERR_TEXT, "\"%s\" cannot be %.15g", spot_name(s), real);
		return err_accept(err, "a whole number from %lld to %lld", (long long)least,
				  (long long)most);
	}
	*out = (int64_t)real;
	return true;
}

bool spot_field(const struct spot *s, struct err *err, struct field *out)
{
	bool yes = false;
	float real = 0;

	if (!out->editable)
		return spot_refuse(s, err, ERR_TEXT, "\"%s\" cannot be changed here", spot_name(s));
	if (out->type == FIELD_INT)
		return spot_integer(s, INT32_MIN, INT32_MAX, err, &out->integer);
	if (out->type == FIELD_BOOL ? !spot_bool(s, err, &yes) : !spot_f32(s, err, &real))
		return false;
	out->integer = yes;
	out->real = (double)real;
	return true;
}

static bool listed(const char *const *names, const char *name)
{
	for (; names && *names; names++)
		if (strcmp(*names, name) == 0)
			return true;
	return false;
}

bool spot_known(const struct spot *s, const json_t *known, struct err *err)
{
	const char *key;
	json_t *value;

	json_object_foreach(s->value, key, value)
	{
		struct spot member = spot_member(s, key);

		if (!json_object_get(known, key))
			return refuse_unknown(&member, known, err);
	}
	return true;
}

static bool object_unchanged(const struct spot *s, const json_t *served,
			     const char *const *editable, struct err *err)
{
	const char *key;
	json_t *value;

	if (!spot_known(s, served, err))
		return false;
	json_object_foreach(s->value, key, value)
	{
		struct spot member = spot_member(s, key);

		if (!listed(editable, key) &&
		    !spot_unchanged(&member, json_object_get(served, key), NULL, err))
			return false;
	}
	return true;
}

static bool array_unchanged(const struct spot *s, const json_t *served, struct err *err)
{
	for (size_t i = 0; i < json_array_size(served); i++) {
		struct spot element = spot_element(s, i);

		if (!spot_unchanged(&element, json_array_get(served, i), NULL, err))
			return false;
	}
	return true;
}

/* The one thing that is right: what the member says without an edit. */
static bool accept_served(struct err *err, const json_t *served)
{
	if (json_is_string(served))
		return err_accept(err, "\"%s\", as it was, or the member left out",
				  json_string_value(served));
	if (json_is_real(served))
		return err_accept(err, "%.15g, as it was, or the member left out",
				  json_real_value(served));
	return err_accept(err, "what was there before, or the member left out");
}

bool spot_unchanged(const struct spot *s, const json_t *served, const char *const *editable,
		    struct err *err)
{
	if (json_is_object(s->value) && json_is_object(served))
		return object_unchanged(s, served, editable, err);
	if (json_is_array(s->value) && json_is_array(served) &&
	    json_array_size(s->value) == json_array_size(served))
		return array_unchanged(s, served, err);
	if (json_is_real(s->value) && json_is_real(served) &&
	    num_same15(json_real_value(s->value), json_real_value(served)))
		return true;
	if (!json_is_real(served) && json_equal(s->value, served))
		return true;
	spot_refuse(s, err, ERR_TEXT, "\"%s\" cannot be changed here", spot_name(s));
	return accept_served(err, served);
}
