/* SPDX-License-Identifier: GPL-3.0-or-later */
/* backing.h - the file whose attributes a node has: a plain thing itself, or the animation's. */
#ifndef ANIMFS_VFS_BACKING_H
#define ANIMFS_VFS_BACKING_H

#include "vfs.h"

/* A descriptor of it: O_PATH, also of a symbolic link, or that of an open handle. */
int backing_pin(struct vfs *v, const struct target *t, int *fd) EXCLUDES(vfs_class);
/* An extended attribute of it, or the list of them (name NULL), appended to `out`. */
int backing_xattr(struct vfs *v, const struct target *t, const char *name, struct buf *out)
	EXCLUDES(vfs_class);
/* The same of a descriptor, which may be O_PATH. */
int descriptor_xattr(int fd, const char *name, struct buf *out);

#endif
