/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * RAB, MRAB (models) and EFARC (effects): the archives of a model's parts in Earth Defense Force.
 *
 * All numbers are little-endian.
 *
 *   header      0x00  "SSA\0"
 *               0x04  u32 0x110
 *               0x08  u32 where the data begins
 *               0x0C  u32 u32 the largest sizes, stored and unpacked
 *               0x14  u32 number of files
 *               0x18  u32 file table (0x28)
 *               0x1C  u32 index: the files by name
 *               0x20  u32 number of types
 *               0x24  u32 type table
 *
 *   file        0x00  i32 name
 *               0x04  u32 bytes stored
 *               0x08  u32 type, its number in the type table
 *               0x0C  u32 1 if the type is HD-TEXTURE
 *               0x10  u64 FILETIME: 100 ns since 1601, UTC; 0: none
 *               0x18  u32 place of its bytes
 *               0x1C  u32 0
 *
 *   type        0x00  i32 name
 *
 * A name is UTF-16 with a 0 behind it; the field has its distance from the field itself. The path
 * of a file is its type and its name. Its bytes are packed if they begin with CMPL (cmpl.c), which
 * has the unpacked size.
 */
#include "rab.h"

#include "cmpl.h"
#include "containers.h"

#include "text/utf.h"

#include <assert.h>

#define HEADER_SIZE 0x28
#define FILE_SIZE 0x20
#define TYPE_SIZE 4
#define FILETIME_1970 INT64_C(11644473600)

/*
 * Reads the UTF-16 name at `at` into `text`, which has NAME_ROOM bytes. Sets *units to its length
 * without the 0.
 */
#define NAME_ROOM (2 * (size_t)(CONTAINER_NAME_MAX + 1))

static bool rab_read_text(const struct archive *a, uint64_t at, uint8_t *text, size_t *units,
			  struct err *err)
{
	size_t have = 0, want = 64; /* Start with a small piece: most names are short. */

	for (*units = 0;; want = NAME_ROOM) {
		size_t left = a->in.size - at < want ? (size_t)(a->in.size - at) : want;

		if (!input_read(&a->in, at + have, text + have, left - have, err))
			return false;
		for (have = left; *units < have / 2; ++*units) {
			if (get_u16(text + 2 * *units) == 0)
				return true;
		}
		if (left < want)
			return err_at(err, ERR_FORMAT, (size_t)at, left, "a name has no end");
		if (want == NAME_ROOM)
			return err_at(err, ERR_FORMAT, (size_t)at, 0,
				      "a name has more than %d characters", CONTAINER_NAME_MAX);
	}
}

/* Reads the name whose distance is stored at this place. */
static const char *rab_read_name(struct archive *a, uint64_t at, uint32_t distance, struct err *err)
{
	int64_t place = (int64_t)at + (int32_t)distance;
	uint8_t text[NAME_ROOM];
	const char *name;
	size_t units;

	if (place < 0 || (uint64_t)place >= a->in.size) {
		err_at(err, ERR_FORMAT, (size_t)at, 4, "a name lies outside the file");
		return NULL;
	}
	if (!rab_read_text(a, (uint64_t)place, text, &units, err))
		return NULL;
	/* Check the limit: many files may refer to one long name, and each gets a copy. */
	if (a->arena.total > a->limit) {
		err_set(err, ERR_FORMAT,
			"the names of the members take more memory than %zu bytes, the limit",
			a->limit);
		return NULL;
	}
	name = utf8_from_utf16(&a->arena, text, units);
	if (!name)
		err_memory(err);
	return name;
}

struct rab {
	uint32_t files, file_table, types, type_table;
	const char **type_names;
};

static bool rab_check_table(const struct archive *a, size_t at, const char *what, uint32_t count,
			    uint32_t place, uint32_t size, struct err *err)
{
	return (place <= a->in.size && count <= (a->in.size - place) / size) ||
	       err_at(err, ERR_FORMAT, at, 4, "%u %s from byte %u on do not fit into the file",
		      count, what, place);
}

