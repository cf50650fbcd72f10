/* SPDX-License-Identifier: GPL-3.0-or-later */
/* access.h - who may do what: ACLs, and the guard of a mount that several users share. */
#ifndef ANIMFS_VFS_ACCESS_H
#define ANIMFS_VFS_ACCESS_H

#include "acl.h"

/* The ACL of this name, to an empty `out`. ENODATA where there is none. */
int acl_get(struct vfs *v, const struct target *t, const char *name, struct buf *out)
	EXCLUDES(vfs_class);
/* May who asks read this? 0, or EACCES. For what takes a text to another name. */
int acl_check_read(struct vfs *v, const struct request *who, const struct target *t)
	EXCLUDES(vfs_class);

/* Before the store is used. */
void access_start(struct vfs *v);
/* Who asks, where others are let in; elsewhere NULL, who may do what we may. 0 or an errno. */
int access_caller(struct vfs *v, const struct request *who, struct caller **out);
/* May he move this name, in a folder of which he may write the names, though that is sticky? */
bool access_may_move(struct vfs *v, const struct caller *who, int dir, const char *name);
/*
 * Owner, mode or ACL were set. Who may read an animation decides which skeletons it is shown with:
 * it is looked at before the reply.
 */
void access_changed(struct vfs *v, const struct target *t) EXCLUDES(vfs_class);

#endif
