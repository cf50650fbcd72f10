/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base64.h"

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static void write_group(struct base64 *b)
{
	const uint8_t *h = b->held;
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
		b->held[b->count++] = from[i];
		if (b->count == 3)
			write_group(b);
	}
}

void base64_end(struct base64 *b)
{
	if (b->count == 0)
		return;
	for (unsigned i = b->count; i < 3; i++)
		b->held[i] = 0;
	write_group(b);
}
