/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "text/json.h"

#include "text/num.h"
#include "util/composed.h"
#include "util/string_map.h"
#include "util/utf8.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 2048 /* nesting limit: comparison recurses */
#define PAIRS_MAX 16   /* up to this many members are compared pairwise */

static atomic_size_t limit_of_all = (size_t)1 << 30;

void json_limit(size_t bytes)
{
	limit_of_all = bytes;
}

/* ---- reading tokens ---- */

enum want {
	WANT_VALUE,
	WANT_ELEMENT, /* the first element of a list, or "]" */
	WANT_NAME,
	WANT_MEMBER, /* the first member of an object, or "}" */
	WANT_COLON,
	WANT_COMMA, /* a comma, or the bracket that closes the list or object */
	WANT_END,
};

struct lexer {
	struct doc *doc;
	char *p, *end; /* position in doc->copy and its end, where a NUL is */
	enum want want;
	size_t room, limit;
	unsigned depth;
	uint32_t open[DEPTH_MAX]; /* the open lists and objects */
	struct err *err;
};

static bool json_refuse_early(struct lexer *l)
{
	err_at(l->err, ERR_EARLY, l->doc->text.size, 0, "the text ends before its JSON does");
	return err_accept(l->err, "the whole text, closed by \"}\"");
}

static bool refuse_at(struct lexer *l, const char *at, size_t length, const char *message)
{
	return err_at(l->err, ERR_TEXT, (size_t)(at - l->doc->copy), length, "%s", message);
}

static bool is_closing(const struct lexer *l, char c)
{
	const struct token *in = l->depth ? &l->doc->tokens[l->open[l->depth - 1]] : NULL;

	return (c == '}' && token_is(in, TOKEN_OBJECT) &&
		(l->want == WANT_COMMA || l->want == WANT_MEMBER)) ||
	       (c == ']' && token_is(in, TOKEN_LIST) &&
		(l->want == WANT_COMMA || l->want == WANT_ELEMENT));
}

static const char *wanted_words(const struct lexer *l)
{
	switch (l->want) {
	case WANT_NAME:
		return "a name in double quotes; no comma stands before a closing bracket";
	case WANT_MEMBER:
		return "a name in double quotes, or \"}\"";
	case WANT_COLON:
		return "\":\" and the value of the member";
	case WANT_COMMA:
		return is_closing(l, '}') ? "a comma or \"}\"" : "a comma or \"]\"";
	case WANT_END:
		return "nothing more";
	default:
		return "a value: a number such as 0.5, a text in double quotes, true, false, null, "
		       "a list or an object";
	}
}

/* Returns the length of the unexpected string, word, number or character at p. */
static size_t stray_length(const struct lexer *l)
{
	static const char digits[] = "0123456789.-+eE";
	const char *p = l->p;
	size_t length;

	if (*p == '"') {
		for (p++; p < l->end && *p != '"' && *p != '\n'; p++)
			p += *p == '\\' && p + 1 < l->end;
		return (size_t)(p - l->p) + (*p == '"');
	}
	length = strspn(p, digits);
	while (!length && (p[0] | 0x20) >= 'a' && (p[0] | 0x20) <= 'z')
		p++;
	length += (size_t)(p - l->p);
	return length ? length : utf8_length((const uint8_t *)p, (size_t)(l->end - p));
}

/* Refuses the token at p, which is not one of those expected. */
static bool refuse_token(struct lexer *l)
{
	const uint8_t *p = (const uint8_t *)l->p;
	size_t left = (size_t)(l->end - l->p);

	if (left == 0 || utf8_is_cut(p, left))
		return json_refuse_early(l);
	if (utf8_length(p, left) == 0)
		return refuse_at(l, l->p, 1, "this is not UTF-8");
	refuse_at(l, l->p, stray_length(l),
		  l->want == WANT_END ? "there is more after the end of the JSON"
				      : "this is not JSON");
	return err_accept(l->err, "%s", wanted_words(l));
}

static bool refuse_limit(struct lexer *l)
{
	return err_at(l->err, ERR_TEXT, 0, 0,
		      "the values of this JSON take more memory than --max-text allows");
}

