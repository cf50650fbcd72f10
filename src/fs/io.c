/* SPDX-License-Identifier: GPL-3.0-or-later */
/* io.c - reading and writing through a handle. */
#include "fs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

static void reply_part(fuse_req_t req, const struct buf *text, size_t size, off_t off)
{
	size_t at = (size_t)off < text->size ? (size_t)off : text->size;
	size_t left = text->size - at;

	fuse_reply_buf(req, text->data ? (const char *)text->data + at : "",
		       size < left ? size : left);
}

/* False where it is no view any more. */
static bool read_view(fuse_req_t req, struct fs *fs, struct node *node, size_t size, off_t off)
{
	struct file *file = fs_lock_file(fs, node);
	struct draft *draft;
	int error;

	if (!file)
		return false;
	error = view_told_text(fs, node, &draft);
	if (error)
		fuse_reply_err(req, error);
	else
		reply_part(req, &draft->text, size, off);
	view_settle(fs, node);
	fs_unlock_file(fs, file);
	return true;
}

/* From a copy: as soon as the reply is out another thread may release the handle. */
static void read_control(fuse_req_t req, struct fs *fs, const struct node *node,
			 const struct handle *handle, size_t size, off_t off)
{
	struct buf copy = BUF_INIT;

	if (handle)
		buf_add(&copy, handle->text.data, handle->text.size);
	else
		control_text(fs, node, &copy);
	if (copy.failed)
		fuse_reply_err(req, ENOMEM);
	else
		reply_part(req, &copy, size, off);
	buf_release(&copy);
}

static void read_descriptor(fuse_req_t req, int fd, size_t size, off_t off)
{
	struct fuse_bufvec buf = FUSE_BUFVEC_INIT(size);

	buf.buf[0].flags = FUSE_BUF_IS_FD | FUSE_BUF_FD_SEEK;
	buf.buf[0].fd = fd;
	buf.buf[0].pos = off;
	if (fd < 0)
		fuse_reply_err(req, EIO);
	else
		fuse_reply_data(req, &buf, FUSE_BUF_SPLICE_MOVE);
}

static void read_by_node(fuse_req_t req, struct fs *fs, struct node *node, size_t size, off_t off)
{
	int fd, error = node_open(fs, node, &fd);

	if (error) {
		fuse_reply_err(req, error);
		return;
	}
	read_descriptor(req, fd, size, off);
	close(fd);
}

void fs_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off, struct fuse_file_info *fi)
{
	struct node *node = fs_node_of(req, ino, fi);
	struct handle *handle = handle_of(fi);
	struct fs *fs = fs_of(req);

	if (node->kind == NODE_VIEW && read_view(req, fs, node, size, off))
		return;
	if (node->kind == NODE_CONTROL)
		read_control(req, fs, node, handle, size, off);
	else if (handle)
		read_descriptor(req, handle_descriptor(fs, handle), size, off);
	else
		read_by_node(req, fs, node, size, off);
}

/* ---- write ---- */

/*
 * What was written, in one piece of memory, which the caller frees (out->buf[0].mem). The number of
 * bytes or a negated errno.
 */
static ssize_t flatten(struct fuse_bufvec *in, struct fuse_bufvec *out)
{
	size_t size = fuse_buf_size(in);
	ssize_t copied;

	*out = FUSE_BUFVEC_INIT(size);
	out->buf[0].mem = malloc(size ? size : 1);
	if (!out->buf[0].mem)
		return -ENOMEM;
	copied = fuse_buf_copy(out, in, 0);
	*out = (struct fuse_bufvec){.count = 1,
				    .buf = {{.size = copied < 0 ? 0 : (size_t)copied,
					     .mem = out->buf[0].mem,
					     .fd = -1}}};
	return copied;
}

/* ESTALE where it is no view any more. */
static int write_view(struct fs *fs, struct handle *handle, struct bytes data, off_t off,
		      bool by_mapping)
{
	struct node *node = handle->node;
	struct file *file = fs_lock_file(fs, node);
	struct draft *draft;
	int error;

	if (!file)
		return ESTALE;
	error = view_draft(fs, node, &draft);
	if (!error) {
		/* The kernel's idea of the end may be older than the text. */
		if ((handle->flags & O_APPEND) && !by_mapping && draft_load(draft, file->name))
			off = (off_t)draft->text.size;
		error = draft_write(draft, file->name, (uint64_t)off, data.data, data.size,
				    fs->options->max_text);
	}
	if (!error)
		view_written(fs, node);
	if (!error && by_mapping)
		draft->mapped = true;
	else if (!error)
		handle->wrote = true;
	fs_unlock_file(fs, file);
	return error;
}

