/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * invalidate.h - collects the names, attributes and pages that the kernel must forget, and notifies
 * it.
 *
 * Attributes are invalidated by the thread that changed them, before it replies: with no lock held
 * this is safe inside any request. Invalidations of names and pages are sent by a separate thread,
 * since in the kernel they may wait for a request that waits for us. That thread also sends
 * attributes again, after the node's name, if the kernel did not know the node yet when they were
 * sent first, because the reply with the node was in flight.
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
	 * Folders that the kernel has locked for this request, by node number; 0: none. A rename
	 * locks both parents, a folder that gets another parent, and one that is replaced.
	 */
	uint64_t locked[4];
	bool saved; /* a program waits for a save: changes_send waits until names are dropped */
};
#define CHANGES_INIT                                                                               \
	{                                                                                          \
		NULL, 0, 0, {0}, false                                                             \
	}

/*
 * Notes that the node's attributes changed. Like all functions that add a change, it cannot fail:
 * out of memory, the kernel's caches only expire with their timeout.
 */
void changes_attributes(struct changes *c, const struct node *node) REQUIRES(vfs_class);
/* Notes that the node's attributes and cached pages changed; for a folder, its cached listing. */
void changes_data(struct changes *c, const struct node *node) REQUIRES(vfs_class);
/*
 * Notes that all names of the node changed: the kernel looks them up again or, with `drop`, drops
 * them and everything below at once.
 */
void changes_names(struct changes *c, const struct node *node, bool drop) REQUIRES(vfs_class);
void changes_name(struct changes *c, const struct node *folder, const char *name, bool drop)
	REQUIRES(vfs_class);
/*
 * Sends all changes, and empties the struct. If `saved` is set, waits at most 50 ms until names are
 * dropped. Returns the names in locked folders, for after_send once the kernel has the reply; NULL
 * if there are none.
 */
struct after *changes_send(struct vfs *v, struct changes *c) EXCLUDES(vfs_class);
/*
 * Like changes_send, for callers that do nothing after the reply: the invalidation thread drops the
 * names in locked folders, too.
 */
void changes_send_all(struct vfs *v, struct changes *c) EXCLUDES(vfs_class);
void after_send(struct vfs *v, struct after *after); /* NULL is fine */
void changes_discard(struct changes *c);
/*
 * Waits until all notifications queued so far were sent to the kernel. Returns 0, or ETIMEDOUT
 * after ADVANCE_LIMIT_MS.
 */
int invalidate_settle(struct vfs *v);

/*
 * Has the invalidation thread invalidate one node's data soon. May be called under any lock of
 * lower rank.
 */
void invalidate_data(struct vfs *v, uint64_t node);
/* Has the invalidation thread make the kernel look one name up again soon. */
void invalidate_name(struct vfs *v, uint64_t folder, const char *name);

/*
 * Keeps back names in this folder until as many calls of names_release: a request that may take
 * long holds the kernel's lock of the folder, for which the invalidation thread would wait.
 */
void names_keep(struct vfs *v, uint64_t folder);
void names_release(struct vfs *v, uint64_t folder);

struct invalidator *invalidator_new(const struct kernel *kernel); /* NULL: no memory */
bool invalidator_start(struct invalidator *n);
void invalidator_silence(struct invalidator *n); /* Makes sure that nothing is sent from now on. */
void invalidator_free(struct invalidator *n);    /* NULL is fine */

#endif
