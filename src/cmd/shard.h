/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * shard.h - divides the files of a tree among machines.
 *
 * A file belongs to one of N parts only by its path below the given folder: the XXH64 (seed 0) of
 * the path's bytes, modulo N. So all machines agree, whatever else is in the tree and in whatever
 * order they find it.
 */
#ifndef ANIMFS_CMD_SHARD_H
#define ANIMFS_CMD_SHARD_H

#include "animfs/base.h"

/* One of several parts of a tree; {0}: all files. */
struct shard {
	uint32_t index; /* number of the part, counted from 1 */
	uint32_t count;
};

/*
 * Parses "2/5", the second of five parts; NULL leaves *s unchanged. False, with err set, if the
 * value is invalid.
 */
bool shard_parse(struct shard *s, const char *value, struct err *err);
/* Returns the index of the part, of `count`, that a file is in; the path is as for shard_has. */
uint32_t shard_of(const char *path, uint32_t count);
/* Is the file in this part? The path is relative to the given folder, without "./". */
bool shard_has(const struct shard *s, const char *path);

#endif
