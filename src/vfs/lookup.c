/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lookup.h"
#include "asker.h"
#include "attr.h"
#include "control.h"
#include "diagnostics.h"
#include "handle.h"
#include "plain.h"
#include "watching.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- names ---- */

bool child_of(struct vfs *v, const struct node *parent, const char *name, struct target *out)
{
	struct node *node;

	vfs_lock(v);
	node = nodes_by_name(&v->nodes, parent, name);
	if (node)
		*out = (struct target){node_get(node), thing_get(node->thing)};
	vfs_unlock(v);
	return node != NULL;
}

/* False: the node has no name any more. */
static bool parent_of(struct vfs *v, const struct node *node, struct target *out)
{
	const struct link *link;

	vfs_lock(v);
	link = node_link(node);
	if (link)
		*out = (struct target){node_get(link->parent), thing_get(link->parent->thing)};
	vfs_unlock(v);
	return link != NULL;
}

bool is_staged(struct vfs *v, const struct node *node)
{
	const struct link *link;
	bool staged = false;

	vfs_lock(v);
	while (node && !staged) {
		staged = node->thing->kind == THING_PLAIN && node->thing->plain.staging;
		link = node_link(node);
		node = link ? link->parent : NULL;
	}
	vfs_unlock(v);
	return staged;
}

/* ---- animations ---- */

bool stays_file(const struct vfs *v, const struct codec *codec)
{
	return v->options->beside || codec->format->stills;
}

const char *const beside_suffixes[2] = {".d", ".d~2"};

bool name_may_show(struct vfs *v, const char *name, bool beside)
{
	const struct codec *codec;
	bool probe;

	if (!store_claims(v->store, name, &codec, &probe))
		return false;
	return probe ? beside || !v->options->beside : stays_file(v, codec) == beside;
}

/*
 * "x.canm.d": the file that this folder would stand beside; "x.canm.d~2" where something real is
 * called "x.canm.d". False for any other name.
 */
static bool beside_name(struct vfs *v, int folder, const char *name, char base[NAME_MAX + 1])
{
	struct stat st;
	char *end;

	strcpy(base, name);
	end = strrchr(base, '.');
	if (!end || (strcmp(end, beside_suffixes[0]) != 0 && strcmp(end, beside_suffixes[1]) != 0))
		return false;
	if (end[2]) {
		end[2] = '\0';
		if (fstatat(folder, base, &st, AT_SYMLINK_NOFOLLOW) != 0)
			return false;
	}
	*end = '\0';
	return fstatat(folder, base, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) &&
	       name_may_show(v, base, true);
}

/* Is somebody still writing the file, through the mount? */
static bool being_written(struct vfs *v, const struct identity *id)
{
	const struct thing *thing;
	bool busy = false;

	vfs_lock(v);
	thing = nodes_by_identity(&v->nodes, id);
	for (const struct handle *h = thing && thing->node ? thing->node->handles : NULL; h;
	     h = h->next_of_node)
		busy |= h->busy;
	vfs_unlock(v);
	return busy;
}

/*
 * Of a file that cannot be read: ENOTDIR where that lasts, so that it is shown as it is; else its
 * errno: programs would take a file in the place of a folder for another thing.
 */
static int verdict_errno(const struct err *err)
{
	static const int lasting[] = {EACCES, EPERM, EAGAIN, ENOENT, ELOOP, EISDIR, EINVAL};

	if (err->code == ERR_MEMORY)
		return ENOMEM;
	if (err->code != ERR_SYSTEM)
		return ENOTDIR;
	for (size_t i = 0; i < ARRAY_SIZE(lasting); i++) {
		if (err->number == lasting[i])
			return ENOTDIR;
	}
	return err->number;
}

/* For .animfs/errors: how the file is shown, and why so; reason NULL: as it should be. */
static void note_verdict(struct vfs *v, const struct target *parent, const char *name,
			 const char *how, const char *reason)
{
	struct buf path = BUF_INIT;
	int error;

	vfs_lock(v);
	error = node_path_of(parent->node, name, &path);
	vfs_unlock(v);
	if (!error)
		diagnose(v, (const char *)path.data, how, reason);
	buf_release(&path);
}

/* The name as an animation's folder, in a real one. */
struct candidate {
	const struct target *parent;
	int folder;       /* descriptor of the parent, */
	const char *path; /* and its path */
	const char *link; /* the folder's name, */
	const char *name; /* and the file's */
};