static bool add_token(struct lexer *l, enum token_type type, const char *text, size_t length)
{
	struct doc *d = l->doc;
	struct token *tokens;

	if (d->count == l->room && (d->count > UINT32_MAX / 2 ||
				    l->room > (l->limit - d->text.size) / sizeof(*tokens) / 2))
		return refuse_limit(l);
	tokens = array_room(d->tokens, d->count, &l->room, sizeof(*tokens));
	if (!tokens)
		return err_memory(l->err);
	d->tokens = tokens;
	tokens[d->count++] = (struct token){text, length, 1, type};
	return true;
}

static void end_value(struct lexer *l)
{
	l->want = l->depth ? WANT_COMMA : WANT_END;
}

/* ---- strings ---- */

static int json_hex_digit(char c)
{
	return c >= '0' && c <= '9'                     ? c - '0'
	       : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10
							: -1;
}

/* Reads \uXXXX at p. False if it is malformed or cut off. */
static bool read_unit(struct lexer *l, const char *p, uint32_t *unit)
{
	*unit = 0;
	for (int i = 0; i < 6; i++) {
		int digit = i < 2 ? 0 : json_hex_digit(p[i]);

		if (p + i == l->end)
			return json_refuse_early(l);
		if (digit < 0 || (i < 2 && p[i] != "\\u"[i]))
			return refuse_at(l, p, (size_t)i + 1, "this is no escape that JSON has");
		*unit = *unit << 4 | (uint32_t)digit;
	}
	return true;
}

static bool read_unicode(struct lexer *l, char **from, char **to)
{
	uint32_t unit, low = 0;
	const char *p = *from;

	if (!read_unit(l, p, &unit))
		return false;
	if (unit == 0)
		return refuse_at(l, p, 6, "\\u0000 has no place in a text");
	*from += 6;
	if ((unit & 0xfc00) == 0xd800) {
		if (*from == l->end || (**from == '\\' && !read_unit(l, *from, &low)))
			return json_refuse_early(l);
		*from += 6;
	}
	if ((unit & 0xf800) == 0xd800 && (low & 0xfc00) != 0xdc00)
		return refuse_at(l, p, 6, "this is half of a character");
	if (low)
		unit = 0x10000 + ((unit & 0x3ff) << 10 | (low & 0x3ff));
	*to += utf8_encode(unit, (uint8_t *)*to);
	return true;
}

