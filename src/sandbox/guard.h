/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * guard.h - which files beside an animation may be used for it, where several users share a mount.
 *
 * A view has one text for all users: the kernel caches its pages, and we cache decoded files, and
 * both are served to every reader. So a skeleton or a model counts only if everybody who may read
 * the animation may read it, too; any other is ignored, also for those who may read it. A user who
 * may read one view of an animation may read them all, and learns nothing from them that he could
 * not have read himself.
 *
 * No guard (NULL): the process works for one user, and with that user's rights.
 */
#ifndef ANIMFS_SANDBOX_GUARD_H
#define ANIMFS_SANDBOX_GUARD_H

#include "caller.h"
#include "disk/dirfd.h"

struct guard {
	/*
	 * May everybody who may read the animation `file` (NULL: everybody) read the regular file
	 * `name`, or list the folder (".")? *version is the version that was checked: use no other.
	 */
	bool (*lets_read)(const struct guard *g, int dir, const char *file, const char *name,
			  struct file_version *version);
	/*
	 * May the caller write the file `name` of this version, or, if version is NULL, make it? 0
	 * or an errno.
	 */
	int (*check_write)(const struct guard *g, const struct caller *who, int dir,
			   const char *name, struct file_version *version);
	void *closure;
};

static inline bool guard_lets_read(const struct guard *g, int dir, const char *file,
				   const char *name, struct file_version *version)
{
	return !g || g->lets_read(g, dir, file, name, version);
}

#endif
