/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * attributes.h - what a new file is to have beside its bytes: owner, mode, ACL, extended
 * attributes, mtime. Read from one or more files that it stands for, changed by the caller, and
 * given to the new file before it has a name that others know.
 */
#ifndef ANIMFS_ATTRIBUTES_H
#define ANIMFS_ATTRIBUTES_H

#include "animfs/base.h"

#include <sys/stat.h>

struct attributes {
	uid_t uid;
	gid_t gid;
	mode_t mode;    /* permissions; wins over what the ACL says of owner, mask and others */
	bool has_mtime; /* the caller's to say; otherwise the file is as old as it is */
	struct timespec mtime;
	struct buf acl;    /* the value of system.posix_acl_access; empty: none */
	struct buf xattrs; /* others: name, NUL, size as 4 bytes, value; one after the other */
};

#define ATTRIBUTES_INIT                                                                            \
	{                                                                                          \
		.acl = BUF_INIT, .xattrs = BUF_INIT                                                \
	}

void attributes_release(struct attributes *a);

/*
 * Reads owner, mode, mtime and ACL of an open file or folder, and adds its extended attributes:
 * those that are there already keep their place, but the later value counts. Of a folder security.*
 * is left out, which labels it as one, and so is its default ACL. 0 or an errno.
 */
int attributes_read(int fd, struct attributes *a);
/*
 * Gives them to a file that nobody else knows yet. What the filesystem does not have, or only
 * another user could give, is left out, and no one gets rights by that. 0 or an errno.
 */
int attributes_give(const struct attributes *a, int fd);

#endif
