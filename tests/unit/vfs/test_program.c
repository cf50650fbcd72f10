/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "scratch.h"
#include "vfs/program.h"
#include "vfs/vfs.h"

#include <semaphore.h>
#include <signal.h>
#include <sys/wait.h>

#define HOUR 3600000

/* A mount that has nothing but the table of programs and the deadlines. */
static struct vfs v;
static sem_t called;

static void begin_until(int end)
{
	scratch_begin();
	sem_init(&called, 0, 0);
	v.deadlines = deadlines_new(&v);
	v.programs = programs_new(v.deadlines, end);
	ck_assert(v.programs && deadlines_start(v.deadlines) && programs_watch(v.programs));
}

static void begin(void)
{
	begin_until(1000);
}

static void end(void)
{
	programs_free(v.programs);
	deadlines_free(v.deadlines);
	sem_destroy(&called);
	scratch_end();
}

static void post(struct vfs *vfs, void *user)
{
	(void)vfs;
	(void)user;
	sem_post(&called);
}

static struct program *program(pid_t pid, uid_t uid)
{
	const struct request who = {.uid = uid, .pid = pid};
	struct program *p = program_of(&v, &who);

	ck_assert_ptr_nonnull(p);
	return p;
}

/*
 * Starts a process that runs until it is killed. A byte written to *become makes it exec another
 * command.
 */
static pid_t start(int *become)
{
	int fds[2];
	char byte;
	pid_t child;

	ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
	child = fork();
	if (child == 0) {
		close(fds[1]);
		if (read(fds[0], &byte, 1) == 1)
			execlp("sleep", "sleep", "1000", (char *)NULL);
		pause();
		_exit(1);
	}
	close(fds[0]);
	if (become)
		*become = fds[1];
	else
		close(fds[1]);
	return child;
}

static void kill_child(pid_t child)
{
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

static bool knows_ends(void)
{
	struct process own;
	int fd, error;

	process_of_thread(getpid(), &own);
	error = process_open(&own, &fd);
	if (!error)
		close(fd);
	return error != ENOSYS;
}

/* ---- processes and their programs ---- */

START_TEST(there_is_one_for_all_requests_of_a_process)
{
	pid_t child = start(NULL);
	struct program *a = program(child, 1), *b = program(child, 1), *c;

	ck_assert_ptr_eq(a, b);
	ck_assert_ptr_eq(program_get(a), b);
	program_put(b);
	program_put(b);
	c = program(child, 1);
	ck_assert_ptr_eq(a, c);
	ck_assert_int_eq(a->process.pid, child);
	ck_assert_uint_eq(a->uid, 1);
	program_put(a);
	program_put(c);
	kill_child(child);
}
END_TEST

START_TEST(users_processes_and_commands_are_others)
{
	int become;
	pid_t child = start(&become);
	struct program *a = program(child, 1), *uid = program(child, 2),
		       *self = program(getpid(), 1);
	struct program *command = program_get(a);

	ck_assert_int_eq(write(become, "", 1), 1);
	while (command == a) {
		program_put(command);
		command = program(child, 1);
	}
	ck_assert_ptr_ne(a, uid);
	ck_assert_ptr_ne(a, self);
	ck_assert_int_eq(command->process.pid, child);
	ck_assert_uint_eq(command->process.start, a->process.start);
	ck_assert_str_eq(command->process.name, "sleep");
	program_put(a);
	program_put(uid);
	program_put(self);
	program_put(command);
	close(become);
	kill_child(child);
}
END_TEST

START_TEST(unknown_ones_are_one_for_each_user)
{
	pid_t gone = fork();
	struct program *a = program(0, 1), *b, *other = program(0, 2);

	if (gone == 0)
		_exit(0);
	waitpid(gone, NULL, 0);
	b = program(gone, 1);
	ck_assert_ptr_eq(a, b);
	ck_assert_ptr_ne(a, other);
	ck_assert_int_eq(a->process.pid, 0);
	program_put(a);
	program_put(b);
	program_put(other);
}
END_TEST

static void *ask_and_let_go(void *child)
{
	for (int i = 0; i < 2000; i++)
		program_put(program(*(pid_t *)child, 1));
	return NULL;
}

START_TEST(many_ask_at_once)
{
	pid_t child = start(NULL);
	pthread_t threads[4];

	for (int i = 0; i < 4; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, ask_and_let_go, &child), 0);
	usleep(1000);
	kill_child(child);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
}
END_TEST

