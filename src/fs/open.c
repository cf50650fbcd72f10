/* SPDX-License-Identifier: GPL-3.0-or-later */
/* open.c - handles: open, create, release. */
#include "entries.h"
#include "fs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define GIVEN_MAX (64 << 10)   /* bytes of a text that is given to the kernel unasked */
#define SMALL_FILE (512 << 10) /* bytes of a file whose texts are made in no time */

bool handle_writes(const struct handle *handle)
{
	return (handle->flags & O_ACCMODE) != O_RDONLY;
}

struct handle *handle_new(struct fs *fs, struct node *node, int flags, int fd)
{
	struct handle *handle = calloc(1, sizeof(*handle));

	if (!handle) {
		if (fd >= 0)
			close(fd);
		return NULL;
	}
	handle->node = node;
	handle->fd = fd;
	handle->flags = flags;
	nodes_lock(&fs->nodes);
	node->references++;
	handle->next_of_node = node->handles;
	node->handles = handle;
	if (node->kind == NODE_VIEW) {
		handle->file = node->file;
		handle->file->open++;
		handle->file->node->references++;
	}
	nodes_unlock(&fs->nodes);
	return handle;
}

int handle_keep(struct fs *fs, int *fd)
{
	if (*fd < fs->folders.end)
		return 0;
	close(*fd);
	*fd = -1;
	return EMFILE;
}

/* Could a descriptor be kept that is opened now? For what leaves something behind. */
static int check_room(struct fs *fs)
{
	int fd = fcntl(fs->root, F_DUPFD_CLOEXEC, 0);
	int error = fd < 0 ? errno : handle_keep(fs, &fd);

	if (!error)
		close(fd);
	return error;
}

int folder_hold(struct fs *fs, int parent, const char *name)
{
	int fd;

	if (!fs->unopened_folders || at_open(parent, name, O_RDONLY | O_DIRECTORY, 0, &fd) != 0)
		return -1;
	(void)handle_keep(fs, &fd);
	return fd;
}

void folder_let_go(struct fs *fs, struct node *parent, const char *name, int fd)
{
	struct handle *handle = fd >= 0 && parent ? calloc(1, sizeof(*handle)) : NULL;
	struct node *node = NULL;

	nodes_lock(&fs->nodes);
	if (handle)
		node = nodes_by_name(&fs->nodes, parent, name);
	if (node) {
		*handle = (struct handle){.node = node, .fd = fd, .next_of_node = node->handles};
		node->handles = handle;
	}
	nodes_unlock(&fs->nodes);
	if (node)
		return;
	free(handle);
	if (fd >= 0)
		close(fd);
}

static void handle_delete(struct handle *handle)
{
	snap_put(handle->version);
	if (handle->fd >= 0)
		close(handle->fd);
	listing_free(handle->listing);
	buf_release(&handle->text);
	free(handle);
}

void handles_free(struct node *node)
{
	while (node->handles) {
		struct handle *next = node->handles->next_of_node;

		handle_delete(node->handles);
		node->handles = next;
	}
}

/* Takes it out of the node's list, if it is in it. Wants the nodes' lock. */
static void unlist(struct handle *handle)
{
	struct handle **at = &handle->node->handles;

	while (*at && *at != handle)
		at = &(*at)->next_of_node;
	if (*at)
		*at = handle->next_of_node;
}

void handle_free(struct fs *fs, struct handle *handle)
{
	struct snap *good = NULL;

	nodes_lock(&fs->nodes);
	unlist(handle);
	if (handle->file) {
		if (--handle->file->open == 0) {
			good = handle->file->good;
			handle->file->good = NULL;
		}
		nodes_drop(&fs->nodes, handle->file->node, 0, 1);
	}
	nodes_drop(&fs->nodes, handle->node, 0, 1);
	nodes_unlock(&fs->nodes);
	snap_put(good);
	handle_delete(handle);
}

int handle_borrow(struct fs *fs, const struct node *node)
{
	int fd = -1;

	nodes_lock(&fs->nodes);
	for (struct handle *h = node->handles; h && fd < 0; h = h->next_of_node) {
		if (h->fd >= 0)
			fd = fcntl(h->fd, F_DUPFD_CLOEXEC, 0);
	}
	nodes_unlock(&fs->nodes);
	return fd;
}

