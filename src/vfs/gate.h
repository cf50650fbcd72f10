/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * gate.h - keeps a staged folder unchanged while it is turned into a clip or file.
 *
 * A write to a text would be lost between the time when it is read and the time when its name
 * stands for the new clip or file. So calls that change names in a folder, or open a file for
 * writing, are guests: closing a folder waits until the last guest in it has left, and guests wait
 * until it is open again. After that the name may stand for something else. Readers do not wait,
 * but look again if they found nothing.
 *
 * A guest must not take staging_class. A thread may be a guest several times.
 */
#ifndef ANIMFS_VFS_GATE_H
#define ANIMFS_VFS_GATE_H

#include "vfs.h"

struct guest {
	struct node *node; /* referenced; NULL: not a guest */
	pthread_t thread;
	struct guest *next, **back;
};

/*
 * Becomes a guest in the folder `id`, or in the folder of a node that is not one. `g` is linked in:
 * it must not be moved until gate_leave.
 */
void gate_enter(struct vfs *v, uint64_t id, struct guest *g) EXCLUDES(vfs_class);
/*
 * As gate_enter, for a folder that is to be moved or removed. ESTALE if its node now stands for
 * another thing: the caller looks it up again. Call gate_leave in either case.
 */
int gate_enter_target(struct vfs *v, const struct target *t, struct guest *g) EXCLUDES(vfs_class);
/* Does nothing if g->node is NULL. */
void gate_leave(struct vfs *v, struct guest *g) EXCLUDES(vfs_class);

/*
 * For a lookup that found nothing; `turns` is v->gate_turns from before it. If the folder, one
 * above or one in it was closed meanwhile, the name may have been in transition: waits until it is
 * open, and returns true to ask for another look.
 */
bool gate_await(struct vfs *v, uint64_t node, unsigned turns) EXCLUDES(vfs_class);

/*
 * The time when a staged folder becomes a clip or file: after END_MS without a change in it. A slow
 * daemon must not count as a pause of the program: the time of requests in the folder does not
 * count, nor that of requests of the thread that made it, which also concern the folders above. (A
 * request that changes something in it restarts the wait.)
 */
struct quiet {
	const struct node *folder;
	pid_t maker; /* a thread; 0: unknown */
	int64_t at;  /* clock_ms */
	struct quiet *next, **back;
};
void quiet_begin(struct vfs *v, struct quiet *q) REQUIRES(vfs_class);
void quiet_end(struct vfs *v, struct quiet *q) REQUIRES(vfs_class);
/* Has the time come, with no request in progress whose time does not count? */
bool quiet_is_over(const struct vfs *v, const struct quiet *q) REQUIRES(vfs_class);

/* A request that changes nothing. */
struct look {
	struct node *node; /* referenced; NULL: no folder was staged when it began */
	pid_t pid;
	int64_t began;
	struct look *next, **back;
};
/* `l` is linked in, as a guest is. */
void look_begin(struct vfs *v, const struct request *who, uint64_t node, struct look *l)
	EXCLUDES(vfs_class);
void look_end(struct vfs *v, struct look *l) EXCLUDES(vfs_class);

/* Closes a folder, one at a time. Releases the lock of the tree while it waits for guests. */
void gate_close(struct vfs *v, const struct node *folder) REQUIRES(staging_class, vfs_class);
void gate_open(struct vfs *v) REQUIRES(staging_class, vfs_class);

#endif