static bool is_beside(const struct candidate *c)
{
	return strcmp(c->link, c->name) != 0;
}

/* Another call may have entered it meanwhile. Takes the animation over. */
static int enter_animation(struct vfs *v, const struct candidate *c, struct animation *a,
			   const struct version *version, const struct stat *st, struct target *out)
{
	struct nodes *t = &v->nodes;
	struct thing *thing = NULL;
	struct node *node;

	vfs_lock(v);
	node = nodes_by_name(t, c->parent->node, c->link);
	if (node && node->thing->kind == THING_ANIMATION) {
		node_get(node);
	} else {
		thing = thing_of(t, THING_ANIMATION, a);
		node = thing ? nodes_add(t, thing, c->link) : NULL;
		if (node) {
			node->shown_ino = virtual_ino(c->parent->node, c->link);
			animation_begin(a, version, st);
		}
		if (node && !nodes_link(t, node, c->parent->node, c->link)) {
			node_put(t, node);
			node = NULL;
		}
		thing_put(t, thing);
	}
	if (node)
		*out = (struct target){node, thing_get(node->thing)};
	animation_put(v, a);
	vfs_unlock(v);
	return node ? 0 : ENOMEM;
}

/* What the file is now, and whether the name stands for it. */
static int judge(struct vfs *v, const struct candidate *c, const struct version *version,
		 const struct err *err)
{
	int error;

	if (version && stays_file(v, version->codec) != is_beside(c))
		return ENOTDIR; /* it is shown, but not under this name */
	if (version) {
		note_verdict(v, c->parent, c->name, "read-only", version->anim->read_only);
		return 0;
	}
	error = verdict_errno(err);
	/* That a file of any name is no animation is nothing to say. */
	note_verdict(v, c->parent, c->name, error == ENOTDIR ? "shown as it is" : "not read",
		     err->code == ERR_UNKNOWN ? NULL : err->message);
	return error;
}

static int new_animation(struct vfs *v, const struct candidate *c, struct target *out)
{
	const struct where where = {c->folder, c->path, c->name, NULL};
	struct animation *a = animation_new(v, is_beside(c));
	struct err err = {.code = ERR_NONE};
	struct version *version;
	struct stat st;
	int error;

	if (!a)
		return ENOMEM;
	version = source_look(a->source, &where, &st, &err);
	error = judge(v, c, version, &err);
	if (!error) {
		error = enter_animation(v, c, a, version, &st, out);
	} else {
		vfs_lock(v);
		animation_put(v, a);
		vfs_unlock(v);
	}
	version_put(version);
	return error;
}

/* It is no folder any more: what has the name is another thing. */
static void leave_animation(struct vfs *v, const struct candidate *c, const struct target *t)
{
	vfs_lock(v);
	if (nodes_by_name(&v->nodes, c->parent->node, c->link) == t->node)
		nodes_unlink(&v->nodes, c->parent->node, c->link);
	vfs_unlock(v);
}

static int known_animation(struct vfs *v, const struct candidate *c, const struct target *t)
{
	struct animation *a = t->thing->animation;
	struct err err = {.code = ERR_NONE};
	struct version *version;
	bool absent, damaged;
	struct stat st;
	int error;

	vfs_lock(v);
	absent = is_beside(c) && name_is_absent(a, c->parent->node, c->link);
	vfs_unlock(v);
	if (absent)
		return ENOTDIR;
	error = animation_look(v, a, &version, &st);
	vfs_lock(v);
	damaged = a->damaged;
	vfs_unlock(v);
	/* What may be open there is found by its node. */
	if (damaged && v->unopened_files)
		error = EIO;
	if (!error && !damaged) {
		error = judge(v, c, version, &err);
	} else {
		const struct where where = {c->folder, c->path, c->name, NULL};
		struct version *again = source_get(a->source, &where, &err);

		/* Why it is not shown, or only what is open of it. */
		if (again || error)
			error = judge(v, c, again, &err);
		else
			(void)judge(v, c, NULL, &err);
		version_put(again);
	}
	version_put(version);
	if (error == ENOTDIR)
		leave_animation(v, c, t);
	return error;
}

