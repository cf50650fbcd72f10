/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * held.h - old versions that are kept because views of them are open. Together they take at most
 * --held-max bytes; beyond that the one that was replaced first is dropped, and reading its open
 * views gives EIO.
 */
#ifndef ANIMFS_VFS_HELD_H
#define ANIMFS_VFS_HELD_H

#include "vfs.h"

struct held *held_new(size_t limit); /* NULL: no memory */
void held_free(struct held *h);      /* NULL is fine */

/*
 * The view's version is no longer the latest, and its name opens another text: counts the version's
 * memory from now on, once for all its views. `members`: the head of the animation's list of
 * members.
 */
void held_add(struct vfs *v, struct thing *view, struct thing *const *members) REQUIRES(vfs_class);
/* The view is no longer open: drops its version and text. */
void view_unpin(struct vfs *v, struct thing *view) REQUIRES(vfs_class);
size_t held_size(const struct vfs *v) REQUIRES(vfs_class);

#endif
