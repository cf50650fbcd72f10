/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * jobs.h - many pieces of work that do not depend on each other, on several threads.
 */
#ifndef ANIMFS_UTIL_JOBS_H
#define ANIMFS_UTIL_JOBS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Calls one(closure, 0) ... one(closure, count - 1), each once, on up to `threads` threads (0: as
 * many as this process may use processors), the caller's own among them. They begin in this order
 * and end in any. Returns when all have ended. False, with nothing done, when out of memory; where
 * the system gives no more threads those there are do all of it.
 */
bool jobs_run(unsigned threads, size_t count, void (*one)(void *closure, size_t i), void *closure);

#endif
