/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * backing.h - the file on disk that a node takes its attributes from: for a plain thing the file
 * itself, for a virtual thing the animation file, for a member of an archive the archive.
 */
#ifndef ANIMFS_VFS_BACKING_H
#define ANIMFS_VFS_BACKING_H

#include "vfs.h"

/*
 * Opens the backing file with O_PATH (also a symbolic link), or duplicates an open handle's
 * descriptor; the caller closes *fd. Returns 0 or an errno.
 */
int backing_pin(struct vfs *v, const struct target *t, int *fd) EXCLUDES(vfs_class);
/*
 * Appends an extended attribute of the backing file, or the list of all (name NULL), to `out`.
 * Returns 0 or an errno.
 */
int backing_xattr(struct vfs *v, const struct target *t, const char *name, struct buf *out)
	EXCLUDES(vfs_class);
/* Like backing_xattr, for a descriptor, which may be O_PATH. */
int descriptor_xattr(int fd, const char *name, struct buf *out);

#endif
