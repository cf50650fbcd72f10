/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cache.h - the versions of files that nobody holds.
 *
 * A version in it has a home, which is a pointer to the latest one of a file. Held by nobody they
 * stay while all such together take at most `limit` bytes; those released longest ago go first.
 * Thread-safe.
 */
#ifndef ANIMFS_CACHE_H
#define ANIMFS_CACHE_H

#include "version.h"

struct cache *cache_new(size_t limit);
/* When no version has a home in it any more; holders of some may outlive it. NULL is fine. */
void cache_free(struct cache *c);
size_t cache_size(struct cache *c);
/* A holder of the version at home, or NULL. */
struct version *cache_take(struct cache *c, struct version **home);
/* Another one moves in, or none (NULL); the one that was there lives on with its holders. */
void cache_settle(struct cache *c, struct version **home, struct version *v);

#endif
