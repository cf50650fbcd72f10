/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "deadline.h"
#include "vfs.h"

#include "util/thread.h"

#include <errno.h>
#include <stdlib.h>

#define WORKERS_MAX 256
#define NEVER INT64_MAX

/* A call of a deadline's function in progress; on the stack of its thread. */
struct call {
	struct call *next;
	/* the deadline whose function is called; may have been freed, unless `again` is set */
	const struct deadline *of;
	/* whether the deadline was set while its call ran, and must be queued afterwards */
	bool again;
};

struct deadlines {
	struct vfs *v;
	struct lock lock;
	/* deadlines that are set: a pairing heap, whose root is due first */
	struct deadline *first GUARDED_BY(deadline_class);
	uint64_t order GUARDED_BY(deadline_class);
	struct call *calls GUARDED_BY(deadline_class);
	unsigned workers GUARDED_BY(deadline_class), idle GUARDED_BY(deadline_class);
	/*
	 * When the timer thread wakes up by itself, so that later deadlines need no signal. NEVER:
	 * it only waits for a signal.
	 */
	int64_t sleeps_until GUARDED_BY(deadline_class);
	bool ending GUARDED_BY(deadline_class);
	bool started;
	pthread_t timer;
	pthread_cond_t wake;  /* wakes the timer thread for an earlier deadline */
	pthread_cond_t work;  /* wakes an idle worker */
	pthread_cond_t ended; /* a worker has ended */
	/* a call has ended, or will not be made; deadlines_advance waits for this */
	pthread_cond_t done;
};

/* ---- the queue ---- */

/* Of those due at the same time the one that was set first. */
static bool goes_before(const struct deadline *a, const struct deadline *b)
{
	return a->when != b->when ? a->when < b->when : a->order < b->order;
}

/* Joins two heaps, of which either may be NULL, and returns the root. */
static struct deadline *deadline_join(struct deadline *a, struct deadline *b)
{
	struct deadline *root = a && (!b || goes_before(a, b)) ? a : b;
	struct deadline *child = root == a ? b : a;

	if (!child)
		return root;
	child->next = root->child;
	child->back = &root->child;
	if (child->next)
		child->next->back = &child->next;
	root->child = child;
	root->next = NULL;
	return root;
}

/* Joins the heaps of a list, which `next` links: in pairs, and then those. */
static struct deadline *deadline_join_all(struct deadline *list)
{
	struct deadline *pairs = NULL, *root = NULL;

	while (list) {
		struct deadline *a = list, *b = a->next;

		list = b ? b->next : NULL;
		a = deadline_join(a, b);
		a->next = pairs;
		pairs = a;
	}
	while (pairs) {
		struct deadline *next = pairs->next;

		root = deadline_join(root, pairs);
		pairs = next;
	}
	return root;
}

static void set_first(struct deadlines *d, struct deadline *root) REQUIRES(deadline_class)
{
	d->first = root;
	if (!root)
		return;
	root->next = NULL;
	root->back = &d->first;
}

static void deadline_enqueue(struct deadlines *d, struct deadline *deadline)
	REQUIRES(deadline_class)
{
	deadline->child = deadline->next = NULL;
	deadline->order = ++d->order;
	set_first(d, deadline_join(d->first, deadline));
	if (d->first == deadline && deadline->when < d->sleeps_until)
		pthread_cond_signal(&d->wake);
}

/*
 * Removes a deadline from the queue. Does not wake a timer thread that sleeps until some time: it
 * may wake up once for nothing. But one that waits for a worker must see the new first deadline.
 */
static void dequeue(struct deadlines *d, struct deadline *deadline) REQUIRES(deadline_class)
{
	struct deadline *below = deadline_join_all(deadline->child);

	if (!deadline->back)
		return;
	if (d->first == deadline && d->sleeps_until == NEVER)
		pthread_cond_signal(&d->wake);
	*deadline->back = deadline->next;
	if (deadline->next)
		deadline->next->back = deadline->back;
	set_first(d, deadline_join(d->first, below));
	deadline->child = deadline->next = NULL;
	deadline->back = NULL;
	pthread_cond_broadcast(&d->done);
}

static struct deadline *take_first(struct deadlines *d) REQUIRES(deadline_class)
{
	struct deadline *first = d->first;

	if (!first)
		return NULL;
	dequeue(d, first);
	first->when = 0;
	return first;
}

