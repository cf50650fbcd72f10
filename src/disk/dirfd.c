/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "dirfd.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h> /* renameat2 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FOLDER (O_PATH | O_DIRECTORY)
#define DEPTH_MAX 128 /* levels of nested folders that dirfd_size() counts */

bool dirfd_is_name(const char *name)
{
	return !strchr(name, '/') && strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

int dirfd_name_head(const char *name, size_t room)
{
	size_t length = strnlen(name, room + 1);

	if (length > room)
		for (length = room; length && (name[length] & 0xc0) == 0x80; length--)
			continue;
	return (int)length;
}

bool dirfd_same_file(int a, int b)
{
	struct stat first, second;

	return fstat(a, &first) == 0 && fstat(b, &second) == 0 && first.st_dev == second.st_dev &&
	       first.st_ino == second.st_ino;
}

int dirfd_open(int dir, const char *name, int flags, mode_t mode, int *fd)
{
	*fd = -1;
	if (!dirfd_is_name(name))
		return EINVAL;
	*fd = openat(dir, name, flags | O_NOFOLLOW | O_CLOEXEC, mode);
	return *fd < 0 ? errno : 0;
}

int dirfd_make(int dir, const char *name, mode_t mode, int *fd)
{
	const int flags = O_WRONLY | O_CREAT | O_EXCL;
	int error = dirfd_open(dir, name, flags, mode, fd);

	if (error == EEXIST && unlinkat(dir, name, 0) == 0)
		error = dirfd_open(dir, name, flags, mode, fd);
	return error;
}

static int open_self(int dir, int flags, int *fd)
{
	*fd = openat(dir, ".", flags | O_CLOEXEC);
	return *fd < 0 ? errno : 0;
}

/* A path component, truncated to a length that the kernel still refuses (ENAMETOOLONG). */
struct name {
	char text[PATH_MAX + 1];
};

/* Cuts the first component off *path; after the last one, *path is "". */
static void next_name(const char **path, struct name *name)
{
	size_t size = strcspn(*path, "/");
	size_t kept = size < PATH_MAX ? size : PATH_MAX;

	memcpy(name->text, *path, kept);
	name->text[kept] = '\0';
	*path += size;
	if (**path)
		(*path)++;
}

/*
 * Replaces *at by the component opened in it (-1 on error), and closes the old *at unless it is
 * root.
 */
static int walk_component(int root, int *at, const char *name, int flags)
{
	int next, error = dirfd_open(*at, name, flags, 0, &next);

	if (*at != root)
		close(*at);
	*at = next;
	return error;
}

int dirfd_walk(int root, const char *path, int flags, int *fd)
{
	struct name name;
	int error;

	if (!*path)
		return open_self(root, flags, fd);
	*fd = root;
	do {
		next_name(&path, &name);
		error = walk_component(root, fd, name.text, *path ? FOLDER : flags);
	} while (!error && *path);
	return error;
}

int dirfd_make_folders(int root, const char *path, int *fd)
{
	struct name name;
	int error = open_self(root, FOLDER, fd);

	while (!error && *path) {
		next_name(&path, &name);
		if (dirfd_is_name(name.text) && mkdirat(*fd, name.text, 0700) && errno != EEXIST)
			error = errno;
		if (!error)
			error = walk_component(root, fd, name.text, FOLDER);
	}
	if (error && *fd >= 0) {
		close(*fd);
		*fd = -1;
	}
	return error;
}

int dirfd_list(int root, const char *path, DIR **out)
{
	int fd, error = dirfd_walk(root, path, O_RDONLY | O_DIRECTORY, &fd);

	if (error)
		return error;
	*out = fdopendir(fd);
	if (*out)
		return 0;
	error = errno;
	close(fd);
	return error;
}

struct dirent *dirfd_next(DIR *dir)
{
	struct dirent *entry;

	do {
		errno = 0;
		entry = readdir(dir);
	} while (entry && (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0));
	return entry;
}

/* NOLINTNEXTLINE(misc-no-recursion) */
static uint64_t size_below(int root, const char *path, uint64_t file, uint64_t folder, int depth)
{
	struct dirent *entry;
	uint64_t sum = 0;
	struct stat st;
	DIR *dir;

	if (depth > DEPTH_MAX || dirfd_list(root, path, &dir))
		return 0;
	while ((entry = dirfd_next(dir))) {
		if (fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW))
			continue;
		if (S_ISDIR(st.st_mode))
			sum += folder +
			       size_below(dirfd(dir), entry->d_name, file, folder, depth + 1);
		else
			sum += file + (uint64_t)st.st_size;
	}
	closedir(dir);
	return sum;
}

uint64_t dirfd_size(int root, const char *path, uint64_t file, uint64_t folder)
{
	return size_below(root, path, file, folder, 0);
}

