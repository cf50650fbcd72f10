/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unmounter.h"

#include "confine.h"
#include "lowlevel.h"

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

/* Bytes to the other process. */
enum { SERVING = 1, ENDED };

/*
 * Both have it, and the one that serves holds it with its main thread, which ends at once when the
 * process is killed. Another thread, and with it all that the process has open, may wait in the
 * kernel for an answer that nobody is left to give.
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
 * What ends the mount must not end this one before it. Descriptors that are closed on exec are
 * kept: that of the connection, and those that keep filesystems in use.
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

/* The number of the mount that is there, without asking whoever serves it; 0 where none can be. */
static unsigned mount_number(const char *mountpoint)
{
	struct statx st;

	return statx(AT_FDCWD, mountpoint, AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT, STATX_TYPE, &st) ==
			       0
		       ? st.stx_dev_minor
		       : 0;
}

static bool is_connected(struct fuse_session *session)
{
	struct pollfd connection = {.fd = fuse_session_fd(session)};

	return poll(&connection, 1, 0) == 0;
}

/*
 * The kernel gives an error to all who wait for the killed process, and it can end. What then
 * stands in the place of the connection shows fuse_session_unmount that it has to unmount.
 */
static void cut_off(struct fuse_session *session, const char *mountpoint, unsigned number)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/sys/fs/fuse/connections/%u/abort", number);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if ((fd < 0 || write(fd, "1", 1) != 1) && number && mount_number(mountpoint) == number)
		umount2(mountpoint, MNT_FORCE | UMOUNT_NOFOLLOW);
	dup2(STDOUT_FILENO, fuse_session_fd(session));
}

/* Did the other process end without saying so? */
static bool was_killed(void)
{
	char byte = ENDED;

	while (read(STDIN_FILENO, &byte, 1) < 0 && errno == EINTR)
		;
	return byte == SERVING && pthread_mutex_lock(serving) == EOWNERDEAD;
}

/*
 * It has the connection open as well, which is how it sees that somebody else has unmounted: the
 * mountpoint may be another mount's by now.
 */
static _Noreturn void wait_and_unmount(struct fuse_session *session, const char *mountpoint,
				       int root, int from)
{
	unsigned number = mount_number(mountpoint);
	struct err err = {.code = ERR_NONE};

	if (!confine_unmounter(&err))
		fprintf(stderr, "animfs: warning: the unmounter is not confined: %s\n",
			err.message);
	stand_apart(root, from);
	if (was_killed() && is_connected(session))
		cut_off(session, mountpoint, number);
	fuse_session_unmount(session);
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
	 * Our end of the connection goes first: an unmount may wait for answers. What stands in its
	 * place shows fuse_session_unmount, once the other process is gone, that nothing is left to
	 * do.
	 */
	dup2(to, fuse_session_fd(session));
	(void)!write(to, &byte, 1);
	pthread_mutex_unlock(serving);
	while (poll(&gone, 1, -1) < 0 && errno == EINTR)
		;
	close(to);
}