const struct handle *handles_version(const struct node *node)
{
	const struct handle *h = node->handles;

	while (h && (!h->version || h->follows))
		h = h->next_of_node;
	return h;
}

void view_written(struct fs *fs, struct node *node)
{
	nodes_lock(&fs->nodes);
	handles_follow(node);
	nodes_unlock(&fs->nodes);
}

void handles_follow(struct node *node)
{
	for (struct handle *h = node->handles; h; h = h->next_of_node)
		h->follows = true;
}

static void count_handle(struct handle *handle, struct draft *draft)
{
	handle->counted = true;
	draft->handles++;
}

void handles_join(struct fs *fs, struct node *node)
{
	nodes_lock(&fs->nodes);
	for (struct handle *h = node->handles; h; h = h->next_of_node) {
		count_handle(h, node->draft);
		if (handle_writes(h))
			node->draft->writers++;
	}
	nodes_unlock(&fs->nodes);
}

/* ---- real files ---- */

/*
 * What the kernel did already, or what would make the descriptor unfit for it. Appending is said
 * with each write: pages of a mapping are written through any descriptor, to where they belong.
 */
static int real_flags(int flags)
{
	return flags & ~(O_CREAT | O_EXCL | O_TRUNC | O_APPEND | O_DIRECT | O_NOFOLLOW | O_NOCTTY);
}

static int open_again(int fd, int flags, int *again)
{
	char path[AT_PROC_SIZE];
	int error = at_proc_path(fd, NULL, path, sizeof(path));

	if (error)
		return error;
	*again = open(path, real_flags(flags) | O_CLOEXEC);
	return *again < 0 ? errno : 0;
}

/* Opens what the node stands for, and not what another program put in its place just now. */
static int open_named(struct fs *fs, struct node *node, int flags, int *fd)
{
	char name[NAME_MAX + 1];
	struct folder folder;
	struct identity id;
	struct stat st;
	int error = fs_where(fs, node, &folder, name, &st);

	if (error)
		return error;
	/* Never waits for a FIFO that was put there just now; for a lease that another program has.
	 */
	error = at_open(folder.fd, name, real_flags(flags) | O_NONBLOCK, 0, fd);
	if (error == EWOULDBLOCK && !(flags & O_NONBLOCK))
		error = at_open(folder.fd, name, real_flags(flags), 0, fd);
	folder_close(&fs->folders, &folder);
	if (error)
		return error == ELOOP || error == ENXIO ? ESTALE : error;
	error = identity_at(*fd, "", &id, &st);
	if (!error && !identity_same(&id, node_identity(node)))
		error = ESTALE;
	if (error)
		close(*fd);
	return error;
}

/* By its name, or where it has none any more as a second opening of an open file. */
static int open_real(struct fs *fs, struct node *node, int flags, int *fd)
{
	int open_fd, error = open_named(fs, node, flags, fd);

	if (error != ENOENT && error != ESTALE)
		return error;
	open_fd = handle_borrow(fs, node);
	if (open_fd < 0)
		return error;
	error = open_again(open_fd, flags, fd);
	close(open_fd);
	return error;
}

int node_open(struct fs *fs, struct node *node, int *fd)
{
	return open_real(fs, node, O_RDONLY, fd);
}

/* O_TRUNC works with O_RDONLY too, and takes away set-id bits unless it is root who asks. */
static int empty(fuse_req_t req, int fd)
{
	char path[AT_PROC_SIZE];
	struct stat st;
	int emptied, error = at_proc_path(fd, NULL, path, sizeof(path));

	if (error)
		return error;
	/* Not truncate(), to which a file that is empty already has nothing new. */
	emptied = open(path, O_WRONLY | O_TRUNC | O_NONBLOCK | O_CLOEXEC);
	if (emptied < 0)
		return errno;
	close(emptied);
	if (fuse_req_ctx(req)->uid != 0 && fstat(fd, &st) == 0 &&
	    (st.st_mode & (S_ISUID | S_ISGID)))
		fchmod(fd, st.st_mode & (st.st_mode & S_IXGRP ? 01777 : 03777));
	return 0;
}

