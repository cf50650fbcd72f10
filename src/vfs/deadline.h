/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * deadline.h - what ends when nobody goes on with it, and what is done soon: the only part of a
 * mount that looks at the clock.
 *
 * A deadline is part of what it belongs to. When it is due it is called once, by a thread that
 * holds no lock, and must be set again to be called again. Calls of different deadlines run side by
 * side, so that a slow one delays no other; two calls of one deadline never do.
 */
#ifndef ANIMFS_VFS_DEADLINE_H
#define ANIMFS_VFS_DEADLINE_H

#include "util/lock_classes.h"

#include <time.h>

struct vfs;

struct deadline {
	/* Constant. `user` is what the deadline belongs to. */
	void (*due)(struct vfs *v, void *user);
	void *user;
	/* Guarded by the deadlines' own lock. */
	struct deadline *next, **back;
	int64_t when; /* clock_ms; 0: not set */
};

struct deadlines;
struct deadlines *deadlines_new(struct vfs *v); /* without threads; NULL: no memory */
bool deadlines_start(struct deadlines *d);
/* No call is made any more, and none is running. What is set stays set. */
void deadlines_stop(struct deadlines *d);
void deadlines_free(struct deadlines *d); /* NULL is fine */

/*
 * Sets it to a time of clock_ms, or moves it there. True where it was not set before: then the
 * caller is to hold what it belongs to, until it is called, or deadline_clear returns true.
 */
bool deadline_set(struct deadlines *d, struct deadline *deadline, int64_t when);
/* True: it was set. A call that is running goes on. */
bool deadline_clear(struct deadlines *d, struct deadline *deadline);
/*
 * After deadlines_stop: takes any one that is still set, and clears it; NULL when none is. For what
 * is to be ended with the mount.
 */
struct deadline *deadlines_take(struct deadlines *d);

/* Milliseconds of the monotonic clock. */
int64_t clock_ms(void);
/* A time of clock_ms as lock_wait_until takes it. */
struct timespec clock_time(int64_t ms);

#endif
