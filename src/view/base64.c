/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base64.h"

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static void write_group(struct base64 *b)
{
	const uint8_t *h = b->rest;
	const char group[4] = {
		letters[h[0] >> 2],
		letters[(h[0] & 3) << 4 | h[1] >> 4],
		b->count > 1 ? letters[(h[1] & 15) << 2 | h[2] >> 6] : '=',
		b->count > 2 ? letters[h[2] & 63] : '=',
	};

	buf_add(b->out, group, sizeof(group));
	b->count = 0;
}

void base64_add(struct base64 *b, const void *data, size_t size)
{
	const uint8_t *from = data;

	for (size_t i = 0; i < size; i++) {
		b->rest[b->count++] = from[i];
		if (b->count == 3)
			write_group(b);
	}
}

void base64_end(struct base64 *b)
{
	if (b->count == 0)
		return;
	for (unsigned i = b->count; i < 3; i++)
		b->rest[i] = 0;
	write_group(b);
}

/* Returns the value of a base64 digit, 0 to 63, or -1 for any other character. */
static int letter_bits(uint8_t c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	return c == '+' ? 62 : c == '/' ? 63 : -1;
}

bool base64_read(struct bytes text, uint8_t *out, size_t *size)
{
	uint32_t bits = 0;
	unsigned count = 0;

	*size = 0;
	for (unsigned padding = 0; padding < 2 && text.size > 0; padding++)
		text.size -= text.data[text.size - 1] == '=';
	for (size_t i = 0; i < text.size; i++) {
		int letter = letter_bits(text.data[i]);

		if (letter < 0)
			return false;
		bits = bits << 6 | (uint32_t)letter;
		count += 6;
		if (count < 8)
			continue;
		count -= 8;
		out[(*size)++] = (uint8_t)(bits >> count);
	}
	return count < 6;
}
