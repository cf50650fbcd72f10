/* SPDX-License-Identifier: GPL-3.0-or-later */
/* timing.h - the times of the rules of a mount, and the limits of its waits, in milliseconds. */
#ifndef ANIMFS_UTIL_TIMING_H
#define ANIMFS_UTIL_TIMING_H

/* ---- by the clock of the rules (clock_ms), through deadlines ---- */

#define END_MS 2000       /* without activity, after which unfinished work is ended */
#define AGAIN_MS 100      /* until another attempt to end a batch */
#define REST_MAX_MS 60000 /* longest time between two attempts to end something that failed */
#define LOOK_MS 40        /* from a change by others to our look: changes come as several events */
#define TICK_MS 200       /* until replies in flight during a change have reached the kernel */

/* ---- in real time (clock_real_ms): how long readers and caches keep something ---- */

#define SENT_MS 100  /* a text of .animfs is not rendered again: readers get one version */
#define KEPT_MS 500  /* a listing, between two requests of one reader */
#define FRESH_MS 500 /* facts of an archive whose time stamps cannot be trusted yet */

/* ---- in real time: limits of waits ---- */

#define SENT_WAIT_MS 50 /* of a save, for the kernel to drop names */
#define WRITER_LIMIT_MS                                                                            \
	1000              /* of a save, for another program that has the file open for writing, */
#define WRITER_STEP_MS 20 /* and between two looks at that */
#define LOCKED_LIMIT_MS 10000  /* of a save, for the lock of the state directory, */
#define STATE_LOCK_MS 10000    /* and of everything else, */
#define MEND_WAIT_MS 1000      /* of a mount that begins; if it fails, the next one recovers */
#define LOCK_STEP_MS 5         /* between two attempts to take that lock */
#define POLL_AGAIN_MS 100      /* of the thread that watches folders, when it cannot wait */
#define RELEASES_MS 1000       /* of a sync, for closes in progress */
#define ADVANCE_LIMIT_MS 60000 /* of a test that moves the clock, for what is due */
#define IDLE_MS 1000           /* after which an idle thread of the deadlines exits */

#endif
