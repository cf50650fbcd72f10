/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * intruder.h - the attempts of code that has taken over a process: to change the owner, mode, times
 * and attributes of a file elsewhere, by each way that leads there, and the limits of another
 * process.
 */
#ifndef ANIMFS_TESTS_TOOLS_INTRUDER_H
#define ANIMFS_TESTS_TOOLS_INTRUDER_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

/* The targets of the attempts, and those attempts that succeeded at least once. */
struct intruder {
	const char *outside; /* path of the file outside, from "/" */
	pid_t other;         /* a process of the same user */
	bool chmod, chown, utimensat, setxattr, prlimit;
};

static inline bool intruder_labels(const char *proc, int fd)
{
	char path[64];

	snprintf(path, sizeof(path), "%sself/fd/%d", proc, fd);
	return setxattr(path, "user.intruder", "x", 1, 0) == 0;
}

static inline void intruder_changes(struct intruder *i, int dir, const char *path)
{
	const struct timespec times[2] = {{1, 0}, {1, 0}};
	int fd = openat(dir, path, O_PATH | O_CLOEXEC);

	i->chmod |= fchmodat(dir, path, 0707, 0) == 0;
	i->chown |= fchownat(dir, path, getuid(), getgid(), 0) == 0;
	i->utimensat |= utimensat(dir, path, times, 0) == 0;
	i->setxattr |= dir == AT_FDCWD && setxattr(path, "user.intruder", "x", 1, 0) == 0;
	if (fd < 0)
		return;
	i->setxattr |= intruder_labels("/proc/", fd) || intruder_labels("", fd);
	close(fd);
}

/* Tries the file outside by way of the topmost folder that a descriptor leads to. */
static inline void intruder_climbs(struct intruder *i, int folder)
{
	int at = openat(folder, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);

	for (int steps = 0; at >= 0 && steps < 64; steps++) {
		int above = openat(at, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);

		close(at);
		at = above;
	}
	if (at < 0)
		return;
	intruder_changes(i, at, i->outside + 1);
	close(at);
}

static inline void intruder_follows(struct intruder *i, pid_t process)
{
	static const char *const formats[] = {"/proc/%d/root%s", "/proc/%d/cwd/%s", "%d/root%s",
					      "%d/cwd/%s"};
	char path[5000];

	for (size_t j = 0; j < sizeof(formats) / sizeof(*formats); j++) {
		snprintf(path, sizeof(path), formats[j], (int)process, i->outside);
		intruder_changes(i, AT_FDCWD, path);
	}
}

static inline void intruder_tries(struct intruder *i)
{
	const struct rlimit none = {0, 0};

	intruder_changes(i, AT_FDCWD, i->outside);
	intruder_climbs(i, AT_FDCWD);
	for (int fd = 0; fd < 256; fd++)
		intruder_climbs(i, fd);
	intruder_follows(i, 1);
	intruder_follows(i, i->other);
	intruder_follows(i, getpid());
	i->prlimit |= syscall(SYS_prlimit64, i->other, RLIMIT_CORE, &none, NULL) == 0;
}

/* Writes the attempts that succeeded, as in "chmod prlimit"; or "nothing". */
static inline void intruder_tells(const struct intruder *i, char *out, size_t size)
{
	snprintf(out, size, "%s%s%s%s%s", i->chmod ? " chmod" : "", i->chown ? " chown" : "",
		 i->utimensat ? " utimensat" : "", i->setxattr ? " setxattr" : "",
		 i->prlimit ? " prlimit" : "");
	if (*out)
		memmove(out, out + 1, strlen(out));
	else
		snprintf(out, size, "nothing");
}

#endif
