/* SPDX-License-Identifier: GPL-3.0-or-later */
/* timing.h - the times of the rules of a mount, and the limits of its waits, in milliseconds. */
#ifndef ANIMFS_UTIL_TIMING_H
#define ANIMFS_UTIL_TIMING_H

/* ---- by the clock of the rules (clock_ms), through deadlines ---- */

#define END_MS 2000       /* time without activity after which unfinished work is ended */
#define AGAIN_MS 100      /* time until another attempt to end a batch */
#define REST_MAX_MS 60000 /* longest time between two attempts to end something that failed */
#define LOOK_MS                                                                                    \
	40 /* delay from a change by another program until we look at the file: a change comes as  \
	      several events */
#define TICK_MS 200 /* delay until replies in flight during a change have reached the kernel */

/* ---- in real time (clock_real_ms): how long readers and caches keep something ---- */

#define SENT_MS                                                                                    \
	100 /* do not render a text of .animfs again within this time, so that one reader gets one \
	       version */
#define KEPT_MS 500 /* keep a listing between two requests of one reader */
/*
 * trust facts of an archive that has just changed: a later change may leave its time stamps equal
 */
#define FRESH_MS 500

/* ---- in real time: limits of waits ---- */

#define SENT_WAIT_MS 50 /* limit of a save's wait for the kernel to drop cached names */
#define WRITER_LIMIT_MS                                                                            \
	1000              /* a save waits for another program that has the file open for writing */
#define WRITER_STEP_MS 20 /* time between two checks of a save that waits for a writer */
#define LOCKED_LIMIT_MS 10000 /* limit of a save's wait for the lock of the state directory */
#define STATE_LOCK_MS 10000   /* any other operation waits for the lock of the state directory */
/* a new mount waits for that lock to recover; if it fails, the next mount recovers */
#define MEND_WAIT_MS 1000
#define LOCK_STEP_MS 5 /* time between two attempts to take the lock of the state directory */
#define POLL_AGAIN_MS                                                                              \
	100 /* time until the thread that watches folders tries again after a failed poll() */
#define RELEASES_MS 1000 /* limit of a sync's wait for closes in progress */
#define ADVANCE_LIMIT_MS                                                                           \
	60000 /* limit of the wait, in a test that moves the clock, for the calls that are due */
#define IDLE_MS 1000 /* time after which an idle thread of the deadlines exits */

#endif
