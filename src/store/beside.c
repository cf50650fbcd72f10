/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beside.h"

#include <stdio.h>
#include <strings.h>

static const char *const suffixes[BESIDE_NAMES] = {".d", ".d~2"};

/* Endings of file names that the names of their folders omit. */
static const char *const ends[] = {"", ".csv"};

bool beside_folder(const struct store *s, const char *file_name, unsigned which,
		   char out[NAME_MAX + 1])
{
	const struct codec *codec;
	size_t length = strlen(file_name), end;
	bool probe;

	if (store_claims(s, file_name, &codec, &probe) && codec && codec->format->beside) {
		end = strlen(codec->format->beside);
		if (length > end && strcmp(file_name + length - end, codec->format->beside) == 0)
			length -= end;
	}
	return snprintf(out, NAME_MAX + 1, "%.*s%s", (int)length, file_name, suffixes[which]) <=
	       NAME_MAX;
}

/* Returns the index of the suffix of a name with this length; BESIDE_NAMES: none. */
static unsigned find_suffix(const char *name, size_t length)
{
	unsigned which = 0;

	for (; which < BESIDE_NAMES; which++) {
		size_t size = strlen(suffixes[which]);

		if (length > size && memcmp(name + length - size, suffixes[which], size) == 0)
			break;
	}
	return which;
}

size_t beside_length(const char *name, size_t length)
{
	unsigned which = find_suffix(name, length);

	return which == BESIDE_NAMES ? 0 : length - strlen(suffixes[which]);
}

unsigned beside_which(const char *folder_name)
{
	return find_suffix(folder_name, strlen(folder_name));
}

bool beside_file(const char *folder_name, unsigned i, char out[NAME_MAX + 1], const char **end)
{
	size_t length = beside_length(folder_name, strlen(folder_name));

	if (!length || i >= ARRAY_SIZE(ends))
		return false;
	if (end)
		*end = ends[i];
	return snprintf(out, NAME_MAX + 1, "%.*s%s", (int)length, folder_name, ends[i]) <= NAME_MAX;
}
