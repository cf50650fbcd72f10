/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * outside.c - changes that other programs make in SOURCE, seen by a watch on every folder in use.
 *
 * What is below an animation file is believed by the kernel until it is invalidated, wherever the
 * file's folder is watched. Everything else is believed for TIMEOUT only, so that changes show as
 * well; but pages that somebody has mapped, or holds open, are dropped only when we say so.
 */
#include "outside.h"
#include "diagnostics.h"
#include "given.h"
#include "handle.h"
#include "lookup.h"
#include "sharing.h"
#include "upper.h"
#include "watching.h"

#include "store/source.h"
#include "watch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/inotify.h>

#define CONTENT (IN_MODIFY | IN_CLOSE_WRITE | IN_ATTRIB)
#define NAMES (IN_CREATE | IN_DELETE | IN_MOVE)

/* ---- an animation that others may have changed ---- */

/*
 * The version is held until the animation is looked at: a request may see the change earlier, and
 * then nobody else knows which clips there were.
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

/* `now` NULL: the file is gone. */
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
	vfs_lock(v);
	node_put(&v->nodes, parent);
	vfs_unlock(v);
}

/* `now` NULL: all of it is gone. */
static bool is_gone(const struct node *node, const struct version *now) REQUIRES(vfs_class)
{
	struct place place;

	return !now || !place_by_names(node, now, &place);
}

/* What is gone is dropped, or the kernel would keep it as long as it has memory. */
static void collect_again(struct vfs *v, struct node *node, const struct version *now,
			  struct changes *changes) REQUIRES(vfs_class)
{
	bool gone = is_gone(node, now);
	const struct link *link = node_link(node);

	if (node->thing->folder)
		changes_data(changes, node);
	changes_names(changes, node, gone);
	if (gone && now && link && !is_gone(link->parent, now))
		given_forget(v, node);
}

/* A member may go while what was given in it is forgotten. */
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
 * All names and listings once more: replies in flight may have reached the kernel after the first
 * time.
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

/* Other names than when it was looked at last? Then they are invalidated once more, later. */
static bool note_names(struct vfs *v, struct animation *a, const struct version *now)
{
	uint64_t names = now ? tree_names(now) : 1;
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

/* Is it time to invalidate names once more? Otherwise it is set to look then, if that is to come.
 */
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

	/* Where it only does not decode, nothing is known of its names. */
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

/* The animations of which views are known, of a folder or all there are (0). */
static void look_at_animations(struct vfs *v, uint64_t folder)
{
	struct animation **list;
	size_t count = 0, at = 0;
	struct node *node;

	vfs_lock(v);
	list = calloc(v->nodes.count, sizeof(struct animation *));
	while (list && (node = nodes_next(&v->nodes, &at))) {
		if (node->thing->kind != THING_ANIMATION || !node->thing->animation->members ||
		    (folder && (!node_link(node) || node_link(node)->parent->id != folder)))
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

/* ---- names ---- */

/* Writing through the mount needs no invalidation: the kernel did it. */
static bool is_other(struct vfs *v, const struct target *t, const struct identity *id, bool *writes)
{
	bool other;

	vfs_lock(v);
	other = !identity_same(id, &t->thing->plain.identity);
	*writes = node_writers(t->node) > 0;
	vfs_unlock(v);
	return other;
}

static void plain_changed(struct vfs *v, const struct target *parent, const struct target *t,
			  const char *name, uint32_t mask)
{
	struct folder folder;
	struct identity id;
	struct stat st;
	bool writes;
	int error = folder_open(v, parent->node, &folder);

	if (error)
		return;
	error = identity_at(folder.fd, name, &id, &st);
	folder_close(v, &folder);
	if (error || is_other(v, t, &id, &writes))
		invalidate_name(v, parent->node->id, name);
	else if ((mask & CONTENT) && !writes)
		invalidate_data(v, t->node->id);
}

static void known_changed(struct vfs *v, const struct target *parent, const struct target *t,
			  const char *name, uint32_t mask)
{
	if (t->thing->kind == THING_PLAIN)
		plain_changed(v, parent, t, name, mask);
	if (t->thing->kind != THING_ANIMATION)
		return;
	if (mask & NAMES)
		invalidate_name(v, parent->node->id, name);
	look_soon(v, t->thing->animation);
}

static void name_changed(struct vfs *v, uint64_t cookie, const char *name, uint32_t mask)
{
	struct target parent, child;

	if (target_get(v, cookie, &parent) != 0)
		return;
	if (child_of(v, parent.node, name, &child)) {
		known_changed(v, &parent, &child, name, mask);
		target_put(v, &child);
	} else if ((mask & (NAMES | IN_CLOSE_WRITE)) && name_may_show(v, name, false)) {
		/* Of two lookups at once one may have found half a file: a folder that is none. */
		invalidate_name(v, cookie, name);
	}
	target_put(v, &parent);
}

/* With its folder, where that stands beside it. */
static void file_changed(struct vfs *v, uint64_t folder, const char *name, uint32_t mask)
{
	char beside[NAME_MAX + 8];

	name_changed(v, folder, name, mask);
	for (size_t i = 0; i < ARRAY_SIZE(beside_suffixes) && name_may_show(v, name, true); i++) {
		snprintf(beside, sizeof(beside), "%s%s", name, beside_suffixes[i]);
		name_changed(v, folder, beside, mask);
	}
}

/* What files are shown with is in others beside them: texts and models of skeletons, bones' names.
 */
static void beside_changed(struct vfs *v, uint64_t folder, const char *name)
{
	char own[NAME_MAX + 1];
	size_t length;

	if (rest_is_shared(name)) {
		look_at_animations(v, folder);
	} else if (rest_is_own(name, &length)) {
		snprintf(own, sizeof(own), "%.*s", (int)length, name);
		file_changed(v, folder, own, 0);
	} else if (folder == NODE_ROOT && strcmp(name, NAMING_FILE) == 0) {
		look_at_animations(v, 0);
	}
}

/* ---- events ---- */

/* Anything may have changed: events were lost. */
static void everything_changed(struct vfs *v)
{
	const struct link *link;
	struct node *node;
	size_t at = 0;

	vfs_lock(v);
	while ((node = nodes_next(&v->nodes, &at))) {
		invalidate_data(v, node->id);
		for (link = node_link(node); link; link = node_next_link(node, link))
			invalidate_name(v, link->parent->id, link->name);
	}
	vfs_unlock(v);
	look_at_animations(v, 0);
}

/* The folder is not watched any more: what is in it is not to be believed for long. */
static void watch_ended(struct vfs *v, uint64_t folder)
{
	struct node *node;

	vfs_lock(v);
	node = nodes_by_id(&v->nodes, folder);
	if (node && node->thing->kind == THING_PLAIN)
		node->thing->plain.watched = false;
	vfs_unlock(v);
	look_at_animations(v, folder);
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
	/* Who may list a folder says whether models in it are found for everybody. */
	if (cookie && !name && (mask & IN_ATTRIB) && v->options->allow_other)
		look_at_animations(v, cookie);
	if (!cookie || !name)
		return;
	/* A kernel that opens no folders keeps what is in them. */
	if (v->unopened_folders && ((mask & NAMES) || name_may_show(v, name, true)))
		invalidate_data(v, cookie);
	file_changed(v, cookie, name, mask);
	beside_changed(v, cookie, name);
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
