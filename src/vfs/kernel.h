/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * kernel.h - all that a mount sends to the kernel unasked: four calls, which fuse/ makes of
 * libfuse's and a test of a model of the kernel's caches.
 *
 * Each returns 0 or an errno, which says no more than that the kernel did not know the node or
 * name.
 *
 * `attributes` is safe inside any request. The others can wait for a request that waits for us
 * (Linux takes the folder's lock for a name, and a page's lock for pages): they are called only by
 * a thread that holds no lock and for which nothing waits (invalidate.h), or, `pages` and `store`,
 * for a node that no request can be about.
 */
#ifndef ANIMFS_VFS_KERNEL_H
#define ANIMFS_VFS_KERNEL_H

#include "animfs/base.h"

struct kernel {
	/* Forgets the node's attributes; `pages`: also its pages, or the listing of a folder. */
	int (*inval_node)(void *closure, uint64_t node, bool pages);
	/* Forgets the name, with what is below it; or only looks it up again when next asked for.
	 */
	int (*inval_name)(void *closure, uint64_t folder, const char *name);
	int (*expire_name)(void *closure, uint64_t folder, const char *name);
	/* Gives the node's text from its beginning, so that reading it takes no request. */
	int (*store)(void *closure, uint64_t node, struct bytes text);
	void *closure;
};

#endif
