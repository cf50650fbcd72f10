/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "confine.h"
#include "scratch.h"
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>

#define UNTRIED 255

static void begin(void)
{
	scratch_begin();
	mkdir("place", 0755);
	mkdir("place/folder", 0755);
	mkdir("other", 0755);
	put("place/file", "inside");
	put("other/file", "outside");
}

/* In a process that is confined to a place: 0 or the errno of the attempt; UNTRIED where `what`
 * does not hold on this machine. */
static int confined(unsigned what, bool writable, int (*attempt)(void))
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		struct confine_place place = {openat(scratch_root, "place", O_PATH | O_CLOEXEC),
					      writable};
		struct err err = {.code = ERR_NONE};
		unsigned held = 0;

		if (!confine(&place, 1, &held, &err)) {
			fprintf(stderr, "%s\n", err.message);
			_exit(UNTRIED - 1);
		}
		_exit((held & what) == what ? attempt() : UNTRIED);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void ck_confined(unsigned what, int (*attempt)(void), int error)
{
	int result = confined(what, true, attempt);

	if (result != UNTRIED)
		ck_assert_int_eq(result, error);
}

static int try(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC, 0600);

	return fd < 0 ? errno : close(fd);
}

#define RESULT(call) ((call) < 0 ? errno : 0)

static int read_inside(void)
{
	return try("place/file", O_RDONLY);
}

static int write_inside(void)
{
	return try("place/folder/new", O_WRONLY | O_CREAT | O_EXCL);
}

static int truncate_inside(void)
{
	return RESULT(truncate("place/file", 2));
}

static int move_inside(void)
{
	return RESULT(rename("place/file", "place/folder/file"));
}

static int link_inside(void)
{
	return RESULT(symlink("file", "place/link"));
}

static int read_outside(void)
{
	return try("other/file", O_RDONLY);
}

static int read_passwords(void)
{
	return try("/etc/passwd", O_RDONLY);
}

static int read_outside_by_link(void)
{
	return symlink("../other/file", "place/link") ? errno : try("place/link", O_RDONLY);
}

static int write_outside(void)
{
	return try("other/new", O_WRONLY | O_CREAT);
}

static int truncate_outside(void)
{
	return RESULT(truncate("other/file", 0));
}

static int remove_outside(void)
{
	return RESULT(unlink("other/file"));
}

static int move_outside(void)
{
	return RESULT(rename("place/file", "other/moved"));
}

static int make_device(void)
{
	return RESULT(mknod("place/null", S_IFCHR | 0600, makedev(1, 3)));
}

START_TEST(files_of_the_place_can_be_used)
{
	ck_confined(CONFINED_FILES, read_inside, 0);
	ck_confined(CONFINED_FILES, write_inside, 0);
	ck_confined(CONFINED_FILES, truncate_inside, 0);
	ck_confined(CONFINED_FILES, link_inside, 0);
	ck_confined(CONFINED_FILES, move_inside, 0);
}
END_TEST

START_TEST(files_elsewhere_cannot)
{
	ck_confined(CONFINED_FILES, read_outside, EACCES);
	ck_confined(CONFINED_FILES, read_passwords, EACCES);
	ck_confined(CONFINED_FILES, read_outside_by_link, EACCES);
	ck_confined(CONFINED_FILES, write_outside, EACCES);
	ck_confined(CONFINED_FILES, truncate_outside, EACCES);
	ck_confined(CONFINED_FILES, remove_outside, EACCES);
	ck_assert_int_ne(confined(CONFINED_FILES, true, move_outside), 0);
	ck_text("other/file", "outside");
	ck_text("place/file", "inside");
}
END_TEST

START_TEST(a_place_for_reading_is_not_written)
{
	int result = confined(CONFINED_FILES, false, read_inside);

	ck_assert(result == 0 || result == UNTRIED);
	result = confined(CONFINED_FILES, false, write_inside);
	ck_assert(result == EACCES || result == UNTRIED);
	result = confined(CONFINED_FILES, false, truncate_inside);
	ck_assert(result == EACCES || result == UNTRIED);
}
END_TEST

START_TEST(no_device_is_made)
{
	ck_confined(CONFINED_FILES, make_device, EACCES);
	ck_assert_int_ne(confined(CONFINED_CAPABILITIES, true, make_device), 0);
}
END_TEST

static int run_program(void)
{
	return RESULT(execl("/bin/true", "true", (char *)NULL));
}

static int open_socket(void)
{
	return RESULT(socket(AF_UNIX, SOCK_STREAM, 0));
}

static int mount_something(void)
{
	return RESULT(mount("none", "place", "tmpfs", 0, NULL));
}

