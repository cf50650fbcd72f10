/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * held.h - what is kept because views are open.
 *
 * Old versions: together they take at most --held-max bytes; beyond that the one that was replaced
 * first is dropped, and reading its open views gives EIO.
 *
 * Rendered texts: together at most --cache bytes, or only the one that was read last; others are
 * rendered again when they are read.
 */
#ifndef ANIMFS_VFS_HELD_H
#define ANIMFS_VFS_HELD_H

#include "vfs.h"

struct open_text;

struct held *held_new(size_t limit, size_t texts_limit); /* NULL: no memory */
void held_free(struct held *h);                          /* NULL is fine */

/*
 * The view's version is no longer the latest, and its name opens another text: counts the version's
 * memory from now on, once for all its views. `members`: the head of the animation's list of
 * members.
 */
void held_add(struct vfs *v, struct thing *view, struct thing *const *members) REQUIRES(vfs_class);
/* The view is no longer open: drops its version and text. */
void view_unpin(struct vfs *v, struct thing *view) REQUIRES(vfs_class);
size_t held_size(const struct vfs *v) REQUIRES(vfs_class);

/*
 * Keeps the text of an open view, with a reference of its own, unless there is one, or no memory.
 * Returns the texts that made room; pass them to held_discard without the lock, since freeing much
 * takes time. NULL: none.
 */
struct open_text *held_keep_text(struct vfs *v, struct thing *view, struct text *text)
	REQUIRES(vfs_class);
void held_discard(struct open_text *texts) EXCLUDES(vfs_class); /* NULL is fine */
/* That text, with a reference, or NULL. */
struct text *held_text(struct vfs *v, const struct thing *view) REQUIRES(vfs_class);
/* The same, and it is kept no longer. */
struct text *held_take_text(struct vfs *v, struct thing *view) REQUIRES(vfs_class);

#endif
