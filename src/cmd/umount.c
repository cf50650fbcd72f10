/* SPDX-License-Identifier: GPL-3.0-or-later */
/* umount.c - `animfs umount MNT`: returns when what was written is in the binaries. */
#include "cmd.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* The process that serves the mount, from its own word; 0 when it is no mount of animfs. */
static pid_t daemon_of(const char *mountpoint)
{
	char path[PATH_MAX + 32], line[256];
	long pid = 0;
	FILE *file;

	snprintf(path, sizeof(path), "%s/.animfs/status", mountpoint);
	file = fopen(path, "re");
	if (!file)
		return 0;
	while (fgets(line, sizeof(line), file)) {
		if (strncmp(line, "pid ", 4) == 0)
			pid = strtol(line + 4, NULL, 10);
	}
	fclose(file);
	return (pid_t)pid;
}

static int unmount(const char *mountpoint)
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

static void wait_for(pid_t pid)
{
	struct pollfd ended = {.fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN};

	if (ended.fd < 0)
		return; /* it has ended already */
	while (poll(&ended, 1, -1) < 0 && errno == EINTR)
		;
	close(ended.fd);
}

static int run(const char *mountpoint)
{
	pid_t pid = daemon_of(mountpoint);
	int error;

	if (!pid) {
		command_fail(mountpoint, "not a mount of animfs");
		return STATUS_REFUSED;
	}
	error = unmount(mountpoint);
	if (error) {
		command_fail(mountpoint, strerror(error));
		return STATUS_REFUSED;
	}
	wait_for(pid);
	return STATUS_FINE;
}

static const char usage[] = "Usage: animfs umount [OPTION]... MOUNTPOINT\n"
			    "Unmount, and wait until everything that was saved is in the files.\n"
			    "\n"
			    "Options:\n" HELP_END "\n"
			    "Exit status:\n"
			    "  0  all is saved, and the mount has ended\n"
			    "  1  it is in use, or no mount of animfs\n"
			    "  2  the call was wrong\n";

int cmd_umount(int argc, char **argv)
{
	struct command command;
	int status;

	if (!command_begin(&argc, &argv, &command, NULL, usage, &status))
		return status;
	status = STATUS_TROUBLE;
	if (command_operands(&command, argc, argv, 1, 1))
		status = run(argv[0]);
	return command_end(&command, status);
}
