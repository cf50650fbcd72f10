/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cache.h - keeps what nobody uses for now in bounded memory: versions of files, opened archives,
 * unpacked members.
 *
 * What is cached has a home: a pointer, of the file's latest version for example. What is not
 * referenced stays while all of it takes at most `limit` bytes; the least recently released is
 * dropped first, and its home cleared. Thread-safe.
 */
#ifndef ANIMFS_STORE_CACHE_H
#define ANIMFS_STORE_CACHE_H

#include "animfs/base.h"

struct cache;

/* The first member of what can be cached. */
struct cached {
	_Atomic unsigned references; /* 1 for its creator */
	size_t size;                 /* bytes of memory */
	void (*free)(struct cached *c);
	/* Used by the cache; NULL if it never had a home. */
	struct cache *cache;
	void (*put_last)(struct cached *c);
	struct cached **home;
	struct cached *newer, *older;
};

struct cached *cached_get(struct cached *c); /* takes a reference */
void cached_put(struct cached *c);           /* drops a reference; NULL is fine */

struct cache *cache_new(size_t limit);
/* Call it when nothing has a home in it; references may outlive it. NULL is fine. */
void cache_free(struct cache *c);
size_t cache_size(struct cache *c);
size_t cache_limit(const struct cache *c);
/* A reference to what is at home, or NULL. */
struct cached *cache_take(struct cache *c, struct cached **home);
/*
 * Replaces what is at home (NULL: by nothing); the old one lives until its references are dropped.
 */
void cache_settle(struct cache *c, struct cached **home, struct cached *v);

#endif
