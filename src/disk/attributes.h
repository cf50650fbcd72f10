/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * attributes.h - the attributes of a new file: owner, mode, ACL, extended attributes, mtime. Read
 * from one or more files that it replaces, changed by the caller, and set on the new file before
 * that gets its visible name.
 */
#ifndef ANIMFS_DISK_ATTRIBUTES_H
#define ANIMFS_DISK_ATTRIBUTES_H

#include "animfs/base.h"

#include <sys/stat.h>

struct attributes {
	uid_t uid;
	gid_t gid;
	mode_t mode;    /* permission bits; override owner, mask and others of the ACL */
	bool has_mtime; /* whether the caller has set the mtime; otherwise the mtime of the file
			   stays as it is */
	struct timespec mtime;
	struct buf acl;    /* value of system.posix_acl_access; empty if there is none */
	struct buf xattrs; /* all other attributes as one sequence: name, NUL, size as 4 bytes,
			      value */
};

#define ATTRIBUTES_INIT                                                                            \
	{                                                                                          \
		.acl = BUF_INIT, .xattrs = BUF_INIT                                                \
	}

void attributes_release(struct attributes *a);

/*
 * Reads owner, mode, mtime and ACL of an open file or folder, and adds its extended attributes: of
 * two of one name the later value counts. Of a folder, security.* (its label) and the default ACL
 * are left out. 0 or an errno.
 */
int attributes_read(int fd, struct attributes *a);
/* Iterates over the extended attributes; *at is 0 at first. False at the end. */
bool attributes_next(const struct attributes *a, size_t *at, const char **name,
		     struct bytes *value);
/*
 * Sets the attributes on a file that has no visible name yet. Attributes that the filesystem does
 * not support, or that only another user could set, are left out, in a way that gives no user more
 * rights. 0 or an errno.
 */
int attributes_give(const struct attributes *a, int fd);

#endif
