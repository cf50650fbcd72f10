/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "portable.h"

#include "dirfd.h"

#include <errno.h>
#include <string.h>

/* Returns the length of the UTF-8 character at the beginning of `text`; 0 if there is none. */
static size_t utf8_length(const char *text)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	const uint8_t *p = (const uint8_t *)text;
	size_t length = p[0] < 0x80 ? 1 : p[0] < 0xc0 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
	uint32_t c = length == 1 ? p[0] : p[0] & (0x7fu >> length);

	if (!length || p[0] >= 0xf8)
		return 0;
	for (size_t i = 1; i < length; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (p[i] & 0x3f);
	}
	return c >= least[length] && c <= 0x10ffff && (c < 0xd800 || c > 0xdfff) ? length : 0;
}

static bool is_stored_as_it_is(uint8_t c, bool last)
{
	return c >= 0x20 && c != 0x7f && !strchr("%\"*:<>?\\|", c) &&
	       !(last && (c == '.' || c == ' '));
}

static void add_escaped(struct buf *out, const char *name)
{
	while (*name) {
		size_t length = utf8_length(name);

		if (length > 1 || (length && is_stored_as_it_is((uint8_t)*name, !name[1]))) {
			buf_add(out, name, length);
			name += length;
		} else {
			buf_format(out, "%%%02X", (uint8_t)*name++);
		}
	}
}

static int portable_hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static void unescape(const char *stored, char out[NAME_MAX + 1])
{
	char *to = out;

	for (const char *p = stored; *p && to < out + NAME_MAX; p++) {
		int high = *p == '%' ? portable_hex_digit(p[1]) : -1;
		int low = high < 0 ? -1 : portable_hex_digit(p[2]);

		*to++ = low < 0 ? *p : (char)(high * 16 + low);
		p += low < 0 ? 0 : 2;
	}
	*to = '\0';
}

/* Is `stored` the escaped form of a name? If so, stores the name in `name`. */
static bool read_escaped(const char *stored, char name[NAME_MAX + 1])
{
	struct buf again = BUF_INIT;
	bool same;

	unescape(stored, name);
	add_escaped(&again, name);
	same = dirfd_is_name(name) && bytes_equal(buf_bytes(&again), bytes_of(stored));
	buf_release(&again);
	return same;
}

/* Appends the stored form of one name. */
static int portable_add_name(struct buf *out, const char *name)
{
	size_t begin = out->size;
	char other[NAME_MAX + 1];

	if (!dirfd_is_name(name))
		return EINVAL;
	add_escaped(out, name);
	if (!out->failed && out->size - begin > NAME_MAX && !read_escaped(name, other) &&
	    !strchr(". ", name[strlen(name) - 1])) {
		out->size = begin;
		buf_text(out, name);
	}
	return out->failed ? ENOMEM : out->size - begin > NAME_MAX ? ENAMETOOLONG : 0;
}

int portable_name(const char *name, char out[NAME_MAX + 1])
{
	struct buf stored = BUF_INIT;
	int error = portable_add_name(&stored, name);

	out[0] = '\0';
	if (!error && stored.size) {
		memcpy(out, stored.data, stored.size);
		out[stored.size] = '\0';
	}
	buf_release(&stored);
	return error;
}

int portable_path(const char *path, struct buf *out)
{
	char name[NAME_MAX + 1];
	int error = 0;

	while (*path && !error) {
		size_t length = strcspn(path, "/");

		if (length > NAME_MAX)
			return ENAMETOOLONG;
		memcpy(name, path, length);
		name[length] = '\0';
		error = portable_add_name(out, name);
		path += length;
		if (*path)
			buf_char(out, *path++);
	}
	buf_char(out, '\0');
	return error ? error : out->failed ? ENOMEM : 0;
}

void portable_read(const char *stored, char out[NAME_MAX + 1])
{
	if (read_escaped(stored, out))
		return;
	strncpy(out, stored, NAME_MAX);
	out[NAME_MAX] = '\0';
}
