/* SPDX-License-Identifier: GPL-3.0-or-later */
/* timing.h - the times of the rules of a mount, and the limits of its waits, in milliseconds. */
#ifndef ANIMFS_UTIL_TIMING_H
#define ANIMFS_UTIL_TIMING_H

/* ---- by the clock of the rules (clock_ms), through deadlines ---- */

#define END_MS 2000       /* without activity, after which something unfinished is ended */
#define AGAIN_MS 100      /* after which ending a batch is tried again */
#define REST_MAX_MS 60000 /* limit of the time between two attempts to end what could not be */
#define LOOK_MS 40        /* between a change by others and a look; it usually has several events */
#define TICK_MS 200       /* after which replies in flight during a change are at the kernel */

/* ---- in real time (clock_real_ms): what is kept for a reader, or is known of a file ---- */

#define SENT_MS 100  /* a text of .animfs is not rendered again, so that a reader gets all of it */
#define KEPT_MS 500  /* a listing, between two requests of one reader */
#define FRESH_MS 500 /* facts of an archive whose time stamps cannot be trusted yet */

/* ---- in real time: limits of waits ---- */

#define SENT_WAIT_MS 50 /* of a save, until names are dropped */
#define WRITER_LIMIT_MS                                                                            \
	1000              /* of a save, for another program that has the file open for writing, */
#define WRITER_STEP_MS 20 /* and between two looks at that */
#define LOCKED_LIMIT_MS 10000  /* of a save, for the lock of the state directory, */
#define STATE_LOCK_MS 10000    /* and of everything else, */
#define MEND_WAIT_MS 1000      /* and of a mount that begins: the next one can recover as well */
#define LOCK_STEP_MS 5         /* between two attempts to take that lock */
#define POLL_AGAIN_MS 100      /* of the thread that watches folders, when it cannot wait */
#define RELEASES_MS 1000       /* of a sync, for closes that are under way */
#define ADVANCE_LIMIT_MS 60000 /* of a test that moves the clock, for what is due */
#define IDLE_MS 1000           /* after which an idle thread of the deadlines exits */

#endif
