/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "disk/process.h"

#include <check.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- the text ---- */

/* Parses a line of /proc/PID/stat with this name and these flags. */
static bool parse(const char *name, unsigned flags, struct process *out)
{
	char stat[512];

	snprintf(stat, sizeof(stat),
		 "1234 (%s) S 1 1234 1234 34816 -1 %u 150 0 2 0 18446744073709551615 3 4 5 20 0 1 "
		 "0 987654321012 10240000 512 18446744073709551615 0 0 0 0 0 0 0 0 0 0 0 0 17 1 0 "
		 "0 0 0 0 0 0 0 0 0 0 0 0\n",
		 name, flags);
	return process_parse(stat, out);
}

START_TEST(a_line_says_number_start_and_name)
{
	struct process p;

	ck_assert(parse("cp", 0x400000, &p));
	ck_assert_int_eq(p.pid, 1234);
	ck_assert_uint_eq(p.start, 987654321012);
	ck_assert_str_eq(p.name, "cp");
}
END_TEST

START_TEST(any_name_is_read)
{
	static const char *const names[] = {
		"", " ", "a b", "(", ")", "a) (b", ") R 1 2", "new\nline", "1 (x) S 2", "\xff\x80",
	};
	struct process p;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		ck_assert(parse(names[i], 0x400000, &p));
		ck_assert_str_eq(p.name, names[i]);
		ck_assert_uint_eq(p.start, 987654321012);
	}
}
END_TEST

START_TEST(a_kernel_thread_is_no_process)
{
	struct process p;

	ck_assert(!parse("kworker/0:1-events", 0x208040, &p));
	ck_assert_int_eq(p.pid, 0);
}
END_TEST

START_TEST(anything_else_is_no_process)
{
	static const char *const texts[] = {
		"",
		"1234",
		"1234 (cp",
		"1234 cp) S 1",
		"1234 )cp( S 1",
		"1234 (cp) S 1 2 3 4",
		"0 (cp) S 1 1 1 1 -1 0 0 0 0 0 0 0 0 0 0 0 0 0 7 0",
	};
	struct process p;

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		ck_assert(!process_parse(texts[i], &p));
		ck_assert_int_eq(p.pid, 0);
	}
}
END_TEST

START_TEST(number_start_and_name_tell_processes_apart)
{
	const struct process p = {1, 2, "a"}, same = {1, 2, "a"};
	const struct process others[] = {{3, 2, "a"}, {1, 3, "a"}, {1, 2, "b"}};

	ck_assert(process_same(&p, &same));
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		ck_assert(!process_same(&p, &others[i]));
}
END_TEST

/* ---- real ones ---- */

static void *find_own(void *out)
{
	ck_assert_int_ne(syscall(SYS_gettid), getpid());
	process_of_thread((pid_t)syscall(SYS_gettid), out);
	return NULL;
}

START_TEST(all_threads_are_of_one_process)
{
	struct process first, other;
	pthread_t thread;

	process_of_thread(getpid(), &first);
	ck_assert_int_eq(pthread_create(&thread, NULL, find_own, &other), 0);
	pthread_join(thread, NULL);
	ck_assert_int_eq(first.pid, getpid());
	ck_assert(process_same(&first, &other));
}
END_TEST

/* Starts a child with this name that runs until its standard input ends. */
static pid_t child_named(const char *name, int *end)
{
	int ready[2], ends[2];
	char byte;
	pid_t child;

	ck_assert(pipe(ready) == 0 && pipe(ends) == 0);
	child = fork();
	if (child == 0) {
		close(ends[1]);
		prctl(PR_SET_NAME, name);
		(void)!write(ready[1], "", 1);
		(void)!read(ends[0], &byte, 1);
		_exit(0);
	}
	ck_assert_int_eq(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	close(ready[1]);
	close(ends[0]);
	*end = ends[1];
	return child;
}

START_TEST(a_name_is_what_the_process_says)
{
	static const char *const names[] = {"a) (b\nc d", "Tgid:\t1", "\nTgid:\t1", "\\"};
	struct process p;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		int end;
		pid_t child = child_named(names[i], &end);

		process_of_thread(child, &p);
		ck_assert_int_eq(p.pid, child);
		ck_assert_str_eq(p.name, names[i]);
		close(end);
		waitpid(child, NULL, 0);
	}
}
END_TEST

