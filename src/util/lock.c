/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lock.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* ---- the order, in debug builds ---- */

#ifdef ANIMFS_LOCK_ORDER

#define LOCKED_MAX 16

struct locked {
	const struct lock *lock;
	const struct lock_class *class;
};

static _Thread_local struct locked locked[LOCKED_MAX];
static _Thread_local unsigned locked_count;

static void fail_lock(const char *what, const struct lock_class *class, const char *other)
{
	fprintf(stderr, "animfs: lock order: %s %s%s%s\n", what, class->name,
		*other ? " while holding " : "", other);
	abort();
}

/*
 * Checks the rank before the thread waits, so that a wrong order is found even if the lock is
 * free.
 */
static void check_order(const struct lock *l, const struct lock_class *class, bool second)
{
	for (unsigned i = 0; i < locked_count; i++) {
		if (locked[i].lock == l)
			fail_lock("taking twice", class, "");
		if (locked[i].class->rank > class->rank ||
		    (locked[i].class->rank == class->rank && !second))
			fail_lock("taking", class, locked[i].class->name);
	}
	if (locked_count == LOCKED_MAX)
		fail_lock("too many locks at", class, "");
}

static void lock_note_taken(const struct lock *l, const struct lock_class *class)
{
	locked[locked_count++] = (struct locked){l, class};
}

static void note_released(const struct lock *l, const struct lock_class *class)
{
	unsigned i = locked_count;

	while (i > 0 && locked[i - 1].lock != l)
		i--;
	if (i == 0)
		fail_lock("releasing, not held,", class, "");
	for (; i < locked_count; i++)
		locked[i - 1] = locked[i];
	locked_count--;
}

static void check_last(const struct lock *l, const struct lock_class *class)
{
	if (locked_count == 0 || locked[locked_count - 1].lock != l)
		fail_lock("waiting, not the last lock taken,", class, "");
}

#else

static void check_order(const struct lock *l, const struct lock_class *class, bool second)
{
	(void)l;
	(void)class;
	(void)second;
}

static void lock_note_taken(const struct lock *l, const struct lock_class *class)
{
	(void)l;
	(void)class;
}

static void note_released(const struct lock *l, const struct lock_class *class)
{
	(void)l;
	(void)class;
}

static void check_last(const struct lock *l, const struct lock_class *class)
{
	(void)l;
	(void)class;
}

#endif

/* ---- locks ---- */

/* Clang cannot check the functions that implement the locks themselves. */
#define IS_THE_LOCK LOCK_ATTRIBUTE(no_thread_safety_analysis)

void lock_init(struct lock *l)
{
	pthread_mutex_init(&l->mutex, NULL);
}

void lock_destroy(struct lock *l)
{
	pthread_mutex_destroy(&l->mutex);
}

static void lock_take(struct lock *l, const struct lock_class *class, bool second)
{
	check_order(l, class, second);
	pthread_mutex_lock(&l->mutex);
	lock_note_taken(l, class);
}

static void lock_give_back(struct lock *l, const struct lock_class *class)
{
	note_released(l, class);
	pthread_mutex_unlock(&l->mutex);
}

IS_THE_LOCK void lock_acquire(struct lock *l, struct lock_class *class)
{
	lock_take(l, class, false);
}

IS_THE_LOCK void lock_release(struct lock *l, struct lock_class *class)
{
	lock_give_back(l, class);
}

IS_THE_LOCK void lock_acquire_pair(struct lock *a, struct lock *b, struct lock_class *class)
{
	struct lock *first = (uintptr_t)a < (uintptr_t)b ? a : b;
	struct lock *second = first == a ? b : a;

	if (first)
		lock_take(first, class, false);
	if (second && second != first)
		lock_take(second, class, first != NULL);
}

IS_THE_LOCK void lock_release_pair(struct lock *a, struct lock *b, struct lock_class *class)
{
	if (a)
		lock_give_back(a, class);
	if (b && b != a)
		lock_give_back(b, class);
}

/* ---- conditions ---- */

void lock_condition_init(pthread_cond_t *condition)
{
	pthread_condattr_t attributes;

	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(condition, &attributes);
	pthread_condattr_destroy(&attributes);
}

void lock_wait(struct lock *l, struct lock_class *class, pthread_cond_t *condition)
{
	check_last(l, class);
	pthread_cond_wait(condition, &l->mutex);
}

bool lock_wait_until(struct lock *l, struct lock_class *class, pthread_cond_t *condition,
		     const struct timespec *until)
{
	check_last(l, class);
	return pthread_cond_timedwait(condition, &l->mutex, until) != ETIMEDOUT;
}