/* A rename made a view real while it was open: the handle is opened when it is used. */
int handle_descriptor(struct fs *fs, struct handle *handle)
{
	int fd, opened;

	nodes_lock(&fs->nodes);
	fd = handle->fd;
	nodes_unlock(&fs->nodes);
	if (fd >= 0 || handle->node->kind != NODE_REAL ||
	    open_real(fs, handle->node, handle->flags & ~O_TRUNC, &opened) != 0)
		return fd;
	nodes_lock(&fs->nodes);
	if (handle->fd < 0) {
		handle->fd = opened;
		opened = -1;
	}
	fd = handle->fd;
	nodes_unlock(&fs->nodes);
	if (opened >= 0)
		close(opened);
	return fd;
}

static int open_real_handle(fuse_req_t req, struct fs *fs, struct node *node,
			    struct fuse_file_info *fi)
{
	struct handle *handle;
	int fd, error;

	if (fs->read_only && (fi->flags & O_ACCMODE) != O_RDONLY)
		return EROFS;
	error = open_real(fs, node, fi->flags, &fd);
	if (!error)
		error = handle_keep(fs, &fd);
	/* The kernel has not heard yet that the name is another node's, or nobody's: see there. */
	if (error)
		return error == ENOENT ? ESTALE : error;
	error = fi->flags & O_TRUNC ? empty(req, fd) : 0;
	if (error) {
		close(fd);
		return error;
	}
	handle = handle_new(fs, node, fi->flags, fd);
	if (!handle)
		return ENOMEM;
	handle->busy = handle_writes(handle);
	if (handle_writes(handle))
		filling_touch(fs, node);
	fi->fh = (uintptr_t)handle;
	fi->keep_cache = 1; /* the kernel drops the pages itself when the mtime moved */
	fi->noflush = !handle_writes(handle);
	return 0;
}

/* ---- views ---- */

/* One more handle on a view. Wants the file's lock. */
static int join_view(fuse_req_t req, struct node *node, struct handle *handle)
{
	struct fs *fs = fs_of(req);
	struct caller *who = NULL;
	struct draft *draft;
	int error = view_draft(fs, node, &draft);

	if (!error && handle_writes(handle) && node_view(node)->parse_skeleton)
		error = access_caller(req, &who);
	if (!error && handle_writes(handle))
		error = view_begin(fs, node, who, handle->flags & O_APPEND);
	if (error)
		return error;
	count_handle(handle, draft);
	if (handle->flags & O_TRUNC) {
		draft_truncate(draft, node->file->name, 0, fs->options->max_text);
		handle->wrote = true;
		view_written(fs, node);
	}
	return 0;
}

bool fs_closes_at_once(const struct handle *handle)
{
	if (handle_writes(handle) || !handle->file || !file_trylock(handle->file))
		return false;
	file_unlock(handle->file); /* which the handle keeps in memory */
	return true;
}

bool fs_answers_at_once(struct fs *fs, fuse_ino_t ino)
{
	const struct node *node = fs_node(fs, ino);
	struct file *file = node ? fs_trylock_file(fs, node) : NULL;
	struct snap *snap;
	bool at_once;

	if (!file)
		return false;
	file_unlock(file);
	snap = fs_told(fs, file);
	at_once = snap && snap->bytes.size <= SMALL_FILE;
	snap_put(snap);
	fs_file_put(fs, file);
	return at_once;
}

/* The version stays the view's text for this handle. Takes `snap` over. Wants the file's lock. */
static bool pin_version(struct fs *fs, struct handle *handle, struct snap *snap)
{
	struct place place;
	bool found = snap && fs_place(fs, snap, handle->node, &place) == 0;

	if (!found) {
		snap_put(snap);
		return false;
	}
	nodes_lock(&fs->nodes);
	handle->version = snap;
	handle->place = place;
	nodes_unlock(&fs->nodes);
	return true;
}

/* The version that it is opened with, where its text is not a draft. Wants the file's lock. */
static void pin_shown(struct fs *fs, struct handle *handle)
{
	struct snap *snap;
	struct stat st;

	if (!handle->node->draft->writers && fs_shown(fs, handle->node, &snap, &st) == 0)
		pin_version(fs, handle, snap);
}

/* Does the kernel have the text as it is? Then there is nothing to find out. Wants the file's lock.
 */
