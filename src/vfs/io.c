/* SPDX-License-Identifier: GPL-3.0-or-later */
/* io.c - reading and writing. */
#include "access.h"
#include "attr.h"
#include "control.h"
#include "open.h"
#include "plain.h"
#include "save.h"
#include "staging.h"
#include "upper.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

/* What the request is about: through a handle, what that acts on now. */
static int io_target(struct vfs *v, uint64_t node, const struct handle *h, struct target *out)
{
	if (!h)
		return target_get(v, node, out);
	handle_target(v, h, out);
	return 0;
}

/* ---- read ---- */

static void cut(struct read_part *r, size_t size, off_t at)
{
	struct bytes all = text_bytes(r->text);
	size_t from = (size_t)at < all.size ? (size_t)at : all.size;
	size_t left = all.size - from;

	r->part = (struct bytes){all.data ? all.data + from : NULL, size < left ? size : left};
}

/* From a copy: as soon as the reply is out another thread may release the handle. */
static int read_control(struct vfs *v, const struct target *t, const struct handle *h,
			struct text **out)
{
	struct buf copy = BUF_INIT;

	if (h)
		buf_add(&copy, h->text.data, h->text.size);
	else
		control_text(v, t, true, &copy);
	*out = text_new(&copy);
	return *out ? 0 : ENOMEM;
}

static int read_plain(struct vfs *v, const struct target *t, struct handle *h,
		      struct read_part *out)
{
	out->own_fd = !h;
	if (!h)
		return plain_open(v, t, O_RDONLY, &out->fd);
	out->fd = handle_descriptor(v, h);
	return out->fd < 0 ? EIO : 0;
}

int vfs_read(struct vfs *v, uint64_t node, struct handle *h, size_t size, off_t at,
	     struct read_part *out)
{
	struct target t;
	int error = io_target(v, node, h, &t);

	*out = (struct read_part){.fd = -1};
	if (error)
		return error;
	if (t.thing->kind == THING_VIEW)
		error = view_text(v, &t, &out->text);
	else if (t.thing->kind == THING_CONTROL)
		error = read_control(v, &t, h, &out->text);
	else
		error = read_plain(v, &t, h, out);
	if (!error && out->text)
		cut(out, size, at);
	target_put(v, &t);
	return error;
}

void read_part_end(struct read_part *r)
{
	text_put(r->text);
	if (r->own_fd && r->fd >= 0)
		close(r->fd);
}

/* ---- write ---- */

/* A view that is written to has a draft with whoever may write a skeleton. */
static void write_for(struct draft *draft, struct handle *h) REQUIRES(vfs_class)
{
	if (!h->who)
		return;
	draft_save_for(draft, h->who);
	h->who = NULL;
}

static int write_view(struct vfs *v, const struct target *t, struct handle *h, struct bytes data,
		      off_t at, bool append, bool by_mapping)
{
	struct draft *draft;
	int error = view_need_draft(v, t, false);

	if (error)
		return error;
	draft = t->thing->view.draft;
	/* The kernel's idea of the end may be older than the text. */
	if (append)
		at = (off_t)text_bytes(draft->text).size;
	error = draft_write(draft, (uint64_t)at, data, v->options->max_text);
	if (!error) {
		write_for(draft, h);
		t->thing->view.mapped |= by_mapping;
		h->wrote |= !by_mapping;
		h->has_written |= !by_mapping;
	}
	vfs_unlock(v);
	return error;
}

static ssize_t write_all(int fd, struct bytes data, off_t at, bool append)
{
	struct iovec part = {(void *)(uintptr_t)data.data, data.size};
	ssize_t size = append ? pwritev2(fd, &part, 1, 0, RWF_APPEND)
			      : pwrite(fd, data.data, data.size, at);

	return size < 0 ? -errno : size;
}

static ssize_t write_plain(struct vfs *v, const struct target *t, struct handle *h,
			   struct bytes data, off_t at, bool append)
{
	int fd = handle_descriptor(v, h), error;
	struct stat st;

