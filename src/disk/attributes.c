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

static bool attributes_starts_with(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/* ---- reading ---- */

/*
 * Appends the value of an attribute. Returns 0 or an errno: another program may remove the
 * attribute meanwhile, or we may not read it.
 */
static int attributes_read_value(int fd, const char *name, struct buf *out)
{
	ssize_t size;

	if (!buf_reserve(out, XATTR_SIZE_MAX))
		return ENOMEM;
	size = fgetxattr(fd, name, out->data + out->size, XATTR_SIZE_MAX);
	if (size < 0)
		return errno;
	out->size += (size_t)size;
	return 0;
}

/* Adds an attribute, unless it was removed meanwhile or may not be read. */
static int read_xattr(int fd, const char *name, struct attributes *a)
{
	struct buf value = BUF_INIT;
	int error = attributes_read_value(fd, name, &value);
	uint32_t size = (uint32_t)value.size;

	if (!error) {
		buf_add(&a->xattrs, name, strlen(name) + 1);
		buf_add(&a->xattrs, &size, sizeof(size));
		buf_add(&a->xattrs, value.data, value.size);
	}
	buf_release(&value);
	return error == ENOMEM || a->xattrs.failed ? ENOMEM : 0;
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
		if (!attributes_starts_with(at, ACL_PREFIX) &&
		    !(folder && attributes_starts_with(at, "security.")))
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
	error = attributes_read_value(fd, ACL_ACCESS, &a->acl);
	return error == ENOMEM ? error : read_xattrs(fd, S_ISDIR(st.st_mode), a);
}

/* ---- giving ---- */

/*
 * Does the error mean that the filesystem lacks such attributes, or that we may not set this
 * one?
 */
static bool may_be_left_out(int error)
{
	return error == EPERM || error == ENOTSUP || error == ENOSYS || error == EINVAL ||
	       error == EACCES;
}

/*
 * Sets owner and group. If the group cannot be set, the group bits of *mode are reduced to the
 * rights of others: another group must not gain rights. Only a full quota is an error.
 */
static int give_owner(const struct attributes *a, int fd, mode_t *mode)
{
	struct stat st;

	*mode = a->mode;
	if (fchown(fd, a->uid, a->gid) == 0 ||
	    (errno != EDQUOT && fchown(fd, (uid_t)-1, a->gid) == 0))
		return 0;
	if (errno == EDQUOT)
		return errno;
	if (fstat(fd, &st) != 0 || st.st_gid != a->gid)
		*mode = (a->mode & ~(mode_t)S_IRWXG) | ((a->mode & S_IRWXO) << 3 & a->mode);
	return 0;
}

/*
 * Removes an ACL that the file got from the folder's default ACL. The mode is set last, since with
 * an ACL its group bits are the mask.
 */
static int give_rights(const struct attributes *a, mode_t mode, int fd)
{
	if (fremovexattr(fd, ACL_ACCESS) != 0 && errno != ENODATA && !may_be_left_out(errno))
		return errno;
	if (a->acl.size && fsetxattr(fd, ACL_ACCESS, a->acl.data, a->acl.size, 0) != 0) {
		if (!may_be_left_out(errno))
			return errno;
		mode &= ~(mode_t)S_IRWXG; /* these bits would be the mask of the ACL that is missing
					     here */
	}
	return fchmod(fd, mode) == 0 || may_be_left_out(errno) ? 0 : errno;
}

bool attributes_next(const struct attributes *a, size_t *at, const char **name, struct bytes *value)
{
	uint32_t size;

	if (*at >= a->xattrs.size)
		return false;
	*name = (const char *)a->xattrs.data + *at;
	*at += strlen(*name) + 1;
	memcpy(&size, a->xattrs.data + *at, sizeof(size));
	*at += sizeof(size);
	*value = (struct bytes){a->xattrs.data + *at, size};
	*at += size;
	return true;
}

static int give_xattrs(const struct attributes *a, int fd)
{
	struct bytes value;
	const char *name;
	size_t at = 0;

	while (attributes_next(a, &at, &name, &value)) {
		if (fsetxattr(fd, name, value.data, value.size, 0) != 0 && !may_be_left_out(errno))
			return errno;
	}
	return 0;
}

int attributes_give(const struct attributes *a, int fd)
{
	const struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, a->mtime};
	mode_t mode;
	int error = give_owner(a, fd, &mode);

	if (!error)
		error = give_rights(a, mode, fd);
	if (!error)
		error = give_xattrs(a, fd);
	if (!error && a->has_mtime && futimens(fd, times) != 0 && !may_be_left_out(errno))
		error = errno;
	return error;
}
