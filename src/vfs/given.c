/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "given.h"

#include "acl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>

bool given_is_for(const struct thing *thing)
{
	/*
	 * Attributes of an archived animation are remembered here, since it may have no loose file
	 * to set them on.
	 */
	if (thing->animation && thing->animation->archived)
		return true;
	switch ((enum thing_kind)thing->kind) {
	case THING_CLIP:
	case THING_BONES:
	case THING_FRAMES:
		return true;
	case THING_VIEW:
		return !view_of(thing)->whole;
	default:
		return false;
	}
}

/* ---- records by name ---- */

struct given *given_find(const struct node *node)
{
	const struct link *link = node_link(node);
	const struct animation *a = node->thing->animation;
	const struct mark *mark =
		link && a ? marks_find(&a->given, link->parent, link->name) : NULL;

	return mark ? mark->given : NULL;
}

struct given *given_need(struct vfs *v, struct node *node)
{
	const struct link *link = node_link(node);
	struct given *given = given_find(node);
	struct mark *mark;

	(void)v;
	if (given || !link || !node->thing->animation)
		return given;
	given = calloc(1, sizeof(*given));
	mark = given ? marks_add(&node->thing->animation->given, link->parent, link->name) : NULL;
	if (!mark) {
		free(given);
		return NULL;
	}
	mark->given = given;
	return given;
}

/* Returns whether the mark is that of the folder itself, or of a name in it. */
static bool given_is_of(const struct mark *mark, const struct node *folder) REQUIRES(vfs_class)
{
	const struct link *link = node_link(folder);

	return node_is_below(mark->parent, folder) ||
	       (link && mark->parent == link->parent && strcmp(mark->name, link->name) == 0);
}

void given_forget(struct vfs *v, const struct node *folder)
{
	struct marks *given = &folder->thing->animation->given;
	struct mark *mark = given->first, *next;

	for (; mark; mark = next) {
		next = mark->next;
		if (given_is_of(mark, folder))
			marks_remove(v, given, mark);
	}
}

static void xattrs_free(struct vfs *v, struct given *g)
{
	while (g->xattrs) {
		struct given_xattr *next = g->xattrs->next;

		free(g->xattrs->value);
		free(g->xattrs);
		g->xattrs = next;
	}
	budget_give(&v->given, g->charged);
	g->charged = 0;
}

/* Moves all remembered attributes from `was` to `to`. */
static void take_over(struct vfs *v, struct given *to, struct given *was)
{
	xattrs_free(v, to);
	*to = *was;
	*was = (struct given){.has_mode = false};
}

void given_move(struct vfs *v, const struct node *parent, const char *name, struct node *now)
{
	struct mark *was = marks_find(&now->thing->animation->given, parent, name);
	struct given *to = was ? given_need(v, now) : NULL;

	if (to && to != was->given)
		take_over(v, to, was->given);
}

void given_lose(struct vfs *v, struct node *node)
{
	struct given *given = given_find(node);

	if (!given)
		return;
	xattrs_free(v, given);
	*given = (struct given){.has_mode = false};
}

void given_free(struct vfs *v, struct given *g)
{
	if (g)
		xattrs_free(v, g);
	free(g);
}

/* ---- attributes ---- */

void given_apply(const struct given *g, struct stat *st)
{
	if (!g)
		return;
	if (g->has_mode)
		st->st_mode = (st->st_mode & S_IFMT) | (g->mode & 07777);
	if (g->has_uid)
		st->st_uid = g->uid;
	if (g->has_gid)
		st->st_gid = g->gid;
	if (g->has_atime)
		st->st_atim = g->atime;
	if (g->has_mtime && g->age.tv_sec == st->st_mtim.tv_sec &&
	    g->age.tv_nsec == st->st_mtim.tv_nsec)
		st->st_mtim = g->mtime;
}

static struct given_xattr **find_xattr(struct given *g, const char *name)
{
	struct given_xattr **at = &g->xattrs;

	while (*at && strcmp((*at)->name, name) != 0)
		at = &(*at)->next;
	return at;
}

void given_mode(struct given *g, mode_t mode)
{
	const struct given_xattr *x = *find_xattr(g, ACL_ACCESS);

	g->has_mode = true;
	g->mode = mode;
	if (x)
		acl_write_mode(&(struct buf){.data = x->value, .size = x->size}, mode);
}

void given_mtime(struct vfs *v, const struct target *t, struct timespec mtime)
{
	struct given *g;
	struct sight s;
	struct stat st;

	if (sight_of(v, t, &s, &st) != 0)
		return;
	if (t->thing->kind == THING_VIEW)
		view_facts(&s, &st);
	sight_release(&s);
	vfs_lock(v);
	g = given_need(v, t->node);
	if (g) {
		g->has_mtime = true;
		g->mtime = mtime;
		g->age = st.st_mtim;
	}
	vfs_unlock(v);
}

int given_xattr(struct vfs *v, const struct target *t, const char *name, struct buf *out)
{
	const struct given_xattr *x;
	struct given *g;

	vfs_lock(v);
	g = given_find(t->node);
	x = g ? *find_xattr(g, name) : NULL;
	if (x)
		buf_add(out, x->value, x->size);
	vfs_unlock(v);
	return !x ? ENODATA : out->failed ? ENOMEM : 0;
}

void given_list_xattrs(struct vfs *v, const struct target *t, struct buf *out)
{
	const struct given *g;

	vfs_lock(v);
	g = given_find(t->node);
	for (const struct given_xattr *x = g ? g->xattrs : NULL; x; x = x->next)
		buf_add(out, x->name, strlen(x->name) + 1);
	vfs_unlock(v);
}

/* Returns the number of bytes that an attribute counts for. */
static size_t given_size_of(const char *name, size_t value)
{
	return strlen(name) + 1 + value;
}

/* Charges an attribute of `size` bytes that replaces one of `before` bytes. Returns 0 or ENOSPC. */
static int charge(struct vfs *v, struct given *g, size_t before, size_t size)
{
	if (g->charged - before + size > GIVEN_XATTRS_MAX ||
	    (size > before && !budget_take(&v->given, size - before)))
		return ENOSPC;
	if (size < before)
		budget_give(&v->given, before - size);
	g->charged += size - before;
	return 0;
}

int given_set_xattr(struct vfs *v, struct given *g, const char *name, struct bytes value, int flags)
{
	struct given_xattr **at = find_xattr(g, name), *x = *at;
	uint8_t *copy;
	int error;

	if (x && (flags & XATTR_CREATE))
		return EEXIST;
	if (!x && (flags & XATTR_REPLACE))
		return ENODATA;
	copy = malloc(value.size ? value.size : 1);
	if (copy && !x)
		x = calloc(1, sizeof(*x) + strlen(name) + 1);
	error = copy && x ? charge(v, g, *at ? given_size_of(name, x->size) : 0,
				   given_size_of(name, value.size))
			  : ENOMEM;
	if (error) {
		if (x != *at)
			free(x);
		free(copy);
		return error;
	}
	if (value.size)
		memcpy(copy, value.data, value.size);
	if (!*at)
		strcpy(x->name, name);
	free(x->value);
	x->value = copy;
	x->size = value.size;
	*at = x;
	return 0;
}

int given_remove_xattr(struct vfs *v, struct given *g, const char *name)
{
	struct given_xattr **at = find_xattr(g, name), *x = *at;

	if (!x)
		return ENODATA;
	*at = x->next;
	g->charged -= given_size_of(name, x->size);
	budget_give(&v->given, given_size_of(name, x->size));
	free(x->value);
	free(x);
	return 0;
}
