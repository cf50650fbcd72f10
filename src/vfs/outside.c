/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * outside.c - changes that other programs make in SOURCE, seen by watching every folder in use.
 *
 * If the folder of an animation file is watched, the kernel caches the tree below that file until
 * it is invalidated. Everything else is cached for TIMEOUT only, so that changes show anyway,
 * except in pages of open or mapped files, which are dropped only when invalidated.
 */
#include "outside.h"
#include "diagnostics.h"
#include "given.h"
#include "handle.h"
#include "lookup.h"
#include "sharing.h"
#include "upper.h"
#include "watching.h"

#include "disk/watch.h"
#include "store/beside.h"
#include "store/source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/inotify.h>

#define CONTENT (IN_MODIFY | IN_CLOSE_WRITE | IN_ATTRIB)
#define NAMES (IN_CREATE | IN_DELETE | IN_MOVE)

/* ---- an animation that others may have changed ---- */

/*
 * Schedules a look at the animation. Keeps the current version until then, to know which clips
 * there were: a request may load the new version first.
 */
static void look_soon(struct vfs *v, struct animation *a)
{
	struct version *seen = source_last(a->source);

	vfs_lock(v);
	if (!a->seen) {
		a->seen = seen;
		seen = NULL;
	}
	if (!a->looked)
		a->looked = a->names;
	vfs_unlock(v);
	version_put(seen);
	animation_changed(v, a);
}

static struct version *take_seen(struct vfs *v, struct animation *a)
{
	struct version *seen;

	vfs_lock(v);
	seen = a->seen;
	a->seen = NULL;
	vfs_unlock(v);
	return seen;
}

/* Removes empty upper folders of clips that are gone. `now` NULL: the file is gone. */
static void prune_upper(struct vfs *v, struct animation *a, const struct version *before,
			const struct version *now)
{
	struct node *parent = NULL;
	char name[NAME_MAX + 1];

	vfs_lock(v);
	if (animation_name(a, name))
		parent = node_get(node_link(a->folder->node)->parent);
	vfs_unlock(v);
	if (parent && !now)
		upper_remove_empty(v, parent, name);
	else if (parent && before)
		upper_remove_clips(v, parent, name, before, now);
	node_release(v, parent);
}

/*
 * Returns whether the node is not in version `now`; true if `now` is NULL, since then everything is
 * gone.
 */
static bool outside_is_gone(const struct node *node, const struct version *now) REQUIRES(vfs_class)
{
	struct place place;

	return !now || !place_by_names(node, now, &place);
}

/*
 * Adds invalidations of a node's listing and names. Names that are gone are dropped, or the kernel
 * would keep them as long as it has memory.
 */
static void collect_again(struct vfs *v, struct node *node, const struct version *now,
			  struct changes *changes) REQUIRES(vfs_class)
{
	bool gone = outside_is_gone(node, now);
	const struct link *link = node_link(node);

	if (node->thing->folder)
		changes_data(changes, node);
	changes_names(changes, node, gone);
	if (gone && now && link && !outside_is_gone(link->parent, now))
		given_forget(v, node);
}

/*
 * Calls collect_again for all members. Holds references meanwhile, since forgetting attributes may
 * free a member.
 */
static void collect_members(struct vfs *v, struct animation *a, const struct version *now,
			    struct changes *changes) REQUIRES(vfs_class)
{
	struct thing *thing = a->members ? thing_get(a->members) : NULL, *next;
	struct node *node;

	for (; thing; thing = next) {
		node = thing->node ? node_get(thing->node) : NULL;
		if (node)
			collect_again(v, node, now, changes);
		node_put(&v->nodes, node);
		next = thing->next_member ? thing_get(thing->next_member) : NULL;
		thing_put(&v->nodes, thing);
	}
}

/*
 * Invalidates all names and listings again: replies that were in flight may have reached the kernel
 * after the first invalidation.
 */
