/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replace.h"
#include "util/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/limits.h>
#include <signal.h>
#include <stdio.h> /* RENAME_EXCHANGE */
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

#define ACL "system.posix_acl_access"
#define CAPABILITIES "security.capability"

/*
 * Asks for a read lease, which the kernel refuses while any program has the file open for writing.
 * It is released at once, since it would block open() in other programs. A lease that is broken
 * meanwhile sends a signal: SIGURG, which is ignored, instead of SIGIO, which would kill us.
 */
static bool replace_is_written(int fd)
{
	fcntl(fd, F_SETSIG, SIGURG);
	if (fcntl(fd, F_SETLEASE, F_RDLCK))
		return errno == EAGAIN;
	fcntl(fd, F_SETLEASE, F_UNLCK);
	return false;
}

/* Returns 0 if the file has the expected version, or is missing as expected; else EAGAIN. */
static int check_version(const struct replacement *r)
{
	struct file_version there;
	struct stat st;

	if (fstatat(r->dir, r->name, &st, AT_SYMLINK_NOFOLLOW)) {
		if (errno != ENOENT)
			return errno;
		return r->expect ? EAGAIN : 0;
	}
	there = file_version_of(&st);
	return r->expect && file_version_same(&there, r->expect) ? 0 : EAGAIN;
}

static int check_target(const struct replacement *r)
{
	int error = check_version(r);

	return !error && r->expect && r->old >= 0 && replace_is_written(r->old) ? EBUSY : error;
}

/*
 * Checks the version and compares the bytes: a write may leave all times of the version
 * unchanged.
 */
static int check_bytes(const struct replacement *r)
{
	return r->was ? dirfd_compare(r->old, *r->was) : 0;
}

/*
 * Compares the bytes again if times are coarse. Otherwise, only a write between the last check and
 * the rename could be missed.
 */
static int check_bytes_again(const struct replacement *r)
{
	return r->was && file_version_coarse(r->expect) ? check_bytes(r) : 0;
}

/*
 * Opens the old file. If that fails because the file has another version by now, the error is
 * EAGAIN.
 */
static int open_old(struct replacement *r)
{
	int opened, error;

	if (!r->expect)
		return 0; /* the file that has the name now may be gone before the new one is placed
			   */
	opened = dirfd_open(r->dir, r->name, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0, &r->old);
	error = check_target(r);
	return error ? error : opened;
}

/* Changes owner and group; only a full quota is an error. */
static int change_owner(int fd, uid_t uid, gid_t gid, bool *changed)
{
	*changed = fchown(fd, uid, gid) == 0;
	return !*changed && errno == EDQUOT ? errno : 0;
}

/*
 * Must set-id bits and capabilities be dropped? As with write(), they are if the new bytes come
 * from a user other than root or the owner, since they were granted for other bytes.
 */
static bool drops_rights(const struct replacement *r, const struct stat *from)
{
	return r->writer && *r->writer != 0 && *r->writer != from->st_uid;
}

/*
 * Copies owner and group. Only root can chown to others. If owner or group differs from the old
 * one, set-id bits are dropped; another group gets the rights of others. *mode is the mode for the
 * new file. Returns an errno if the owner's quota has no room for the file.
 */
static int copy_owner(const struct stat *from, const struct replace_owner *owner, int to,
		      mode_t *mode, bool *same_group)
{
	bool owned, grouped;
	int error = change_owner(to, owner->uid, owner->gid, &owned);

	grouped = owned;
	if (!error && !owned)
		error = change_owner(to, (uid_t)-1, owner->gid, &grouped);
	*mode = from->st_mode & 07777;
	*same_group = grouped && owner->gid == from->st_gid;
	if (!owned || owner->uid != from->st_uid || !*same_group)
		*mode &= (mode_t) ~(S_ISUID | S_ISGID);
	if (!*same_group)
		*mode = (*mode & ~(mode_t)S_IRWXG) | (*mode & S_IRWXO) << 3;
	return error;
}

/*
 * May this attribute be left out? Some belong to the filesystem or to a security module and cannot
 * be copied.
 */
static bool may_stay_behind(const char *name, int error)
{
	return error == ENOTSUP || strncmp(name, "security.", 9) == 0;
}

