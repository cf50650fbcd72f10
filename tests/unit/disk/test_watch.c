/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "disk/watch.h"
#include "scratch.h"
#include <linux/magic.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/inotify.h>
#include <sys/syscall.h>
#include <sys/vfs.h>

static long pretended; /* type of filesystem that statfs reports, unless 0 */

int fstatfs(int fd, struct statfs *fs)
{
	int result = (int)syscall(SYS_fstatfs, fd, fs);

	if (pretended)
		fs->f_type = (__typeof__(fs->f_type))pretended;
	return result;
}

static _Atomic bool no_memory; /* makes the next poll that waits fail with ENOMEM */

int poll(struct pollfd *fds, nfds_t count, int ms)
{
	const struct timespec limit = {ms / 1000, ms % 1000 * 1000000L};

	if (ms < 0 && no_memory) {
		no_memory = false;
		errno = ENOMEM;
		return -1;
	}
	return ppoll(fds, count, ms < 0 ? NULL : &limit, NULL);
}

/* The events received. Tests wait for an event without a time limit of their own: Check has one. */
struct heard {
	uint64_t cookie;
	uint32_t mask;
	char name[64]; /* name of the event; "" for NULL */
};

static struct heard heard[100000];
static size_t heard_count;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER;

static struct watch *w;

static void hear(void *closure, uint64_t cookie, const char *name, uint32_t mask)
{
	struct heard *h;

	ck_assert_ptr_eq(closure, &heard);
	pthread_mutex_lock(&mutex);
	if (heard_count < ARRAY_SIZE(heard)) {
		h = &heard[heard_count++];
		h->cookie = cookie;
		h->mask = mask;
		snprintf(h->name, sizeof(h->name), "%s", name ? name : "");
	}
	pthread_cond_broadcast(&more);
	pthread_mutex_unlock(&mutex);
}

static bool has_heard(uint64_t cookie, const char *name, uint32_t mask)
{
	for (size_t i = 0; i < heard_count; i++) {
		if (heard[i].cookie == cookie && heard[i].mask & mask &&
		    strcmp(heard[i].name, name) == 0)
			return true;
	}
	return false;
}

static void await(uint64_t cookie, const char *name, uint32_t mask)
{
	pthread_mutex_lock(&mutex);
	while (!has_heard(cookie, name, mask))
		pthread_cond_wait(&more, &mutex);
	pthread_mutex_unlock(&mutex);
}

static bool heard_until_now(uint64_t cookie, const char *name)
{
	bool found;

	pthread_mutex_lock(&mutex);
	found = has_heard(cookie, name, IN_ALL_EVENTS);
	pthread_mutex_unlock(&mutex);
	return found;
}

static bool heard_anything_for(uint64_t cookie)
{
	bool found = false;

	pthread_mutex_lock(&mutex);
	for (size_t i = 0; i < heard_count; i++)
		found |= heard[i].cookie == cookie;
	pthread_mutex_unlock(&mutex);
	return found;
}

static int add(const char *path, uint64_t cookie)
{
	int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int error = watch_add(w, fd, cookie);

	close(fd);
	return error;
}

static void begin(void)
{
	scratch_begin();
	pretended = 0;
	heard_count = 0;
	ck_assert_int_eq(mkdir("a", 0755), 0);
	ck_assert_int_eq(mkdir("b", 0755), 0);
	put("a/file", "");
	w = watch_new(hear, &heard);
	ck_assert_ptr_nonnull(w);
}

static void end(void)
{
	watch_free(w);
	scratch_end();
}

START_TEST(every_kind_of_change_is_heard)
{
	ck_assert_int_eq(add("a", 7), 0);
	put("a/new", "text");
	await(7, "new", IN_CREATE);
	await(7, "new", IN_MODIFY);
	await(7, "new", IN_CLOSE_WRITE);
	ck_assert_int_eq(chmod("a/file", 0600), 0);
	await(7, "file", IN_ATTRIB);
	ck_assert_int_eq(rename("a/new", "a/renamed"), 0);
	await(7, "new", IN_MOVED_FROM);
	await(7, "renamed", IN_MOVED_TO);
	ck_assert_int_eq(rename("a/renamed", "b/away"), 0);
	await(7, "renamed", IN_MOVED_FROM);
	ck_assert_int_eq(unlink("a/file"), 0);
	await(7, "file", IN_DELETE);
	ck_assert_int_eq(mkdir("a/folder", 0700), 0);
	await(7, "folder", IN_CREATE);
	ck_assert_int_eq(chmod("a", 0700), 0);
	await(7, "", IN_ATTRIB);
	ck_assert_int_eq(rename("a", "moved"), 0);
	await(7, "", IN_MOVE_SELF);
}
END_TEST

