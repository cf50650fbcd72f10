/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "own_digest.h"

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
