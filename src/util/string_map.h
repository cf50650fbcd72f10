/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * string_map.h - a map from names to numbers. It keeps pointers to the names: they must outlive it.
 */
#ifndef ANIMFS_UTIL_STRING_MAP_H
#define ANIMFS_UTIL_STRING_MAP_H

#include <stddef.h>
#include <stdint.h>

/* Empty when zeroed. Open addressing; at most half of the slots are taken. */
struct string_map {
	struct string_slot {
		const char *name;
		uint32_t number;
	} * slots;
	size_t mask, count;
};

/* Returns the number of the name; a new name gets `number`. -1 when out of memory. */
int64_t string_map_add(struct string_map *m, const char *name, uint32_t number);
/* -1 when the name is not there. */
int64_t string_map_find(const struct string_map *m, const char *name);
void string_map_release(struct string_map *m);

#endif
