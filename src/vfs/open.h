/* SPDX-License-Identifier: GPL-3.0-or-later */
/* open.h - opening and creating views, for calls other than open. */
#ifndef ANIMFS_VFS_OPEN_H
#define ANIMFS_VFS_OPEN_H

#include "handle.h"
#include "view.h"

/*
 * Creates and opens a view whose name is absent; the view is empty until it is written to. The
 * entry counts as one lookup. Returns 0 or an errno.
 */
int view_create(struct vfs *v, const struct request *who, const struct target *parent,
		const char *name, const struct place *place, int flags, struct opened *out,
		struct entry *entry) EXCLUDES(vfs_class);
/*
 * Makes sure that the view has a draft, which begins with a copy of its text (`empty`: with an
 * empty text). Returns 0 with the lock of the tree held, or an errno without it: ESTALE if the node
 * now stands for another thing.
 */
int view_need_draft(struct vfs *v, const struct target *t, bool empty) EXCLUDES(vfs_class)
	TRY_ACQUIRE(0, vfs_class);

#endif
