/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Writes a RAB with one member replaced; also defines the container. rab.c describes the layout.
 *
 * Only the game reads such a file, in an undocumented way. It loads members in the order of the
 * file table, and needs their bytes in that order, too, without gaps. So only an archive that is
 * laid out like that is rebuilt. Then everything in front of the data stays as it is, except sizes
 * and places.
 */
#include "rab_write.h"

#include "cmpl.h"
#include "containers.h"
#include "rab.h"

#include <string.h>

#define HEADER_SIZE 0x28u
#define FILE_SIZE 0x20u
#define INDEX_SIZE 8u
#define VERSION 0x110u

struct rebuild {
	struct bytes rab;
	struct archive *archive;
	uint32_t number;
	uint32_t data; /* where the data begins */
	struct err *err;
};

static uint32_t word(const struct rebuild *r, size_t at)
{
	return get_u32(r->rab.data + at);
}

static size_t file_at(uint32_t i)
{
	return HEADER_SIZE + (size_t)i * FILE_SIZE;
}

static bool rab_write_refuse(const struct rebuild *r, size_t at, const char *why)
{
	return err_at(r->err, ERR_STORE, at, 4,
		      "the archive cannot be rebuilt, since it is not laid out as the game's own "
		      "are: %s",
		      why);
}

/* Checks that the tables follow each other without gaps, and that the data comes after them. */
static bool rab_write_check_tables(struct rebuild *r)
{
	size_t index = file_at(r->archive->count);
	size_t types = index + (size_t)r->archive->count * INDEX_SIZE;

	r->data = word(r, 0x08);
	if (word(r, 0x04) != VERSION)
		return rab_write_refuse(r, 0x04, "its version is not 0x110");
	if (word(r, 0x18) != HEADER_SIZE)
		return rab_write_refuse(r, 0x18, "the file table is not behind the header");
	if (word(r, 0x1C) != index)
		return rab_write_refuse(r, 0x1C, "the index is not behind the file table");
	if (word(r, 0x24) != types)
		return rab_write_refuse(r, 0x24, "the type table is not behind the index");
	if (types > r->rab.size || word(r, 0x20) > (r->rab.size - types) / 4 ||
	    r->data < types + (size_t)word(r, 0x20) * 4 || r->data > r->rab.size)
		return rab_write_refuse(r, 0x08, "the data is not behind the tables");
	return true;
}

/*
 * Checks that the name whose distance is stored at `at` ends before the data. Sets *name to the
 * place of the name.
 */
static bool rab_write_check_name(const struct rebuild *r, size_t at, size_t *name)
{
	int64_t place = (int64_t)at + (int32_t)word(r, at), end = place;

	*name = 0;
	if (place < 0)
		return rab_write_refuse(r, at, "a name lies outside the file");
	while (end + 2 <= (int64_t)r->data && get_u16(r->rab.data + end) != 0)
		end += 2;
	*name = (size_t)place;
	return end + 2 <= (int64_t)r->data ||
	       rab_write_refuse(r, at, "a name is behind the tables");
}

/* Compares two names by code unit, the order of the index. */
static int compare_names(const struct rebuild *r, size_t a, size_t b)
{
	for (;; a += 2, b += 2) {
		uint16_t x = get_u16(r->rab.data + a), y = get_u16(r->rab.data + b);

		if (x != y || x == 0)
			return x < y ? -1 : x > y;
	}
}

/*
 * Checks that the index is sorted and has the files' own names, and that the names of types are
 * before the data.
 */
static bool check_index(const struct rebuild *r)
{
	size_t index = file_at(r->archive->count), last = 0, name, own;

	for (uint32_t i = 0; i < r->archive->count; i++) {
		size_t at = index + (size_t)i * INDEX_SIZE;
		uint32_t file = word(r, at + 4);

		if (file >= r->archive->count)
			return rab_write_refuse(r, at + 4,
						"the index is of a file that is not there");
		if (!rab_write_check_name(r, at, &name) ||
		    !rab_write_check_name(r, file_at(file), &own))
			return false;
		if (compare_names(r, name, own) != 0)
			return rab_write_refuse(r, at, "the index has another name for a file");
		if (i > 0 && compare_names(r, last, name) > 0)
			return rab_write_refuse(r, at, "the index is not sorted");
		last = name;
	}
	for (uint32_t i = 0; i < word(r, 0x20); i++) {
		if (!rab_write_check_name(
			    r, index + (size_t)r->archive->count * INDEX_SIZE + (size_t)i * 4,
			    &name))
			return false;
	}
	return true;
}

/*
 * Finds the largest sizes, stored and unpacked, of all members, if member `number` has the given
 * sizes.
 */
static bool find_largest(const struct rebuild *r, uint32_t stored, uint32_t unpacked,
			 uint32_t largest[2])
{
	largest[0] = stored;
	largest[1] = unpacked;
	for (uint32_t i = 0; i < r->archive->count; i++) {
		uint64_t size;

		if (i == r->number)
			continue;
		if (!archive_measure(r->archive, i, &size, r->err))
			return false;
		if (r->archive->members[i].stored > largest[0])
			largest[0] = (uint32_t)r->archive->members[i].stored;
		if (size > largest[1])
			largest[1] = (uint32_t)size;
	}
	return true;
}

