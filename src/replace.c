/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replace.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/limits.h>
#include <signal.h>
#include <stdio.h> /* RENAME_EXCHANGE */
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#define ACL "system.posix_acl_access"

/* What is replaced and by what; `old` is -1 where there is no file yet. */
struct job {
	int dir, via; /* via: the folder of the temporary */
	const char *name, *temporary;
	const struct file_version *expect;
	const struct attributes *as; /* of a new file; NULL: as the folder has it */
	const struct bytes *was; /* what `expect` holds, or NULL */
	const struct replace_owner *owner; /* NULL: that of `old` */
	int old, fresh;
	struct file_version written; /* the new file before anybody else can reach it */
	bool settled;                /* and its mtime is one that no later write leaves behind */
};

/*
 * A read lease is refused while anybody has the file open for writing. It is given back at once:
 * kept, it would make other programs wait in open(). One that comes in between breaks the lease,
 * and its signal, SIGIO, would end this process; SIGURG is ignored by default.
 */
static bool is_written(int fd)
{
	fcntl(fd, F_SETSIG, SIGURG);
	if (fcntl(fd, F_SETLEASE, F_RDLCK))
		return errno == EAGAIN;
	fcntl(fd, F_SETLEASE, F_UNLCK);
	return false;
}

/* The file as it is now; EAGAIN unless it is the expected version, or absent as expected. */
static int check_version(const struct job *job)
{
	struct file_version there;
	struct stat st;

	if (fstatat(job->dir, job->name, &st, AT_SYMLINK_NOFOLLOW)) {
		if (errno != ENOENT)
			return errno;
		return job->expect ? EAGAIN : 0;
	}
	there = file_version_of(&st);
	return job->expect && file_version_same(&there, job->expect) ? 0 : EAGAIN;
}

static int check(const struct job *job)
{
	int error = check_version(job);

	return !error && job->old >= 0 && is_written(job->old) ? EBUSY : error;
}

/* Another program's write may leave all of the version's times as they were. */
static int check_bytes(const struct job *job)
{
	return job->was ? at_compare(job->old, *job->was) : 0;
}

/*
 * Since the bytes were compared only the version was. Where times are fine, that leaves the moment
 * between the last check and the rename.
 */
static int check_bytes_again(const struct job *job)
{
	return job->was && file_version_coarse(job->expect) ? check_bytes(job) : 0;
}

/* Where the old file cannot be opened because it is not the expected one, that is the answer. */
static int open_old(struct job *job)
{
	int opened = 0, error;

	if (job->expect)
		opened = at_open(job->dir, job->name, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0,
				 &job->old);
	error = check(job);
	return error ? error : opened;
}

/*
 * Only root can give files away. What cannot be kept must not open doors: no set-id bits for
 * another owner, and not the old group's rights for another group.
 */
static int copy_owner_and_mode(const struct stat *from, const struct replace_owner *owner, int to)
{
	bool same_owner = owner->uid == from->st_uid, same_group = owner->gid == from->st_gid;
	mode_t mode = from->st_mode & 07777;

	if (fchown(to, owner->uid, owner->gid)) {
		same_owner = false;
		same_group &= fchown(to, (uid_t)-1, owner->gid) == 0;
	}
	if (!same_owner || !same_group)
		mode &= (mode_t) ~(S_ISUID | S_ISGID);
	if (!same_group)
		mode = (mode & ~(mode_t)S_IRWXG) | (mode & S_IRWXO) << 3;
	/* Without modes of its own, what the filesystem shows is its mount's, for both files. */
	return fchmod(to, mode) == 0 || errno == ENOSYS || errno == EOPNOTSUPP ? 0 : errno;
}

/* Some that are listed cannot be set: they are the filesystem's or a security module's own. */
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

/* ACLs are xattrs too; one is for the group that it was made for. */
static int copy_xattrs(int from, int to, bool acl)
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
		if (acl || strcmp(at, ACL) != 0)
			error = copy_xattr(from, to, at, names + XATTR_LIST_MAX);
	}
	free(names);
	return error;
}

