/* SPDX-License-Identifier: GPL-3.0-or-later */
/* jobs.h - runs independent pieces of work on several threads. */
#ifndef ANIMFS_UTIL_JOBS_H
#define ANIMFS_UTIL_JOBS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Calls one(closure, 0) ... one(closure, count - 1), each once, on up to `threads` threads,
 * including the caller's own (0: one for each processor that this process may use). Calls begin in
 * this order and end in any; returns when all have ended. Returns false, having called nothing,
 * when out of memory. If the system refuses further threads, the existing ones do all the work.
 */
bool jobs_run(unsigned threads, size_t count, void (*one)(void *closure, size_t i), void *closure);

#endif
