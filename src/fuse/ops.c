/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ops.h"

#include "vfs/vfs.h"

#include <errno.h>
#include <linux/fuse.h>
#include <stdlib.h>

_Static_assert(SET_MODE == FUSE_SET_ATTR_MODE && SET_UID == FUSE_SET_ATTR_UID &&
		       SET_GID == FUSE_SET_ATTR_GID && SET_SIZE == FUSE_SET_ATTR_SIZE &&
		       SET_ATIME == FUSE_SET_ATTR_ATIME && SET_MTIME == FUSE_SET_ATTR_MTIME &&
		       SET_ATIME_NOW == FUSE_SET_ATTR_ATIME_NOW &&
		       SET_MTIME_NOW == FUSE_SET_ATTR_MTIME_NOW,
	       "vfs_setattr has the bits of the request");

static struct vfs *vfs_of(fuse_req_t req)
{
	return ((const struct served *)fuse_req_userdata(req))->vfs;
}

static struct request who_asks(fuse_req_t req)
{
	const struct fuse_ctx *ctx = fuse_req_ctx(req);

	return (struct request){ctx->uid, ctx->gid, ctx->pid, ctx->umask};
}

#define WHO(req) ((struct request[]){who_asks(req)})

static struct handle *handle_of(const struct fuse_file_info *fi)
{
	return fi ? (struct handle *)(uintptr_t)fi->fh : NULL;
}

/* ---- replies ---- */

/*
 * Replies with an error, except ENOSYS, which becomes another one: after ENOSYS the kernel never
 * sends the same kind of request again, for any file, and an error from the filesystem below must
 * not cause that. To cause it on purpose, call fuse_reply_err().
 */
static void reply_err(fuse_req_t req, int error)
{
	fuse_reply_err(req, error == ENOSYS ? EOPNOTSUPP : error);
}

static struct fuse_entry_param entry_param(fuse_req_t req, const struct entry *entry)
{
	const struct served *served = fuse_req_userdata(req);

	return (struct fuse_entry_param){.ino = entry->node,
					 .generation = entry->node == NODE_ROOT ? 0 : served->stamp,
					 .attr = entry->st,
					 .attr_timeout = entry->attr_timeout,
					 .entry_timeout = entry->entry_timeout};
}

static void reply_entry(fuse_req_t req, int error, const struct entry *entry)
{
	struct fuse_entry_param param;

	if (error) {
		reply_err(req, error);
		return;
	}
	param = entry_param(req, entry);
	fuse_reply_entry(req, &param);
}

static void reply_attributes(fuse_req_t req, int error, const struct stat *st, double timeout)
{
	if (error)
		reply_err(req, error);
	else
		fuse_reply_attr(req, st, timeout);
}

static void set_opened(struct fuse_file_info *fi, const struct opened *opened)
{
	fi->fh = (uintptr_t)opened->handle;
	fi->keep_cache = opened->keep_cache;
	fi->cache_readdir = opened->cache_readdir;
	fi->direct_io = opened->direct_io;
	fi->noflush = opened->noflush;
}

static void reply_opened(fuse_req_t req, int error, struct fuse_file_info *fi,
			 const struct opened *opened)
{
	if (error) {
		fuse_reply_err(req, error); /* With ENOSYS the kernel sends no more opens. */
		return;
	}
	set_opened(fi, opened);
	fuse_reply_open(req, fi);
}

/* Replies with a count of bytes. size: the count, or a negative errno. */
static void reply_count(fuse_req_t req, ssize_t size)
{
	if (size < 0)
		reply_err(req, (int)-size);
	else
		fuse_reply_write(req, (size_t)size);
}

/* Replies with the value of an extended attribute, or with its size if `room` is 0. */
static void reply_value(fuse_req_t req, int error, struct buf *value, size_t room)
{
	if (!error && value->failed)
		error = ENOMEM;
	if (!error && room && value->size > room)
		error = ERANGE;
	if (error)
		reply_err(req, error);
	else if (!room)
		fuse_reply_xattr(req, value->size);
	else
		fuse_reply_buf(req, value->data ? (const char *)value->data : "", value->size);
	buf_release(value);
}

/* ---- nodes ---- */

static void op_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	struct entry entry;
	int error;

	if (strlen(name) > NAME_MAX)
		error = ENAMETOOLONG;
	else
		error = vfs_lookup(vfs_of(req), WHO(req), parent, name, &entry);
	reply_entry(req, error, &entry);
}