static bool has_pages(struct fs *fs, struct handle *handle)
{
	const struct node *node = handle->node;
	struct snap *told;

	if (node->draft || !node->cached || fs_is_retired(fs, node))
		return false;
	told = fs_told(fs, node->file);
	if (told && node_generation(told->generation) == node->cached)
		return pin_version(fs, handle, told);
	snap_put(told);
	return false;
}

/* Has the kernel pages of the text that the handle is to read? Wants the file's lock. */
static bool keeps_pages(struct node *node, const struct handle *handle)
{
	uint32_t before = node->cached;

	node->cached = node->draft->written || handle_writes(handle)
			       ? CACHED_OTHER
			       : node_generation(node->draft->base->generation);
	return before == node->cached && before != CACHED_OTHER;
}

/*
 * Gives the kernel a small text before it asks: with what opens it, that is all there is to reading
 * it. No page of it can be in use, since the view was never opened before. Wants the file's lock.
 */
static bool give_pages(struct fs *fs, struct node *node, const struct handle *handle)
{
	struct fuse_bufvec pages = FUSE_BUFVEC_INIT(0);
	struct draft *draft = node->draft;

	keeps_pages(node, handle);
	if (node->size > GIVEN_MAX || node->generation != node->cached ||
	    view_text(fs, node, &draft) != 0)
		return false;
	pages.buf[0].mem = draft->text.data;
	pages.buf[0].size = draft->text.size;
	return fuse_lowlevel_notify_store(fs->session, node->id, 0, &pages, 0) == 0;
}

/* *stale: the kernel remembers another text than this one. Wants the file's lock. */
static int open_text(fuse_req_t req, struct handle *handle, struct fuse_file_info *fi, bool *stale)
{
	struct fs *fs = fs_of(req);
	struct node *node = handle->node;
	bool first = !node->cached, reads;
	uint64_t size;
	uint32_t told;
	int error;

	reads = (handle->flags & (O_ACCMODE | O_TRUNC)) == O_RDONLY;
	fi->keep_cache = reads && has_pages(fs, handle);
	if (fi->keep_cache)
		return 0;
	error = join_view(req, node, handle);
	if (error) {
		view_settle(fs, node);
		return error;
	}
	pin_shown(fs, handle);
	told = node->generation;
	fi->keep_cache = first ? give_pages(fs, node, handle) : keeps_pages(node, handle);
	*stale = (!first && !fi->keep_cache) || node->cached != told ||
		 node->cached != node_generation(node->file->generation);
	/* It is read from here on, also by who does not ask for its size before. */
	if (node->cached != CACHED_OTHER && node->cached != told)
		(void)view_size(fs, node, &size);
	return 0;
}

bool fs_is_retired(struct fs *fs, const struct node *node)
{
	bool retired;

	nodes_lock(&fs->nodes);
	retired = node_is_retired(node);
	nodes_unlock(&fs->nodes);
	return retired;
}

/* The kernel may not have pages of it yet: those that it asks for are to be the latest. */
static void catch_up_view(struct fs *fs, struct node *node)
{
	struct file *file = node->cached ? NULL : fs_file_of(fs, node);

	if (!file)
		return;
	fs_catch_up(fs, file);
	fs_file_put(fs, file);
}

/* ESTALE where it is no view any more. */
static int open_view(fuse_req_t req, struct node *node, int flags, struct fuse_file_info *fi)
{
	struct fs *fs = fs_of(req);
	struct handle *handle;
	struct file *file;
	bool stale = false;
	int error;

	if (fs->read_only && (flags & O_ACCMODE) != O_RDONLY)
		return EROFS;
	catch_up_view(fs, node);
	handle = handle_new(fs, node, flags, -1);
	if (!handle)
		return ENOMEM;
	file = fs_lock_file(fs, node);
	error = file ? open_text(req, handle, fi, &stale) : ESTALE;
	if (file)
		fs_unlock_file(fs, file);
	if (error) {
		handle_free(fs, handle);
		return error;
	}
	/* The pages go with the reply; the size is to be as new. */
	if (stale)
		fuse_lowlevel_notify_inval_inode(fs->session, node->id, -1, 0);
	fi->fh = (uintptr_t)handle;
	fi->noflush = !handle_writes(handle);
	return 0;
}

