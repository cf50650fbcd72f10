/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "watching.h"

#include "disk/watch.h"

void folder_watch(struct vfs *v, const struct target *folder, int fd)
{
	bool watched;

	vfs_lock(v);
	watched = folder->thing->plain.watched;
	vfs_unlock(v);
	if (!v->watch || watched || watch_add(v->watch, fd, folder->node->id) != 0)
		return;
	vfs_lock(v);
	folder->thing->plain.watched = true;
	vfs_unlock(v);
}

void folder_unwatch(struct vfs *v, uint64_t node, const struct thing *folder)
{
	/* Also one that is not known to be watched: see everything_changed. */
	if (v->watch && folder->kind == THING_PLAIN && folder->folder)
		watch_drop(v->watch, node);
}
