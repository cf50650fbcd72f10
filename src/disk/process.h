/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * process.h - which process a thread belongs to, as /proc shows it.
 *
 * Requests carry the id of a thread. exec keeps a process and the time of its start, and gives it
 * the name of another command; so only all three together identify it.
 */
#ifndef ANIMFS_DISK_PROCESS_H
#define ANIMFS_DISK_PROCESS_H

#include "animfs/base.h"
#include <sys/types.h>

struct process {
	pid_t pid;      /* id of the thread group; 0: unknown, and the other fields mean nothing */
	uint64_t start; /* clock ticks since the machine started */
	char name[64];  /* name of the process's command: any bytes, NUL-terminated */
};

/*
 * Finds the process of a thread in our PID namespace. Unknown for kernel threads, threads that have
 * ended or that /proc does not show, and thread 0, which the kernel gives for threads in a
 * namespace that we cannot see.
 */
void process_of_thread(pid_t thread, struct process *out);
bool process_same(const struct process *a, const struct process *b);
/*
 * Opens a pidfd, which becomes readable when the process ends. Call it while a request of the
 * process is unanswered, since its id may be reused once it has ended. 0 or an errno; ENOSYS before
 * Linux 5.3.
 */
int process_open(const struct process *p, int *fd);

/* How a process ended. Unknown until its parent has waited for it, and always before Linux 6.15. */
enum process_end { PROCESS_UNKNOWN, PROCESS_EXITED, PROCESS_KILLED };
enum process_end process_how_ended(int fd);

/* Parses the content of /proc/PID/stat. False if it is not about a user process. */
bool process_parse(const char *stat, struct process *out);

#endif
