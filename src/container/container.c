/* SPDX-License-Identifier: GPL-3.0-or-later */
/* container.c - the table of kinds of archives. */
#include "containers.h"

#include <string.h>
#include <strings.h>

const struct container *const containers[] = {
	&cpk_container,
	&rab_container,
#ifndef ANIMFS_WITHOUT_ZIP
	&zip_container,
#endif
	NULL,
};

static bool matches(const struct container *c, const char *file_name)
{
	size_t size = strlen(file_name);

	for (const char *const *pattern = c->patterns; *pattern; pattern++) {
		const char *end = *pattern + 1;
		size_t length = strlen(end);

		if (size > length && strcasecmp(file_name + size - length, end) == 0)
			return true;
	}
	return false;
}

const struct container *container_for_name(const char *file_name)
{
	for (const struct container *const *c = containers; *c; c++) {
		if (matches(*c, file_name))
			return *c;
	}
	return NULL;
}
