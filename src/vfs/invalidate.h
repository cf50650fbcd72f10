/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * invalidate.h - collects the names, attributes and pages that the kernel must forget, and notifies
 * it.
 *
 * Attributes are invalidated by the thread that changed them, before it replies: with no lock held
 * this is safe inside any request. Names and pages are sent by a separate thread, since in the
 * kernel that may wait for a request that waits for us. So are, again and after the node's name,
 * attributes that came before the reply with which the kernel gets to know the node.
 *
 * A call that changes something collects invalidations in a `struct changes` while it holds locks,
 * and sends them, without locks, before it returns:
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
	/*
	 * Nodes of folders that the kernel has locked for this request; 0: none. A rename locks
	 * both parents, a folder that gets another parent, and one that is replaced.
	 */
	uint64_t locked[4];
	bool saved; /* a program waits for a save: drop names before the reply */
};
#define CHANGES_INIT                                                                               \
	{                                                                                          \
		NULL, 0, 0, {0}, false                                                             \
	}

/* These cannot fail: out of memory, the kernel's caches only expire with their timeout. */
void changes_attributes(struct changes *c, const struct node *node) REQUIRES(vfs_class);
/* Attributes and cached pages; of a folder, its cached listing. */
void changes_data(struct changes *c, const struct node *node) REQUIRES(vfs_class);
/*
 * All names of the node: the kernel looks them up again or, with `drop`, drops them and everything
 * below at once.
 */
void changes_names(struct changes *c, const struct node *node, bool drop) REQUIRES(vfs_class);
void changes_name(struct changes *c, const struct node *folder, const char *name, bool drop)
	REQUIRES(vfs_class);
/*
 * Sends all changes, and empties the struct. If `saved`, waits at most 50 ms until names are
 * dropped, except for names in locked folders: those are returned, for after_send once the kernel
 * has the reply; NULL: none.
 */
struct after *changes_send(struct vfs *v, struct changes *c) EXCLUDES(vfs_class);
/*
 * As changes_send, for callers that do nothing after the reply: the invalidation thread drops the
 * names in locked folders.
 */
void changes_send_all(struct vfs *v, struct changes *c) EXCLUDES(vfs_class);
void after_send(struct vfs *v, struct after *after); /* NULL is fine */
void changes_discard(struct changes *c);
/* Waits until the whole queue was sent to the kernel. 0, or ETIMEDOUT after ADVANCE_LIMIT_MS. */
int invalidate_settle(struct vfs *v);

/*
 * Invalidate one node's data or one name soon, from the thread. May be called under any lock of
 * lower rank.
 */
void invalidate_data(struct vfs *v, uint64_t node);
/* the kernel looks it up again */
void invalidate_name(struct vfs *v, uint64_t folder, const char *name);

/*
 * A request that may take long holds the kernel's lock of this folder: names in it are sent only
 * after as many names_release. Nestable.
 */
void names_keep(struct vfs *v, uint64_t folder);
void names_release(struct vfs *v, uint64_t folder);

struct invalidator *invalidator_new(const struct kernel *kernel); /* NULL: no memory */
bool invalidator_start(struct invalidator *n);
void invalidator_silence(struct invalidator *n); /* from now on nothing is sent */
void invalidator_free(struct invalidator *n);    /* NULL is fine */

#endif
