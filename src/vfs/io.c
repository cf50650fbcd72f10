/* SPDX-License-Identifier: GPL-3.0-or-later */
/* io.c - read, write, flush, fsync and the like. */
#include "access.h"
#include "attr.h"
#include "control.h"
#include "diagnostics.h"
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

/* Finds the target of a request: with a handle, the present thing of the handle's node. */
static int io_target(struct vfs *v, uint64_t node, const struct handle *h, struct target *out)
{
	if (!h)
		return target_get(v, node, out);
	handle_target(v, h, out);
	return 0;
}

/* ---- read ---- */

static void cut_part(struct read_part *r, size_t size, off_t at)
{
	struct bytes all = text_bytes(r->text);
	size_t from = (size_t)at < all.size ? (size_t)at : all.size;
	size_t left = all.size - from;

	r->part = (struct bytes){all.data ? all.data + from : NULL, size < left ? size : left};
}

/*
 * Returns a copy of the text, since another thread may release the handle before the reply is sent.
 */
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

static int io_read_plain(struct vfs *v, const struct target *t, struct handle *h,
			 struct read_part *out)
{
	out->own_fd = !h;
	if (!h)
		return plain_open(v, t, O_RDONLY, &out->fd);
	out->fd = handle_descriptor(v, h);
	return out->fd < 0 ? EIO : 0;
}

/*
 * Finds the bytes of a member that were unpacked for this handle before. Returns false if there are
 * none.
 */
static bool take_bytes(struct vfs *v, const struct handle *h, struct member_bytes *out)
{
	vfs_lock(v);
	*out = h->member.bytes;
	if (out->whole)
		cached_get(out->whole);
	vfs_unlock(v);
	return out->whole != NULL;
}

/*
 * Keeps the unpacked bytes with the handle while it is open, since they may be too large for the
 * cache.
 */
static void keep_bytes(struct vfs *v, struct handle *h, const struct member_bytes *bytes)
{
	vfs_lock(v);
	if (!h->member.bytes.whole) {
		h->member.bytes = *bytes;
		cached_get(bytes->whole);
	}
	vfs_unlock(v);
}

static int find_bytes(struct vfs *v, const struct target *t, struct handle *h,
		      struct member_bytes *out)
{
	struct err err = {.code = ERR_NONE};
	struct spot spot;
	uint64_t size;
	int error;

	*out = (struct member_bytes){.fd = -1};
	if (h && take_bytes(v, h, out))
		return 0;
	error = h ? handle_spot(v, h, &spot) : member_spot(v, t->node, &spot);
	if (error)
		return error;
	if (!catalog_bytes(spot.of, spot.entry, out, &err)) {
		error = member_failed(v, t->node, &err);
		if (catalog_measure(spot.of, spot.entry, &size) &&
		    size > v->options->store.max_file)
			error = EFBIG;
	}
	if (!error && h)
		keep_bytes(v, h, out);
	spot_release(&spot);
	return error;
}

/*
 * Finds the loose file that replaces the member. Returns whether there is one, and its descriptor
 * in out->fd.
 */
static bool io_find_loose(struct vfs *v, const struct target *t, const struct handle *h,
			  struct read_part *out)
{
	struct spot spot;

	if (h) {
		vfs_lock(v);
		out->fd = h->fd;
		vfs_unlock(v);
		return out->fd >= 0;
	}
	if (spot_of(v, t->node, &spot, NULL) != 0)
		return false;
	out->own_fd = spot_loose(v, t->node, &spot, &out->fd) == 0;
	spot_release(&spot);
	return out->own_fd;
}

