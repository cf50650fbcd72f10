/* SPDX-License-Identifier: GPL-3.0-or-later */
/* attr.h - attributes of any node, and entries made of them. */
#ifndef ANIMFS_VFS_ATTR_H
#define ANIMFS_VFS_ATTR_H

#include "view.h"

int attributes_of(struct vfs *v, const struct target *t, struct stat *st) EXCLUDES(vfs_class);
/* How long the kernel may believe what it is told of the node, its name included. */
double timeout_of(struct vfs *v, const struct target *t) EXCLUDES(vfs_class);
/* Counts as one lookup. */
int entry_of(struct vfs *v, const struct target *t, struct entry *out) EXCLUDES(vfs_class);

#endif
