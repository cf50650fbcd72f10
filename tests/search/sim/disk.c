/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * disk.c - the calls that reach the disk, which is a real folder: each is a step, and the seed may
 * make it fail or take longer than a program's pause.
 *
 * The kernel stamps files with real time and counts inode numbers on across runs, so neither is
 * shown: the table in this file has an inode number, a birth, and the times of the last changes for
 * each file, in virtual time, and every call that changes a file notes that. Times move in ticks of
 * 4 ms, as on a real kernel. A change that no call of this file made would be missed, so a ctime of
 * the kernel's that moved without one is a failure. So is a call under the lock of the tree.
 */
#include "sim.h"

#include "store/draft.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/uio.h>
#include <sys/xattr.h>
#include <unistd.h>

#define INODES_MAX 65536 /* a power of two */
#define EPOCH 1700000000 /* seconds; the same as in schedule.c */
#define TICK (4 * MS)
#define AN_HOUR_AGO ((EPOCH - 3600) * SECOND) /* time of changes made before the run */

struct inode {
	uint64_t dev, ino; /* numbers that the kernel gives */
	uint64_t number;   /* inode number that is shown */
	int64_t born, mtime, ctime, atime;
	struct timespec seen; /* ctime of the kernel when the inode was last looked at */
	bool changed;         /* a call of this file has changed the inode since `seen` */
};

static struct inode inodes[INODES_MAX];
static uint64_t inode_serial = 1000;
static bool fails;
unsigned disk_faults;

/* ---- inodes ---- */

int __real_fstat64(int fd, struct stat64 *st);
int __real_fstatat64(int dir, const char *name, struct stat64 *st, int flags);

/*
 * Makes a step of a call. Threads that wait for the lock of the tree must not wait for the disk, so
 * no caller may hold it.
 */
static void disk_step(const char *what)
{
	if (sched_holds("vfs_class"))
		fail("%s under the lock of the tree", what);
	sched_point(what);
}

static int64_t stamp(void)
{
	return EPOCH * SECOND + sched_now() / TICK * TICK;
}

/* Returns the record of an inode. `at` is the time of its birth if it is new. */
static struct inode *inode_of(const struct stat64 *st, int64_t at)
{
	size_t slot = (st->st_ino * 0x9E3779B97F4A7C15 >> 20) % INODES_MAX;

	for (;; slot = (slot + 1) % INODES_MAX) {
		struct inode *i = &inodes[slot];

		if (i->number && i->ino == st->st_ino && i->dev == st->st_dev)
			return i;
		if (i->number)
			continue;
		if (inode_serial == 1000 + INODES_MAX / 2)
			fail("more than %d inodes", INODES_MAX / 2);
		*i = (struct inode){.dev = st->st_dev, .ino = st->st_ino, .number = inode_serial++};
		i->born = i->mtime = i->ctime = i->atime = at;
		i->changed = true;
		return i;
	}
}

/* Puts the shown values into a file's status. */
static void show(struct stat64 *st)
{
	struct inode *i;

	if (sched_thread() < 0)
		return;
	i = inode_of(st, AN_HOUR_AGO);
	if (!i->changed &&
	    (i->seen.tv_sec != st->st_ctim.tv_sec || i->seen.tv_nsec != st->st_ctim.tv_nsec))
		fail("a file was changed by a call that disk.c does not know");
	i->seen = st->st_ctim;
	i->changed = false;
	st->st_dev = 0x51;
	st->st_ino = i->number;
	st->st_mtim = (struct timespec){i->mtime / SECOND, i->mtime % SECOND};
	st->st_ctim = (struct timespec){i->ctime / SECOND, i->ctime % SECOND};
	st->st_atim = (struct timespec){i->atime / SECOND, i->atime % SECOND};
}

enum change { META = 1, CONTENT };

static void touch(const struct stat64 *st, enum change how)
{
	struct inode *i = inode_of(st, stamp());

	i->ctime = stamp();
	if (how == CONTENT)
		i->mtime = i->ctime;
	i->changed = true;
}

