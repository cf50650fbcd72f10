/* SPDX-License-Identifier: GPL-3.0-or-later */
/* link.c - hard links to plain files. A view has one name: linking it makes a copy of its text. */
#include "access.h"
#include "attr.h"
#include "diagnostics.h"
#include "lookup.h"
#include "plain.h"
#include "save.h"
#include "staging.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

static int link_plain(struct vfs *v, const struct target *from, const struct target *parent,
		      const char *name, struct entry *out)
{
	enum area area = area_for(parent->thing);
	char old_name[NAME_MAX + 1], stored[NAME_MAX + 1];
	struct folder old, now;
	struct stat st;
	int error = plain_name(area, name, stored);

	if (!error)
		error = plain_where(v, from, &old, old_name, &st);
	if (error)
		return error;
	error = plain_folder(v, parent, area, true, &now);
	if (!error) {
		error = linkat(old.fd, old_name, now.fd, stored, 0) == 0 ? 0 : errno;
		if (!error)
			error = plain_entry(v, parent, area, now.fd, name, out);
		folder_close(v, &now);
	}
	folder_close(v, &old);
	return error;
}

static int copy_view(struct vfs *v, const struct request *who, const struct target *view,
		     const struct target *parent, const char *name, struct entry *out)
{
	enum area area = area_for(parent->thing);
	char stored[NAME_MAX + 1];
	struct folder folder;
	int error = plain_name(area, name, stored);

	if (!error)
		error = view_write_out(v, who, view, parent, name, true);
	if (!error)
		error = plain_folder(v, parent, area, false, &folder);
	if (error)
		return error;
	error = plain_entry(v, parent, area, folder.fd, name, out);
	folder_close(v, &folder);
	return error;
}

/* Settles a view whose draft was just saved by link, and which is not open. */
static void link_settle_view(struct vfs *v, struct node *node, struct changes *changes)
	REQUIRES(vfs_class)
{
	if (node->thing->view.draft) {
		view_give_draft(node, node->thing->view.draft);
		view_settle(v, node, changes);
	}
	view_closed(v, node);
	view_catch_up(v, node, changes);
}

/*
 * Makes a node of this name for the view; *out takes over the thing. Returns false when out of
 * memory.
 */
static bool name_view(struct vfs *v, const struct target *parent, const char *name,
		      struct thing *thing, struct target *out, struct changes *changes)
	REQUIRES(vfs_class)
{
	struct node *node = nodes_add(&v->nodes, thing, name);

	name_set_present(v, thing->animation, parent->node, name);
	if (node && !nodes_link(&v->nodes, node, parent->node, name)) {
		node_put(&v->nodes, node);
		node = NULL;
	}
	if (!node) {
		thing_put(&v->nodes, thing);
		return false;
	}
	node->shown_ino = virtual_ino(parent->node, name);
	link_settle_view(v, node, changes);
	*out = (struct target){node, thing};
	return true;
}

/* Saves the text as the view of this name. `caller` is taken over. */
static int save_as(struct vfs *v, const struct request *who, const struct target *parent,
		   const char *name, struct text *text, struct caller *caller, struct target *out,
		   struct changes *changes) REQUIRES(writer_class)
{
	struct thing *thing;
	int error = text_save(v, who, parent, name, text, caller, &thing, changes);

	if (error)
		return error;
	vfs_lock(v);
	error = name_view(v, parent, name, thing, out, changes) ? 0 : ENOMEM;
	vfs_unlock(v);
	return error;
}

/* Saves the text of a file as a view, for a link to the absent name of that view. */
static int link_onto_view(struct vfs *v, const struct request *who, const struct target *from,
			  const struct target *parent, const char *name, struct entry *out)
{
	struct animation *a = parent->thing->animation;
	struct changes changes = CHANGES_INIT;
	struct caller *caller = NULL;
	struct target view;
	struct text *text;
	int error = node_text(v, from, &text);

	if (error)
		return error;
	error = access_caller(v, who, &caller);
	if (!error) {
		writer_lock(a);
		error = save_as(v, who, parent, name, text, caller, &view, &changes);
		writer_unlock(a);
	}
	text_put(text);
	changes.locked[0] = parent->node->id;
	changes_send_all(v, &changes);
	if (error)
		return error;
	animation_touch(v, a); /* restarts END_MS, after which the draft expires */
	error = entry_of(v, &view, out);
	target_put(v, &view);
	return error;
}

/* Returns whether the link exposes a view's text under another name. */
static bool link_takes_text(struct vfs *v, const struct target *from, const struct slot *slot)
{
	return slot->is_view || from->thing->kind == THING_VIEW ||
	       thing_is_virtual(slot->parent.thing) || is_staged(v, slot->parent.node);
}

static int link_into(struct vfs *v, const struct request *who, const struct target *from,
		     const struct slot *slot, const char *name, struct entry *out)
{
	const struct target *parent = &slot->parent;
	int error;

	if (slot->present)
		return EEXIST;
	if (from->thing->kind == THING_MEMBER)
		return refuse_in_archive(v, from->node, NULL, NULL);
	if (slot->is_view && slot->place.kind != PLACE_VIEW)
		return EPERM;
	error = link_takes_text(v, from, slot) ? acl_check_read(v, who, from) : 0;
	if (error)
		return error;
	if (slot->is_view)
		return link_onto_view(v, who, from, parent, name, out);
	if (from->thing->kind == THING_VIEW)
		return copy_view(v, who, from, parent, name, out);
	return from->thing->kind == THING_PLAIN ? link_plain(v, from, parent, name, out) : EPERM;
}

int vfs_link(struct vfs *v, const struct request *who, uint64_t node, uint64_t parent,
	     const char *name, struct entry *out)
{
	struct target from;
	struct slot slot;
	int error = target_get(v, node, &from);

	if (error)
		return error;
	error = slot_find(v, parent, name, &slot);
	if (!error)
		error = link_into(v, who, &from, &slot, name, out);
	if (!error)
		staging_given(v, who, slot.parent.node, 0);
	slot_release(v, &slot);
	target_put(v, &from);
	return error;
}
