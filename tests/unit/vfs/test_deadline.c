/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "asleep.h"
#include "vfs/deadline.h"
#include "vfs/vfs.h"

#include <check.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#define HOUR 3600000

static struct deadlines *d;

static void begin(void)
{
	d = deadlines_new(NULL);
	ck_assert_ptr_nonnull(d);
}

static void end(void)
{
	deadlines_free(d);
}

static void start(void)
{
	ck_assert(deadlines_start(d));
}

static void nothing(struct vfs *v, void *user)
{
	(void)v;
	(void)user;
}

/* ---- the queue ---- */

START_TEST(they_come_in_the_order_of_their_times)
{
	static const int64_t times[] = {50, 10, 40, 20, 30, 10};
	static const unsigned order[] = {1, 5, 3, 4, 2, 0};
	struct deadline list[6] = {{.due = nothing}};

	for (unsigned i = 0; i < 6; i++)
		ck_assert(deadline_set(d, &list[i], times[i]));
	for (unsigned i = 0; i < 6; i++)
		ck_assert_ptr_eq(deadlines_take(d), &list[order[i]]);
	ck_assert_ptr_null(deadlines_take(d));
}
END_TEST

START_TEST(one_that_is_set_again_moves)
{
	struct deadline a = {.due = nothing}, b = {.due = nothing}, c = {.due = nothing};

	ck_assert(deadline_set(d, &a, 10));
	ck_assert(deadline_set(d, &b, 20));
	ck_assert(deadline_set(d, &c, 30));
	ck_assert(!deadline_set(d, &a, 40));
	ck_assert(!deadline_set(d, &c, 5));
	ck_assert_ptr_eq(deadlines_take(d), &c);
	ck_assert_ptr_eq(deadlines_take(d), &b);
	ck_assert(deadline_set(d, &b, 50));
	ck_assert_ptr_eq(deadlines_take(d), &a);
	ck_assert_ptr_eq(deadlines_take(d), &b);
	ck_assert_ptr_null(deadlines_take(d));
}
END_TEST

START_TEST(one_that_is_cleared_is_not_there)
{
	struct deadline a = {.due = nothing}, b = {.due = nothing};

	ck_assert(!deadline_clear(d, &a));
	deadline_set(d, &a, 10);
	deadline_set(d, &b, 20);
	ck_assert(deadline_clear(d, &b));
	ck_assert(!deadline_clear(d, &b));
	ck_assert_ptr_eq(deadlines_take(d), &a);
	ck_assert_ptr_null(deadlines_take(d));
	ck_assert(!deadline_clear(d, &a));
	ck_assert(deadline_set(d, &a, 10));
	ck_assert(deadline_clear(d, &a));
}
END_TEST

START_TEST(one_that_is_hastened_is_sooner_or_as_it_was)
{
	struct deadline a = {.due = nothing}, b = {.due = nothing}, unset = {.due = nothing};

	deadline_set(d, &a, 10);
	deadline_set(d, &b, 20);
	deadline_hasten(d, &a, 30);
	deadline_hasten(d, &unset, 1);
	ck_assert_ptr_eq(deadlines_take(d), &a);
	deadline_hasten(d, &a, 1);
	ck_assert_ptr_eq(deadlines_take(d), &b);
	ck_assert_ptr_null(deadlines_take(d));
	deadline_set(d, &a, 10);
	deadline_set(d, &b, 20);
	deadline_hasten(d, &b, 5);
	ck_assert_ptr_eq(deadlines_take(d), &b);
	ck_assert_ptr_eq(deadlines_take(d), &a);
}
END_TEST

START_TEST(those_of_one_time_come_in_the_order_in_which_they_were_set)
{
	struct deadline list[9] = {{.due = nothing}};

	for (unsigned i = 0; i < 9; i++)
		deadline_set(d, &list[i], 10);
	deadline_set(d, &list[4], 10);
	deadline_clear(d, &list[0]);
	for (unsigned i = 1; i < 9; i++) {
		if (i != 4)
			ck_assert_ptr_eq(deadlines_take(d), &list[i]);
	}
	ck_assert_ptr_eq(deadlines_take(d), &list[4]);
	ck_assert_ptr_null(deadlines_take(d));
}
END_TEST

#define MANY 100000

/* As when many files change at once: each is due soon, before those whose batch ends later. */
START_TEST(many_at_once_take_no_time_each)
{
	struct deadline *list = calloc(2 * MANY, sizeof(*list));
	int64_t last = 0;

	ck_assert_ptr_nonnull(list);
	for (int i = 0; i < MANY; i++)
		deadline_set(d, &list[i], HOUR + i);
	for (int i = 0; i < MANY; i++)
		deadline_set(d, &list[MANY + i], 1 + i * 7919LL % MANY);
	for (int i = 0; i < MANY; i++)
		deadline_set(d, &list[i], HOUR / 2 - i);
	for (int i = 0; i < 2 * MANY; i++) {
		const struct deadline *first = deadlines_take(d);
		int at = (int)(first - list);
		int64_t when = at < MANY ? HOUR / 2 - at : 1 + (at - MANY) * 7919LL % MANY;

		ck_assert_int_gt(when, last);
		last = when;
	}
	ck_assert_ptr_null(deadlines_take(d));
	free(list);
}
END_TEST