/* Behind what is there, whoever wrote it. */
static ssize_t append_real(int fd, struct fuse_bufvec *in)
{
	struct fuse_bufvec flat;
	ssize_t copied = flatten(in, &flat);

	if (copied > 0) {
		struct iovec part = {flat.buf[0].mem, (size_t)copied};

		copied = pwritev2(fd, &part, 1, 0, RWF_APPEND);
		if (copied < 0)
			copied = -errno;
	}
	free(flat.buf[0].mem);
	return copied;
}

static ssize_t write_real(struct fs *fs, struct handle *handle, struct fuse_bufvec *in, off_t off,
			  bool append)
{
	struct fuse_bufvec out = FUSE_BUFVEC_INIT(fuse_buf_size(in));
	int fd = handle_descriptor(fs, handle), error;
	struct stat st;

	if (fd < 0)
		return -EIO;
	if (append && fstat(fd, &st) == 0)
		off = st.st_size;
	error = extra_grow_to(fs, handle->node, fd, (uint64_t)off + fuse_buf_size(in));
	if (error)
		return -error;
	handle->busy = true;
	filling_touch(fs, handle->node);
	if (append)
		return append_real(fd, in);
	out.buf[0].flags = FUSE_BUF_IS_FD | FUSE_BUF_FD_SEEK;
	out.buf[0].fd = fd;
	out.buf[0].pos = off;
	return fuse_buf_copy(&out, in, 0);
}

static ssize_t write_either(struct fs *fs, struct handle *handle, struct fuse_bufvec *in, off_t off,
			    const struct fuse_file_info *fi)
{
	bool append = (fi->flags & O_APPEND) && !fi->writepage;
	struct fuse_bufvec flat;
	ssize_t size;
	int error;

	if (handle->node->kind != NODE_VIEW)
		return write_real(fs, handle, in, off, append);
	size = flatten(in, &flat);
	if (size >= 0) {
		error = write_view(fs, handle, (struct bytes){flat.buf[0].mem, flat.buf[0].size},
				   off, fi->writepage);
		if (error == ESTALE && handle->node->kind == NODE_REAL)
			size = write_real(fs, handle, &flat, off, append);
		else if (error)
			size = -error;
	}
	free(flat.buf[0].mem);
	return size;
}

void fs_write_buf(fuse_req_t req, fuse_ino_t ino, struct fuse_bufvec *in, off_t off,
		  struct fuse_file_info *fi)
{
	struct handle *handle = handle_of(fi);
	struct fs *fs = fs_of(req);
	ssize_t written;

	(void)ino;
	if (fs->read_only)
		written = -EROFS;
	else
		written = write_either(fs, handle, in, off, fi);
	if (written < 0)
		fuse_reply_err(req, (int)-written);
	else
		fuse_reply_write(req, (size_t)written);
}

/* ---- flush and fsync ---- */

/* Programs flush handles they never wrote to; only one that wrote, or a mapping, makes a save. */
static int flush_view(struct fs *fs, struct handle *handle)
{
	struct changes changes = CHANGES_NONE;
	struct node *node = handle->node;
	struct file *file = fs_lock_file(fs, node);
	int error = 0;

	if (!file)
		return ESTALE;
	if (node->draft && (handle->wrote || node->draft->mapped)) {
		handle->wrote = node->draft->mapped = false;
		error = view_commit(fs, node, DRAFT_FLUSH, &changes);
	}
	fs_unlock_file(fs, file);
	changes_tell(fs, &changes);
	return error;
}

static int flush_real(struct handle *handle)
{
	int fd;

	if (handle->fd < 0)
		return 0;
	handle->busy = false;
	fd = dup(handle->fd);
	return fd < 0 || close(fd) != 0 ? errno : 0;
}

void fs_flush(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct handle *handle = handle_of(fi);
	struct fs *fs = fs_of(req);
	int error = ESTALE;

	(void)ino;
	if (fs->unopened_files)
		error = ENOSYS; /* never asked again */
	else if (handle->node->kind == NODE_VIEW)
		error = flush_view(fs, handle);
	if (error == ESTALE && handle->node->kind != NODE_VIEW)
		error = flush_real(handle);
	fuse_reply_err(req, error);
}

static int sync_view(struct fs *fs, struct node *node)
{
	struct changes changes = CHANGES_NONE;
	struct file *file = fs_lock_file(fs, node);
	int error = 0;

	if (!file)
		return ESTALE;
	if (node->draft)
		error = view_commit(fs, node, DRAFT_DEMAND, &changes);
	fs_unlock_file(fs, file);
	changes_tell(fs, &changes);
	return error;
}