/* The watch must go on: otherwise its end would be unnoticed. */
START_TEST(a_shortage_of_memory_is_outlived)
{
	ck_assert_int_eq(watch_add(w, scratch_root, 7), 0);
	no_memory = true;
	put("first", "");
	await(7, "first", IN_CREATE);
	put("second", "");
	await(7, "second", IN_CREATE);
	ck_assert(!no_memory);
}
END_TEST

START_TEST(each_folder_has_its_cookie)
{
	ck_assert_int_eq(add("a", 1), 0);
	ck_assert_int_eq(add("b", UINT64_MAX), 0);
	put("b/x", "");
	await(UINT64_MAX, "x", IN_CLOSE_WRITE);
	ck_assert(!heard_anything_for(1));
}
END_TEST

START_TEST(one_folder_may_have_many_cookies)
{
	ck_assert_int_eq(add("a", 1), 0);
	ck_assert_int_eq(add("a", 2), 0);
	ck_assert_int_eq(add("a", 2), 0);
	put("a/x", "");
	await(1, "x", IN_CLOSE_WRITE);
	await(2, "x", IN_CLOSE_WRITE);
	watch_drop(w, 1);
	put("a/y", "");
	await(2, "y", IN_CLOSE_WRITE);
	ck_assert(!heard_until_now(1, "y"));
}
END_TEST

START_TEST(a_dropped_cookie_hears_nothing)
{
	ck_assert_int_eq(add("a", 1), 0);
	ck_assert_int_eq(add("b", 2), 0);
	watch_drop(w, 1);
	watch_drop(w, 1);
	watch_drop(w, 3);
	put("a/x", "");
	put("b/x", "");
	await(2, "x", IN_CLOSE_WRITE);
	ck_assert(!heard_anything_for(1));
	ck_assert_int_eq(add("a", 1), 0);
	put("a/y", "");
	await(1, "y", IN_CLOSE_WRITE);
}
END_TEST

START_TEST(a_cookie_moves_to_another_folder)
{
	ck_assert_int_eq(add("a", 1), 0);
	ck_assert_int_eq(add("b", 1), 0);
	put("a/x", "");
	put("b/y", "");
	await(1, "y", IN_CLOSE_WRITE);
	ck_assert(!heard_until_now(1, "x"));
}
END_TEST

START_TEST(a_removed_folder_says_so_and_is_forgotten)
{
	ck_assert_int_eq(add("b", 1), 0);
	ck_assert_int_eq(add("b", 2), 0);
	ck_assert_int_eq(rmdir("b"), 0);
	await(1, "", IN_DELETE_SELF);
	await(2, "", IN_DELETE_SELF);
	await(1, "", IN_IGNORED);
	await(2, "", IN_IGNORED);
	ck_assert_int_eq(mkdir("b", 0755), 0);
	ck_assert_int_eq(add("b", 1), 0);
	put("b/x", "");
	await(1, "x", IN_CLOSE_WRITE);
	watch_drop(w, 2);
}
END_TEST

START_TEST(many_folders_are_told_apart)
{
	char path[32];

	for (unsigned i = 0; i < 200; i++) {
		snprintf(path, sizeof(path), "a/%u", i);
		ck_assert_int_eq(mkdir(path, 0700), 0);
		ck_assert_int_eq(add(path, 1000 + i), 0);
	}
	for (unsigned i = 0; i < 200; i += 2)
		watch_drop(w, 1000 + i);
	for (unsigned i = 0; i < 200; i++) {
		snprintf(path, sizeof(path), "a/%u/f%u", i, i);
		put(path, "");
	}
	for (unsigned i = 0; i < 200; i++) {
		snprintf(path, sizeof(path), "f%u", i);
		if (i % 2)
			await(1000 + i, path, IN_CLOSE_WRITE);
		else
			ck_assert(!heard_anything_for(1000 + i));
	}
}
END_TEST

START_TEST(what_is_no_folder_is_refused)
{
	int fd = open("a/file", O_PATH | O_CLOEXEC);

	ck_assert_int_eq(watch_add(w, fd, 1), ENOTDIR);
	ck_assert_int_ne(watch_add(w, -1, 1), 0);
	close(fd);
}
END_TEST

START_TEST(filesystems_that_others_change_unnoticed_are_refused)
{
	static const uint32_t kinds[] = {
		NFS_SUPER_MAGIC,  SMB_SUPER_MAGIC, CIFS_SUPER_MAGIC,
		FUSE_SUPER_MAGIC, V9FS_MAGIC,      SMB2_SUPER_MAGIC,
	};

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		pretended = (long)kinds[i];
		ck_assert_int_eq(add("a", 1), EOPNOTSUPP);
	}
	pretended = OVERLAYFS_SUPER_MAGIC;
	ck_assert_int_eq(add("a", 1), 0);
}
END_TEST

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

