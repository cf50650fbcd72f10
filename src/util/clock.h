/* SPDX-License-Identifier: GPL-3.0-or-later */
/* clock.h - a clock that never goes back, for how long something takes. */
#ifndef ANIMFS_UTIL_CLOCK_H
#define ANIMFS_UTIL_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Milliseconds since a time that is the same for all threads and processes. */
static inline int64_t clock_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

#endif
