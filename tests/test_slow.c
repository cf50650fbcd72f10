/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_slow.c - who is in something slow is counted once, and told of. */
#include "slow.h"

#include <check.h>
#include <stdatomic.h>
#include <stdbool.h>

struct heard {
	_Atomic unsigned began, ended;
	_Atomic uint64_t folders; /* the sum of those that were told */
};

static void began(void *closure, uint64_t folder)
{
	struct heard *heard = closure;

	heard->began++;
	heard->folders += folder;
}

static void ended(void *closure, uint64_t folder)
{
	struct heard *heard = closure;

	heard->ended++;
	heard->folders -= folder;
}

START_TEST(each_thread_counts_once)
{
	struct heard heard = {.began = 0};
	const struct slow_listener listener = {began, ended, &heard};

	slow_tell(&listener);
	slow_begin();
	slow_begin();
	ck_assert_uint_eq(slow_count(), 1);
	slow_end();
	ck_assert_uint_eq(slow_count(), 1);
	slow_end();
	ck_assert_uint_eq(slow_count(), 0);
	ck_assert(heard.began == 1 && heard.ended == 1);
	slow_tell(NULL);
	slow_begin();
	slow_end();
	ck_assert_uint_eq(heard.began, 1);
}
END_TEST

/* As it was when that began, whatever is set meanwhile. */
START_TEST(the_folder_is_told)
{
	struct heard heard = {.began = 0};
	const struct slow_listener listener = {began, ended, &heard};

	slow_tell(&listener);
	ck_assert_uint_eq(slow_in(7), 0);
	slow_begin();
	ck_assert_uint_eq(heard.folders, 7);
	ck_assert_uint_eq(slow_in(0), 7);
	slow_end();
	ck_assert_uint_eq(heard.folders, 0);
	slow_tell(NULL);
}
END_TEST

static void *lock_and_unlock(void *mutex)
{
	slow_lock(mutex);
	pthread_mutex_unlock(mutex);
	return NULL;
}

START_TEST(waiting_for_a_lock_is_slow)
{
	pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	pthread_t thread;

	lock_and_unlock(&mutex);
	ck_assert_uint_eq(slow_count(), 0);
	pthread_mutex_lock(&mutex);
	ck_assert_int_eq(pthread_create(&thread, NULL, lock_and_unlock, &mutex), 0);
	while (slow_count() != 1)
		;
	pthread_mutex_unlock(&mutex);
	pthread_join(thread, NULL);
	ck_assert_uint_eq(slow_count(), 0);
}
END_TEST

Suite *slow_suite(void);

Suite *slow_suite(void)
{
	Suite *suite = suite_create("slow");
	TCase *t = tcase_create("slow");

	suite_add_tcase(suite, t);
	tcase_add_test(t, each_thread_counts_once);
	tcase_add_test(t, the_folder_is_told);
	tcase_add_test(t, waiting_for_a_lock_is_slow);
	return suite;
}
