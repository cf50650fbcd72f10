/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "process.h"
#include "dirfd.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define KERNEL_THREAD 0x00200000 /* PF_KTHREAD, among the flags in /proc/PID/stat */

/* ---- files of /proc ---- */

/* Reads the beginning of a file of /proc, and adds a NUL. */
static bool read_start(const char *path, char *out, size_t size)
{
	ssize_t got;
	int fd;

	if (dirfd_proc_open(path, &fd) != 0)
		return false;
	got = read(fd, out, size - 1);
	close(fd);
	out[got < 0 ? 0 : got] = '\0';
	return got > 0;
}

/*
 * The command's name is in parentheses and may contain parentheses, spaces and newlines itself; the
 * fields after it contain none.
 */
bool process_parse(const char *stat, struct process *out)
{
	const char *name = strchr(stat, '('), *end = strrchr(stat, ')');
	unsigned long long start;
	unsigned flags;

	*out = (struct process){.pid = 0};
	if (!name || !end || end < name ||
	    sscanf(end,
		   ") %*c %*d %*d %*d %*d %*d %u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d "
		   "%*d %*d %llu",
		   &flags, &start) != 2 ||
	    (flags & KERNEL_THREAD))
		return false;
	out->pid = (pid_t)strtol(stat, NULL, 10);
	out->start = start;
	snprintf(out->name, sizeof(out->name), "%.*s", (int)(end - name - 1), name + 1);
	return out->pid > 0;
}

static pid_t group_of(pid_t thread)
{
	char path[64], status[1024];
	const char *line;

	snprintf(path, sizeof(path), "%d/status", (int)thread);
	/*
	 * /proc escapes a newline in the name, so a line that starts with Tgid is not part of it.
	 */
	if (!read_start(path, status, sizeof(status)) || !(line = strstr(status, "\nTgid:")))
		return 0;
	return (pid_t)strtol(line + strlen("\nTgid:"), NULL, 10);
}

void process_of_thread(pid_t thread, struct process *out)
{
	pid_t group = thread > 0 ? group_of(thread) : 0;
	char path[64], stat[2048];

	*out = (struct process){.pid = 0};
	if (group <= 0)
		return;
	/* The CPU times in PID/stat are sums over all threads, so read the first thread's. */
	snprintf(path, sizeof(path), "%d/task/%d/stat", (int)group, (int)group);
	if (read_start(path, stat, sizeof(stat)))
		process_parse(stat, out);
}

bool process_same(const struct process *a, const struct process *b)
{
	return a->pid == b->pid && a->start == b->start && strcmp(a->name, b->name) == 0;
}

int process_open(const struct process *p, int *fd)
{
	*fd = (int)syscall(SYS_pidfd_open, p->pid, 0); /* pidfd_open sets close-on-exec */
	return *fd < 0 ? errno : 0;
}

/* ---- how it ended ---- */

/* PIDFD_GET_INFO of linux/pidfd.h, which older headers lack. */
struct exit_info {
	uint64_t mask;
	uint64_t cgroup;
	uint32_t ids[11];
	int32_t exit_code;
};
#define GET_INFO _IOWR(0xFF, 11, struct exit_info)
#define INFO_EXIT ((uint64_t)1 << 3)

enum process_end process_how_ended(int fd)
{
	struct exit_info info = {.mask = INFO_EXIT};

	if (ioctl(fd, GET_INFO, &info) != 0 || !(info.mask & INFO_EXIT))
		return PROCESS_UNKNOWN;
	return WIFSIGNALED(info.exit_code) ? PROCESS_KILLED : PROCESS_EXITED;
}
