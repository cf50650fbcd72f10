/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "backing.h"

#include "animation.h"
#include "disk/dirfd.h"
#include "plain.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/xattr.h>
#include <unistd.h>

int backing_pin(struct vfs *v, const struct target *t, int *fd)
{
	struct site site;
	int error;

	if (t->thing->kind == THING_PLAIN)
		return plain_pin(v, t, fd);
	if (!t->thing->animation || t->thing->animation->archived)
		return archive_pin(v, t->node, fd);
	error = site_open(v, t->thing->animation, &site);
	if (error)
		return error;
	error = dirfd_open(site.folder.fd, site.name, O_PATH | O_NOFOLLOW, 0, fd);
	site_close(v, &site);
	return error;
}

/* Reads through /proc/self/fd, since fgetxattr() refuses O_PATH descriptors. */
int descriptor_xattr(int fd, const char *name, struct buf *out)
{
	char path[DIRFD_PROC_SIZE];
	ssize_t size;
	char *at;

	/* Reserve room for the largest value, which saves a call that asks for the size. */
	if (!buf_reserve(out, XATTR_SIZE_MAX))
		return ENOMEM;
	at = (char *)out->data + out->size;
	dirfd_proc_path(fd, NULL, path, sizeof(path));
	size = name ? getxattr(path, name, at, XATTR_SIZE_MAX)
		    : listxattr(path, at, XATTR_SIZE_MAX);
	if (size < 0)
		return errno;
	out->size += (size_t)size;
	return 0;
}

int backing_xattr(struct vfs *v, const struct target *t, const char *name, struct buf *out)
{
	/*
	 * Use an open descriptor if there is one, to save an open: the kernel asks for
	 * security.capability before each write.
	 */
	int fd = t->thing->kind == THING_PLAIN ? plain_borrow(v, t) : -1;
	int error = fd < 0 ? backing_pin(v, t, &fd) : 0;

	if (error)
		return error;
	error = descriptor_xattr(fd, name, out);
	close(fd);
	return error;
}
