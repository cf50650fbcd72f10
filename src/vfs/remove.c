/* SPDX-License-Identifier: GPL-3.0-or-later */
/* remove.c - names that go: unlink, rmdir. */
#include "dir.h"
#include "given.h"
#include "plain.h"
#include "save.h"
#include "staging.h"
#include "store/create.h"
#include "upper.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* ---- plain things ---- */

/* Is it still what the kernel means? Otherwise it is to look the name up again. */
static int check_known(struct vfs *v, const struct node *parent, const char *name,
		       const struct identity *id)
{
	const struct node *node;
	bool known;

	vfs_lock(v);
	node = nodes_by_name(&v->nodes, parent, name);
	known = node && (node->thing->kind != THING_PLAIN ||
			 identity_same(&node->thing->plain.identity, id));
	vfs_unlock(v);
	return known ? 0 : ESTALE;
}

/* A folder that was to become something is removed. */
static void forget_staging(struct vfs *v, const struct node *parent, const char *name)
{
	struct buf path = BUF_INIT;
	struct target t;
	bool staging;

	if (!child_of(v, parent, name, &t))
		return;
	vfs_lock(v);
	staging = t.thing->kind == THING_PLAIN && t.thing->plain.staging &&
		  node_path_of(parent, name, &path) == 0;
	vfs_unlock(v);
	if (staging)
		staging_forget(v, &t, (const char *)path.data);
	target_put(v, &t);
	buf_release(&path);
}

/* *st: what was removed. */
static int remove_in(struct vfs *v, const struct target *parent, enum area area, const char *name,
		     int flags, struct stat *st)
{
	struct folder folder;
	struct identity id;
	int held = -1, error = plain_folder(v, parent, area, false, &folder);

	if (error)
		return error;
	error = identity_at(folder.fd, name, &id, st);
	if (!error)
		error = check_known(v, parent->node, name, &id);
	if (!error && (flags & AT_REMOVEDIR))
		held = plain_hold_folder(v, folder.fd, name);
	if (!error)
		error = unlinkat(folder.fd, name, flags) == 0 ? 0 : errno;
	folder_close(v, &folder);
	plain_let_go(v, error ? NULL : parent->node, name, held);
	return error;
}

/* The name's plain thing, in the first area that has it. */
static int remove_plain(struct vfs *v, const struct target *parent, const char *name, int flags)
{
	enum area area = area_for(parent->thing);
	struct stat st;
	int error = remove_in(v, parent, area, name, flags, &st);

	if (error == ENOENT && thing_is_virtual(parent->thing))
		error = remove_in(v, parent, AREA_REJECTED, name, flags, &st);
	if (error)
		return error;
	staging_touch(v, parent->node);
	forget_staging(v, parent->node, name);
	name_lost(v, parent->node, name, &st);
	return 0;
}

/* ---- what an animation shows ---- */

/* Who has the view open reads on, and saves nothing. Where nobody has, its draft is given up. */
static void detach_view(struct vfs *v, struct node *node) REQUIRES(vfs_class)
{
	struct view_state *view = &node->thing->view;

	view->standing = DETACHED;
	if (view->draft && !view->draft->committing && !node->handles)
		view_drop_draft(v, node);
}

/* The name is absent, for a moment. folder: what had the name, where that is a folder, or NULL. */
static int make_absent(struct vfs *v, struct animation *a, const struct target *parent,
		       const char *name, struct node *folder)
{
	struct node *node;
	bool noted;

	animation_touch(v, a); /* before, or the burst might end just now */
	vfs_lock(v);
	noted = name_set_absent(v, a, parent->node, name, folder);
	node = noted ? nodes_by_name(&v->nodes, parent->node, name) : NULL;
	if (node && node->thing->kind == THING_VIEW)
		detach_view(v, node);
	vfs_unlock(v);
	return noted ? 0 : ENOMEM;
}

static int remove_view(struct vfs *v, const struct target *parent, const char *name)
{
	int error = make_absent(v, parent->thing->animation, parent, name, NULL);

	if (!error)
		name_lost(v, parent->node, name, NULL);
	return error;
}

