/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stored_name.h"

#include "util/utf8.h"

/* The number of UTF-8 bytes that one byte of a name becomes at most. */
#define GROWTH 3

static bool is_ascii(const char *s)
{
	while (*s && (uint8_t)*s < 0x80)
		s++;
	return !*s;
}

/* Converts a name from CP932. Returns false if it is not CP932, or if iconv lacks that encoding. */
static bool convert_cp932(struct stored_names *n, const char *stored, size_t size, char *out,
			  size_t room)
{
	char *from = (char *)stored;
	size_t left = size;

	if (!n->opened)
		n->convert = iconv_open("UTF-8", "CP932");
	n->opened = true;
	if (n->convert == (iconv_t)-1)
		return false;
	iconv(n->convert, NULL, NULL, NULL, NULL);
	if (iconv(n->convert, &from, &left, &out, &room) == (size_t)-1 || left > 0)
		return false;
	*out = '\0';
	return true;
}

static void convert_bytes(const char *stored, char *out)
{
	uint8_t *p = (uint8_t *)out;

	for (; *stored; stored++)
		p += utf8_encode((uint8_t)*stored, p);
	*p = '\0';
}

const char *stored_name(struct stored_names *n, const char *stored, struct err *err)
{
	size_t size = strnlen(stored, CONTAINER_NAME_MAX + 1), room = GROWTH * size;
	char *out;

	if (size > CONTAINER_NAME_MAX) {
		err_set(err, ERR_FORMAT, "a stored name has more than %d bytes",
			CONTAINER_NAME_MAX);
		return NULL;
	}
	if (is_ascii(stored))
		return stored;
	if (!n->cp932 && utf8_fault((struct bytes){(const uint8_t *)stored, size}) == size)
		return stored;
	/* Check the limit: many members may refer to one long name, and each gets a copy. */
	if (n->archive->arena.total > n->archive->limit) {
		err_set(err, ERR_FORMAT,
			"the names of the members take more memory than %zu bytes, the limit",
			n->archive->limit);
		return NULL;
	}
	out = arena_alloc(&n->archive->arena, room + 1, 1);
	if (!out)
		err_memory(err);
	else if (!n->cp932 || !convert_cp932(n, stored, size, out, room))
		convert_bytes(stored, out);
	return out;
}

const char *stored_name_folder(struct stored_names *n, const char *stored, struct err *err)
{
	if (n->folder && n->folder_stored == stored)
		return n->folder;
	n->folder = stored_name(n, stored, err);
	n->folder_stored = stored;
	return n->folder;
}

void stored_names_end(struct stored_names *n)
{
	if (n->opened && n->convert != (iconv_t)-1)
		iconv_close(n->convert);
	n->opened = false;
}
