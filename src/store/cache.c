/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cache.h"

#include "util/lock_classes.h"

#include <stdatomic.h>
#include <stdlib.h>

/*
 * A cache. Objects that have a home and no references are on its list, and count for its size.
 * References change between 0 and 1 only under the lock; otherwise atomically.
 */
struct cache {
	_Atomic size_t users; /* number of users: the creator, and all objects that have or had a
				 home in the cache */
	struct lock lock;
	size_t limit;
	size_t size GUARDED_BY(cache_class);
	struct cached *newest GUARDED_BY(cache_class), *oldest GUARDED_BY(cache_class);
};

/* ---- references ---- */

struct cached *cached_get(struct cached *c)
{
	c->references++;
	return c;
}

/* Drops a reference without a lock, unless it is the last. */
static bool put_one_of_many(struct cached *c)
{
	unsigned seen = c->references;

	while (seen > 1) {
		if (atomic_compare_exchange_weak(&c->references, &seen, seen - 1))
			return true;
	}
	return false;
}

/* Frees an object; drops the cache last, since the object may be its last user. */
static void cached_free(struct later *l)
{
	struct cached *v = (struct cached *)l;
	struct cache *c = v->cache;

	v->free(v);
	cache_free(c);
}

void cached_put(struct cached *c)
{
	if (!c || put_one_of_many(c))
		return;
	if (c->put_last)
		c->put_last(c);
	else
		later_free(&c->later, cached_free);
}

/* ---- the cache ---- */

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

/* Frees a list, linked by `older`. Without a lock, since freeing much takes time. */
static void discard_all(struct cached *list)
{
	while (list) {
		struct cached *v = list;

		list = v->older;
		later_free(&v->later, cached_free);
	}
}

size_t cache_limit(const struct cache *c)
{
	return c->limit;
}

size_t cache_size(struct cache *c)
{
	size_t size;

	lock_acquire(&c->lock, &cache_class);
	size = c->size;
	lock_release(&c->lock, &cache_class);
	return size;
}

static void list_add(struct cache *c, struct cached *v) REQUIRES(cache_class)
{
	v->newer = NULL;
	v->older = c->newest;
	*(c->newest ? &c->newest->newer : &c->oldest) = v;
	c->newest = v;
	c->size += v->size;
}

static void list_remove(struct cache *c, struct cached *v) REQUIRES(cache_class)
{
	*(v->newer ? &v->newer->older : &c->newest) = v->older;
	*(v->older ? &v->older->newer : &c->oldest) = v->newer;
	v->newer = v->older = NULL;
	c->size -= v->size;
}

/*
 * Removes the oldest objects that exceed the limit from the list; returns them linked by
 * `older`.
 */
static struct cached *cache_take_surplus(struct cache *c) REQUIRES(cache_class)
{
	struct cached *list = NULL, *v;

	while (c->size > c->limit && (v = c->oldest)) {
		list_remove(c, v);
		*v->home = NULL;
		v->older = list;
		list = v;
	}
	return list;
}

struct cached *cache_take(struct cache *c, struct cached **home)
{
	struct cached *v;

	lock_acquire(&c->lock, &cache_class);
	v = *home;
	if (v && v->references++ == 0)
		list_remove(c, v);
	lock_release(&c->lock, &cache_class);
	return v;
}

/*
 * Drops the last reference of an object. After the lock is released, only the discarded objects
 * keep the cache alive.
 */
static void put_last(struct cached *v)
{
	struct cache *c = v->cache;
	struct cached *gone = NULL;

	lock_acquire(&c->lock, &cache_class);
	if (--v->references == 0 && v->home) {
		list_add(c, v);
		gone = cache_take_surplus(c);
	} else if (v->references == 0) {
		gone = v;
	}
	lock_release(&c->lock, &cache_class);
	discard_all(gone);
}

/* Sets the home to v. Returns the old object, to be freed, if it has no references; else NULL. */
static struct cached *move_home(struct cache *c, struct cached **home, struct cached *v)
	REQUIRES(cache_class)
{
	struct cached *old = *home;

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

void cache_settle(struct cache *c, struct cached **home, struct cached *v)
{
	struct cached *gone = NULL;

	lock_acquire(&c->lock, &cache_class);
	if (*home != v)
		gone = move_home(c, home, v);
	lock_release(&c->lock, &cache_class);
	discard_all(gone);
}
