/* SPDX-License-Identifier: GPL-3.0-or-later */
/* export_copy.h - copies files that are not animations. */
#ifndef ANIMFS_CMD_EXPORT_COPY_H
#define ANIMFS_CMD_EXPORT_COPY_H

#include "progress.h"

#include <sys/stat.h>

/*
 * Copies the file or symbolic link `name` from one folder to another, with its mode and mtime. An
 * existing file or link is replaced, whole or not at all; with `update`, only if its size or mtime
 * differs. 0 or an errno: EINTR if progress was stopped.
 */
int export_copy(int from, int to, const char *name, const struct stat *st, bool update,
		const struct progress *progress);

#endif