static void hear_behind_the_gate(void *closure, uint64_t cookie, const char *name, uint32_t mask)
{
	pthread_mutex_lock(&gate);
	pthread_mutex_unlock(&gate);
	hear(closure, cookie, name, mask);
}

START_TEST(lost_events_are_told)
{
	long limit = 0;
	FILE *f = fopen("/proc/sys/fs/inotify/max_queued_events", "re");

	ck_assert_int_eq(fscanf(f, "%ld", &limit), 1);
	fclose(f);
	watch_free(w);
	w = watch_new(hear_behind_the_gate, &heard);
	ck_assert_int_eq(add("a", 1), 0);
	put("a/other", "");
	pthread_mutex_lock(&gate);
	/*
	 * Write the two files in turn: the kernel merges two equal events in a row. The thread's
	 * buffer has room, too.
	 */
	for (long i = 0; i < limit + 2000; i++)
		ck_assert_int_eq(chmod(i % 2 ? "a/file" : "a/other", 0600), 0);
	pthread_mutex_unlock(&gate);
	await(0, "", IN_Q_OVERFLOW);
}
END_TEST

static void drop_and_add(void *closure, uint64_t cookie, const char *name, uint32_t mask)
{
	if (mask & IN_CLOSE_WRITE && cookie == 1) {
		watch_drop(w, 1);
		ck_assert_int_eq(add("b", 2), 0);
	}
	hear(closure, cookie, name, mask);
}

START_TEST(a_call_may_add_and_drop)
{
	watch_free(w);
	w = watch_new(drop_and_add, &heard);
	ck_assert_int_eq(add("a", 1), 0);
	put("a/x", "");
	await(1, "x", IN_CLOSE_WRITE);
	put("b/y", "");
	await(2, "y", IN_CLOSE_WRITE);
}
END_TEST

static void *add_and_drop(void *first)
{
	for (uint64_t i = 0; i < 300; i++) {
		ck_assert_int_eq(add(i % 3 ? "a" : "b", (uintptr_t)first + i % 5), 0);
		watch_drop(w, (uintptr_t)first + i % 4);
	}
	return NULL;
}

START_TEST(threads_do_not_disturb_each_other)
{
	pthread_t thread;

	ck_assert_int_eq(pthread_create(&thread, NULL, add_and_drop, (void *)100), 0);
	for (int i = 0; i < 100; i++)
		put("a/x", "text");
	add_and_drop((void *)200);
	pthread_join(thread, NULL);
	ck_assert_int_eq(add("a", 1), 0);
	put("a/last", "");
	await(1, "last", IN_CLOSE_WRITE);
}
END_TEST

/*
 * A signal that the watch's thread received would not be pending in this thread, which blocks it.
 */
START_TEST(signals_are_left_to_the_program)
{
	sigset_t usr1, pending;

	ck_assert_int_eq(add("a", 1), 0);
	put("a/x", "");
	await(1, "x", IN_CLOSE_WRITE); /* wait for an event, so that the thread runs */
	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	ck_assert_int_eq(pthread_sigmask(SIG_BLOCK, &usr1, NULL), 0);
	ck_assert_int_eq(kill(getpid(), SIGUSR1), 0);
	ck_assert_int_eq(sigpending(&pending), 0);
	ck_assert_int_eq(sigismember(&pending, SIGUSR1), 1);
	ck_assert_int_eq(sigtimedwait(&usr1, NULL, &(struct timespec){0, 0}), SIGUSR1);
}
END_TEST

Suite *watch_suite(void);
Suite *watch_suite(void)
{
	Suite *s = suite_create("watch");
	TCase *tc = tcase_create("watch");

	tcase_add_checked_fixture(tc, begin, end);
	tcase_add_test(tc, every_kind_of_change_is_heard);
	tcase_add_test(tc, a_shortage_of_memory_is_outlived);
	tcase_add_test(tc, each_folder_has_its_cookie);
	tcase_add_test(tc, one_folder_may_have_many_cookies);
	tcase_add_test(tc, a_dropped_cookie_hears_nothing);
	tcase_add_test(tc, a_cookie_moves_to_another_folder);
	tcase_add_test(tc, a_removed_folder_says_so_and_is_forgotten);
	tcase_add_test(tc, many_folders_are_told_apart);
	tcase_add_test(tc, what_is_no_folder_is_refused);
	tcase_add_test(tc, filesystems_that_others_change_unnoticed_are_refused);
	tcase_add_test(tc, lost_events_are_told);
	tcase_add_test(tc, a_call_may_add_and_drop);
	tcase_add_test(tc, threads_do_not_disturb_each_other);
	tcase_add_test(tc, signals_are_left_to_the_program);
	suite_add_tcase(s, tc);
	return s;
}
