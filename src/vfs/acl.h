/* SPDX-License-Identifier: GPL-3.0-or-later */
/* acl.h - POSIX ACLs in xattr form, and a caller's process and groups. Does not use nodes. */
#ifndef ANIMFS_VFS_ACL_H
#define ANIMFS_VFS_ACL_H

#include "vfs.h"

#define ACL_ACCESS "system.posix_acl_access"

bool acl_is_name(const char *name);
/*
 * Sets the lower bits of *mode to the mode that the ACL is equivalent to. True if the ACL has
 * nothing beyond that mode.
 */
bool acl_read_mode(struct buf *acl, mode_t *mode);
/* Applies a mode to an ACL, as chmod does. */
void acl_write_mode(struct buf *acl, mode_t mode);
/* Converts an ACL that was set on an animation's folder into one for the file. */
void acl_for_file(struct buf *acl);
/* Converts the file's ACL into one for something that is shown with this mode. */
void acl_for_shown(struct buf *acl, mode_t mode);

/*
 * The mode for something new in a folder: applies the umask, unless the folder has a default ACL.
 */
mode_t acl_mode(const struct vfs *v, const struct request *who, int folder, mode_t mode);
/* Is the caller in the group, as primary or supplementary group? */
bool acl_in_group(const struct request *who, gid_t group);
/* The caller's credentials with all groups. 0 or an errno; free() releases them. */
int acl_caller(const struct request *who, struct caller **out);
/* The process (tgid) of a thread; the thread's own id if that cannot be read. */
pid_t process_of(pid_t thread);

#endif