static int open_control(struct fs *fs, struct node *node, struct fuse_file_info *fi)
{
	struct handle *handle;

	if ((fi->flags & O_ACCMODE) != O_RDONLY)
		return EACCES;
	handle = handle_new(fs, node, fi->flags, -1);
	if (!handle)
		return ENOMEM;
	control_render(fs, node, &handle->text);
	fi->fh = (uintptr_t)handle;
	fi->direct_io = 1; /* what it says may have changed since its size was asked for */
	fi->noflush = 1;
	return 0;
}

/*
 * Does the kernel open, by a name that it has not dropped yet, a view that was replaced? Then it is
 * to look the name up again, which it does once. Where it has just done so, the view was replaced
 * in between: the text that it finds was there when it looked. And where it comes back without
 * having looked, it was not by a name: a descriptor is opened again (/dev/fd/N).
 */
static bool is_outdated(fuse_req_t req, const struct node *node)
{
	_Atomic uint64_t *looked_up = fs_looked_up(req);
	bool outdated = node->kind == NODE_VIEW && fs_is_retired(fs_of(req), node) &&
			*looked_up != node->id;

	*looked_up = outdated ? node->id : 0;
	return outdated;
}

void fs_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct fs *fs = fs_of(req);
	struct node *node = fs_node(fs, ino);
	int error;

	if (fs->unopened_files)
		error = ENOSYS; /* the kernel takes it for good, and for all files */
	else if (is_outdated(req, node))
		error = ESTALE;
	else if (node->kind == NODE_CONTROL)
		error = open_control(fs, node, fi);
	else if (node->kind == NODE_VIEW)
		error = open_view(req, node, fi->flags, fi);
	else
		error = open_real_handle(req, fs, node, fi);
	/* It was renamed away while we waited for its file. */
	if (error == ESTALE && node->kind == NODE_REAL)
		error = open_real_handle(req, fs, node, fi);
	if (error)
		fuse_reply_err(req, error);
	else
		fuse_reply_open(req, fi);
}

/* ---- create ---- */

/*
 * The kernel asks for it when it found nothing under the name. Where there is something by now,
 * nobody has checked yet who may open it: the kernel is to look again.
 */
static int create_real(fuse_req_t req, struct fs *fs, struct node *parent, const char *name,
		       mode_t mode, struct fuse_file_info *fi, struct fuse_entry_param *entry)
{
	enum node_area area = fs_area_for(parent);
	const struct codec *codec;
	struct handle *handle;
	struct folder folder;
	struct identity id;
	struct stat st;
	bool probe;
	int fd, error = extra_grow(fs, area, EXTRA_ENTRY);

	if (!error)
		error = check_room(fs);
	if (!error)
		error = fs_folder(fs, parent, area, true, &folder);
	if (error)
		return error;
	error = at_open(folder.fd, name, real_flags(fi->flags) | O_CREAT | O_EXCL,
			acl_mode(req, folder.fd, mode), &fd);
	if (error == EEXIST && !(fi->flags & O_EXCL))
		error = ESTALE;
	if (!error) {
		fs_own(req, folder.fd, name);
		error = identity_at(fd, "", &id, &st);
		if (!error)
			error = fs_entry_found(fs, parent, area, name, &id, &st, entry);
		if (error)
			close(fd);
	}
	folder_close(&fs->folders, &folder);
	if (error)
		return error;
	if (store_claims(fs->store, name, &codec, &probe))
		entry->entry_timeout = 0; /* it may be a folder once it is written */
	handle = handle_new(fs, fs_node(fs, entry->ino), fi->flags, fd);
	if (!handle) {
		fs_forget(fs, entry->ino, 1);
		return ENOMEM;
	}
	handle->busy = handle_writes(handle);
	filling_given(req, handle->node, 1u << GIVEN_MADE);
	fi->fh = (uintptr_t)handle;
	return 0;
}

/* A view whose name was away: it is there again, with nothing in it yet. */
static int create_view(fuse_req_t req, struct node *parent, const char *name,
		       const struct place *place, struct fuse_file_info *fi,
		       struct fuse_entry_param *entry)
{
	struct fs *fs = fs_of(req);
	struct file *file = fs_lock_file(fs, parent);
	struct node *node;
	int error;

