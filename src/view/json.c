/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "json.h"
#include "text/utf.h"

#include "text/num.h"

#include <math.h>

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

	utf8_printable(name, &printable);
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
	else if (field->type == FIELD_TEXT)
		json_write_name(out, field->text);
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

bool json_read_field(const struct spot *s, struct err *err, struct field *out)
{
	bool yes = false;
	float real = 0;

	if (!out->editable)
		return spot_refuse(s, err, ERR_TEXT, "\"%s\" cannot be changed here", s->member);
	if (out->type == FIELD_INT)
		return spot_integer(s, INT32_MIN, INT32_MAX, err, &out->integer);
	if (out->type == FIELD_BOOL ? !spot_bool(s, err, &yes) : !spot_f32(s, err, &real))
		return false;
	out->integer = yes;
	out->real = (double)real;
	return true;
}
