/* SPDX-License-Identifier: GPL-3.0-or-later */
/* thread.h - starts threads with all signals blocked: signals are for the main thread. */
#ifndef ANIMFS_UTIL_THREAD_H
#define ANIMFS_UTIL_THREAD_H

#include <pthread.h>
#include <signal.h>

/* Starts a thread that calls run(closure). Returns 0 or an errno. */
static inline int thread_start(pthread_t *thread, void *(*run)(void *closure), void *closure)
{
	sigset_t all, before;
	int error;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(thread, NULL, run, closure);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return error;
}

#endif
