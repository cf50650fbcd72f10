/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * json.h - reads JSON (RFC 8259, without extensions) into tokens with positions.
 *
 * A document is one array of tokens in the order of the text; a list or object is followed by its
 * content, and a member's name by its value. Strings are decoded in the document's own copy of the
 * text. There is nothing else to free, and memory is bounded (json_limit).
 *
 *	struct doc d;
 *	if (doc_read(&d, text, &err)) {
 *		struct spot root = spot_root(&d), loop = spot_member(&root, "loop");
 *		...
 *	}
 *	doc_release(&d);
 *
 * A token is a value of the text. A spot is a token, or a missing one, with the path to it for
 * messages.
 */
#ifndef ANIMFS_TEXT_JSON_H
#define ANIMFS_TEXT_JSON_H

#include "animfs/base.h"

enum token_type {
	TOKEN_OBJECT,
	TOKEN_LIST,
	TOKEN_STRING,
	TOKEN_NUMBER,
	TOKEN_TRUE,
	TOKEN_FALSE,
	TOKEN_NULL
};

struct token {
	const char
		*text; /* value of a string: decoded, NUL-terminated; of other tokens: as written */
	size_t length; /* length of the token in the document, with quotes and brackets */
	uint32_t span; /* number of tokens that belong to this one: itself and everything inside */
	enum token_type type;
};

/* ---- documents ---- */

struct doc {
	struct bytes text;        /* UTF-8; byte offsets of errors count in it */
	const struct token *root; /* root of the document; NULL: not read */

	/* fields below are private to json.c */
	struct token *tokens;
	uint32_t count;
	char *copy;         /* copy of the text in which strings are decoded */
	struct buf decoded; /* the text converted to UTF-8, if it was UTF-16 */
};

/*
 * The text must be an object and outlive the doc, unless it is UTF-16. ERR_EMPTY for no text at
 * all, ERR_EARLY for the beginning of a JSON text, ERR_TEXT otherwise. Call doc_release in either
 * case.
 */
bool doc_read(struct doc *d, struct bytes text, struct err *err);
/* Reads one of our own texts; fails only when out of memory. */
bool doc_served(struct doc *d, const struct buf *text, struct err *err);
void doc_release(struct doc *d);

/* Sets the limit on bytes that a document may take; 1 GiB at first. */
void json_limit(size_t bytes);

/* ---- tokens; NULL, which no token is of any type, may be given everywhere ---- */

static inline bool token_is(const struct token *t, enum token_type type)
{
	return t && t->type == type;
}

/* Iterates over the elements of a list, or the values of an object's members; NULL at the end. */
const struct token *token_first(const struct token *list);
const struct token *token_next(const struct token *list, const struct token *t);
/* Returns the name of the member that has this value. */
static inline const char *token_name(const struct token *value)
{
	return value[-1].text;
}

size_t token_count(const struct token *list);
/* Returns the value of a member; NULL if the object lacks the member. */
const struct token *token_member(const struct token *object, const char *name);
const char *token_text(const struct token *t);
double token_number(const struct token *t, double otherwise);
/* Is the token a number without a point or an exponent? */
bool token_is_integer(const struct token *t);

/* ---- spots ---- */

struct spot {
	const struct doc *doc;
	const struct spot
		*up; /* the list or object that contains the spot; NULL: the spot is the root */
	const char *
		member; /* name of the member; NULL: the spot is element number `index` of a list */
	size_t index;
	const struct token
		*value; /* token of the spot; NULL: the text lacks this member or element */
};

struct spot spot_root(const struct doc *d);
struct spot spot_member(const struct spot *up, const char *member);
/* Iterates over the elements of a list, until value is NULL. */
struct spot spot_first(const struct spot *list);
void spot_next(struct spot *s);

/*
 * Returns the byte offset of the value or, in spot_name_place, of its name; *length gets the
 * length.
 */
size_t spot_place(const struct spot *s, size_t *length);
size_t spot_name_place(const struct spot *s, size_t *length);

/* Refuses the value (or, if it does not exist, the object without it). Returns false. */
bool spot_refuse(const struct spot *s, struct err *err, enum err_code code, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
/*
 * Does the object have only members from `names` (ends with NULL) and from `served`? Either may be
 * NULL. The error names the first unknown member.
 */
bool spot_known(const struct spot *s, const char *const *names, const struct token *served,
		struct err *err);

/*
 * Read the value as the type in the function's name; false and err if it has another type or does
 * not exist.
 */
bool spot_array(const struct spot *s, struct err *err);
bool spot_object(const struct spot *s, struct err *err);
bool spot_text(const struct spot *s, struct err *err, const char **out);
bool spot_bool(const struct spot *s, struct err *err, bool *out);
/*
 * Reads a number; if it is to be stored as a float32, (float)*out is the float32 nearest to its
 * decimal.
 */
bool spot_real(const struct spot *s, struct err *err, double *out);
bool spot_f32(const struct spot *s, struct err *err, float *out);
bool spot_integer(const struct spot *s, int64_t least, int64_t most, struct err *err, int64_t *out);

/*
 * Does the value equal the served one? Numbers are compared to 15 digits; a member that the text
 * leaves out is unchanged. `editable` (may be NULL, otherwise ends with NULL) names members of this
 * object that may have any value. False and err at the first difference.
 */
bool spot_unchanged(const struct spot *s, const struct token *served, const char *const *editable,
		    struct err *err);

#endif
