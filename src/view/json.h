/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * json.h - what the JSON views share: writing texts and numbers, reading a text and naming the
 * place of a fault in it.
 *
 * jansson parses. It keeps no positions, so a value is known here by the way that leads to it (a
 * chain of spots, on the caller's stack), and the text is searched for that way when its place is
 * asked for.
 */
#ifndef ANIMFS_VIEW_JSON_H
#define ANIMFS_VIEW_JSON_H

#include "animfs/anim.h"
#include <jansson.h>

/* ---- writing ---- */

/* A name as a JSON string: made valid UTF-8, quoted, escaped. */
void json_write_name(struct buf *out, const char *name);
/* A stored number, or null where it is not finite: JSON has no word for that. */
void json_write_f32(struct buf *out, float v);
/* "loop": 1 */
void json_write_field(struct buf *out, const struct field *field);
/* "canm": {"loop": 1}: what the format stores and the model has no word for. */
void json_write_fields(struct buf *out, const char *format, const struct field *fields,
		       uint32_t count);
/* The first of the members or elements of a list gets no comma before it. */
void json_write_comma(struct buf *out, bool *first, const char *space);

/* ---- reading ---- */

/* A JSON text and what it says. doc_read makes it, doc_release ends it (also after a failure). */
struct doc {
	struct bytes text;
	json_t *root; /* an object */
};

/* ERR_EMPTY for no text at all, ERR_EARLY for the beginning of a JSON text, ERR_TEXT otherwise. */
bool doc_read(struct doc *d, struct bytes text, struct err *err);
void doc_release(struct doc *d);

/* A value in a doc. value is NULL where the member is not there. */
struct spot {
	const struct doc *doc;
	const struct spot *up; /* NULL: the doc's root */
	const char *member;    /* NULL: an element, number `index` */
	size_t index;
	json_t *value;
	size_t at; /* where it begins in the text; 0: not looked up yet */
};

struct spot spot_root(const struct doc *d);
struct spot spot_member(const struct spot *up, const char *member);
struct spot spot_element(const struct spot *up, size_t index);
/* The elements of a list one after the other, each with its place, until value is NULL. */
struct spot spot_first(const struct spot *list);
void spot_next(struct spot *s);

/* Byte offset and length of the value, or of the name that a member has. */
size_t spot_place(const struct spot *s, size_t *length);
size_t spot_name_place(const struct spot *s, size_t *length);

/* Refuses what stands there (where nothing does: the object that lacks it). Returns false. */
bool spot_refuse(const struct spot *s, struct err *err, enum err_code code, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
/* Has the object no members but those that the object `known` has? The error names the first. */
bool spot_known(const struct spot *s, const json_t *known, struct err *err);

/* The value as what it must be; false and err when it is something else or is not there. */
bool spot_array(const struct spot *s, struct err *err);
bool spot_object(const struct spot *s, struct err *err);
bool spot_text(const struct spot *s, struct err *err, const char **out);
bool spot_bool(const struct spot *s, struct err *err, bool *out);
/* A number; where it is stored as a float32, (float)*out is the float32 nearest to its decimal. */
bool spot_real(const struct spot *s, struct err *err, double *out);
bool spot_f32(const struct spot *s, struct err *err, float *out);
bool spot_integer(const struct spot *s, int64_t least, int64_t most, struct err *err, int64_t *out);

/* The value of a field, by its type; one that cannot be edited is refused. */
bool spot_field(const struct spot *s, struct err *err, struct field *out);

/*
 * Does the text say there what was served? Numbers count to 15 digits; a member that the text
 * leaves out is unchanged. `editable` (may be NULL, otherwise ends with NULL) names members of this
 * object that may be anything. False and err at the first difference.
 */
bool spot_unchanged(const struct spot *s, const json_t *served, const char *const *editable,
		    struct err *err);

/* One of our own texts, to compare with; NULL when out of memory. The caller json_decref's it. */
json_t *json_served(const struct buf *text, struct err *err);

#endif