/* The folder's default ACL may have given the new file one that the old one does not have. */
static int drop_inherited_acl(int fd)
{
	if (!fremovexattr(fd, ACL) || errno == ENODATA || errno == ENOTSUP)
		return 0;
	return errno;
}

static int copy_attributes(int from, const struct replace_owner *owner, int to)
{
	struct replace_owner own;
	struct stat st;
	int error = fstat(from, &st) ? errno : drop_inherited_acl(to);

	own = (struct replace_owner){st.st_uid, st.st_gid};
	if (!owner)
		owner = &own;
	if (!error)
		error = copy_owner_and_mode(&st, owner, to);
	if (!error)
		error = copy_xattrs(from, to, owner->gid == st.st_gid);
	return error;
}

static bool same_moment(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

/*
 * Writes get the time of a clock that moves in ticks: one right after this may find the tick that
 * the file has already. So it gets a moment between two. A filesystem that rounds times undoes
 * that.
 */
static struct timespec set_moment(int fd)
{
	struct timespec tick, times[2] = {{.tv_nsec = UTIME_OMIT}};

	clock_gettime(CLOCK_REALTIME, &times[1]);
	clock_gettime(CLOCK_REALTIME_COARSE, &tick);
	if (same_moment(&times[1], &tick) || futimens(fd, times))
		times[1] = (struct timespec){0, 0};
	return times[1];
}

static int fill(struct job *job, struct bytes data)
{
	struct timespec moment = {0, 0};
	struct stat st;
	int error = at_write(job->fresh, data);

	/* The disk takes the new bytes while the old ones are compared. */
	if (!error && job->was) {
		sync_file_range(job->fresh, 0, 0, SYNC_FILE_RANGE_WRITE);
		error = check_bytes(job);
	}
	if (!error && job->old >= 0)
		error = copy_attributes(job->old, job->owner, job->fresh);
	if (!job->as || !job->as->has_mtime)
		moment = set_moment(job->fresh);
	if (!error && job->as)
		error = attributes_give(job->as, job->fresh);
	if (!error && (fsync(job->fresh) || fstat(job->fresh, &st)))
		error = errno;
	if (error)
		return error;
	job->written = file_version_of(&st);
	job->settled = same_moment(&job->written.mtime, &moment);
	return 0;
}

/* One of the two names as it is now. A rename moves ctime, so that is not part of who it is. */
static int identify(const struct job *job, const char *name, struct file_version *version)
{
	struct stat st;

	if (fstatat(job->dir, name, &st, AT_SYMLINK_NOFOLLOW))
		return errno;
	*version = file_version_of(&st);
	version->ctime = (struct timespec){0, 0};
	return 0;
}

static int rename_as(const struct job *job, unsigned flags)
{
	return at_rename(job->via, job->temporary, job->dir, job->name, flags);
}

/*
 * Exchanges until what comes out is what was there before: a program that takes no lock may put its
 * file there at any time, and then its bytes are the ones that must stay. Afterwards the temporary
 * name holds what nobody needs any more.
 */
static int exchange(const struct job *job)
{
	struct file_version expected = *job->expect, put, out;
	int result = 0;

	expected.ctime = (struct timespec){0, 0};
	for (;;) {
		int error = identify(job, job->temporary, &put);

		if (!error)
			error = rename_as(job, RENAME_EXCHANGE);
		if (!error)
			error = identify(job, job->temporary, &out);
		if (error)
			return result ? result : error == ENOENT ? EAGAIN : error;
		if (!file_version_same(&out, &expected))
			result = EAGAIN;
		else if (result)
			return result;
		else if (is_written(job->old))
			result = EBUSY;
		else
			result = check_bytes_again(job);
		if (!result)
			return 0;
		expected = put;
	}
}

static int place(const struct job *job)
{
	int error = job->expect ? exchange(job) : rename_as(job, RENAME_NOREPLACE);

	if (!job->expect || !at_lacks_flags(error))
		return error == EEXIST ? EAGAIN : error;
	error = check(job);
	if (!error)
		error = check_bytes_again(job);
	return error ? error : rename_as(job, 0);
}

/* Not every folder that can be written can be read, and not every filesystem syncs folders. */
static int sync_folder(int dir)
{
	int fd, error = at_walk(dir, "", O_RDONLY | O_DIRECTORY, &fd);

	if (error)
		return error == EACCES ? 0 : error;
	if (fsync(fd) && errno != EINVAL)
		error = errno;
	close(fd);
	return error;
}

/* The rename moved ctime; if anything else has moved since, it was not us. */
static int settle(const struct job *job, struct file_version *now)
{
	struct stat st;

	if (fstat(job->fresh, &st))
		return errno;
	*now = job->written;
	now->ctime = st.st_ctim;
	return sync_folder(job->dir);
}

/* What may not last was not saved: the old file comes back, unless it is another's turn already. */
static void take_back(const struct job *job)
{
	struct file_version there, own = job->written;

	own.ctime = (struct timespec){0, 0};
	if (identify(job, job->name, &there) || !file_version_same(&there, &own))
		return;
	if (job->expect)
		rename_as(job, RENAME_EXCHANGE);
	else
		unlinkat(job->dir, job->name, 0);
}

static int write_and_place(struct job *job, struct bytes data, struct file_version *now)
{
	int error = fill(job, data);

	if (!error)
		error = check(job);
	if (!error)
		error = place(job);
	if (!error) {
		error = settle(job, now);
		if (error)
			take_back(job);
	}
	unlinkat(job->dir, job->temporary, 0);
	return error;
}

static int replace(struct job *job, struct bytes data, struct file_version *now, bool *settled)
{
	mode_t mode = job->expect || job->as ? 0600 : 0666;
	int error = at_is_name(job->name) ? open_old(job) : EINVAL;

	if (!error)
		error = at_open(job->dir, job->temporary, O_WRONLY | O_CREAT | O_EXCL, mode,
				&job->fresh);
	if (!error)
		error = write_and_place(job, data, now);
	if (settled)
		*settled = job->settled;
	if (job->fresh >= 0)
		close(job->fresh);
	if (job->old >= 0)
		close(job->old);
	return error;
}

int replace_file(int dir, const char *name, const struct file_version *expect,
		 const struct bytes *was, const char *temporary, struct bytes data,
		 struct file_version *now, bool *settled)
{
	struct job job = {
		.dir = dir,
		.via = dir,
		.name = name,
		.temporary = temporary,
		.expect = expect,
		.was = was,
		.old = -1,
		.fresh = -1,
	};

	return replace(&job, data, now, settled);
}

int replace_new(int dir, const char *name, const struct attributes *as, const char *temporary,
		struct bytes data, struct file_version *now, bool *settled)
{
	struct job job = {
		.dir = dir,
		.via = dir,
		.name = name,
		.temporary = temporary,
		.as = as,
		.old = -1,
		.fresh = -1,
	};

	return replace(&job, data, now, settled);
}

int replace_copy(int dir, const char *name, int via, const char *temporary, bool over, int like,
		 const struct replace_owner *owner, struct bytes data)
{
	struct job job = {.dir = dir,
			  .via = via,
			  .name = name,
			  .temporary = temporary,
			  .owner = owner,
			  .old = like,
			  .fresh = -1};
	int error = at_is_name(name) ? 0 : EINVAL;

	if (!error)
		error = at_open(via, temporary, O_WRONLY | O_CREAT | O_EXCL, 0600, &job.fresh);
	if (error)
		return error;
	error = fill(&job, data);
	if (!error)
		error = over ? rename_as(&job, 0) : place(&job);
	if (error)
		unlinkat(via, temporary, 0);
	else
		error = sync_folder(dir);
	close(job.fresh);
	return error;
}
