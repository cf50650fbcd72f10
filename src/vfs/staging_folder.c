/* SPDX-License-Identifier: GPL-3.0-or-later */
/* staging_folder.c - a staged folder while it ends: its names, and the nodes in it. */
#include "disk/dirfd.h"
#include "plain.h"
#include "staging_internal.h"
#include "view.h"
#include "watching.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Sets its names from its path, which is taken over (NULL: out of memory). 0 or an errno. */
static int staged_name(struct staged *f, char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	f->path = path;
	f->above = path ? strndup(path, slash ? (size_t)(slash - path) : 0) : NULL;
	if (!f->above)
		return ENOMEM;
	snprintf(f->name, sizeof(f->name), "%s", slash ? slash + 1 : path);
	return 0;
}

static int staged_find_owner(struct staged *f)
{
	const struct caller *maker = f->staging->who;
	struct stat st;

	if (!f->v->options->allow_other)
		return 0;
	if (fstat(f->fd, &st) != 0)
		return errno;
	f->who = maker;
	if (maker && maker->uid == st.st_uid)
		return 0;
	/* The folder may have its group from the one above it: the owner need not be in it. */
	f->owner = caller_new(st.st_uid, (gid_t)-1, NULL, 0);
	if (!f->owner)
		return ENOMEM;
	f->owner->makes = true;
	f->who = f->owner;
	return 0;
}

int staged_open(struct staged *f)
{
	const struct target t = {f->staging->node, f->staging->thing};
	struct buf path = BUF_INIT;
	const struct link *link;
	int error = ENOENT;

	vfs_lock(f->v);
	link = node_link(t.node);
	if (link && t.node->thing == t.thing)
		error = node_path(t.node, &path);
	if (!error)
		f->node_above = node_get(link->parent);
	vfs_unlock(f->v);
	if (error) {
		buf_release(&path);
		return error;
	}
	error = staged_name(f, (char *)path.data);
	if (!error)
		error = plain_open(f->v, &t, O_RDONLY | O_DIRECTORY, &f->fd);
	if (error) {
		f->fd = -1;
		return error;
	}
	error = staged_find_owner(f);
	if (error)
		return error;
	return attributes_read(f->fd, &f->as);
}

void staged_release(struct staged *f)
{
	for (size_t i = 0; i < f->clip_count; i++) {
		texts_release(&f->clips[i].texts);
		free(f->clips[i].name);
		close(f->clips[i].fd);
	}
	free(f->clips);
	texts_release(&f->texts);
	attributes_release(&f->as);
	buf_release(&f->raw);
	free(f->path);
	free(f->above);
	free(f->owner);
	if (f->fd >= 0)
		close(f->fd);
	folder_close(f->v, &f->parent);
	version_put(f->base);
	version_put(f->made);
	vfs_lock(f->v);
	node_put(&f->v->nodes, f->node_above);
	animation_put(f->v, f->animation);
	vfs_unlock(f->v);
}

struct program *staged_maker(const struct staged *f)
{
	struct program *maker;

	vfs_lock(f->v);
	maker = f->staging->maker.program;
	if (maker)
		program_get(maker);
	vfs_unlock(f->v);
	return maker;
}

void staged_says(const struct staged *f, const struct identity *raw, enum say says[GIVEN_COUNT])
{
	vfs_lock(f->v);
	gifts_say(&f->staging->gifts, raw, says);
	vfs_unlock(f->v);
}

/* ---- nodes ---- */

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
	node->thing->plain.taken = true;
	/* Its file may be moved to another area, and then is another thing. */
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

	node_get(node);
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
	node_put(&v->nodes, node);
}

/* The node of bones/ or frames/; NULL: not known. */
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
	node_get(folder); /* the names in it may be all that keeps it */
	for (size_t i = 0; i < t->count; i++) {
		const char *path = t->names[i].path, *slash = strchr(path, '/');
		char name[NAME_MAX + 1];
		struct node *in = folder;

		if (!all && t->list[i].fate == ASSEMBLY_UPPER)
			continue;
		if (slash) {
			snprintf(name, sizeof(name), "%.*s", (int)(slash - path), path);
			in = inner_folder(v, folder, name);
		}
		if (in)
			adopt_forget(v, in, slash ? slash + 1 : path, &t->names[i].st, changes);
	}
	node_put(&v->nodes, folder);
}
