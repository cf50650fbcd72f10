/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * index.h - numbers of things that somebody else keeps, found by what those are.
 *
 * A thing that changes is put again under its new hash; the old cell does no harm, since what is
 * found is compared as it is now.
 */
#ifndef ANIMFS_CODEC_INDEX_H
#define ANIMFS_CODEC_INDEX_H

#include "animfs/base.h"

struct index {
	uint32_t *cells; /* number + 1; 0: free */
	size_t size;     /* a power of two */
};

/* Is thing `number` of `owner` what `key` says? */
typedef bool index_same(const void *owner, uint32_t number, const void *key);

/* For at most `count` entries. The memory is the arena's. False when there is none. */
bool index_init(struct index *x, struct arena *arena, size_t count);
bool index_find(const struct index *x, uint64_t hash, index_same *same, const void *owner,
		const void *key, uint32_t *number);
void index_put(struct index *x, uint64_t hash, uint32_t number);
/* Puts it unless its equal is there: thousands of equal things would all have to be walked past. */
void index_add(struct index *x, uint64_t hash, index_same *same, const void *owner, const void *key,
	       uint32_t number);

/* A hash, begun with 0, with more mixed into it. */
uint64_t index_mix(uint64_t hash, uint64_t word);
uint64_t index_bytes(uint64_t hash, const uint8_t *p, size_t size);
uint64_t index_text(const char *text);

#endif
