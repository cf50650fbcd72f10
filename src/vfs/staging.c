/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * staging.c - which folders are staged, and when they end.
 *
 * While texts come such a folder is an ordinary one. When nobody did anything in it for END_MS and
 * nothing in it is open for writing, it becomes what its texts say. Those that cannot become
 * anything stay as they are, and are tried again after something in them was changed; those that
 * could not be read, or stored, after a while.
 */
#include "staging.h"
#include "access.h"
#include "handle.h"
#include "lookup.h"
#include "staging_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REST_MAX_MS 60000 /* between two attempts */

struct stagings {
	struct vfs *v;
	struct lock turn; /* staging_class: one is finished at a time */
	struct staging *first GUARDED_BY(vfs_class);
	_Atomic unsigned count;
	_Atomic bool ended; /* nothing is tried again */
};

UNSHARED struct stagings *stagings_new(struct vfs *v)
{
	struct stagings *list = calloc(1, sizeof(*list));

	if (!list)
		return NULL;
	list->v = v;
	lock_init(&list->turn);
	return list;
}

UNSHARED static void staging_free(struct staging *s)
{
	gifts_release(&s->gifts);
	free(s);
}

UNSHARED void stagings_free(struct stagings *list)
{
	while (list && list->first) {
		struct staging *next = list->first->next;

		staging_free(list->first);
		list->first = next;
	}
	if (list)
		lock_destroy(&list->turn);
	free(list);
}

static void staging_put(struct vfs *v, struct staging *s) REQUIRES(vfs_class)
{
	if (--s->references)
		return;
	node_put(&v->nodes, s->node);
	staging_free(s);
}

/* ---- which there are ---- */

/* The folder that the node is, or is in; NULL: in none. */
static struct staging *find_above(const struct vfs *v, const struct node *node) REQUIRES(vfs_class)
{
	struct staging *s = v->stagings->first;

	while (node && node->thing->kind == THING_PLAIN && !node->thing->plain.staging)
		node = node_link(node) ? node_link(node)->parent : NULL;
	if (!node || node->thing->kind != THING_PLAIN)
		return NULL;
	while (s && s->node != node)
		s = s->next;
	return s;
}

bool staging_wanted(struct vfs *v, const struct thing *parent, const char *name)
{
	const struct codec *codec;
	bool probe, staged;

	if (parent->kind == THING_ANIMATION)
		return name[0] != '.';
	if (parent->kind != THING_PLAIN || parent->area != AREA_SOURCE ||
	    !store_claims(v->store, name, &codec, &probe) || probe)
		return false;
	vfs_lock(v);
	staged = parent->node && find_above(v, parent->node);
	vfs_unlock(v);
	return !staged;
}

static void wait_until(struct vfs *v, struct staging *s, int64_t when) REQUIRES(vfs_class)
{
	if (!v->stagings->ended && deadline_set(v->deadlines, &s->end, when))
		s->references++;
}

/* Takes it off the list. */
static void staging_drop(struct vfs *v, struct staging *s) REQUIRES(vfs_class)
{
	struct staging **at = &v->stagings->first;

	if (!s->listed)
		return;
	while (*at != s)
		at = &(*at)->next;
	*at = s->next;
	s->listed = false;
	v->stagings->count--;
	if (s->node->thing->kind == THING_PLAIN)
		s->node->thing->plain.staging = false;
	if (deadline_clear(v->deadlines, &s->end))
		s->references--;
	staging_put(v, s);
}

static void staging_due(struct vfs *v, void *user);

static void staging_add(struct vfs *v, struct staging *s, struct node *node) REQUIRES(vfs_class)
{
	s->node = node_get(node);
	s->end = (struct deadline){.due = staging_due, .user = s};
	s->references = 1;
	s->listed = true;
	s->next = v->stagings->first;
	v->stagings->first = s;
	v->stagings->count++;
	node->thing->plain.staging = true;
	wait_until(v, s, clock_ms() + END_MS);
}