static int leave_namespace(void)
{
	return RESULT(unshare(CLONE_NEWUSER));
}

static int end_parent(void)
{
	return RESULT(kill(getppid(), SIGKILL));
}

START_TEST(calls_that_no_mount_needs_are_refused)
{
	ck_confined(CONFINED_CALLS, run_program, EPERM);
	ck_confined(CONFINED_CALLS, open_socket, EPERM);
	ck_confined(CONFINED_CALLS, mount_something, EPERM);
	ck_confined(CONFINED_CALLS, leave_namespace, EPERM);
	ck_confined(CONFINED_CALLS, end_parent, EPERM);
}
END_TEST

static void *set(void *done)
{
	*(bool *)done = true;
	return NULL;
}

static int start_thread(void)
{
	bool ran = false;
	pthread_t thread;
	int error = pthread_create(&thread, NULL, set, &ran);

	if (!error)
		error = pthread_join(thread, NULL);
	return error ? error : ran ? 0 : EIO;
}

static int make_child(void)
{
	pid_t child = fork();
	int status;

	if (child == 0)
		_exit(read_outside());
	return child < 0 || waitpid(child, &status, 0) < 0 ? errno : WEXITSTATUS(status);
}

START_TEST(threads_can_be_started_and_children_are_confined)
{
	ck_confined(CONFINED_CALLS, start_thread, 0);
	ck_confined(CONFINED_FILES, make_child, EACCES);
}
END_TEST

static int give_away(void)
{
	return RESULT(chown("place/file", 65534, 65534));
}

static int change_root(void)
{
	return RESULT(setuid(65534));
}

START_TEST(of_roots_rights_those_to_files_stay)
{
	if (geteuid() != 0)
		return;
	ck_confined(CONFINED_CAPABILITIES, give_away, 0);
	ck_confined(CONFINED_CAPABILITIES, change_root, EPERM);
}
END_TEST

static int run_memory(void)
{
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return RESULT(mprotect(page, 4096, PROT_READ | PROT_EXEC));
}

static int core_size(void)
{
	struct rlimit core = {1, 1};

	return getrlimit(RLIMIT_CORE, &core) ? errno : (int)core.rlim_max;
}

START_TEST(no_memory_becomes_code_and_no_core_is_left)
{
	ck_confined(CONFINED_MEMORY, run_memory, EACCES);
	ck_confined(CONFINED_CORE, core_size, 0);
}
END_TEST

static int leave_descriptors(void)
{
	struct err err = {.code = ERR_NONE};

	dup2(open("place/file", O_RDONLY), 9);
	close(STDIN_FILENO);
	close(STDERR_FILENO);
	if (!confine_descriptors(&err))
		return err.number;
	if (fcntl(9, F_GETFD) >= 0 || fcntl(3, F_GETFD) >= 0)
		return EEXIST;
	return fcntl(STDIN_FILENO, F_GETFD) || fcntl(STDERR_FILENO, F_GETFD);
}

START_TEST(descriptors_are_the_standard_ones)
{
	ck_assert_int_eq(confined(0, true, leave_descriptors), 0);
}
END_TEST

START_TEST(what_holds_is_told)
{
	struct buf out = BUF_INIT;

	confine_tell(0, &out);
	buf_char(&out, '|');
	confine_tell(CONFINED_FILES, &out);
	buf_char(&out, '|');
	confine_tell(CONFINED_CALLS | CONFINED_PRIVILEGES | CONFINED_CORE, &out);
	buf_char(&out, '\0');
	ck_assert_str_eq((const char *)out.data, "no|files|calls privileges core");
	buf_release(&out);
}
END_TEST

Suite *confine_suite(void);
Suite *confine_suite(void)
{
	Suite *s = suite_create("confine");
	TCase *tc = tcase_create("confine");

	tcase_add_checked_fixture(tc, begin, scratch_end);
	tcase_add_test(tc, files_of_the_place_can_be_used);
	tcase_add_test(tc, files_elsewhere_cannot);
	tcase_add_test(tc, a_place_for_reading_is_not_written);
	tcase_add_test(tc, no_device_is_made);
	tcase_add_test(tc, calls_that_no_mount_needs_are_refused);
	tcase_add_test(tc, threads_can_be_started_and_children_are_confined);
	tcase_add_test(tc, of_roots_rights_those_to_files_stay);
	tcase_add_test(tc, no_memory_becomes_code_and_no_core_is_left);
	tcase_add_test(tc, descriptors_are_the_standard_ones);
	tcase_add_test(tc, what_holds_is_told);
	suite_add_tcase(s, tc);
	return s;
}
