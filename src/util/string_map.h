/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * string_map.h - a map from names to numbers. It keeps pointers to the names: they must outlive it.
 */
#ifndef ANIMFS_UTIL_STRING_MAP_H
#define ANIMFS_UTIL_STRING_MAP_H

#include <stddef.h>
#include <stdint.h>

/* A map, empty when zeroed. Open addressing; at most half of the slots are used. */
struct string_map {
	struct string_slot {
		const char *name;
		uint32_t number;
	} * slots;
	size_t mask, count;
};

/*
 * Returns the number of the name, after adding a new name with `number`. Returns -1 when out of
 * memory.
 */
int64_t string_map_add(struct string_map *m, const char *name, uint32_t number);
/* Returns the number of the name, or -1 if the map lacks it. */
int64_t string_map_find(const struct string_map *m, const char *name);
void string_map_release(struct string_map *m);

#endif
