/* SPDX-License-Identifier: GPL-3.0-or-later */
/* umount.c - `animfs umount`: unmounts, and returns when everything is saved. */
#include "cmd.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int unmount_path(const char *mountpoint)
{
	pid_t child;
	int status;

	if (geteuid() == 0)
		return umount2(mountpoint, UMOUNT_NOFOLLOW) == 0 ? 0 : errno;
	child = fork();
	if (child == 0) {
		execlp("fusermount3", "fusermount3", "-u", "--", mountpoint, (char *)NULL);
		_exit(127);
	}
	if (child < 0 || waitpid(child, &status, 0) < 0)
		return errno;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : EBUSY;
}

static void umount_wait_for(pid_t pid)
{
	struct pollfd ended = {.fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN};

	if (ended.fd < 0)
		return; /* the process has ended already */
	while (poll(&ended, 1, -1) < 0 && errno == EINTR)
		;
	close(ended.fd);
}

static int unmount_at(const char *mountpoint)
{
	pid_t pid = mounted_daemon(mountpoint);
	int error;

	if (!pid)
		return command_no_mount(mountpoint);
	error = unmount_path(mountpoint);
	if (error) {
		command_fail(mountpoint, strerror(error));
		return STATUS_REFUSED;
	}
	umount_wait_for(pid);
	return STATUS_FINE;
}

static int run_umount(const char *path)
{
	char *mountpoint, *source;
	int status = mounted_point(path, &mountpoint, &source) ? unmount_at(mountpoint)
							       : command_no_mount(path);

	free(mountpoint);
	free(source);
	return status;
}

static const char usage[] =
	"Usage: animfs umount [OPTION]... MOUNTPOINT\n"
	"Unmount, and wait until everything is saved and the mount has ended. A path\n"
	"inside the mount will do.\n"
	"\n"
	"Options:\n" HELP_END "\n"
	"Exit status:\n"
	"  0  everything is saved, and the mount has ended\n"
	"  1  it is in use, or not a mount of animfs\n"
	"  2  usage error\n";

int cmd_umount(int argc, char **argv)
{
	struct command command;
	int status;

	if (!command_begin(&argc, &argv, &command, NULL, usage, &status))
		return status;
	status = STATUS_TROUBLE;
	if (command_operands(&command, argc, argv, 1, 1))
		status = run_umount(argv[0]);
	return command_end(&command, status);
}
