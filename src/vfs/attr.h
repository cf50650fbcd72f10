/* SPDX-License-Identifier: GPL-3.0-or-later */
/* attr.h - attributes of any node, and entries (a lookup's reply) made of them. */
#ifndef ANIMFS_VFS_ATTR_H
#define ANIMFS_VFS_ATTR_H

#include "view.h"

int attributes_of(struct vfs *v, const struct target *t, struct stat *st) EXCLUDES(vfs_class);
/*
 * Like attributes_of, but if the node has lost its file, uses the file that the thread has found
 * again (looked_up.h).
 */
int attributes_found(struct vfs *v, const struct request *who, const struct target *t,
		     struct stat *st) EXCLUDES(vfs_class);
/* Returns for how many seconds the kernel may cache the node's attributes and name. */
double timeout_of(struct vfs *v, const struct target *t) EXCLUDES(vfs_class);
/* Makes an entry, which counts as one lookup of the node. Returns 0 or an errno. */
int entry_of(struct vfs *v, const struct target *t, struct entry *out) EXCLUDES(vfs_class);
/* Like entry_of, for an entry of an archive, or for the folder beside it. */
int member_entry(struct vfs *v, const struct target *t, const struct spot *spot, struct entry *out)
	EXCLUDES(vfs_class);
/*
 * Like entry_of, for a virtual thing that was just found in the latest version. `st`: the
 * attributes of the animation file (animation_look).
 */
int entry_in(struct vfs *v, const struct target *t, const struct sight *latest,
	     const struct stat *st, struct entry *out) EXCLUDES(vfs_class);

#endif
