/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Layer util: memory, locks, threads: what every other layer needs and what knows nothing of
 * animations. Bytes, errors, buffers and arenas are declared in include/animfs/base.h and defined
 * here; so are locks with classes, the table of their ranks, slabs, and jobs that run in parallel.
 * Nothing here opens a file or parses a text.
 *
 * Start reading in animfs/base.h; then this file, with the ranks in lock_classes.h.
 *
 * May use: nothing
 */
/*
 * lock.h - mutexes with a class, which clang and debug builds check.
 *
 * A class names the kind of object that a lock guards, and its rank. A thread takes locks in rising
 * rank; of locks of one class it takes a second one only by lock_acquire_pair, which orders the two
 * by address. `lock_classes.h` lists all classes with their ranks, so that the order of the whole
 * program is one table.
 *
 * What clang checks (-Wthread-safety, `make lint`). In C a field cannot be guarded by the lock
 * beside it (the attribute would have to name a member of a struct that is not complete yet), so it
 * is guarded by the class, a global object:
 *
 *   struct table {
 *           struct lock lock;
 *           size_t count GUARDED_BY(table_class);
 *   };
 *   void table_grow(struct table *t) REQUIRES(table_class);
 *
 *   lock_acquire(&t->lock, &table_class);
 *   table_grow(t);
 *   lock_release(&t->lock, &table_class);
 *
 * So the check knows that some lock of the class is held, but not which one.
 *
 * What debug builds check (ANIMFS_LOCK_ORDER, on in `make debug` and under the sanitizers): each
 * thread remembers the locks that it holds; taking one of a lower rank, taking one twice, and
 * releasing one that it does not hold end the process with the names of both classes.
 */
#ifndef ANIMFS_UTIL_LOCK_H
#define ANIMFS_UTIL_LOCK_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __clang__
#define LOCK_ATTRIBUTE(...) __attribute__((__VA_ARGS__))
#else
#define LOCK_ATTRIBUTE(...)
#endif

/* On a field: it is read and written only with a lock of this class held. */
#define GUARDED_BY(class) LOCK_ATTRIBUTE(guarded_by(class))
/* On a pointer: the object that it points to is accessed only with a lock of this class held. */
#define PT_GUARDED_BY(class) LOCK_ATTRIBUTE(pt_guarded_by(class))
/*
 * On a function. REQUIRES: callers hold a lock of the class; ACQUIRES: the function returns with
 * the lock held; RELEASE: the function releases the lock.
 */
#define REQUIRES(...) LOCK_ATTRIBUTE(requires_capability(__VA_ARGS__))
#define ACQUIRE(...) LOCK_ATTRIBUTE(acquire_capability(__VA_ARGS__))
#define TRY_ACQUIRE(...) LOCK_ATTRIBUTE(try_acquire_capability(__VA_ARGS__))
#define RELEASE(...) LOCK_ATTRIBUTE(release_capability(__VA_ARGS__))
/* On a function: callers must hold no lock of the class, since the function takes one. */
#define EXCLUDES(...) LOCK_ATTRIBUTE(locks_excluded(__VA_ARGS__))
/*
 * On a function whose object no other thread can access yet or any more, such as a constructor or
 * destructor: turns the lock analysis off. Any other use needs a comment that gives the reason.
 */
#define UNSHARED LOCK_ATTRIBUTE(no_thread_safety_analysis)

/* A class of locks with its rank; `name` appears in messages. */
struct LOCK_ATTRIBUTE(capability("lock")) lock_class {
	const char *name;
	unsigned rank;
};

struct lock {
	pthread_mutex_t mutex;
};

void lock_init(struct lock *l);
void lock_destroy(struct lock *l); /* the lock must not be held */

void lock_acquire(struct lock *l, struct lock_class *class) ACQUIRE(*class);
void lock_release(struct lock *l, struct lock_class *class) RELEASE(*class);

/*
 * Takes two locks of one class in the order of their addresses. Either may be NULL, and both may be
 * the same. Release them with lock_release_pair.
 */
void lock_acquire_pair(struct lock *a, struct lock *b, struct lock_class *class) ACQUIRE(*class);
void lock_release_pair(struct lock *a, struct lock *b, struct lock_class *class) RELEASE(*class);

/*
 * Waits for the condition and releases the lock meanwhile; like pthread_cond_wait it may return
 * without a signal. The lock must be the last one that the thread took. `until` is a time of the
 * monotonic clock (lock_condition_init); lock_wait_until returns false once that time has
 * passed.
 */
struct timespec;
void lock_condition_init(pthread_cond_t *condition);
void lock_wait(struct lock *l, struct lock_class *class, pthread_cond_t *condition)
	REQUIRES(*class);
bool lock_wait_until(struct lock *l, struct lock_class *class, pthread_cond_t *condition,
		     const struct timespec *until) REQUIRES(*class);

#endif
