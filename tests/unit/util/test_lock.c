/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "util/lock_classes.h"

#include <check.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static struct lock_class low = {"low", 1};
static struct lock a, b;

static void setup(void)
{
	lock_init(&a);
	lock_init(&b);
}

static void teardown(void)
{
	lock_destroy(&a);
	lock_destroy(&b);
}

#define UNCHECKED LOCK_ATTRIBUTE(no_thread_safety_analysis)

static void *try_a(void *got)
{
	*(bool *)got = pthread_mutex_trylock(&a.mutex) == 0;
	if (*(bool *)got)
		pthread_mutex_unlock(&a.mutex);
	return NULL;
}

/* Returns whether another thread can take the lock. */
static bool is_free(void)
{
	bool got = false;
	pthread_t thread;

	ck_assert_int_eq(pthread_create(&thread, NULL, try_a, &got), 0);
	pthread_join(thread, NULL);
	return got;
}

START_TEST(a_lock_keeps_others_out)
{
	ck_assert(is_free());
	lock_acquire(&a, &low);
	ck_assert(!is_free());
	lock_release(&a, &low);
	ck_assert(is_free());
}
END_TEST

START_TEST(a_pair_may_lack_one_or_be_one)
{
	lock_acquire_pair(&b, &a, &low);
	ck_assert(!is_free());
	lock_release_pair(&b, &a, &low);
	lock_acquire_pair(&a, &a, &low);
	ck_assert(!is_free());
	lock_release_pair(&a, &a, &low);
	lock_acquire_pair(NULL, &a, &low);
	ck_assert(!is_free());
	lock_release_pair(NULL, &a, &low);
	lock_acquire_pair(NULL, NULL, &low);
	lock_release_pair(NULL, NULL, &low);
	ck_assert(is_free());
}
END_TEST

static pthread_cond_t condition;
static bool ready;

static void *signal_ready(void *unused)
{
	(void)unused;
	lock_acquire(&a, &low);
	ready = true;
	pthread_cond_signal(&condition);
	lock_release(&a, &low);
	return NULL;
}

START_TEST(waiting_releases_the_lock)
{
	struct timespec past;
	pthread_t thread;

	lock_condition_init(&condition);
	clock_gettime(CLOCK_MONOTONIC, &past);
	ready = false;
	lock_acquire(&a, &low);
	ck_assert(!lock_wait_until(&a, &low, &condition, &past));
	ck_assert_int_eq(pthread_create(&thread, NULL, signal_ready, NULL), 0);
	while (!ready)
		lock_wait(&a, &low, &condition);
	lock_release(&a, &low);
	pthread_join(thread, NULL);
	pthread_cond_destroy(&condition);
}
END_TEST

/* Each class is listed once, and has a name of its own. */
START_TEST(classes_have_ranks_of_their_own)
{
#define LOCK_CLASS_POINTER(class, rank) &class,
	static const struct lock_class *const classes[] = {LOCK_CLASSES(LOCK_CLASS_POINTER)};

	for (size_t i = 1; i < sizeof(classes) / sizeof(*classes); i++)
		ck_assert_uint_lt(classes[i - 1]->rank, classes[i]->rank);
}
END_TEST

#ifdef ANIMFS_LOCK_ORDER

static struct lock_class high = {"high", 2};

static UNCHECKED void falling_rank(void)
{
	lock_acquire(&a, &high);
	lock_acquire(&b, &low);
}

static UNCHECKED void one_class_twice(void)
{
	lock_acquire(&a, &low);
	lock_acquire(&b, &low);
}

static UNCHECKED void one_lock_twice(void)
{
	lock_acquire(&a, &low);
	lock_acquire(&a, &high);
}

static UNCHECKED void not_locked(void)
{
	lock_acquire(&a, &low);
	lock_release(&b, &low);
}

static UNCHECKED void waiting_above_another(void)
{
	lock_acquire(&a, &low);
	lock_acquire(&b, &high);
	lock_wait(&a, &low, &condition);
}

/* Returns whether a function aborts the process. */
static bool aborts(void (*function)(void))
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		signal(SIGABRT, SIG_DFL);
		close(STDERR_FILENO);
		function();
		_exit(0);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

START_TEST(wrong_orders_end_the_process)
{
	ck_assert(aborts(falling_rank));
	ck_assert(aborts(one_class_twice));
	ck_assert(aborts(one_lock_twice));
	ck_assert(aborts(not_locked));
	ck_assert(aborts(waiting_above_another));
}
END_TEST

#endif

Suite *lock_suite(void)
{
	Suite *suite = suite_create("lock");
	TCase *tests = tcase_create("lock");

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, a_lock_keeps_others_out);
	tcase_add_test(tests, a_pair_may_lack_one_or_be_one);
	tcase_add_test(tests, waiting_releases_the_lock);
	tcase_add_test(tests, classes_have_ranks_of_their_own);
#ifdef ANIMFS_LOCK_ORDER
	tcase_add_test(tests, wrong_orders_end_the_process);
#endif
	suite_add_tcase(suite, tests);
	return suite;
}
