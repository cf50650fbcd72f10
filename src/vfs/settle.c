/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "settle.h"
#include "end.h"
#include "lookup.h"
#include "staging.h"

#include <errno.h>
#include <stdlib.h>

/* a list of animations, each with a reference */
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

/* Lists the animations whose folders are `above` or below it. Returns false when out of memory. */
static bool settle_list_below(struct vfs *v, const struct node *above, struct animations *all)
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

/* Ends all unfinished work of an animation. locked: the folder that the kernel has locked. */
static int settle_one(struct vfs *v, struct animation *a, uint64_t locked)
{
	struct changes changes = CHANGES_INIT;
	int error;

	changes.locked[0] = locked;
	error = end_now(v, a, &changes);
	changes_send_all(v, &changes);
	return error;
}

static int settle_all(struct vfs *v, const struct node *above)
{
	struct animations all = {NULL, 0, 0};
	int first = settle_list_below(v, above, &all) ? 0 : ENOMEM, error;

	for (size_t i = 0; i < all.count; i++) {
		error = settle_one(v, all.list[i], above->id);
		first = first ? first : error;
	}
	animations_release(v, &all);
	return first;
}

int settle_below(struct vfs *v, const struct target *folder)
{
	const struct thing *thing = folder->thing;
	struct node *file;
	int staged = 0, error = 0;

	if (v->read_only || thing->kind == THING_CONTROL)
		return 0;
	(void)vfs_await_releases(v, RELEASES_MS);
	if (!thing_is_virtual(thing)) {
		staged = stagings_finish(v, folder->node);
		error = settle_all(v, folder->node);
		return staged ? staged : error;
	}
	file = folder_of(v, thing->animation);
	if (file) {
		staged = stagings_finish(v, file);
		error = settle_one(v, thing->animation, folder->node->id);
	}
	node_release(v, file);
	return staged ? staged : error;
}