/* ---- calls ---- */

static sem_t called, go_on;

static void setup_calls(void)
{
	begin();
	sem_init(&called, 0, 0);
	sem_init(&go_on, 0, 0);
}

static void teardown_calls(void)
{
	end();
	sem_destroy(&called);
	sem_destroy(&go_on);
}

static void post(struct vfs *v, void *user)
{
	(void)v;
	if (user)
		++*(unsigned *)user;
	sem_post(&called);
}

START_TEST(what_is_due_is_called_once)
{
	unsigned calls = 0, far = 0;
	struct deadline a = {.due = post, .user = &calls};
	struct deadline b = {.due = post, .user = &far};

	deadline_set(d, &b, clock_ms() + HOUR);
	deadline_set(d, &a, 1);
	start();
	sem_wait(&called);
	ck_assert(deadline_set(d, &a, clock_ms() + 5));
	sem_wait(&called);
	deadlines_stop(d);
	ck_assert_uint_eq(calls, 2);
	ck_assert_uint_eq(far, 0);
	ck_assert_ptr_eq(deadlines_take(d), &b);
	ck_assert_ptr_null(deadlines_take(d));
}
END_TEST

/* If the deadline that the timer waits for is cleared, the timer goes on to the next one. */
START_TEST(the_first_may_be_cleared)
{
	struct deadline a = {.due = post}, b = {.due = post};

	start();
	for (unsigned i = 0; i < 200; i++) {
		int64_t now = clock_ms();

		deadline_set(d, &a, now);
		deadline_set(d, &b, now + 1);
		if (deadline_clear(d, &a))
			sem_post(&called);
		sem_wait(&called);
		sem_wait(&called);
	}
	deadline_set(d, &a, clock_ms() + HOUR);
	ck_assert(!deadline_set(d, &a, 1));
	sem_wait(&called);
}
END_TEST

static void wait_to_go_on(struct vfs *v, void *user)
{
	post(v, user);
	sem_wait(&go_on);
}

START_TEST(a_slow_call_delays_no_other)
{
	struct deadline slow = {.due = wait_to_go_on}, quick = {.due = post};

	start();
	deadline_set(d, &slow, 1);
	sem_wait(&called);
	deadline_set(d, &quick, 1);
	sem_wait(&called);
	sem_post(&go_on);
}
END_TEST

#define CALLS 300
#define WORKERS 256 /* limit of the number of workers */

static _Atomic unsigned running, most;

/* Occupies workers: the first calls wait until there are as many workers as allowed. */
static void crowd(struct vfs *v, void *user)
{
	unsigned now = ++running, before = most;

	while (now > before && !atomic_compare_exchange_weak(&most, &before, now))
		;
	if (now == WORKERS) {
		for (unsigned i = 0; i < CALLS; i++)
			sem_post(&go_on);
	}
	wait_to_go_on(v, user);
	running--;
}

START_TEST(there_are_so_many_workers_and_no_more)
{
	struct deadline *list = calloc(CALLS, sizeof(*list));

	running = most = 0;
	ck_assert_ptr_nonnull(list);
	start();
	for (unsigned i = 0; i < CALLS; i++) {
		list[i].due = crowd;
		deadline_set(d, &list[i], 1);
	}
	for (unsigned i = 0; i < CALLS; i++)
		sem_wait(&called);
	deadlines_stop(d);
	ck_assert_uint_eq(most, WORKERS);
	free(list);
}
END_TEST

static _Atomic bool inside;

static void wait_alone(struct vfs *v, void *user)
{
	ck_assert(!atomic_exchange(&inside, true));
	wait_to_go_on(v, user);
	inside = false;
}

START_TEST(one_set_during_its_call_is_called_after_it)
{
	struct deadline a = {.due = wait_alone}, other = {.due = post};

	inside = false;
	start();
	deadline_set(d, &a, 1);
	sem_wait(&called);
	ck_assert(deadline_set(d, &a, 1));
	ck_assert(!deadline_set(d, &a, 2));
	deadline_set(d, &other, 3);
	sem_wait(&called); /* posted by `other`, which is set later but due earlier */
	sem_post(&go_on);
	sem_wait(&called);
	ck_assert(deadline_set(d, &a, 1));
	ck_assert(deadline_clear(d, &a));
	sem_post(&go_on);
	deadlines_stop(d);
	ck_assert_int_ne(sem_trywait(&called), 0);
	ck_assert_ptr_null(deadlines_take(d));
}
END_TEST

