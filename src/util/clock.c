/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "clock.h"

/* The time at which clock_ms was stopped (for tests); 0 while it runs. */
static _Atomic int64_t stopped;

static struct timespec now_of(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now;
}

int64_t clock_real_ms(void)
{
	struct timespec now = now_of(CLOCK_MONOTONIC);

	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int64_t clock_ms(void)
{
	int64_t at = stopped;

	return at ? at : clock_real_ms();
}

struct timespec clock_until(int64_t real_ms)
{
	return (struct timespec){(time_t)(real_ms / 1000), (long)(real_ms % 1000) * 1000000};
}

void clock_sleep(int64_t ms)
{
	struct timespec pause = clock_until(ms);

	nanosleep(&pause, NULL);
}

struct timespec clock_wall(void)
{
	return now_of(CLOCK_REALTIME);
}

struct timespec clock_wall_tick(void)
{
	return now_of(CLOCK_REALTIME_COARSE);
}

int64_t clock_wall_ns(void)
{
	struct timespec now = clock_wall();

	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void clock_stop(void)
{
	stopped = clock_ms();
}

bool clock_is_stopped(void)
{
	return stopped != 0;
}

void clock_move(int64_t to)
{
	if (to > stopped)
		stopped = to;
}
