/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "export_copy.h"

#include "disk/dirfd.h"
#include "export_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#define PART_SIZE ((size_t)1 << 20)

static int copy_by_hand(int in, int out)
{
	uint8_t part[16384];
	ssize_t got;
	int error = 0;

	while (!error && (got = read(in, part, sizeof(part))) != 0) {
		if (got < 0)
			error = errno == EINTR ? 0 : errno;
		else
			error = dirfd_write(out, (struct bytes){part, (size_t)got});
	}
	return error;
}

/* Copies by read and write if the kernel cannot copy between these filesystems. */
static int export_copy_bytes(int in, int out)
{
	ssize_t copied;

	while ((copied = copy_file_range(in, NULL, out, NULL, PART_SIZE, 0)) > 0)
		;
	if (copied < 0 && errno != EXDEV && errno != EINVAL && errno != ENOSYS &&
	    errno != EOPNOTSUPP)
		return errno;
	return copy_by_hand(in, out);
}

static int export_copy_file(int from, int to, const char *name, const char *part,
			    const struct stat *st)
{
	const struct timespec times[2] = {st->st_mtim, st->st_mtim};
	int in, out, error = dirfd_open(from, name, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0, &in);

	if (error)
		return error;
	error = dirfd_open(to, part, O_WRONLY | O_CREAT | O_EXCL, st->st_mode & 0777, &out);
	if (!error) {
		error = export_copy_bytes(in, out);
		if (!error && futimens(out, times) != 0)
			error = errno;
		if (close(out) != 0 && !error)
			error = errno;
	}
	close(in);
	return error;
}

static int copy_link(int from, int to, const char *name, const char *part)
{
	char target[PATH_MAX];
	ssize_t length = readlinkat(from, name, target, sizeof(target) - 1);

	if (length < 0)
		return errno;
	target[length] = '\0';
	return symlinkat(target, to, part) == 0 ? 0 : errno;
}

static bool export_copy_is_there(int to, const char *name, const struct stat *st)
{
	struct stat there;

	return fstatat(to, name, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
	       there.st_size == st->st_size && there.st_mtim.tv_sec == st->st_mtim.tv_sec &&
	       there.st_mtim.tv_nsec == st->st_mtim.tv_nsec &&
	       (there.st_mode & S_IFMT) == (st->st_mode & S_IFMT);
}

int export_copy(int from, int to, const char *name, const struct stat *st, bool update,
		const struct progress *progress)
{
	struct export_part part;
	int error;

	if (update && export_copy_is_there(to, name, st))
		return 0;
	error = export_part_begin(&part, to, name, progress);
	if (!error)
		error = S_ISLNK(st->st_mode) ? copy_link(from, to, name, part.name)
					     : export_copy_file(from, to, name, part.name, st);
	if (!error && renameat(to, part.name, to, name) != 0)
		error = errno;
	export_part_end(&part);
	return error;
}
