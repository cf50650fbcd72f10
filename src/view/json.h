/* SPDX-License-Identifier: GPL-3.0-or-later */
/* json.h - shared by the JSON views: writing names, numbers and fields, and reading fields. */
#ifndef ANIMFS_VIEW_JSON_H
#define ANIMFS_VIEW_JSON_H

#include "animfs/anim.h"
#include "text/json.h"

/* Writes a name as a JSON string: made valid UTF-8, quoted, escaped. */
void json_write_name(struct buf *out, const char *name);
/* Writes a stored number; null if it is not finite, since JSON cannot express that. */
void json_write_f32(struct buf *out, float v);
/* Writes a field as a member: "loop": 1 */
void json_write_field(struct buf *out, const struct field *field);
/* Writes the fields that only this format has as one member: "canm": {"loop": 1} */
void json_write_fields(struct buf *out, const char *format, const struct field *fields,
		       uint32_t count);
/* Writes a comma unless this is the first element, and then `space`; clears *first. */
void json_write_comma(struct buf *out, bool *first, const char *space);

/* Reads the value of a field by its type; refuses a field that cannot be edited. */
bool json_read_field(const struct spot *s, struct err *err, struct field *out);

#endif
