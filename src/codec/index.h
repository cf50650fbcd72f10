/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * index.h - a hash index of objects that the caller keeps in an array: finds the number of an equal
 * one.
 *
 * If an object changes, add it again under its new hash; its old cell does no harm, since found
 * objects are compared in their present state.
 */
#ifndef ANIMFS_CODEC_INDEX_H
#define ANIMFS_CODEC_INDEX_H

#include "animfs/base.h"

struct index {
	uint32_t *cells; /* hash table of object numbers + 1; 0: the cell is free */
	size_t size;     /* number of cells, a power of two */
};

/* Is object `number` of `owner` equal to `key`? */
typedef bool index_same(const void *owner, uint32_t number, const void *key);

/*
 * Initializes an index for at most `count` entries, in the arena's memory. False when out of
 * memory.
 */
bool index_init(struct index *x, struct arena *arena, size_t count);
bool index_find(const struct index *x, uint64_t hash, index_same *same, const void *owner,
		const void *key, uint32_t *number);
void index_put(struct index *x, uint64_t hash, uint32_t number);
/*
 * Adds an object unless an equal one is in the index: a search would have to walk past thousands of
 * equal objects.
 */
void index_add(struct index *x, uint64_t hash, index_same *same, const void *owner, const void *key,
	       uint32_t number);

/* Mixes a word into a hash, which begins with 0. */
uint64_t index_mix(uint64_t hash, uint64_t word);
uint64_t index_bytes(uint64_t hash, const uint8_t *p, size_t size);
uint64_t index_text(const char *text);

#endif