/* The animation's folder; ENOTDIR when it is shown as the file it is. */
static int find_animation(struct vfs *v, struct candidate *c, struct target *out)
{
	bool known = child_of(v, c->parent->node, c->link, out);
	struct buf path = BUF_INIT;
	int error;

	vfs_lock(v);
	error = node_path(c->parent->node, &path);
	vfs_unlock(v);
	c->path = error ? "" : (const char *)path.data;
	names_hold(v, c->parent->node->id);
	if (known && out->thing->kind == THING_ANIMATION) {
		error = known_animation(v, c, out);
		if (error)
			target_put(v, out);
	} else {
		if (known)
			target_put(v, out);
		error = new_animation(v, c, out);
	}
	names_release(v, c->parent->node->id);
	buf_release(&path);
	return error;
}

static int entry_and_put(struct vfs *v, struct target *t, struct entry *out)
{
	int error = entry_of(v, t, out);

	target_put(v, t);
	return error;
}

static int lookup_in_source(struct vfs *v, const struct target *parent, const char *name,
			    struct entry *out)
{
	struct candidate c = {parent, -1, "", name, name};
	char base[NAME_MAX + 1];
	struct folder folder;
	struct identity id;
	struct target t;
	struct stat st;
	int error = folder_open(v, parent->node, &folder);

	if (error)
		return error;
	c.folder = folder.fd;
	folder_watch(v, parent, folder.fd);
	error = identity_at(folder.fd, name, &id, &st);
	if (error == ENOENT && !is_staged(v, parent->node) &&
	    beside_name(v, folder.fd, name, base)) {
		c.name = base;
		error = find_animation(v, &c, &t);
		error = error == ENOTDIR ? ENOENT : error;
		if (!error)
			error = entry_and_put(v, &t, out);
		goto done;
	}
	if (!error && state_is(v->state, &st))
		error = ENOENT;
	if (error)
		goto done;
	if (S_ISREG(st.st_mode) && name_may_show(v, name, false) && !being_written(v, &id) &&
	    !is_staged(v, parent->node)) {
		error = find_animation(v, &c, &t);
		if (!error)
			error = entry_and_put(v, &t, out);
		if (error != ENOTDIR)
			goto done;
	}
	error = plain_entry_found(v, parent, AREA_SOURCE, name, &id, &st, out);
done:
	folder_close(v, &folder);
	return error;
}

/* ---- what is inside an animation's folder ---- */

static int lookup_upper(struct vfs *v, const struct target *parent, const char *name,
			struct entry *out)
{
	static const enum area areas[] = {AREA_UPPER, AREA_REJECTED};
	struct folder folder;
	int error = ENOENT;

	for (size_t i = 0; i < ARRAY_SIZE(areas) && error == ENOENT; i++) {
		error = plain_folder(v, parent, areas[i], false, &folder);
		if (error)
			continue;
		error = plain_entry(v, parent, areas[i], folder.fd, name, out);
		folder_close(v, &folder);
	}
	return error == ENOTDIR ? ENOENT : error;
}

/* Was the view replaced, or its text, while its attributes were asked for? */
static bool is_outdated(struct vfs *v, const struct target *t)
{
	const struct view_state *view = &t->thing->view;
	const struct animation *a = t->thing->animation;
	bool outdated;

	if (t->thing->kind != THING_VIEW)
		return false;
	vfs_lock(v);
	outdated = view->standing != STANDS || (!view->draft && !view->version && !a->damaged &&
						view->generation < a->generation);
	vfs_unlock(v);
	return outdated;
}

/* ESTALE: it is to be looked up again. */
static int virtual_entry(struct vfs *v, struct target *t, struct entry *out)
{
	int error = entry_of(v, t, out);

	/* Now that the lookup counts, whatever changes finds it. */
	if (!error && is_outdated(v, t)) {
		vfs_forget(v, out->node, 1);
		error = ESTALE;
	}
	target_put(v, t);
	return error;
}

static int lookup_place(struct vfs *v, const struct target *parent, const char *name,
			struct entry *out)
{
	struct animation *a = parent->thing->animation;
	struct version *version;
	struct place place;
	struct target t;
	struct stat st;
	bool absent;
	int error = animation_look(v, a, &version, &st);

	if (error)
		return error;
	error = place_in(v, parent, version, name, &place);
	version_put(version);
	vfs_lock(v);
	absent = name_is_absent(a, parent->node, name);
	vfs_unlock(v);
	if (error == ENOMEM)
		return error;
	if (error || absent)
		return lookup_upper(v, parent, name, out);
	error = place_node(v, parent, name, &place, &t);
	return error ? error : virtual_entry(v, &t, out);
}

