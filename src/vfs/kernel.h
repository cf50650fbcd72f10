/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * kernel.h - the notifications that a mount sends to the kernel: four calls, implemented by fuse/
 * with libfuse, and by tests with a model of the kernel's caches.
 *
 * Each call returns 0 or an errno. ENOENT: the kernel does not know the node or name, or does not
 * know it yet, since the reply is in flight.
 *
 * inval_node without `pages` is safe inside any request. The other calls can wait for a request
 * that waits for us (Linux takes the lock of a folder for a name, and of a page for pages). So they
 * are called only by a thread that holds no lock and for which no other thread waits (invalidate.h)
 * or, with `pages` and for store, for a node that no request can refer to.
 */
#ifndef ANIMFS_VFS_KERNEL_H
#define ANIMFS_VFS_KERNEL_H

#include "animfs/base.h"

struct kernel {
	/*
	 * Invalidates the node's attributes; with `pages` also its cached pages, or a folder's
	 * listing.
	 */
	int (*inval_node)(void *closure, uint64_t node, bool pages);
	/*
	 * inval_name drops the name and everything below it; expire_name makes the kernel look the
	 * name up again when it is next used.
	 */
	int (*inval_name)(void *closure, uint64_t folder, const char *name);
	int (*expire_name)(void *closure, uint64_t folder, const char *name);
	/*
	 * Puts the node's text into the kernel's page cache, so that reading it takes no request.
	 */
	int (*store)(void *closure, uint64_t node, struct bytes text);
	void *closure;
};

#endif
