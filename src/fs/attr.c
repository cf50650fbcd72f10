/* SPDX-License-Identifier: GPL-3.0-or-later */
/* attr.c - attributes: asked for and given. */
#include "fs.h"
#include "memo.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

struct memo *memo_of(struct fs *fs, struct node *node)
{
	struct node_more *more;
	struct memo *memo;

	nodes_lock(&fs->nodes);
	more = node_need_more(node);
	if (more && !more->memo)
		more->memo = calloc(1, sizeof(*more->memo));
	memo = node_memo(node);
	nodes_unlock(&fs->nodes);
	return memo;
}

void memo_forget_locked(struct node *node)
{
	struct memo *memo = node_memo(node);

	if (!memo)
		return;
	node->more->memo = NULL;
	memo_free(memo);
}

void memo_forget(struct fs *fs, struct node *node)
{
	nodes_lock(&fs->nodes);
	memo_forget_locked(node);
	nodes_unlock(&fs->nodes);
}

void memo_free(struct memo *memo)
{
	while (memo && memo->xattrs) {
		struct memo_xattr *next = memo->xattrs->next;

		free(memo->xattrs->value);
		free(memo->xattrs);
		memo->xattrs = next;
	}
	free(memo);
}

void memo_apply(const struct memo *memo, struct stat *st)
{
	if (!memo)
		return;
	if (memo->has_mode)
		st->st_mode = (st->st_mode & S_IFMT) | (memo->mode & 07777);
	if (memo->has_uid)
		st->st_uid = memo->uid;
	if (memo->has_gid)
		st->st_gid = memo->gid;
	if (memo->has_atime)
		st->st_atim = memo->atime;
	if (memo->has_mtime && memo->age.tv_sec == st->st_mtim.tv_sec &&
	    memo->age.tv_nsec == st->st_mtim.tv_nsec)
		st->st_mtim = memo->mtime;
}

static void reply_attributes(fuse_req_t req, struct fs *fs, struct node *node)
{
	struct stat st;
	int error = fs_attributes(fs, node, &st);

	if (error)
		fuse_reply_err(req, error);
	else
		fuse_reply_attr(req, &st, fs_timeout(fs, node));
}

void fs_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct fs *fs = fs_of(req);
	struct node *node = fs_node(fs, ino);
	struct stat st;

	if (fi && handle_of(fi) && node->kind == NODE_REAL && handle_of(fi)->fd >= 0 &&
	    fstat(handle_of(fi)->fd, &st) == 0) {
		fs_show_real(fs, &st);
		fuse_reply_attr(req, &st, TIMEOUT);
	} else {
		reply_attributes(req, fs, node);
	}
}

/* ---- real things ---- */

/* A descriptor that stands for the node: O_PATH by its name, or that of an open handle. */
static int pin(struct fs *fs, struct node *node, int *fd)
{
	char name[NAME_MAX + 1];
	struct folder folder;
	struct identity id;
	struct stat st;
	int error;

	if (node->id == NODE_ROOT) {
		*fd = fcntl(fs->root, F_DUPFD_CLOEXEC, 0);
		return *fd < 0 ? errno : 0;
	}
	error = fs_where(fs, node, &folder, name, &st);
	if (!error) {
		error = at_open(folder.fd, name, O_PATH, 0, fd);
		folder_close(&fs->folders, &folder);
	}
	if (!error) {
		error = identity_at(*fd, "", &id, &st);
		if (!error && identity_same(&id, node_identity(node)))
			return 0;
		close(*fd);
		error = error ? error : ESTALE;
	}
	*fd = handle_borrow(fs, node);
	return *fd < 0 ? error : 0;
}

static struct timespec time_for(const struct stat *attr, int to_set, bool access)
{
	if (to_set & (access ? FUSE_SET_ATTR_ATIME_NOW : FUSE_SET_ATTR_MTIME_NOW))
		return (struct timespec){0, UTIME_NOW};
	if (to_set & (access ? FUSE_SET_ATTR_ATIME : FUSE_SET_ATTR_MTIME))
		return access ? attr->st_atim : attr->st_mtim;
	return (struct timespec){0, UTIME_OMIT};
}

static struct timespec now_or(struct timespec given)
{
	if (given.tv_nsec == UTIME_NOW)
		clock_gettime(CLOCK_REALTIME, &given);
	return given;
}