static bool read_escape(struct lexer *l, char **from, char **to)
{
	static const char letters[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
	const char *letter;

	if (*from + 1 == l->end)
		return json_refuse_early(l);
	if ((*from)[1] == 'u')
		return read_unicode(l, from, to);
	letter = strchr(letters, (*from)[1]);
	if (!letter) {
		refuse_at(l, *from, 2, "this is no escape that JSON has");
		return err_accept(l->err, "\"\\\\\\\\\" for a backslash");
	}
	*(*to)++ = meanings[letter - letters];
	*from += 2;
	return true;
}

/* Copies a character that is not ASCII. */
static bool read_foreign(struct lexer *l, char **from, char **to)
{
	size_t left = (size_t)(l->end - *from);
	size_t length = utf8_length((const uint8_t *)*from, left);

	if (length == 0 && utf8_is_cut((const uint8_t *)*from, left))
		return json_refuse_early(l);
	if (length == 0)
		return refuse_at(l, *from, 1, "this is not UTF-8");
	memmove(*to, *from, length);
	*from += length;
	*to += length;
	return true;
}

static bool refuse_control(struct lexer *l, const char *at)
{
	refuse_at(l, at, 1, "a control character stands in a text");
	return err_accept(l->err, "its escape, such as \\n, or the closing quote before it");
}

/* Decodes a string in place. */
static bool read_string(struct lexer *l)
{
	char *quote = l->p, *from = quote + 1, *to = from;

	while (*from != '"') {
		bool fine = true;

		if (from == l->end)
			return json_refuse_early(l);
		if (*from == '\\')
			fine = read_escape(l, &from, &to);
		else if ((uint8_t)*from >= 0x80)
			fine = read_foreign(l, &from, &to);
		else if ((uint8_t)*from < 0x20)
			fine = refuse_control(l, from);
		else
			*to++ = *from++;
		if (!fine)
			return false;
	}
	*to = '\0';
	l->p = from + 1;
	return add_token(l, TOKEN_STRING, quote + 1, (size_t)(l->p - quote));
}

/* ---- numbers and words ---- */

static const char *skip_digits(const char *p)
{
	while (*p >= '0' && *p <= '9')
		p++;
	return p;
}

/* Returns the end of the number at `begin`; NULL if there is no number. The text may be cut off. */
static const char *number_end(const char *begin)
{
	const char *p = begin + (*begin == '-'), *digits = p;

	p = skip_digits(p);
	if (p == digits || (*digits == '0' && p > digits + 1))
		return NULL;
	if (*p == '.') {
		digits = p + 1;
		p = skip_digits(digits);
		if (p == digits)
			return NULL;
	}
	if (*p == 'e' || *p == 'E') {
		digits = p + 1 + (p[1] == '-' || p[1] == '+');
		p = skip_digits(digits);
		if (p == digits)
			return NULL;
	}
	return p;
}

#define SURELY_FINITE                                                                              \
	300 /* a number of at most this many characters and without exponent is finite: below      \
	       1e308 */

/* Could the text have been cut off in the middle of a number? */
static bool is_cut_number(const struct lexer *l)
{
	bool cut;

	*l->end = '0';
	cut = number_end(l->p) == l->end + 1;
	*l->end = '\0';
	return cut;
}

static bool json_read_number(struct lexer *l)
{
	const char *end = number_end(l->p);
	size_t length = (size_t)(end ? end - l->p : 0);
	double value = 0;

	if (!end)
		return is_cut_number(l) ? json_refuse_early(l) : refuse_token(l);
	if (length > SURELY_FINITE || memchr(l->p, 'e', length) || memchr(l->p, 'E', length))
		num_parse(l->p, length, '.', &value);
	if (isinf(value)) {
		refuse_at(l, l->p, length, "this number is too large");
		return err_accept(l->err, "a number from -1.7e308 to 1.7e308");
	}
	if (!add_token(l, TOKEN_NUMBER, l->p, length))
		return false;
	l->p += length;
	end_value(l);
	return true;
}

static bool read_word(struct lexer *l)
{
	static const char *const words[] = {"true", "false", "null"};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		size_t left = (size_t)(l->end - l->p), length = strlen(words[i]);

		if (strncmp(l->p, words[i], length) == 0) {
			if (!add_token(l, TOKEN_TRUE + (enum token_type)i, l->p, length))
				return false;
			l->p += length;
			end_value(l);
			return true;
		}
		if (left < length && strncmp(l->p, words[i], left) == 0)
			return json_refuse_early(l);
	}
	return refuse_token(l);
}

/* ---- lists and objects ---- */

static bool open_list(struct lexer *l)
{
	bool object = *l->p == '{';

	if (l->depth == DEPTH_MAX)
		return refuse_at(l, l->p, 1, "nested too deeply");
	l->open[l->depth++] = l->doc->count;
	l->want = object ? WANT_MEMBER : WANT_ELEMENT;
	return add_token(l, object ? TOKEN_OBJECT : TOKEN_LIST, l->p++, 1);
}

/* Refuses a name that an earlier member, number `first`, has already. */
static bool json_refuse_twice(struct lexer *l, const struct token *object, size_t first,
			      const struct token *name)
{
	const struct token *t = token_first(object);
	struct position place;

	for (; first; first--)
		t = token_next(object, t);
	place = err_locate(l->doc->text, (size_t)(t[-1].text - 1 - l->doc->copy));
	err_at(l->err, ERR_TEXT, (size_t)(name->text - 1 - l->doc->copy), name->length,
	       "this member is given twice, first in line %zu, column %zu", place.line,
	       place.column);
	return err_accept(l->err, "each member once");
}

/* Checks for duplicates in an object with many members. */
static bool check_hashed(struct lexer *l, const struct token *object)
{
	struct string_map names = {.slots = NULL};
	bool fine = true;
	uint32_t i = 0;

	for (const struct token *t = token_first(object); fine && t; t = token_next(object, t)) {
		int64_t first = string_map_add(&names, token_name(t), i);

		fine = first == i++ ||
		       (first < 0 ? err_memory(l->err)
				  : json_refuse_twice(l, object, (size_t)first, t - 1));
	}
	string_map_release(&names);
	return fine;
}

static bool json_check_names(struct lexer *l, const struct token *object)
{
	const struct token *names[PAIRS_MAX];
	size_t count = 0;

	for (const struct token *t = token_first(object); t; t = token_next(object, t)) {
		if (count == PAIRS_MAX)
			return check_hashed(l, object);
		for (size_t i = 0; i < count; i++)
			if (strcmp(names[i]->text, token_name(t)) == 0)
				return json_refuse_twice(l, object, i, t - 1);
		names[count++] = t - 1;
	}
	return true;
}

