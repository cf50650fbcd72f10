/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * SKLA, a made-up archive: the smallest complete container, and the template of a new one
 * (CONTRIBUTING.md says how). The tests run it; the program does not list it.
 *
 * All numbers are little-endian.
 *
 *   header      0x00  "SKLA"
 *               0x04  u32 number of members
 *
 *   member      0x00  path, 24 bytes of UTF-8, zeros behind it
 *               0x18  u32 place of its bytes
 *               0x1C  u32 size
 *
 * The members' bytes are stored as they are.
 */
#include "containers.h"

#define HEADER_SIZE 8
#define MEMBER_SIZE 32
#define PATH_SIZE 24

static bool skel_read_member(struct archive *a, const uint8_t *from, struct member *m)
{
	const char *path = (const char *)from, *slash;
	size_t size = strnlen(path, PATH_SIZE);
	char *copy = arena_text(&a->arena, path, size);

	if (!copy)
		return false;
	slash = strrchr(copy, '/');
	*m = (struct member){
		.folder = slash ? arena_text(&a->arena, copy, (size_t)(slash - copy)) : "",
		.name = slash ? slash + 1 : copy,
		.at = get_u32(from + PATH_SIZE),
		.size = get_u32(from + PATH_SIZE + 4),
	};
	m->stored = m->size;
	if (!input_holds(&a->in, m->at, m->size))
		m->fault = "its bytes lie outside the file";
	return m->folder != NULL;
}

/*
 * Reads the list of members. Every claim of the header and the table is checked before it is used.
 */
static bool skel_list(struct archive *a, struct err *err)
{
	uint8_t head[HEADER_SIZE], row[MEMBER_SIZE];
	uint32_t count;

	if (a->in.size < HEADER_SIZE)
		return err_at(err, ERR_FORMAT, (size_t)a->in.size, 0,
			      "the file ends inside its header");
	if (!input_read(&a->in, 0, head, sizeof(head), err))
		return false;
	if (memcmp(head, "SKLA", 4) != 0)
		return err_at(err, ERR_FORMAT, 0, 4, "the file does not begin with SKLA");
	count = get_u32(head + 4);
	if (count > (a->in.size - HEADER_SIZE) / MEMBER_SIZE)
		return err_at(err, ERR_FORMAT, 4, 4, "%u members do not fit into the file", count);
	if (!archive_room(a, count, err))
		return false;
	for (; a->count < count; a->count++) {
		uint64_t at = HEADER_SIZE + (uint64_t)a->count * MEMBER_SIZE;

		if (!input_read(&a->in, at, row, sizeof(row), err))
			return false;
		if (!skel_read_member(a, row, &a->members[a->count]))
			return err_memory(err);
	}
	return true;
}

static const char *const skel_patterns[] = {"*.skla", NULL};

/* The container has no `read`, since no member is packed. */
const struct container skel_container = {
	.name = "skel",
	.patterns = skel_patterns,
	.list = skel_list,
};