static int dirfd_read_all(int fd, size_t expected, size_t limit, struct buf *out)
{
	const size_t begin = out->size;

	/*
	 * One byte more than expected, so that read() reports the end of the file without growing
	 * the buffer.
	 */
	buf_reserve(out, expected + 1);
	while (buf_reserve(out, 1)) {
		ssize_t got = read(fd, out->data + out->size, out->capacity - out->size);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return errno;
		if (got == 0)
			return 0;
		out->size += (size_t)got;
		if (out->size - begin > limit)
			return EFBIG;
	}
	return ENOMEM;
}

int dirfd_read_open(int fd, size_t limit, struct buf *out, struct stat *st)
{
	if (fstat(fd, st))
		return errno;
	if (!S_ISREG(st->st_mode))
		return S_ISDIR(st->st_mode) ? EISDIR : EINVAL;
	if ((uintmax_t)st->st_size > limit)
		return EFBIG;
	return dirfd_read_all(fd, (size_t)st->st_size, limit, out);
}

int dirfd_read(int dir, const char *name, size_t limit, struct buf *out, struct stat *st)
{
	int fd, error = dirfd_open(dir, name, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0, &fd);

	if (error)
		return error;
	error = dirfd_read_open(fd, limit, out, st);
	close(fd);
	return error;
}

int dirfd_write(int fd, struct bytes data)
{
	while (data.size) {
		ssize_t put = write(fd, data.data, data.size);

		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return errno;
		data.data += put;
		data.size -= (size_t)put;
	}
	return 0;
}

int dirfd_sync_folder(int dir)
{
	int fd, error = dirfd_walk(dir, "", O_RDONLY | O_DIRECTORY, &fd);

	if (error)
		return error == EACCES ? 0 : error;
	if (fsync(fd) && errno != EINVAL)
		error = errno;
	close(fd);
	return error;
}

int dirfd_copy(int from, int to)
{
	uint8_t block[65536];

	for (;;) {
		ssize_t got = read(from, block, sizeof(block));
		int error;

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got ? errno : 0;
		error = dirfd_write(to, (struct bytes){block, (size_t)got});
		if (error)
			return error;
	}
}

int dirfd_compare(int fd, struct bytes data)
{
	uint8_t block[16384];
	size_t at = 0;

	for (;;) {
		ssize_t got = pread(fd, block, sizeof(block), (off_t)at);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return errno;
		if ((size_t)got > data.size - at)
			return EAGAIN;
		if (got == 0)
			return at == data.size ? 0 : EAGAIN;
		if (memcmp(block, data.data + at, (size_t)got) != 0)
			return EAGAIN;
		at += (size_t)got;
	}
}

static const char *proc = "/proc/";

void dirfd_proc_is_here(void)
{
	proc = "";
}

/*
 * Does /proc show our PID namespace? In that of another namespace our PID is different or
 * missing.
 */
static bool proc_is_ours(void)
{
	char path[16], self[16];
	ssize_t length;

	snprintf(path, sizeof(path), "%sself", proc);
	length = readlink(path, self, sizeof(self) - 1);
	self[length < 0 ? 0 : length] = '\0';
	return strtol(self, NULL, 10) == getpid();
}

int dirfd_proc_open(const char *path, int *fd)
{
	char whole[64];
	int length = snprintf(whole, sizeof(whole), "%s%s", proc, path);

	*fd = -1;
	if (length < 0 || (size_t)length >= sizeof(whole))
		return ENAMETOOLONG;
	if (!proc_is_ours())
		return ESRCH;
	*fd = open(whole, O_RDONLY | O_CLOEXEC);
	return *fd < 0 ? errno : 0;
}

/* Rename emulation for filesystems that lack the flags of renameat2 */

bool dirfd_lacks_flags(int error)
{
	return error == EINVAL || error == ENOSYS || error == EOPNOTSUPP;
}

/*
 * Checks that the new name is free, then renames; used where neither flags nor links work. A file
 * that another program creates between the two calls is lost. Reserving the name with an empty file
 * would prevent that, but a kill would leave the empty file behind.
 */
static int rename_unless_there(int from, const char *name, int to, const char *new_name)
{
	struct stat st;

	if (fstatat(to, new_name, &st, AT_SYMLINK_NOFOLLOW) == 0)
		return EEXIST;
	if (errno != ENOENT)
		return errno;
	return renameat(from, name, to, new_name) ? errno : 0;
}

/*
 * Reserves the new name with an empty folder: rename() replaces it, or fails if another program has
 * put something into it. Some filesystems cannot replace a folder at all.
 */
static int rename_folder(int from, const char *name, int to, const char *new_name)
{
	int error;

	if (mkdirat(to, new_name, 0700))
		return errno;
	if (renameat(from, name, to, new_name) == 0)
		return 0;
	error = errno;
	if (unlinkat(to, new_name, AT_REMOVEDIR))
		return errno == ENOTEMPTY ? EEXIST : error;
	if (error != EEXIST && error != ENOTEMPTY && error != EPERM)
		return error;
	return rename_unless_there(from, name, to, new_name);
}

