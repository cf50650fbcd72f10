/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * deadline.h - timers by the clock of the rules (clock_ms): every rule of a mount about time runs
 * through them.
 *
 * A deadline is embedded in the struct that it belongs to. When it is due, its function is called
 * once, by a thread that holds no lock. Calls of different deadlines run in parallel, so that a
 * slow one does not delay others; calls of the same one never overlap.
 */
#ifndef ANIMFS_VFS_DEADLINE_H
#define ANIMFS_VFS_DEADLINE_H

#include "util/clock.h"
#include "util/lock_classes.h"
#include "util/timing.h"

struct vfs;

struct deadline {
	/* Constant. `user` is the struct that the deadline belongs to. */
	void (*due)(struct vfs *v, void *user);
	void *user;
	/* Guarded by the deadlines' own lock. */
	struct deadline *next, **back;
	int64_t when; /* clock_ms; 0: not set */
};

struct deadlines;
struct deadlines *deadlines_new(struct vfs *v); /* starts no thread; NULL: no memory */
bool deadlines_start(struct deadlines *d);
/* After this no call is running or will be made. Deadlines stay set. */
void deadlines_stop(struct deadlines *d);
void deadlines_free(struct deadlines *d); /* NULL is fine */

/*
 * Sets or moves it to a time of clock_ms. Returns true if it was not set: then the caller must keep
 * its struct alive until it is called, or until deadline_clear returns true.
 */
bool deadline_set(struct deadlines *d, struct deadline *deadline, int64_t when);
/* Moves it to this time if it is set to a later one. */
void deadline_hasten(struct deadlines *d, struct deadline *deadline, int64_t when);
bool deadline_is_set(struct deadlines *d, const struct deadline *deadline);
/* Returns whether it was set. Does not wait for a call that is running. */
bool deadline_clear(struct deadlines *d, struct deadline *deadline);
/*
 * After deadlines_stop: clears and returns any deadline that is still set, or NULL. Used at the end
 * of the mount, to finish work that would have been due later.
 */
struct deadline *deadlines_take(struct deadlines *d);
/*
 * Moves the clock on, which must be stopped, from deadline to deadline. Returns when all work that
 * is due by then, and work that becomes due meanwhile, is done. ETIMEDOUT if that takes
 * ADVANCE_LIMIT_MS.
 */
int deadlines_advance(struct deadlines *d, int64_t ms);

#endif