	if (fd < 0)
		return -EIO;
	if (append && fstat(fd, &st) == 0)
		at = st.st_size;
	error = upper_grow_to(v, t->thing, fd, (uint64_t)at + data.size);
	if (error)
		return -error;
	vfs_lock(v);
	h->busy = true;
	vfs_unlock(v);
	staging_touch(v, t->node);
	return write_all(fd, data, at, append);
}

ssize_t vfs_write(struct vfs *v, struct handle *h, struct bytes data, off_t at, int flags,
		  bool by_mapping)
{
	bool append = (flags & O_APPEND) && !by_mapping;
	struct target t;
	ssize_t size;
	int error;

	if (v->read_only)
		return -EROFS;
	do {
		handle_target(v, h, &t);
		error = 0;
		size = (ssize_t)data.size;
		if (t.thing->kind == THING_VIEW)
			error = write_view(v, &t, h, data, at, append, by_mapping);
		else
			size = write_plain(v, &t, h, data, at, append);
		target_put(v, &t);
	} while (error == ESTALE); /* it was just renamed away */
	return error ? -error : size;
}

int view_resize(struct vfs *v, const struct request *who, const struct target *t, uint64_t size,
		struct handle *h, struct changes *changes)
{
	struct view_state *view = &t->thing->view;
	struct opened opened = {.handle = NULL};
	int error;

	if (!h) {
		/* By name there is no close to wait for: an open, and its last word. */
		error = vfs_open(v, who, t->node->id, O_WRONLY, &opened);
		if (error)
			return error;
		h = opened.handle;
	}
	error = view_need_draft(v, t, size == 0);
	if (!error) {
		error = draft_truncate(view->draft, size, v->options->max_text);
		write_for(view->draft, h);
		h->wrote |= !error && !opened.handle;
		vfs_unlock(v);
	}
	if (!error && opened.handle)
		error = view_commit(v, t, size ? DRAFT_SAVE : DRAFT_FLUSH_OTHER, changes);
	if (opened.handle)
		vfs_release(v, opened.handle);
	return error;
}

/* ---- flush and fsync ---- */

/*
 * How is it asked for? Shells flush an empty file before its data, and their children each what
 * they wrote: only the opener's own flush, once it has written, says that the text is whole. What a
 * mapping wrote is whole, too.
 */
static enum draft_event flush_event(const struct request *who, const struct handle *h,
				    bool by_opener, bool mapped)
{
	bool whole = mapped || (by_opener && process_of(who->pid) == h->opener);

	return whole ? DRAFT_SAVE : DRAFT_FLUSH_OTHER;
}

/* Programs flush handles they never wrote to; only one that wrote, or a mapping, makes a save. */
static int flush_view(struct vfs *v, const struct request *who, const struct target *t,
		      struct handle *h)
{
	struct changes changes = CHANGES_INIT;
	struct view_state *view = &t->thing->view;
	bool wrote, mapped, by_opener;
	int error;

	vfs_lock(v);
	mapped = view->mapped;
	wrote = view->draft && (h->wrote || mapped);
	by_opener = h->has_written && !(h->flags & O_APPEND);
	h->wrote = false;
	vfs_unlock(v);
	if (!wrote)
		return 0;
	error = view_commit(v, t, flush_event(who, h, by_opener, mapped), &changes);
	changes_send_all(v, &changes);
	return error;
}

static int flush_plain(struct vfs *v, struct handle *h)
{
	int fd;

	vfs_lock(v);
	fd = h->fd;
	h->busy = false;
	vfs_unlock(v);
	if (fd < 0)
		return 0;
	fd = dup(fd);
	return fd < 0 || close(fd) != 0 ? errno : 0;
}

int vfs_flush(struct vfs *v, const struct request *who, struct handle *h)
{
	struct target t;
	int error;

	if (v->unopened_files)
		return ENOSYS; /* never asked again */
	handle_target(v, h, &t);
	error = t.thing->kind == THING_VIEW ? flush_view(v, who, &t, h) : flush_plain(v, h);
	target_put(v, &t);
	return error;
}

