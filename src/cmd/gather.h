/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gather.h - collects the paths that a command works on, below a root, sorted. */
#ifndef ANIMFS_CMD_GATHER_H
#define ANIMFS_CMD_GATHER_H

#include "animfs/base.h"
#include <fts.h>

struct gathered {
	char **paths;
	size_t count, room;
};
#define GATHERED_INIT                                                                              \
	{                                                                                          \
		NULL, 0, 0                                                                         \
	}

/* What to do with an entry: skip it, descend into it, or list it without descending. */
enum gather { GATHER_PASS, GATHER_ENTER, GATHER_TAKE };
typedef enum gather gather_filter(void *closure, const FTSENT *entry, const char *path);

/*
 * Calls the filter for everything below `root`, without following links. Prints errors about
 * folders that cannot be read, and returns false then.
 */
bool gather(const char *root, gather_filter *filter, void *closure, struct gathered *out);
void gathered_release(struct gathered *g);

/* Splits a path: returns the last name; *folder, which the caller frees, is the part before it. */
const char *path_cut(const char *path, char **folder);

#endif
