/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "pack.h"

#include <limits.h>
#include <zlib.h>
#include <zstd.h>

static const struct {
	const char *name, *suffix;
} packings[] = {
	[PACKING_NONE] = {"none", ""},
	[PACKING_GZIP] = {"gzip", ".gz"},
	[PACKING_ZSTD] = {"zstd", ".zst"},
};

bool packing_parse(enum packing *p, const char *value, struct err *err)
{
	for (unsigned i = 0; i < ARRAY_SIZE(packings); i++) {
		if (strcmp(value, packings[i].name) != 0)
			continue;
		*p = (enum packing)i;
		return true;
	}
	return err_set(err, ERR_TEXT, "\"%s\" is no compression; gzip, zstd or none is wanted",
		       value);
}

const char *packing_suffix(enum packing p)
{
	return packings[p].suffix;
}

#define GZIP_HEADER 16 /* added to windowBits, makes deflateInit2 write a gzip header */

/* A text is at most TEXT_MAX long, which zlib's counts can hold. */
static bool pack_gzip(struct bytes text, struct buf *out)
{
	z_stream z = {.next_in = (Bytef *)text.data, .avail_in = (uInt)text.size};
	bool fine;

	if (text.size > UINT_MAX / 2 ||
	    deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + GZIP_HEADER,
			 MAX_MEM_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK)
		return false;
	fine = buf_reserve(out, deflateBound(&z, text.size));
	if (fine) {
		z.next_out = out->data;
		z.avail_out = (uInt)out->capacity;
		fine = deflate(&z, Z_FINISH) == Z_STREAM_END;
		out->size = z.total_out;
	}
	deflateEnd(&z);
	return fine;
}

static bool pack_zstd(struct bytes text, struct buf *out)
{
	size_t size;

	if (!buf_reserve(out, ZSTD_compressBound(text.size)))
		return false;
	size = ZSTD_compress(out->data, out->capacity, text.data, text.size, ZSTD_CLEVEL_DEFAULT);
	if (ZSTD_isError(size))
		return false;
	out->size = size;
	return true;
}

bool pack_text(enum packing p, struct bytes text, struct buf *out)
{
	switch (p) {
	case PACKING_GZIP:
		return pack_gzip(text, out);
	case PACKING_ZSTD:
		return pack_zstd(text, out);
	case PACKING_NONE:
		break;
	}
	buf_add(out, text.data, text.size);
	return !out->failed;
}
