/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * clock.h - the time, and sleeping: the only user of clock_gettime and nanosleep.
 *
 * There are two monotonic clocks. The rules of a mount (timing.h), such as the 2 s after which a
 * text is refused, go by clock_ms, which a test can stop and move on. Waits for another thread or
 * process go by clock_real_ms, which cannot be stopped.
 */
#ifndef ANIMFS_UTIL_CLOCK_H
#define ANIMFS_UTIL_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* Milliseconds since a time that is the same for all threads; never 0. */
int64_t clock_ms(void);
int64_t clock_real_ms(void);
/* Converts a time of clock_real_ms to the form that lock_wait_until takes. */
struct timespec clock_until(int64_t real_ms);
void clock_sleep(int64_t ms); /* sleeps in real time; a signal may end the sleep early */

/*
 * The time of day. clock_wall_tick has the granularity of the kernel's file time stamps: one kernel
 * tick.
 */
struct timespec clock_wall(void);
struct timespec clock_wall_tick(void);
/* The time of day in nanoseconds since 1970. */
int64_t clock_wall_ns(void);

/* For tests. Stops clock_ms; from then on only clock_move moves it, to a later time. */
void clock_stop(void);
bool clock_is_stopped(void);
void clock_move(int64_t to);

#endif