static int io_read_member(struct vfs *v, const struct target *t, struct handle *h, size_t size,
			  off_t at, struct read_part *out)
{
	struct member_bytes bytes;
	uint64_t from, left;
	int error;

	if (io_find_loose(v, t, h, out))
		return 0;
	error = find_bytes(v, t, h, &bytes);
	if (error)
		return error;
	from = (uint64_t)at < bytes.size ? (uint64_t)at : bytes.size;
	left = bytes.size - from;
	out->whole = bytes.whole;
	out->size = size < left ? size : (size_t)left;
	if (bytes.fd < 0) {
		out->part = (struct bytes){bytes.data ? bytes.data + from : NULL, out->size};
	} else {
		out->fd = bytes.fd;
		out->at = (off_t)(bytes.at + from);
	}
	return 0;
}

int vfs_read(struct vfs *v, uint64_t node, struct handle *h, size_t size, off_t at,
	     struct read_part *out)
{
	struct target t;
	int error = io_target(v, node, h, &t);

	*out = (struct read_part){.fd = -1, .at = at, .size = size};
	if (error)
		return error;
	if (t.thing->kind == THING_VIEW)
		error = view_text(v, &t, &out->text);
	else if (t.thing->kind == THING_CONTROL)
		error = read_control(v, &t, h, &out->text);
	else if (t.thing->kind == THING_MEMBER)
		error = io_read_member(v, &t, h, size, at, out);
	else
		error = io_read_plain(v, &t, h, out);
	if (!error && out->text)
		cut_part(out, size, at);
	target_put(v, &t);
	return error;
}

void read_part_end(struct read_part *r)
{
	text_put(r->text);
	cached_put(r->whole);
	if (r->own_fd && r->fd >= 0)
		close(r->fd);
}

/* ---- write ---- */

/*
 * Notes the last writer in the draft, whose permission to write the skeleton is checked later. With
 * `by_mapping` the writer is not known, since the kernel writes mapped pages back through any
 * handle; and it may do so during a commit, which has taken the noted writer along. Returns 0, or
 * ENOMEM: then the earlier writer stays.
 */
static int write_for(struct draft *draft, const struct handle *h, bool by_mapping)
	REQUIRES(vfs_class)
{
	const bool is_known = draft->who || draft_is_committing(draft);
	struct caller *who;

	if (!h->who || caller_same(draft->who, h->who) || (by_mapping && is_known))
		return 0;
	who = caller_copy(h->who);
	if (!who)
		return ENOMEM;
	draft_save_for(draft, who);
	return 0;
}

/*
 * Locks the tree with a draft that can be written to (view_need_draft) without copying its text
 * under the lock: if others also refer to the text, makes a copy beforehand.
 */
static int lock_draft(struct vfs *v, const struct target *t, bool empty) TRY_ACQUIRE(0, vfs_class)
{
	struct text *was = NULL, *copy = NULL;
	int error;

	for (;;) {
		struct draft *draft;

		error = view_need_draft(v, t, empty);
		if (error)
			break;
		draft = t->thing->view.draft;
		if (copy && draft->text == was)
			draft_take_copy(draft, text_get(copy));
		text_put(was);
		text_put(copy);
		if (empty || !draft_will_copy(draft))
			return 0;
		was = text_get(draft->text);
		vfs_unlock(v);
		copy = text_copy(was);
		if (!copy) {
			error = ENOMEM;
			break;
		}
	}
	text_put(was);
	text_put(copy);
	return error;
}

static int try_write(struct vfs *v, const struct target *t, struct handle *h, struct bytes data,
		     off_t at, bool append, bool by_mapping)
{
	struct draft *draft;
	int error = lock_draft(v, t, false);

	if (error)
		return error;
	draft = t->thing->view.draft;
	/* Append at the end that the text has now: the kernel's idea of the end may be outdated. */
	if (append)
		at = (off_t)text_bytes(draft->text).size;
	error = draft_write(draft, (uint64_t)at, data, v->options->max_text);
	if (!error) {
		error = write_for(draft, h, by_mapping);
		if (!by_mapping)
			view_save_for(&t->thing->view, h);
		t->thing->view.mapped |= by_mapping;
		h->wrote |= !by_mapping;
		h->has_written |= !by_mapping;
	}
	vfs_unlock(v);
	return error;
}