/* Checks that the bytes of the files follow each other in the order of the table, up to the end. */
static bool rab_write_check_data(const struct rebuild *r)
{
	uint64_t at = r->data, size;
	uint32_t largest[2];

	for (uint32_t i = 0; i < r->archive->count; i++) {
		const struct member *m = &r->archive->members[i];

		if (m->at != at)
			return rab_write_refuse(
				r, file_at(i) + 0x18,
				"the bytes of a file do not follow those of the one before");
		if (word(r, file_at(i) + 0x1C) != 0)
			return rab_write_refuse(r, file_at(i) + 0x1C,
						"a field that should be 0 is not");
		at += m->stored;
	}
	if (at != r->rab.size)
		return rab_write_refuse(r, (size_t)at, "there are bytes behind the last file");
	if (!archive_measure(r->archive, r->number, &size, r->err) ||
	    !find_largest(r, (uint32_t)r->archive->members[r->number].stored, (uint32_t)size,
			  largest))
		return false;
	for (unsigned i = 0; i < 2; i++) {
		if (word(r, 0x0C + 4 * i) != largest[i])
			return rab_write_refuse(
				r, 0x0C + 4 * i,
				"the largest size in the header is not that of any file");
	}
	return true;
}

/* ---- the new archive ---- */

/* Packs bytes as CMPL without any copy: a byte of flags before every eight bytes. */
static void pack_literals(struct bytes bytes, struct buf *out)
{
	uint8_t size[4] = {(uint8_t)(bytes.size >> 24), (uint8_t)(bytes.size >> 16),
			   (uint8_t)(bytes.size >> 8), (uint8_t)bytes.size};

	buf_text(out, "CMPL");
	buf_add(out, size, sizeof(size));
	for (size_t i = 0; i < bytes.size; i += 8) {
		size_t part = bytes.size - i < 8 ? bytes.size - i : 8;

		buf_char(out, (char)(unsigned char)(0xFFu >> (8 - part)));
		buf_add(out, bytes.data + i, part);
	}
}

/*
 * Makes the stored form of the new member. Keeps the old one if the content is the same. Otherwise
 * packs the new bytes if the old ones were packed, or if the new ones begin like packed ones.
 */
static bool make_stored(const struct rebuild *r, struct bytes bytes, struct buf *stored)
{
	const struct member *m = &r->archive->members[r->number];
	bool packed = cmpl_is(r->rab.data + m->at, (size_t)m->stored);
	struct buf old = BUF_INIT;
	bool same;

	if (bytes.size > UINT32_MAX / 8 * 7 - CMPL_HEAD)
		return err_set(r->err, ERR_STORE, "a RAB cannot hold a member of %zu bytes",
			       bytes.size);
	if (!archive_read(r->archive, r->number, SIZE_MAX, &old, r->err)) {
		buf_release(&old);
		return false;
	}
	same = bytes_equal(buf_bytes(&old), bytes);
	buf_release(&old);
	if (same)
		buf_add(stored, r->rab.data + m->at, (size_t)m->stored);
	else if (packed || cmpl_is(bytes.data, bytes.size))
		pack_literals(bytes, stored);
	else
		buf_add(stored, bytes.data, bytes.size);
	return !stored->failed || err_memory(r->err);
}

static void set_word(struct buf *out, size_t begin, size_t at, uint32_t value)
{
	put_u32(out->data + begin + at, value);
}

static bool rab_write_all(const struct rebuild *r, struct bytes bytes, const struct buf *stored,
			  struct buf *out)
{
	const struct member *m = &r->archive->members[r->number];
	const size_t begin = out->size, end = (size_t)(m->at + m->stored);
	uint64_t size = r->rab.size - m->stored + stored->size;
	uint32_t largest[2];

	if (size > UINT32_MAX)
		return err_set(r->err, ERR_STORE,
			       "the archive would be larger than 4 GiB, the most a RAB can have");
	if (!find_largest(r, (uint32_t)stored->size, (uint32_t)bytes.size, largest))
		return false;
	buf_add(out, r->rab.data, (size_t)m->at);
	buf_add(out, stored->data, stored->size);
	buf_add(out, r->rab.data + end, r->rab.size - end);
	if (out->failed)
		return err_memory(r->err);
	set_word(out, begin, 0x0C, largest[0]);
	set_word(out, begin, 0x10, largest[1]);
	set_word(out, begin, file_at(r->number) + 0x04, (uint32_t)stored->size);
	for (uint32_t i = r->number + 1; i < r->archive->count; i++)
		set_word(out, begin, file_at(i) + 0x18,
			 (uint32_t)(r->archive->members[i].at - m->stored + stored->size));
	return true;
}

bool rab_replace(struct bytes rab, size_t limit, uint32_t number, struct bytes bytes,
		 struct buf *out, struct err *err)
{
	const struct input in = input_of_bytes(rab);
	struct rebuild r = {.rab = rab, .number = number, .err = err};
	struct buf stored = BUF_INIT;
	bool fine;

	r.archive = archive_open(&rab_container, &in, limit, err);
	if (!r.archive)
		return false;
	fine = number < r.archive->count ||
	       err_set(err, ERR_CONFLICT, "the archive has only %u files by now", r.archive->count);
	fine = fine && rab_write_check_tables(&r) && check_index(&r) && rab_write_check_data(&r) &&
	       make_stored(&r, bytes, &stored) && rab_write_all(&r, bytes, &stored, out);
	buf_release(&stored);
	archive_close(r.archive);
	return fine;
}

static const char *const rab_patterns[] = {"*.rab", "*.mrab", "*.efarc", NULL};

const struct container rab_container = {
	.name = "rab",
	.patterns = rab_patterns,
	.list = rab_list,
	.measure = rab_measure,
	.read = rab_read,
	.replace = rab_replace,
};
