/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "recent.h"

#include "util/lock_classes.h"

#include <stdlib.h>

/* Node numbers count up, so that the last so many never meet in a slot. */
#define SLOTS 1024

struct recent {
	struct lock lock;
	size_t limit;
	size_t size GUARDED_BY(recent_class); /* of all texts */
	size_t hand GUARDED_BY(recent_class); /* the slot to be emptied next */
	struct recent_slot {
		uint64_t node, generation;
		struct buf text;
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

static void empty(struct recent *r, struct recent_slot *slot) REQUIRES(recent_class)
{
	r->size -= slot->text.capacity;
	buf_release(&slot->text);
	*slot = (struct recent_slot){.node = 0};
}

UNSHARED void recent_free(struct recent *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < SLOTS; i++)
		empty(r, &r->slots[i]);
	lock_destroy(&r->lock);
	free(r);
}

void recent_put(struct recent *r, uint64_t node, uint64_t generation, struct buf *text)
{
	struct recent_slot *slot;

	if (text->capacity > r->limit) {
		buf_release(text);
		return;
	}
	lock_acquire(&r->lock, &recent_class);
	slot = &r->slots[node % SLOTS];
	empty(r, slot);
	while (r->size + text->capacity > r->limit)
		empty(r, &r->slots[r->hand++ % SLOTS]);
	*slot = (struct recent_slot){node, generation, *text};
	r->size += text->capacity;
	lock_release(&r->lock, &recent_class);
	*text = (struct buf)BUF_INIT;
}

bool recent_take(struct recent *r, uint64_t node, uint64_t generation, struct buf *text)
{
	struct recent_slot *slot;
	bool there;

	lock_acquire(&r->lock, &recent_class);
	slot = &r->slots[node % SLOTS];
	there = slot->node == node && slot->generation == generation;
	if (there) {
		buf_release(text);
		*text = slot->text;
		r->size -= slot->text.capacity;
		*slot = (struct recent_slot){.node = 0};
	}
	lock_release(&r->lock, &recent_class);
	return there;
}
