/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * slow.h - what may last as long as a file takes to be decoded: that itself, and waiting for it.
 *
 * A file decides how long that is. Whoever has a number of threads is told when one of them begins
 * with it, so that there are always others for what is short, and in which folder.
 */
#ifndef ANIMFS_SLOW_H
#define ANIMFS_SLOW_H

#include <pthread.h>
#include <stdint.h>

/* Around something slow, by the thread that does it; may be nested. */
void slow_begin(void);
void slow_end(void);
/* Locks; it is slow where another thread has the lock. */
void slow_lock(pthread_mutex_t *mutex);

/* What this thread does now is for a name in this folder; returns the one before. 0: for none. */
uint64_t slow_in(uint64_t folder);

/* How many threads are in something slow. */
unsigned slow_count(void);
/*
 * Called by each thread that begins, when it is counted, and when it has ended; they must not do
 * anything slow. One listener at a time; NULL ends it, and waits for calls of it to end.
 */
struct slow_listener {
	void (*began)(void *closure, uint64_t folder);
	void (*ended)(void *closure, uint64_t folder);
	void *closure;
};
void slow_tell(const struct slow_listener *listener);

#endif