static void invalidate_again(struct vfs *v, struct animation *a, const struct version *now)
	EXCLUDES(vfs_class)
{
	struct changes changes = CHANGES_INIT;
	struct node *folder;

	vfs_lock(v);
	collect_members(v, a, now, &changes);
	folder = a->folder && a->folder->node ? node_get(a->folder->node) : NULL;
	if (folder) {
		changes_data(&changes, folder);
		changes_names(&changes, folder, !now);
		if (!now)
			given_forget(v, folder);
		node_put(&v->nodes, folder);
	}
	vfs_unlock(v);
	changes_send_all(v, &changes);
}

/* Returns whether the names have changed since the last look; if so, schedules invalidate_again. */
static bool note_names(struct vfs *v, struct animation *a, const struct version *now)
{
	uint64_t names = now ? version_outline(now) : 1;
	bool other;

	vfs_lock(v);
	names += a->damaged;
	other = names != a->looked;
	a->looked = names;
	if (other)
		a->again = clock_ms() + TICK_MS;
	vfs_unlock(v);
	return other;
}

/* Returns whether invalidate_again is due. If it is due later, sets the deadline for it. */
static bool take_again(struct vfs *v, struct animation *a)
{
	bool again;

	vfs_lock(v);
	again = a->again && a->again <= clock_ms();
	if (again)
		a->again = 0;
	else if (a->again && deadline_set(v->deadlines, &a->look, a->again))
		animation_get(a);
	vfs_unlock(v);
	return again;
}

void outside_due(struct vfs *v, void *animation)
{
	struct animation *a = animation;
	struct version *before = take_seen(v, a), *now;
	struct stat st;
	int error = animation_look(v, a, &now, &st);
	bool gone = error == ENOENT || (!error && !st.st_mode);

	if (!error)
		diagnose_stills(v, a, now);
	/* Not if the file does not decode, since its names are unknown. */
	if (!error || gone) {
		if (note_names(v, a, gone ? NULL : now))
			prune_upper(v, a, before, gone ? NULL : now);
		if (take_again(v, a))
			invalidate_again(v, a, gone ? NULL : now);
	}
	version_put(now);
	version_put(before);
	vfs_lock(v);
	animation_put(v, a);
	vfs_unlock(v);
}

/* which animations a change concerns: all shown, those of stills, or those that list other files */
enum concerned { ALL_SHOWN, OF_STILLS, OF_PARTS };

static bool is_concerned(const struct animation *a, enum concerned which) REQUIRES(vfs_class)
{
	if (which == OF_STILLS)
		return a->stills;
	return a->members && (which == ALL_SHOWN || a->lists);
}

/*
 * Returns whether the node is in this folder (0: any folder), or below the folder of this archive.
 */
static bool outside_is_in(const struct node *node, uint64_t folder) REQUIRES(vfs_class)
{
	const struct link *link = node_link(node);

	if (!folder)
		return true;
	for (; link; link = node_link(link->parent)) {
		if (link->parent->id == folder)
			return true;
		if (!thing_is_member(link->parent->thing))
			break;
	}
	return false;
}

/* Schedules a look at these animations: those in a folder or archive, or all (folder 0). */
static void look_at_animations(struct vfs *v, uint64_t folder, enum concerned which)
{
	struct animation **list;
	size_t count = 0, at = 0;
	struct node *node;

	vfs_lock(v);
	list = calloc(v->nodes.count, sizeof(struct animation *));
	while (list && (node = nodes_next(&v->nodes, &at))) {
		if (node->thing->kind != THING_ANIMATION ||
		    !is_concerned(node->thing->animation, which) || !outside_is_in(node, folder))
			continue;
		list[count++] = node->thing->animation;
		animation_get(node->thing->animation);
	}
	vfs_unlock(v);
	for (size_t i = 0; i < count; i++)
		look_soon(v, list[i]);
	vfs_lock(v);
	for (size_t i = 0; i < count; i++)
		animation_put(v, list[i]);
	vfs_unlock(v);
	free(list);
}