#define SETS_TIME                                                                                  \
	(FUSE_SET_ATTR_ATIME | FUSE_SET_ATTR_MTIME | FUSE_SET_ATTR_ATIME_NOW |                     \
	 FUSE_SET_ATTR_MTIME_NOW)

#define SETS_RIGHTS (FUSE_SET_ATTR_MODE | FUSE_SET_ATTR_UID | FUSE_SET_ATTR_GID)

/* fd may be O_PATH, also of a symbolic link. */
static int change_real(int fd, const struct stat *attr, int to_set)
{
	char path[AT_PROC_SIZE];

	at_proc_path(fd, NULL, path, sizeof(path));
	if (to_set & (FUSE_SET_ATTR_UID | FUSE_SET_ATTR_GID)) {
		uid_t uid = to_set & FUSE_SET_ATTR_UID ? attr->st_uid : (uid_t)-1;
		gid_t gid = to_set & FUSE_SET_ATTR_GID ? attr->st_gid : (gid_t)-1;

		if (fchownat(fd, "", uid, gid, AT_EMPTY_PATH) != 0)
			return errno;
	}
	if ((to_set & FUSE_SET_ATTR_MODE) && chmod(path, attr->st_mode & 07777) != 0)
		return errno;
	if ((to_set & FUSE_SET_ATTR_SIZE) && truncate(path, attr->st_size) != 0)
		return errno;
	if (to_set & SETS_TIME) {
		struct timespec times[2] = {time_for(attr, to_set, true),
					    time_for(attr, to_set, false)};

		if (utimensat(fd, "", times, AT_EMPTY_PATH) != 0)
			return errno;
	}
	return 0;
}

static void set_stat(struct stat *st, const struct stat *attr, int to_set)
{
	if (to_set & FUSE_SET_ATTR_MODE)
		st->st_mode = (st->st_mode & S_IFMT) | (attr->st_mode & 07777);
	if (to_set & FUSE_SET_ATTR_UID)
		st->st_uid = attr->st_uid;
	if (to_set & FUSE_SET_ATTR_GID)
		st->st_gid = attr->st_gid;
	if (to_set & (FUSE_SET_ATTR_ATIME | FUSE_SET_ATTR_ATIME_NOW))
		st->st_atim = now_or(time_for(attr, to_set, true));
	if (to_set & (FUSE_SET_ATTR_MTIME | FUSE_SET_ATTR_MTIME_NOW))
		st->st_mtim = now_or(time_for(attr, to_set, false));
}

/* What has no name any more and is not open here is only what is remembered of it. */
static bool set_last(struct fs *fs, struct node *node, const struct stat *attr, int to_set)
{
	bool known;

	nodes_lock(&fs->nodes);
	known = !node_link(node) && node_last(node);
	if (known)
		set_stat(node_last(node), attr, to_set);
	nodes_unlock(&fs->nodes);
	return known;
}

static unsigned given_by(int to_set)
{
	unsigned given = 0;

	if (to_set & FUSE_SET_ATTR_UID)
		given |= 1u << GIVEN_OWNER;
	if (to_set & FUSE_SET_ATTR_GID)
		given |= 1u << GIVEN_GROUP;
	if (to_set & FUSE_SET_ATTR_MODE)
		given |= 1u << GIVEN_MODE;
	if (to_set & (FUSE_SET_ATTR_MTIME | FUSE_SET_ATTR_MTIME_NOW))
		given |= 1u << GIVEN_TIME;
	return given;
}

static int set_real(fuse_req_t req, struct node *node, const struct stat *attr, int to_set,
		    struct fuse_file_info *fi)
{
	struct fs *fs = fs_of(req);
	int fd, error;

	if (fi && (to_set & FUSE_SET_ATTR_SIZE)) {
		fd = handle_descriptor(fs, handle_of(fi));
		if (fd >= 0 && extra_grow_to(fs, node, fd, (uint64_t)attr->st_size) != 0)
			return ENOSPC;
		if (fd >= 0 && ftruncate(fd, attr->st_size) != 0)
			return errno;
		if (fd >= 0)
			to_set &= ~FUSE_SET_ATTR_SIZE;
	}
	error = pin(fs, node, &fd);
	if (error)
		return set_last(fs, node, attr, to_set) ? 0 : error;
	if (to_set & FUSE_SET_ATTR_SIZE)
		error = extra_grow_to(fs, node, fd, (uint64_t)attr->st_size);
	if (!error)
		error = change_real(fd, attr, to_set);
	close(fd);
	filling_given(req, node, error ? 0 : given_by(to_set));
	return error;
}

