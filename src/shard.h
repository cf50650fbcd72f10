/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * shard.h - a part of a tree's files, for machines that share the work on it.
 *
 * A file belongs to one of N parts by its path alone, below the folder that was given: the XXH64
 * (seed 0) of its bytes, modulo N. So all machines agree, whatever else lies in the tree, and in
 * whatever order they find it.
 */
#ifndef ANIMFS_SHARD_H
#define ANIMFS_SHARD_H

#include "animfs/base.h"

/* {0} is the whole. */
struct shard {
	uint32_t index; /* from 1 */
	uint32_t count;
};

/* "2/5": the second of five. False and err when it is no such thing. */
bool shard_parse(struct shard *s, const char *value, struct err *err);
/* Is the file in it? The path is relative to the folder that was given, without "./" before it. */
bool shard_has(const struct shard *s, const char *path);

#endif
