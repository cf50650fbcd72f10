/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "util/jobs.h"

#include <check.h>
#include <pthread.h>
#include <stdatomic.h>

#define COUNT 1000

static atomic_uint calls[COUNT];

static void call(void *closure, size_t i)
{
	ck_assert_ptr_eq(closure, calls);
	atomic_fetch_add(&calls[i], 1);
}

static void check_calls(unsigned threads, size_t count)
{
	for (size_t i = 0; i < COUNT; i++)
		atomic_store(&calls[i], 0);
	ck_assert(jobs_run(threads, count, call, calls));
	for (size_t i = 0; i < COUNT; i++)
		ck_assert_uint_eq(atomic_load(&calls[i]), i < count);
}

START_TEST(each_is_done_once)
{
	for (unsigned threads = 0; threads <= 8; threads++) {
		check_calls(threads, 0);
		check_calls(threads, 1);
		check_calls(threads, 3);
		check_calls(threads, COUNT);
	}
}
END_TEST

struct order {
	pthread_t caller;
	size_t next;
};

static void in_order(void *closure, size_t i)
{
	struct order *order = closure;

	ck_assert(pthread_equal(pthread_self(), order->caller));
	ck_assert_uint_eq(order->next++, i);
}

START_TEST(one_thread_is_the_callers_and_keeps_the_order)
{
	struct order order = {pthread_self(), 0};

	ck_assert(jobs_run(1, COUNT, in_order, &order));
	ck_assert_uint_eq(order.next, COUNT);
}
END_TEST

static void meet(void *closure, size_t i)
{
	(void)i;
	pthread_barrier_wait(closure);
}

START_TEST(as_many_at_a_time_as_there_are_threads)
{
	pthread_barrier_t barrier;

	/* With fewer threads than 4, the barrier would wait for ever. */
	ck_assert_int_eq(pthread_barrier_init(&barrier, NULL, 4), 0);
	ck_assert(jobs_run(4, 4, meet, &barrier));
	pthread_barrier_destroy(&barrier);
}
END_TEST

Suite *jobs_suite(void);
Suite *jobs_suite(void)
{
	Suite *suite = suite_create("jobs");
	TCase *tests = tcase_create("jobs");

	tcase_add_test(tests, each_is_done_once);
	tcase_add_test(tests, one_thread_is_the_callers_and_keeps_the_order);
	tcase_add_test(tests, as_many_at_a_time_as_there_are_threads);
	suite_add_tcase(suite, tests);
	return suite;
}
