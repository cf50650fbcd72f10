/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "recent.h"

#include <pthread.h>
#include <stdlib.h>

/* Node numbers count up, so that the last so many never meet in a slot. */
#define SLOTS 1024

struct recent {
	pthread_mutex_t lock;
	size_t limit, size; /* of all texts */
	size_t hand;        /* the slot to be emptied next */
	struct recent_slot {
		uint64_t node, generation;
		struct buf text;
	} slots[SLOTS];
};

struct recent *recent_new(size_t limit)
{
	struct recent *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	pthread_mutex_init(&r->lock, NULL);
	r->limit = limit;
	return r;
}

static void empty(struct recent *r, struct recent_slot *slot)
{
	r->size -= slot->text.capacity;
	buf_release(&slot->text);
	*slot = (struct recent_slot){.node = 0};
}

void recent_free(struct recent *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < SLOTS; i++)
		empty(r, &r->slots[i]);
	pthread_mutex_destroy(&r->lock);
	free(r);
}

void recent_put(struct recent *r, uint64_t node, uint64_t generation, struct buf *text)
{
	struct recent_slot *slot = &r->slots[node % SLOTS];

	if (text->capacity > r->limit) {
		buf_release(text);
		return;
	}
	pthread_mutex_lock(&r->lock);
	empty(r, slot);
	while (r->size + text->capacity > r->limit)
		empty(r, &r->slots[r->hand++ % SLOTS]);
	*slot = (struct recent_slot){node, generation, *text};
	r->size += text->capacity;
	pthread_mutex_unlock(&r->lock);
	*text = (struct buf)BUF_INIT;
}

bool recent_take(struct recent *r, uint64_t node, uint64_t generation, struct buf *text)
{
	struct recent_slot *slot = &r->slots[node % SLOTS];
	bool there;

	pthread_mutex_lock(&r->lock);
	there = slot->node == node && slot->generation == generation;
	if (there) {
		buf_release(text);
		*text = slot->text;
		r->size -= slot->text.capacity;
		*slot = (struct recent_slot){.node = 0};
	}
	pthread_mutex_unlock(&r->lock);
	return there;
}
