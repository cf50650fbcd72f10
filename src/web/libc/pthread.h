/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pthread.h - what the sources use of it, for one thread: WebAssembly's C library has none. */
#ifndef ANIMFS_WEB_LIBC_PTHREAD_H
#define ANIMFS_WEB_LIBC_PTHREAD_H

#include <errno.h>
#include <stddef.h>
#include <time.h>

typedef int pthread_t, pthread_mutex_t, pthread_cond_t, pthread_condattr_t, pthread_once_t;
#define PTHREAD_MUTEX_INITIALIZER 0
#define PTHREAD_COND_INITIALIZER 0
#define PTHREAD_ONCE_INIT 0

static inline int pthread_mutex_init(pthread_mutex_t *mutex, const void *attributes)
{
	(void)attributes;
	*mutex = 0;
	return 0;
}

static inline int pthread_mutex_destroy(pthread_mutex_t *mutex)
{
	(void)mutex;
	return 0;
}

static inline int pthread_mutex_lock(pthread_mutex_t *mutex)
{
	(void)mutex;
	return 0;
}

static inline int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
	(void)mutex;
	return 0;
}

static inline int pthread_condattr_init(pthread_condattr_t *attributes)
{
	*attributes = 0;
	return 0;
}

static inline int pthread_condattr_setclock(pthread_condattr_t *attributes, clockid_t clock)
{
	(void)attributes;
	(void)clock;
	return 0;
}

static inline int pthread_condattr_destroy(pthread_condattr_t *attributes)
{
	(void)attributes;
	return 0;
}

static inline int pthread_cond_init(pthread_cond_t *condition, const pthread_condattr_t *attributes)
{
	*condition = *attributes;
	return 0;
}

/* Nobody would wake it: defined nowhere, so that what waits is not linked. */
int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex);
int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
			   const struct timespec *until);

static inline int pthread_once(pthread_once_t *once, void (*begin)(void))
{
	if (!*once)
		begin();
	*once = 1;
	return 0;
}

#endif