struct owner {
	struct deadline deadline;
	char more[64];
};

static void free_owner(struct vfs *v, void *user)
{
	free(user);
	post(v, NULL);
}

START_TEST(what_it_belongs_to_may_go_in_its_call)
{
	start();
	for (unsigned i = 0; i < 1000; i++) {
		struct owner *owner = calloc(1, sizeof(*owner));

		ck_assert_ptr_nonnull(owner);
		owner->deadline = (struct deadline){.due = free_owner, .user = owner};
		deadline_set(d, &owner->deadline, 1);
	}
	for (unsigned i = 0; i < 1000; i++)
		sem_wait(&called);
}
END_TEST

static _Atomic bool finished;

static void set_again_slowly(struct vfs *v, void *deadline)
{
	const struct timespec pause = {.tv_nsec = 20000000};

	post(v, NULL);
	deadline_set(d, deadline, clock_ms() + HOUR);
	nanosleep(&pause, NULL);
	finished = true;
}

START_TEST(stopping_waits_for_calls_and_leaves_what_is_set)
{
	struct deadline a = {.due = set_again_slowly, .user = &a}, b = {.due = post};

	finished = false;
	start();
	deadline_set(d, &a, 1);
	sem_wait(&called);
	deadlines_stop(d);
	ck_assert(finished);
	ck_assert(deadline_set(d, &b, 5));
	ck_assert_ptr_eq(deadlines_take(d), &b);
	ck_assert_ptr_eq(deadlines_take(d), &a);
	ck_assert_ptr_null(deadlines_take(d));
}
END_TEST

/* ---- a stopped clock; nothing starts it again, in a process of its own ---- */

static _Atomic int64_t first_at, last_at;
static _Atomic unsigned rounds;

static void note_time(struct vfs *v, void *user)
{
	(void)v;
	(void)user;
	if (!first_at)
		first_at = clock_ms();
	last_at = clock_ms();
}

/* Sets the deadline again, three times, 100 ms apart. */
static void set_again_later(struct vfs *v, void *user)
{
	note_time(v, user);
	if (++rounds < 3)
		deadline_set(d, user, clock_ms() + 100);
}

START_TEST(a_stopped_clock_goes_from_deadline_to_deadline)
{
	struct deadline a = {.due = set_again_later, .user = &a}, far = {.due = post};
	int64_t began;

	clock_stop();
	began = clock_ms();
	start();
	deadline_set(d, &a, began + 100);
	deadline_set(d, &far, began + HOUR);
	ck_assert_int_eq(deadlines_advance(d, 99), 0);
	ck_assert_uint_eq(rounds, 0);
	ck_assert_int_eq(deadlines_advance(d, 1), 0);
	ck_assert_uint_eq(rounds, 1);
	ck_assert_int_eq(deadlines_advance(d, 1000), 0);
	ck_assert_uint_eq(rounds, 3);
	ck_assert_int_eq(first_at, began + 100);
	ck_assert_int_eq(last_at, began + 300);
	ck_assert_int_eq(clock_ms(), began + 1100);
	ck_assert(deadline_is_set(d, &far));
	ck_assert_int_eq(deadlines_advance(d, HOUR), 0);
	ck_assert_int_eq(sem_trywait(&called), 0);
}
END_TEST

static void take_long(struct vfs *v, void *user)
{
	post(v, user);
	clock_sleep(20);
	finished = true;
}

START_TEST(moving_it_waits_for_calls)
{
	struct deadline a = {.due = take_long}, b = {.due = take_long};

	clock_stop();
	finished = false;
	start();
	deadline_set(d, &a, clock_ms());
	sem_wait(&called);
	ck_assert_int_eq(deadlines_advance(d, 0), 0);
	ck_assert(finished);
	finished = false;
	deadline_set(d, &b, clock_ms() + 5);
	ck_assert_int_eq(deadlines_advance(d, 5), 0);
	ck_assert(finished);
}
END_TEST

static struct mover {
	pthread_t thread;
	_Atomic pid_t id;
	int error;
} mover;

static void *move_clock(void *unused)
{
	(void)unused;
	mover.id = gettid();
	mover.error = deadlines_advance(d, 0);
	return NULL;
}

/* Begins a wait for a call that is never made. */
static void begin_to_move(struct deadline *due)
{
	deadline_set(d, due, clock_ms());
	mover.id = 0;
	ck_assert_int_eq(pthread_create(&mover.thread, NULL, move_clock, NULL), 0);
	while (!mover.id || !is_asleep(mover.id))
		sched_yield();
}