static int sync_view(struct vfs *v, const struct target *t)
{
	struct changes changes = CHANGES_INIT;
	int error = view_commit(v, t, DRAFT_SAVE, &changes);

	changes_send_all(v, &changes);
	return error;
}

int vfs_fsync(struct vfs *v, const struct request *who, struct handle *h, bool datasync)
{
	struct target t;
	int fd, error = 0;

	(void)who;
	if (v->unopened_files)
		return ENOSYS;
	handle_target(v, h, &t);
	if (t.thing->kind == THING_VIEW) {
		error = sync_view(v, &t);
	} else {
		fd = handle_descriptor(v, h);
		if (fd >= 0 && (datasync ? fdatasync(fd) : fsync(fd)) != 0)
			error = errno;
	}
	target_put(v, &t);
	return error;
}

/* ---- the rest ---- */

/* What a handle of a plain thing is of. EOPNOTSUPP for anything else. */
static int plain_handle(struct vfs *v, struct handle *h, struct target *t, int *fd)
{
	handle_target(v, h, t);
	*fd = t->thing->kind == THING_PLAIN ? handle_descriptor(v, h) : -1;
	if (*fd >= 0)
		return 0;
	target_put(v, t);
	return EOPNOTSUPP;
}

int vfs_fallocate(struct vfs *v, struct handle *h, int mode, off_t at, off_t length)
{
	struct target t;
	int fd, error;

	if (v->read_only)
		return EROFS;
	error = plain_handle(v, h, &t, &fd);
	if (error)
		return error;
	error = upper_grow_to(v, t.thing, fd, (uint64_t)at + (uint64_t)length);
	if (!error && fallocate(fd, mode, at, length) != 0)
		error = errno;
	target_put(v, &t);
	return error;
}

/* A text has no holes but the one at its end. */
static int seek_view(struct vfs *v, const struct target *t, off_t at, int whence, off_t *out)
{
	struct stat st;
	int error = attributes_of(v, t, &st);

	if (!error && (at < 0 || at >= st.st_size))
		error = ENXIO;
	if (!error)
		*out = whence == SEEK_DATA ? at : st.st_size;
	return error;
}

int vfs_lseek(struct vfs *v, uint64_t node, struct handle *h, off_t at, int whence, off_t *out)
{
	struct read_part part = {.fd = -1};
	struct target t;
	int error = io_target(v, node, h, &t);

	if (error)
		return error;
	if (t.thing->kind == THING_VIEW) {
		error = seek_view(v, &t, at, whence, out);
	} else {
		error = read_plain(v, &t, h, &part) ? EINVAL : 0;
		*out = error ? -1 : lseek(part.fd, at, whence);
		if (!error && *out < 0)
			error = errno;
		read_part_end(&part);
	}
	target_put(v, &t);
	return error;
}

ssize_t vfs_copy(struct vfs *v, struct handle *from, off_t from_at, struct handle *to, off_t to_at,
		 size_t size, unsigned flags)
{
	struct target in, out;
	int fd_in, fd_out;
	ssize_t copied;

	if (v->read_only)
		return -EROFS;
	/* Of anything else the kernel then reads and writes. */
	if (plain_handle(v, from, &in, &fd_in) != 0)
		return -EOPNOTSUPP;
	target_put(v, &in);
	if (plain_handle(v, to, &out, &fd_out) != 0)
		return -EOPNOTSUPP;
	vfs_lock(v);
	to->busy = true;
	vfs_unlock(v);
	staging_touch(v, out.node);
	/* It may be less than `size` that there is. */
	if (upper_grow_to(v, out.thing, fd_out, (uint64_t)to_at + size) != 0)
		copied = -EOPNOTSUPP;
	else if ((copied = copy_file_range(fd_in, &from_at, fd_out, &to_at, size, flags)) < 0)
		copied = -errno;
	target_put(v, &out);
	return copied;
}