static bool rab_read_header(const struct archive *a, struct rab *r, struct err *err)
{
	uint8_t head[HEADER_SIZE];

	if (a->in.size < HEADER_SIZE)
		return err_at(err, ERR_FORMAT, (size_t)a->in.size, 0,
			      "the file ends inside its header");
	if (!input_read(&a->in, 0, head, sizeof(head), err))
		return false;
	if (memcmp(head, "SSA", 4) != 0)
		return err_at(err, ERR_FORMAT, 0, 4, "the file does not begin with SSA");
	*r = (struct rab){.files = get_u32(head + 0x14),
			  .file_table = get_u32(head + 0x18),
			  .types = get_u32(head + 0x20),
			  .type_table = get_u32(head + 0x24)};
	return rab_check_table(a, 0x14, "files", r->files, r->file_table, FILE_SIZE, err) &&
	       rab_check_table(a, 0x20, "types", r->types, r->type_table, TYPE_SIZE, err);
}

static bool read_types(struct archive *a, struct rab *r, struct err *err)
{
	uint8_t field[TYPE_SIZE];

	if (r->types > a->limit / sizeof(*r->type_names))
		return err_at(err, ERR_FORMAT, 0x20, 4,
			      "%u types take more memory than %zu bytes, the limit", r->types,
			      a->limit);
	r->type_names = arena_alloc(&a->arena, r->types, sizeof(*r->type_names));
	if (!r->type_names)
		return err_memory(err);
	for (uint32_t i = 0; i < r->types; i++) {
		uint64_t at = r->type_table + (uint64_t)i * TYPE_SIZE;

		if (!input_read(&a->in, at, field, sizeof(field), err))
			return false;
		r->type_names[i] = rab_read_name(a, at, get_u32(field), err);
		if (!r->type_names[i])
			return false;
	}
	return true;
}

static int64_t file_time(uint64_t filetime)
{
	return filetime ? (int64_t)(filetime / 10000000) - FILETIME_1970 : 0;
}

static bool rab_read_file(struct archive *a, const struct rab *r, uint64_t at, struct member *m,
			  struct err *err)
{
	uint8_t file[FILE_SIZE];
	uint32_t type;

	if (!input_read(&a->in, at, file, sizeof(file), err))
		return false;
	type = get_u32(file + 0x08);
	*m = (struct member){
		.at = get_u32(file + 0x18),
		.stored = get_u32(file + 0x04),
		.size = MEMBER_UNSIZED,
		.time = file_time(get_u32(file + 0x10) | (uint64_t)get_u32(file + 0x14) << 32),
	};
	if (type >= r->types)
		return err_at(err, ERR_FORMAT, (size_t)at + 0x08, 4,
			      "a file has type %u, but there are only %u types", type, r->types);
	if (!input_holds(&a->in, m->at, m->stored))
		return err_at(err, ERR_FORMAT, (size_t)at + 0x18, 4,
			      "the bytes of a file lie behind the end of the archive");
	assert(r->type_names);
	m->folder = r->type_names[type];
	m->name = rab_read_name(a, at, get_u32(file), err);
	return m->name != NULL;
}

bool rab_list(struct archive *a, struct err *err)
{
	struct rab r = {.files = 0};

	if (!rab_read_header(a, &r, err) || !archive_room(a, r.files, err) ||
	    !read_types(a, &r, err))
		return false;
	for (; a->count < r.files; a->count++) {
		uint64_t at = r.file_table + (uint64_t)a->count * FILE_SIZE;

		if (!rab_read_file(a, &r, at, &a->members[a->count], err))
			return false;
	}
	return true;
}

bool rab_measure(const struct archive *a, struct member *m, struct err *err)
{
	struct err why = {.code = ERR_NONE};
	uint8_t head[CMPL_HEAD];
	size_t size = m->stored < sizeof(head) ? (size_t)m->stored : sizeof(head);

	if (!input_read(&a->in, m->at, head, size, err))
		return false;
	m->size = m->stored;
	m->packed = cmpl_is(head, size);
	return !m->packed || cmpl_size(head, m->stored, &m->size, &why) ||
	       member_fault(err, &why, m);
}

bool rab_read(const struct archive *a, const struct member *m, struct buf *out, struct err *err)
{
	struct err why = {.code = ERR_NONE};
	struct buf stored = BUF_INIT;
	bool fine = false;

	if (!buf_reserve(&stored, (size_t)m->stored)) {
		err_memory(err);
	} else if (input_read(&a->in, m->at, stored.data, (size_t)m->stored, err)) {
		stored.size = (size_t)m->stored;
		fine = cmpl_read(buf_bytes(&stored), out, &why) || member_fault(err, &why, m);
	}
	buf_release(&stored);
	return fine;
}
