/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * loop.c - the threads that answer requests.
 *
 * A program that reads many files asks again a few microseconds after each answer, and to fall
 * asleep and be woken in between costs several times what the answer does. So the thread that reads
 * requests, the leader, goes on looking for a while before it sleeps, where the last request came
 * soon after the one before it: a mount that is used now and then costs nothing while it is not.
 *
 * There is one leader at most. While it works on something that may take its time, and while nobody
 * looks, the gate is open: the kernel then wakes one of the others when a request comes, and that
 * one leads. The gate is shut while the leader looks, or everything that it finds would wake
 * another thread for nothing.
 *
 * Threads that are in something slow (slow.h) do not count: a file that takes its time, and all who
 * ask for it, leave as many threads as there were for everything else.
 */
#include "../slow.h"
#include "fs.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#define LOOK_NS 50000     /* how long the leader looks for the next request */
#define SOON_NS 500000    /* where that came this soon after the one before it */
#define LOST_NS 30000     /* a look that took longer: others need the processor */
#define REST_NS 100000000 /* and so nobody looks for a while */
#define SLOW_MAX 1024     /* threads in something slow that do not count */

/* Before the buffer of a request is asked for again. */
static const struct timespec memory_rest = {.tv_nsec = 10000000};

struct loop {
	struct fs *fs;
	struct fuse_session *session;
	int gate;                 /* epoll: of the session's requests when open, and of `end` */
	int end;                  /* eventfd: the threads are to end */
	int look_ns;              /* LOOK_NS, or 0 where the leader would take the only processor */
	_Atomic bool led;         /* there is a leader; otherwise the gate is open */
	_Atomic int64_t answered; /* when the last request was answered */
	_Atomic int64_t rested;   /* not before this there is any looking */
	_Atomic int error;
	_Atomic unsigned asleep;
	unsigned limit;
	pthread_mutex_t lock; /* of what follows */
	unsigned count;
	size_t room;
	pthread_t *threads;
};

/* This thread is the leader, and answers a request. */
static _Thread_local bool leads;

static void *serve(void *loop);

static int64_t clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Opened, it lets one thread through. */
static void set_gate(struct loop *l, bool open)
{
	struct epoll_event event = {.events = EPOLLONESHOT | (open ? EPOLLIN : 0)};

	event.data.fd = fuse_session_fd(l->session);
	epoll_ctl(l->gate, EPOLL_CTL_MOD, event.data.fd, &event);
}

static unsigned limit_now(const struct loop *l)
{
	unsigned slow = l->limit > 1 ? slow_count() : 0;

	return l->limit + (slow < SLOW_MAX ? slow : SLOW_MAX);
}

static int add_thread(struct loop *l)
{
	pthread_t *threads;
	int error = 0;

	pthread_mutex_lock(&l->lock);
	if (l->count < limit_now(l)) {
		threads = array_room(l->threads, l->count, &l->room, sizeof(*threads));
		if (threads)
			l->threads = threads;
		error = threads ? pthread_create(&threads[l->count], NULL, serve, l) : ENOMEM;
		l->count += error == 0;
	}
	pthread_mutex_unlock(&l->lock);
	return error;
}

static bool take_lead(struct loop *l)
{
	bool led = false;

	return atomic_compare_exchange_strong(&l->led, &led, true);
}

static void leave_lead(struct loop *l)
{
	l->led = false;
	set_gate(l, true);
}

static bool take_lead_back(struct loop *l)
{
	if (!take_lead(l))
		return false;
	set_gate(l, false);
	return true;
}

/* This thread will be busy for a while: another one is to be there for the next request. */
static void slow_began(void *loop, uint64_t folder)
{
	struct loop *l = loop;

	if (folder)
		notify_hold_names(l->fs, folder);
	if (leads) {
		leads = false;
		leave_lead(l);
	}
	if (!l->asleep)
		add_thread(l);
}

static void slow_ended(void *loop, uint64_t folder)
{
	struct loop *l = loop;

	if (folder)
		notify_release_names(l->fs, folder);
}

/* What is to be seen before another request is read. */
static void see(const struct loop *l, const struct fuse_buf *request)
{
	const struct fuse_in_header *in = request->mem;
	const struct fuse_release_in *release = (const void *)(in + 1);

	if (in->opcode == FUSE_RELEASE)
		fs_begin_release(l->fs, (void *)(uintptr_t)release->fh);
}

/* Is it answered before another thread were awake? */
static bool is_short(const struct loop *l, const struct fuse_buf *request)
{
	const struct fuse_in_header *in = request->mem;
	const struct fuse_open_in *open = (const void *)(in + 1);
	const struct fuse_release_in *release = (const void *)(in + 1);

	switch (in->opcode) {
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_RELEASEDIR:
		return true;
	case FUSE_LOOKUP:
	case FUSE_GETATTR:
	case FUSE_READ:
	case FUSE_LSEEK:
		return fs_answers_at_once(l->fs, in->nodeid);
	case FUSE_OPEN:
		return (open->flags & (O_ACCMODE | O_TRUNC)) == O_RDONLY &&
		       fs_answers_at_once(l->fs, in->nodeid);
	case FUSE_RELEASE:
		return fs_closes_at_once((const void *)(uintptr_t)release->fh);
	default:
		return false;
	}
}

static void forget_each(struct fs *fs, const struct fuse_batch_forget_in *batch)
{
	const struct fuse_forget_one *one = (const void *)(batch + 1);

	for (uint32_t i = 0; i < batch->count; i++)
		fs_forget(fs, one[i].nodeid, one[i].nlookup);
}