static void op_forget(fuse_req_t req, fuse_ino_t ino, uint64_t lookups)
{
	vfs_forget(vfs_of(req), ino, lookups);
	fuse_reply_none(req);
}

static void op_forget_multi(fuse_req_t req, size_t count, struct fuse_forget_data *list)
{
	for (size_t i = 0; i < count; i++)
		vfs_forget(vfs_of(req), list[i].ino, list[i].nlookup);
	fuse_reply_none(req);
}

static void op_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct stat st;
	double timeout;
	int error = vfs_getattr(vfs_of(req), WHO(req), ino, handle_of(fi), &st, &timeout);

	reply_attributes(req, error, &st, timeout);
}

static void op_setattr(fuse_req_t req, fuse_ino_t ino, struct stat *attr, int to_set,
		       struct fuse_file_info *fi)
{
	struct stat st;
	double timeout;
	int error =
		vfs_setattr(vfs_of(req), WHO(req), ino, handle_of(fi), attr, to_set, &st, &timeout);

	reply_attributes(req, error, &st, timeout);
}

static void op_readlink(fuse_req_t req, fuse_ino_t ino)
{
	char target[PATH_MAX + 1];
	int error = vfs_readlink(vfs_of(req), ino, target);

	if (error)
		reply_err(req, error);
	else
		fuse_reply_readlink(req, target);
}

static void op_statfs(fuse_req_t req, fuse_ino_t ino)
{
	struct statvfs st;
	int error = vfs_statfs(vfs_of(req), &st);

	(void)ino;
	if (error)
		reply_err(req, error);
	else
		fuse_reply_statfs(req, &st);
}

/* ---- names ---- */

static void op_mknod(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode, dev_t rdev)
{
	struct entry entry;

	reply_entry(req, vfs_mknod(vfs_of(req), WHO(req), parent, name, mode, rdev, &entry),
		    &entry);
}

static void op_mkdir(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode)
{
	struct entry entry;

	reply_entry(req, vfs_mkdir(vfs_of(req), WHO(req), parent, name, mode, &entry), &entry);
}

static void op_symlink(fuse_req_t req, const char *target, fuse_ino_t parent, const char *name)
{
	struct entry entry;

	reply_entry(req, vfs_symlink(vfs_of(req), WHO(req), target, parent, name, &entry), &entry);
}

static void op_link(fuse_req_t req, fuse_ino_t ino, fuse_ino_t parent, const char *name)
{
	struct entry entry;

	reply_entry(req, vfs_link(vfs_of(req), WHO(req), ino, parent, name, &entry), &entry);
}

static void op_unlink(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	reply_err(req, vfs_unlink(vfs_of(req), WHO(req), parent, name));
}

static void op_rmdir(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	reply_err(req, vfs_rmdir(vfs_of(req), WHO(req), parent, name));
}

static void op_rename(fuse_req_t req, fuse_ino_t parent, const char *name, fuse_ino_t new_parent,
		      const char *new_name, unsigned flags)
{
	struct vfs *v = vfs_of(req);
	struct after *after = NULL;

	reply_err(req, vfs_rename(v, WHO(req), parent, name, new_parent, new_name, flags, &after));
	vfs_after(v, after);
}

/* ---- extended attributes ---- */

static void op_getxattr(fuse_req_t req, fuse_ino_t ino, const char *name, size_t room)
{
	struct buf value = BUF_INIT;
	int error = vfs_getxattr(vfs_of(req), ino, name, &value);

	reply_value(req, error, &value, room);
}

static void op_listxattr(fuse_req_t req, fuse_ino_t ino, size_t room)
{
	struct buf list = BUF_INIT;
	int error = vfs_listxattr(vfs_of(req), ino, &list);

	reply_value(req, error, &list, room);
}

static void op_setxattr(fuse_req_t req, fuse_ino_t ino, const char *name, const char *value,
			size_t size, int flags)
{
	struct bytes bytes = {(const uint8_t *)value, size};

	reply_err(req, vfs_setxattr(vfs_of(req), WHO(req), ino, name, bytes, flags));
}

static void op_removexattr(fuse_req_t req, fuse_ino_t ino, const char *name)
{
	reply_err(req, vfs_removexattr(vfs_of(req), WHO(req), ino, name));
}

/* ---- folders ---- */

