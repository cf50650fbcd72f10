/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plain.h"
#include "staging_internal.h"
#include "view.h"
#include "watching.h"

#include <stdio.h>
#include <string.h>

void adopt_forget(struct vfs *v, struct node *folder, const char *name, const struct stat *st,
		  struct changes *changes)
{
	struct node *node = nodes_by_name(&v->nodes, folder, name);

	if (!node || node->thing->kind != THING_PLAIN)
		return;
	node_get(node);
	changes_name(changes, folder, name, false);
	nodes_unlink(&v->nodes, folder, name);
	plain_lost_name(v, node, st);
	/* Its file may be moved to another area, where it is another thing. */
	thing_leave_identity(&v->nodes, node->thing);
	if (node->thing->folder)
		folder_forget(v, node->thing);
	node_put(&v->nodes, node);
}

static void lose_names(struct vfs *v, struct node *node, struct changes *changes)
	REQUIRES(vfs_class)
{
	changes_names(changes, node, true);
	nodes_unlink_all(&v->nodes, node);
}

void adopt_folder(struct vfs *v, struct node *node, enum thing_kind kind, struct animation *a,
		  struct changes *changes)
{
	struct thing *thing = thing_of(&v->nodes, kind, a);
	const struct link *link = node_link(node);

	folder_unwatch(v, node->id, node->thing);
	folder_forget(v, node->thing);
	thing_leave_identity(&v->nodes, node->thing);
	if (thing)
		node_point(&v->nodes, node, thing);
	else
		lose_names(v, node, changes);
	if (thing && link)
		node->shown_ino = virtual_ino(link->parent, link->name);
	thing_put(&v->nodes, thing);
	changes_data(changes, node);
}

/* bones/ or frames/, where it is known; NULL: it is not. */
static struct node *inner_folder(struct vfs *v, const struct node *folder, const char *name)
	REQUIRES(vfs_class)
{
	struct node *inner = nodes_by_name(&v->nodes, folder, name);

	return inner && inner->thing->folder ? inner : NULL;
}

void adopt_clip(struct vfs *v, struct node *node, struct animation *a, struct changes *changes)
{
	static const enum thing_kind kinds[ARRAY_SIZE(tree_inner_folders)] = {THING_BONES,
									      THING_FRAMES};

	adopt_folder(v, node, THING_CLIP, a, changes);
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		struct node *inner = inner_folder(v, node, tree_inner_folders[i]);

		if (inner && inner->thing->kind == THING_PLAIN)
			adopt_folder(v, inner, kinds[i], a, changes);
	}
}

void adopt_forget_texts(struct vfs *v, struct node *folder, const struct texts *t, bool all,
			struct changes *changes)
{
	for (size_t i = 0; i < t->count; i++) {
		const char *path = t->names[i].path, *slash = strchr(path, '/');
		char name[NAME_MAX + 1];
		struct node *in = folder;

		if (!all && t->list[i].fate == FILL_EXTRA)
			continue;
		if (slash) {
			snprintf(name, sizeof(name), "%.*s", (int)(slash - path), path);
			in = inner_folder(v, folder, name);
		}
		if (in)
			adopt_forget(v, in, slash ? slash + 1 : path, &t->names[i].st, changes);
	}
}