static void touch_fd(int fd, enum change how)
{
	struct stat64 st;
	int error = errno;

	if (sched_thread() >= 0 && __real_fstat64(fd, &st) == 0)
		touch(&st, how);
	errno = error;
}

static void touch_at(int dir, const char *name, enum change how)
{
	struct stat64 st;
	int error = errno;

	if (sched_thread() >= 0 && __real_fstatat64(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
		touch(&st, how);
	errno = error;
}

static void touch_path(const char *path, enum change how)
{
	struct stat64 st;
	int error = errno;

	if (sched_thread() >= 0 && __real_fstatat64(AT_FDCWD, path, &st, 0) == 0)
		touch(&st, how);
	errno = error;
}

/*
 * Notes a change of the folder that a name is in, as openat and its kin take it. Skips a name with
 * a slash, which is in another folder.
 */
static void touch_folder(int dir, const char *name)
{
	char path[4096];
	const char *slash = strrchr(name, '/');

	if (!slash) {
		touch_at(dir, ".", CONTENT);
		if (dir >= 0)
			touch_fd(dir, CONTENT);
		return;
	}
	snprintf(path, sizeof(path), "%.*s", slash == name ? 1 : (int)(slash - name), name);
	touch_at(dir, path, CONTENT);
}

static void set_times(const struct stat64 *st, const struct timespec times[2])
{
	struct inode *i = inode_of(st, stamp());
	int64_t *const targets[2] = {&i->atime, &i->mtime};

	for (int n = 0; n < 2; n++) {
		if (!times || times[n].tv_nsec == UTIME_NOW)
			*targets[n] = stamp();
		else if (times[n].tv_nsec != UTIME_OMIT)
			*targets[n] = times[n].tv_sec * SECOND + times[n].tv_nsec;
	}
	i->ctime = stamp();
	i->changed = true;
}

/* ---- faults ---- */

void disk_set_faults(bool on)
{
	fails = on;
}

/*
 * Makes a step, now and then a long one. Returns true, with errno set, if the call is to fail
 * instead of being made.
 */
static bool is_refused(const char *what, unsigned one_in, const int *errors, unsigned count)
{
	disk_step(what);
	if (sim.slow && sched_is_program() && rnd_one_in(1500)) {
		trace("SLOW: %s", what);
		sched_sleep(3 * SECOND);
	}
	if (!fails || !sched_is_program() || !one_in || !rnd_one_in(one_in))
		return false;
	errno = errors[rnd_below(count)];
	disk_faults++;
	trace("FAULT: %s fails with %s", what, strerrorname_np(errno));
	return true;
}

static const int open_errors[] = {EMFILE, ENFILE, EIO, ENOMEM};
static const int write_errors[] = {ENOSPC, EIO, EDQUOT};
static const int name_errors[] = {EIO, ENOSPC};
static const int look_errors[] = {EIO, ENOMEM};

#define REFUSED(what, one_in, errors)                                                              \
	is_refused(what, one_in, errors, sizeof(errors) / sizeof((errors)[0]))

/* ---- opening ---- */

int __real_openat64(int dir, const char *name, int flags, ...);
int __wrap_openat64(int dir, const char *name, int flags, ...);
int __wrap_openat64(int dir, const char *name, int flags, ...)
{
	struct stat64 st;
	mode_t mode = 0;
	bool was;
	int fd;

	if (flags & (O_CREAT | O_TMPFILE)) {
		va_list args;

		va_start(args, flags);
		mode = va_arg(args, mode_t);
		va_end(args);
	}
	if (REFUSED("openat", 400, open_errors))
		return -1;
	was = __real_fstatat64(dir, name, &st, 0) == 0;
	fd = __real_openat64(dir, name, flags, mode);
	if (fd >= 0 && (flags & O_CREAT) && !was)
		touch_folder(dir, name);
	if (fd >= 0 && ((flags & O_TRUNC) || ((flags & O_CREAT) && !was)))
		touch_fd(fd, CONTENT);
	return fd;
}

int __real___openat64_2(int dir, const char *name, int flags);
int __wrap___openat64_2(int dir, const char *name, int flags);
int __wrap___openat64_2(int dir, const char *name, int flags)
{
	return __wrap_openat64(dir, name, flags);
}

int __wrap_open64(const char *name, int flags, ...);
int __wrap_open64(const char *name, int flags, ...)
{
	mode_t mode = 0;

	if (flags & (O_CREAT | O_TMPFILE)) {
		va_list args;

		va_start(args, flags);
		mode = va_arg(args, mode_t);
		va_end(args);
	}
	return __wrap_openat64(AT_FDCWD, name, flags, mode);
}

int __wrap___open64_2(const char *name, int flags);
int __wrap___open64_2(const char *name, int flags)
{
	return __wrap_openat64(AT_FDCWD, name, flags);
}

/* ---- looking ---- */

int __wrap_fstat64(int fd, struct stat64 *st);
int __wrap_fstat64(int fd, struct stat64 *st)
{
	int result;

	disk_step("fstat");
	result = __real_fstat64(fd, st);
	if (result == 0)
		show(st);
	return result;
}

int __wrap_fstatat64(int dir, const char *name, struct stat64 *st, int flags);
int __wrap_fstatat64(int dir, const char *name, struct stat64 *st, int flags)
{
	int result;

	if (REFUSED("fstatat", 3000, look_errors))
		return -1;
	result = __real_fstatat64(dir, name, st, flags);
	if (result == 0)
		show(st);
	return result;
}

static struct statx_timestamp statx_time(int64_t ns)
{
	return (struct statx_timestamp){.tv_sec = ns / SECOND, .tv_nsec = (uint32_t)(ns % SECOND)};
}

int __real_statx(int dir, const char *name, int flags, unsigned mask, struct statx *out);
int __wrap_statx(int dir, const char *name, int flags, unsigned mask, struct statx *out);
int __wrap_statx(int dir, const char *name, int flags, unsigned mask, struct statx *out)
{
	struct stat64 st;
	struct inode *i;
	int result;

	if (REFUSED("statx", 3000, look_errors))
		return -1;
	result = __real_statx(dir, name, flags, mask, out);
	if (result != 0 || sched_thread() < 0 ||
	    __real_fstatat64(dir, name, &st, flags & (AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH)) != 0)
		return result;
	i = inode_of(&st, AN_HOUR_AGO);
	show(&st);
	out->stx_dev_major = 0;
	out->stx_dev_minor = 0x51;
	out->stx_ino = i->number;
	out->stx_mtime = statx_time(i->mtime);
	out->stx_ctime = statx_time(i->ctime);
	out->stx_atime = statx_time(i->atime);
	out->stx_btime = statx_time(i->born);
	return result;
}

/* Numbers in folders are replaced by those that stat shows. */
struct dirent64 *__real_readdir64(DIR *dir);
struct dirent64 *__wrap_readdir64(DIR *dir);
struct dirent64 *__wrap_readdir64(DIR *dir)
{
	struct dirent64 *entry;
	struct stat64 st;

	disk_step("readdir");
	entry = __real_readdir64(dir);
	if (!entry || sched_thread() < 0)
		return entry;
	if (strcmp(entry->d_name, "..") != 0 &&
	    __real_fstatat64(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0)
		entry->d_ino = inode_of(&st, AN_HOUR_AGO)->number;
	return entry;
}

int __real_flock(int fd, int how);
int __wrap_flock(int fd, int how);
int __wrap_flock(int fd, int how)
{
	disk_step("flock");
	for (;;) {
		int result = __real_flock(fd, how | LOCK_NB);

		if (result == 0 || (how & LOCK_NB) || errno != EWOULDBLOCK)
			return result;
		sched_sleep(MS);
	}
}

/* ---- bytes ---- */

ssize_t __real_read(int fd, void *data, size_t size);
ssize_t __wrap_read(int fd, void *data, size_t size);
ssize_t __wrap_read(int fd, void *data, size_t size)
{
	static const int errors[] = {EIO};

	if (REFUSED("read", 800, errors))
		return -1;
	return __real_read(fd, data, size);
}

ssize_t __real_pread64(int fd, void *data, size_t size, off64_t at);
ssize_t __wrap_pread64(int fd, void *data, size_t size, off64_t at);
ssize_t __wrap_pread64(int fd, void *data, size_t size, off64_t at)
{
	static const int errors[] = {EIO};

	if (REFUSED("pread", 800, errors))
		return -1;
	return __real_pread64(fd, data, size, at);
}

ssize_t __real_write(int fd, const void *data, size_t size);
ssize_t __wrap_write(int fd, const void *data, size_t size);
ssize_t __wrap_write(int fd, const void *data, size_t size)
{
	ssize_t result;

	if (REFUSED("write", 100, write_errors))
		return -1;
	if (fails && sched_is_program() && size > 1 && rnd_one_in(40))
		size = 1 + rnd_below((unsigned)(size - 1)); /* a short read */
	result = __real_write(fd, data, size);
	if (result > 0)
		touch_fd(fd, CONTENT);
	return result;
}

ssize_t __real_pwrite64(int fd, const void *data, size_t size, off64_t at);
ssize_t __wrap_pwrite64(int fd, const void *data, size_t size, off64_t at);
ssize_t __wrap_pwrite64(int fd, const void *data, size_t size, off64_t at)
{
	ssize_t result;

	if (REFUSED("pwrite", 60, write_errors))
		return -1;
	result = __real_pwrite64(fd, data, size, at);
	if (result > 0)
		touch_fd(fd, CONTENT);
	return result;
}

ssize_t __real_pwritev64v2(int fd, const struct iovec *parts, int count, off64_t at, int flags);
ssize_t __wrap_pwritev64v2(int fd, const struct iovec *parts, int count, off64_t at, int flags);
ssize_t __wrap_pwritev64v2(int fd, const struct iovec *parts, int count, off64_t at, int flags)
{
	ssize_t result;

	if (REFUSED("pwritev2", 60, write_errors))
		return -1;
	result = __real_pwritev64v2(fd, parts, count, at, flags);
	if (result > 0)
		touch_fd(fd, CONTENT);
	return result;
}

/*
 * Defines a wrapper of a call that takes a descriptor, which notes the change of the file behind
 * it.
 */
#define WRAP_FD(name, what, one_in, errors, how, parameters, arguments)                            \
	int __real_##name parameters;                                                              \
	int __wrap_##name parameters;                                                              \
	int __wrap_##name parameters                                                               \
	{                                                                                          \
		int result;                                                                        \
                                                                                                   \
		if (REFUSED(what, one_in, errors))                                                 \
			return -1;                                                                 \
		result = __real_##name arguments;                                                  \
		if (result == 0 && (how))                                                          \
			touch_fd(fd, how);                                                         \
		return result;                                                                     \
	}

WRAP_FD(fsync, "fsync", 60, write_errors, 0, (int fd), (fd))
WRAP_FD(fdatasync, "fdatasync", 60, write_errors, 0, (int fd), (fd))
WRAP_FD(ftruncate64, "ftruncate", 100, write_errors, CONTENT, (int fd, off64_t size), (fd, size))
WRAP_FD(fallocate64, "fallocate", 100, write_errors, CONTENT,
	(int fd, int mode, off64_t at, off64_t size), (fd, mode, at, size))
WRAP_FD(fchmod, "fchmod", 300, look_errors, META, (int fd, mode_t mode), (fd, mode))
WRAP_FD(fchown, "fchown", 300, look_errors, META, (int fd, uid_t uid, gid_t gid), (fd, uid, gid))
WRAP_FD(fsetxattr, "fsetxattr", 300, write_errors, META,
	(int fd, const char *name, const void *value, size_t size, int flags),
	(fd, name, value, size, flags))
WRAP_FD(fremovexattr, "fremovexattr", 300, write_errors, META, (int fd, const char *name),
	(fd, name))

ssize_t __real_copy_file_range(int in, off64_t *in_at, int out, off64_t *out_at, size_t size,
			       unsigned flags);
ssize_t __wrap_copy_file_range(int in, off64_t *in_at, int out, off64_t *out_at, size_t size,
			       unsigned flags);
ssize_t __wrap_copy_file_range(int in, off64_t *in_at, int out, off64_t *out_at, size_t size,
			       unsigned flags)
{
	ssize_t result;

	if (REFUSED("copy_file_range", 100, write_errors))
		return -1;
	result = __real_copy_file_range(in, in_at, out, out_at, size, flags);
	if (result > 0)
		touch_fd(out, CONTENT);
	return result;
}

int __real_futimens(int fd, const struct timespec times[2]);
int __wrap_futimens(int fd, const struct timespec times[2]);
int __wrap_futimens(int fd, const struct timespec times[2])
{
	struct stat64 st;
	int result;

	disk_step("futimens");
	result = __real_futimens(fd, times);
	if (result == 0 && sched_thread() >= 0 && __real_fstat64(fd, &st) == 0)
		set_times(&st, times);
	return result;
}

int __real_utimensat(int dir, const char *name, const struct timespec times[2], int flags);
int __wrap_utimensat(int dir, const char *name, const struct timespec times[2], int flags);
int __wrap_utimensat(int dir, const char *name, const struct timespec times[2], int flags)
{
	struct stat64 st;
	int result;

	disk_step("utimensat");
	result = __real_utimensat(dir, name, times, flags);
	if (result == 0 && sched_thread() >= 0 &&
	    __real_fstatat64(dir, name ? name : "", &st, flags | (name ? 0 : AT_EMPTY_PATH)) == 0)
		set_times(&st, times);
	return result;
}

/* ---- attributes by path ---- */

#define WRAP_PATH(name, parameters, arguments)                                                     \
	int __real_##name parameters;                                                              \
	int __wrap_##name parameters;                                                              \
	int __wrap_##name parameters                                                               \
	{                                                                                          \
		int result;                                                                        \
                                                                                                   \
		if (REFUSED(#name, 300, look_errors))                                              \
			return -1;                                                                 \
		result = __real_##name arguments;                                                  \
		if (result == 0)                                                                   \
			touch_path(path, META);                                                    \
		return result;                                                                     \
	}

WRAP_PATH(chmod, (const char *path, mode_t mode), (path, mode))
WRAP_PATH(setxattr, (const char *path, const char *name, const void *value, size_t size, int flags),
	  (path, name, value, size, flags))
WRAP_PATH(removexattr, (const char *path, const char *name), (path, name))
int __real_truncate64(const char *path, off64_t size);
int __wrap_truncate64(const char *path, off64_t size);
int __wrap_truncate64(const char *path, off64_t size)
{
	int result;

	if (REFUSED("truncate", 100, write_errors))
		return -1;
	result = __real_truncate64(path, size);
	if (result == 0)
		touch_path(path, CONTENT);
	return result;
}

int __real_fchownat(int dir, const char *name, uid_t uid, gid_t gid, int flags);
int __wrap_fchownat(int dir, const char *name, uid_t uid, gid_t gid, int flags);
int __wrap_fchownat(int dir, const char *name, uid_t uid, gid_t gid, int flags)
{
	int result;

	if (REFUSED("fchownat", 300, look_errors))
		return -1;
	result = __real_fchownat(dir, name, uid, gid, flags);
	if (result == 0 && *name)
		touch_at(dir, name, META);
	else if (result == 0)
		touch_fd(dir, META);
	return result;
}

/* ---- names ---- */

int __real_renameat2(int from, const char *name, int to, const char *new_name, unsigned flags);

/*
 * Makes the step of a rename, and notes the change of both folders, of the file that moved, and of
 * the file that it replaced.
 */
static int rename_step(int from, const char *name, int to, const char *new_name, unsigned flags)
{
	struct stat64 gone;
	bool had;
	int result;

	if (REFUSED("rename", 100, name_errors))
		return -1;
	had = __real_fstatat64(to, new_name, &gone, AT_SYMLINK_NOFOLLOW) == 0;
	result = __real_renameat2(from, name, to, new_name, flags);
	if (result != 0 || sched_thread() < 0)
		return result;
	touch_folder(from, name);
	touch_folder(to, new_name);
	touch_at(to, new_name, META);
	if (had)
		touch(&gone, META);
	return result;
}

int __wrap_renameat2(int from, const char *name, int to, const char *new_name, unsigned flags);
int __wrap_renameat2(int from, const char *name, int to, const char *new_name, unsigned flags)
{
	return rename_step(from, name, to, new_name, flags);
}

int __wrap_renameat(int from, const char *name, int to, const char *new_name);
int __wrap_renameat(int from, const char *name, int to, const char *new_name)
{
	return rename_step(from, name, to, new_name, 0);
}

int __real_linkat(int from, const char *name, int to, const char *new_name, int flags);
int __wrap_linkat(int from, const char *name, int to, const char *new_name, int flags);
int __wrap_linkat(int from, const char *name, int to, const char *new_name, int flags)
{
	int result;

	if (REFUSED("linkat", 100, name_errors))
		return -1;
	result = __real_linkat(from, name, to, new_name, flags);
	if (result == 0) {
		touch_folder(to, new_name);
		touch_at(to, new_name, META);
	}
	return result;
}

int __real_unlinkat(int dir, const char *name, int flags);
int __wrap_unlinkat(int dir, const char *name, int flags);
int __wrap_unlinkat(int dir, const char *name, int flags)
{
	struct stat64 gone;
	bool had;
	int result;

	if (REFUSED("unlinkat", 300, look_errors))
		return -1;
	had = __real_fstatat64(dir, name, &gone, AT_SYMLINK_NOFOLLOW) == 0;
	result = __real_unlinkat(dir, name, flags);
	if (result == 0) {
		touch_folder(dir, name);
		if (had && sched_thread() >= 0)
			touch(&gone, META);
	}
	return result;
}

#define WRAP_NEW(name, parameters, arguments)                                                      \
	int __real_##name parameters;                                                              \
	int __wrap_##name parameters;                                                              \
	int __wrap_##name parameters                                                               \
	{                                                                                          \
		int result;                                                                        \
                                                                                                   \
		if (REFUSED(#name, 100, name_errors))                                              \
			return -1;                                                                 \
		result = __real_##name arguments;                                                  \
		if (result == 0) {                                                                 \
			touch_folder(dir, path);                                                   \
			touch_at(dir, path, CONTENT);                                              \
		}                                                                                  \
		return result;                                                                     \
	}

WRAP_NEW(mkdirat, (int dir, const char *path, mode_t mode), (dir, path, mode))
WRAP_NEW(mknodat, (int dir, const char *path, mode_t mode, dev_t device), (dir, path, mode, device))
WRAP_NEW(symlinkat, (const char *target, int dir, const char *path), (target, dir, path))

int __real_inotify_rm_watch(int inotify, int watch);
int __wrap_inotify_rm_watch(int inotify, int watch);
int __wrap_inotify_rm_watch(int inotify, int watch)
{
	disk_step("inotify_rm_watch");
	return __real_inotify_rm_watch(inotify, watch);
}

int __real_close(int fd);
int __wrap_close(int fd);
int __wrap_close(int fd)
{
	disk_step("close");
	return __real_close(fd);
}

int __real_inotify_add_watch(int inotify, const char *path, uint32_t mask);
int __wrap_inotify_add_watch(int inotify, const char *path, uint32_t mask);
int __wrap_inotify_add_watch(int inotify, const char *path, uint32_t mask)
{
	static const int errors[] = {ENOSPC, ENOMEM};

	if (REFUSED("inotify_add_watch", 100, errors))
		return -1;
	return __real_inotify_add_watch(inotify, path, mask);
}

/* ---- memory ---- */

struct buf *__real_text_writable(struct text **t, size_t room);
struct buf *__wrap_text_writable(struct text **t, size_t room);
struct buf *__wrap_text_writable(struct text **t, size_t room)
{
	if (text_is_shared(*t) && text_bytes(*t).size > DRAFT_COPY_MAX && sched_holds("vfs_class"))
		fail("a text is copied under the lock of the tree");
	return __real_text_writable(t, room);
}
