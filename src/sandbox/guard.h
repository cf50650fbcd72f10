/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * guard.h - which files beside an animation may be used for it in a mount that several users share.
 *
 * A view has one text for all users: the kernel caches its pages, and we cache decoded files, and
 * both are served to every reader. So a skeleton or a model counts only if every reader of the
 * animation may read it, too; otherwise it is ignored for all users. Thus no view contains anything
 * that one of its readers could not have read directly.
 *
 * Without a guard (NULL), the process works for one user, with that user's rights.
 */
#ifndef ANIMFS_SANDBOX_GUARD_H
#define ANIMFS_SANDBOX_GUARD_H

#include "caller.h"
#include "disk/dirfd.h"

struct guard {
	/*
	 * Returns whether every reader of the animation `file` (NULL: every user) may read the
	 * regular file `name`, or list the folder ("."). Sets *version to the version that was
	 * checked; use no other.
	 */
	bool (*lets_read)(const struct guard *g, int dir, const char *file, const char *name,
			  struct file_version *version);
	/*
	 * Checks whether the caller may write the file `name` of this version or, if version is
	 * NULL, make it. Returns 0 or an errno.
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