	if (!file)
		return ESTALE;
	file_clear_away(file, &fs->nodes, parent, name);
	error = fs_view_node(fs, parent, name, place, &node);
	fs_unlock_file(fs, file);
	if (error)
		return error;
	error = open_view(req, node, fi->flags | O_TRUNC, fi);
	if (!error) {
		error = fs_entry(fs, node, entry);
		if (error)
			handle_free(fs, handle_of(fi));
	}
	fs_reference(fs, node, -1);
	return error;
}

int fs_make_view(fuse_req_t req, struct node *parent, const char *name, const struct place *place,
		 struct fuse_entry_param *entry)
{
	struct fuse_file_info fi = {.flags = O_WRONLY | O_CREAT};
	int error = create_view(req, parent, name, place, &fi, entry);

	if (!error)
		fs_release(fs_of(req), handle_of(&fi));
	return error;
}

void fs_create(fuse_req_t req, fuse_ino_t ino, const char *name, mode_t mode,
	       struct fuse_file_info *fi)
{
	struct fuse_entry_param entry;
	struct fs *fs = fs_of(req);
	struct slot slot;
	int error = fs_slot(fs, ino, name, &slot);

	if (!error && slot.present && (fi->flags & O_EXCL))
		error = EEXIST;
	if (!error && slot.is_view && slot.place.kind != PLACE_VIEW)
		error = EISDIR;
	if (!error)
		error = slot.is_view ? create_view(req, slot.parent, name, &slot.place, fi, &entry)
				     : create_real(req, fs, slot.parent, name, mode, fi, &entry);
	if (error)
		fuse_reply_err(req, error);
	else
		fuse_reply_create(req, &entry, fi);
}

/* ---- release ---- */

void fs_begin_release(struct fs *fs, struct handle *handle)
{
	if (!handle_writes(handle))
		return;
	nodes_lock(&fs->nodes);
	if (handle->node->kind == NODE_VIEW) {
		handle->closing = handle->node->file;
		handle->closing->node->references++;
		file_begin_close(handle->closing);
	}
	nodes_unlock(&fs->nodes);
}

/*
 * The view's file, locked; NULL where the node is no view. What a rename made of it just when the
 * release was read is still another thing than it was then.
 */
static struct file *lock_to_leave(struct fs *fs, struct handle *handle)
{
	struct node *node = handle->node;
	struct file *closing = handle->closing;

	if (closing) {
		file_lock_to_close(closing);
		if (fs_belongs(fs, node, closing))
			return closing;
		fs_unlock_file(fs, closing);
	}
	return fs_lock_file(fs, node);
}

/* The last word of a handle on a view: there is nobody left to hear of a failure. */
static void leave_view(struct fs *fs, struct handle *handle)
{
	struct changes changes = CHANGES_NONE;
	struct node *node = handle->node;
	struct file *file;
	struct draft *draft;

	if (node->kind != NODE_VIEW && !handle->closing)
		return;
	file = lock_to_leave(fs, handle);
	if (!file)
		return;
	draft = node->draft;
	if (handle->counted && draft) {
		bool gone = false;

		if (handle_writes(handle)) {
			bool wrote = draft->written, refused;

			if (draft->writers == 1)
				view_commit(fs, node, DRAFT_CLOSE, &changes);
			refused = draft->refused;
			draft_end(draft);
			gone = (wrote && !draft->written) || (refused && !draft->refused);
			if (draft->pending)
				file_touch(fs, file);
			else if (draft_awaits_more(draft))
				file_watch(fs, file);
		}
		draft->handles--;
		if (gone)
			notify_data(fs, node); /* what the kernel has was refused */
		view_settle(fs, node);
	}
	fs_unlock_file(fs, file);
	changes_tell(fs, &changes);
}

void fs_release(struct fs *fs, struct handle *handle)
{
	/* A rename that makes the file a view counts it among those of the draft, or does not. */
	nodes_lock(&fs->nodes);
	unlist(handle);
	nodes_unlock(&fs->nodes);
	leave_view(fs, handle);
	if (handle->node->kind == NODE_REAL && handle_writes(handle))
		filling_touch(fs, handle->node);
	handle_free(fs, handle);
}
