/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "disk/state.h"
#include "scratch.h"
#include <pthread.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/wait.h>

/* source/ is SOURCE; out/ is a folder outside of it that must never be touched. */
static int source;

static void begin(void)
{
	scratch_begin();
	ck_assert_int_eq(mkdir("source", 0755), 0);
	ck_assert_int_eq(mkdir("source/sub", 0755), 0);
	ck_assert_int_eq(mkdir("out", 0755), 0);
	source = open("source", O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static void end(void)
{
	close(source);
	scratch_end();
}

static struct state *new_state(const char *dir)
{
	struct err err = {0};
	struct state *s = state_new(source, dir, false, &err);

	ck_assert_msg(s, "%s", err.message);
	state_clean(s, NULL);
	return s;
}

static int make(struct state *s, enum state_area area, const char *path)
{
	int fd, error = state_folder(s, area, path, true, &fd);

	if (!error)
		close(fd);
	return error;
}

START_TEST(nothing_is_made_before_it_is_needed)
{
	struct state *s = new_state(NULL);
	struct stat st = stat_of("source/sub");
	int fd;

	ck_assert_int_eq(state_writable(s), 0);
	ck_assert(!state_is(s, &st));
	ck_assert_int_eq(state_folder(s, STATE_UPPER, "a", false, &fd), ENOENT);
	ck_assert_int_eq(fd, -1);
	state_free(s);
	ck_assert_int_eq(count_entries("source"), 1);
}
END_TEST

START_TEST(folders_mirror_paths)
{
	struct state *s = new_state(NULL);
	struct stat st;
	int fd;

	ck_assert_int_eq(state_folder(s, STATE_UPPER, "sub/a.canm/walk", true, &fd), 0);
	ck_assert_int_eq(fstat(fd, &st), 0);
	close(fd);
	ck_assert_uint_eq(st.st_ino, stat_of("source/.animfs/extra/sub/a.canm/walk").st_ino);
	ck_assert_uint_eq(st.st_mode & 07777, 0700);
	ck_assert_int_eq(make(s, STATE_REJECTED, "sub"), 0);
	ck_assert_int_eq(make(s, STATE_HISTORY, ""), 0);
	ck_assert(is_there("source/.animfs/rejected/sub"));
	ck_assert(is_there("source/.animfs/history"));
	ck_assert_int_gt(stat_of("source/.animfs/README").st_size, 100);
	ck_assert_uint_eq(stat_of("source/.animfs").st_mode & 07777, 0700);
	ck_assert_int_eq(state_folder(s, STATE_UPPER, "sub/a.canm", false, &fd), 0);
	close(fd);
	ck_assert_int_eq(state_folder(s, STATE_HISTORY, "sub/a.canm", false, &fd), ENOENT);
	state_free(s);
}
END_TEST

START_TEST(names_are_stored_as_any_filesystem_takes_them)
{
	struct state *s = new_state(NULL);
	char name[NAME_MAX + 1];
	int fd;

	ck_assert_int_eq(make(s, STATE_UPPER, "a?.canm/w*. "), 0);
	ck_assert(is_there("source/.animfs/extra/a%3F.canm/w%2A.%20"));
	ck_assert_int_eq(state_folder(s, STATE_UPPER, "a?.canm/w*. ", false, &fd), 0);
	close(fd);
	ck_assert_int_eq(state_rename(s, "a?.canm", "b|.canm"), 0);
	ck_assert(is_there("source/.animfs/extra/b%7C.canm/w%2A.%20"));
	ck_assert_int_eq(make(s, STATE_UPPER, "a/../b"), EINVAL);
	for (size_t i = 0; i < NAME_MAX; i += 3)
		memcpy(name + i, "%3F", 3); /* this is the stored form of another name */
	name[NAME_MAX] = '\0';
	ck_assert_int_eq(make(s, STATE_UPPER, name), ENAMETOOLONG);
	ck_assert_int_eq(state_folder(s, STATE_UPPER, name, false, &fd), ENOENT);
	state_free(s);
}
END_TEST

START_TEST(the_directory_knows_itself)
{
	struct state *s = new_state(NULL);
	struct stat st;

	ck_assert_int_eq(make(s, STATE_UPPER, ""), 0);
	st = stat_of("source/.animfs");
	ck_assert(state_is(s, &st));
	st = stat_of("source/.animfs/extra");
	ck_assert(!state_is(s, &st));
	st = stat_of("source");
	ck_assert(!state_is(s, &st));
	state_free(s);
}
END_TEST

/* Reads the only entry in mounts/: its id, and its list with '|' for each NUL. */
static void listed(char id[64], char *text, size_t size)
{
	DIR *dir = opendir("source/.animfs/mounts");
	char path[128];
	struct dirent *entry;
	size_t got;
	FILE *f;

	id[0] = '\0';
	while ((entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		ck_assert_str_eq(id, "");
		snprintf(id, 64, "%.63s", entry->d_name);
	}
	closedir(dir);
	snprintf(path, sizeof(path), "source/.animfs/mounts/%s", id);
	f = fopen(path, "re");
	got = fread(text, 1, size - 1, f);
	text[got] = '\0';
	for (size_t i = 0; i < got; i++)
		text[i] = text[i] ? text[i] : '|';
	fclose(f);
}

START_TEST(a_removed_directory_is_made_again)
{
	struct state *s = new_state(NULL);
	char name[STATE_TEMPORARY_SIZE], id[64], text[64];

	ck_assert_int_eq(state_temporary(s, "sub", name, sizeof(name)), 0);
	ck_locks(state_lock(s));
	state_unlock(s);
	remove_all("source/.animfs");
	ck_locks(state_lock(s));
	ck_assert(is_there("source/.animfs/lock"));
	state_unlock(s);
	ck_assert_int_eq(state_temporary(s, "sub", name, sizeof(name)), 0);
	listed(id, text, sizeof(text));
	ck_assert_str_eq(text, "sub|");
	state_temporary_gone(s, "sub");
	state_temporary_gone(s, "sub");
	state_free(s);
	ck_assert_int_eq(count_entries("source/.animfs/mounts"), 0);
}
END_TEST

START_TEST(nothing_is_made_outside)
{
	struct state *s;

	ck_assert_int_eq(symlink("../out", "source/.animfs"), 0);
	s = new_state(NULL);
	ck_assert_int_eq(state_writable(s), ENOTDIR);
	ck_assert_int_eq(make(s, STATE_UPPER, "a"), ENOTDIR);
	ck_assert_int_eq(state_lock(s), ENOTDIR);
	ck_assert_int_eq(unlink("source/.animfs"), 0);
	ck_assert_int_eq(make(s, STATE_UPPER, ""), 0);
	ck_assert_int_eq(symlink("../../../out", "source/.animfs/extra/link"), 0);
	ck_assert_int_eq(symlink("../../out/lock", "source/.animfs/lock"), 0);
	ck_assert_int_eq(symlink("../../out", "source/.animfs/mounts"), 0);
	ck_assert_int_eq(make(s, STATE_UPPER, "link/a"), ENOTDIR);
	ck_assert_int_eq(make(s, STATE_UPPER, "../../../out/a"), EINVAL);
	ck_assert_int_eq(state_lock(s), ELOOP);
	ck_assert_int_eq(
		state_temporary(s, "", (char[STATE_TEMPORARY_SIZE]){0}, STATE_TEMPORARY_SIZE),
		ENOTDIR);
	state_free(s);
	ck_assert_int_eq(count_entries("out"), 0);
}
END_TEST

START_TEST(another_directory_can_be_given)
{
	static const char *const given[] = {"out/made", "out/made/", "out/link"};

	ck_assert_int_eq(symlink("made", "out/link"), 0);
	for (size_t i = 0; i < ARRAY_SIZE(given); i++) {
		struct state *s = new_state(given[i]);
		struct stat st;

		ck_assert_int_eq(state_writable(s), 0);
		/* a daemon runs in another directory than the one that it was started in */
		ck_assert_int_eq(chdir("/"), 0);
		ck_assert_int_eq(make(s, STATE_UPPER, "a"), 0);
		ck_assert_int_eq(chdir(scratch_path), 0);
		st = stat_of("out/made");
		ck_assert(state_is(s, &st));
		state_free(s);
		ck_assert(is_there("out/made/extra/a"));
	}
	ck_assert_int_eq(count_entries("source"), 1);
}
END_TEST

START_TEST(another_directory_must_be_one)
{
	static const struct {
		const char *dir;
		int error;
	} refused[] = {
		{"", EINVAL},          {"/", EINVAL},          {"file", ENOTDIR},
		{"none/made", ENOENT}, {"file/made", ENOTDIR},
	};

	put("file", "");
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		struct err err = {0};

		ck_assert_ptr_null(state_new(source, refused[i].dir, false, &err));
		ck_assert_int_eq(err.code, ERR_SYSTEM);
		ck_assert_msg(err.number == refused[i].error, "%s: %s", refused[i].dir,
			      err.message);
	}
}
END_TEST

START_TEST(a_read_only_mount_makes_nothing)
{
	struct state *s = new_state(NULL);
	char name[STATE_TEMPORARY_SIZE];
	struct err err = {0};
	int fd;

	ck_assert_int_eq(make(s, STATE_UPPER, "a"), 0);
	state_free(s);
	s = state_new(source, NULL, true, &err);
	ck_assert_int_eq(state_writable(s), EROFS);
	ck_assert_int_eq(make(s, STATE_UPPER, "b"), EROFS);
	ck_assert_int_eq(state_lock(s), EROFS);
	ck_assert_int_eq(state_temporary(s, "", name, sizeof(name)), EROFS);
	ck_assert_int_eq(state_folder(s, STATE_UPPER, "a", false, &fd), 0);
	close(fd);
	state_free(s);
	ck_assert_int_eq(count_entries("source/.animfs"), 2); /* README, and one other entry */
}
END_TEST

static void try_in_a_closed_source(void)
{
	struct state *s = new_state(NULL);
	char name[STATE_TEMPORARY_SIZE];

	ck_assert_int_eq(state_writable(s), EACCES);
	ck_assert_int_eq(make(s, STATE_UPPER, "a"), EACCES);
	ck_assert_int_eq(state_lock(s), EACCES);
	ck_assert_int_eq(state_temporary(s, "", name, sizeof(name)), EACCES);
	state_free(s);
}

START_TEST(a_source_that_cannot_be_written_is_no_error)
{
	pid_t child;
	int status;

	ck_assert_int_eq(chmod(".", 0755), 0);
	ck_assert_int_eq(chmod("source", 0555), 0);
	child = fork();
	if (child == 0) {
		ck_assert(geteuid() != 0 || (!setegid(65534) && !seteuid(65534)));
		try_in_a_closed_source();
		_exit(0);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	ck_assert_int_eq(chmod("source", 0755), 0);
	ck_assert_int_eq(count_entries("source"), 1);
}
END_TEST

#define ROUNDS 200

/* Increments a count not atomically: without the lock, some increments would be lost. */
static void *count_under_lock(void *state)
{
	for (int i = 0; i < ROUNDS; i++) {
		int count = 0;
		FILE *f;

		ck_locks(state_lock(state));
		f = fopen("count", "r+e");
		if (fscanf(f, "%d", &count) != 1)
			count = -1000000;
		rewind(f);
		fprintf(f, "%d", count + 1);
		fclose(f);
		state_unlock(state);
	}
	return NULL;
}

static void count_in_two_threads(void)
{
	struct state *s = new_state(NULL);
	pthread_t thread;

	ck_assert_int_eq(pthread_create(&thread, NULL, count_under_lock, s), 0);
	count_under_lock(s);
	pthread_join(thread, NULL);
	state_free(s);
}

START_TEST(the_lock_holds_between_threads_and_processes)
{
	char expected[16];
	pid_t child;
	int status;

	put("count", "0");
	child = fork();
	if (child == 0) {
		count_in_two_threads();
		_exit(0);
	}
	count_in_two_threads();
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	snprintf(expected, sizeof(expected), "%d", 4 * ROUNDS);
	ck_text("count", expected);
}
END_TEST

START_TEST(temporaries_are_listed_before_they_exist)
{
	struct state *s = new_state(NULL);
	char a[STATE_TEMPORARY_SIZE], b[STATE_TEMPORARY_SIZE], expected[128];
	char id[64], text[64];

	ck_assert_int_eq(state_temporary(s, "sub", a, sizeof(a)), 0);
	listed(id, text, sizeof(text));
	ck_assert_str_eq(text, "sub|");
	snprintf(expected, sizeof(expected), ".animfs-%s-%ld-0.tmp", id, (long)getpid());
	ck_assert_str_eq(a, expected);
	ck_assert_int_eq(state_temporary(s, "", b, sizeof(b)), 0);
	ck_assert_str_ne(a, b);
	ck_assert_int_eq(state_temporary(s, "sub", b, sizeof(b)), 0);
	listed(id, text, sizeof(text));
	ck_assert_str_eq(text, "sub||");
	state_temporary_gone(s, "");
	state_temporary_gone(s, "sub");
	listed(id, text, sizeof(text));
	ck_assert_str_eq(text, "sub||"); /* one of the two temporaries is still there */
	state_temporary_gone(s, "sub");
	ck_assert_int_eq(state_temporary(s, "sub", b, sizeof(b)), 0);
	listed(id, text, sizeof(text));
	ck_assert_str_eq(text, "sub||"); /* each folder is listed once */
	state_temporary_gone(s, "sub");
	state_free(s);
	ck_assert_int_eq(count_entries("source/.animfs/mounts"), 0);
}
END_TEST

START_TEST(a_name_needs_room)
{
	struct state *s = new_state(NULL);
	char name[30];

	ck_assert_int_eq(state_temporary(s, "sub", name, sizeof(name)), ENAMETOOLONG);
	state_free(s);
	ck_assert_int_eq(count_entries("source/.animfs/mounts"), 0);
}
END_TEST

START_TEST(a_file_is_put_whole_or_not_at_all)
{
	struct state *s = new_state(NULL);
	int upper, sub;

	ck_assert_int_eq(state_folder(s, STATE_UPPER, "a", true, &upper), 0);
	ck_assert_int_eq(state_put(s, upper, NULL, "x", 0644, bytes_of("one"), 0), 0);
	ck_assert_int_eq(state_put(s, upper, NULL, "x", 0644, bytes_of("2"), STATE_PUT_NEW),
			 EEXIST);
	ck_text("source/.animfs/extra/a/x", "one");
	ck_assert_int_eq(state_put(s, upper, NULL, "x", 0644, bytes_of("two"), STATE_PUT_SYNC), 0);
	ck_text("source/.animfs/extra/a/x", "two");
	ck_assert_int_eq(count_entries("source/.animfs/extra/a"), 1);
	ck_assert_int_eq(count_entries("source/.animfs/partial"), 0);

	sub = openat(source, "sub", O_PATH | O_DIRECTORY | O_CLOEXEC);
	ck_assert_int_eq(state_put(s, sub, "sub", "y", 0644, bytes_of("three"), 0), 0);
	ck_text("source/sub/y", "three");
	ck_assert_int_eq(count_entries("source/sub"), 1);
	close(sub);
	close(upper);
	state_free(s);
	ck_assert_int_eq(count_entries("source/.animfs/mounts"), 0);
}
END_TEST

/*
 * Starts a mount that has three temporaries, reports when it is ready, and runs until it is killed.
 */
static pid_t start_mount(const char *folder)
{
	char name[STATE_TEMPORARY_SIZE], path[256];
	int ends[2], partial;
	pid_t child;

	ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
	child = fork();
	if (child == 0) {
		struct state *s = new_state(NULL);

		state_temporary(s, "", name, sizeof(name));
		snprintf(path, sizeof(path), "source/%s", name);
		put(path, "half");
		state_temporary(s, folder, name, sizeof(name));
		snprintf(path, sizeof(path), "source/%s/%s", folder, name);
		put(path, "half");
		state_partial(s, &partial, name, sizeof(name));
		snprintf(path, sizeof(path), "source/.animfs/partial/%s", name);
		put(path, "half");
		ck_assert_int_eq(write(ends[1], "!", 1), 1);
		for (;;)
			pause();
	}
	ck_assert_int_eq(read(ends[0], name, 1), 1);
	close(ends[0]);
	close(ends[1]);
	return child;
}

static void kill_mount(pid_t child)
{
	int status;

	ck_assert_int_eq(kill(child, SIGKILL), 0);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
}

START_TEST(the_next_mount_cleans_up_after_a_killed_one)
{
	pid_t killed, living;

	ck_assert_int_eq(mkdir("source/a\nb", 0755), 0);
	put("source/sub/.animfs-0123-1-0.tmp", "of nobody that is listed");
	put("source/sub/file", "");
	living = start_mount("sub");
	killed = start_mount("a\nb");
	ck_assert_int_eq(count_entries("source/.animfs/mounts"), 2);

	state_free(new_state(NULL));
	/* sub, a\nb and .animfs; the two mounts are still alive */
	ck_assert_int_eq(count_entries("source"), 3 + 2);
	ck_assert_int_eq(count_entries("source/.animfs/mounts"), 2);
	ck_assert_int_eq(count_entries("source/.animfs/partial"), 2);

	kill_mount(killed);
	state_free(new_state(NULL));
	ck_assert_int_eq(count_entries("source"), 3 + 1);
	ck_assert_int_eq(count_entries("source/a\nb"), 0);
	ck_assert_int_eq(count_entries("source/sub"), 3);
	ck_assert_int_eq(count_entries("source/.animfs/mounts"), 1);
	ck_assert_int_eq(count_entries("source/.animfs/partial"), 1);

	kill_mount(living);
	state_free(new_state(NULL));
	ck_assert_int_eq(count_entries("source"), 3);
	ck_assert_int_eq(count_entries("source/sub"), 2);
	ck_assert_int_eq(count_entries("source/.animfs/mounts"), 0);
	ck_assert_int_eq(count_entries("source/.animfs/partial"), 0);
}
END_TEST

/* Leaves what a mount leaves that is killed while it moves a file to that name. */
static void leave_on_its_way(const char *new_name)
{
	char name[NAME_MAX + 1], path[512];
	pid_t child = fork();
	int status;

	if (child == 0) {
		struct state *s = new_state(NULL);

		ck_assert_int_eq(state_on_its_way(s, "sub", new_name, name), 0);
		snprintf(path, sizeof(path), "source/sub/%s", name);
		put(path, "whole");
		_exit(0);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
}

START_TEST(what_was_on_its_way_to_a_name_gets_it)
{
	leave_on_its_way("New.canm");
	leave_on_its_way("New.tmp");
	state_free(new_state(NULL));
	ck_text("source/sub/New.canm", "whole");
	ck_text("source/sub/New.tmp", "whole");
	ck_assert_int_eq(count_entries("source/sub"), 2);
	ck_assert_int_eq(count_entries("source/.animfs/mounts"), 0);

	put("source/sub/Other.canm", "another's");
	leave_on_its_way("Other.canm");
	state_free(new_state(NULL));
	ck_text("source/sub/Other.canm", "another's");
	ck_text("source/sub/Other.canm.~1~", "whole");
	ck_assert_int_eq(count_entries("source/sub"), 4);
	ck_assert_int_eq(count_entries("source/.animfs/mounts"), 0);
}
END_TEST

START_TEST(what_was_on_its_way_to_a_long_name_stays)
{
	char name[NAME_MAX + 1] = "";

	memset(name, 'a', NAME_MAX);
	leave_on_its_way(name);
	state_free(new_state(NULL));
	ck_assert_int_eq(count_entries("source/sub"), 1);
	ck_assert_int_eq(count_entries("source/.animfs/mounts"), 0);
}
END_TEST

START_TEST(a_read_only_mount_cleans_nothing)
{
	struct err err = {0};

	kill_mount(start_mount("sub"));
	state_free(state_new(source, NULL, true, &err));
	ck_assert_int_eq(count_entries("source/sub"), 1);
	ck_assert_int_eq(count_entries("source/.animfs/mounts"), 1);
}
END_TEST

static void put_bytes(const char *path, const char *bytes, size_t size)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	ck_assert_int_eq(write(fd, bytes, size), (ssize_t)size);
	close(fd);
}

static int rescue_later(struct state *s, const char *folder, int dir, const char *name)
{
	(void)s;
	(void)dir;
	ck_assert_str_eq(folder, "sub");
	ck_assert_str_eq(name, ".animfs-00-1-0.tmp");
	return EBUSY;
}

START_TEST(what_cannot_be_rescued_now_stays_for_the_next_mount)
{
	struct state *s = new_state(NULL);

	ck_locks(state_lock(s));
	state_unlock(s);
	ck_assert_int_eq(mkdir("source/.animfs/mounts", 0700), 0);
	put("source/sub/.animfs-00-1-0.tmp", "a version");
	put_bytes("source/.animfs/mounts/00", "sub", 4);

	state_clean(s, rescue_later);
	ck_text("source/sub/.animfs-00-1-0.tmp", "a version");
	ck_assert(is_there("source/.animfs/mounts/00"));
	state_clean(s, NULL);
	ck_assert(!is_there("source/sub/.animfs-00-1-0.tmp"));
	ck_assert(!is_there("source/.animfs/mounts/00"));
	state_free(s);
}
END_TEST

START_TEST(cleaning_never_leaves_the_source)
{
	static const char forged[] = "../out\0/\0link\0sub/../../out\0none\0\0sub\0half";
	struct state *s = new_state(NULL);

	ck_locks(state_lock(s));
	state_unlock(s);
	state_free(s);
	ck_assert_int_eq(mkdir("source/.animfs/mounts", 0700), 0);
	ck_assert_int_eq(symlink("../out", "source/link"), 0);
	put("out/.animfs-00-1-0.tmp", "not ours");
	put("source/.animfs-00-1-0.tmp", "");
	put("source/sub/.animfs-00-1-0.tmp", "");
	put("source/sub/.animfs-001-1-0.tmp", "");
	put("source/sub/.animfs-00-1-0.txt", "");
	put_bytes("source/.animfs/mounts/00", forged, sizeof(forged) - 1);

	state_free(new_state(NULL));
	ck_text("out/.animfs-00-1-0.tmp", "not ours");
	ck_assert(!is_there("source/.animfs/mounts/00"));
	ck_assert(!is_there("source/.animfs-00-1-0.tmp"));
	ck_assert(!is_there("source/sub/.animfs-00-1-0.tmp"));
	ck_assert(is_there("source/sub/.animfs-001-1-0.tmp"));
	ck_assert(is_there("source/sub/.animfs-00-1-0.txt"));
}
END_TEST

/* flock is per open file: a second open file of this process counts as another process's. */
START_TEST(who_does_not_wait_is_told_that_another_process_has_the_lock)
{
	struct state *s = new_state(NULL);
	int other;

	ck_locks(state_trylock(s));
	state_unlock(s);
	ck_assert_int_eq(state_wait(s, 0), 0);
	other = open("source/.animfs/lock", O_RDWR | O_CLOEXEC);
	ck_assert_int_ge(other, 0);
	ck_assert_int_eq(flock(other, LOCK_EX), 0);
	ck_assert_int_eq(state_trylock(s), EBUSY);
	ck_assert_int_eq(state_wait(s, 0), EBUSY);
	ck_assert_int_eq(state_wait(s, 20), EBUSY);
	ck_assert_int_eq(flock(other, LOCK_UN), 0);
	ck_assert_int_eq(state_wait(s, 0), 0);
	/* the call only waited, and took no lock */
	ck_assert_int_eq(flock(other, LOCK_EX | LOCK_NB), 0);
	ck_assert_int_eq(close(other), 0);
	ck_locks(state_trylock(s));
	state_unlock(s);
	state_free(s);
}
END_TEST

Suite *state_suite(void);
Suite *state_suite(void)
{
	Suite *s = suite_create("state");
	TCase *tc = tcase_create("state");

	tcase_add_checked_fixture(tc, begin, end);
	tcase_add_test(tc, nothing_is_made_before_it_is_needed);
	tcase_add_test(tc, folders_mirror_paths);
	tcase_add_test(tc, names_are_stored_as_any_filesystem_takes_them);
	tcase_add_test(tc, the_directory_knows_itself);
	tcase_add_test(tc, a_removed_directory_is_made_again);
	tcase_add_test(tc, nothing_is_made_outside);
	tcase_add_test(tc, another_directory_can_be_given);
	tcase_add_test(tc, another_directory_must_be_one);
	tcase_add_test(tc, a_read_only_mount_makes_nothing);
	tcase_add_test(tc, a_source_that_cannot_be_written_is_no_error);
	tcase_add_test(tc, the_lock_holds_between_threads_and_processes);
	tcase_add_test(tc, who_does_not_wait_is_told_that_another_process_has_the_lock);
	tcase_add_test(tc, temporaries_are_listed_before_they_exist);
	tcase_add_test(tc, a_name_needs_room);
	tcase_add_test(tc, a_file_is_put_whole_or_not_at_all);
	tcase_add_test(tc, the_next_mount_cleans_up_after_a_killed_one);
	tcase_add_test(tc, what_was_on_its_way_to_a_name_gets_it);
	tcase_add_test(tc, what_was_on_its_way_to_a_long_name_stays);
	tcase_add_test(tc, a_read_only_mount_cleans_nothing);
	tcase_add_test(tc, cleaning_never_leaves_the_source);
	tcase_add_test(tc, what_cannot_be_rescued_now_stays_for_the_next_mount);
	suite_add_tcase(s, tc);
	return s;
}
