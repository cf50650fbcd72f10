/* SPDX-License-Identifier: GPL-3.0-or-later */
/* position.c - the line and column of a byte of a text. */
#include "animfs/base.h"

#include "utf8.h"

/* Does the byte at i end a line? Of CRLF only the second byte does. */
static bool position_is_line_end(struct bytes text, size_t i)
{
	if (text.data[i] == '\r')
		return i + 1 == text.size || text.data[i + 1] != '\n';
	return text.data[i] == '\n';
}

static struct position locate_utf8(struct bytes text, size_t at)
{
	struct position p = {.line = 1, .column = 1, .begin = utf8_mark(text)};
	size_t i;

	if (at > text.size)
		at = text.size;
	for (i = 0; i < at; i++) {
		if (!position_is_line_end(text, i))
			continue;
		p.line++;
		p.begin = i + 1;
	}
	for (i = p.begin; i < at; i++)
		p.column += (text.data[i] & 0xC0) != 0x80;
	p.end = p.begin;
	while (p.end < text.size && text.data[p.end] != '\n' && text.data[p.end] != '\r')
		p.end++;
	return p;
}

struct position err_locate(struct bytes text, size_t at)
{
	struct buf decoded = BUF_INIT;
	struct position p = locate_utf8(utf8_text(text, &decoded), at);

	buf_release(&decoded);
	return p;
}
