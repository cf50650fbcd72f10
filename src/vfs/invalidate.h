/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * invalidate.h - what the kernel must forget, and when it is sent.
 *
 * Attributes are invalidated by the thread that changed them, before it replies: that is safe
 * inside any request, with no lock held. Names and pages are sent by a thread of their own, since
 * the kernel may have to wait for a request that waits for us.
 *
 * A call that changes something collects what the kernel must forget in a `struct changes` while it
 * holds locks, and sends it, without locks, before it returns:
 *
 *   struct changes changes = CHANGES_INIT;
 *   ... changes_attributes(&changes, node) ...
 *   changes_send(v, &changes);
 */
#ifndef ANIMFS_VFS_INVALIDATE_H
#define ANIMFS_VFS_INVALIDATE_H

#include "vfs.h"

struct change;

struct changes {
	struct change *list;
	size_t count, room;
	uint64_t locked[2]; /* folders that the kernel has locked for this request; 0: none */
	bool saved;         /* the caller waits for a save: names are dropped before the reply */
};
#define CHANGES_INIT                                                                               \
	{                                                                                          \
		NULL, 0, 0, {0, 0}, false                                                          \
	}

/* Out of memory the kernel finds out late, at the end of its timeouts. */
void changes_attributes(struct changes *c, const struct node *node) REQUIRES(vfs_class);
/* And its pages; or the listing of a folder. */
void changes_data(struct changes *c, const struct node *node) REQUIRES(vfs_class);
/* All its names: looked up again, or dropped at once with what is below them. */
void changes_names(struct changes *c, const struct node *node, bool drop) REQUIRES(vfs_class);
void changes_name(struct changes *c, const struct node *folder, const char *name, bool drop)
	REQUIRES(vfs_class);
/*
 * Sends all of it, and empties it. Where `saved`, waits at most 50 ms until names are dropped, but
 * for those in locked folders, which are returned and are to be sent after the reply; NULL: none.
 */
struct after *changes_send(struct vfs *v, struct changes *c) EXCLUDES(vfs_class);
/* The same for calls whose reply releases no folder that matters: the rest goes to the thread. */
void changes_send_all(struct vfs *v, struct changes *c) EXCLUDES(vfs_class);
void after_send(struct vfs *v, struct after *after); /* NULL is fine */
void changes_discard(struct changes *c);

/* Single ones, from the thread, soon. With or without the tree's lock. */
void invalidate_data(struct vfs *v, uint64_t node);
void invalidate_name(struct vfs *v, uint64_t folder, const char *name); /* looked up again */

/*
 * A request for a name in this folder is going to take its time, and the kernel has the folder
 * locked meanwhile: names in it are sent when the last of these has ended.
 */
void names_hold(struct vfs *v, uint64_t folder);
void names_release(struct vfs *v, uint64_t folder);

struct invalidator *invalidator_new(const struct kernel *kernel); /* NULL: no memory */
bool invalidator_start(struct invalidator *n);
void invalidator_silence(struct invalidator *n); /* nothing is sent any more */
void invalidator_free(struct invalidator *n);    /* NULL is fine */

#endif
