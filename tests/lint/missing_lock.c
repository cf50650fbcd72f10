/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * missing_lock.c - faults that clang must find: `make lint` compiles this and expects a warning for
 * each line with FAULT. It is part of no program.
 */
#include "vfs/clips.h"

static struct lock_class table_class = {"table", 1};

struct table {
	struct lock lock;
	size_t count GUARDED_BY(table_class);
};

static struct lock_class other_class = {"other", 2};

static void grow(struct table *t) REQUIRES(table_class)
{
	t->count++;
}

size_t unlocked_read(const struct table *t)
{
	return t->count; /* FAULT */
}

void unlocked_call(struct table *t)
{
	grow(t); /* FAULT */
}

void wrong_class(struct table *t)
{
	lock_acquire(&t->lock, &other_class);
	t->count++; /* FAULT */
	lock_release(&t->lock, &other_class);
}

void locked(struct table *t)
{
	lock_acquire(&t->lock, &table_class);
	grow(t);
	lock_release(&t->lock, &table_class);
}

/* ---- the mount's own classes ---- */

size_t node_count(struct vfs *v)
{
	return v->nodes.count; /* FAULT */
}

bool below_root(struct vfs *v, const struct node *node)
{
	vfs_lock(v);
	vfs_unlock(v);
	return node_is_below(node, node); /* FAULT */
}

void twice(struct vfs *v, struct target *t)
{
	vfs_lock(v);
	target_put(v, t); /* FAULT */
	vfs_unlock(v);
}

int without_writer(struct vfs *v, struct animation *a, struct changes *changes)
{
	return clips_take_out(v, a, changes); /* FAULT */
}

size_t count_nodes(struct vfs *v)
{
	size_t count;

	vfs_lock(v);
	count = v->nodes.count;
	vfs_unlock(v);
	return count;
}