/* The folder of a file, and raw.*, have the binary's own attributes. */
static int set_binary(struct fs *fs, struct node *node, const struct stat *attr, int to_set)
{
	struct file *file = fs_file_of(fs, node);
	struct stat wanted = *attr;
	struct folder folder;
	int fd, error = file ? fs_source_folder(fs, file, &folder) : ESTALE;

	if (!error) {
		error = at_open(folder.fd, file->name, O_PATH | O_NOFOLLOW, 0, &fd);
		folder_close(&fs->folders, &folder);
	}
	if (file)
		fs_file_put(fs, file);
	if (error)
		return error;
	if (node->folder)
		wanted.st_mode &= ~(mode_t)0111; /* a folder's x is not a file's */
	error = change_real(fd, &wanted, to_set & ~FUSE_SET_ATTR_SIZE);
	close(fd);
	return error;
}

/* ---- views ---- */

void memo_time(struct fs *fs, struct node *node, struct timespec mtime)
{
	struct memo *memo = memo_of(fs, node);
	struct place place;
	struct snap *snap;
	struct stat st;

	if (!memo || fs_look(fs, node->file, &snap, &st) != 0)
		return;
	if (node->kind == NODE_VIEW)
		fs_view_facts(node, snap, fs_place(fs, snap, node, &place) == 0 ? &place : NULL,
			      &st);
	snap_put(snap);
	memo->has_mtime = true;
	memo->mtime = mtime;
	memo->age = st.st_mtim;
}

static int remember(struct fs *fs, struct node *node, const struct stat *attr, int to_set)
{
	struct memo *memo;

	if (!(to_set & (FUSE_SET_ATTR_MODE | FUSE_SET_ATTR_UID | FUSE_SET_ATTR_GID | SETS_TIME)))
		return 0;
	memo = memo_of(fs, node);
	if (!memo)
		return ENOMEM;
	if (to_set & FUSE_SET_ATTR_MODE)
		memo_mode(memo, attr->st_mode);
	if (to_set & FUSE_SET_ATTR_UID) {
		memo->has_uid = true;
		memo->uid = attr->st_uid;
	}
	if (to_set & FUSE_SET_ATTR_GID) {
		memo->has_gid = true;
		memo->gid = attr->st_gid;
	}
	if (to_set & (FUSE_SET_ATTR_ATIME | FUSE_SET_ATTR_ATIME_NOW)) {
		memo->has_atime = true;
		memo->atime = now_or(time_for(attr, to_set, true));
	}
	if (to_set & (FUSE_SET_ATTR_MTIME | FUSE_SET_ATTR_MTIME_NOW)) {
		memo_time(fs, node, now_or(time_for(attr, to_set, false)));
	}
	return 0;
}

struct node *memo_owner(struct fs *fs, struct node *node)
{
	struct node *now = NULL;

	nodes_lock(&fs->nodes);
	if (node_is_retired(node))
		now = nodes_by_name(&fs->nodes, node_link(node)->parent, node_link(node)->name);
	if (!now || now->kind != NODE_VIEW || now->file != node->file)
		now = node;
	now->references++;
	nodes_unlock(&fs->nodes);
	return now;
}

static int remember_by_name(struct fs *fs, struct node *node, const struct stat *attr, int to_set)
{
	struct node *owner = memo_owner(fs, node);
	int error = remember(fs, owner, attr, to_set);

	fs_reference(fs, owner, -1);
	return error;
}

/*
 * Through a handle the size is part of what that handle writes. By name (truncate F) there is no
 * close to wait for: to nothing is the beginning of a save, any other size is one.
 */
static int resize_view(fuse_req_t req, struct node *node, uint64_t size, struct handle *handle,
		       struct changes *changes)
{
	struct fs *fs = fs_of(req);
	struct caller *who = NULL;
	struct draft *draft;
	int error = view_draft(fs, node, &draft);

	if (error)
		return error;
	view_written(fs, node);
	if (!handle && !draft->writers) {
		if (node_view(node)->parse_skeleton)
			error = access_caller(req, &who);
		if (!error)
			error = view_begin(fs, node, who, false); /* a writer for the moment */
		if (error)
			return error;
		error = draft_truncate(draft, node->file->name, size, fs->options->max_text);
		if (!error)
			error = view_commit(fs, node, size ? DRAFT_DEMAND : DRAFT_FLUSH, changes);
		draft_end(draft);
		return error;
	}
	error = draft_truncate(draft, node->file->name, size, fs->options->max_text);
	if (!error && handle)
		handle->wrote = true;
	return error;
}