static void release(const struct loop *l, const struct fuse_in_header *in)
{
	const struct fuse_release_in *release = (const void *)(in + 1);
	struct fuse_out_header done = {.len = sizeof(done), .unique = in->unique};

	fs_release(l->fs, (void *)(uintptr_t)release->fh);
	(void)!write(fuse_session_fd(l->session), &done, sizeof(done));
}

/*
 * What the kernel asks for once, whatever the answer, is not left to libfuse: where that has no
 * memory for a request of its own it refuses it unseen, and what it was about would stay for good.
 */
static void process(const struct loop *l, const struct fuse_buf *request)
{
	const struct fuse_in_header *in = request->mem;

	switch (in->opcode) {
	case FUSE_FORGET:
		fs_forget(l->fs, in->nodeid, ((const struct fuse_forget_in *)(in + 1))->nlookup);
		return;
	case FUSE_BATCH_FORGET:
		forget_each(l->fs, (const void *)(in + 1));
		return;
	case FUSE_RELEASE:
	case FUSE_RELEASEDIR:
		release(l, in);
		return;
	default:
		fuse_session_process_buf(l->session, request);
	}
}

/* False when another thread leads now. */
static bool answer(struct loop *l, const struct fuse_buf *request)
{
	bool led;

	see(l, request);
	leads = is_short(l, request);
	if (!leads) {
		leave_lead(l);
		if (!l->asleep)
			add_thread(l);
	}
	process(l, request);
	l->answered = clock_ns();
	led = leads;
	leads = false;
	return led || take_lead_back(l);
}

static void end_session(struct loop *l, int error)
{
	l->error = error;
	fuse_session_exit(l->session);
	eventfd_write(l->end, 1);
}

/* Answers requests for as long as it leads. */
static void lead(struct loop *l, struct fuse_buf *request)
{
	int64_t until = 0, before = INT64_MAX;

	while (!fuse_session_exited(l->session)) {
		int size = fuse_session_receive_buf(l->session, request);
		int64_t now = clock_ns();

		if (size > 0) {
			bool soon = l->look_ns && now - l->answered < SOON_NS && now > l->rested;

			if (!answer(l, request))
				return;
			before = l->answered;
			until = soon ? before + l->look_ns : 0;
		} else if (size == -EAGAIN && now >= until) {
			leave_lead(l);
			return;
		} else if (size == -ENOMEM) {
			nanosleep(&memory_rest, NULL); /* the request waits */
		} else if (size != -EAGAIN && size != -EINTR) {
			end_session(l, size);
			return;
		} else if (now - before > LOST_NS) {
			l->rested = now + REST_NS;
			until = 0;
		} else {
			before = now;
		}
	}
}

/* Until there is a request and nobody leads. False when the session has ended. */
static bool sleep_until_needed(struct loop *l)
{
	struct epoll_event event;

	do {
		int count;

		l->asleep++;
		count = epoll_wait(l->gate, &event, 1, -1);
		l->asleep--;
		if (count < 0)
			continue;
		if (event.data.fd == l->end)
			return false;
	} while (!take_lead(l));
	return true;
}

static void *serve(void *loop)
{
	struct fuse_buf request = {.mem = NULL};
	struct loop *l = loop;

	while (sleep_until_needed(l))
		lead(l, &request);
	free(request.mem);
	return NULL;
}

static bool gate_add(struct loop *l, int fd, uint32_t events)
{
	struct epoll_event event = {.events = events, .data.fd = fd};

	return epoll_ctl(l->gate, EPOLL_CTL_ADD, fd, &event) == 0;
}

static bool loop_init(struct loop *l)
{
	int requests = fuse_session_fd(l->session);

	pthread_mutex_init(&l->lock, NULL);
	l->gate = epoll_create1(EPOLL_CLOEXEC);
	l->end = eventfd(0, EFD_CLOEXEC);
	return l->gate >= 0 && l->end >= 0 &&
	       fcntl(requests, F_SETFL, fcntl(requests, F_GETFL) | O_NONBLOCK) == 0 &&
	       gate_add(l, requests, EPOLLIN | EPOLLONESHOT) && gate_add(l, l->end, EPOLLIN) &&
	       add_thread(l) == 0;
}

static bool get_thread(struct loop *l, unsigned number, pthread_t *thread)
{
	bool has;

	pthread_mutex_lock(&l->lock);
	has = number < l->count;
	if (has)
		*thread = l->threads[number];
	pthread_mutex_unlock(&l->lock);
	return has;
}

/* While some are waited for, they may add others. */
static void loop_release(struct loop *l)
{
	pthread_t thread;

	slow_tell(NULL);
	if (l->end >= 0)
		eventfd_write(l->end, 1);
	for (unsigned i = 0; get_thread(l, i, &thread); i++)
		pthread_join(thread, NULL);
	if (l->end >= 0)
		close(l->end);
	if (l->gate >= 0)
		close(l->gate);
	free(l->threads);
	pthread_mutex_destroy(&l->lock);
}

int fs_loop(struct fs *fs, const sigset_t *while_waiting)
{
	struct loop l = {.fs = fs,
			 .session = fs->session,
			 .gate = -1,
			 .end = -1,
			 .limit = fs->threads,
			 .look_ns = sysconf(_SC_NPROCESSORS_ONLN) > 1 ? LOOK_NS : 0};
	const struct slow_listener listener = {slow_began, slow_ended, &l};

	if (!loop_init(&l))
		l.error = -errno;
	else if (l.limit > 1)
		slow_tell(&listener);
	while (!l.error && !fuse_session_exited(fs->session)) {
		struct pollfd end = {.fd = l.end, .events = POLLIN};

		ppoll(&end, 1, NULL, while_waiting);
	}
	loop_release(&l);
	return l.error;
}
