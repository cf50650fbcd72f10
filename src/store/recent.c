/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "recent.h"

#include "util/lock_classes.h"

#include <stdlib.h>

/* number of slots; node numbers are consecutive, so the latest nodes do not share one */
#define SLOTS 1024

struct recent {
	struct lock lock;
	size_t limit;
	size_t size GUARDED_BY(recent_class); /* size of all cached texts in bytes */
	size_t hand GUARDED_BY(recent_class); /* index of the next slot to evict */
	struct recent_slot {
		uint64_t node, generation;
		struct text *text;
	} slots[SLOTS] GUARDED_BY(recent_class);
};

struct recent *recent_new(size_t limit)
{
	struct recent *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	lock_init(&r->lock);
	r->limit = limit;
	return r;
}

static void recent_empty_slot(struct recent *r, struct recent_slot *slot) REQUIRES(recent_class)
{
	r->size -= text_capacity(slot->text);
	text_put(slot->text);
	*slot = (struct recent_slot){.node = 0};
}

UNSHARED void recent_free(struct recent *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < SLOTS; i++)
		recent_empty_slot(r, &r->slots[i]);
	lock_destroy(&r->lock);
	free(r);
}

void recent_put(struct recent *r, uint64_t node, uint64_t generation, struct text *text)
{
	size_t size = text_capacity(text);
	struct recent_slot *slot;

	if (size > r->limit)
		return;
	lock_acquire(&r->lock, &recent_class);
	slot = &r->slots[node % SLOTS];
	recent_empty_slot(r, slot);
	while (r->size + size > r->limit)
		recent_empty_slot(r, &r->slots[r->hand++ % SLOTS]);
	*slot = (struct recent_slot){node, generation, text_get(text)};
	r->size += size;
	lock_release(&r->lock, &recent_class);
}

struct text *recent_get(struct recent *r, uint64_t node, uint64_t generation)
{
	struct recent_slot *slot;
	struct text *text = NULL;

	lock_acquire(&r->lock, &recent_class);
	slot = &r->slots[node % SLOTS];
	if (slot->node == node && slot->generation == generation)
		text = text_get(slot->text);
	lock_release(&r->lock, &recent_class);
	return text;
}