static void check_moved(void)
{
	pthread_join(mover.thread, NULL);
	ck_assert_int_eq(mover.error, 0);
}

START_TEST(moving_it_does_not_wait_for_what_is_due_no_more)
{
	struct deadline a = {.due = nothing};

	clock_stop();
	begin_to_move(&a);
	deadline_clear(d, &a);
	check_moved();
	begin_to_move(&a);
	deadline_set(d, &a, clock_ms() + 1);
	check_moved();
	deadline_clear(d, &a);
}
END_TEST

/* An idle worker waits in real time. */
START_TEST(a_stopped_clock_stops_no_worker)
{
	struct deadline a = {.due = post};

	clock_stop();
	start();
	for (unsigned i = 0; i < 3; i++) {
		deadline_set(d, &a, clock_ms());
		sem_wait(&called);
		clock_sleep(i);
	}
	deadlines_stop(d);
}
END_TEST

/* ---- all at once ---- */

#define THINGS 20
#define ROUNDS 3000

static struct thing_in_use {
	struct deadline deadline;
	/* references to the thing: one while the deadline is set, until the call has ended */
	_Atomic int references;
	_Atomic bool busy;
	unsigned random; /* state of the random numbers of the calls */
} things[THINGS];

static void use(struct vfs *v, void *user)
{
	struct thing_in_use *t = user;

	(void)v;
	ck_assert(!atomic_exchange(&t->busy, true));
	ck_assert_int_gt(t->references, 0);
	if (rand_r(&t->random) % 3 || !deadline_set(d, &t->deadline, clock_ms() + 1))
		t->references--; /* otherwise the reference belongs to the next call */
	t->busy = false;
}

static void *set_and_clear(void *seed)
{
	unsigned random = *(unsigned *)seed;

	for (unsigned i = 0; i < ROUNDS; i++) {
		struct thing_in_use *t = &things[rand_r(&random) % THINGS];

		t->references++;
		if (rand_r(&random) % 3) {
			if (!deadline_set(d, &t->deadline, clock_ms() + rand_r(&random) % 3))
				t->references--;
		} else {
			t->references -= deadline_clear(d, &t->deadline) ? 2 : 1;
		}
	}
	return NULL;
}

START_TEST(each_that_is_set_is_called_or_cleared)
{
	unsigned seeds[] = {1, 2, 3, 4};
	pthread_t threads[4];
	struct deadline *left;

	for (unsigned i = 0; i < THINGS; i++) {
		things[i].deadline = (struct deadline){.due = use, .user = &things[i]};
		things[i].references = 0;
	}
	start();
	for (unsigned i = 0; i < 4; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, set_and_clear, &seeds[i]), 0);
	for (unsigned i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	deadlines_stop(d);
	while ((left = deadlines_take(d)))
		((struct thing_in_use *)left->user)->references--;
	for (unsigned i = 0; i < THINGS; i++)
		ck_assert_int_eq(things[i].references, 0);
}
END_TEST

Suite *deadline_suite(void);
Suite *deadline_suite(void)
{
	Suite *suite = suite_create("deadline");
	TCase *queue = tcase_create("queue"), *calls = tcase_create("calls");

	tcase_add_checked_fixture(queue, begin, end);
	tcase_add_test(queue, they_come_in_the_order_of_their_times);
	tcase_add_test(queue, one_that_is_set_again_moves);
	tcase_add_test(queue, one_that_is_cleared_is_not_there);
	tcase_add_test(queue, one_that_is_hastened_is_sooner_or_as_it_was);
	tcase_add_test(queue, those_of_one_time_come_in_the_order_in_which_they_were_set);
	tcase_add_test(queue, many_at_once_take_no_time_each);
	suite_add_tcase(suite, queue);
	tcase_add_checked_fixture(calls, setup_calls, teardown_calls);
	tcase_add_test(calls, what_is_due_is_called_once);
	tcase_add_test(calls, the_first_may_be_cleared);
	tcase_add_test(calls, a_slow_call_delays_no_other);
	tcase_add_test(calls, there_are_so_many_workers_and_no_more);
	tcase_add_test(calls, one_set_during_its_call_is_called_after_it);
	tcase_add_test(calls, what_it_belongs_to_may_go_in_its_call);
	tcase_add_test(calls, stopping_waits_for_calls_and_leaves_what_is_set);
	tcase_add_test(calls, a_stopped_clock_goes_from_deadline_to_deadline);
	tcase_add_test(calls, moving_it_waits_for_calls);
	tcase_add_test(calls, moving_it_does_not_wait_for_what_is_due_no_more);
	tcase_add_test(calls, a_stopped_clock_stops_no_worker);
	tcase_add_test(calls, each_that_is_set_is_called_or_cleared);
	suite_add_tcase(suite, calls);
	return suite;
}
