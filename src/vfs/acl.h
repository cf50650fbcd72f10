/* SPDX-License-Identifier: GPL-3.0-or-later */
/* acl.h - POSIX ACLs as bytes, and who asks: process and groups. Knows no nodes. */
#ifndef ANIMFS_VFS_ACL_H
#define ANIMFS_VFS_ACL_H

#include "vfs.h"

#define ACL_ACCESS "system.posix_acl_access"

bool acl_is_name(const char *name);
/* The mode that an ACL says, into the lower bits of *mode. True when it says no more than that. */
bool acl_read_mode(struct buf *acl, mode_t *mode);
/* The other way, as chmod does it. */
void acl_write_mode(struct buf *acl, mode_t mode);
/* What was given to an animation file's folder, as it is the file's. */
void acl_for_file(struct buf *acl);
/* The other way: the file's, as something is shown that has this mode. */
void acl_for_shown(struct buf *acl, mode_t mode);

/* The mode with which something new is to be made in a folder. */
mode_t acl_mode(const struct vfs *v, const struct request *who, int folder, mode_t mode);
/* Is who asks in the group, by whichever of his? */
bool acl_in_group(const struct request *who, gid_t group);
/* Who asks, with all his groups. 0 or an errno; free() releases it. */
int acl_caller(const struct request *who, struct caller **out);
/* The process of a thread; the thread itself where that cannot be told. */
pid_t process_of(pid_t thread);

#endif
