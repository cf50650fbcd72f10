/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "marks.h"
#include "program.h"

#include "store/version.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

static struct mark **marks_slot_of(struct marks *t, const struct node *parent, const char *name)
	REQUIRES(vfs_class)
{
	uint64_t hash = XXH3_64bits_withSeed(name, strlen(name), parent->id);

	return t->slots ? &t->slots[hash & t->mask] : &t->slot;
}

struct mark *marks_find(const struct marks *t, const struct node *parent, const char *name)
{
	struct marks table = *t;
	struct mark *mark = *marks_slot_of(&table, parent, name);

	while (mark && (mark->parent != parent || strcmp(mark->name, name) != 0))
		mark = mark->next_of_hash;
	return mark;
}

static void enter_slot(struct marks *t, struct mark *mark) REQUIRES(vfs_class)
{
	struct mark **slot = marks_slot_of(t, mark->parent, mark->name);

	mark->next_of_hash = *slot;
	*slot = mark;
}

/* Makes a table with a slot for each name. Out of memory, the old table stays. */
static void marks_grow(struct marks *t) REQUIRES(vfs_class)
{
	size_t size = t->slots ? (t->mask + 1) * 2 : 16;
	struct mark **slots =
		t->count < (t->slots ? t->mask + 1 : 1) ? NULL : calloc(size, sizeof(*slots));

	if (!slots)
		return;
	free(t->slots);
	t->slots = slots;
	t->slot = NULL;
	t->mask = size - 1;
	for (struct mark *mark = t->first; mark; mark = mark->next)
		enter_slot(t, mark);
}

static void marks_enter(struct marks *t, struct mark *mark) REQUIRES(vfs_class)
{
	mark->next = t->first;
	mark->back = &t->first;
	if (mark->next)
		mark->next->back = &mark->next;
	t->first = mark;
	t->count++;
	enter_slot(t, mark);
	marks_grow(t);
}

static void leave(struct marks *t, struct mark *mark) REQUIRES(vfs_class)
{
	struct mark **at = marks_slot_of(t, mark->parent, mark->name);

	while (*at != mark)
		at = &(*at)->next_of_hash;
	*at = mark->next_of_hash;
	*mark->back = mark->next;
	if (mark->next)
		mark->next->back = mark->back;
	t->count--;
}

struct mark *marks_add(struct marks *t, struct node *parent, const char *name)
{
	size_t size = strlen(name) + 1;
	struct mark *mark = calloc(1, sizeof(*mark) + size);

	if (!mark)
		return NULL;
	mark->parent = node_get(parent);
	memcpy(mark->name, name, size);
	marks_enter(t, mark);
	return mark;
}

static void mark_free(struct vfs *v, struct mark *mark) REQUIRES(vfs_class)
{
	node_put(&v->nodes, mark->parent);
	node_put(&v->nodes, mark->folder);
	v->given_free(v, mark->given);
	version_put(mark->base);
	program_put(mark->by);
	free(mark);
}

void marks_remove(struct vfs *v, struct marks *t, struct mark *mark)
{
	leave(t, mark);
	mark_free(v, mark);
}

void marks_move(struct vfs *v, struct marks *t, struct mark *mark, struct node *parent)
{
	struct node *old = mark->parent;

	leave(t, mark);
	mark->parent = node_get(parent);
	marks_enter(t, mark);
	node_put(&v->nodes, old);
}

void marks_release(struct vfs *v, struct marks *t)
{
	for (struct mark *mark = t->first, *next; mark; mark = next) {
		next = mark->next;
		mark_free(v, mark);
	}
	free(t->slots);
}
