/* SPDX-License-Identifier: GPL-3.0-or-later */
/* remove.c - unlink, rmdir. */
#include "diagnostics.h"
#include "dir.h"
#include "end.h"
#include "given.h"
#include "looked_up.h"
#include "plain.h"
#include "program.h"
#include "save.h"
#include "staging.h"
#include "store/create.h"
#include "upper.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* ---- plain things ---- */

/*
 * Decides about a file which has replaced the one that the thread has found again: returns 0, to
 * remove it instead, if the same users may remove both; else ESTALE. *st: the attributes of the
 * file that was found, from before it lost its name.
 */
static int check_again(struct vfs *v, const struct request *who, const struct node *node,
		       struct stat *st)
{
	int fd = node ? looked_up_borrow(v, who, node) : -1;
	struct stat known;
	bool alike;

	if (fd < 0)
		return ESTALE;
	alike = fstat(fd, &known) == 0 && (known.st_mode & S_IFMT) == (st->st_mode & S_IFMT) &&
		known.st_uid == st->st_uid;
	close(fd);
	if (!alike)
		return ESTALE;
	known.st_nlink++;
	*st = known;
	return 0;
}

/*
 * Checks that the file on disk (*st) is still the one that the kernel knows. If not, ESTALE makes
 * the kernel look the name up again, which it does once.
 */
static int check_known(struct vfs *v, const struct request *who, const struct node *parent,
		       const char *name, const struct identity *id, struct stat *st)
{
	struct node *node;
	bool known;
	int error;

	vfs_lock(v);
	node = nodes_by_name(&v->nodes, parent, name);
	known = node && (node->thing->kind != THING_PLAIN ||
			 identity_same(&node->thing->plain.identity, id));
	if (node)
		node_get(node);
	vfs_unlock(v);
	error = known ? 0 : check_again(v, who, node, st);
	node_release(v, node);
	return error;
}

/*
 * Removes a name on disk. *st: attributes of the removed file. node: the node of the name, or NULL.
 */
static int remove_in(struct vfs *v, const struct request *who, const struct target *parent,
		     enum area area, const char *name, int flags, struct node *node,
		     struct stat *st)
{
	char stored[NAME_MAX + 1];
	struct folder folder;
	struct identity id;
	int kept = -1, error = plain_name(area, name, stored);

	if (!error)
		error = plain_folder(v, parent, area, false, &folder);
	if (error)
		return error;
	error = identity_at(folder.fd, stored, &id, st);
	if (!error)
		error = check_known(v, who, parent->node, name, &id, st);
	if (!error && (flags & AT_REMOVEDIR))
		kept = plain_keep_folder(v, folder.fd, stored);
	if (!error)
		error = unlinkat(folder.fd, stored, flags) == 0 ? 0 : errno;
	folder_close(v, &folder);
	plain_let_go(v, error ? NULL : node, kept);
	return error;
}

/* Removes a plain name from the first area that has it. */
static int remove_plain(struct vfs *v, const struct request *who, const struct target *parent,
			const char *name, int flags)
{
	enum area area = area_for(parent->thing);
	struct target gone = {NULL, NULL};
	bool known = child_of(v, parent->node, name, &gone);
	struct stat st;
	int error = remove_in(v, who, parent, area, name, flags, gone.node, &st);

	if (error == ENOENT && thing_is_virtual(parent->thing))
		error = remove_in(v, who, parent, AREA_REJECTED, name, flags, gone.node, &st);
	if (!error) {
		staging_touch(v, parent->node);
		if (known)
			staging_forget(v, &gone, parent->node, name);
		name_lost(v, parent->node, name, &st);
	}
	if (known)
		target_put(v, &gone);
	return error;
}

/* ---- names inside an animation ---- */

/*
 * Detaches a removed view: its open handles can read on, but nothing is saved. If it is not open,
 * its draft is dropped.
 */
static void remove_detach_view(struct vfs *v, struct node *node) REQUIRES(vfs_class)
{
	struct view_state *view = &node->thing->view;

	given_lose(v, node);
	view->standing = DETACHED;
	if (view->draft && !draft_is_committing(view->draft) && !node->handles)
		view_drop_draft(v, node);
}