static int copy_xattr(int from, int to, const char *name, void *value)
{
	ssize_t size = fgetxattr(from, name, value, XATTR_SIZE_MAX);

	if (size < 0)
		return errno == ENODATA || may_stay_behind(name, errno) ? 0 : errno;
	if (fsetxattr(to, name, value, (size_t)size, 0))
		return may_stay_behind(name, errno) ? 0 : errno;
	return 0;
}

/*
 * Copies extended attributes. ACLs are xattrs too; they are copied only if the group is the
 * same.
 */
static int copy_xattrs(int from, int to, bool acl, bool capabilities)
{
	char *names = malloc(XATTR_LIST_MAX + XATTR_SIZE_MAX);
	ssize_t size;
	int error = 0;

	if (!names)
		return ENOMEM;
	size = flistxattr(from, names, XATTR_LIST_MAX);
	if (size < 0) {
		error = errno == ENOTSUP ? 0 : errno;
		size = 0;
	}
	for (const char *at = names; !error && at < names + size; at += strlen(at) + 1) {
		if ((acl || strcmp(at, ACL) != 0) &&
		    (capabilities || strcmp(at, CAPABILITIES) != 0))
			error = copy_xattr(from, to, at, names + XATTR_LIST_MAX);
	}
	free(names);
	return error;
}

/* Removes an ACL that the new file got from the folder's default ACL. */
static int drop_inherited_acl(int fd)
{
	if (!fremovexattr(fd, ACL) || errno == ENODATA || errno == ENOTSUP)
		return 0;
	return errno;
}

/*
 * Returns the mode without the mask of an ACL: with an ACL, the group bits of the mode are its
 * mask, not the rights of the group.
 */
static mode_t without_mask(int from, int to, mode_t mode)
{
	bool lost = fgetxattr(from, ACL, NULL, 0) > 0 && fgetxattr(to, ACL, NULL, 0) <= 0;

	return lost ? mode & ~(mode_t)S_IRWXG : mode;
}

/* Copies all attributes, the mode last: until then only the owner may read the file. */
static int copy_attributes(const struct replacement *r)
{
	const int from = r->old, to = r->fresh;
	struct replace_owner own;
	struct stat st;
	bool same_group, drops;
	mode_t mode;
	int error = fstat(from, &st) ? errno : drop_inherited_acl(to);

	if (error)
		return error;
	own = (struct replace_owner){st.st_uid, st.st_gid};
	drops = drops_rights(r, &st);
	error = copy_owner(&st, r->owner ? r->owner : &own, to, &mode, &same_group);
	if (!error)
		error = copy_xattrs(from, to, same_group, !drops);
	if (error)
		return error;
	if (drops)
		mode &= (mode_t) ~(S_ISUID | S_ISGID);
	if (same_group)
		mode = without_mask(from, to, mode);
	/* A filesystem without modes gives both files the mode of its mount. */
	return fchmod(to, mode) == 0 || errno == ENOSYS || errno == EOPNOTSUPP ? 0 : errno;
}

