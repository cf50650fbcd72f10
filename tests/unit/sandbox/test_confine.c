/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "../../tools/intruder.h"
#include "../../tools/own_mounts.h"
#include "disk/dirfd.h"
#include "disk/process.h"
#include "sandbox/confine.h"
#include "sandbox/enclose.h"
#include "scratch.h"
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
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

static int in_child(int (*attempt)(void))
{
	pid_t child = fork();
	int status;

	if (child == 0)
		_exit(attempt());
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static struct confine_place places[CONFINE_PLACES_MAX];
static unsigned limits;

static void confine_to(const char *first, const char *second, bool writable)
{
	struct err err = {.code = ERR_NONE};

	places[0] =
		(struct confine_place){openat(scratch_root, first, O_RDONLY | O_CLOEXEC), writable};
	places[1].fd = second ? openat(scratch_root, second, O_PATH | O_CLOEXEC) : -1;
	places[1].writable = writable;
	places[2].fd = -1;
	if (!confine(places, CONFINE_PLACES_MAX, &limits, &err)) {
		fprintf(stderr, "%s\n", err.message);
		_exit(UNTRIED - 1);
	}
}

/*
 * Runs an attempt in a process that is confined to a place. Returns 0 or the errno of the attempt;
 * UNTRIED if this machine lacks the feature `what`. The attempt uses a descriptor of the scratch
 * folder, which no process confined to the place would have, so that it tests features other than
 * the tree.
 */
static int confined(unsigned what, bool writable, int (*attempt)(void))
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		confine_to("place", NULL, writable);
		if (fchdir(scratch_root) != 0)
			_exit(UNTRIED - 1);
		_exit((limits & what) == what ? attempt() : UNTRIED);
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

/* Tries to open a path that a process confined to a tree cannot see. */
static int try_unseen(const char *path)
{
	int error = try(path, O_RDONLY);

	return error == ENOENT && limits & CONFINED_TREE ? EACCES : error;
}

static int read_passwords(void)
{
	return try_unseen("/etc/passwd");
}

static int read_outside_by_link(void)
{
	return symlink("../other/file", "place/link") ? errno : try_unseen("place/link");
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

static int limit(pid_t process)
{
	const struct rlimit core = {0, 0};

	return RESULT(prlimit(process, RLIMIT_CORE, &core, NULL));
}

static int limit_parent(void)
{
	return limit(getppid());
}

static int limit_itself(void)
{
	return limit(0);
}

static int slow_parent(void)
{
	return RESULT(setpriority(PRIO_PROCESS, (id_t)getppid(), 1));
}

static int move_parent(void)
{
	cpu_set_t all;

	memset(&all, 0xff, sizeof(all));
	return RESULT(sched_setaffinity(getppid(), sizeof(all), &all));
}

START_TEST(calls_that_no_mount_needs_are_refused)
{
	ck_confined(CONFINED_CALLS, run_program, EPERM);
	ck_confined(CONFINED_CALLS, open_socket, EPERM);
	ck_confined(CONFINED_CALLS, mount_something, EPERM);
	ck_confined(CONFINED_CALLS, leave_namespace, EPERM);
	ck_confined(CONFINED_CALLS, end_parent, EPERM);
	ck_confined(CONFINED_CALLS, limit_parent, EPERM);
	ck_confined(CONFINED_CALLS, limit_itself, 0);
	ck_confined(CONFINED_CALLS, slow_parent, EPERM);
	ck_confined(CONFINED_CALLS, move_parent, EPERM);
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
	dup2(open("place", O_RDONLY), STDOUT_FILENO);
	close(STDIN_FILENO);
	close(STDERR_FILENO);
	if (!confine_descriptors(&err))
		return err.number;
	if (fcntl(9, F_GETFD) >= 0 || fcntl(3, F_GETFD) >= 0)
		return EEXIST;
	return fcntl(STDIN_FILENO, F_GETFD) || fcntl(STDERR_FILENO, F_GETFD) ||
	       openat(STDOUT_FILENO, "file", O_RDONLY) >= 0;
}

START_TEST(descriptors_are_the_standard_ones)
{
	ck_assert_int_eq(in_child(leave_descriptors), 0);
}
END_TEST

/*
 * Runs an attempt in a process that sees only the place, and perhaps a second one, of the scratch
 * folder.
 */

static char outside[sizeof(scratch_path) + 16];

static int only(const char *second, int (*attempt)(void))
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		snprintf(outside, sizeof(outside), "%s/other/file", scratch_path);
		confine_to("place", second, true);
		close(scratch_root);
		close(scratch_before);
		_exit(limits & CONFINED_TREE ? attempt() : UNTRIED);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void ck_only(const char *second, int (*attempt)(void))
{
	int result = only(second, attempt);

	if (result != UNTRIED)
		ck_assert_int_eq(result, 0);
}

static int intrude(void)
{
	struct intruder intruder = {.outside = outside, .other = getppid()};
	char done[128];

	if (symlinkat(outside, places[0].fd, "link"))
		return errno;
	intruder_changes(&intruder, places[0].fd, "link");
	intruder_tries(&intruder);
	intruder_tells(&intruder, done, sizeof(done));
	if (strcmp(done, "nothing") == 0)
		return 0;
	fprintf(stderr, "an intruder can: %s\n", done);
	return 1;
}

START_TEST(files_elsewhere_cannot_be_changed)
{
	struct stat before, after;

	ck_assert_int_eq(stat("other/file", &before), 0);
	ck_only(NULL, intrude);
	ck_assert_int_eq(stat("other/file", &after), 0);
	ck_assert_int_eq((int)before.st_mode, (int)after.st_mode);
	ck_assert_int_eq(before.st_ctim.tv_nsec, after.st_ctim.tv_nsec);
}
END_TEST

static int change(int folder, const char *name)
{
	const struct timespec times[2] = {{1, 0}, {1, 0}};
	char path[DIRFD_PROC_SIZE];

	if (fchmodat(folder, name, 0640, 0) || fchownat(folder, name, 1, 1, 0) ||
	    utimensat(folder, name, times, 0))
		return errno;
	if (dirfd_proc_path(folder, name, path, sizeof(path)))
		return EINVAL;
	return lsetxattr(path, "user.test", "x", 1, 0) && errno != EOPNOTSUPP ? errno : 0;
}

static int change_in_places(void)
{
	int error = change(places[0].fd, "file");

	return error ? error : change(places[1].fd, "file");
}

static int climb_from_second(void)
{
	struct stat at, above;

	return fstatat(places[1].fd, ".", &at, 0) || fstatat(places[1].fd, "..", &above, 0) ||
	       at.st_ino != above.st_ino;
}

START_TEST(files_of_the_places_can)
{
	mkdir("second", 0755);
	put("second/file", "inside");
	ck_only("second", change_in_places);
	ck_only("second", climb_from_second);
	ck_only("second", intrude);
}
END_TEST

static int settle(void)
{
	struct stat null;
	char line[8];
	int fd;

	if (chdir("/"))
		return errno;
	enclose_settle(true);
	if (fstat(STDIN_FILENO, &null) || null.st_rdev != makedev(1, 3))
		return ENOTTY;
	if (dirfd_proc_open("self/status", &fd) || read(fd, line, 5) != 5)
		return EIO;
	return memcmp(line, "Name:", 5) ? EINVAL : fstatat(places[0].fd, "file", &null, 0);
}

START_TEST(in_the_background_it_goes_on)
{
	ck_only(NULL, settle);
}
END_TEST

static int no_sysctl(void)
{
	return access("sys", F_OK) && access("self/root/proc", F_OK) ? 0 : EEXIST;
}

START_TEST(of_proc_there_are_processes_only)
{
	ck_only(NULL, no_sysctl);
}
END_TEST

/*
 * Checks that the caller's process and its end are visible, but that nothing can be done to the
 * process.
 */
static int know_others(void)
{
	struct process other;
	int fd = -1, error;

	if (enclose_proc() >= 0 && fchdir(enclose_proc()))
		return errno;
	process_of_thread(getppid(), &other);
	if (other.pid != getppid())
		return ESRCH;
	error = process_open(&other, &fd);
	if (error)
		return error == ENOSYS ? 0 : error;
	if (syscall(SYS_pidfd_send_signal, fd, 0, NULL, 0) == 0 || errno != EPERM)
		return EEXIST;
	if (syscall(SYS_pidfd_getfd, fd, 0, 0) >= 0 || errno != EPERM)
		return EEXIST;
	return 0;
}

START_TEST(other_processes_can_be_seen)
{
	ck_confined(CONFINED_CALLS | CONFINED_FILES, know_others, 0);
	ck_only(NULL, know_others);
}
END_TEST

/* ---- on a shared mount ---- */

static int turn[2]; /* pipes: for the confined process, and for the other one */

static void pass(int end)
{
	(void)!write(turn[end], "", 1);
}

static void await(int end)
{
	char byte;

	(void)!read(turn[end], &byte, 1);
}

/*
 * Looks around from a folder that was moved away meanwhile, and through a mount that was made
 * since.
 */
static int look_around(void)
{
	int folder = openat(places[0].fd, "folder", O_PATH), fd;

	pass(0);
	await(0);
	if (!(limits & CONFINED_NAMESPACE))
		return ENOTSUP;
	if (openat(folder, "..", O_PATH) >= 0)
		return EISDIR;
	fd = openat(places[0].fd, "later/file", O_RDONLY);
	return fd < 0 ? errno : intrude();
}

static bool move_and_mount(void)
{
	await(1);
	if (rename("shared/place/folder", "shared/folder") ||
	    mount("none", "shared/place/later", "tmpfs", 0, NULL))
		return false;
	put("shared/place/later/file", "later");
	pass(1);
	return true;
}

/*
 * Makes a mount namespace for the test with a shared mount in it. Returns false if that is not
 * possible.
 */
static bool share(void)
{
	return !unshare(CLONE_NEWNS) && own_mounts() && !mkdir("shared", 0755) &&
	       !mount("none", "shared", "tmpfs", 0, NULL) &&
	       !mount(NULL, "shared", NULL, MS_SHARED, NULL) && !mkdir("shared/place", 0755) &&
	       !mkdir("shared/place/folder", 0755) && !mkdir("shared/place/later", 0755) &&
	       !close(scratch_root) && (scratch_root = open(".", O_PATH | O_CLOEXEC)) >= 0;
}

/* Confines the other process, which must see only the place. */
static int from_outside(void)
{
	int status;
	pid_t child;

	if (CONFINE_SANITIZED || !share() || socketpair(AF_UNIX, SOCK_STREAM, 0, turn))
		return UNTRIED;
	child = fork();
	if (child == 0) {
		snprintf(outside, sizeof(outside), "%s/other/file", scratch_path);
		confine_to("shared/place", NULL, true);
		close(scratch_root);
		close(scratch_before);
		_exit(look_around());
	}
	if (child < 0 || !move_and_mount() || waitpid(child, &status, 0) < 0 || !WIFEXITED(status))
		return UNTRIED - 1;
	/* The confined process has ended, so the mount is no longer in use. */
	return umount("shared/place/later") ? errno : WEXITSTATUS(status);
}

START_TEST(mounts_that_come_later_are_seen_and_moved_folders_lead_nowhere)
{
	int result = in_child(from_outside);

	if (result != UNTRIED)
		ck_assert_int_eq(result, 0);
}
END_TEST

/* ---- the process that unmounts ---- */

static bool has_only(const char *field, const char *value)
{
	FILE *status = fopen("/proc/self/status", "r");
	char line[256];
	bool found = false;

	while (status && fgets(line, sizeof(line), status))
		found |= strncmp(line, field, strlen(field)) == 0 && strstr(line, value);
	if (status)
		fclose(status);
	return found;
}

static int unmount(void)
{
	struct err err = {.code = ERR_NONE};

	if (unshare(CLONE_NEWNS) || !own_mounts() || mount("none", "place", "tmpfs", 0, NULL))
		return UNTRIED;
	if (!confine_unmounter(&err))
		return UNTRIED - 1;
	if (umount2("place", MNT_DETACH))
		return errno;
	/* the bits of SYS_ADMIN and DAC_READ_SEARCH */
	if (!has_only("CapPrm:", "0000000000200004") || !has_only("CapEff:", "0000000000200004"))
		return EINVAL;
	if (run_program() != EPERM || mount_something() != EPERM || limit_parent() != EPERM)
		return EEXIST;
	return give_away() == EPERM ? 0 : EISDIR;
}

START_TEST(who_unmounts_can_do_that)
{
	int result = in_child(unmount);

	if (result != UNTRIED)
		ck_assert_int_eq(result, 0);
}
END_TEST

START_TEST(what_holds_is_told)
{
	struct buf out = BUF_INIT;

	confine_describe(0, &out);
	buf_char(&out, '|');
	confine_describe(CONFINED_FILES, &out);
	buf_char(&out, '|');
	confine_describe(CONFINED_CALLS | CONFINED_PRIVILEGES | CONFINED_CORE | CONFINED_NAMESPACE,
			 &out);
	buf_char(&out, '\0');
	ck_assert_str_eq((const char *)out.data, "no|files|calls privileges core namespace");
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
	tcase_add_test(tc, files_elsewhere_cannot_be_changed);
	tcase_add_test(tc, files_of_the_places_can);
	tcase_add_test(tc, in_the_background_it_goes_on);
	tcase_add_test(tc, of_proc_there_are_processes_only);
	tcase_add_test(tc, other_processes_can_be_seen);
	tcase_add_test(tc, mounts_that_come_later_are_seen_and_moved_folders_lead_nowhere);
	tcase_add_test(tc, who_unmounts_can_do_that);
	tcase_add_test(tc, what_holds_is_told);
	suite_add_tcase(s, tc);
	return s;
}
