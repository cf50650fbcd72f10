/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "slow.h"

#include <stdatomic.h>
#include <stddef.h>

static _Thread_local unsigned depth;
static _Thread_local uint64_t now_in, began_in;
static _Atomic unsigned count;
static pthread_mutex_t telling = PTHREAD_MUTEX_INITIALIZER; /* of what follows */
static const struct slow_listener *told;

uint64_t slow_in(uint64_t folder)
{
	uint64_t before = now_in;

	now_in = folder;
	return before;
}

void slow_begin(void)
{
	if (depth++)
		return;
	count++;
	began_in = now_in;
	pthread_mutex_lock(&telling);
	if (told)
		told->began(told->closure, began_in);
	pthread_mutex_unlock(&telling);
}

void slow_end(void)
{
	if (--depth)
		return;
	count--;
	pthread_mutex_lock(&telling);
	if (told)
		told->ended(told->closure, began_in);
	pthread_mutex_unlock(&telling);
}

void slow_lock(pthread_mutex_t *mutex)
{
	if (pthread_mutex_trylock(mutex) == 0)
		return;
	slow_begin();
	pthread_mutex_lock(mutex);
	slow_end();
}

unsigned slow_count(void)
{
	return count;
}

void slow_tell(const struct slow_listener *listener)
{
	pthread_mutex_lock(&telling);
	told = listener;
	pthread_mutex_unlock(&telling);
}