static void op_opendir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct opened opened = {.handle = NULL};
	int error = vfs_opendir(vfs_of(req), WHO(req), ino, fi->flags, &opened);

	reply_opened(req, error, fi, &opened);
}

struct dir_reply {
	fuse_req_t req;
	bool plus;
	char *buf;
	size_t size, used;
};

static bool dir_reply_add(void *closure, const char *name, const struct entry *entry, off_t next)
{
	struct dir_reply *reply = closure;
	char *at = reply->buf + reply->used;
	size_t more, room = reply->size - reply->used;

	if (reply->plus) {
		struct fuse_entry_param param = entry_param(reply->req, entry);

		more = fuse_add_direntry_plus(reply->req, at, room, name, &param, next);
	} else {
		more = fuse_add_direntry(reply->req, at, room, name, &entry->st, next);
	}
	if (more > room)
		return false;
	reply->used += more;
	return true;
}

static void ops_read_folder(fuse_req_t req, fuse_ino_t ino, size_t size, off_t behind,
			    const struct fuse_file_info *fi, bool plus)
{
	struct dir_reply reply = {.req = req, .plus = plus, .buf = malloc(size), .size = size};
	int error = ENOMEM;

	if (reply.buf)
		error = vfs_readdir(vfs_of(req), WHO(req), ino, handle_of(fi), behind, plus,
				    dir_reply_add, &reply);
	if (error)
		reply_err(req, error);
	else
		fuse_reply_buf(req, reply.buf, reply.used);
	free(reply.buf);
}

static void op_readdir(fuse_req_t req, fuse_ino_t ino, size_t size, off_t behind,
		       struct fuse_file_info *fi)
{
	ops_read_folder(req, ino, size, behind, fi, false);
}

static void op_readdirplus(fuse_req_t req, fuse_ino_t ino, size_t size, off_t behind,
			   struct fuse_file_info *fi)
{
	ops_read_folder(req, ino, size, behind, fi, true);
}

static void op_fsyncdir(fuse_req_t req, fuse_ino_t ino, int datasync, struct fuse_file_info *fi)
{
	reply_err(req, vfs_fsyncdir(vfs_of(req), ino, handle_of(fi), datasync));
}

/* ---- files ---- */

static void op_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct opened opened = {.handle = NULL};
	int error = vfs_open(vfs_of(req), WHO(req), ino, fi->flags, &opened);

	reply_opened(req, error, fi, &opened);
}

static void op_create(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode,
		      struct fuse_file_info *fi)
{
	struct opened opened = {.handle = NULL};
	struct fuse_entry_param param;
	struct entry entry;
	int error =
		vfs_create(vfs_of(req), WHO(req), parent, name, mode, fi->flags, &entry, &opened);

	if (error) {
		reply_err(req, error);
		return;
	}
	set_opened(fi, &opened);
	param = entry_param(req, &entry);
	fuse_reply_create(req, &param, fi);
}

static void count_release(struct vfs *v)
{
#ifdef COUNTS_RELEASES
	v->releases--;
#else
	(void)v;
#endif
}

/* Releases a handle of a file or folder. */
static void op_release(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	(void)ino;
	vfs_release(vfs_of(req), handle_of(fi));
	count_release(vfs_of(req));
	reply_err(req, 0);
}

/*
 * Replies with bytes of a plain file, spliced where possible instead of copied through our memory.
 */
static void reply_descriptor(fuse_req_t req, int fd, size_t size, off_t at)
{
	struct fuse_bufvec buf = FUSE_BUFVEC_INIT(size);

	buf.buf[0].flags = FUSE_BUF_IS_FD | FUSE_BUF_FD_SEEK;
	buf.buf[0].fd = fd;
	buf.buf[0].pos = at;
	fuse_reply_data(req, &buf, FUSE_BUF_SPLICE_MOVE);
}

static void op_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t at,
		    struct fuse_file_info *fi)
{
	struct read_part r = {.fd = -1};
	int error = vfs_read(vfs_of(req), ino, handle_of(fi), size, at, &r);

	if (error) {
		reply_err(req, error);
		return;
	}
	if (r.fd >= 0)
		reply_descriptor(req, r.fd, r.size, r.at);
	else
		fuse_reply_buf(req, r.part.size ? (const char *)r.part.data : "", r.part.size);
	read_part_end(&r);
}

static void op_write(fuse_req_t req, fuse_ino_t ino, const char *data, size_t size, off_t at,
		     struct fuse_file_info *fi)
{
	struct bytes bytes = {(const uint8_t *)data, size};

