/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * caller.h - the accesses that the kernel would grant a user, by owner, mode and POSIX ACL.
 *
 * Used by a process that has more rights than the users on whose behalf it acts. User 0 may do
 * everything, as with CAP_DAC_OVERRIDE.
 */
#ifndef ANIMFS_SANDBOX_CALLER_H
#define ANIMFS_SANDBOX_CALLER_H

#include "animfs/base.h"
#include <sys/stat.h>

struct caller {
	uid_t uid;
	/* the caller's right to make names in the folder in question was checked before */
	bool makes;
	size_t count;
	gid_t groups[]; /* the caller's groups; new files belong to the first one */
};
/* Makes a caller. Returns NULL when out of memory. free() releases it. */
struct caller *caller_new(uid_t uid, gid_t gid, const gid_t *more, size_t count);
struct caller *caller_copy(const struct caller *c);
bool caller_same(const struct caller *a, const struct caller *b); /* a and b may be NULL */
bool caller_in_group(const struct caller *c, gid_t group);

/* The owner and permissions of a file or folder. */
struct rights {
	uid_t uid;
	gid_t gid;
	mode_t mode;
	struct bytes acl; /* the ACL, in the form of system.posix_acl_access; empty: none */
};

enum { MAY_SEARCH = 1, MAY_WRITE = 2, MAY_READ = 4 };
/*
 * Returns whether the caller has all permissions in `what`, given as the bits of one class of a
 * mode.
 */
bool caller_may(const struct caller *c, const struct rights *r, unsigned what);

/*
 * Returns whether every user who may read `file` may also read `other`, whichever groups users are
 * in. If the ACLs have too many entries, returns false unless all users may read `other`.
 */
bool rights_cover(const struct rights *other, const struct rights *file);

#endif