#define LOOKUP_TRIES 8

static int lookup_virtual(struct vfs *v, const struct target *parent, const char *name,
			  struct entry *out)
{
	int error = ESTALE;

	for (unsigned i = 0; i < LOOKUP_TRIES && error == ESTALE; i++)
		error = lookup_place(v, parent, name, out);
	return error;
}

/* ---- all ---- */

int lookup_in(struct vfs *v, const struct target *parent, const char *name, struct entry *out)
{
	struct folder folder;
	struct target t;
	int error;

	if (parent->thing->kind == THING_CONTROL ||
	    (parent->node->id == NODE_ROOT && strcmp(name, CONTROL) == 0)) {
		error = control_find(v, parent, name, &t);
		return error ? error : entry_and_put(v, &t, out);
	}
	if (thing_is_virtual(parent->thing))
		return lookup_virtual(v, parent, name, out);
	if (parent->thing->area == AREA_SOURCE)
		return lookup_in_source(v, parent, name, out);
	error = plain_folder(v, parent, (enum area)parent->thing->area, false, &folder);
	if (error)
		return error;
	error = plain_entry(v, parent, (enum area)parent->thing->area, folder.fd, name, out);
	folder_close(v, &folder);
	return error;
}

/* Which view it is that the program asks about. */
static void note_asked(struct vfs *v, const struct request *who, uint64_t id)
{
	const struct node *node;
	int view = -1;

	vfs_lock(v);
	node = nodes_by_id(&v->nodes, id);
	if (node && node->thing->kind == THING_VIEW)
		view = node->thing->view_at;
	vfs_unlock(v);
	if (view >= 0)
		asker_asked(v->asker, who->pid, (unsigned)view);
	*looked_up_by(v, who) = id;
}

int vfs_lookup(struct vfs *v, const struct request *who, uint64_t parent, const char *name,
	       struct entry *out)
{
	struct target t;
	int error = strlen(name) > NAME_MAX ? ENAMETOOLONG : target_get(v, parent, &t);

	if (error)
		return error;
	error = lookup_in(v, &t, name, out);
	target_put(v, &t);
	if (!error)
		note_asked(v, who, out->node);
	return error;
}

int vfs_lookup_handle(struct vfs *v, uint64_t node, bool above, struct entry *out)
{
	struct target t, parent;
	int error = target_get(v, node, &t);

	if (error)
		return error;
	if (above && node != NODE_ROOT) {
		error = parent_of(v, t.node, &parent) ? 0 : ESTALE;
		target_put(v, &t);
		if (error)
			return error;
		t = parent;
	}
	error = entry_and_put(v, &t, out);
	return error == ENOENT ? ESTALE : error;
}

void vfs_forget(struct vfs *v, uint64_t node, uint64_t lookups)
{
	struct node *found;

	vfs_lock(v);
	found = nodes_by_id(&v->nodes, node);
	if (found)
		node_forget(&v->nodes, found, lookups);
	vfs_unlock(v);
}

/* ---- slots ---- */

static int slot_in_animation(struct vfs *v, const char *name, struct slot *out)
{
	struct animation *a = out->parent.thing->animation;
	struct version *version;
	struct stat st;
	int error = animation_look(v, a, &version, &st);

	if (error)
		return error;
	error = place_in(v, &out->parent, version, name, &out->place);
	version_put(version);
	out->is_view = !error;
	vfs_lock(v);
	out->present = !error && !name_is_absent(a, out->parent.node, name);
	vfs_unlock(v);
	return error == ENOMEM ? ENOMEM : 0;
}

int slot_find(struct vfs *v, uint64_t parent, const char *name, struct slot *out)
{
	int error;

	*out = (struct slot){.present = false};
	error = target_get(v, parent, &out->parent);
	if (error)
		return error;
	if (v->read_only)
		return EROFS;
	if (out->parent.thing->kind == THING_CONTROL ||
	    (parent == NODE_ROOT && strcmp(name, CONTROL) == 0))
		return EPERM;
	return thing_is_virtual(out->parent.thing) ? slot_in_animation(v, name, out) : 0;
}

void slot_release(struct vfs *v, struct slot *s)
{
	if (s->parent.node)
		target_put(v, &s->parent);
}
