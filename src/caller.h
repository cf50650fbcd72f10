/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * caller.h - what the kernel would let somebody do with a file, by its owner, mode and POSIX ACL.
 *
 * For a process that may do more than those who ask it. User 0 may do everything, as with
 * CAP_DAC_OVERRIDE.
 */
#ifndef ANIMFS_CALLER_H
#define ANIMFS_CALLER_H

#include "animfs/base.h"
#include <sys/stat.h>

struct caller {
	uid_t uid;
	bool makes; /* names in the folder that this is about: that he may is known already */
	size_t count;
	gid_t groups[]; /* all of them; the first is the one that new files get */
};
/* NULL: no memory. free() releases it. */
struct caller *caller_new(uid_t uid, gid_t gid, const gid_t *more, size_t count);
bool caller_in_group(const struct caller *c, gid_t group);

/* What says who may do what with a file or folder. */
struct rights {
	uid_t uid;
	gid_t gid;
	mode_t mode;
	struct bytes acl; /* as system.posix_acl_access has it; empty: there is none */
};

enum { MAY_SEARCH = 1, MAY_WRITE = 2, MAY_READ = 4 };
/* All that `what` has, as in the bits of a mode? */
bool caller_may(const struct caller *c, const struct rights *r, unsigned what);

/*
 * May everybody who may read `file` also read `other`? Nothing is assumed about who is in which
 * group. With ACLs of many entries the answer is no, unless everybody may read `other`.
 */
bool rights_cover(const struct rights *other, const struct rights *file);

#endif