/* A folder of an animation is gone, and what was given to it and to what was in it. */
static void lose_folder(struct vfs *v, const struct target *parent, const char *name,
			const struct target *folder)
{
	vfs_lock(v);
	given_forget(v, folder->node);
	vfs_unlock(v);
	name_lost(v, parent->node, name, NULL);
}

/*
 * A folder can be removed when what is in it was. It is absent then; a clip leaves the file when
 * the burst ends, bones/ and frames/ come back. With the writer's lock: a burst that is just ending
 * would bring a clip back without removing it.
 */
static int remove_virtual(struct vfs *v, const struct target *parent, const char *name)
{
	struct animation *a = parent->thing->animation;
	struct target folder;
	int error;

	if (!child_of(v, parent->node, name, &folder))
		return ENOENT;
	error = folder_check_empty(v, &folder);
	if (!error) {
		upper_remove_folder(v, parent->node, name);
		writer_lock(a);
		error = make_absent(v, a, parent, name, folder.node);
		writer_unlock(a);
	}
	if (!error)
		lose_folder(v, parent, name, &folder);
	target_put(v, &folder);
	return error;
}

static int remove_file(struct vfs *v, struct animation *a)
{
	struct site site;
	int error;

	writer_lock(a);
	error = site_open(v, a, &site);
	if (!error) {
		site.where.turn = &site.turn;
		error = source_remove(a->source, &site.where);
		site_close(v, &site);
	}
	writer_unlock(a);
	return error;
}

/* What lies in the state for the folder of the file is empty, too. */
static void remove_upper(struct vfs *v, const struct target *parent, const struct animation *a)
{
	char name[NAME_MAX + 1];
	bool named;

	vfs_lock(v);
	named = animation_name(a, name);
	vfs_unlock(v);
	if (named)
		upper_remove_folder(v, parent->node, name);
}

/*
 * The folder of an animation file, in which everything was removed: that removes the file. Beside
 * the file the folder is only absent, for programs that remove both; its node keeps the name, by
 * which a lookup finds that it is.
 */
static int remove_animation(struct vfs *v, const struct target *parent, const char *name,
			    const struct target *folder)
{
	struct animation *a = folder->thing->animation;
	int error = folder_check_empty(v, folder);

	if (error)
		return error;
	remove_upper(v, parent, a);
	if (a->beside)
		return make_absent(v, a, parent, name, folder->node);
	error = remove_file(v, a);
	if (error)
		return error;
	lose_folder(v, parent, name, folder);
	animation_touch(v, a); /* what is absent in it is forgotten then */
	return 0;
}

/* ---- the requests ---- */

int vfs_unlink(struct vfs *v, const struct request *who, uint64_t parent, const char *name)
{
	struct slot slot;
	int error = slot_find(v, parent, name, &slot);

	(void)who;
	if (!error && !slot.present)
		error = remove_plain(v, &slot.parent, name, 0);
	else if (!error)
		error = slot.place.kind == PLACE_VIEW ? remove_view(v, &slot.parent, name) : EISDIR;
	slot_release(v, &slot);
	return error;
}

static int remove_any_folder(struct vfs *v, const struct slot *slot, const char *name)
{
	const struct target *parent = &slot->parent;
	struct target child;
	int error;

	if (slot->present)
		return slot->place.kind == PLACE_VIEW ? ENOTDIR : remove_virtual(v, parent, name);
	if (!child_of(v, parent->node, name, &child))
		return remove_plain(v, parent, name, AT_REMOVEDIR);
	error = child.thing->kind == THING_ANIMATION ? remove_animation(v, parent, name, &child)
						     : remove_plain(v, parent, name, AT_REMOVEDIR);
	target_put(v, &child);
	return error;
}

int vfs_rmdir(struct vfs *v, const struct request *who, uint64_t parent, const char *name)
{
	struct slot slot;
	int error = slot_find(v, parent, name, &slot);

	(void)who;
	if (!error)
		error = remove_any_folder(v, &slot, name);
	slot_release(v, &slot);
	return error;
}