static bool is_link_refused(int error)
{
	return error == EPERM || error == EMLINK || dirfd_lacks_flags(error);
}

static int dirfd_rename_file(int from, const char *name, int to, const char *new_name)
{
	int error;

	if (linkat(from, name, to, new_name, 0))
		return is_link_refused(errno) ? rename_unless_there(from, name, to, new_name)
					      : errno;
	if (unlinkat(from, name, 0) == 0)
		return 0;
	error = errno;
	unlinkat(to, new_name, 0);
	return error;
}

int dirfd_rename(int from, const char *name, int to, const char *new_name, unsigned flags)
{
	struct stat st;

	if (renameat2(from, name, to, new_name, flags) == 0)
		return 0;
	if (!dirfd_lacks_flags(errno) || flags == RENAME_EXCHANGE)
		return errno;
	if (flags == 0)
		return renameat(from, name, to, new_name) ? errno : 0;
	if (flags != RENAME_NOREPLACE)
		return errno;
	if (fstatat(from, name, &st, AT_SYMLINK_NOFOLLOW))
		return errno;
	return S_ISDIR(st.st_mode) ? rename_folder(from, name, to, new_name)
				   : dirfd_rename_file(from, name, to, new_name);
}

int dirfd_rename_apart(int from, const char *name, int to, const char *like, char as[NAME_MAX + 1])
{
	const int room = dirfd_name_head(like, NAME_MAX - 16);
	int error = EEXIST;

	for (unsigned i = 1; error == EEXIST && i < 1000; i++) {
		snprintf(as, NAME_MAX + 1, "%.*s.~%u~", room, like, i);
		error = dirfd_rename(from, name, to, as, RENAME_NOREPLACE);
	}
	return error;
}

bool dirfd_is_respelled(int folder, const char *name)
{
	int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	struct stat st;
	bool listed = false;

	if (!dir) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	while (!listed && (entry = readdir(dir)))
		listed = strcmp(entry->d_name, name) == 0;
	closedir(dir);
	return !listed && fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

int dirfd_proc_path(int dir, const char *name, char *out, size_t size)
{
	int length = -1;

	if (!name)
		length = snprintf(out, size, "%sself/fd/%d", proc, dir);
	else if (dirfd_is_name(name) || strcmp(name, ".") == 0)
		length = snprintf(out, size, "%sself/fd/%d/%s", proc, dir, name);
	if (length >= 0 && (size_t)length < size)
		return 0;
	if (size)
		out[0] = '\0';
	return length < 0 ? EINVAL : ENAMETOOLONG;
}

struct file_version file_version_of(const struct stat *st)
{
	return (struct file_version){
		.dev = st->st_dev,
		.ino = st->st_ino,
		.size = st->st_size,
		.mtime = st->st_mtim,
		.ctime = st->st_ctim,
	};
}

static bool dirfd_same_time(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

bool file_version_alike(const struct file_version *a, const struct file_version *b)
{
	return a->dev == b->dev && a->ino == b->ino && a->size == b->size &&
	       dirfd_same_time(&a->mtime, &b->mtime);
}

bool file_version_same(const struct file_version *a, const struct file_version *b)
{
	return file_version_alike(a, b) && dirfd_same_time(&a->ctime, &b->ctime);
}

bool file_version_at(int dir, const char *name, struct file_version *out)
{
	struct stat st;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW))
		return false;
	*out = file_version_of(&st);
	return true;
}

bool file_version_is_at(int dir, const char *name, const struct file_version *version)
{
	struct file_version now;

	return file_version_at(dir, name, &now) && file_version_same(&now, version);
}

#define SECOND ((int64_t)1000000000) /* a second in nanoseconds */
#define CLOCK_TICK (SECOND / 100)
#define COARSE_TICK (2 * SECOND)

/*
 * File times have the resolution of the kernel's tick, at most 10 ms on usual systems, so two
 * writes within one tick leave the same version. Some filesystems keep whole seconds (ext3, ext4
 * with inodes of 128 bytes, SFTP) or even seconds (FAT): there, nanoseconds are always zero.
 */
bool file_version_coarse(const struct file_version *version)
{
	return version->ctime.tv_nsec == 0;
}

/* A ctime far in the future comes from another machine's clock; waiting for it would never end. */
bool file_version_settled(const struct file_version *version, const struct timespec *now)
{
	int64_t seconds = now->tv_sec - version->ctime.tv_sec;
	int64_t unsure = 2 * (file_version_coarse(version) ? COARSE_TICK : CLOCK_TICK), age;

	if (seconds < -10 || seconds > 10)
		return true;
	age = seconds * SECOND + now->tv_nsec - version->ctime.tv_nsec;
	return age > unsure || age < -unsure;
}