static struct call *find_call(const struct deadlines *d, const struct deadline *deadline)
	REQUIRES(deadline_class)
{
	struct call *call = d->calls;

	while (call && call->of != deadline)
		call = call->next;
	return call;
}

static void set(struct deadlines *d, struct deadline *deadline, int64_t when)
	REQUIRES(deadline_class)
{
	struct call *call = find_call(d, deadline);

	deadline->when = when;
	if (call) {
		call->again = true;
	} else {
		dequeue(d, deadline);
		deadline_enqueue(d, deadline);
	}
}

bool deadline_set(struct deadlines *d, struct deadline *deadline, int64_t when)
{
	bool was_set;

	lock_acquire(&d->lock, &deadline_class);
	was_set = deadline->when != 0;
	set(d, deadline, when);
	lock_release(&d->lock, &deadline_class);
	return !was_set;
}

void deadline_hasten(struct deadlines *d, struct deadline *deadline, int64_t when)
{
	lock_acquire(&d->lock, &deadline_class);
	if (deadline->when > when)
		set(d, deadline, when);
	lock_release(&d->lock, &deadline_class);
}

bool deadline_is_set(struct deadlines *d, const struct deadline *deadline)
{
	bool is;

	lock_acquire(&d->lock, &deadline_class);
	is = deadline->when != 0;
	lock_release(&d->lock, &deadline_class);
	return is;
}

bool deadline_clear(struct deadlines *d, struct deadline *deadline)
{
	struct call *call;
	bool was_set;

	lock_acquire(&d->lock, &deadline_class);
	was_set = deadline->when != 0;
	deadline->when = 0;
	call = find_call(d, deadline);
	if (call)
		call->again = false;
	dequeue(d, deadline);
	lock_release(&d->lock, &deadline_class);
	return was_set;
}

struct deadline *deadlines_take(struct deadlines *d)
{
	struct deadline *first;

	lock_acquire(&d->lock, &deadline_class);
	first = take_first(d);
	lock_release(&d->lock, &deadline_class);
	return first;
}

/* ---- threads ---- */

static bool deadline_is_due(const struct deadlines *d) REQUIRES(deadline_class)
{
	return !d->ending && d->first && d->first->when <= clock_ms();
}

static void begin_call(struct deadlines *d, struct call *call) REQUIRES(deadline_class)
{
	call->next = d->calls;
	d->calls = call;
}

static void end_call(struct deadlines *d, const struct call *call) REQUIRES(deadline_class)
{
	struct call **at = &d->calls;

	while (*at != call)
		at = &(*at)->next;
	*at = call->next;
}

static void call_first(struct deadlines *d) REQUIRES(deadline_class)
{
	struct deadline *deadline = take_first(d);
	struct call call = {.of = deadline};

	begin_call(d, &call);
	lock_release(&d->lock, &deadline_class);
	deadline->due(d->v, deadline->user);
	lock_acquire(&d->lock, &deadline_class);
	end_call(d, &call);
	if (call.again)
		deadline_enqueue(d, deadline);
	pthread_cond_broadcast(&d->done);
}

/* Waits as an idle worker. Returns false if there was no work for IDLE_MS. */
static bool wait_for_work(struct deadlines *d) REQUIRES(deadline_class)
{
	struct timespec until = clock_until(clock_real_ms() + IDLE_MS);
	bool woken;

	d->idle++;
	woken = lock_wait_until(&d->lock, &deadline_class, &d->work, &until);
	d->idle--;
	return woken || deadline_is_due(d);
}

static void *deadline_run_worker(void *closure)
{
	struct deadlines *d = closure;

	lock_acquire(&d->lock, &deadline_class);
	d->idle--; /* start_worker has counted the worker as idle */
	do {
		while (deadline_is_due(d))
			call_first(d);
	} while (!d->ending && wait_for_work(d));
	d->workers--;
	pthread_cond_signal(&d->ended);
	lock_release(&d->lock, &deadline_class);
	return NULL;
}

static bool start_worker(struct deadlines *d) REQUIRES(deadline_class)
{
	pthread_t thread;
	bool started;

	d->workers++;
	d->idle++;
	lock_release(&d->lock, &deadline_class);
	started = pthread_create(&thread, NULL, deadline_run_worker, d) == 0;
	if (started)
		pthread_detach(thread);
	lock_acquire(&d->lock, &deadline_class);
	d->workers -= !started;
	d->idle -= !started;
	return started;
}

