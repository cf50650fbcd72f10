/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cache.h - keeps unreferenced objects in bounded memory: versions of files, opened archives,
 * unpacked members.
 *
 * A cached object has a home: a pointer to it, for example to a file's latest version. Unreferenced
 * objects stay as long as they take at most `limit` bytes together; the least recently released is
 * dropped first, and its home cleared. Thread-safe.
 */
#ifndef ANIMFS_STORE_CACHE_H
#define ANIMFS_STORE_CACHE_H

#include "animfs/base.h"
#include "util/later.h"

struct cache;

/* The first member of every struct that can be cached. */
struct cached {
	struct later later;
	_Atomic unsigned references; /* number of references; 1 for the creator */
	size_t size;                 /* memory of the object in bytes */
	void (*free)(struct cached *c);
	/* Cache of the object's home; NULL if it never had a home. Used by the cache. */
	struct cache *cache;
	void (*put_last)(struct cached *c);
	struct cached **home;
	struct cached *newer, *older;
};

struct cached *cached_get(struct cached *c); /* takes a reference */
void cached_put(struct cached *c);           /* drops a reference; NULL is ignored */

struct cache *cache_new(size_t limit);
/*
 * Frees the cache; call it when no object has a home in it. References may outlive the cache. NULL
 * is ignored.
 */
void cache_free(struct cache *c);
size_t cache_size(struct cache *c);
size_t cache_limit(const struct cache *c);
/* Returns a reference to the object at home, or NULL. */
struct cached *cache_take(struct cache *c, struct cached **home);
/*
 * Replaces the object at home (by none if NULL); the old one lives until its references are
 * dropped.
 */
void cache_settle(struct cache *c, struct cached **home, struct cached *v);

#endif