/* ---- changed names ---- */

static bool is_other(struct vfs *v, const struct target *t, const struct identity *id)
{
	bool other;

	vfs_lock(v);
	other = !identity_same(id, &t->thing->plain.identity);
	vfs_unlock(v);
	return other;
}

static bool outside_is_written(struct vfs *v, const struct target *t)
{
	bool writes;

	vfs_lock(v);
	writes = node_writers(t->node) > 0;
	vfs_unlock(v);
	return writes;
}

static void plain_changed(struct vfs *v, const struct target *parent, const struct target *t,
			  const char *name, uint32_t mask)
{
	struct folder folder;
	struct identity id;
	struct stat st;
	int error;

	if (!(mask & NAMES)) {
		/* Writes through the mount need no invalidation: the kernel's cache has them. */
		if ((mask & CONTENT) && !outside_is_written(v, t))
			invalidate_data(v, t->node->id);
		return;
	}
	error = folder_open(v, parent->node, &folder);
	if (error)
		return;
	error = identity_at(folder.fd, name, &id, &st);
	folder_close(v, &folder);
	if (error || is_other(v, t, &id))
		invalidate_name(v, parent->node->id, name);
}

/* Invalidates all that the kernel knows of the archive, and schedules a look at its animations. */
static void archive_file_changed(struct vfs *v, const struct target *folder, uint32_t mask)
{
	struct changes changes = CHANGES_INIT;

	/* While the archive is still being written, the kernel's cache of it expires by itself. */
	if (!(mask & (NAMES | IN_CLOSE_WRITE | IN_ATTRIB)))
		return;
	archive_changed(v, folder->node, &changes);
	changes_send_all(v, &changes);
	look_at_animations(v, folder->node->id, ALL_SHOWN);
}

static void known_changed(struct vfs *v, const struct target *parent, const struct target *t,
			  const char *name, uint32_t mask)
{
	if (t->thing->kind == THING_PLAIN)
		plain_changed(v, parent, t, name, mask);
	if (t->thing->kind == THING_ARCHIVE)
		archive_file_changed(v, t, mask);
	if (t->thing->kind != THING_ANIMATION)
		return;
	if (mask & NAMES)
		invalidate_name(v, parent->node->id, name);
	look_soon(v, t->thing->animation);
}

static void outside_name_changed(struct vfs *v, uint64_t cookie, const char *name, uint32_t mask)
{
	struct target parent, child;

	if (target_get(v, cookie, &parent) != 0)
		return;
	if (child_of(v, parent.node, name, &child)) {
		known_changed(v, &parent, &child, name, mask);
		target_put(v, &child);
	} else if ((mask & (NAMES | IN_CLOSE_WRITE)) && name_may_show(v, name, false)) {
		/*
		 * An earlier lookup may have found a file that was half written, and shown it as a
		 * file.
		 */
		invalidate_name(v, cookie, name);
	}
	target_put(v, &parent);
}

/* Handles a changed file: its own name, and the names of folders beside it. */
static void file_changed(struct vfs *v, uint64_t folder, const char *name, uint32_t mask)
{
	char beside[NAME_MAX + 1];

	outside_name_changed(v, folder, name, mask);
	for (unsigned i = 0; i < BESIDE_NAMES && name_may_show(v, name, true); i++) {
		if (beside_folder(v->store, name, i, beside))
			outside_name_changed(v, folder, beside, mask);
	}
}

/* Schedules a look at animations whose skeleton, bone names or stills may come from this file. */
static void beside_changed(struct vfs *v, uint64_t folder, const char *name)
{
	char own[NAME_MAX + 1];
	size_t length;

	if (skeleton_is_shared_name(name) || model_archive_has_name(name)) {
		look_at_animations(v, folder, ALL_SHOWN);
	} else if (skeleton_is_own_name(name, &length)) {
		snprintf(own, sizeof(own), "%.*s", (int)length, name);
		file_changed(v, folder, own, 0);
	} else if (folder == NODE_ROOT && strcmp(name, NAMING_FILE) == 0) {
		look_at_animations(v, 0, ALL_SHOWN);
	} else if (stills_claims(name)) {
		look_at_animations(v, folder, OF_STILLS);
	}
}

