/* SPDX-License-Identifier: GPL-3.0-or-later */
/* open.h - making and opening views, for calls that are no open. */
#ifndef ANIMFS_VFS_OPEN_H
#define ANIMFS_VFS_OPEN_H

#include "handle.h"
#include "view.h"

/*
 * A view whose name was absent is there again, empty until somebody writes it, and open. The entry
 * counts as one lookup.
 */
int view_create(struct vfs *v, const struct request *who, const struct target *parent,
		const char *name, const struct place *place, int flags, struct opened *out,
		struct entry *entry) EXCLUDES(vfs_class);
/*
 * The view has a draft, made of what it says where there is none. ESTALE where the node stands for
 * another thing by now. With the tree's lock on success, and not otherwise.
 */
int view_need_draft(struct vfs *v, const struct target *t, bool empty) EXCLUDES(vfs_class)
	TRY_ACQUIRE(0, vfs_class);

#endif