static bool close_list(struct lexer *l)
{
	struct token *list = &l->doc->tokens[l->open[--l->depth]];

	l->p++;
	list->span = l->doc->count - l->open[l->depth];
	list->length = (size_t)(l->p - list->text);
	end_value(l);
	return list->type == TOKEN_LIST || json_check_names(l, list);
}

/* ---- the whole text ---- */

static bool json_read_value(struct lexer *l)
{
	switch (*l->p) {
	case '{':
	case '[':
		return open_list(l);
	case '"':
		if (!read_string(l))
			return false;
		end_value(l);
		return true;
	case '-':
	case '0' ... '9':
		return json_read_number(l);
	default:
		return read_word(l);
	}
}

static bool read_token(struct lexer *l)
{
	char c = *l->p;

	if (is_closing(l, c))
		return close_list(l);
	if (l->want == WANT_VALUE || l->want == WANT_ELEMENT)
		return json_read_value(l);
	if (c == '"' && (l->want == WANT_NAME || l->want == WANT_MEMBER)) {
		l->want = WANT_COLON;
		return read_string(l);
	}
	if (c == ':' && l->want == WANT_COLON) {
		l->want = WANT_VALUE;
	} else if (c == ',' && l->want == WANT_COMMA) {
		bool object = l->doc->tokens[l->open[l->depth - 1]].type == TOKEN_OBJECT;

		l->want = object ? WANT_NAME : WANT_VALUE;
	} else {
		return refuse_token(l);
	}
	l->p++;
	return true;
}

static bool read_tokens(struct lexer *l)
{
	for (;;) {
		while (*l->p == ' ' || *l->p == '\n' || *l->p == '\t' || *l->p == '\r')
			l->p++;
		if (l->p == l->end)
			return l->want == WANT_END || json_refuse_early(l);
		if (!read_token(l))
			return false;
	}
}

static bool read_doc(struct doc *d, struct bytes text, struct err *err)
{
	struct lexer l = {.doc = d, .limit = limit_of_all, .err = err};
	const uint8_t *nul;

	d->text = utf8_text(text, &d->decoded);
	if (d->decoded.failed)
		return err_memory(err);
	if (d->text.size == utf8_mark(d->text)) {
		err_at(err, ERR_EMPTY, 0, 0, "the text is empty");
		return err_accept(err, "the whole text, from \"{\" to \"}\"");
	}
	nul = memchr(d->text.data, '\0', d->text.size);
	if (nul)
		return err_at(err, ERR_TEXT, (size_t)(nul - d->text.data), 1,
			      "a NUL byte has no place in JSON");
	if (d->text.size >= l.limit)
		return refuse_limit(&l);
	d->copy = malloc(d->text.size + 2);
	if (!d->copy)
		return err_memory(err);
	memcpy(d->copy, d->text.data, d->text.size);
	l.p = d->copy + utf8_mark(d->text);
	l.end = d->copy + d->text.size;
	memset(l.end, '\0', 2);
	return read_tokens(&l);
}

bool doc_read(struct doc *d, struct bytes text, struct err *err)
{
	struct spot root;

	*d = (struct doc){.decoded = BUF_INIT};
	if (!read_doc(d, text, err))
		return false;
	d->root = d->tokens;
	root = spot_root(d);
	return root.value->type == TOKEN_OBJECT ||
	       spot_refuse(&root, err, ERR_TEXT, "the text must be one object, in braces");
}

bool doc_served(struct doc *d, const struct buf *text, struct err *err)
{
	*d = (struct doc){.decoded = BUF_INIT};
	return (!text->failed && doc_read(d, buf_bytes(text), NULL)) || err_memory(err);
}

void doc_release(struct doc *d)
{
	free(d->tokens);
	free(d->copy);
	buf_release(&d->decoded);
	*d = (struct doc){.decoded = BUF_INIT};
}

/* ---- tokens ---- */

const struct token *token_first(const struct token *list)
{
	if (!list || list->type > TOKEN_LIST || list->span == 1)
		return NULL;
	return list + (list->type == TOKEN_OBJECT ? 2 : 1);
}

const struct token *token_next(const struct token *list, const struct token *t)
{
	t += t->span;
	return t == list + list->span ? NULL : t + (list->type == TOKEN_OBJECT);
}

