/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "own_digest.h"

#include "util/utf8.h"

#include <stdio.h>
#include <xxhash.h>

#define LINE_FORMAT "<!-- animfs generated, digest %016llx%016llx -->\n"
#define LINE_SIZE 67

static void make_line(struct bytes text, char line[LINE_SIZE + 1])
{
	XXH128_hash_t hash = XXH3_128bits(text.data, text.size);

	snprintf(line, LINE_SIZE + 1, LINE_FORMAT, (unsigned long long)hash.high64,
		 (unsigned long long)hash.low64);
}

void own_digest_add(struct buf *out)
{
	char line[LINE_SIZE + 1];

	if (out->failed)
		return;
	make_line(buf_bytes(out), line);
	buf_add(out, line, LINE_SIZE);
}

bool own_digest_valid(struct bytes text)
{
	char line[LINE_SIZE + 1];

	if (text.size < LINE_SIZE)
		return false;
	text.size -= LINE_SIZE;
	make_line(text, line);
	return memcmp(text.data + text.size, line, LINE_SIZE) == 0;
}

/* Appends the text as animfs wrote it: without a byte order mark, each line ended by LF. */
static void add_as_written(struct bytes text, struct buf *out)
{
	const uint8_t *p = text.data + utf8_mark(text), *end = text.data + text.size;

	while (end > p && (end[-1] == '\n' || end[-1] == '\r'))
		end--;
	while (p < end) {
		const uint8_t *cr = memchr(p, '\r', (size_t)(end - p));
		const uint8_t *stop = cr ? cr : end;

		buf_add(out, p, (size_t)(stop - p));
		p = stop + (cr != NULL);
		/* Drop a CR only before LF; before another byte it is part of the text. */
		if (cr && *p != '\n')
			buf_char(out, '\r');
	}
	buf_char(out, '\n');
}

bool own_digest_recognized(struct bytes text)
{
	struct buf written = BUF_INIT;
	bool valid = own_digest_valid(text);

	if (valid || text.size == 0)
		return valid;
	add_as_written(text, &written);
	valid = !written.failed && own_digest_valid(buf_bytes(&written));
	buf_release(&written);
	return valid;
}