/*
 * Has a worker make the call that is due first; the timer thread makes it itself if there is no
 * worker and none can be started.
 */
static void serve_first(struct deadlines *d) REQUIRES(deadline_class)
{
	if (!d->idle && d->workers < WORKERS_MAX && start_worker(d))
		return;
	if (!deadline_is_due(d))
		return;
	if (!d->workers) {
		call_first(d);
		return;
	}
	pthread_cond_signal(&d->work);
	lock_wait(&d->lock, &deadline_class, &d->wake); /* sleep until the first deadline changes */
}

/*
 * Sleeps until `when`, the time of the first deadline. If the clock is stopped, only
 * deadlines_advance moves it there.
 */
static void sleep_until(struct deadlines *d, int64_t when) REQUIRES(deadline_class)
{
	struct timespec until = clock_until(when);

	d->sleeps_until = when;
	if (clock_is_stopped())
		lock_wait(&d->lock, &deadline_class, &d->wake);
	else
		lock_wait_until(&d->lock, &deadline_class, &d->wake, &until);
	d->sleeps_until = NEVER;
}

static void *run_timer(void *closure)
{
	struct deadlines *d = closure;

	lock_acquire(&d->lock, &deadline_class);
	while (!d->ending) {
		if (deadline_is_due(d)) {
			serve_first(d);
		} else if (d->first) {
			sleep_until(d, d->first->when);
		} else {
			lock_wait(&d->lock, &deadline_class, &d->wake);
		}
	}
	lock_release(&d->lock, &deadline_class);
	return NULL;
}

/* ---- a stopped clock ---- */

/* Waits until no deadline is due and no call is running. Returns 0, or ETIMEDOUT. */
static int wait_done(struct deadlines *d, const struct timespec *until) REQUIRES(deadline_class)
{
	while (deadline_is_due(d) || d->calls) {
		if (!lock_wait_until(&d->lock, &deadline_class, &d->done, until))
			return ETIMEDOUT;
	}
	return 0;
}

/* Moves the clock to the next deadline, or to `to` if that is sooner. */
static void deadline_move_clock(struct deadlines *d, int64_t to) REQUIRES(deadline_class)
{
	clock_move(d->first && d->first->when < to ? d->first->when : to);
	pthread_cond_signal(&d->wake);
}

int deadlines_advance(struct deadlines *d, int64_t ms)
{
	const struct timespec until = clock_until(clock_real_ms() + ADVANCE_LIMIT_MS);
	int64_t to;
	int error;

	lock_acquire(&d->lock, &deadline_class);
	to = clock_ms() + ms;
	while (!(error = wait_done(d, &until)) && clock_ms() < to)
		deadline_move_clock(d, to);
	lock_release(&d->lock, &deadline_class);
	return error;
}

/* ---- the object ---- */

UNSHARED struct deadlines *deadlines_new(struct vfs *v)
{
	struct deadlines *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->v = v;
	d->sleeps_until = NEVER;
	lock_init(&d->lock);
	lock_condition_init(&d->wake);
	lock_condition_init(&d->work);
	lock_condition_init(&d->ended);
	lock_condition_init(&d->done);
	return d;
}

/* Starts the timer thread with all signals blocked, which its workers inherit. */
bool deadlines_start(struct deadlines *d)
{
	d->started = thread_start(&d->timer, run_timer, d) == 0;
	return d->started;
}

void deadlines_stop(struct deadlines *d)
{
	if (!d->started)
		return;
	d->started = false;
	lock_acquire(&d->lock, &deadline_class);
	d->ending = true;
	pthread_cond_signal(&d->wake);
	pthread_cond_broadcast(&d->work);
	lock_release(&d->lock, &deadline_class);
	pthread_join(d->timer, NULL);
	lock_acquire(&d->lock, &deadline_class);
	while (d->workers)
		lock_wait(&d->lock, &deadline_class, &d->ended);
	lock_release(&d->lock, &deadline_class);
}

void deadlines_free(struct deadlines *d)
{
	if (!d)
		return;
	deadlines_stop(d);
	pthread_cond_destroy(&d->wake);
	pthread_cond_destroy(&d->work);
	pthread_cond_destroy(&d->ended);
	pthread_cond_destroy(&d->done);
	lock_destroy(&d->lock);
	free(d);
}