/* Makes the name absent for a while. folder: the node of the folder that had the name, or NULL. */
static int make_absent(struct vfs *v, struct animation *a, const struct target *parent,
		       const char *name, struct node *folder)
{
	struct node *node;
	bool noted;

	/* before the name is absent, or the animation's quiet time might end just now */
	animation_touch(v, a);
	vfs_lock(v);
	noted = name_set_absent(v, a, parent->node, name, folder);
	node = noted ? nodes_by_name(&v->nodes, parent->node, name) : NULL;
	if (node && node->thing->kind == THING_VIEW)
		remove_detach_view(v, node);
	vfs_unlock(v);
	return noted ? 0 : ENOMEM;
}

static int remove_view(struct vfs *v, const struct request *who, const struct target *parent,
		       const char *name)
{
	int error;

	removal_begin(v, who, parent);
	error = make_absent(v, parent->thing->animation, parent, name, NULL);
	if (!error)
		name_lost(v, parent->node, name, NULL);
	return error;
}

/*
 * Forgets a removed folder of an animation: its name, and the attributes that were set on it and
 * below.
 */
static void lose_folder(struct vfs *v, const struct target *parent, const char *name,
			const struct target *folder)
{
	vfs_lock(v);
	given_forget(v, folder->node);
	vfs_unlock(v);
	name_lost(v, parent->node, name, NULL);
}

/*
 * Returns whether this is the folder of a clip of stills. It cannot be removed: frames.csv says
 * which stills there are.
 */
static bool is_of_stills(struct vfs *v, const struct target *folder)
{
	bool is;

	vfs_lock(v);
	is = folder->thing->kind == THING_CLIP && folder->thing->animation->stills;
	vfs_unlock(v);
	return is;
}

/*
 * Removes a folder of an animation, if everything in it was removed. The folder is then absent;
 * after END_MS of quiet a clip is removed from the file, while bones/ and frames/ come back. Takes
 * the writer's lock: an end_finish in progress would bring a clip back without removing it.
 */
static int remove_virtual(struct vfs *v, const struct request *who, const struct target *parent,
			  const char *name)
{
	struct animation *a = parent->thing->animation;
	struct target folder;
	int error;

	if (!child_of(v, parent->node, name, &folder))
		return ENOENT;
	error = is_of_stills(v, &folder) ? EPERM : folder_check_empty(v, &folder);
	if (!error) {
		upper_remove_folder(v, parent->node, name);
		writer_lock(a);
		error = make_absent(v, a, parent, name, folder.node);
		writer_unlock(a);
	}
	if (!error) {
		removal_end(v, who, parent, name, &folder);
		lose_folder(v, parent, name, &folder);
	}
	target_put(v, &folder);
	return error;
}

static int remove_file(struct vfs *v, const struct request *who, struct animation *a)
{
	struct program *program = program_of(v, who);
	const struct history_note note = program_note(program);
	struct site site;
	int error;

	writer_lock(a);
	error = site_open(v, a, &site);
	if (!error) {
		site.where.note = &note;
		error = a->archived && !site.loose.loose->is_there
				? EROFS
				: source_remove(a->source, &site.where);
		site_close(v, &site);
	}
	writer_unlock(a);
	program_put(program);
	return error;
}

/* Removes the empty upper folder of the animation. */
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
 * Removes the file of an animation whose emptied folder is removed. If the folder is beside its
 * file, it only becomes absent, since a program that removes a tree removes both; the folder's node
 * keeps the name, so that a lookup sees that it is absent.
 */
static int remove_animation(struct vfs *v, const struct request *who, const struct target *parent,
			    const char *name, const struct target *folder)
{
	struct animation *a = folder->thing->animation;
	int error = folder_check_empty(v, folder);

	if (error)
		return error;
	remove_upper(v, parent, a);
	if (a->beside)
		return make_absent(v, a, parent, name, folder->node);
	error = remove_file(v, who, a);
	if (error)
		return error;
	lose_folder(v, parent, name, folder);
	/*
	 * schedules the end of the animation's work, which forgets the absent names in the folder
	 */
	animation_touch(v, a);
	return 0;
}

