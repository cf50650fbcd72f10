/* SPDX-License-Identifier: GPL-3.0-or-later */
/* acl.h - POSIX ACLs in xattr form, and a caller's process and groups. Does not use nodes. */
#ifndef ANIMFS_VFS_ACL_H
#define ANIMFS_VFS_ACL_H

#include "vfs.h"

#define ACL_ACCESS "system.posix_acl_access"

bool acl_is_name(const char *name);
/*
 * Sets the permission bits of *mode to those that the ACL is equivalent to. Returns true if the ACL
 * says nothing beyond that mode.
 */
bool acl_read_mode(struct buf *acl, mode_t *mode);
/* Applies a mode to an ACL, as chmod does. */
void acl_write_mode(struct buf *acl, mode_t mode);
/* Converts an ACL that was set on an animation's folder into one for the file. */
void acl_for_file(struct buf *acl);
/* Converts the file's ACL into one for something that is shown with this mode. */
void acl_for_shown(struct buf *acl, mode_t mode);

/*
 * Returns the mode for a new file or folder in `folder`: applies the umask, unless `folder` has a
 * default ACL.
 */
mode_t acl_mode(const struct vfs *v, const struct request *who, int folder, mode_t mode);
/* Returns whether the caller is in the group, as primary or supplementary group. */
bool acl_in_group(const struct request *who, gid_t group);
/*
 * Stores the caller's credentials, with all groups, in *out, which free() releases. Returns 0 or an
 * errno.
 */
int acl_caller(const struct request *who, struct caller **out);
/* Returns the process (tgid) of a thread; the thread's own id if the process cannot be read. */
pid_t process_of(pid_t thread);

#endif
