/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * looked_up.h - the last lookup of each thread, for its next request.
 *
 * The kernel looks up a name, then sends a request for the node that it found: to get or set its
 * attributes, to open it or to remove it. If the node no longer has the name by then, that ends
 * with ESTALE, on which the kernel looks the name up again, but only once. The plain file or folder
 * that it finds then is kept open (O_PATH) for the thread's next request, which acts on it even if
 * another file has its name by then. If no open follows, it is closed after END_MS.
 */
#ifndef ANIMFS_VFS_LOOKED_UP_H
#define ANIMFS_VFS_LOOKED_UP_H

#include "vfs.h"

struct looked_up {
	uint64_t node; /* 0: nothing, or it was opened since */
	int64_t again; /* after an ESTALE: until when (clock_ms) the thread looks again; else 0 */
	int kept;      /* the plain file or folder; -1: none */
};
#define LOOKED_UP_NOTHING ((struct looked_up){.kept = -1})

struct looked_ups *looked_ups_new(void);
void looked_ups_free(struct looked_ups *l); /* after deadlines_stop; NULL is fine */

/* Does the thread look again, so that the file that it finds is to be kept? */
bool looks_again(struct vfs *v, const struct request *who) REQUIRES(vfs_class);
/*
 * The thread has looked up a node (0: it found nothing). Returns the descriptor that was kept
 * before (-1: none), which the caller closes.
 */
int looked_up(struct vfs *v, const struct request *who, uint64_t node) REQUIRES(vfs_class);
/* Keeps the file of the node that it has just looked up; takes over the descriptor. */
void looked_up_keep(struct vfs *v, const struct request *who, uint64_t node, int fd)
	EXCLUDES(vfs_class);
/* A duplicate of the kept descriptor of the node that the thread has looked up last; -1: none. */
int looked_up_borrow(struct vfs *v, const struct request *who, const struct node *node)
	EXCLUDES(vfs_class);
/* Has the thread looked up this node last, and not opened it since? */
bool was_looked_up(struct vfs *v, const struct request *who, const struct node *node)
	REQUIRES(vfs_class);
/*
 * Call it when the thread opens the node: returns its last lookup, or LOOKED_UP_NOTHING if that was
 * of another node. The caller closes `kept`.
 */
struct looked_up looked_up_take(struct vfs *v, const struct request *who, uint64_t node)
	EXCLUDES(vfs_class);
/*
 * A request ends with `error`, which is returned. If that is ESTALE, the thread looks again.
 * `node`: the one that was to be opened; 0 for other requests.
 */
int looked_up_end(struct vfs *v, const struct request *who, uint64_t node, int error)
	EXCLUDES(vfs_class);

#endif
