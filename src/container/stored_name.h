/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stored_name.h - converts stored names of archives to UTF-8. */
#ifndef ANIMFS_CONTAINER_STORED_NAME_H
#define ANIMFS_CONTAINER_STORED_NAME_H

#include "animfs/container.h"

#include <iconv.h>

struct stored_names {
	struct archive *archive;
	bool cp932;      /* names are CP932, otherwise UTF-8 */
	iconv_t convert; /* opened for the first name that is not ASCII */
	bool opened;
	const char *folder_stored, *folder; /* the folder that was converted last, and the result */
};

/*
 * Converts a name; the result is in the archive's arena. Bytes that are invalid in the encoding
 * become the characters U+0080 to U+00FF, so that every member has a name. NULL and err if the name
 * is too long, or when out of memory.
 */
const char *stored_name(struct stored_names *n, const char *stored, struct err *err);
/* Converts the name of a folder, as stored_name does; faster for many members of one folder. */
const char *stored_name_folder(struct stored_names *n, const char *stored, struct err *err);
void stored_names_end(struct stored_names *n);

#endif