START_TEST(its_end_can_be_waited_for)
{
	struct pollfd ended = {.events = POLLIN};
	struct process p;
	int end, error;
	pid_t child = child_named("child", &end);

	process_of_thread(child, &p);
	error = process_open(&p, &ended.fd);
	if (error != ENOSYS) {
		ck_assert_int_eq(error, 0);
		ck_assert_int_eq(poll(&ended, 1, 0), 0);
		close(end);
		ck_assert_int_eq(poll(&ended, 1, -1), 1);
		close(ended.fd);
	}
	waitpid(child, NULL, 0);
}
END_TEST

static enum process_end end_of_child(int with)
{
	struct pollfd ended = {.events = POLLIN};
	enum process_end how;
	struct process p;
	int end;
	pid_t child = child_named("child", &end);

	process_of_thread(child, &p);
	ck_assert_int_eq(process_open(&p, &ended.fd), 0);
	if (with)
		kill(child, with);
	close(end);
	ck_assert_int_eq(poll(&ended, 1, -1), 1);
	waitpid(child, NULL, 0);
	how = process_how_ended(ended.fd);
	close(ended.fd);
	return how;
}

/* If the kernel can report how one child ended, it can do so for the other. */
START_TEST(how_it_ended_can_be_asked)
{
	enum process_end exited, killed;
	struct process self;
	int fd;

	process_of_thread(getpid(), &self);
	if (process_open(&self, &fd) == ENOSYS)
		return;
	ck_assert_int_eq(process_how_ended(fd), PROCESS_UNKNOWN);
	close(fd);
	exited = end_of_child(0);
	killed = end_of_child(SIGKILL);
	ck_assert_int_eq(exited, killed == PROCESS_UNKNOWN ? PROCESS_UNKNOWN : PROCESS_EXITED);
	ck_assert_int_eq(killed, exited == PROCESS_UNKNOWN ? PROCESS_UNKNOWN : PROCESS_KILLED);
}
END_TEST

START_TEST(what_is_not_there_is_unknown)
{
	struct process p;
	pid_t child = fork();
	FILE *daemon = fopen("/proc/2/comm", "re");
	char name[16] = "";

	if (child == 0)
		_exit(0);
	waitpid(child, NULL, 0);
	process_of_thread(child, &p);
	ck_assert_int_eq(p.pid, 0);
	process_of_thread(0, &p);
	ck_assert_int_eq(p.pid, 0);
	process_of_thread(-1, &p);
	ck_assert_int_eq(p.pid, 0);
	if (daemon && fgets(name, sizeof(name), daemon) && strcmp(name, "kthreadd\n") == 0) {
		process_of_thread(2, &p);
		ck_assert_int_eq(p.pid, 0);
	}
	if (daemon)
		fclose(daemon);
}
END_TEST

Suite *process_suite(void);
Suite *process_suite(void)
{
	Suite *s = suite_create("process");
	TCase *text = tcase_create("text"), *real = tcase_create("real");

	tcase_add_test(text, a_line_says_number_start_and_name);
	tcase_add_test(text, any_name_is_read);
	tcase_add_test(text, a_kernel_thread_is_no_process);
	tcase_add_test(text, anything_else_is_no_process);
	tcase_add_test(text, number_start_and_name_tell_processes_apart);
	suite_add_tcase(s, text);
	tcase_add_test(real, all_threads_are_of_one_process);
	tcase_add_test(real, a_name_is_what_the_process_says);
	tcase_add_test(real, its_end_can_be_waited_for);
	tcase_add_test(real, how_it_ended_can_be_asked);
	tcase_add_test(real, what_is_not_there_is_unknown);
	suite_add_tcase(s, real);
	return s;
}