/*
 * Returns whether a write or resize that failed with `error` should be tried again, since room was
 * made for a text of `size` bytes.
 */
static bool has_made_room(struct vfs *v, int error, uint64_t size)
{
	return error == ENOSPC && size <= v->drafts.limit && drafts_make_room(v, (size_t)size);
}

static int io_write_view(struct vfs *v, const struct target *t, struct handle *h, struct bytes data,
			 off_t at, bool append, bool by_mapping)
{
	int error;

	do
		error = try_write(v, t, h, data, at, append, by_mapping);
	while (has_made_room(v, error, (uint64_t)at + data.size));
	return error;
}

static ssize_t io_write_all(int fd, struct bytes data, off_t at, bool append)
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
	return io_write_all(fd, data, at, append);
}

ssize_t vfs_write(struct vfs *v, struct handle *h, struct bytes data, off_t at, int flags,
		  bool by_mapping)
{
	bool append = (flags & O_APPEND) && !by_mapping;
	unsigned tries = 0;
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
			error = io_write_view(v, &t, h, data, at, append, by_mapping);
		else if (t.thing->kind == THING_CONTROL)
			error = control_write(v, &t, data);
		else
			size = write_plain(v, &t, h, data, at, append);
	} while (target_again(v, &t, error, &tries)); /* the node was just renamed */
	return error ? -error : size;
}

static int try_resize(struct vfs *v, const struct target *t, struct handle *h, uint64_t size,
		      bool by_handle)
{
	struct view_state *view = &t->thing->view;
	int error = lock_draft(v, t, size == 0);

	if (error)
		return error;
	error = draft_truncate(view->draft, size, v->options->max_text);
	if (!error)
		error = write_for(view->draft, h, false);
	view_save_for(view, h);
	h->wrote |= !error && by_handle;
	vfs_unlock(v);
	return error;
}

int view_resize(struct vfs *v, const struct request *who, const struct target *t, uint64_t size,
		struct handle *h, struct changes *changes)
{
	struct opened opened = {.handle = NULL};
	int error;

	if (!h) {
		/* Without a handle no close will follow: open, resize and flush at once. */
		error = vfs_open(v, who, t->node->id, O_WRONLY, &opened);
		if (error)
			return error;
		h = opened.handle;
	}
	do
		error = try_resize(v, t, h, size, !opened.handle);
	while (has_made_room(v, error, size));
	if (!error && opened.handle)
		error = view_commit(v, t, size ? DRAFT_SAVE : DRAFT_FLUSH_OTHER, changes);
	if (opened.handle)
		vfs_release(v, opened.handle);
	return error;
}

/* ---- flush and fsync ---- */

/*
 * Classifies a flush: DRAFT_SAVE means that the text is complete. That is so only if the opener
 * flushes after it has written, or if a mapping was written to: shells flush a file when it is
 * still empty, and each of their children flushes its own output.
 */
static enum draft_event flush_event(const struct request *who, const struct handle *h,
				    bool by_opener, bool mapped)
{
	struct process process = {.pid = 0};

	if (by_opener && !mapped)
		process_of_thread(who->pid, &process);
	return mapped || (by_opener && process.pid == h->program->process.pid) ? DRAFT_SAVE
									       : DRAFT_FLUSH_OTHER;
}

/*
 * Begins the flush of a view's handle. If the text was refused when another program flushed it,
 * this flush tries again, so that this program gets the error, too.
 */
static void begin_flush(struct vfs *v, const struct view_state *view, struct handle *h,
			enum draft_event event)
{
	vfs_lock(v);
	if (view->draft && (h->wrote || (event == DRAFT_SAVE && h->owed)))
		draft_try_again(view->draft);
	h->owed &= event != DRAFT_SAVE;
	h->wrote = false;
	vfs_unlock(v);
}

