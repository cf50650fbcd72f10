/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * CMPL:
 *
 *   header      0x00  "CMPL"
 *               0x04  u32 bytes unpacked, big-endian
 *   stream      0x08  LZSS, after Okumura
 *
 * Each byte that is unpacked is also written into a window of 4096 bytes, from 0xFEE on. The stream
 * is a byte of flags for the next 8 items, low bit first: 1 is one byte as it is; 0 is two bytes b0
 * b1, a copy from the window's place b0 << 4 | b1 >> 4, with a length of (b1 & 15) + 3. The stream
 * ends where the unpacked size is reached; a copy that is longer is cut there.
 *
 * The window begins as zeros except for the 18 bytes from 0xFEE on, which the game leaves unset.
 */
#include "cmpl.h"

#define WINDOW_SIZE 4096
#define WINDOW_BEGIN 0xFEE
#define LENGTH_LEAST 3
/*
 * Limit of the unpacked size, as a multiple of the stored size: a copy takes two bytes and one bit
 * of the flags, and makes at most 18 bytes.
 */
#define EXPANSION_MOST 9

bool cmpl_is(const uint8_t *head, size_t size)
{
	return size >= 4 && memcmp(head, "CMPL", 4) == 0;
}

bool cmpl_size(const uint8_t *head, uint64_t stored, uint64_t *size, struct err *err)
{
	if (stored < CMPL_HEAD)
		return err_at(err, ERR_FORMAT, (size_t)stored, 0,
			      "the member ends inside its CMPL header");
	*size = (uint64_t)head[4] << 24 | (uint64_t)head[5] << 16 | (uint64_t)head[6] << 8 |
		head[7];
	if (*size / EXPANSION_MOST > stored)
		return err_at(err, ERR_FORMAT, 4, 4,
			      "%llu bytes cannot unpack to %llu: the packed stream runs out",
			      (unsigned long long)stored, (unsigned long long)*size);
	return true;
}

struct lzss {
	struct reader in;
	uint8_t *out;
	size_t done, size;
	uint8_t window[WINDOW_SIZE];
};

static void put_byte(struct lzss *z, uint8_t byte)
{
	z->window[(WINDOW_BEGIN + z->done) % WINDOW_SIZE] = byte;
	z->out[z->done++] = byte;
}

/* Returns whether a place of the window is one of those that begin unset, and still is unset. */
static bool is_unset(const struct lzss *z, unsigned place)
{
	return place >= WINDOW_BEGIN && place - WINDOW_BEGIN >= z->done;
}

static bool copy(struct lzss *z, struct err *err)
{
	size_t at = z->in.at;
	unsigned high = read_u8(&z->in), low = read_u8(&z->in);
	unsigned from = high << 4 | low >> 4, length = (low & 15) + LENGTH_LEAST;

	if (z->in.bad)
		return true;
	for (; length > 0 && z->done < z->size; length--, from = (from + 1) % WINDOW_SIZE) {
		if (is_unset(z, from))
			return err_at(err, ERR_FORMAT, at, 2,
				      "a copy of a byte that is not set yet");
		put_byte(z, z->window[from]);
	}
	return true;
}

static bool cmpl_unpack(struct lzss *z, struct err *err)
{
	/* the flags of the items that follow; the highest set bit marks their end */
	unsigned flags = 1;

	while (z->done < z->size) {
		uint8_t byte;

		if (flags == 1)
			flags = 0x100u | read_u8(&z->in);
		if (!(flags & 1)) {
			if (!copy(z, err))
				return false;
		} else {
			byte = read_u8(&z->in);
			if (!z->in.bad)
				put_byte(z, byte);
		}
		if (z->in.bad)
			return err_at(err, ERR_FORMAT, z->in.src.size, 0,
				      "the packed stream runs out with %zu bytes to come",
				      z->size - z->done);
		flags >>= 1;
	}
	return true;
}

bool cmpl_read(struct bytes member, struct buf *out, struct err *err)
{
	struct lzss z = {.in = reader_at(member, CMPL_HEAD)};
	uint64_t size = 0;

	if (!cmpl_size(member.data, member.size, &size, err))
		return false;
	if (size == 0)
		return true;
	if (!buf_reserve(out, (size_t)size))
		return err_memory(err);
	z.out = out->data + out->size;
	z.size = (size_t)size;
	if (!cmpl_unpack(&z, err))
		return false;
	out->size += z.size;
	return true;
}