size_t token_count(const struct token *list)
{
	size_t count = 0;

	for (const struct token *t = token_first(list); t; t = token_next(list, t))
		count++;
	return count;
}

const struct token *token_member(const struct token *object, const char *name)
{
	if (!token_is(object, TOKEN_OBJECT))
		return NULL;
	for (const struct token *t = token_first(object); t; t = token_next(object, t))
		if (strcmp(token_name(t), name) == 0)
			return t;
	return NULL;
}

const char *token_text(const struct token *t)
{
	return token_is(t, TOKEN_STRING) ? t->text : NULL;
}

double token_number(const struct token *t, double otherwise)
{
	if (token_is(t, TOKEN_NUMBER))
		num_parse(t->text, t->length, '.', &otherwise);
	return otherwise;
}

bool token_is_integer(const struct token *t)
{
	return token_is(t, TOKEN_NUMBER) && !memchr(t->text, '.', t->length) &&
	       !memchr(t->text, 'e', t->length) && !memchr(t->text, 'E', t->length);
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
		.value = token_member(up->value, member),
	};
}

struct spot spot_first(const struct spot *list)
{
	bool is_list = token_is(list->value, TOKEN_LIST);

	return (struct spot){
		.doc = list->doc, .up = list, .value = is_list ? token_first(list->value) : NULL};
}

void spot_next(struct spot *s)
{
	s->index++;
	s->value = token_next(s->up->value, s->value);
}

static size_t json_place_of(const struct doc *d, const struct token *t, size_t *length)
{
	*length = t ? t->length : 0;
	if (!t)
		return 0;
	return (size_t)(t->text - d->copy) - (t->type == TOKEN_STRING);
}

size_t spot_place(const struct spot *s, size_t *length)
{
	return json_place_of(s->doc, s->value, length);
}

size_t spot_name_place(const struct spot *s, size_t *length)
{
	return json_place_of(s->doc, s->value - 1, length);
}

bool spot_refuse(const struct spot *s, struct err *err, enum err_code code, const char *format, ...)
{
	const struct spot *there = s;
	char message[sizeof(err->message)];
	size_t at, length;
	va_list args;

	if (!err || err->code != ERR_NONE)
		return false;
	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	while (!there->value && there->up)
		there = there->up;
	at = spot_place(there, &length);
	return err_at(err, code, at, length, "%s", message);
}

/* The last step of the path to a value, for messages. */
static const char *spot_name(const struct spot *s)
{
	while (s->up && !s->member)
		s = s->up;
	return s->member ? s->member : "the text";
}

static bool refuse_type(const struct spot *s, struct err *err, const char *wanted)
{
	if (s->value)
		return spot_refuse(s, err, ERR_TEXT, "\"%s\" must be %s", spot_name(s), wanted);
	return spot_refuse(s, err, ERR_TEXT, "\"%s\" is missing", spot_name(s));
}

bool spot_array(const struct spot *s, struct err *err)
{
	return token_is(s->value, TOKEN_LIST) || refuse_type(s, err, "a list, in square brackets");
}

bool spot_object(const struct spot *s, struct err *err)
{
	return token_is(s->value, TOKEN_OBJECT) || refuse_type(s, err, "an object, in braces");
}

bool spot_text(const struct spot *s, struct err *err, const char **out)
{
	if (!token_is(s->value, TOKEN_STRING))
		return refuse_type(s, err, "a text, in double quotes");
	*out = s->value->text;
	return true;
}

bool spot_bool(const struct spot *s, struct err *err, bool *out)
{
	*out = token_is(s->value, TOKEN_TRUE);
	return *out || token_is(s->value, TOKEN_FALSE) || refuse_type(s, err, "true or false");
}

bool spot_real(const struct spot *s, struct err *err, double *out)
{
	if (!token_is(s->value, TOKEN_NUMBER))
		return refuse_type(s, err, "a number");
	return num_parse_value(s->value->text, s->value->length, '.', out);
}

bool spot_f32(const struct spot *s, struct err *err, float *out)
{
	double real = 0;

	if (!spot_real(s, err, &real))
		return false;
	*out = (float)real;
	return isfinite(*out) ||
	       spot_refuse(s, err, ERR_STORE, "\"%s\" is too large for a float32", spot_name(s));
}

