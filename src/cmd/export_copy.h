/* SPDX-License-Identifier: GPL-3.0-or-later */
/* export_copy.h - copies files that are not animations. */
#ifndef ANIMFS_CMD_EXPORT_COPY_H
#define ANIMFS_CMD_EXPORT_COPY_H

#include "progress.h"

#include <sys/stat.h>

/*
 * The file or symbolic link `name` of one folder into another, with its mode and mtime, in place of
 * the file or link that is there, whole or not at all. update: not where that has the same size and
 * mtime. 0 or an errno: EINTR if progress was stopped.
 */
int export_copy(int from, int to, const char *name, const struct stat *st, bool update,
		const struct progress *progress);

#endif
