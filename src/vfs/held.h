/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * held.h - versions that have been replaced while views of them are open: together they take no
 * more than --held-max. Beyond it the one that was replaced first is given up, and its views are
 * lost: who has one open reads EIO.
 */
#ifndef ANIMFS_VFS_HELD_H
#define ANIMFS_VFS_HELD_H

#include "vfs.h"

struct held *held_new(size_t limit); /* NULL: no memory */
void held_free(struct held *h);      /* NULL is fine */

/*
 * The view's version is not its animation's latest any more, and its name opens another text: from
 * here on the version counts, once for all its views. `members` is the head of the animation's.
 */
void held_add(struct vfs *v, struct thing *view, struct thing *const *members) REQUIRES(vfs_class);
/* The view is not open any more: it lets go of its version and text. */
void view_unpin(struct vfs *v, struct thing *view) REQUIRES(vfs_class);
size_t held_size(const struct vfs *v) REQUIRES(vfs_class);

#endif
