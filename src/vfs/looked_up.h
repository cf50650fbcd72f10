/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * looked_up.h - the last lookup of each thread, for its next request.
 *
 * The kernel looks up a name, then sends a request for the node that it found: to get or set its
 * attributes, to open it or to remove it. If the node has lost the name by then, the request ends
 * with ESTALE, on which the kernel looks the name up again, but only once. So the plain file or
 * folder that the second lookup finds is kept open (O_PATH) for the thread's next request, which
 * acts on that file even if another one has the name by then. If no request follows, the file is
 * closed after END_MS. Of a view, which another version may no longer have, the attributes are
 * kept.
 */
#ifndef ANIMFS_VFS_LOOKED_UP_H
#define ANIMFS_VFS_LOOKED_UP_H

#include "vfs.h"

struct looked_up {
	uint64_t node; /* the node that was looked up; 0: none, or it was opened since */
	/*
	 * after an ESTALE: until when (clock_ms) a lookup by the thread counts as the second one;
	 * else 0
	 */
	int64_t again;
	int kept; /* descriptor of the plain file or folder; -1: none */
	/* attributes of the view that was found; st_mode is 0 if there is none */
	struct stat view;
};
#define LOOKED_UP_NOTHING ((struct looked_up){.kept = -1})

struct looked_ups *looked_ups_new(void);
void looked_ups_free(struct looked_ups *l); /* call it after deadlines_stop; NULL is fine */

/*
 * Returns whether the thread looks up a name for the second time after an ESTALE, so that the file
 * it finds must be kept.
 */
bool looks_again(struct vfs *v, const struct request *who) REQUIRES(vfs_class);
/*
 * Notes that the thread has looked up a node (0: it found nothing). Returns the descriptor that was
 * kept before (-1: none), which the caller closes.
 */
int looked_up(struct vfs *v, const struct request *who, uint64_t node) REQUIRES(vfs_class);
/* Keeps the file of the node that the thread has just looked up; takes over the descriptor. */
void looked_up_keep(struct vfs *v, const struct request *who, uint64_t node, int fd)
	EXCLUDES(vfs_class);
/* Keeps the attributes of the view that the thread has just looked up. */
void looked_up_keep_view(struct vfs *v, const struct request *who, uint64_t node,
			 const struct stat *st) EXCLUDES(vfs_class);
/*
 * Gets the attributes kept for the view, if the thread has looked that up last. Returns false if
 * there are none.
 */
bool looked_up_view(struct vfs *v, const struct request *who, const struct node *node,
		    struct stat *st) EXCLUDES(vfs_class);
/*
 * Duplicates the descriptor kept for the node, if the thread has looked that up last. Returns -1 if
 * there is none.
 */
int looked_up_borrow(struct vfs *v, const struct request *who, const struct node *node)
	EXCLUDES(vfs_class);
/* Returns whether this node is the one that the thread has looked up last, and not opened since. */
bool was_looked_up(struct vfs *v, const struct request *who, const struct node *node)
	REQUIRES(vfs_class);
/*
 * Takes the thread's last lookup when it opens the node; returns LOOKED_UP_NOTHING if another node
 * was looked up. The caller closes `kept`.
 */
struct looked_up looked_up_take(struct vfs *v, const struct request *who, uint64_t node)
	EXCLUDES(vfs_class);
/*
 * Ends a request with `error`, which is returned. If that is ESTALE, the thread's next lookup
 * counts as the second one (looks_again). `node`: the node that was to be opened; 0 for other
 * requests.
 */
int looked_up_end(struct vfs *v, const struct request *who, uint64_t node, int error)
	EXCLUDES(vfs_class);

#endif
