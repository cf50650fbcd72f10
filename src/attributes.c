/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "attributes.h"

#include <errno.h>
#include <limits.h>
#include <linux/limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

#define ACL_PREFIX "system.posix_acl_"
#define ACL_ACCESS ACL_PREFIX "access"

void attributes_release(struct attributes *a)
{
	buf_release(&a->acl);
	buf_release(&a->xattrs);
}

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/* ---- reading ---- */

/* Appends it; what is gone by now, or may not be seen, is none. */
static int read_value(int fd, const char *name, struct buf *out)
{
	ssize_t size;

	if (!buf_reserve(out, XATTR_SIZE_MAX))
		return ENOMEM;
	size = fgetxattr(fd, name, out->data + out->size, XATTR_SIZE_MAX);
	if (size < 0)
		return errno == ENOMEM ? ENOMEM : 0;
	out->size += (size_t)size;
	return 0;
}

static int read_xattr(int fd, const char *name, struct attributes *a)
{
	struct buf value = BUF_INIT;
	int error = read_value(fd, name, &value);
	uint32_t size = (uint32_t)value.size;

	buf_add(&a->xattrs, name, strlen(name) + 1);
	buf_add(&a->xattrs, &size, sizeof(size));
	buf_add(&a->xattrs, value.data, value.size);
	buf_release(&value);
	return error ? error : a->xattrs.failed ? ENOMEM : 0;
}

static int read_xattrs(int fd, bool folder, struct attributes *a)
{
	char *names = malloc(XATTR_LIST_MAX);
	ssize_t size;
	int error = 0;

	if (!names)
		return ENOMEM;
	size = flistxattr(fd, names, XATTR_LIST_MAX);
	for (const char *at = names; !error && size > 0 && at < names + size; at += strlen(at) + 1)
		if (!begins(at, ACL_PREFIX) && !(folder && begins(at, "security.")))
			error = read_xattr(fd, at, a);
	free(names);
	return error;
}

int attributes_read(int fd, struct attributes *a)
{
	struct stat st;
	int error;

	if (fstat(fd, &st) != 0)
		return errno;
	a->uid = st.st_uid;
	a->gid = st.st_gid;
	a->mode = st.st_mode & 0777;
	a->mtime = st.st_mtim;
	buf_clear(&a->acl);
	error = read_value(fd, ACL_ACCESS, &a->acl);
	return error ? error : read_xattrs(fd, S_ISDIR(st.st_mode), a);
}

/* ---- giving ---- */

/* Some filesystems have none of it, and some things only root could give. */
static bool may_be_left_out(int error)
{
	return error == EPERM || error == ENOTSUP || error == ENOSYS || error == EINVAL ||
	       error == EACCES;
}

/* The rights of a group that the file does not get are those of others. */
static mode_t give_owner(const struct attributes *a, int fd)
{
	struct stat st;

	if (fchown(fd, a->uid, a->gid) == 0 || fchown(fd, (uid_t)-1, a->gid) == 0)
		return a->mode;
	if (fstat(fd, &st) == 0 && st.st_gid == a->gid)
		return a->mode;
	return (a->mode & ~(mode_t)S_IRWXG) | ((a->mode & S_IRWXO) << 3 & a->mode);
}

/* The folder's default ACL may have given it another one. The mode goes last: it is the mask's. */
static int give_rights(const struct attributes *a, mode_t mode, int fd)
{
	if (fremovexattr(fd, ACL_ACCESS) != 0 && errno != ENODATA && !may_be_left_out(errno))
		return errno;
	if (a->acl.size && fsetxattr(fd, ACL_ACCESS, a->acl.data, a->acl.size, 0) != 0) {
		if (!may_be_left_out(errno))
			return errno;
		mode &= ~(mode_t)S_IRWXG; /* they are the mask's */
	}
	return fchmod(fd, mode) == 0 || may_be_left_out(errno) ? 0 : errno;
}

static int give_xattrs(const struct attributes *a, int fd)
{
	const uint8_t *at = a->xattrs.data, *end = at ? at + a->xattrs.size : at;

	while (at < end) {
		const char *name = (const char *)at;
		uint32_t size;

		at += strlen(name) + 1;
		memcpy(&size, at, sizeof(size));
		at += sizeof(size);
		if (fsetxattr(fd, name, at, size, 0) != 0 && !may_be_left_out(errno))
			return errno;
		at += size;
	}
	return 0;
}

int attributes_give(const struct attributes *a, int fd)
{
	const struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, a->mtime};
	mode_t mode = give_owner(a, fd);
	int error = give_rights(a, mode, fd);

	if (!error)
		error = give_xattrs(a, fd);
	if (!error && a->has_mtime && futimens(fd, times) != 0 && !may_be_left_out(errno))
		error = errno;
	return error;
}