	(void)ino;
	reply_count(req,
		    vfs_write(vfs_of(req), handle_of(fi), bytes, at, fi->flags, fi->writepage));
}

/*
 * Flushes a file. Without a handle, the kernel opens no files here: it gets ENOSYS, after which it
 * sends no flush again.
 */
static void op_flush(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct handle *handle = handle_of(fi);

	(void)ino;
	if (handle)
		reply_err(req, vfs_flush(vfs_of(req), WHO(req), handle));
	else
		fuse_reply_err(req, ENOSYS);
}

static void op_fsync(fuse_req_t req, fuse_ino_t ino, int datasync, struct fuse_file_info *fi)
{
	struct handle *handle = handle_of(fi);

	(void)ino;
	if (handle)
		reply_err(req, vfs_fsync(vfs_of(req), WHO(req), handle, datasync));
	else
		fuse_reply_err(req, ENOSYS);
}

static void op_fallocate(fuse_req_t req, fuse_ino_t ino, int mode, off_t at, off_t length,
			 struct fuse_file_info *fi)
{
	(void)ino;
	reply_err(req, vfs_fallocate(vfs_of(req), handle_of(fi), mode, at, length));
}

static void op_lseek(fuse_req_t req, fuse_ino_t ino, off_t at, int whence,
		     struct fuse_file_info *fi)
{
	off_t found;
	int error = vfs_lseek(vfs_of(req), ino, handle_of(fi), at, whence, &found);

	if (error)
		reply_err(req, error);
	else
		fuse_reply_lseek(req, found);
}

static void op_copy_file_range(fuse_req_t req, fuse_ino_t from, off_t from_at,
			       struct fuse_file_info *from_fi, fuse_ino_t to, off_t to_at,
			       struct fuse_file_info *to_fi, size_t size, int flags)
{
	(void)from;
	(void)to;
	reply_count(req, vfs_copy(vfs_of(req), handle_of(from_fi), from_at, handle_of(to_fi), to_at,
				  size, (unsigned)flags));
}

const struct fuse_lowlevel_ops vfs_operations = {
	.lookup = op_lookup,
	.forget = op_forget,
	.forget_multi = op_forget_multi,
	.getattr = op_getattr,
	.setattr = op_setattr,
	.readlink = op_readlink,
	.mknod = op_mknod,
	.mkdir = op_mkdir,
	.unlink = op_unlink,
	.rmdir = op_rmdir,
	.symlink = op_symlink,
	.rename = op_rename,
	.link = op_link,
	.open = op_open,
	.read = op_read,
	.write = op_write,
	.flush = op_flush,
	.release = op_release,
	.fsync = op_fsync,
	.opendir = op_opendir,
	.readdir = op_readdir,
	.readdirplus = op_readdirplus,
	.releasedir = op_release,
	.fsyncdir = op_fsyncdir,
	.statfs = op_statfs,
	.setxattr = op_setxattr,
	.getxattr = op_getxattr,
	.listxattr = op_listxattr,
	.removexattr = op_removexattr,
	.create = op_create,
	.fallocate = op_fallocate,
	.lseek = op_lseek,
	.copy_file_range = op_copy_file_range,
};

/* ---- requests that libfuse has no memory for ---- */

bool request_is_release(const struct fuse_in_header *request)
{
	return request->opcode == FUSE_RELEASE || request->opcode == FUSE_RELEASEDIR;
}

bool request_is_final(const struct fuse_in_header *request)
{
	return request->opcode == FUSE_FORGET || request->opcode == FUSE_BATCH_FORGET ||
	       request_is_release(request);
}

void request_finish(struct vfs *v, const struct fuse_in_header *request)
{
	const void *body = request + 1;
	const struct fuse_batch_forget_in *batch = body;
	const struct fuse_forget_one *one = (const void *)(batch + 1);

	switch (request->opcode) {
	case FUSE_FORGET:
		vfs_forget(v, request->nodeid, ((const struct fuse_forget_in *)body)->nlookup);
		break;
	case FUSE_BATCH_FORGET:
		for (uint32_t i = 0; i < batch->count; i++)
			vfs_forget(v, one[i].nodeid, one[i].nlookup);
		break;
	case FUSE_RELEASE:
	case FUSE_RELEASEDIR:
		vfs_release(v, (void *)(uintptr_t)((const struct fuse_release_in *)body)->fh);
		count_release(v);
		break;
	}
}
