/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * deadline.h - timers by the clock of the rules (clock_ms): every rule of a mount about time uses
 * them.
 *
 * A deadline is embedded in the struct that it belongs to. When it is due, its function is called
 * once, by a thread that holds no lock. Calls of different deadlines run in parallel, so that a
 * slow one does not delay others; calls of one deadline never overlap.
 */
#ifndef ANIMFS_VFS_DEADLINE_H
#define ANIMFS_VFS_DEADLINE_H

#include "util/clock.h"
#include "util/lock_classes.h"
#include "util/timing.h"

struct vfs;

struct deadline {
	/* Constant. `due` is called with `user`, the struct that the deadline belongs to. */
	void (*due)(struct vfs *v, void *user);
	void *user;
	/* These fields are guarded by the lock of struct deadlines. */
	struct deadline *child, *next, **back;
	uint64_t order; /* counts up with each time that it is set */
	int64_t when;   /* when the deadline is due (clock_ms); 0: not set */
};

struct deadlines;
/* makes the list of deadlines; starts no thread; NULL: no memory */
struct deadlines *deadlines_new(struct vfs *v);
bool deadlines_start(struct deadlines *d);
/* Stops all threads: after this no call is running or will be made. Deadlines stay set. */
void deadlines_stop(struct deadlines *d);
void deadlines_free(struct deadlines *d); /* NULL is fine */

/*
 * Sets or moves the deadline to the time `when` (clock_ms). Returns true if it was not set: then
 * the caller must keep the struct around it alive until the function is called, or until
 * deadline_clear returns true.
 */
bool deadline_set(struct deadlines *d, struct deadline *deadline, int64_t when);
/* Moves the deadline to the time `when` if it is set to a later one. */
void deadline_hasten(struct deadlines *d, struct deadline *deadline, int64_t when);
bool deadline_is_set(struct deadlines *d, const struct deadline *deadline);
/* Unsets the deadline. Returns whether it was set. Does not wait for a call that is running. */
bool deadline_clear(struct deadlines *d, struct deadline *deadline);
/*
 * Unsets and returns any deadline that is still set, or NULL. Call it after deadlines_stop, to
 * finish work at the end of the mount that would have been due later.
 */
struct deadline *deadlines_take(struct deadlines *d);
/*
 * Moves the stopped clock on by `ms`, from deadline to deadline. Returns when all work that is due
 * by then is done, with the work that becomes due meanwhile. ETIMEDOUT if that takes
 * ADVANCE_LIMIT_MS.
 */
int deadlines_advance(struct deadlines *d, int64_t ms);

#endif