/* ---- its end ---- */

START_TEST(what_waits_for_its_end_is_due_then)
{
	pid_t child = start(NULL);
	struct program *p = program(child, 1);
	struct deadline a = {.due = post}, b = {.due = post}, unset = {.due = post};
	struct program_end of_a, of_b, of_unset;

	program_end_await(&of_a, p, &a);
	program_end_await(&of_b, p, &b);
	program_end_await(&of_unset, p, &unset);
	program_put(p);
	deadline_set(v.deadlines, &a, clock_ms() + HOUR);
	deadline_set(v.deadlines, &b, clock_ms() + HOUR);
	program_end_hasten(&of_a); /* the process has not ended */
	ck_assert_int_ne(sem_trywait(&called), 0);
	kill_child(child);
	if (knows_ends()) {
		sem_wait(&called);
		sem_wait(&called);
		/* A deadline that is set later is due at once when program_end_hasten is called. */
		deadline_set(v.deadlines, &unset, clock_ms() + HOUR);
		program_end_hasten(&of_unset);
		sem_wait(&called);
	}
	program_end_clear(&of_a);
	program_end_clear(&of_b);
	program_end_clear(&of_unset);
	program_end_clear(&of_unset);
	program_end_hasten(&of_unset);
}
END_TEST

START_TEST(what_waits_no_longer_is_left_alone)
{
	pid_t child = start(NULL);
	struct program *p = program(child, 1);
	struct deadline first = {.due = post}, cleared = {.due = post}, last = {.due = post};
	struct program_end of_first, of_cleared, of_last;

	program_end_await(&of_first, p, &first);
	program_end_await(&of_cleared, p, &cleared);
	program_end_await(&of_last, p, &last);
	deadline_set(v.deadlines, &first, clock_ms() + HOUR);
	deadline_set(v.deadlines, &cleared, clock_ms() + HOUR);
	deadline_set(v.deadlines, &last, clock_ms() + HOUR);
	program_end_clear(&of_cleared);
	program_put(p);
	kill_child(child);
	if (knows_ends()) {
		sem_wait(&called);
		sem_wait(&called);
		deadlines_stop(v.deadlines);
		ck_assert_ptr_eq(deadlines_take(v.deadlines), &cleared);
		ck_assert_ptr_null(deadlines_take(v.deadlines));
	}
	program_end_clear(&of_first);
	program_end_clear(&of_last);
}
END_TEST

/* The process ends before both calls, between them, or after both. */
START_TEST(no_end_is_missed)
{
	for (int i = 0; i < 100 && knows_ends(); i++) {
		pid_t child = start(NULL);
		struct program *p = program(child, 1);
		struct deadline a = {.due = post};
		struct program_end of_a;

		program_end_await(&of_a, p, &a);
		program_put(p);
		kill(child, SIGKILL);
		usleep((useconds_t)i * 10);
		deadline_set(v.deadlines, &a, clock_ms() + HOUR);
		program_end_hasten(&of_a);
		sem_wait(&called);
		program_end_clear(&of_a);
		waitpid(child, NULL, 0);
	}
}
END_TEST

START_TEST(another_command_is_not_its_end)
{
	int become;
	pid_t child = start(&become);
	struct program *p = program(child, 1), *now = program_get(p);
	struct deadline a = {.due = post};
	struct program_end of_a;

	program_end_await(&of_a, p, &a);
	deadline_set(v.deadlines, &a, clock_ms() + HOUR);
	ck_assert_int_eq(write(become, "", 1), 1);
	while (now == p) {
		program_put(now);
		now = program(child, 1);
	}
	ck_assert_int_ne(sem_trywait(&called), 0);
	kill_child(child);
	if (knows_ends())
		sem_wait(&called);
	program_end_clear(&of_a);
	program_put(p);
	program_put(now);
	close(become);
}
END_TEST

/* ---- descriptors ---- */

#define MANY (WATCHED_MAX + 12)