static void end_flush(struct vfs *v, const struct view_state *view, struct handle *h,
		      enum draft_event event)
{
	vfs_lock(v);
	h->owed |= event == DRAFT_FLUSH_OTHER && view->draft && view->draft->state == DRAFT_REFUSED;
	vfs_unlock(v);
}

/*
 * Saves the view's text if the handle has written, is owed an error, or a mapping was written to.
 * Every close flushes, so most flushes save nothing.
 */
static int flush_view(struct vfs *v, const struct request *who, const struct target *t,
		      struct handle *h)
{
	struct changes changes = CHANGES_INIT;
	struct view_state *view = &t->thing->view;
	bool wrote, mapped, by_opener;
	enum draft_event event;
	int error;

	vfs_lock(v);
	/* A text that was only extended, to be mapped, has nothing to save yet. */
	mapped = view->mapped && view->draft && !draft_is_unfilled(view->draft);
	wrote = view->draft && (h->wrote || h->owed || mapped);
	by_opener = h->has_written && !(h->flags & O_APPEND);
	vfs_unlock(v);
	if (!wrote)
		return 0;
	event = flush_event(who, h, by_opener, mapped);
	writer_lock(t->thing->animation);
	begin_flush(v, view, h, event);
	error = view_commit_locked(v, t, event, &changes);
	end_flush(v, view, h, event);
	writer_unlock(t->thing->animation);
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
		return ENOSYS; /* after ENOSYS the kernel sends no more flushes */
	handle_target(v, h, &t);
	error = t.thing->kind == THING_VIEW ? flush_view(v, who, &t, h) : flush_plain(v, h);
	target_put(v, &t);
	return error;
}

static int sync_view(struct vfs *v, const struct target *t, struct handle *h)
{
	struct changes changes = CHANGES_INIT;
	const struct view_state *view = &t->thing->view;
	bool unsaved;
	int error;

	vfs_lock(v);
	unsaved = view->draft != NULL;
	vfs_unlock(v);
	if (!unsaved)
		return 0;
	writer_lock(t->thing->animation);
	vfs_lock(v);
	if (view->draft && h->wrote)
		draft_try_again(view->draft);
	vfs_unlock(v);
	error = view_commit_locked(v, t, DRAFT_SAVE, &changes);
	vfs_lock(v);
	/* if the text is no longer unsaved, the program has got the verdict on it */
	h->wrote &= view->draft && draft_is_written(view->draft);
	vfs_unlock(v);
	writer_unlock(t->thing->animation);
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
		error = sync_view(v, &t, h);
	} else {
		fd = handle_descriptor(v, h);
		if (fd >= 0 && (datasync ? fdatasync(fd) : fsync(fd)) != 0)
			error = errno;
	}
	target_put(v, &t);
	return error;
}

/* ---- other calls ---- */

/* Returns the target and descriptor of a plain file's handle. EOPNOTSUPP for any other handle. */
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

/*
 * Seeks data or a hole. A text, or a member of an archive, has no hole except the implicit one at
 * its end.
 */
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
	if (t.thing->kind != THING_PLAIN) {
		error = seek_view(v, &t, at, whence, out);
	} else {
		error = io_read_plain(v, &t, h, &part) ? EINVAL : 0;
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
	/* If not both are plain files, the kernel falls back to reading and writing. */
	if (plain_handle(v, from, &in, &fd_in) != 0)
		return -EOPNOTSUPP;
	target_put(v, &in);
	if (plain_handle(v, to, &out, &fd_out) != 0)
		return -EOPNOTSUPP;
	vfs_lock(v);
	to->busy = true;
	vfs_unlock(v);
	staging_touch(v, out.node);
	/* There may be less than `size` to copy, so fall back instead of refusing. */
	if (upper_grow_to(v, out.thing, fd_out, (uint64_t)to_at + size) != 0)
		copied = -EOPNOTSUPP;
	else if ((copied = copy_file_range(fd_in, &from_at, fd_out, &to_at, size, flags)) < 0)
		copied = -errno;
	target_put(v, &out);
	return copied;
}
