/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "util/string_map.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

static struct string_slot *string_map_find_slot(const struct string_map *m, const char *name)
{
	size_t at = (size_t)XXH3_64bits(name, strlen(name)) & m->mask;

	while (m->slots[at].name && strcmp(m->slots[at].name, name) != 0)
		at = (at + 1) & m->mask;
	return &m->slots[at];
}

static bool grow_map(struct string_map *m)
{
	struct string_map larger = {.mask = m->slots ? 2 * m->mask + 1 : 255, .count = m->count};

	larger.slots = calloc(larger.mask + 1, sizeof(*larger.slots));
	if (!larger.slots)
		return false;
	for (size_t i = 0; m->slots && i <= m->mask; i++)
		if (m->slots[i].name)
			*string_map_find_slot(&larger, m->slots[i].name) = m->slots[i];
	free(m->slots);
	*m = larger;
	return true;
}

int64_t string_map_add(struct string_map *m, const char *name, uint32_t number)
{
	struct string_slot *slot;

	if ((!m->slots || m->count > m->mask / 2) && !grow_map(m))
		return -1;
	slot = string_map_find_slot(m, name);
	if (!slot->name) {
		*slot = (struct string_slot){name, number};
		m->count++;
	}
	return slot->number;
}

int64_t string_map_find(const struct string_map *m, const char *name)
{
	const struct string_slot *slot = m->slots ? string_map_find_slot(m, name) : NULL;

	return slot && slot->name ? (int64_t)slot->number : -1;
}

void string_map_release(struct string_map *m)
{
	free(m->slots);
	*m = (struct string_map){.slots = NULL};
}
