/* SPDX-License-Identifier: GPL-3.0-or-later */
/* setattr.c - setattr, readlink, statfs. */
#include "access.h"
#include "attr.h"
#include "backing.h"
#include "diagnostics.h"
#include "disk/dirfd.h"
#include "gate.h"
#include "given.h"
#include "handle.h"
#include "looked_up.h"
#include "plain.h"
#include "save.h"
#include "staging.h"
#include "upper.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#define SETS_ATIME (SET_ATIME | SET_ATIME_NOW)
#define SETS_MTIME (SET_MTIME | SET_MTIME_NOW)

static struct timespec time_for(const struct stat *attr, int to_set, bool access)
{
	if (to_set & (access ? SET_ATIME_NOW : SET_MTIME_NOW))
		return (struct timespec){0, UTIME_NOW};
	if (to_set & (access ? SET_ATIME : SET_MTIME))
		return access ? attr->st_atim : attr->st_mtim;
	return (struct timespec){0, UTIME_OMIT};
}

static struct timespec now_or(struct timespec given)
{
	if (given.tv_nsec == UTIME_NOW)
		given = clock_wall();
	return given;
}

/* ---- files ---- */

/* Changes the attributes of the file behind fd, which may be O_PATH, also of a symbolic link. */
static int change_file(int fd, const struct stat *attr, int to_set)
{
	char path[DIRFD_PROC_SIZE];

	dirfd_proc_path(fd, NULL, path, sizeof(path));
	if (to_set & (SET_UID | SET_GID)) {
		uid_t uid = to_set & SET_UID ? attr->st_uid : (uid_t)-1;
		gid_t gid = to_set & SET_GID ? attr->st_gid : (gid_t)-1;

		if (fchownat(fd, "", uid, gid, AT_EMPTY_PATH) != 0)
			return errno;
	}
	if ((to_set & SET_MODE) && chmod(path, attr->st_mode & 07777) != 0)
		return errno;
	if ((to_set & SET_SIZE) && truncate(path, attr->st_size) != 0)
		return errno;
	if (to_set & SETS_TIME) {
		struct timespec times[2] = {time_for(attr, to_set, true),
					    time_for(attr, to_set, false)};

		if (utimensat(fd, "", times, AT_EMPTY_PATH) != 0)
			return errno;
	}
	return 0;
}

/* Changes the remembered attributes of a thing that has no name and is not open here. */
static bool set_last(struct vfs *v, const struct target *t, const struct stat *attr, int to_set)
{
	struct stat *last;

	vfs_lock(v);
	last = node_link(t->node) ? NULL : t->thing->plain.last;
	if (last && (to_set & SET_MODE))
		last->st_mode = (last->st_mode & S_IFMT) | (attr->st_mode & 07777);
	if (last && (to_set & SET_UID))
		last->st_uid = attr->st_uid;
	if (last && (to_set & SET_GID))
		last->st_gid = attr->st_gid;
	if (last && (to_set & SETS_ATIME))
		last->st_atim = now_or(time_for(attr, to_set, true));
	if (last && (to_set & SETS_MTIME))
		last->st_mtim = now_or(time_for(attr, to_set, false));
	vfs_unlock(v);
	return last;
}

static unsigned given_by(int to_set)
{
	unsigned given = 0;

	if (to_set & SET_UID)
		given |= 1u << GIVEN_OWNER;
	if (to_set & SET_GID)
		given |= 1u << GIVEN_GROUP;
	if (to_set & SET_MODE)
		given |= 1u << GIVEN_MODE;
	if (to_set & SETS_MTIME)
		given |= 1u << GIVEN_TIME;
	return given;
}

static int resize_open(struct vfs *v, const struct target *t, off_t size, int fd)
{
	int error = upper_grow_to(v, t->thing, fd, (uint64_t)size);

	return error ? error : ftruncate(fd, size) == 0 ? 0 : errno;
}

static int set_plain(struct vfs *v, const struct request *who, const struct target *t,
		     struct handle *handle, const struct stat *attr, int to_set)
{
	int fd = handle && (to_set & SET_SIZE) ? handle_descriptor(v, handle) : -1;
	int error = fd < 0 ? 0 : resize_open(v, t, attr->st_size, fd);

	if (error)
		return error;
	if (fd >= 0)
		to_set &= ~SET_SIZE;
	/* Programs such as tar set attributes of open files; this saves an open and stats. */
	fd = plain_borrow(v, t);
	error = fd < 0 ? plain_pin(v, t, &fd) : 0;
	if (error && set_last(v, t, attr, to_set))
		return 0;
	if (error == ENOENT || error == ESTALE)
		fd = looked_up_borrow(v, who, t->node);
	if (error && fd < 0)
		return error;
	error = 0;
	if (to_set & SET_SIZE)
		error = upper_grow_to(v, t->thing, fd, (uint64_t)attr->st_size);
	if (!error)
		error = change_file(fd, attr, to_set);
	close(fd);
	staging_given(v, who, t->node, error ? 0 : given_by(to_set));
	return error;
}

