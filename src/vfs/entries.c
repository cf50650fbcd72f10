/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "entries.h"
#include "deadline.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define KEPT_MAX 65536 /* bytes of names in the largest listing that the kernel may cache */

/* Offsets come in ranges: "." and "..", then places, then all other names. */
#define OFFSET_PLACES 2
#define OFFSET_NAMES ((uint64_t)1 << 60)

/* ---- listings ---- */

void listing_free(struct listing *l)
{
	if (!l)
		return;
	buf_release(&l->names);
	free(l->entries);
	free(l);
}

bool listing_add(struct listing *l, const char *name, uint64_t ino, mode_t type)
{
	struct listing_entry *entries =
		array_room(l->entries, l->count, &l->room, sizeof(*entries));

	if (!entries)
		return false;
	l->entries = entries;
	entries[l->count++] =
		(struct listing_entry){.name = l->names.size, .ino = ino, .type = type};
	buf_add(&l->names, name, strlen(name) + 1);
	return !l->names.failed;
}

void listing_pass_place(struct listing *l)
{
	l->places++;
}

bool listing_add_place(struct listing *l, const char *name, uint64_t ino, mode_t type)
{
	if (!listing_add(l, name, ino, type))
		return false;
	l->entries[l->count - 1].offset = OFFSET_PLACES + ++l->places;
	return true;
}

const char *listing_name(const struct listing *l, size_t i)
{
	return (const char *)l->names.data + l->entries[i].name;
}

static uint64_t offset_of(const char *name)
{
	if (strcmp(name, ".") == 0)
		return 1;
	if (strcmp(name, "..") == 0)
		return 2;
	return OFFSET_NAMES | XXH3_64bits(name, strlen(name)) >> 2;
}

static int by_offset(const void *pa, const void *pb)
{
	const struct listing_entry *a = pa, *b = pb;

	return (a->offset > b->offset) - (a->offset < b->offset);
}

void listing_order(struct listing *l)
{
	for (size_t i = 0; i < l->count; i++) {
		if (!l->entries[i].offset)
			l->entries[i].offset = offset_of(listing_name(l, i));
	}
	if (l->count)
		qsort(l->entries, l->count, sizeof(*l->entries), by_offset);
}

size_t listing_behind(const struct listing *l, uint64_t offset)
{
	size_t low = 0, high = l->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (l->entries[middle].offset <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

uint32_t listing_hash(const struct listing *l)
{
	uint64_t hash = XXH3_64bits(l->names.data, l->names.size);

	if (l->names.size > KEPT_MAX)
		return 0;
	for (size_t i = 0; i < l->count; i++) {
		uint64_t facts[] = {l->entries[i].ino, l->entries[i].type};

		hash = XXH3_64bits_withSeed(facts, sizeof(facts), hash);
	}
	return (uint32_t)hash ? (uint32_t)hash : 1;
}

/* ---- listings that are being read ---- */

#define KEPT 16

struct listings {
	struct lock lock;
	size_t next GUARDED_BY(listings_class);
	struct {
		uint64_t node;
		int64_t since; /* when the listing was put in (clock_real_ms) */
		struct listing *listing;
	} slot[KEPT] GUARDED_BY(listings_class);
};

struct listings *listings_new(void)
{
	struct listings *l = calloc(1, sizeof(*l));

	if (l)
		lock_init(&l->lock);
	return l;
}

UNSHARED void listings_free(struct listings *l)
{
	if (!l)
		return;
	for (size_t i = 0; i < KEPT; i++)
		listing_free(l->slot[i].listing);
	lock_destroy(&l->lock);
	free(l);
}

struct listing *listings_take(struct listings *l, uint64_t node)
{
	struct listing *found = NULL, *old = NULL;

	lock_acquire(&l->lock, &listings_class);
	for (size_t i = 0; i < KEPT && !found && !old; i++) {
		if (!l->slot[i].listing || l->slot[i].node != node)
			continue;
		if (clock_real_ms() - l->slot[i].since < KEPT_MS)
			found = l->slot[i].listing;
		else
			old = l->slot[i].listing;
		l->slot[i].listing = NULL;
	}
	lock_release(&l->lock, &listings_class);
	listing_free(old);
	return found;
}

void listings_put(struct listings *l, uint64_t node, struct listing *listing)
{
	struct listing *old;
	size_t i = 0;

	lock_acquire(&l->lock, &listings_class);
	while (i < KEPT && l->slot[i].node != node)
		i++;
	if (i == KEPT) {
		i = l->next;
		l->next = (l->next + 1) % KEPT;
	}
	old = l->slot[i].listing;
	l->slot[i].node = node;
	l->slot[i].since = clock_real_ms();
	l->slot[i].listing = listing;
	lock_release(&l->lock, &listings_class);
	listing_free(old);
}
