/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * backing.h - the file on disk whose attributes a node has: a plain thing itself, or the animation
 * file. For members of an archive, the archive.
 */
#ifndef ANIMFS_VFS_BACKING_H
#define ANIMFS_VFS_BACKING_H

#include "vfs.h"

/*
 * Opens it with O_PATH (also a symbolic link), or duplicates an open handle's descriptor; the
 * caller closes *fd. 0 or an errno.
 */
int backing_pin(struct vfs *v, const struct target *t, int *fd) EXCLUDES(vfs_class);
/* Appends one of its extended attributes, or their list (name NULL), to `out`. 0 or an errno. */
int backing_xattr(struct vfs *v, const struct target *t, const char *name, struct buf *out)
	EXCLUDES(vfs_class);
/* As backing_xattr, for a descriptor, which may be O_PATH. */
int descriptor_xattr(int fd, const char *name, struct buf *out);

#endif