static bool same_moment(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

/*
 * Sets an mtime between two ticks of the kernel's clock, so that any later write changes it, unless
 * the filesystem rounds times. Two writes within one tick would have the same time.
 */
static struct timespec set_moment(int fd)
{
	struct timespec tick, times[2] = {{.tv_nsec = UTIME_OMIT}};

	times[1] = clock_wall();
	tick = clock_wall_tick();
	if (same_moment(&times[1], &tick) || futimens(fd, times))
		times[1] = (struct timespec){0, 0};
	return times[1];
}

static uid_t owner_to_be(const struct replacement *r)
{
	struct stat st;

	if (r->as)
		return r->as->uid;
	if (r->old < 0)
		return r->payer;
	return r->owner ? r->owner->uid : fstat(r->old, &st) ? r->payer : st.st_uid;
}

static int fill_file(struct replacement *r, struct bytes data)
{
	struct timespec moment = {0, 0};
	struct stat st;
	int error = dirfd_write(r->fresh, data);

	if (!error)
		r->payer = owner_to_be(r);
	if (!error && r->old >= 0)
		error = copy_attributes(r);
	if (!r->as || !r->as->has_mtime)
		moment = set_moment(r->fresh);
	if (!error && r->as)
		error = attributes_give(r->as, r->fresh);
	if (!error && (fsync(r->fresh) || fstat(r->fresh, &st)))
		error = errno;
	if (error)
		return error;
	r->written = file_version_of(&st);
	r->settled = same_moment(&r->written.mtime, &moment);
	return 0;
}

/* Returns the present version of the file with a name. */
static int replace_version_of(const struct replacement *r, const char *name,
			      struct file_version *version)
{
	struct stat st;

	*version = (struct file_version){0};
	if (fstatat(r->dir, name, &st, AT_SYMLINK_NOFOLLOW))
		return errno;
	*version = file_version_of(&st);
	return 0;
}

static int rename_as(const struct replacement *r, unsigned flags)
{
	return dirfd_rename(r->via, r->temporary, r->dir, r->name, flags);
}

/*
 * Renames the old file from its temporary name to NAME.~1~ and so on, when it cannot be exchanged
 * back because another program has removed the name. The next mount would remove it as a temporary.
 * With `own`, the file is another program's, and gets its own name if that is free.
 */
static void replace_give_back(struct replacement *r, bool own)
{
	char name[NAME_MAX + 1];
	int error = own ? rename_as(r, RENAME_NOREPLACE) : EEXIST;

	if (error == EEXIST)
		error = dirfd_rename_apart(r->via, r->temporary, r->dir, r->name, name);
	r->is_stuck = error != 0;
}

/* Does the file that the exchange moved out still have the checked version? 0 or an errno. */
static int check_out(const struct replacement *r)
{
	return replace_is_written(r->old) ? EBUSY : check_bytes_again(r);
}

/*
 * Exchanges the new file with the old one, or, if `reason` is an errno and not 0, exchanges them
 * back. `expected`: the version that the exchange should move to the temporary name. A program that
 * ignores our lock may replace the target at any time, and its file must survive: if another
 * version was moved, exchanges again, until the version that is moved is the one that we put in. In
 * the end the file with the temporary name can be removed. Returns 0 if the new file is in place,
 * else the errno why it is not (`reason`, if that was given).
 */
static int exchange_files(struct replacement *r, struct file_version expected, int reason)
{
	struct file_version put, out;
	bool stays;

	for (;;) {
		const bool back = reason != 0;
		const int unseen = replace_version_of(r, r->temporary, &put);
		int error = unseen && !back ? unseen : rename_as(r, RENAME_EXCHANGE);

		if (error && !back)
			return error == ENOENT ? EAGAIN : error;
		stays = error && !unseen; /* `put` is still there */
		if (!error)
			error = replace_version_of(r, r->temporary, &out);
		if (!back)
			reason = error                                  ? error
				 : !file_version_alike(&out, &expected) ? EAGAIN
									: check_out(r);
		else if (!error && file_version_alike(&out, &expected))
			return reason;
		else if (error || unseen) {
			replace_give_back(r, stays && !file_version_alike(&put, r->expect));
			return reason;
		}
		if (!reason)
			return 0;
		expected = put;
	}
}

static int replace_keep_old(const struct replacement *r, int dir, const char *name, bool spare)
{
	return r->keep && r->expect ? r->keep(r->keeper, dir, name, spare) : 0;
}

static int check_kept(const struct replacement *r)
{
	struct file_version there;
	int error = replace_version_of(r, r->name, &there);

	if (error)
		return error == ENOENT ? EAGAIN : error;
	return file_version_alike(&there, r->expect) ? 0 : EAGAIN;
}

/* Places the new file; *exchanged is set if the old file then has the temporary name. */
static int replace_place_file(struct replacement *r, bool *exchanged)
{
	int error = r->expect ? exchange_files(r, *r->expect, 0) : rename_as(r, RENAME_NOREPLACE);

	*exchanged = !error && r->expect;
	if (!r->expect || !dirfd_lacks_flags(error))
		return error == EEXIST ? EAGAIN : error;
	error = check_target(r);
	if (!error)
		error = check_bytes_again(r);
	if (!error)
		error = replace_keep_old(r, r->dir, r->name, false);
	if (!error)
		error = check_kept(r);
	return error ? error : rename_as(r, 0);
}

/* Reads the version of the new file: as written, with the ctime of the rename. */
static int read_result(const struct replacement *r, struct file_version *now)
{
	struct stat st;

	*now = r->written;
	if (fstat(r->fresh, &st))
		return errno;
	now->ctime = st.st_ctim;
	return dirfd_sync_folder(r->dir);
}

/*
 * Moves a file of this version to the temporary name. EAGAIN if another file has its name; that
 * file keeps it. If the moved file cannot be examined, it gets its name back.
 */
static int move_out(struct replacement *r, const struct file_version *expected)
{
	struct file_version there;
	int error = replace_version_of(r, r->name, &there);

	if (!error && !file_version_alike(&there, expected))
		return EAGAIN;
	if (!error)
		error = dirfd_rename(r->dir, r->name, r->via, r->temporary, RENAME_NOREPLACE);
	if (error)
		return error == ENOENT ? EAGAIN : error;
	error = replace_version_of(r, r->temporary, &there);
	if (!error && file_version_alike(&there, expected))
		return 0;
	replace_give_back(r, true);
	return error ? error : EAGAIN;
}

/*
 * After an error that came after the rename: puts the old file back, or removes the new one if
 * there was none. If another program has replaced or removed the new file, leaves it so.
 */
static void replace_take_back(struct replacement *r, bool exchanged, int error)
{
	if (exchanged)
		exchange_files(r, r->written, error);
	else if (!r->expect)
		move_out(r, &r->written);
}

/*
 * Reopens the new file read-only before it gets its name: otherwise another mount would believe
 * that we are writing it (replace_is_written). If we may not read it, the descriptor stays open
 * for writing. EAGAIN: the temporary name is another file's, such as a FIFO, whose open must not
 * block.
 */
static int end_writing(struct replacement *r)
{
	int fd, error = 0;

	if (dirfd_open(r->via, r->temporary, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0, &fd))
		return 0;
	if (dirfd_same_file(r->fresh, fd)) {
		int was = r->fresh;

		r->fresh = fd;
		fd = was;
	} else {
		error = EAGAIN;
	}
	close(fd);
	return error;
}

int replace_prepare(struct replacement *r, struct bytes data)
{
	mode_t mode = r->expect || r->as || r->has_like ? 0600 : 0666;
	int error;

	r->prepared = true;
	r->fresh = -1;
	r->payer = geteuid();
	r->old = r->has_like ? r->like : -1;
	error = dirfd_is_name(r->name) ? 0 : EINVAL;
	if (!error && !r->has_like)
		error = open_old(r);
	if (!error)
		error = dirfd_open(r->via, r->temporary, O_WRONLY | O_CREAT | O_EXCL, mode,
				   &r->fresh);
	if (!error)
		error = fill_file(r, data);
	return error ? error : end_writing(r);
}

int replace_place(struct replacement *r, struct file_version *now, bool *settled)
{
	bool exchanged = false;
	int error = check_target(r);

	if (!error)
		error = check_bytes(r);
	if (!error)
		error = check_version(r);
	if (!error)
		error = replace_place_file(r, &exchanged);
	if (!error) {
		error = read_result(r, now);
		if (!error && exchanged)
			error = replace_keep_old(r, r->via, r->temporary, true);
		if (error)
			replace_take_back(r, exchanged, error);
	}
	if (settled)
		*settled = r->settled;
	return error;
}

void replace_end(struct replacement *r)
{
	if (!r->prepared)
		return;
	if (r->fresh >= 0) {
		if (!r->is_stuck)
			unlinkat(r->via, r->temporary, 0);
		close(r->fresh);
	}
	if (r->old >= 0 && !r->has_like)
		close(r->old);
	r->prepared = false;
}

int replace_copy(int dir, const char *name, const char *temporary, int like,
		 const struct replace_owner *owner, struct bytes data)
{
	struct replacement r = {.dir = dir,
				.via = dir,
				.name = name,
				.temporary = temporary,
				.owner = owner,
				.has_like = true,
				.like = like};
	struct file_version now;
	int error = replace_prepare(&r, data);

	if (!error)
		error = replace_place(&r, &now, NULL);
	replace_end(&r);
	return error;
}
