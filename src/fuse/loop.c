/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "loop.h"

#include "util/clock.h"
#include "util/lock_classes.h"
#include "util/thread.h"

#include <errno.h>
#include <semaphore.h>
#include <stdlib.h>

#define IDLE_THREADS 16 /* threads that are kept when there is nothing to do */
#define RETRY_MS 10     /* pause before a thread that has no memory for a buffer tries again */

struct loop {
	struct fuse_session *fuse;
	unsigned most;
	sem_t ended; /* posted when a thread has seen the end of the session */
	_Atomic int error;
	struct lock lock;
	/* array with room for `most` threads; guarded by `lock` until `ending` is set */
	pthread_t *threads;
	/*
	 * number of running threads, which are first in `threads`, and how many of them wait for a
	 * request
	 */
	unsigned count GUARDED_BY(loop_class), idle GUARDED_BY(loop_class);
	bool ending GUARDED_BY(loop_class); /* no thread is started or removed any more */
};

/* ---- the threads ---- */

static void *answer_requests(void *closure);

static int loop_add_thread(struct loop *l) REQUIRES(loop_class)
{
	int error = thread_start(&l->threads[l->count], answer_requests, l);

	if (error)
		return error;
	l->count++;
	l->idle++;
	return 0;
}

static void loop_remove_self(struct loop *l) REQUIRES(loop_class)
{
	unsigned i = 0;

	while (!pthread_equal(l->threads[i], pthread_self()))
		i++;
	l->threads[i] = l->threads[--l->count];
	pthread_detach(pthread_self());
}

/*
 * Counts this thread as busy, and starts another one if no thread is idle to read the next request;
 * call it after taking a request.
 */
static void loop_leave_idle(struct loop *l)
{
	lock_acquire(&l->lock, &loop_class);
	/*
	 * If the thread cannot be started, this one takes the next request after it has answered.
	 */
	if (--l->idle == 0 && l->count < l->most && !l->ending)
		(void)loop_add_thread(l);
	lock_release(&l->lock, &loop_class);
}

/*
 * Counts this thread as idle; call it after answering a request. False: enough other threads are
 * idle already, and this thread must end.
 */
static bool loop_become_idle(struct loop *l)
{
	bool stays;

	lock_acquire(&l->lock, &loop_class);
	stays = l->idle < IDLE_THREADS || l->ending;
	if (stays)
		l->idle++;
	else
		loop_remove_self(l);
	lock_release(&l->lock, &loop_class);
	return stays;
}

/*
 * Waits for a request. Returns its size; 0 if the session has ended; or a negative errno. The
 * thread may be cancelled only in this function.
 */
static int receive_request(struct fuse_session *fuse, struct fuse_buf *request)
{
	int got = 0;

	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
	while (!fuse_session_exited(fuse)) {
		got = fuse_session_receive_buf(fuse, request);
		if (got != -ENOMEM && got != -EINTR)
			break;
		if (got == -ENOMEM)
			clock_sleep(RETRY_MS);
		got = 0;
	}
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	return got;
}

static void free_request(void *request)
{
	free(((struct fuse_buf *)request)->mem);
}

/* Answers requests until enough other threads are idle, or the session has ended. */
static void loop_answer(struct loop *l, struct fuse_buf *request)
{
	int got;

	while ((got = receive_request(l->fuse, request)) > 0) {
		loop_leave_idle(l);
		fuse_session_process_buf(l->fuse, request);
		if (!loop_become_idle(l))
			return;
	}
	if (got < 0)
		l->error = got;
	fuse_session_exit(l->fuse);
	sem_post(&l->ended);
}

static void *answer_requests(void *closure)
{
	struct fuse_buf request = {.mem = NULL};

	pthread_cleanup_push(free_request, &request);
	loop_answer(closure, &request);
	pthread_cleanup_pop(true);
	return NULL;
}

/* ---- the loop ---- */

static int loop_start(struct loop *l)
{
	int error;

	lock_acquire(&l->lock, &loop_class);
	error = loop_add_thread(l);
	lock_release(&l->lock, &loop_class);
	return -error;
}

/*
 * Ends all threads: those that answer a request finish it; those that wait for one are cancelled.
 */
static void loop_end(struct loop *l)
{
	unsigned count;

	lock_acquire(&l->lock, &loop_class);
	l->ending = true;
	count = l->count;
	lock_release(&l->lock, &loop_class);
	for (unsigned i = 0; i < count; i++)
		pthread_cancel(l->threads[i]);
	for (unsigned i = 0; i < count; i++)
		pthread_join(l->threads[i], NULL);
}

int loop_run(struct fuse_session *fuse, unsigned most)
{
	struct loop l = {.fuse = fuse, .most = most ? most : 1};

	l.threads = calloc(l.most, sizeof(*l.threads));
	if (!l.threads)
		return -ENOMEM;
	lock_init(&l.lock);
	sem_init(&l.ended, 0, 0);
	l.error = loop_start(&l);
	/*
	 * A signal interrupts sem_wait; fuse_session_exited is true if that signal ended the
	 * session.
	 */
	while (!l.error && !fuse_session_exited(fuse))
		sem_wait(&l.ended);
	loop_end(&l);
	sem_destroy(&l.ended);
	lock_destroy(&l.lock);
	free(l.threads);
	return l.error;
}
