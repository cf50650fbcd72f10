/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "motion.h"

#include "util/composed.h"

#include <stdlib.h>
#include <string.h>

static int by_label(const void *pa, const void *pb, void *clip)
{
	const struct track *tracks = ((const struct clip *)clip)->tracks;

	return strcmp(tracks[*(const uint32_t *)pa].label, tracks[*(const uint32_t *)pb].label);
}

bool motion_names_make(struct motion_names *names, const struct clip *clip, struct arena *arena)
{
	uint32_t *sorted = arena_alloc(arena, clip->track_count, sizeof(*sorted));

	*names = (struct motion_names){clip, sorted};
	if (!sorted)
		return false;
	for (uint32_t i = 0; i < clip->track_count; i++)
		sorted[i] = i;
	qsort_r(sorted, clip->track_count, sizeof(*sorted), by_label, (void *)(uintptr_t)clip);
	return true;
}

static const char *sorted_label(const struct motion_names *names, uint32_t place)
{
	return names->clip->tracks[names->sorted[place]].label;
}

/* Returns the first index whose label does not sort before this one. */
static uint32_t motion_names_find_place(const struct motion_names *names, const char *label)
{
	uint32_t low = 0, high = names->clip->track_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (strcmp(sorted_label(names, middle), label) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

uint32_t motion_names_find(const struct motion_names *names, const char *label)
{
	uint32_t place = motion_names_find_place(names, label);

	return place < names->clip->track_count && strcmp(sorted_label(names, place), label) == 0
		       ? names->sorted[place]
		       : UINT32_MAX;
}

uint32_t motion_names_find_cut(const struct motion_names *names, const char *begin)
{
	uint32_t place = motion_names_find_place(names, begin), end = place;

	while (end < names->clip->track_count && end < place + 2 &&
	       strncmp(sorted_label(names, end), begin, strlen(begin)) == 0)
		end++;
	return end == place + 1 ? names->sorted[place] : UINT32_MAX;
}

static int hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Writes the name with its escapes (model/names.h) resolved, and returns the length. */
static size_t motion_names_unescape(const char *name, char *out)
{
	size_t size = 0;

	for (; *name; name++) {
		int high = *name == '%' ? hex_digit(name[1]) : -1;
		int low = high >= 0 ? hex_digit(name[2]) : -1;

		out[size++] = low > 0 || (low == 0 && high > 0) ? (char)(high << 4 | low) : *name;
		name += low > 0 || (low == 0 && high > 0) ? 2 : 0;
	}
	out[size] = '\0';
	return size;
}

char *motion_names_key(const char *name, bool prefix, struct arena *arena)
{
	struct buf apart = BUF_INIT;
	char *key, *from, *to;
	size_t size;

	composed_apart(name, &apart);
	buf_char(&apart, '\0');
	key = from = to = apart.failed ? NULL : arena_alloc(arena, apart.size, 1);
	size = key ? motion_names_unescape((const char *)apart.data, key) : 0;
	buf_release(&apart);
	if (!key)
		return NULL;
	if (size > 4 && key[size - 4] == '.' && strspn(key + size - 3, "0123456789") == 3)
		key[size - 4] = '\0';
	for (char *p = key; prefix && *p; p++)
		if (*p == ':' || *p == '|')
			from = p + 1;
	for (; *from; from++)
		if (!strchr(" .:_-", *from))
			*to++ = *from >= 'A' && *from <= 'Z' ? (char)(*from + 32) : *from;
	*to = '\0';
	return key;
}
