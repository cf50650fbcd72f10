/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * access.c - permissions. The kernel checks owner, mode and ACL (default_permissions). This file
 * computes the ACLs of things, and checks reading in two cases that the kernel does not: when a
 * rename exposes a view's text under another name, and when we read skeletons and models beside
 * animations, which the caller has not opened.
 *
 * Checks use the owner, mode and ACL that the mount shows, as the kernel's do. The path to a folder
 * was checked when the kernel looked up an animation in it.
 */
#include "access.h"

#include "animation.h"
#include "attr.h"
#include "backing.h"
#include "given.h"
#include "plain.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- ACLs of nodes ---- */

static int backing_acl(struct vfs *v, const struct target *t, const char *name, struct buf *out)
{
	int error = backing_xattr(v, t, name, out);

	return error == EOPNOTSUPP ? ENODATA : error;
}

/*
 * The folders and views of an animation have the ACL of the animation file, adapted to the mode
 * that they are shown with: folders have x wherever they have r, and read-only views have no w.
 */
int acl_get(struct vfs *v, const struct target *t, const char *name, struct buf *out)
{
	struct stat st;
	int error;

	if (t->thing->kind == THING_PLAIN)
		return backing_acl(v, t, name, out);
	error = given_is_for(t->thing) ? given_xattr(v, t, name, out) : ENODATA;
	if (error != ENODATA)
		return error;
	if (strcmp(name, ACL_ACCESS) != 0 || t->thing->kind == THING_CONTROL)
		return ENODATA;
	error = backing_acl(v, t, name, out);
	if (!error)
		error = attributes_of(v, t, &st);
	if (!error)
		acl_for_shown(out, st.st_mode);
	return error;
}

int acl_check_read(struct vfs *v, const struct request *who, const struct target *t)
{
	struct buf acl = BUF_INIT;
	struct rights rights;
	struct caller *caller;
	struct stat st;
	int error;

	if (who->uid == 0)
		return 0;
	error = attributes_of(v, t, &st);
	if (!error)
		error = acl_caller(who, &caller);
	if (error)
		return error;
	error = v->acls ? acl_get(v, t, ACL_ACCESS, &acl) : ENODATA;
	rights = (struct rights){st.st_uid, st.st_gid, st.st_mode, buf_bytes(&acl)};
	if (!error || error == ENODATA)
		error = caller_may(caller, &rights, MAY_READ) ? 0 : EACCES;
	free(caller);
	buf_release(&acl);
	return error;
}

void access_changed(struct vfs *v, const struct target *t)
{
	struct version *version;
	struct stat st;

	if (t->thing->animation && animation_look(v, t->thing->animation, &version, &st) == 0)
		version_put(version);
}

/* ---- rights to files beside an animation ---- */

/*
 * A file whose rights are checked. It stays open meanwhile, so that mode, owner and ACL are of one
 * file.
 */
struct asked {
	struct stat st; /* attributes as the mount shows them (uid=, gid=, umask=) */
	struct file_version version;
	struct buf acl;
	struct rights rights;
};

static int read_acl(const struct vfs *v, int fd, struct buf *out)
{
	int error = v->acls ? descriptor_xattr(fd, ACL_ACCESS, out) : ENODATA;

	return error == ENODATA || error == EOPNOTSUPP ? 0 : error;
}

/*
 * Fills *a with the rights of the file behind a->fd. Returns 0 or an errno; call asked_release in
 * either case.
 */
static int ask_descriptor(const struct vfs *v, int fd, struct asked *a)
{
	int error = fstat(fd, &a->st) == 0 ? 0 : errno;

	a->version = file_version_of(&a->st);
	if (!error && S_ISLNK(a->st.st_mode))
		error = ELOOP;
	if (!error)
		error = read_acl(v, fd, &a->acl);
	plain_show(v, &a->st);
	a->rights = (struct rights){a->st.st_uid, a->st.st_gid, a->st.st_mode, buf_bytes(&a->acl)};
	return error;
}

/*
 * Reads the owner, mode and ACL of the file `name` in the folder `dir`, or of `dir` itself if
 * `name` is ".".
 */
static int ask_name(const struct vfs *v, int dir, const char *name, struct asked *a)
{
	int fd = openat(dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	int error;

	*a = (struct asked){.acl = BUF_INIT};
	if (fd < 0)
		return errno;
	error = ask_descriptor(v, fd, a);
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
	/* rights of a file that no user owns and all users may read */
	static const struct rights everybody = {(uid_t)-1, (gid_t)-1, 0444, {NULL, 0}};
	const struct vfs *v = g->closure;
	struct asked animation = {.acl = BUF_INIT}, other;
	int error = ask_name(v, dir, name, &other);
	bool lets;

	*version = other.version;
	if (!error && file)
		error = ask_name(v, dir, file, &animation);
	lets = !error && rights_cover(&other.rights, file ? &animation.rights : &everybody);
	asked_release(&animation);
	asked_release(&other);
	return lets;
}

static int check_write(const struct guard *g, const struct caller *who, int dir, const char *name,
		       struct file_version *version)
{
	const struct vfs *v = g->closure;
	struct asked folder, file = {.acl = BUF_INIT};
	int error = ask_name(v, dir, ".", &folder);
	unsigned what = name || who->makes ? MAY_SEARCH : MAY_SEARCH | MAY_WRITE;

	if (!error && !caller_may(who, &folder.rights, what))
		error = EACCES;
	if (!error && name)
		error = ask_name(v, dir, name, &file);
	if (!error && name && !caller_may(who, &file.rights, MAY_WRITE))
		error = EACCES;
	if (version)
		*version = file.version;
	asked_release(&folder);
	asked_release(&file);
	return error;
}

int access_check_read(const struct vfs *v, const struct caller *who, int fd)
{
	struct asked file = {.acl = BUF_INIT};
	int error;

	if (!who || who->uid == 0)
		return 0;
	error = ask_descriptor(v, fd, &file);
	if (!error && !caller_may(who, &file.rights, MAY_READ))
		error = EACCES;
	asked_release(&file);
	return error;
}

void access_start(struct vfs *v)
{
	v->guard = (struct guard){lets_read, check_write, v};
	if (v->options->allow_other)
		store_guard(v->store, &v->guard);
}

int access_caller(struct vfs *v, const struct request *who, struct caller **out)
{
	*out = NULL;
	return v->options->allow_other ? acl_caller(who, out) : 0;
}

bool access_may_move(struct vfs *v, const struct caller *who, int dir, const char *name)
{
	struct asked folder, file = {.acl = BUF_INIT};
	bool may = !who || who->uid == 0;

	if (may)
		return true;
	if (ask_name(v, dir, ".", &folder) == 0 && ask_name(v, dir, name, &file) == 0)
		may = !(folder.st.st_mode & S_ISVTX) || who->uid == file.st.st_uid ||
		      who->uid == folder.st.st_uid;
	asked_release(&folder);
	asked_release(&file);
	return may;
}
