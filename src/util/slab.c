/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "slab.h"

#include <stdlib.h>
#include <string.h>

#if __has_include(<sanitizer/asan_interface.h>)
#include <sanitizer/asan_interface.h> /* to poison freed objects: finds uses after slab_put */
#else
#define ASAN_POISON_MEMORY_REGION(at, size) ((void)(at), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(at, size) ((void)(at), (void)(size))
#endif

#define BLOCK_SIZE ((size_t)256 << 10)

struct slab_block {
	struct slab_block *next;
	size_t used; /* bytes in use, including this header */
};

static size_t steps_of(size_t size)
{
	return (size + SLAB_STEP - 1) / SLAB_STEP;
}

/*
 * Returns a block with room for an object. The rest of the previous block, which is too small for
 * the object, remains unused: less than SLAB_MAX bytes.
 */
static struct slab_block *with_room(struct slab *s, size_t size)
{
	struct slab_block *b = s->blocks;

	if (b && BLOCK_SIZE - b->used >= size)
		return b;
	b = malloc(BLOCK_SIZE);
	if (!b)
		return NULL;
	*b = (struct slab_block){s->blocks, sizeof(*b)};
	ASAN_POISON_MEMORY_REGION(b + 1, BLOCK_SIZE - sizeof(*b));
	s->blocks = b;
	return b;
}

static void *begin_thing(struct slab *s, size_t size)
{
	struct slab_block *b = with_room(s, size);
	void *thing = b ? (char *)b + b->used : NULL;

	if (!thing)
		return NULL;
	b->used += size;
	ASAN_UNPOISON_MEMORY_REGION(thing, size);
	return thing;
}

static void *use_again(void **free, size_t size)
{
	void *thing = *free;

	ASAN_UNPOISON_MEMORY_REGION(thing, size);
	*free = *(void **)thing;
	return thing;
}

void *slab_get(struct slab *s, size_t size)
{
	void **free = &s->free[steps_of(size)], *thing;

	size = steps_of(size) * SLAB_STEP;
	thing = *free ? use_again(free, size) : begin_thing(s, size);
	return thing ? memset(thing, 0, size) : NULL;
}

void slab_put(struct slab *s, void *thing, size_t size)
{
	void **free = &s->free[steps_of(size)];

	if (!thing)
		return;
	*(void **)thing = *free;
	*free = thing;
	ASAN_POISON_MEMORY_REGION(thing, steps_of(size) * SLAB_STEP);
}

void slab_release(struct slab *s)
{
	while (s->blocks) {
		struct slab_block *next = s->blocks->next;

		ASAN_UNPOISON_MEMORY_REGION(s->blocks, BLOCK_SIZE);
		free(s->blocks);
		s->blocks = next;
	}
	*s = (struct slab){.blocks = NULL};
}