/*
 * Looks at animations that list others, and invalidates the folder's listing: any file may be one
 * that a list names, so that the list's folder appears, changes or vanishes.
 */
static void outside_part_changed(struct vfs *v, uint64_t folder)
{
	const struct node *node;
	bool lists;

	vfs_lock(v);
	node = nodes_by_id(&v->nodes, folder);
	lists = node && node->thing->kind == THING_PLAIN && node->thing->plain.lists;
	vfs_unlock(v);
	if (lists && v->unopened_folders)
		invalidate_data(v, folder);
	if (lists)
		look_at_animations(v, folder, OF_PARTS);
}

/* ---- events ---- */

/*
 * Invalidates everything, since events were lost: anything may have changed, there may be new
 * folders to watch, and watches may have ended.
 */
static void everything_changed(struct vfs *v)
{
	const struct link *link;
	struct node *node;
	size_t at = 0;

	vfs_lock(v);
	while ((node = nodes_next(&v->nodes, &at))) {
		if (node->thing->kind == THING_PLAIN)
			/* set again when the folder is next used */
			node->thing->plain.watched = false;
		invalidate_data(v, node->id);
		for (link = node_link(node); link; link = node_next_link(node, link))
			invalidate_name(v, link->parent->id, link->name);
	}
	vfs_unlock(v);
	sharing_watch(v);
	look_at_animations(v, 0, ALL_SHOWN);
}

/* Notes that the folder is no longer watched, so that the kernel must not cache for long. */
static void watch_ended(struct vfs *v, uint64_t folder)
{
	struct node *node;

	vfs_lock(v);
	node = nodes_by_id(&v->nodes, folder);
	if (node && node->thing->kind == THING_PLAIN)
		node->thing->plain.watched = false;
	vfs_unlock(v);
	look_at_animations(v, folder, ALL_SHOWN);
}

static void changed(void *closure, uint64_t cookie, const char *name, uint32_t mask)
{
	struct vfs *v = closure;

	if (sharing_changed(v, cookie, name, mask))
		return;
	if (!cookie)
		everything_changed(v);
	else if (mask & IN_IGNORED)
		watch_ended(v, cookie);
	/*
	 * Look at a folder's animations after its mode has changed, which decides whether models in
	 * it may be used for all users.
	 */
	if (cookie && !name && (mask & IN_ATTRIB) && v->options->allow_other)
		look_at_animations(v, cookie, ALL_SHOWN);
	if (!cookie || !name)
		return;
	/* Invalidate the folder's listing, which a kernel caches that opens no folders. */
	if (v->unopened_folders && ((mask & NAMES) || name_may_show(v, name, true)))
		invalidate_data(v, cookie);
	file_changed(v, cookie, name, mask);
	beside_changed(v, cookie, name);
	outside_part_changed(v, cookie);
}

static bool watch_root(struct vfs *v)
{
	struct target root;
	bool watched;

	if (target_get(v, NODE_ROOT, &root) != 0)
		return false;
	folder_watch(v, &root, v->root);
	vfs_lock(v);
	watched = root.thing->plain.watched;
	vfs_unlock(v);
	target_put(v, &root);
	return watched;
}

void outside_start(struct vfs *v)
{
	bool watched;

	v->watch = watch_new(changed, v);
	if (!v->watch) {
		log_warning("no inotify (%s): mapped files may show changes late", strerror(errno));
		return;
	}
	watched = watch_root(v);
	v->watched = sharing_watch(v) && watched;
}

void outside_end(struct vfs *v)
{
	watch_free(v->watch);
	v->watch = NULL;
}
