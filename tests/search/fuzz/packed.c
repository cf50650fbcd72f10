/* SPDX-License-Identifier: GPL-3.0-or-later */
/* packed.c - any bytes as a packed member of a CPK and of a RAB archive. */
#include "container/cmpl.h"
#include "container/crilayla.h"
#include "fuzz_archive.h"

/* Writes a packed member of 260 bytes: 256 bytes as they are, a literal, and a copy of it. */
static void write_crilayla(const char *folder)
{
	struct buf b = BUF_INIT;

	buf_text(&b, "CRILAYLA");
	buf_u32(&b, 4);
	buf_u32(&b, 6);
	buf_add(&b, "\0\0\0\x20\x00\x20", 6);
	for (unsigned i = 0; i < 256; i++)
		buf_char(&b, (char)i);
	fuzz_seed(folder, NULL, buf_bytes(&b));
	buf_release(&b);
}

static void write_cmpl(const char *folder)
{
	fuzz_seed(folder, NULL,
		  (struct bytes){(const uint8_t *)"CMPL\0\0\0\x0C\x03"
						  "ab\xFE\xE7",
				 13});
}

static void write_packed(const char *folder)
{
	write_crilayla(folder);
	write_cmpl(folder);
}

FUZZ_INITIALIZE(write_packed(seeds))

static void check(bool fine, const struct buf *out, size_t expected, size_t size,
		  const struct err *err)
{
	if (fine ? out->size != expected : err->code != ERR_FORMAT || !*err->message)
		fuzz_broken("a stream is unpacked whole, or refused with a reason", err);
	if (!fine && (out->size || (err->placed && err->at > size)))
		fuzz_broken("a refusal lies in the stream, and leaves no bytes", err);
}

static void try_crilayla(struct bytes bytes)
{
	const struct input in = input_of_bytes(bytes);
	uint64_t size = bytes.size >= 12 ? get_u32(bytes.data + 8) + (uint64_t)256 : 256;
	struct buf out = BUF_INIT;
	struct err err = {0};

	if (size <= ARCHIVE_LIMIT)
		check(crilayla_read(&in, size, &out, &err), &out, (size_t)size, bytes.size, &err);
	buf_release(&out);
}

static void try_cmpl(struct bytes bytes)
{
	struct buf out = BUF_INIT;
	struct err err = {0};
	uint64_t size = 0;
	bool fine = cmpl_size(bytes.data, bytes.size, &size, &err) && cmpl_read(bytes, &out, &err);

	check(fine, &out, (size_t)size, bytes.size, &err);
	buf_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	try_crilayla((struct bytes){data, size});
	try_cmpl((struct bytes){data, size});
	return 0;
}