/* ---- loose files ---- */

/* Brings back all names removed below a member that cannot itself be removed. */
static void bring_back_all(struct vfs *v, struct animation *a)
{
	struct changes changes = CHANGES_INIT;

	writer_lock(a);
	end_come_back(v, a, &changes);
	writer_unlock(a);
	changes_send_all(v, &changes);
}

/*
 * Removes the loose file of an archive member whose emptied folder is removed, so that the
 * archive's member is shown again. If there is no loose file, fails, and the folder's content comes
 * back.
 */
static int remove_loose(struct vfs *v, const struct request *who, const struct target *parent,
			const char *name)
{
	struct target folder;
	int error;

	if (!child_of(v, parent->node, name, &folder))
		return refuse_in_archive(v, parent->node, name, NULL);
	if (folder.thing->kind != THING_ANIMATION) {
		error = refuse_in_archive(v, parent->node, name, NULL);
	} else {
		error = folder_check_empty(v, &folder);
		if (!error)
			error = remove_file(v, who, folder.thing->animation);
		if (error == EROFS) {
			bring_back_all(v, folder.thing->animation);
			refuse_in_archive(v, parent->node, name, NULL);
		}
	}
	if (!error) {
		remove_upper(v, parent, folder.thing->animation);
		lose_folder(v, parent, name, &folder);
		animation_touch(v, folder.thing->animation);
	}
	target_put(v, &folder);
	return error;
}

/*
 * Returns whether the parent is in an archive, or an archive's folder. Then remove_loose handles
 * the request.
 */
static bool begin_remove_loose(struct vfs *v, uint64_t node, struct target *parent)
{
	if (v->read_only || target_get(v, node, parent) != 0)
		return false;
	if (thing_is_member(parent->thing))
		return true;
	target_put(v, parent);
	return false;
}

/* ---- unlink, rmdir ---- */

int vfs_unlink(struct vfs *v, const struct request *who, uint64_t parent, const char *name)
{
	struct slot slot;
	int error = slot_find(v, parent, name, &slot);

	if (!error)
		staging_given(v, who, slot.parent.node, 0);
	if (!error && !slot.present)
		error = remove_plain(v, who, &slot.parent, name, 0);
	else if (!error)
		error = slot.place.kind == PLACE_VIEW ? remove_view(v, who, &slot.parent, name)
						      : EISDIR;
	if (!error)
		diagnose_gone(v, slot.parent.node, name);
	slot_release(v, &slot);
	return looked_up_end(v, who, 0, error);
}

static int remove_any_folder(struct vfs *v, const struct request *who, const struct slot *slot,
			     const char *name)
{
	const struct target *parent = &slot->parent;
	struct target child;
	struct guest guest;
	int error;

	if (slot->present)
		return slot->place.kind == PLACE_VIEW ? ENOTDIR
						      : remove_virtual(v, who, parent, name);
	if (!child_of(v, parent->node, name, &child))
		return remove_plain(v, who, parent, name, AT_REMOVEDIR);
	error = gate_enter_target(v, &child, &guest);
	if (!error)
		error = child.thing->kind == THING_ANIMATION
				? remove_animation(v, who, parent, name, &child)
				: remove_plain(v, who, parent, name, AT_REMOVEDIR);
	gate_leave(v, &guest);
	target_put(v, &child);
	return error;
}

int vfs_rmdir(struct vfs *v, const struct request *who, uint64_t parent, const char *name)
{
	struct target folder;
	struct slot slot;
	int error;

	if (begin_remove_loose(v, parent, &folder)) {
		error = remove_loose(v, who, &folder, name);
		target_put(v, &folder);
		return error;
	}
	error = slot_find(v, parent, name, &slot);
	if (!error)
		staging_given(v, who, slot.parent.node, 0);
	if (!error)
		error = remove_any_folder(v, who, &slot, name);
	/*
	 * Keep the entry in .animfs/errors of a clip that is only absent so far: it may say why the
	 * clip cannot be removed.
	 */
	if (!error && !slot.present)
		diagnose_gone(v, slot.parent.node, name);
	slot_release(v, &slot);
	return looked_up_end(v, who, 0, error);
}
