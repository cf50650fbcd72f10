/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * looked_up.h - what each thread has looked up last, for its open.
 *
 * The kernel looks up a name, then opens the node that it found. If the node no longer has the name
 * by then, the open ends with ESTALE, on which the kernel looks the name up again, but only once.
 * The plain file that it finds then is kept open (O_PATH) for the thread's next open, which opens
 * it whatever has its name by that time. Without such an open it is closed after END_MS.
 */
#ifndef ANIMFS_VFS_LOOKED_UP_H
#define ANIMFS_VFS_LOOKED_UP_H

#include "vfs.h"

struct looked_up {
	uint64_t node; /* 0: nothing, or it was opened since */
	bool again;    /* the thread's last open ended with ESTALE */
	int kept;      /* the plain file; -1: none */
};
#define LOOKED_UP_NOTHING ((struct looked_up){.kept = -1})

struct looked_ups *looked_ups_new(void);
void looked_ups_free(struct looked_ups *l); /* after deadlines_stop; NULL is fine */

/* Did the thread's last open end with ESTALE, so that what it finds now is to be kept? */
bool looks_again(struct vfs *v, const struct request *who) EXCLUDES(vfs_class);
/*
 * The thread has looked up a node (0: it found nothing). Takes over the descriptor of what is to be
 * kept (-1: none); what was kept before is closed.
 */
void looked_up(struct vfs *v, const struct request *who, uint64_t node, int kept)
	EXCLUDES(vfs_class);
/* Is the node what the thread has looked up last, and not opened since? */
bool was_looked_up(struct vfs *v, const struct request *who, const struct node *node)
	REQUIRES(vfs_class);
/*
 * The thread opens the node: returns what it looked up, or LOOKED_UP_NOTHING if that was another
 * node. The caller closes `kept`.
 */
struct looked_up looked_up_take(struct vfs *v, const struct request *who, uint64_t node)
	EXCLUDES(vfs_class);
/* Opening the node (0: creating a file) ends with ESTALE. */
void looked_up_stale(struct vfs *v, const struct request *who, uint64_t node) EXCLUDES(vfs_class);

#endif
