/* SPDX-License-Identifier: GPL-3.0-or-later */
/* access.h - permissions: ACLs, and checks in a mount that several users share (allow_other). */
#ifndef ANIMFS_VFS_ACCESS_H
#define ANIMFS_VFS_ACCESS_H

#include "acl.h"

/*
 * Reads the ACL xattr `name` of a thing into `out`, which is empty. Returns 0 or an errno: ENODATA
 * if there is none.
 */
int acl_get(struct vfs *v, const struct target *t, const char *name, struct buf *out)
	EXCLUDES(vfs_class);
/*
 * Returns 0 if the caller may read the thing, else EACCES. For requests that expose a text under
 * another name.
 */
int acl_check_read(struct vfs *v, const struct request *who, const struct target *t)
	EXCLUDES(vfs_class);
/*
 * Returns 0 if the caller `who` may read the file behind `fd`; else EACCES or another errno. With
 * `who` NULL everything is allowed.
 */
int access_check_read(const struct vfs *v, const struct caller *who, int fd);

/* Sets v->guard, by which the store checks rights; call it before the store is used. */
void access_start(struct vfs *v);
/*
 * Stores the caller's credentials in *out; NULL, which stands for the rights of the daemon, unless
 * other users are let in (allow_other). free() releases them. Returns 0 or an errno.
 */
int access_caller(struct vfs *v, const struct request *who, struct caller **out);
/*
 * Returns whether the caller may rename or remove the name `name` in the writable folder `dir`,
 * whose sticky bit may forbid it.
 */
bool access_may_move(struct vfs *v, const struct caller *who, int dir, const char *name);
/*
 * Looks at the animation again, if `t` belongs to one; call it after owner, mode or ACL were set,
 * before the reply: they decide which skeletons may be used with the animation.
 */
void access_changed(struct vfs *v, const struct target *t) EXCLUDES(vfs_class);

#endif
