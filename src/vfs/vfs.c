/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "vfs.h"

#include "util/clock.h"

#include <errno.h>
#include <stdlib.h>

int target_get(struct vfs *v, uint64_t node, struct target *out)
{
	struct node *found;

	vfs_lock(v);
	found = nodes_by_id(&v->nodes, node);
	if (found)
		*out = (struct target){node_get(found), thing_get(found->thing)};
	vfs_unlock(v);
	return found ? 0 : ESTALE;
}

void target_put(struct vfs *v, struct target *t)
{
	vfs_lock(v);
	thing_put(&v->nodes, t->thing);
	node_put(&v->nodes, t->node);
	vfs_unlock(v);
	*t = (struct target){NULL, NULL};
}

bool target_stands(struct vfs *v, const struct target *t)
{
	bool stands;

	vfs_lock(v);
	stands = t->node->thing == t->thing;
	vfs_unlock(v);
	return stands;
}

#define TRIES 8

bool may_retry(int error, unsigned *tries)
{
	return error == ESTALE && ++*tries < TRIES;
}

bool target_retry(struct vfs *v, const struct target *t, int error, unsigned *tries)
{
	return may_retry(error, tries) && target_stands(v, t);
}

bool target_again(struct vfs *v, struct target *t, int error, unsigned *tries)
{
	bool again = may_retry(error, tries) && !target_stands(v, t);

	target_put(v, t);
	return again;
}

bool vfs_await_releases(const struct vfs *v, int64_t ms)
{
	int64_t end = clock_real_ms() + ms;

	while (v->releases) {
		if (clock_real_ms() >= end)
			return false;
		clock_sleep(1);
	}
	return true;
}

void node_release(struct vfs *v, struct node *node)
{
	vfs_lock(v);
	node_put(&v->nodes, node);
	vfs_unlock(v);
}

int path_of(struct vfs *v, const struct node *node, const char *name, char **out)
{
	struct buf path = BUF_INIT;
	int error;

	vfs_lock(v);
	error = name ? node_path_of(node, name, &path) : node_path(node, &path);
	vfs_unlock(v);
	if (error)
		buf_release(&path);
	*out = (char *)path.data;
	return error;
}
