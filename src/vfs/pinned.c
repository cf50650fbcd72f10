/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "pinned.h"

#include <stdlib.h>
#include <string.h>

struct pinned_version {
	struct version *version; /* referenced by the views that are counted in `views` */
	struct thing *const *members;
	unsigned views;
};

/* The text of an open view, in a list of all such texts by the time when they were last read. */
struct open_text {
	struct thing *view;
	struct text *text;
	struct open_text *newer, *older;
};

struct pinned {
	size_t limit; /* constant */
	struct pinned_version *
		list GUARDED_BY(vfs_class); /* versions in the order in which they were replaced */
	size_t count GUARDED_BY(vfs_class), room GUARDED_BY(vfs_class);
	size_t size GUARDED_BY(vfs_class);

	size_t texts_limit; /* constant */
	size_t texts_size GUARDED_BY(vfs_class);
	struct open_text *newest GUARDED_BY(vfs_class), *oldest GUARDED_BY(vfs_class);
};

UNSHARED struct pinned *pinned_new(size_t limit, size_t texts_limit)
{
	struct pinned *h = calloc(1, sizeof(*h));

	if (h) {
		h->limit = limit;
		h->texts_limit = texts_limit;
	}
	return h;
}

UNSHARED void pinned_free(struct pinned *h)
{
	if (h)
		free(h->list);
	free(h);
}

size_t pinned_size(const struct vfs *v)
{
	return v->pinned->size;
}

/*
 * Finds a counted version; searches from the end, since it was probably replaced just now. Returns
 * NULL if the version is not counted.
 */
static struct pinned_version *find_pinned_version(const struct pinned *h,
						  const struct version *version) REQUIRES(vfs_class)
{
	for (size_t i = h->count; i-- > 0;) {
		if (h->list[i].version == version)
			return &h->list[i];
	}
	return NULL;
}

static struct pinned_version *count_version(struct pinned *h, struct version *version,
					    struct thing *const *members) REQUIRES(vfs_class)
{
	struct pinned_version *list = array_room(h->list, h->count, &h->room, sizeof(*list));

	if (!list)
		return NULL;
	h->list = list;
	h->size += version->cached.size;
	list[h->count] = (struct pinned_version){version, members, 0};
	return &list[h->count++];
}

static void uncount_view(struct pinned *h, struct thing *view) REQUIRES(vfs_class)
{
	struct pinned_version *one = find_pinned_version(h, view->view.version);
	size_t behind;

	view->view.pinned = false;
	if (--one->views)
		return;
	h->size -= one->version->cached.size;
	behind = h->count - (size_t)(one - h->list) - 1;
	memmove(one, one + 1, behind * sizeof(*one));
	h->count--;
}

void view_unpin(struct vfs *v, struct thing *view)
{
	if (view->view.pinned)
		uncount_view(v->pinned, view);
	pinned_drop_text(v, view);
	version_put(view->view.version);
	view->view.version = NULL;
}

/* Drops the oldest version from all its views; the last of them takes it out of the list. */
static void give_up_oldest(struct vfs *v) REQUIRES(vfs_class)
{
	const struct version *version = v->pinned->list[0].version;

	for (struct thing *thing = *v->pinned->list[0].members; thing; thing = thing->next_member) {
		if (thing->kind != THING_VIEW || !thing->view.pinned ||
		    thing->view.version != version)
			continue;
		thing->view.lost = true;
		view_unpin(v, thing);
	}
}

void pinned_add(struct vfs *v, struct thing *view, struct thing *const *members)
{
	struct pinned *h = v->pinned;
	struct pinned_version *one;

	if (view->view.pinned)
		return;
	one = find_pinned_version(h, view->view.version);
	if (!one)
		one = count_version(h, view->view.version, members);
	if (!one)
		return;
	one->views++;
	view->view.pinned = true;
	while (h->size > h->limit)
		give_up_oldest(v);
}

/* ---- rendered texts ---- */

static void list_text(struct pinned *h, struct open_text *t) REQUIRES(vfs_class)
{
	t->newer = NULL;
	t->older = h->newest;
	*(t->older ? &t->older->newer : &h->oldest) = t;
	h->newest = t;
}

static void unlist_text(struct pinned *h, struct open_text *t) REQUIRES(vfs_class)
{
	*(t->newer ? &t->newer->older : &h->newest) = t->older;
	*(t->older ? &t->older->newer : &h->oldest) = t->newer;
}

void pinned_drop_text(struct vfs *v, struct thing *view)
{
	struct pinned *h = v->pinned;
	struct open_text *t = view->view.rendered;

	if (!t)
		return;
	view->view.rendered = NULL;
	unlist_text(h, t);
	h->texts_size -= text_capacity(t->text);
	text_put(t->text);
	free(t);
}

void pinned_keep_text(struct vfs *v, struct thing *view, struct text *text)
{
	struct pinned *h = v->pinned;
	struct open_text *t;

	t = view->view.rendered ? NULL : malloc(sizeof(*t));
	if (!t)
		return;
	*t = (struct open_text){.view = view, .text = text_get(text)};
	view->view.rendered = t;
	list_text(h, t);
	h->texts_size += text_capacity(text);
	while (h->texts_size > h->texts_limit && h->oldest != h->newest)
		pinned_drop_text(v, h->oldest->view);
}

struct text *pinned_text(struct vfs *v, const struct thing *view)
{
	struct open_text *t = view->view.rendered;

	if (!t)
		return NULL;
	unlist_text(v->pinned, t);
	list_text(v->pinned, t);
	return text_get(t->text);
}
