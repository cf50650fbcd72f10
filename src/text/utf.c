/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "utf.h"

#include <string.h>

#define REPLACEMENT 0xfffdu

/* Reads the next character, or U+FFFD for a byte that is not part of a character. */
static const uint8_t *next_character(const uint8_t *p, const uint8_t *end, uint32_t *c)
{
	size_t length = utf8_decode(p, (size_t)(end - p), c);

	if (length)
		return p + length;
	*c = REPLACEMENT;
	return p + 1;
}

char *utf8_from_utf16(struct arena *arena, const uint8_t *units, size_t count)
{
	uint8_t encoded[4];
	uint32_t c;
	size_t size = 0;
	char *name, *p;

	for (size_t i = 0; i < count;) {
		i += utf16_decode(units + 2 * i, count - i, &c);
		size += utf8_encode(c, encoded);
	}
	p = name = arena_alloc(arena, size + 1, 1);
	if (!name)
		return NULL;
	for (size_t i = 0; i < count; p += size) {
		i += utf16_decode(units + 2 * i, count - i, &c);
		size = utf8_encode(c, encoded);
		memcpy(p, encoded, size);
	}
	return name;
}

void utf8_to_utf16(const char *text, struct buf *out)
{
	const uint8_t *p = (const uint8_t *)text, *end = p + strlen(text);
	uint32_t c;

	while (p < end) {
		p = next_character(p, end, &c);
		if (c >= 0x10000) {
			buf_u16(out, (uint16_t)(0xd800 + ((c - 0x10000) >> 10)));
			buf_u16(out, (uint16_t)(0xdc00 + (c & 0x3ff)));
		} else {
			buf_u16(out, (uint16_t)c);
		}
	}
}

void utf8_printable(const char *text, struct buf *out)
{
	const uint8_t *p = (const uint8_t *)text, *end = p + strlen(text);
	uint8_t encoded[4];
	uint32_t c;

	while (p < end) {
		p = next_character(p, end, &c);
		buf_add(out, encoded, utf8_encode(utf_is_surrogate(c) ? REPLACEMENT : c, encoded));
	}
}
