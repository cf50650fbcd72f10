/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cache.h"

#include "../util/lock_classes.h"

#include <stdlib.h>

/*
 * A version with a home and without holders is on the list and counts. Going from no holder to one,
 * and back, happens under the mutex; between others the counter alone is enough.
 */
struct cache {
	_Atomic size_t users; /* who made it, and the versions that have had a home in it */
	struct lock lock;
	size_t limit;
	size_t size GUARDED_BY(cache_class);
	struct version *newest GUARDED_BY(cache_class), *oldest GUARDED_BY(cache_class);
};

struct cache *cache_new(size_t limit)
{
	struct cache *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->users = 1;
	c->limit = limit;
	lock_init(&c->lock);
	return c;
}

void cache_free(struct cache *c)
{
	if (!c || --c->users > 0)
		return;
	lock_destroy(&c->lock);
	free(c);
}

/* Those in a list by `older`. With no lock held: a large model takes its time. */
static void discard(struct version *list)
{
	while (list) {
		struct version *v = list;
		struct cache *c = v->cache;

		list = v->older;
		version_free(v);
		cache_free(c);
	}
}

size_t cache_size(struct cache *c)
{
	size_t size;

	lock_acquire(&c->lock, &cache_class);
	size = c->size;
	lock_release(&c->lock, &cache_class);
	return size;
}

static void list_add(struct cache *c, struct version *v) REQUIRES(cache_class)
{
	v->newer = NULL;
	v->older = c->newest;
	*(c->newest ? &c->newest->newer : &c->oldest) = v;
	c->newest = v;
	c->size += v->size;
}

static void list_remove(struct cache *c, struct version *v) REQUIRES(cache_class)
{
	*(v->newer ? &v->newer->older : &c->newest) = v->older;
	*(v->older ? &v->older->newer : &c->oldest) = v->newer;
	v->newer = v->older = NULL;
	c->size -= v->size;
}

/* The oldest, which do not fit any more; linked by `older`. */
static struct version *take_surplus(struct cache *c) REQUIRES(cache_class)
{
	struct version *list = NULL, *v;

	while (c->size > c->limit && (v = c->oldest)) {
		list_remove(c, v);
		*v->home = NULL;
		v->older = list;
		list = v;
	}
	return list;
}

struct version *cache_take(struct cache *c, struct version **home)
{
	struct version *v;

	lock_acquire(&c->lock, &cache_class);
	v = *home;
	if (v && v->references++ == 0)
		list_remove(c, v);
	lock_release(&c->lock, &cache_class);
	return v;
}

/*
 * What version_put does of the last holder's. Once the lock is released only what is discarded
 * keeps the cache.
 */
static void put_last(struct version *v)
{
	struct cache *c = v->cache;
	struct version *gone = NULL;

	lock_acquire(&c->lock, &cache_class);
	if (--v->references == 0 && v->home) {
		list_add(c, v);
		gone = take_surplus(c);
	} else if (v->references == 0) {
		gone = v;
	}
	lock_release(&c->lock, &cache_class);
	discard(gone);
}

/* Returns the old one when nobody holds it. */
static struct version *move(struct cache *c, struct version **home, struct version *v)
	REQUIRES(cache_class)
{
	struct version *old = *home;

	*home = v;
	if (v) {
		c->users += !v->cache;
		v->cache = c;
		v->put_last = put_last;
		v->home = home;
	}
	if (old)
		old->home = NULL;
	if (!old || old->references)
		return NULL;
	list_remove(c, old);
	return old;
}

void cache_settle(struct cache *c, struct version **home, struct version *v)
{
	struct version *gone = NULL;

	lock_acquire(&c->lock, &cache_class);
	if (*home != v)
		gone = move(c, home, v);
	lock_release(&c->lock, &cache_class);
	discard(gone);
}