START_TEST(there_are_so_many_descriptors_and_no_more)
{
	int before = count_descriptors();
	struct program *referenced[MANY];
	pid_t children[MANY];

	for (int i = 0; i < MANY; i++) {
		children[i] = start(NULL);
		referenced[i] = program(children[i], 1);
	}
	ck_assert_int_le(count_descriptors() - before, WATCHED_MAX);
	for (int i = 0; i < MANY; i++)
		program_put(referenced[i]);
	ck_assert_int_le(count_descriptors() - before, WATCHED_MAX);
	for (int i = 0; i < MANY; i++)
		kill_child(children[i]);
}
END_TEST

START_TEST(those_that_nobody_holds_make_room)
{
	struct deadline a = {.due = post};
	struct program_end of_a;
	struct program *p;
	pid_t children[MANY];

	for (int i = 0; i < MANY; i++) {
		children[i] = start(NULL);
		program_put(program(children[i], 1));
	}
	p = program(children[MANY - 1], 1);
	program_end_await(&of_a, p, &a);
	program_put(p);
	deadline_set(v.deadlines, &a, clock_ms() + HOUR);
	for (int i = 0; i < MANY; i++)
		kill_child(children[i]);
	if (knows_ends())
		sem_wait(&called);
	program_end_clear(&of_a);
}
END_TEST

START_TEST(without_a_descriptor_time_is_all_there_is)
{
	int before = count_descriptors();
	pid_t child = start(NULL);
	struct deadline a = {.due = post};
	struct program_end of_a;
	struct program *p;

	programs_free(v.programs);
	v.programs = programs_new(v.deadlines, 0);
	ck_assert(programs_watch(v.programs));
	p = program(child, 1);
	ck_assert_int_eq(count_descriptors(), before);
	program_end_await(&of_a, p, &a);
	kill_child(child);
	deadline_set(v.deadlines, &a, 1);
	program_end_hasten(&of_a);
	sem_wait(&called);
	program_end_clear(&of_a);
	program_put(p);
}
END_TEST

/* ---- for people ---- */

START_TEST(those_that_are_referenced_are_shown)
{
	pid_t child = start(NULL), other = start(NULL);
	struct program *p = program(child, 1), *unknown = program(0, 2);
	struct buf out = BUF_INIT;
	char line[128];

	program_put(program(other, 1));
	programs_render(v.programs, &out);
	snprintf(line, sizeof(line), "program 0 2 -\nprogram %d 1 %s\n", (int)child,
		 p->process.name);
	ck_assert_uint_eq(out.size, strlen(line));
	ck_assert_mem_eq(out.data, line, out.size);
	buf_release(&out);
	program_put(p);
	program_put(unknown);
	kill_child(child);
	kill_child(other);
}
END_TEST

Suite *program_suite(void);
Suite *program_suite(void)
{
	Suite *s = suite_create("program");
	TCase *who = tcase_create("who"), *ends = tcase_create("end");
	TCase *descriptors = tcase_create("descriptors");

	tcase_add_checked_fixture(who, begin, end);
	tcase_add_test(who, there_is_one_for_all_requests_of_a_process);
	tcase_add_test(who, users_processes_and_commands_are_others);
	tcase_add_test(who, unknown_ones_are_one_for_each_user);
	tcase_add_test(who, many_ask_at_once);
	tcase_add_test(who, those_that_are_referenced_are_shown);
	suite_add_tcase(s, who);
	tcase_add_checked_fixture(ends, begin, end);
	tcase_add_test(ends, what_waits_for_its_end_is_due_then);
	tcase_add_test(ends, what_waits_no_longer_is_left_alone);
	tcase_add_test(ends, no_end_is_missed);
	tcase_add_test(ends, another_command_is_not_its_end);
	suite_add_tcase(s, ends);
	tcase_add_checked_fixture(descriptors, begin, end);
	tcase_add_test(descriptors, there_are_so_many_descriptors_and_no_more);
	tcase_add_test(descriptors, those_that_nobody_holds_make_room);
	tcase_add_test(descriptors, without_a_descriptor_time_is_all_there_is);
	suite_add_tcase(s, descriptors);
	return s;
}
