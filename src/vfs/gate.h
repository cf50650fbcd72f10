/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * gate.h - keeps a staged folder unchanged while it is turned into a clip or file.
 *
 * A write to a text in the folder would be lost if it came after the text is read and before its
 * name stands for the new clip or file. So calls that change names in a folder, or open a file for
 * writing, are guests: closing a folder waits until the last guest in it has left, and guests wait
 * until it is open again. After that a name in it may stand for something else. Readers do not
 * wait, but look again if they found nothing.
 *
 * A guest must not take staging_class. A thread may be a guest several times.
 */
#ifndef ANIMFS_VFS_GATE_H
#define ANIMFS_VFS_GATE_H

#include "vfs.h"

struct guest {
	struct node *node; /* the folder that the thread is a guest in; referenced; NULL: none */
	pthread_t thread;
	struct guest *next, **back;
};

/*
 * Makes the thread a guest in the folder `id` or, if that node is not a folder, in the folder of
 * the node. Waits while the folder is closed. `g` is linked into a list: it must not be moved until
 * gate_leave.
 */
void gate_enter(struct vfs *v, uint64_t id, struct guest *g) EXCLUDES(vfs_class);
/*
 * Like gate_enter, for a folder that is to be moved or removed. ESTALE if its node now stands for
 * another thing: the caller looks it up again. Call gate_leave in either case.
 */
int gate_enter_target(struct vfs *v, const struct target *t, struct guest *g) EXCLUDES(vfs_class);
/* Ends being a guest. Does nothing if g->node is NULL. */
void gate_leave(struct vfs *v, struct guest *g) EXCLUDES(vfs_class);

/*
 * Waits until the folder is open again, for a lookup that found nothing; `turns` is v->gate_turns
 * from before the lookup. Returns true to ask for another look, if this folder, one above or one in
 * it was closed meanwhile, so that the name may have been in transition.
 */
bool gate_await(struct vfs *v, uint64_t node, unsigned turns) EXCLUDES(vfs_class);

/*
 * When a staged folder becomes a clip or file: after END_MS without a change in it. A slow daemon
 * must not count as a pause of the program. So the wait does not include the time of requests in
 * the folder, nor of requests by the thread that made it, which also concern the folders above. (A
 * request that changes something in the folder restarts the wait.)
 */
struct quiet {
	const struct node *folder;
	pid_t maker; /* the thread that made the folder; 0: unknown */
	int64_t at;  /* when the wait ends (clock_ms) */
	struct quiet *next, **back;
};
void quiet_begin(struct vfs *v, struct quiet *q) REQUIRES(vfs_class);
void quiet_end(struct vfs *v, struct quiet *q) REQUIRES(vfs_class);
/*
 * Returns whether the wait has ended, and no request is in progress whose time it does not include.
 */
bool quiet_is_over(const struct vfs *v, const struct quiet *q) REQUIRES(vfs_class);

/* A request that changes nothing, whose time extends the waits of staged folders. */
struct look {
	/* node of the request; referenced; NULL: no folder was staged when the request began */
	struct node *node;
	pid_t pid;
	int64_t began;
	struct look *next, **back;
};
/*
 * Begins a request that changes nothing. `l` is linked into a list until look_end: do not move it.
 */
void look_begin(struct vfs *v, const struct request *who, uint64_t node, struct look *l)
	EXCLUDES(vfs_class);
void look_end(struct vfs *v, struct look *l) EXCLUDES(vfs_class);

/*
 * Closes a folder; only one can be closed at a time. Releases the lock of the tree while it waits
 * for guests.
 */
void gate_close(struct vfs *v, const struct node *folder) REQUIRES(staging_class, vfs_class);
void gate_open(struct vfs *v) REQUIRES(staging_class, vfs_class);

#endif
