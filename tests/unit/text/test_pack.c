/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "text/pack.h"

#include <check.h>
#include <stdlib.h>
#include <zlib.h>
#include <zstd.h>

/* Makes a text whose length is no round number, long enough for several windows. */
static struct buf make_text(size_t rows)
{
	struct buf text = BUF_INIT;

	for (size_t i = 0; i < rows; i++)
		buf_format(&text, "hips,rotation,%zu,%zu.5,0.1,0.2,0.3,\n", i, i * 7919 % 1000);
	ck_assert(!text.failed);
	return text;
}

static size_t unpack_gzip(struct bytes packed, uint8_t *out, size_t room)
{
	z_stream z = {.next_in = (Bytef *)packed.data,
		      .avail_in = (uInt)packed.size,
		      .next_out = out,
		      .avail_out = (uInt)room};

	/* 16 means: only a gzip header is accepted. */
	ck_assert_int_eq(inflateInit2(&z, MAX_WBITS + 16), Z_OK);
	ck_assert_int_eq(inflate(&z, Z_FINISH), Z_STREAM_END);
	ck_assert_uint_eq(z.avail_in, 0);
	inflateEnd(&z);
	return z.total_out;
}

static size_t unpack(enum packing p, struct bytes packed, uint8_t *out, size_t room)
{
	if (p == PACKING_GZIP)
		return unpack_gzip(packed, out, room);
	if (p == PACKING_ZSTD)
		return ZSTD_decompress(out, room, packed.data, packed.size);
	if (packed.size)
		memcpy(out, packed.data, packed.size);
	return packed.size;
}

START_TEST(what_is_packed_can_be_unpacked)
{
	const size_t rows[] = {0, 1, 1000, 20000};

	for (unsigned p = PACKING_NONE; p <= PACKING_ZSTD; p++) {
		for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
			struct buf text = make_text(rows[i]), packed = BUF_INIT, again = BUF_INIT;
			uint8_t *out = malloc(text.size + 1);

			ck_assert(pack_text((enum packing)p, buf_bytes(&text), &packed));
			ck_assert_uint_eq(
				unpack((enum packing)p, buf_bytes(&packed), out, text.size + 1),
				text.size);
			ck_assert(text.size == 0 || memcmp(out, text.data, text.size) == 0);
			ck_assert(pack_text((enum packing)p, buf_bytes(&text), &again));
			ck_assert(bytes_equal(buf_bytes(&packed), buf_bytes(&again)));
			free(out);
			buf_release(&text);
			buf_release(&packed);
			buf_release(&again);
		}
	}
}
END_TEST

START_TEST(names_are_those_of_the_programs)
{
	struct err err = {.code = ERR_NONE};
	enum packing p = PACKING_NONE;

	ck_assert(packing_parse(&p, "gzip", &err));
	ck_assert_str_eq(packing_suffix(p), ".gz");
	ck_assert(packing_parse(&p, "zstd", &err));
	ck_assert_str_eq(packing_suffix(p), ".zst");
	ck_assert(packing_parse(&p, "none", &err));
	ck_assert_str_eq(packing_suffix(p), "");
	ck_assert(!packing_parse(&p, "rar", &err));
	ck_assert_int_eq(err.code, ERR_TEXT);
}
END_TEST

Suite *pack_suite(void);
Suite *pack_suite(void)
{
	Suite *suite = suite_create("pack");
	TCase *tests = tcase_create("pack");

	tcase_add_test(tests, what_is_packed_can_be_unpacked);
	tcase_add_test(tests, names_are_those_of_the_programs);
	suite_add_tcase(suite, tests);
	return suite;
}
