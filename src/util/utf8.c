/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "util/utf8.h"

#include <strings.h>

bool utf_is_surrogate(uint32_t c)
{
	return c >= 0xd800 && c <= 0xdfff;
}

size_t utf8_decode(const uint8_t *p, size_t left, uint32_t *c)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t length = p[0] < 0x80 ? 1 : p[0] < 0xc0 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;

	if (!length || length > left || p[0] >= 0xf8)
		return 0;
	*c = length == 1 ? p[0] : p[0] & (0x7fu >> length);
	for (size_t i = 1; i < length; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		*c = *c << 6 | (p[i] & 0x3f);
	}
	return *c >= least[length] && *c <= 0x10ffff ? length : 0;
}

size_t utf8_encode(uint32_t c, uint8_t out[4])
{
	size_t length = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;

	for (size_t i = length - 1; i > 0; i--, c >>= 6)
		out[i] = (uint8_t)(0x80 | (c & 0x3f));
	out[0] = (uint8_t)(length == 1 ? c : (0xf00u >> length & 0xff) | c);
	return length;
}

size_t utf8_length(const uint8_t *p, size_t left)
{
	uint32_t c = 0;
	size_t length = utf8_decode(p, left, &c);

	return c == 0 || utf_is_surrogate(c) ? 0 : length;
}

bool utf8_is_cut(const uint8_t *p, size_t left)
{
	static const uint8_t fills[] = {0x80, 0x90, 0xa0};

	/*
	 * A cut sequence is completed with each of these bytes in turn: the second byte has a range
	 * that depends on the lead byte, and later bytes may be any continuation byte.
	 */
	for (size_t i = 0; left > 0 && left < 4 && i < ARRAY_SIZE(fills); i++) {
		uint8_t whole[4] = {0x80, 0x80, 0x80, 0x80};

		whole[1] = fills[i];
		memcpy(whole, p, left);
		if (utf8_length(whole, sizeof(whole)) > left)
			return true;
	}
	return false;
}

/* Are the eight bytes at p all ASCII other than NUL? */
static bool is_plain_word(const uint8_t *p)
{
	const uint64_t ones = UINT64_C(0x0101010101010101), highs = ones << 7;
	uint64_t word;

	memcpy(&word, p, sizeof(word));
	return !((word | ((word - ones) & ~word)) & highs);
}

size_t utf8_fault(struct bytes text)
{
	size_t at = 0, length;

	while (at < text.size) {
		if (text.size - at >= 8 && is_plain_word(text.data + at)) {
			at += 8;
			continue;
		}
		length = utf8_length(text.data + at, text.size - at);
		if (length == 0)
			break;
		at += length;
	}
	return at;
}

size_t utf8_mark(struct bytes text)
{
	return text.size >= 3 && memcmp(text.data, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
}

size_t utf16_decode(const uint8_t *units, size_t left, uint32_t *c)
{
	uint32_t first = get_u16(units), second = left > 1 ? get_u16(units + 2) : 0;

	*c = first;
	if (first < 0xd800 || first > 0xdbff || second < 0xdc00 || second > 0xdfff)
		return 1;
	*c = 0x10000 + ((first - 0xd800) << 10 | (second - 0xdc00));
	return 2;
}

#define CUT UINT32_MAX

/*
 * Returns the character at *at and moves *at behind it; CUT if the text ends within the
 * character.
 */
static uint32_t get_character(struct bytes text, bool big, size_t *at)
{
	size_t left = (text.size - *at) / 2;
	uint8_t units[4] = {0};
	uint32_t c = 0;

	for (size_t i = 0; i < 2 * left && i < sizeof(units); i++)
		units[i ^ big] = text.data[*at + i];
	if (left > 0)
		*at += 2 * utf16_decode(units, left, &c);
	if (left > 1 || (left == 1 && (c & ~0x3ffu) != 0xd800))
		return c;
	*at = text.size;
	return CUT;
}

struct bytes utf8_declared(struct bytes text)
{
	static const char head[] = "<?xml", word[] = "encoding";
	const size_t length = sizeof(head) - 1;
	const uint8_t *begin, *end, *p;

	if (text.size < length || memcmp(text.data, head, length) != 0)
		return (struct bytes){NULL, 0};
	begin = text.data + length;
	end = memmem(begin, text.size - length, "?>", 2);
	p = end ? memmem(begin, (size_t)(end - begin), word, sizeof(word) - 1) : NULL;
	while (p && p < end && *p != '"' && *p != '\'')
		p++;
	if (!p || p == end)
		return (struct bytes){NULL, 0};
	begin = p + 1;
	p = memchr(begin, *p, (size_t)(end - begin));
	return p ? (struct bytes){begin, (size_t)(p - begin)} : (struct bytes){NULL, 0};
}

bool utf8_is_latin1(struct bytes encoding)
{
	return encoding.size == 10 &&
	       strncasecmp((const char *)encoding.data, "ISO-8859-1", encoding.size) == 0;
}

static struct bytes from_latin1(struct bytes text, struct buf *room)
{
	if (!buf_reserve(room, 2 * text.size))
		return (struct bytes){NULL, 0};
	for (size_t i = 0; i < text.size; i++)
		room->size += utf8_encode(text.data[i], room->data + room->size);
	return buf_bytes(room);
}

struct bytes utf8_text(struct bytes text, struct buf *room)
{
	bool little = text.size >= 2 && memcmp(text.data, "\xFF\xFE", 2) == 0;
	bool big = text.size >= 2 && memcmp(text.data, "\xFE\xFF", 2) == 0;

	if (utf8_is_latin1(utf8_declared(text)))
		return from_latin1(text, room);
	if (!little && !big)
		return text;
	if (!buf_reserve(room, text.size / 2 * 3 + 4))
		return (struct bytes){NULL, 0};
	for (size_t at = 2; at < text.size;) {
		uint32_t c = get_character(text, big, &at);
		uint8_t *out = room->data + room->size;

		out[0] = 0xf0;
		room->size += c == CUT ? 1 : utf8_encode(c, out);
	}
	return buf_bytes(room);
}