static int sync_real(const struct handle *handle, int datasync)
{
	int fd = handle->fd;

	return fd < 0 || (datasync ? fdatasync(fd) : fsync(fd)) == 0 ? 0 : errno;
}

void fs_fsync(fuse_req_t req, fuse_ino_t ino, int datasync, struct fuse_file_info *fi)
{
	struct handle *handle = handle_of(fi);
	struct fs *fs = fs_of(req);
	int error = ESTALE;

	(void)ino;
	if (fs->unopened_files)
		error = ENOSYS;
	else if (handle->node->kind == NODE_VIEW)
		error = sync_view(fs, handle->node);
	if (error == ESTALE && handle->node->kind != NODE_VIEW)
		error = sync_real(handle, datasync);
	fuse_reply_err(req, error);
}

/* ---- the rest ---- */

void fs_fallocate(fuse_req_t req, fuse_ino_t ino, int mode, off_t off, off_t length,
		  struct fuse_file_info *fi)
{
	struct handle *handle = handle_of(fi);
	struct fs *fs = fs_of(req);
	int fd = fs->read_only ? -1 : handle_descriptor(fs, handle);

	(void)ino;
	if (fs->read_only)
		fuse_reply_err(req, EROFS);
	else if (handle->node->kind != NODE_REAL || fd < 0)
		fuse_reply_err(req, EOPNOTSUPP);
	else if (extra_grow_to(fs, handle->node, fd, (uint64_t)off + (uint64_t)length) != 0)
		fuse_reply_err(req, ENOSPC);
	else
		fuse_reply_err(req, fallocate(fd, mode, off, length) == 0 ? 0 : errno);
}

/* A text has no holes but the one at its end. */
static void seek_view(fuse_req_t req, struct fs *fs, struct node *node, off_t off, int whence)
{
	struct stat st;
	int error = fs_attributes(fs, node, &st);

	if (!error && (off < 0 || off >= st.st_size))
		error = ENXIO;
	if (error)
		fuse_reply_err(req, error);
	else
		fuse_reply_lseek(req, whence == SEEK_DATA ? off : st.st_size);
}

void fs_lseek(fuse_req_t req, fuse_ino_t ino, off_t off, int whence, struct fuse_file_info *fi)
{
	struct node *node = fs_node_of(req, ino, fi);
	struct handle *handle = handle_of(fi);
	struct fs *fs = fs_of(req);
	int fd = -1;
	off_t at;

	if (node->kind == NODE_VIEW) {
		seek_view(req, fs, node, off, whence);
		return;
	}
	if (handle)
		fd = handle_descriptor(fs, handle);
	else if (node->kind == NODE_REAL && node_open(fs, node, &fd) != 0)
		fd = -1;
	at = fd < 0 ? -1 : lseek(fd, off, whence);
	if (at < 0)
		fuse_reply_err(req, fd < 0 ? EINVAL : errno);
	else
		fuse_reply_lseek(req, at);
	if (!handle && fd >= 0)
		close(fd);
}

void fs_copy_file_range(fuse_req_t req, fuse_ino_t in, off_t off_in, struct fuse_file_info *fi_in,
			fuse_ino_t out, off_t off_out, struct fuse_file_info *fi_out, size_t size,
			int flags)
{
	struct handle *from = handle_of(fi_in), *to = handle_of(fi_out);
	struct fs *fs = fs_of(req);
	int fd_in, fd_out;
	ssize_t copied;

	(void)in;
	(void)out;
	if (fs->read_only) {
		fuse_reply_err(req, EROFS);
		return;
	}
	if (from->node->kind != NODE_REAL || to->node->kind != NODE_REAL) {
		fuse_reply_err(req, EOPNOTSUPP); /* the kernel then reads and writes */
		return;
	}
	fd_in = handle_descriptor(fs, from);
	fd_out = handle_descriptor(fs, to);
	to->busy = true;
	filling_touch(fs, to->node);
	if (extra_grow_to(fs, to->node, fd_out, (uint64_t)off_out + size) != 0) {
		fuse_reply_err(req, EOPNOTSUPP); /* it may be less than `size` that there is */
		return;
	}
	copied = copy_file_range(fd_in, &off_in, fd_out, &off_out, size, (unsigned)flags);
	if (copied < 0)
		fuse_reply_err(req, errno);
	else
		fuse_reply_write(req, (size_t)copied);
}
