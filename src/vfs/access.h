/* SPDX-License-Identifier: GPL-3.0-or-later */
/* access.h - permissions: ACLs, and checks in a mount that several users share (allow_other). */
#ifndef ANIMFS_VFS_ACCESS_H
#define ANIMFS_VFS_ACCESS_H

#include "acl.h"

/* Reads the ACL xattr `name` into `out`, which is empty. ENODATA if there is none. */
int acl_get(struct vfs *v, const struct target *t, const char *name, struct buf *out)
	EXCLUDES(vfs_class);
/* May the caller read this? 0 or EACCES. For requests that expose a text under another name. */
int acl_check_read(struct vfs *v, const struct request *who, const struct target *t)
	EXCLUDES(vfs_class);
/* May the caller read the file behind `fd`? NULL may do everything. 0, EACCES or another errno. */
int access_check_read(const struct vfs *v, const struct caller *who, int fd);

/* Sets up the guard; call it before the store is used. */
void access_start(struct vfs *v);
/*
 * The caller's credentials, if other users are let in; else *out is NULL, which stands for the
 * rights of the daemon. free() releases them. 0 or an errno.
 */
int access_caller(struct vfs *v, const struct request *who, struct caller **out);
/* May the caller rename or remove this name in a writable folder, considering its sticky bit? */
bool access_may_move(struct vfs *v, const struct caller *who, int dir, const char *name);
/*
 * Call it after owner, mode or ACL were set. Looks at the animation again before the reply, since
 * they decide which skeletons may be used with it.
 */
void access_changed(struct vfs *v, const struct target *t) EXCLUDES(vfs_class);

#endif
