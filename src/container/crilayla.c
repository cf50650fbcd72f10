/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * CRILAYLA, little-endian:
 *
 *   header      0x00  "CRILAYLA"
 *               0x08  u32 n, bytes that the stream unpacks to
 *               0x0C  u32 p, bytes of the stream
 *   stream      0x10  p bytes
 *   first bytes       256 bytes as they are
 *
 * The member is the 256 bytes and the n behind them, which are made from the last to the first. The
 * stream is read from its last byte to its first, in each byte from the high bit:
 *
 *   0, then 8 bits    one byte
 *   1, then 13 bits   d: copy from d + 3 bytes further on, byte by byte downwards. The length is 3
 *                     and the sum of fields of 2, 3, 5, 8, 8, 8 ... bits; the next field is read
 *                     only if this one was all ones.
 */
#include "crilayla.h"

#include <stdlib.h>

#define HEADER_SIZE 16
#define FIRST_SIZE 256
#define LENGTH_LEAST 3

/* ---- bits from the last byte to the first ---- */

struct bits {
	const uint8_t *data;
	size_t left; /* bytes of the stream that are not yet in `window` */
	uint32_t window;
	unsigned ready; /* number of unread bits in `window` */
	bool bad;       /* a read went past the last bit */
};

static uint32_t take_bits(struct bits *b, unsigned count)
{
	while (b->ready < count) {
		if (b->left == 0) {
			b->bad = true;
			return 0;
		}
		b->window = b->window << 8 | b->data[--b->left];
		b->ready += 8;
	}
	b->ready -= count;
	return b->window >> b->ready & ((1u << count) - 1);
}

/*
 * Reads the length of a copy. Stops once the length exceeds `most`: such a copy does not fit,
 * however long it is.
 */
static size_t take_length(struct bits *b, size_t most)
{
	static const uint8_t widths[] = {2, 3, 5, 8};
	size_t length = LENGTH_LEAST;

	for (unsigned i = 0; !b->bad && length <= most; i += i < 3) {
		uint32_t part = take_bits(b, widths[i]);

		length += part;
		if (part != (1u << widths[i]) - 1)
			break;
	}
	return length;
}

/* ---- the stream ---- */

static bool crilayla_unpack(struct bits *b, uint8_t *out, size_t size, struct err *err)
{
	size_t left = size;

	while (left > 0) {
		size_t from, length;

		if (!take_bits(b, 1)) {
			out[left - 1] = (uint8_t)take_bits(b, 8);
			left -= !b->bad;
		} else {
			from = left + take_bits(b, 13) + 2;
			length = take_length(b, left);
			if (!b->bad && from >= size)
				return err_set(err, ERR_FORMAT,
					       "a copy from behind the end of the member");
			if (!b->bad && length > left)
				return err_set(err, ERR_FORMAT,
					       "a copy that passes the front of the member");
			for (; !b->bad && length > 0; length--)
				out[--left] = out[from--];
		}
		if (b->bad)
			return err_set(err, ERR_FORMAT,
				       "the packed stream runs out with %zu bytes to come", left);
	}
	return true;
}

struct head {
	uint32_t size, packed;
};

static bool read_head(const struct input *member, uint64_t size, struct head *h, struct err *err)
{
	uint8_t head[HEADER_SIZE];

	if (member->size < HEADER_SIZE)
		return err_at(err, ERR_FORMAT, 0, 0,
			      "%llu bytes are stored and %llu unpacked, but they do not begin with "
			      "CRILAYLA",
			      (unsigned long long)member->size, (unsigned long long)size);
	if (!input_read(member, 0, head, sizeof(head), err))
		return false;
	if (memcmp(head, "CRILAYLA", 8) != 0)
		return err_at(err, ERR_FORMAT, 0, 8,
			      "%llu bytes are stored and %llu unpacked, but they do not begin with "
			      "CRILAYLA",
			      (unsigned long long)member->size, (unsigned long long)size);
	*h = (struct head){get_u32(head + 8), get_u32(head + 12)};
	if ((uint64_t)h->size + FIRST_SIZE != size)
		return err_at(err, ERR_FORMAT, 8, 4,
			      "it unpacks to %llu bytes, the archive's table says %llu",
			      (unsigned long long)h->size + FIRST_SIZE, (unsigned long long)size);
	if ((uint64_t)h->packed + HEADER_SIZE + FIRST_SIZE > member->size)
		return err_at(err, ERR_FORMAT, 12, 4,
			      "a packed stream of %u bytes is longer than the stored member",
			      h->packed);
	/* Each byte of the stream adds at most 255 bytes to the length of a copy. */
	if (h->size / 256 > h->packed)
		return err_at(err, ERR_FORMAT, 12, 4, "a packed stream of %u bytes cannot make %u",
			      h->packed, h->size);
	return true;
}

/*
 * Reads the end of the stream, as much as unpacking can need: an unpacked byte takes at most 9
 * bits.
 */
static bool read_stream(const struct input *member, const struct head *h, uint8_t *out,
			struct err *err)
{
	size_t most = (size_t)h->size + h->size / 8 + 1;
	size_t length = h->packed < most ? h->packed : most;
	uint64_t end = HEADER_SIZE + (uint64_t)h->packed;
	uint8_t *stream = malloc(length + 1);
	struct bits bits = {.data = stream, .left = length};
	bool fine;

	if (!stream)
		return err_memory(err);
	fine = input_read(member, end, out, FIRST_SIZE, err) &&
	       input_read(member, end - length, stream, length, err) &&
	       crilayla_unpack(&bits, out + FIRST_SIZE, h->size, err);
	free(stream);
	return fine;
}

bool crilayla_read(const struct input *member, uint64_t size, struct buf *out, struct err *err)
{
	struct head h = {.size = 0};

	if (!read_head(member, size, &h, err))
		return false;
	if (size > SIZE_MAX || !buf_reserve(out, (size_t)size))
		return err_memory(err);
	if (!read_stream(member, &h, out->data + out->size, err))
		return false;
	out->size += (size_t)size;
	return true;
}