static int set_view(fuse_req_t req, struct node *node, const struct stat *attr, int to_set,
		    struct fuse_file_info *fi, struct changes *changes)
{
	struct fs *fs = fs_of(req);
	bool by_name = !fi && (to_set & FUSE_SET_ATTR_SIZE);
	/* Another text has the name by now: that is the one to cut. */
	struct file *file = by_name && fs_is_retired(fs, node) ? NULL : fs_lock_file(fs, node);
	int error = 0;

	if (!file)
		return ESTALE;
	if (to_set & FUSE_SET_ATTR_SIZE)
		error = resize_view(req, node, (uint64_t)attr->st_size, fi ? handle_of(fi) : NULL,
				    changes);
	if (!error)
		error = remember_by_name(fs, node, attr, to_set);
	view_settle(fs, node);
	fs_unlock_file(fs, file);
	return error;
}

/* A clip's folder, or one in it. */
static int set_inner(struct fs *fs, struct node *node, const struct stat *attr, int to_set)
{
	struct file *file = fs_lock_file(fs, node);
	int error;

	if (!file)
		return ESTALE;
	error = remember(fs, node, attr, to_set);
	fs_unlock_file(fs, file);
	return error;
}

/* Who may read an animation decides which skeletons it is shown with (access.c). */
static void look_at_rights(struct fs *fs, const struct node *node)
{
	struct file *file = node->kind == NODE_REAL ? NULL : fs_file_of(fs, node);

	if (!file)
		return;
	file_look_now(fs, file);
	fs_file_put(fs, file);
}

void fs_setattr(fuse_req_t req, fuse_ino_t ino, struct stat *attr, int to_set,
		struct fuse_file_info *fi)
{
	struct changes changes = CHANGES_NONE;
	struct fs *fs = fs_of(req);
	struct node *node = fs_node(fs, ino);
	int error = ESTALE;

	if (fs->read_only)
		error = EROFS;
	else if (node->kind == NODE_CONTROL)
		error = EPERM;
	else if (node->kind == NODE_VIEW &&
		 !(node_view(node)->whole && !(to_set & FUSE_SET_ATTR_SIZE)))
		error = set_view(req, node, attr, to_set, fi, &changes);
	else if (memo_is_for(node))
		error = set_inner(fs, node, attr, to_set);
	else if (node->kind != NODE_REAL)
		error = set_binary(fs, node, attr, to_set);
	/* It may have been renamed away while we waited for its file. */
	if (error == ESTALE && node->kind == NODE_REAL)
		error = set_real(req, node, attr, to_set, fi);
	/* Those who may read it now are not to find a skeleton that is not for them. */
	if (!error && (to_set & SETS_RIGHTS))
		look_at_rights(fs, node);
	changes_tell(fs, &changes);
	if (error)
		fuse_reply_err(req, error);
	else
		reply_attributes(req, fs, node);
}

/* ---- the rest ---- */

void fs_readlink(fuse_req_t req, fuse_ino_t ino)
{
	struct fs *fs = fs_of(req);
	char name[NAME_MAX + 1], target[PATH_MAX + 1];
	struct folder folder;
	struct stat st;
	ssize_t size;
	int error = fs_where(fs, fs_node(fs, ino), &folder, name, &st);

	if (error) {
		fuse_reply_err(req, error);
		return;
	}
	size = readlinkat(folder.fd, name, target, PATH_MAX);
	error = errno;
	folder_close(&fs->folders, &folder);
	if (size < 0) {
		fuse_reply_err(req, error == EINVAL ? ESTALE : error); /* it is no link any more */
		return;
	}
	target[size] = '\0';
	fuse_reply_readlink(req, target);
}

void fs_statfs(fuse_req_t req, fuse_ino_t ino)
{
	struct fs *fs = fs_of(req);
	struct statvfs st;

	(void)ino;
	if (fstatvfs(fs->root, &st) != 0) {
		fuse_reply_err(req, errno);
		return;
	}
	if (fs->read_only)
		st.f_flag |= ST_RDONLY;
	fuse_reply_statfs(req, &st);
}
