/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "index.h"

#include <string.h>
#include <xxhash.h>

uint64_t index_mix(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
	return hash ^ hash >> 29;
}

bool index_init(struct index *x, struct arena *arena, size_t count)
{
	*x = (struct index){.size = 4};
	while (x->size / 2 < count)
		x->size *= 2;
	x->cells = arena_alloc(arena, x->size, sizeof(*x->cells));
	return x->cells != NULL;
}

bool index_find(const struct index *x, uint64_t hash, index_same *same, const void *owner,
		const void *key, uint32_t *number)
{
	size_t i;

	for (i = (size_t)hash & (x->size - 1); x->cells[i]; i = (i + 1) & (x->size - 1)) {
		*number = x->cells[i] - 1;
		if (same(owner, *number, key))
			return true;
	}
	return false;
}

void index_put(struct index *x, uint64_t hash, uint32_t number)
{
	size_t i = (size_t)hash & (x->size - 1);

	while (x->cells[i])
		i = (i + 1) & (x->size - 1);
	x->cells[i] = number + 1;
}

void index_add(struct index *x, uint64_t hash, index_same *same, const void *owner, const void *key,
	       uint32_t number)
{
	uint32_t equal;

	if (!index_find(x, hash, same, owner, key, &equal))
		index_put(x, hash, number);
}

uint64_t index_bytes(uint64_t hash, const uint8_t *p, size_t size)
{
	return XXH3_64bits_withSeed(p, size, hash);
}

uint64_t index_text(const char *text)
{
	return index_bytes(0, (const uint8_t *)text, strlen(text));
}
