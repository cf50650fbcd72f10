/* SPDX-License-Identifier: GPL-3.0-or-later */
/* container.c - the table of kinds of archives. */
#include "containers.h"

#include "model/names.h"

const struct container *const containers[] = {
	&cpk_container,
	&rab_container,
#ifndef ANIMFS_WITHOUT_ZIP
	&zip_container,
#endif
	NULL,
};

static bool matches(const struct container *c, const char *file_name, uint32_t dots)
{
	for (const char *const *pattern = c->patterns; *pattern; pattern++) {
		const char *end = name_end(file_name, dots, *pattern + 1);

		if (end && end != file_name)
			return true;
	}
	return false;
}

const struct container *container_for_name(const char *file_name)
{
	const uint32_t dots = name_dots(file_name);

	for (const struct container *const *c = containers; *c; c++) {
		if (matches(*c, file_name, dots))
			return *c;
	}
	return NULL;
}
