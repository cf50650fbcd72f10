/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "settle.h"
#include "end.h"
#include "lookup.h"
#include "staging.h"

#include <errno.h>
#include <stdlib.h>

/* Animations, each with a reference. */
struct animations {
	struct animation **list;
	size_t count, room;
};

static bool add_animation(struct animations *all, struct animation *a) REQUIRES(vfs_class)
{
	struct animation **list = array_room(all->list, all->count, &all->room, sizeof(*list));

	if (!list)
		return false;
	animation_get(a);
	all->list = list;
	list[all->count++] = a;
	return true;
}

/* Those whose folders are below this one, or are this one. */
static bool list_below(struct vfs *v, const struct node *above, struct animations *all)
{
	const struct node *node;
	bool fine = true;
	size_t at = 0;

	vfs_lock(v);
	while (fine && (node = nodes_next(&v->nodes, &at))) {
		if (node->thing->kind == THING_ANIMATION && node_is_below(node, above))
			fine = add_animation(all, node->thing->animation);
	}
	vfs_unlock(v);
	return fine;
}

static void animations_release(struct vfs *v, struct animations *all)
{
	vfs_lock(v);
	for (size_t i = 0; i < all->count; i++)
		animation_put(v, all->list[i]);
	vfs_unlock(v);
	free(all->list);
}

/* locked: the folder that the kernel has locked. */
static int settle_all(struct vfs *v, const struct node *above, uint64_t locked)
{
	struct animations all = {NULL, 0, 0};
	int first = stagings_finish(v, above), error;

	if (!list_below(v, above, &all))
		first = first ? first : ENOMEM;
	for (size_t i = 0; i < all.count; i++) {
		struct changes changes = CHANGES_INIT;

		changes.locked[0] = locked;
		error = end_now(v, all.list[i], &changes);
		changes_send_all(v, &changes);
		first = first ? first : error;
	}
	animations_release(v, &all);
	return first;
}

int settle_below(struct vfs *v, const struct target *folder)
{
	const struct thing *thing = folder->thing;
	struct node *file;
	int error;

	if (v->read_only || thing->kind == THING_CONTROL)
		return 0;
	(void)vfs_await_releases(v, RELEASES_MS);
	if (!thing_is_virtual(thing))
		return settle_all(v, folder->node, folder->node->id);
	file = folder_of(v, thing->animation);
	error = file ? settle_all(v, file, folder->node->id) : 0;
	node_release(v, file);
	return error;
}