int staging_begin(struct vfs *v, const struct target *folder)
{
	struct staging *s = calloc(1, sizeof(*s));
	struct buf path = BUF_INIT;
	int error = ENOMEM;

	if (s) {
		vfs_lock(v);
		error = node_path(folder->node, &path);
		vfs_unlock(v);
	}
	if (!error)
		error = note_add(v, (const char *)path.data);
	buf_release(&path);
	if (error) {
		free(s);
		return error;
	}
	vfs_lock(v);
	if (folder->node->thing->kind == THING_PLAIN && !folder->node->thing->plain.staging)
		staging_add(v, s, folder->node);
	else
		free(s);
	vfs_unlock(v);
	return 0;
}

void staging_forget(struct vfs *v, const struct target *folder, const char *path)
{
	struct staging *s;
	bool found;

	vfs_lock(v);
	s = v->stagings->first;
	while (s && s->node != folder->node)
		s = s->next;
	found = s != NULL;
	if (found)
		staging_drop(v, s);
	vfs_unlock(v);
	if (found)
		note_remove(v, path);
}

static void touch_staging(struct vfs *v, struct staging *s) REQUIRES(vfs_class)
{
	s->touches++;
	wait_until(v, s, clock_ms() + END_MS);
}

void staging_touch(struct vfs *v, const struct node *node)
{
	struct staging *s;

	if (!v->stagings->count)
		return;
	vfs_lock(v);
	s = find_above(v, node);
	if (s)
		touch_staging(v, s);
	vfs_unlock(v);
}

/* Files further down are texts, and what was given to them is nobody's. */
static void give_to(struct staging *s, const struct node *node, unsigned what, pid_t by)
	REQUIRES(vfs_class)
{
	const struct link *link = node_link(node);

	if (node == s->node)
		gifts_add(&s->gifts, NULL, what, by);
	else if (link && link->parent == s->node && !node->thing->folder)
		gifts_add(&s->gifts, &node->thing->plain.identity, what, by);
}

void staging_given(struct vfs *v, const struct request *who, const struct node *node, unsigned what)
{
	struct staging *s;
	pid_t by;

	if (!v->stagings->count)
		return;
	by = what ? process_of(who->pid) : 0;
	vfs_lock(v);
	s = find_above(v, node);
	if (s) {
		give_to(s, node, what, by);
		touch_staging(v, s);
	}
	vfs_unlock(v);
}

/* ---- the end ---- */

/* Is a file in it open for writing? */
static bool is_busy(struct vfs *v, const struct staging *s) REQUIRES(vfs_class)
{
	const struct node *node;
	size_t at = 0;

	while ((node = nodes_next(&v->nodes, &at))) {
		if (node->handles && node_writers(node) && find_above(v, node) == s)
			return true;
	}
	return false;
}

/* Where it is. ENOENT: nowhere any more. */
static int find_path(struct vfs *v, const struct staging *s, bool *is_clip, struct buf *path)
{
	int error = ENOENT;

	vfs_lock(v);
	if (s->listed && node_link(s->node))
		error = node_path(s->node, path);
	if (!error)
		*is_clip = node_link(s->node)->parent->thing->kind == THING_ANIMATION;
	vfs_unlock(v);
	return error;
}

/* Wrong texts stay wrong until somebody changes them. */
static void try_again(struct vfs *v, struct staging *s, int error) REQUIRES(staging_class)
{
	if (error == EBADMSG)
		return;
	s->rest = s->rest ? 2 * s->rest : END_MS;
	if (s->rest > REST_MAX_MS)
		s->rest = REST_MAX_MS;
	vfs_lock(v);
	if (s->listed)
		wait_until(v, s, clock_ms() + s->rest);
	vfs_unlock(v);
}

