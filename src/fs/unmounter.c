/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * unmounter.c - a process that unmounts when the one that serves the mount is about to end, or was
 * killed. That one is confined by then (confine.h) and can neither unmount nor run fusermount3.
 */
#include "fs.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

/* What ends the mount must not end this one before it; nor does it need more than two descriptors.
 */
static void stand_apart(int told, int requests)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	signal(SIGHUP, SIG_IGN);
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	setsid();
	(void)!chdir("/");
	prctl(PR_SET_NAME, "animfs-unmount");
	dup2(told, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	dup2(null, STDERR_FILENO);
	close_range(STDERR_FILENO + 1, (unsigned)requests - 1, 0);
	close_range((unsigned)requests + 1, ~0U, 0);
}

/*
 * It has the connection open as well, which is how it sees that somebody else has unmounted: the
 * mountpoint may be another mount's by now.
 */
static _Noreturn void wait_and_unmount(struct fuse_session *session, int told)
{
	char byte;

	stand_apart(told, fuse_session_fd(session));
	while (read(STDIN_FILENO, &byte, 1) < 0 && errno == EINTR)
		;
	fuse_session_unmount(session);
	_exit(0);
}

int unmounter_start(struct fuse_session *session, int *tell)
{
	int ends[2], error = 0;
	pid_t child;

	if (pipe2(ends, O_CLOEXEC) != 0)
		return errno;
	child = fork();
	if (child == 0)
		wait_and_unmount(session, ends[0]);
	if (child < 0)
		error = errno;
	close(ends[0]);
	if (error)
		close(ends[1]);
	else
		*tell = ends[1];
	return error;
}

void unmounter_end(struct fuse_session *session, int tell)
{
	struct pollfd gone = {.fd = tell};

	/*
	 * Our end of the connection goes first: an unmount may wait for answers. What stands in its
	 * place shows fuse_session_unmount, once the other process is gone, that nothing is left to
	 * do.
	 */
	dup2(tell, fuse_session_fd(session));
	(void)!write(tell, "", 1);
	while (poll(&gone, 1, -1) < 0 && errno == EINTR)
		;
	close(tell);
}