bool spot_integer(const struct spot *s, int64_t least, int64_t most, struct err *err, int64_t *out)
{
	double real = token_number(s->value, NAN);

	if (!token_is(s->value, TOKEN_NUMBER))
		return refuse_type(s, err, "a whole number");
	if (real != floor(real) || real < (double)least || real > (double)most) {
		spot_refuse(s, err, ERR_TEXT, "\"%s\" cannot be %.15g", spot_name(s), real);
		return err_accept(err, "a whole number from %lld to %lld", (long long)least,
				  (long long)most);
	}
	*out = (int64_t)real;
	return true;
}

/* ---- allowed members, and served values ---- */

static bool json_is_listed(const char *const *names, const char *name)
{
	for (; names && *names; names++)
		if (strcmp(*names, name) == 0)
			return true;
	return false;
}

static bool refuse_unknown(const struct spot *s, const char *const *names,
			   const struct token *served, struct err *err)
{
	struct buf list = BUF_INIT;
	size_t length, at = spot_name_place(s, &length);

	if (!err || err->code != ERR_NONE)
		return false;
	err_at(err, ERR_TEXT, at, length, "there is no member \"%s\" here", s->member);
	for (; names && !served && *names; names++)
		buf_format(&list, "%s%s", list.size ? ", " : "", *names);
	for (const struct token *t = token_first(served); t; t = token_next(served, t))
		buf_format(&list, "%s%s", list.size ? ", " : "", token_name(t));
	buf_char(&list, '\0');
	if (!list.failed)
		err_accept(err, "%s", (const char *)list.data);
	buf_release(&list);
	return false;
}

static struct spot spot_of(const struct spot *object, const struct token *value)
{
	return (struct spot){object->doc, object, token_name(value), 0, value};
}

bool spot_known(const struct spot *s, const char *const *names, const struct token *served,
		struct err *err)
{
	for (const struct token *t = token_first(s->value); t; t = token_next(s->value, t)) {
		struct spot member = spot_of(s, t);

		if (!json_is_listed(names, member.member) && !token_member(served, member.member))
			return refuse_unknown(&member, names, served, err);
	}
	return true;
}

static bool object_unchanged(const struct spot *s, const struct token *served,
			     const char *const *editable, struct err *err)
{
	if (!spot_known(s, editable, served, err))
		return false;
	for (const struct token *t = token_first(s->value); t; t = token_next(s->value, t)) {
		struct spot member = spot_of(s, t);

		if (!json_is_listed(editable, member.member) &&
		    !spot_unchanged(&member, token_member(served, member.member), NULL, err))
			return false;
	}
	return true;
}

static bool list_unchanged(const struct spot *s, const struct token *served, struct err *err)
{
	const struct token *was = token_first(served);

	for (struct spot e = spot_first(s); e.value; spot_next(&e)) {
		if (!spot_unchanged(&e, was, NULL, err))
			return false;
		was = token_next(served, was);
	}
	return true;
}

/* Accepts only the served value. */
static bool accept_served(struct err *err, const struct token *served)
{
	if (token_is(served, TOKEN_STRING))
		return err_accept(err, "\"%s\", as it was, or the member left out", served->text);
	if (token_is(served, TOKEN_NUMBER))
		return err_accept(err, "%.15g, as it was, or the member left out",
				  token_number(served, 0));
	return err_accept(err, "the old value, or the member left out");
}

/* Compares two scalar values. */
static bool value_unchanged(const struct token *value, const struct token *served)
{
	if (!value || !served || value->type != served->type)
		return false;
	if (value->type == TOKEN_NUMBER)
		return num_same15(token_number(value, 0), token_number(served, 0));
	return value->type > TOKEN_NUMBER ||
	       (value->type == TOKEN_STRING && composed_same(value->text, served->text));
}

bool spot_unchanged(const struct spot *s, const struct token *served, const char *const *editable,
		    struct err *err)
{
	if (token_is(s->value, TOKEN_OBJECT) && token_is(served, TOKEN_OBJECT))
		return object_unchanged(s, served, editable, err);
	if (token_is(s->value, TOKEN_LIST) && token_is(served, TOKEN_LIST) &&
	    token_count(s->value) == token_count(served))
		return list_unchanged(s, served, err);
	if (value_unchanged(s->value, served))
		return true;
	spot_refuse(s, err, ERR_TEXT, "\"%s\" cannot be changed here", spot_name(s));
	return accept_served(err, served);
}
