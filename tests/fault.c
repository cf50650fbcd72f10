/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fault.c - LD_PRELOAD=fault.so FAULT=FILE animfs ...: system calls that fail, for tests of what a
 * mount does then.
 *
 * FILE says which, in one line: CALL ERRNO FOLDER. While it is there, each CALL (create, write,
 * fsync, syncdir, rename, unlink or mkdir) below FOLDER fails with ERRNO, a number, and does
 * nothing; syncdir is fsync of a folder.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

struct fault {
	char call[16];
	int number;
	char folder[PATH_MAX];
};

/* By the calls beneath, so that reading the file is no call of its own. */
static bool read_fault(struct fault *f)
{
	const char *file = getenv("FAULT");
	char line[PATH_MAX + 64];
	ssize_t size;
	int fd;

	if (!file)
		return false;
	fd = (int)syscall(SYS_openat, AT_FDCWD, file, O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return false;
	size = syscall(SYS_read, fd, line, sizeof(line) - 1);
	syscall(SYS_close, fd);
	if (size <= 0)
		return false;
	line[size] = '\0';
	return sscanf(line, "%15s %d %4095s", f->call, &f->number, f->folder) == 3;
}

static bool fd_below(int fd, const char *folder)
{
	char link[64], path[PATH_MAX];
	size_t length = strlen(folder);
	ssize_t size;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	size = readlink(link, path, sizeof(path) - 1);
	if (size < 0)
		return false;
	path[size] = '\0';
	return strncmp(path, folder, length) == 0 && (path[length] == '/' || !path[length]);
}

/* Should this call on what `fd` is, or is in, fail? */
static bool fails(const char *call, int fd)
{
	struct fault f;

	if (!read_fault(&f) || strcmp(f.call, call) != 0 || !fd_below(fd, f.folder))
		return false;
	errno = f.number;
	return true;
}

/* The next one of that name. */
#define REAL(name, symbol) ((__typeof__(&name))dlsym(RTLD_NEXT, symbol))

int openat(int dir, const char *path, int flags, ...)
{
	va_list args;
	mode_t mode;

	va_start(args, flags);
	mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;
	va_end(args);
	if (flags & O_CREAT && fails("create", dir))
		return -1;
	return REAL(openat, "openat64")(dir, path, flags, mode);
}

ssize_t write(int fd, const void *data, size_t size)
{
	return fails("write", fd) ? -1 : REAL(write, "write")(fd, data, size);
}

ssize_t pwritev2(int fd, const struct iovec *parts, int count, off_t at, int flags)
{
	return fails("write", fd) ? -1 : REAL(pwritev2, "pwritev64v2")(fd, parts, count, at, flags);
}

int fsync(int fd)
{
	struct stat st;
	bool folder = fstat(fd, &st) == 0 && S_ISDIR(st.st_mode);

	return fails(folder ? "syncdir" : "fsync", fd) ? -1 : REAL(fsync, "fsync")(fd);
}

int renameat2(int from, const char *a, int to, const char *b, unsigned flags)
{
	return fails("rename", to) ? -1 : REAL(renameat2, "renameat2")(from, a, to, b, flags);
}

int renameat(int from, const char *a, int to, const char *b)
{
	return fails("rename", to) ? -1 : REAL(renameat, "renameat")(from, a, to, b);
}

int unlinkat(int dir, const char *name, int flags)
{
	return fails("unlink", dir) ? -1 : REAL(unlinkat, "unlinkat")(dir, name, flags);
}

int mkdirat(int dir, const char *name, mode_t mode)
{
	return fails("mkdir", dir) ? -1 : REAL(mkdirat, "mkdirat")(dir, name, mode);
}
