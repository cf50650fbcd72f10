/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unmounter.h"

#include "lowlevel.h"
#include "sandbox/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* Values of the byte that the serving process sends to the unmounter. */
enum { SERVING = 1, ENDED };

/*
 * Lets the unmounter notice the end of the serving process. Shared by both processes and held by
 * the main thread of the serving process; the kernel releases it as soon as that thread is killed
 * (EOWNERDEAD). The end of file on the pipe would come too late: another thread may wait in the
 * kernel for a reply that no thread can give any more, and keep the pipe open.
 */
static pthread_mutex_t *serving;

static int make_lock(void)
{
	pthread_mutexattr_t attr;
	int error;

	serving = mmap(NULL, sizeof(*serving), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		       -1, 0);
	if (serving == MAP_FAILED)
		return errno;
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	error = pthread_mutex_init(serving, &attr);
	pthread_mutexattr_destroy(&attr);
	return error;
}

/*
 * Detaches the unmounter from the serving process: it ignores signals that end the mount, since it
 * must not end first, and its standard streams become /dev/null and the pipe. There is no exec, so
 * all descriptors stay open: that of the connection, and those that keep filesystems from being
 * unmounted.
 */
static void stand_apart(int root, int from)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	signal(SIGHUP, SIG_IGN);
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	setsid();
	(void)!fchdir(root);
	prctl(PR_SET_NAME, "animfs-unmount");
	dup2(from, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	dup2(null, STDERR_FILENO);
}

/*
 * Returns the minor device number of a mount, which is also its number in /sys/fs/fuse/connections;
 * 0 on error. Sends no request to the mount's daemon.
 */
static unsigned mount_number(int dir, const char *path)
{
	const int flags = AT_EMPTY_PATH | AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT;
	struct statx st;

	return statx(dir, path, flags, STATX_TYPE, &st) == 0 ? st.stx_dev_minor : 0;
}

static bool is_connected(struct fuse_session *session)
{
	struct pollfd connection = {.fd = fuse_session_fd(session)};

	return poll(&connection, 1, 0) == 0;
}

/*
 * Opens the root of the mount: the descriptor refers to this mount, whatever is mounted at the path
 * later. Returns -1 if the mount was unmounted meanwhile. No other mount can have its number while
 * the connection lasts, so the connection is checked last.
 */
static int open_mount(struct fuse_session *session, const char *mountpoint, unsigned number)
{
	int mount = open(mountpoint, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (mount < 0 || (mount_number(mount, "") == number && is_connected(session)))
		return mount;
	close(mount);
	return -1;
}

static bool unmount(int mount, int flags)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", mount);
	return umount2(path, flags) == 0;
}

/*
 * Aborts the connection, so that requests that wait for a reply fail. Otherwise a request that the
 * serving process has not read any more keeps its locks in the kernel; a thread of that process
 * that notifies the kernel may wait for these locks, so that the process does not end.
 */
static void cut_off(int mount, unsigned number)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/sys/fs/fuse/connections/%u/abort", number);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	/*
	 * A forced unmount aborts the connection as well. The mount itself stays, since our
	 * descriptor keeps it busy.
	 */
	if (fd < 0 || write(fd, "1", 1) != 1)
		unmount(mount, MNT_FORCE);
}

/* Waits until the serving process has answered its last request, or is killed. */
static void await_end_of_serving(void)
{
	char byte = ENDED;

	while (read(STDIN_FILENO, &byte, 1) < 0 && errno == EINTR)
		;
	if (byte == SERVING)
		pthread_mutex_lock(serving);
}

/*
 * Unmounts the mount that was opened; at its path there may be another mount by now. If we may not
 * unmount, fuse_session_unmount does it by the path, through fusermount3. fuse_session_unmount does
 * nothing if the session's descriptor polls an error, as that of an aborted connection does; so
 * /dev/null takes its place.
 */
static void unmount_opened(struct fuse_session *session, int mount)
{
	bool refused;

	dup2(STDOUT_FILENO, fuse_session_fd(session));
	refused = !unmount(mount, MNT_DETACH) && errno != EINVAL;
	close(mount);
	if (refused)
		fuse_session_unmount(session);
}

/*
 * Waits for the end of serving, then unmounts. The unmounter has the connection open as well, and
 * so notices if another program unmounts: then another mount may be at the mountpoint.
 */
static _Noreturn void wait_and_unmount(struct fuse_session *session, const char *mountpoint,
				       int root, int from)
{
	unsigned number = mount_number(AT_FDCWD, mountpoint);
	struct err err = {.code = ERR_NONE};
	int mount;

	if (!confine_unmounter(&err))
		fprintf(stderr, "animfs: warning: the unmounter is not confined: %s\n",
			err.message);
	stand_apart(root, from);
	await_end_of_serving();
	mount = open_mount(session, mountpoint, number);
	if (mount >= 0) {
		cut_off(mount, number);
		unmount_opened(session, mount);
	}
	_exit(0);
}

int unmounter_start(struct fuse_session *session, const char *mountpoint, int root, int *to)
{
	int ends[2], error = make_lock();
	pid_t child;

	if (error)
		return error;
	if (pipe2(ends, O_CLOEXEC) != 0)
		return errno;
	child = fork();
	if (child == 0) {
		close(ends[1]);
		wait_and_unmount(session, mountpoint, root, ends[0]);
	}
	if (child < 0)
		error = errno;
	close(ends[0]);
	if (error)
		close(ends[1]);
	else
		*to = ends[1];
	return error;
}

void unmounter_watch(int to)
{
	const char byte = SERVING;

	pthread_mutex_lock(serving);
	(void)!write(to, &byte, 1);
}

void unmounter_end(struct fuse_session *session, int to)
{
	struct pollfd gone = {.fd = to};
	const char byte = ENDED;

	/*
	 * Close our end of the connection first, since an unmount may wait for replies. The pipe
	 * gets the number of its descriptor: when the unmounter has exited, the pipe polls an
	 * error, which fuse_session_unmount takes for unmounted.
	 */
	dup2(to, fuse_session_fd(session));
	(void)!write(to, &byte, 1);
	pthread_mutex_unlock(serving);
	while (poll(&gone, 1, -1) < 0 && errno == EINTR)
		;
	close(to);
}