/* Changes the animation file's attributes, when those of its folder or of raw.* are set. */
static int set_animation(struct vfs *v, const struct target *t, const struct stat *attr, int to_set)
{
	struct stat wanted = *attr;
	int fd, error = backing_pin(v, t, &fd);

	if (error)
		return error;
	if (t->thing->folder)
		/* the x of a folder must not make the file executable */
		wanted.st_mode &= ~(mode_t)0111;
	error = change_file(fd, &wanted, to_set & ~SET_SIZE);
	close(fd);
	return error;
}

/* ---- views ---- */

static void give_attributes(struct given *g, const struct stat *attr, int to_set)
	REQUIRES(vfs_class)
{
	if (to_set & SET_MODE)
		given_mode(g, attr->st_mode);
	if (to_set & SET_UID) {
		g->has_uid = true;
		g->uid = attr->st_uid;
	}
	if (to_set & SET_GID) {
		g->has_gid = true;
		g->gid = attr->st_gid;
	}
	if (to_set & SETS_ATIME) {
		g->has_atime = true;
		g->atime = now_or(time_for(attr, to_set, true));
	}
}

/* Remembers attributes that are set on a view. Does nothing for a view without a name. */
static int remember_attributes(struct vfs *v, const struct target *t, const struct stat *attr,
			       int to_set)
{
	struct given *g;
	int error;

	if (!given_is_for(t->thing) || !(to_set & (SETS_RIGHTS | SETS_TIME)))
		return 0;
	vfs_lock(v);
	g = given_need(v, t->node);
	error = g || !node_link(t->node) ? 0 : ENOMEM;
	if (g)
		give_attributes(g, attr, to_set);
	vfs_unlock(v);
	if (g && (to_set & SETS_MTIME))
		given_mtime(v, t, now_or(time_for(attr, to_set, false)));
	return error;
}

static int resize(struct vfs *v, const struct request *who, const struct target *t, off_t size,
		  struct handle *handle)
{
	struct changes changes = CHANGES_INIT;
	int error = view_resize(v, who, t, (uint64_t)size, handle, &changes);

	changes_send_all(v, &changes);
	return error;
}

/* ---- setattr, readlink, statfs ---- */

static int set_attributes(struct vfs *v, const struct request *who, const struct target *t,
			  struct handle *handle, const struct stat *attr, int to_set)
{
	int error = 0;

	if (t->thing->kind == THING_CONTROL)
		return EPERM;
	if (t->thing->kind == THING_PLAIN)
		return set_plain(v, who, t, handle, attr, to_set);
	if (t->thing->kind == THING_VIEW && (to_set & SET_SIZE))
		error = resize(v, who, t, attr->st_size, handle);
	else if (!given_is_for(t->thing))
		return set_animation(v, t, attr, to_set);
	return error ? error : remember_attributes(v, t, attr, to_set);
}

int vfs_setattr(struct vfs *v, const struct request *who, uint64_t node, struct handle *handle,
		const struct stat *attr, int to_set, struct stat *st, double *timeout)
{
	unsigned tries = 0;
	struct guest guest;
	struct target t;
	int error;

	if (v->read_only)
		return EROFS;
	gate_enter(v, node, &guest);
	do {
		error = target_get(v, node, &t);
		if (error)
			break;
		error = thing_is_member(t.thing) ? refuse_in_archive(v, t.node, NULL, NULL)
						 : set_attributes(v, who, &t, handle, attr, to_set);
		if (!error && (to_set & SETS_RIGHTS))
			access_changed(v, &t);
		if (!error)
			error = attributes_found(v, who, &t, st);
		if (!error)
			*timeout = timeout_of(v, &t);
	} while (target_again(v, &t, error, &tries));
	gate_leave(v, &guest);
	return looked_up_end(v, who, 0, error);
}

int vfs_readlink(struct vfs *v, uint64_t node, char target[PATH_MAX + 1])
{
	char name[NAME_MAX + 1];
	struct folder folder;
	ssize_t size = -1;
	struct target t;
	struct stat st;
	int error = target_get(v, node, &t);

	if (error)
		return error;
	error = plain_where(v, &t, &folder, name, &st);
	if (!error) {
		size = readlinkat(folder.fd, name, target, PATH_MAX);
		error = size < 0 ? errno : 0;
		folder_close(v, &folder);
	}
	if (!error)
		target[size] = '\0';
	else if (error == EINVAL)
		error = ESTALE; /* the file is no longer a symbolic link */
	target_put(v, &t);
	return error;
}

int vfs_statfs(struct vfs *v, struct statvfs *st)
{
	if (fstatvfs(v->root, st) != 0)
		return errno;
	if (v->read_only)
		st->f_flag |= ST_RDONLY;
	return 0;
}
