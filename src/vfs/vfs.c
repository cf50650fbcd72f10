/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "vfs.h"

#include <errno.h>

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
