/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * access.c - the guard of a mount that several users share: who may do what with the skeletons and
 * models beside animations. The kernel does not ask for them by name, so it checks nothing.
 *
 * Files count with the owner, mode and ACL that the mount shows them with, as the kernel checks
 * them when they are opened by name. The way to a folder was checked when an animation in it was
 * reached.
 */
#include "fs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

#define ACL_ACCESS "system.posix_acl_access"

/* What is asked about: pinned, so that all is of one file. */
struct asked {
	struct stat st; /* as it is shown */
	struct file_version version;
	struct buf acl;
	struct rights rights;
};

static int read_acl(struct fs *fs, int fd, struct buf *out)
{
	char path[AT_PROC_SIZE];
	ssize_t size;
	int error = fs->acls ? at_proc_path(fd, NULL, path, sizeof(path)) : ENODATA;

	if (error)
		return error == ENODATA ? 0 : error;
	size = getxattr(path, ACL_ACCESS, NULL, 0);
	if (size > 0 && !buf_reserve(out, XATTR_SIZE_MAX))
		return ENOMEM;
	if (size > 0)
		size = getxattr(path, ACL_ACCESS, out->data, XATTR_SIZE_MAX);
	if (size < 0)
		return errno == ENODATA || errno == ENOTSUP ? 0 : errno;
	out->size = (size_t)size;
	return 0;
}

/* name ".": the folder itself. 0 or an errno; asked_release in either case. */
static int ask(struct fs *fs, int dir, const char *name, struct asked *a)
{
	int fd = openat(dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	int error = fd < 0 ? errno : 0;

	*a = (struct asked){.acl = BUF_INIT};
	if (!error && fstat(fd, &a->st) != 0)
		error = errno;
	a->version = file_version_of(&a->st);
	if (!error && S_ISLNK(a->st.st_mode))
		error = ELOOP;
	if (!error)
		error = read_acl(fs, fd, &a->acl);
	fs_show_real(fs, &a->st);
	a->rights = (struct rights){a->st.st_uid, a->st.st_gid, a->st.st_mode, buf_bytes(&a->acl)};
	if (fd >= 0)
		close(fd);
	return error;
}

static void asked_release(struct asked *a)
{
	buf_release(&a->acl);
}

static bool lets_read(const struct guard *g, int dir, const char *file, const char *name,
		      struct file_version *version)
{
	/* Owned by nobody, and for everybody. */
	static const struct rights everybody = {(uid_t)-1, (gid_t)-1, 0444, {NULL, 0}};
	struct fs *fs = g->closure;
	struct asked animation = {.acl = BUF_INIT}, other;
	int error = ask(fs, dir, name, &other);
	bool lets;

	*version = other.version;
	if (!error && file)
		error = ask(fs, dir, file, &animation);
	lets = !error && rights_cover(&other.rights, file ? &animation.rights : &everybody);
	asked_release(&animation);
	asked_release(&other);
	return lets;
}

static int check_write(const struct guard *g, const struct caller *who, int dir, const char *name,
		       struct file_version *version)
{
	struct fs *fs = g->closure;
	struct asked folder, file = {.acl = BUF_INIT};
	int error = ask(fs, dir, ".", &folder);
	unsigned what = name || who->makes ? MAY_SEARCH : MAY_SEARCH | MAY_WRITE;

	if (!error && !caller_may(who, &folder.rights, what))
		error = EACCES;
	if (!error && name)
		error = ask(fs, dir, name, &file);
	if (!error && name && !caller_may(who, &file.rights, MAY_WRITE))
		error = EACCES;
	if (version)
		*version = file.version;
	asked_release(&folder);
	asked_release(&file);
	return error;
}

void access_start(struct fs *fs)
{
	fs->guard = (struct guard){lets_read, check_write, fs};
	if (fs->options->allow_other)
		store_guard(fs->store, &fs->guard);
}

int access_caller(fuse_req_t req, struct caller **out)
{
	*out = NULL;
	return fs_of(req)->options->allow_other ? acl_caller(req, out) : 0;
}

bool access_may_move(struct fs *fs, const struct caller *who, int dir, const char *name)
{
	struct asked folder, file = {.acl = BUF_INIT};
	bool may = !who || who->uid == 0;

	if (may)
		return true;
	if (ask(fs, dir, ".", &folder) == 0 && ask(fs, dir, name, &file) == 0)
		may = !(folder.st.st_mode & S_ISVTX) || who->uid == file.st.st_uid ||
		      who->uid == folder.st.st_uid;
	asked_release(&folder);
	asked_release(&file);
	return may;
}
