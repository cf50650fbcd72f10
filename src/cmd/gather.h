/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gather.h - what a command over a whole tree works on: paths below its root, in order. */
#ifndef ANIMFS_GATHER_H
#define ANIMFS_GATHER_H

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

/* What becomes of an entry; GATHER_TAKE does not go into a folder. */
enum gather { GATHER_PASS, GATHER_ENTER, GATHER_TAKE };
typedef enum gather gather_ask(void *closure, const FTSENT *entry, const char *path);

/*
 * Asks about everything below `root`, the path of a folder, without following links; folders that
 * cannot be read are told on stderr, and the answer is false then.
 */
bool gather(const char *root, gather_ask *ask, void *closure, struct gathered *out);
void gathered_release(struct gathered *g);

/* The last name in a path, and in `folder` what stands before it, which the caller frees. */
const char *path_cut(const char *path, char **folder);

#endif
