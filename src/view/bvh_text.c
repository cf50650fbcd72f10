/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bvh_text.c - the words and offsets of clip.bvh. */
#include "bvh_text.h"

#include <math.h>
#include <string.h>

#define FIGURE_NAME "figure"
#define SHORT 0.1 /* length of a bone that ends where it begins, so that it is visible */

bool bvh_is_root(const struct figure *f, uint32_t node)
{
	return f->nodes[node].parent == FIGURE_NONE;
}

bool bvh_has_figure(const struct figure *f, bool turned)
{
	return turned || f->nodes[f->first_root].next_sibling != FIGURE_NONE;
}

/* Is the name "figure" followed by this many "_"? */
static bool is_figure_name(const char *name, size_t more)
{
	const size_t plain = strlen(FIGURE_NAME);

	return strncmp(name, FIGURE_NAME, plain) == 0 && strlen(name) == plain + more &&
	       strspn(name + plain, "_") == more;
}

static bool has_figure_name(const struct figure *f, size_t more)
{
	for (uint32_t node = 0; node < f->count; node++)
		if (is_figure_name(f->nodes[node].name, more))
			return true;
	return false;
}

void bvh_figure_name(const struct figure *f, struct buf *out)
{
	buf_text(out, FIGURE_NAME);
	for (size_t more = 0; has_figure_name(f, more); more++)
		buf_char(out, '_');
}

/* Returns the size of the character at p if some program takes it for white space, else 0. */
static size_t space_size(const uint8_t *p)
{
	static const char *const spaces[] = {" ",
					     "\xc2\x85",
					     "\xc2\xa0",
					     "\xe1\x9a\x80",
					     "\xe2\x80\xa8",
					     "\xe2\x80\xa9",
					     "\xe2\x80\xaf",
					     "\xe2\x81\x9f",
					     "\xe3\x80\x80"};

	for (size_t i = 0; i < ARRAY_SIZE(spaces); i++)
		if (strncmp((const char *)p, spaces[i], strlen(spaces[i])) == 0)
			return strlen(spaces[i]);
	return p[0] == 0xe2 && p[1] == 0x80 && p[2] >= 0x80 && p[2] <= 0x8a ? 3 : 0;
}

/*
 * Writes a name as one word: white space is escaped in the way that file names escape characters.
 */
void bvh_word(const char *name, struct buf *out)
{
	const uint8_t *p = (const uint8_t *)name;

	while (*p) {
		size_t size = space_size(p);

		if (size == 0)
			buf_char(out, (char)*p++);
		for (; size > 0; size--)
			buf_format(out, "%%%02X", *p++);
	}
}

void bvh_offset(const struct figure *f, uint32_t node, double out[3])
{
	static const double none[3];
	struct channel c = channel_of(f, node, ROLE_TRANSLATION);

	channel_next(&c);
	memcpy(out, bvh_is_root(f, node) ? none : c.value, sizeof(none));
}

/*
 * Computes the End Site of a node: it continues the bone by the bone's own length, so that the bone
 * is visible.
 */
void bvh_end(const struct figure *f, uint32_t node, double out[3])
{
	bvh_offset(f, node, out);
	if (fmax(fabs(out[0]), fmax(fabs(out[1]), fabs(out[2]))) <= SAME)
		out[1] = SHORT;
}
