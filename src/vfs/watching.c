/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "watching.h"

#include "disk/watch.h"

#include <stdlib.h>

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

struct unwatched {
	struct later later;
	struct watch *watch;
	uint64_t node;
};

static void unwatch_later(struct later *l)
{
	const struct unwatched *u = (struct unwatched *)l;

	watch_drop(u->watch, u->node);
	free(l);
}

/* Unwatch only after the lock is released: others may wait for the kernel in watch_add. */
void folder_unwatch(struct vfs *v, uint64_t node, const struct thing *folder)
{
	struct unwatched *u;

	/* Unwatch also a folder whose `watched` is not set: see everything_changed. */
	if (!v->watch || folder->kind != THING_PLAIN || !folder->folder)
		return;
	u = malloc(sizeof(*u));
	if (!u) {
		watch_drop(v->watch, node);
		return;
	}
	*u = (struct unwatched){.watch = v->watch, .node = node};
	later_free(&u->later, unwatch_later);
}
