/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pinned.h - the versions and texts that are kept because views are open.
 *
 * Old versions take at most --held-max bytes together; beyond that the version that was replaced
 * first is dropped, and reading its open views gives EIO.
 *
 * Rendered texts take at most --cache bytes together, or are only the one that was read last; other
 * texts are rendered again when they are read.
 */
#ifndef ANIMFS_VFS_PINNED_H
#define ANIMFS_VFS_PINNED_H

#include "vfs.h"

struct open_text;

struct pinned *pinned_new(size_t limit, size_t texts_limit); /* NULL: no memory */
void pinned_free(struct pinned *h);                          /* NULL is fine */

/*
 * Counts the memory of the view's version from now on, once for all its views: the version is no
 * longer the latest, and the view's name opens another text. `members`: the head of the animation's
 * list of members.
 */
void pinned_add(struct vfs *v, struct thing *view, struct thing *const *members)
	REQUIRES(vfs_class);
/* Drops the version and text of a view that is no longer open. */
void view_unpin(struct vfs *v, struct thing *view) REQUIRES(vfs_class);
size_t pinned_size(const struct vfs *v) REQUIRES(vfs_class);

/*
 * Keeps the text of an open view, with a reference of its own, unless a text is kept already, or
 * out of memory. The texts that were read least recently make room.
 */
void pinned_keep_text(struct vfs *v, struct thing *view, struct text *text) REQUIRES(vfs_class);
/* Returns the text that pinned_keep_text keeps for the view, with a reference; or NULL. */
struct text *pinned_text(struct vfs *v, const struct thing *view) REQUIRES(vfs_class);
/* Drops the text that pinned_keep_text keeps for the view. */
void pinned_drop_text(struct vfs *v, struct thing *view) REQUIRES(vfs_class);

#endif