/* The folder becomes what its texts say; one without texts is an ordinary one from now on. */
static int finish_now(struct vfs *v, struct staging *s, struct changes *changes)
	REQUIRES(staging_class)
{
	struct buf path = BUF_INIT;
	bool is_clip = false;
	int error = find_path(v, s, &is_clip, &path);

	if (!error)
		error = is_clip ? staging_make_clip(v, s, changes)
				: staging_make_file(v, s, changes);
	if (!error || error == ENODATA || error == ENOENT) {
		if (path.data)
			note_remove(v, (const char *)path.data);
		vfs_lock(v);
		staging_drop(v, s);
		vfs_unlock(v);
	} else {
		try_again(v, s, error);
	}
	buf_release(&path);
	return error == ENODATA ? 0 : error;
}

/* above: the folder that the kernel has locked for the request; NULL: there is none. */
static int finish_staging(struct vfs *v, struct staging *s, const struct node *above)
{
	struct changes changes = CHANGES_INIT;
	bool listed;
	int error;

	changes.saved = true;
	changes.locked[0] = above ? above->id : 0;
	lock_acquire(&v->stagings->turn, &staging_class);
	vfs_lock(v);
	listed = s->listed;
	vfs_unlock(v);
	error = listed ? finish_now(v, s, &changes) : 0;
	lock_release(&v->stagings->turn, &staging_class);
	changes_send_all(v, &changes);
	return error;
}

static void staging_due(struct vfs *v, void *user)
{
	struct staging *s = user;
	bool busy;

	vfs_lock(v);
	busy = s->listed && is_busy(v, s);
	if (busy)
		wait_until(v, s, clock_ms() + END_MS);
	vfs_unlock(v);
	if (!busy)
		finish_staging(v, s, NULL);
	vfs_lock(v);
	staging_put(v, s);
	vfs_unlock(v);
}

/* Each with a reference; NULL: no memory. */
static struct staging **list_below(struct vfs *v, const struct node *above, size_t *count)
{
	struct staging **list;

	*count = 0;
	vfs_lock(v);
	list = calloc(v->stagings->count + 1, sizeof(struct staging *));
	for (struct staging *s = v->stagings->first; s && list; s = s->next) {
		if (above && !node_is_below(s->node, above))
			continue;
		s->references++;
		list[(*count)++] = s;
	}
	vfs_unlock(v);
	return list;
}

static int finish_below(struct vfs *v, const struct node *above)
{
	struct staging **list;
	size_t count;
	int first = 0;

	list = list_below(v, above, &count);
	for (size_t i = 0; i < count; i++) {
		int error = finish_staging(v, list[i], above);

		first = first ? first : error;
		vfs_lock(v);
		staging_put(v, list[i]);
		vfs_unlock(v);
	}
	if (!list)
		return ENOMEM;
	free(list);
	return first;
}

int stagings_finish(struct vfs *v, const struct node *above)
{
	if (!above)
		v->stagings->ended = true;
	return finish_below(v, above);
}

/* ---- what an earlier mount left ---- */

/* The node of a path, with references. */
static int find_target(struct vfs *v, const char *path, struct target *out)
{
	int error = target_get(v, NODE_ROOT, out);
	char name[NAME_MAX + 1];
	struct entry entry;

	while (!error && *path) {
		size_t length = strcspn(path, "/");

		snprintf(name, sizeof(name), "%.*s", (int)length, path);
		path += length + (path[length] == '/');
		error = lookup_in(v, out, name, &entry);
		target_put(v, out);
		if (error)
			break;
		error = target_get(v, entry.node, out);
		vfs_forget(v, entry.node, 1);
	}
	return error;
}

static void resume_staging(struct vfs *v, const char *path, bool aside)
{
	struct target folder;
	int error;

	if (aside) {
		staging_recover_rest(v, path);
		return;
	}
	if (staging_recover(v, path) != 0)
		return;
	error = find_target(v, path, &folder);
	if (!error && folder.thing->kind == THING_PLAIN && folder.thing->folder)
		(void)staging_begin(v, &folder);
	else if (!error || error == ENOENT)
		note_remove(v, path);
	if (!error)
		target_put(v, &folder);
}

void stagings_resume(struct vfs *v)
{
	if (v->read_only)
		return;
	notes_each(v, resume_staging);
	(void)finish_below(v, NULL);
}
