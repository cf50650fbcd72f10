/* SPDX-License-Identifier: GPL-3.0-or-later */
/* open.c - open, create, release. */
#include "open.h"
#include "access.h"
#include "attr.h"
#include "control.h"
#include "diagnostics.h"
#include "looked_up.h"
#include "lookup.h"
#include "pinned.h"
#include "plain.h"
#include "save.h"
#include "staging.h"
#include "upper.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define GIVEN_MAX (64 << 10) /* Texts up to this size are pushed to the kernel on open. */

/* ---- plain files ---- */

/*
 * Truncates the open file. As with open(O_TRUNC), that works with O_RDONLY, too, and drops set-id
 * bits unless the caller is root.
 */
static int empty_file(const struct request *who, int fd)
{
	char path[DIRFD_PROC_SIZE];
	struct stat st;
	int emptied, error = dirfd_proc_path(fd, NULL, path, sizeof(path));

	if (error)
		return error;
	/* Not truncate(), which does not change the mtime of a file that is already empty. */
	emptied = open(path, O_WRONLY | O_TRUNC | O_NONBLOCK | O_CLOEXEC);
	if (emptied < 0)
		return errno;
	close(emptied);
	if (who->uid != 0 && fstat(fd, &st) == 0 && (st.st_mode & (S_ISUID | S_ISGID)))
		fchmod(fd, st.st_mode & (st.st_mode & S_IXGRP ? 01777 : 03777));
	return 0;
}

/*
 * Opens the file. If its name is gone or another file's, opens the file that the thread's second
 * lookup has kept (looked_up.h). Without one returns ESTALE; ENOENT if the name is gone even after
 * a second lookup.
 */
static int open_file(struct vfs *v, const struct looked_up *last, const struct target *t, int flags,
		     int *fd)
{
	int error = plain_open(v, t, flags, fd);

	if ((error == ENOENT || error == ESTALE) && last->kept >= 0)
		return plain_open_again(last->kept, flags, fd);
	return error == ENOENT && !last->again ? ESTALE : error;
}

/*
 * Returns whether the kernel may keep the file's pages. The kernel drops them by itself only when
 * the mtime changes; with coarse timestamps not every write changes that.
 */
static bool keeps_file(struct vfs *v, struct node *node, int fd)
{
	struct timespec now;
	struct stat st;

	now = clock_wall();
	return fstat(fd, &st) == 0 && plain_keeps_pages(v, node, &st, &now);
}

/*
 * Returns whether the file is opened for writing after its staged folder has become a clip or an
 * animation file.
 */
static bool open_is_taken(struct vfs *v, const struct target *t, int flags)
{
	bool taken;

	vfs_lock(v);
	taken = t->thing->plain.taken;
	vfs_unlock(v);
	return taken && ((flags & O_ACCMODE) != O_RDONLY || (flags & O_TRUNC));
}

static int open_plain(struct vfs *v, const struct request *who, const struct looked_up *last,
		      const struct target *t, int flags, struct opened *out)
{
	int fd, error;

	if (v->read_only && (flags & O_ACCMODE) != O_RDONLY)
		return EROFS;
	error = open_is_taken(v, t, flags) ? ESTALE : open_file(v, last, t, flags, &fd);
	if (!error)
		error = handle_keep(v, &fd);
	if (error)
		return error;
	if (flags & O_TRUNC)
		error = empty_file(who, fd);
	if (error) {
		close(fd);
		return error;
	}
	out->handle = handle_new(v, who, t->node, flags, fd);
	if (!out->handle)
		return ENOMEM;
	out->keep_cache = keeps_file(v, t->node, fd);
	out->noflush = !handle_writes(out->handle);
	if (!handle_writes(out->handle))
		return 0;
	vfs_lock(v);
	out->handle->busy = true;
	vfs_unlock(v);
	staging_given(v, who, t->node, 0);
	return 0;
}

/* ---- views ---- */

/*
 * Locks the tree, with *out as the text that a writer starts from if there is no draft yet (NULL:
 * empty). Tries again if a draft that was there has gone before the lock was taken.
 */
static int lock_to_start(struct vfs *v, const struct target *t, bool empty, struct text **out)
	TRY_ACQUIRE(0, vfs_class)
{
	const struct view_state *view = &t->thing->view;
	bool drafted;
	int error;

	*out = NULL;
	for (;;) {
		vfs_lock(v);
		drafted = view->draft != NULL;
		vfs_unlock(v);
		error = drafted || empty ? 0 : view_text(v, t, out);
		if (error)
			return error;
		vfs_lock(v);
		if (!drafted || view->draft)
			return 0;
		vfs_unlock(v);
	}
}

int view_need_draft(struct vfs *v, const struct target *t, bool empty)
{
	struct view_state *view = &t->thing->view;
	struct draft *draft = NULL;
	struct text *text;
	int error = lock_to_start(v, t, empty, &text);

	if (error)
		return error;
	if (t->node->thing != t->thing || !(view->version || view->lost)) {
		error = ESTALE;
	} else if (!view->draft && view->lost) {
		error = EIO;
	} else if (!view->draft) {
		draft = draft_new(view->version, &view->place, text, &v->drafts);
		error = draft ? 0 : ENOMEM;
	}
	if (draft) {
		view_give_draft(t->node, draft);
		pinned_drop_text(v, t->thing);
	}
	if (!error)
		t->node->cached = CACHED_OTHER;
	if (error)
		vfs_unlock(v);
	text_put(text);
	return error;
}

/*
 * Returns whether the kernel must look up the name of a view again, since it may be opening a
 * replaced view by a name that it has not dropped yet. If the thread has just looked it up, the
 * view was replaced in between, and may be opened. A view whose writes would not be saved is opened
 * only after a second lookup. If the open is repeated without a lookup, it used a descriptor
 * (/dev/fd/N) instead of a name.
 */
static bool open_is_outdated(const struct looked_up *last, const struct target *t)
	REQUIRES(vfs_class)
{
	switch ((enum standing)t->thing->view.standing) {
	case REPLACED:
		return last->node != t->node->id;
	case DETACHED:
		return !last->again;
	default:
		return false;
	}
}

/*
 * Looks at the file. An open view shows the version that it was opened with, but the new handle is
 * opened by the view's name, which shows the latest version: if its text differs, the look replaces
 * the view.
 */
static void look_for_name(struct vfs *v, const struct target *t)
{
	struct version *latest;
	struct stat st;
	bool pinned;

	vfs_lock(v);
	pinned = t->thing->view.version && t->thing->view.standing == STANDS;
	vfs_unlock(v);
	if (pinned && animation_look(v, t->thing->animation, &latest, &st) == 0)
		version_put(latest);
}

/*
 * Returns whether there is no newer version that the new handle could show. The version that is
 * kept of a damaged file may be older than the one published last.
 */
static bool is_newest(const struct target *t, const struct version *version) REQUIRES(vfs_class)
{
	const struct animation *a = t->thing->animation;

	return a->generation <= version->generation ||
	       (a->damaged && !view_is_torn(t->thing, version));
}

/*
 * Determines the version of the new handle: the latest one, or that of other open handles. On
 * success returns with the lock of the tree held, the view pinned to that version, and the handle
 * added to the node.
 */
static int pin_sight(struct vfs *v, const struct looked_up *last, const struct target *t,
		     struct handle *h, struct sight *s) TRY_ACQUIRE(0, vfs_class)
{
	const struct view_state *view = &t->thing->view;
	struct stat st;
	int error;

	look_for_name(v, t);
	for (;;) {
		error = sight_of(v, t, s, &st);
		if (error)
			return error;
		vfs_lock(v);
		if (h->node->thing != t->thing || open_is_outdated(last, t))
			break;
		if (view->version == s->version || is_newest(t, s->version)) {
			view_pin(t->node, s);
			return 0;
		}
		vfs_unlock(v);
		sight_release(s);
	}
	vfs_unlock(v);
	sight_release(s);
	return ESTALE;
}

/*
 * Makes the first writer's program the one that the view is saved for, so that texts written later
 * through a mapping belong to it.
 */
static void save_for(const struct target *t, const struct handle *h) REQUIRES(vfs_class)
{
	if (node_writers(t->node) <= handle_writes(h))
		view_save_for(&t->thing->view, h);
}

/*
 * Begins the draft for a writer, if the view has one already: the first writer continues it, or
 * starts again from the current text; further writers join it, with saves of their own.
 */
static void begin_draft(struct vfs *v, const struct target *t, struct handle *h,
			const struct sight *s) REQUIRES(vfs_class)
{
	struct draft *draft = t->thing->view.draft;
	bool had_base;

	if (!draft || draft_is_committing(draft))
		return;
	/*
	 * A draft without a base is not being edited: of two concurrent opens, this one is the
	 * first.
	 */
	if (draft->base && node_writers(t->node) > 1) {
		draft_begin_again(draft, h->flags & O_APPEND);
		return;
	}
	had_base = draft->base != NULL;
	draft_begin(draft, s->version, &s->place, h->flags & O_APPEND);
	if (!had_base)
		node_get(t->node); /* view_release_draft drops this reference */
	(void)v;
}

/*
 * Returns whether the kernel has pages of this handle's text. *first: whether it has none of any
 * text.
 */
static bool keeps_pages(const struct target *t, const struct handle *h, const struct sight *s,
			bool *first) REQUIRES(vfs_class)
{
	struct tree tree = sight_tree(s);
	uint64_t before = t->node->cached;
	bool other = t->thing->view.draft || handle_writes(h);

	*first = !before;
	t->node->cached = other ? CACHED_OTHER : s->version->generation;
	return !other && before && before != CACHED_OTHER && before >= tree_since(&tree, &s->place);
}

/*
 * Pushes a small text into the kernel's page cache, which saves a read request. No page can be in
 * use, since the view was never opened before. But if the view is opened for writing meanwhile, the
 * pages may have replaced a text written since, and are dropped. Returns whether the kernel has the
 * pages.
 */
static bool give_pages(struct vfs *v, const struct target *t)
{
	struct text *text;
	bool small, given = false, written;

	vfs_lock(v);
	small = t->thing->view.generation && t->thing->view.size <= GIVEN_MAX &&
		!t->thing->view.draft;
	vfs_unlock(v);
	if (!small || view_text(v, t, &text) != 0)
		return false;
	if (text_bytes(text).size <= GIVEN_MAX)
		given = v->kernel->store(v->kernel->closure, t->node->id, text_bytes(text)) == 0;
	text_put(text);
	vfs_lock(v);
	written = t->node->cached == CACHED_OTHER;
	vfs_unlock(v);
	if (given && written)
		invalidate_data(v, t->node->id);
	return given && !written;
}

static int truncate_view(struct vfs *v, const struct target *t, struct handle *h)
{
	int error = view_need_draft(v, t, true);

	if (error)
		return error;
	error = draft_truncate(t->thing->view.draft, 0, v->options->max_text);
	h->wrote = !error;
	if (!error)
		view_save_for(&t->thing->view, h);
	vfs_unlock(v);
	return error;
}

/* Opens a view for a new handle. On failure the handle is not used. */
static int join_view(struct vfs *v, const struct looked_up *last, const struct target *t,
		     struct handle *h, struct opened *out)
{
	struct sight s;
	bool first, reads = !handle_writes(h);
	int error = pin_sight(v, last, t, h, &s);

	if (error)
		return error;
	save_for(t, h);
	if (!reads)
		begin_draft(v, t, h, &s);
	out->keep_cache = keeps_pages(t, h, &s, &first);
	vfs_unlock(v);
	if (!reads && view_is_fixed(view_of(t->thing), s.version))
		error = EACCES;
	sight_release(&s);
	if (!error && (h->flags & O_TRUNC))
		error = truncate_view(v, t, h);
	if (!error && first && reads)
		out->keep_cache = give_pages(v, t);
	else if (!error && !out->keep_cache)
		v->kernel->inval_node(v->kernel->closure, t->node->id, false);
	return error;
}

static int open_view(struct vfs *v, const struct request *who, const struct looked_up *last,
		     const struct target *t, int flags, struct opened *out)
{
	bool writes = (flags & O_ACCMODE) != O_RDONLY;
	struct caller *caller = NULL;
	struct handle *h;
	int error = 0;

	if (v->read_only && writes)
		return EROFS;
	if (writes)
		error = check_editable(v, t, NULL);
	if (!error && writes && view_of(t->thing)->parse_skeleton)
		error = access_caller(v, who, &caller);
	if (error)
		return error;
	h = handle_new(v, who, t->node, flags, -1);
	if (!h) {
		free(caller);
		return ENOMEM;
	}
	vfs_lock(v);
	h->who = caller;
	if (writes) {
		t->thing->view.uid = who->uid;
		t->thing->view.gid = who->gid;
	}
	vfs_unlock(v);
	error = join_view(v, last, t, h, out);
	if (error) {
		vfs_release(v, h);
		return error;
	}
	out->handle = h;
	out->noflush = !writes;
	return 0;
}

/* Opens the loose file that replaces a member. Takes over the file's descriptor. */
static int open_loose(struct vfs *v, const struct target *t, int flags, int fd, struct opened *out)
{
	int error = handle_keep(v, &fd);

	if (error)
		return error;
	out->keep_cache = keeps_file(v, t->node, fd);
	out->handle = handle_new(v, NULL, t->node, flags, fd);
	out->noflush = true;
	return out->handle ? 0 : ENOMEM;
}

/*
 * Opens a member of an archive. The handle keeps the content that the member has now, even if the
 * archive is replaced.
 */
static int open_member(struct vfs *v, const struct target *t, int flags, struct opened *out)
{
	struct spot spot;
	int fd, error;

	if (t->thing->folder)
		return EISDIR;
	if ((flags & O_ACCMODE) != O_RDONLY || (flags & O_TRUNC))
		return refuse_in_archive(v, t->node, NULL, NULL);
	error = member_spot(v, t->node, &spot);
	if (error)
		return error;
	if (spot_loose(v, t->node, &spot, &fd) == 0) {
		spot_release(&spot);
		return open_loose(v, t, flags, fd, out);
	}
	out->handle = handle_new(v, NULL, t->node, flags, -1);
	if (!out->handle) {
		spot_release(&spot);
		return ENOMEM;
	}
	vfs_lock(v);
	out->handle->member.of = spot.of;
	out->handle->member.entry = spot.entry;
	out->keep_cache = t->node->cached == catalog_generation(spot.of);
	t->node->cached = catalog_generation(spot.of);
	vfs_unlock(v);
	out->noflush = true;
	return 0;
}

static int open_control(struct vfs *v, const struct target *t, int flags, struct opened *out)
{
	if ((flags & O_ACCMODE) != O_RDONLY && !control_is_writable(v, t))
		return EACCES;
	out->handle = handle_new(v, NULL, t->node, O_RDONLY, -1);
	if (!out->handle)
		return ENOMEM;
	control_text(v, t, false, &out->handle->text);
	out->direct_io = true; /* the text may have changed since its size was requested */
	out->noflush = true;
	return 0;
}

/* ---- open ---- */

static int open_target(struct vfs *v, const struct request *who, const struct looked_up *last,
		       const struct target *t, int flags, struct opened *out)
{
	switch ((enum thing_kind)t->thing->kind) {
	case THING_CONTROL:
		return open_control(v, t, flags, out);
	case THING_VIEW:
		return open_view(v, who, last, t, flags, out);
	case THING_PLAIN:
		return open_plain(v, who, last, t, flags, out);
	case THING_MEMBER:
		return open_member(v, t, flags, out);
	default:
		return EISDIR;
	}
}

int vfs_open(struct vfs *v, const struct request *who, uint64_t node, int flags, struct opened *out)
{
	struct guest guest = {.node = NULL};
	unsigned tries = 0;
	struct looked_up last;
	struct target t;
	int error;

	*out = (struct opened){.handle = NULL};
	if (v->unopened_files)
		return ENOSYS; /* after ENOSYS the kernel stops opening any file */
	last = looked_up_take(v, who, node);
	if ((flags & O_ACCMODE) != O_RDONLY || (flags & O_TRUNC))
		gate_enter(v, node, &guest);
	do {
		error = target_get(v, node, &t);
		if (error)
			break;
		error = open_target(v, who, &last, &t, flags, out);
	} while (target_again(v, &t, error, &tries));
	gate_leave(v, &guest);
	if (last.kept >= 0)
		close(last.kept);
	looked_up_end(v, who, node, error);
	/* An ENOSYS from the filesystem of SOURCE would make the kernel stop opening files. */
	return error == ENOSYS ? EOPNOTSUPP : error;
}

/* ---- create ---- */

/*
 * Checks that one more descriptor may be kept for an open file; called before anything is created.
 * Returns 0 or an errno.
 */
static int open_check_room(struct vfs *v)
{
	int fd = fcntl(v->root, F_DUPFD_CLOEXEC, 0);
	int error = fd < 0 ? errno : handle_keep(v, &fd);

	if (!error)
		close(fd);
	return error;
}

/* Removes flags that the kernel has handled, or that would make the descriptor unusable for it. */
static int create_flags(int flags)
{
	return (flags & ~(O_TRUNC | O_APPEND | O_DIRECT | O_NOFOLLOW | O_NOCTTY)) | O_CREAT |
	       O_EXCL;
}

/*
 * Creates a file. The kernel asks for that after it found nothing under the name. If there is a
 * file now, its permissions have not been checked yet: ESTALE makes the kernel look it up again.
 */
static int open_make_file(struct vfs *v, const struct request *who, const struct target *parent,
			  const char *name, mode_t mode, int flags, int *fd, struct entry *entry)
{
	enum area area = area_for(parent->thing);
	char stored[NAME_MAX + 1];
	struct folder folder;
	struct identity id;
	struct stat st;
	int error = plain_name(area, name, stored);

	if (!error)
		error = plain_folder(v, parent, area, true, &folder);
	if (error)
		return error;
	error = dirfd_open(folder.fd, stored, create_flags(flags),
			   acl_mode(v, who, folder.fd, mode), fd);
	if (error == EEXIST && !(flags & O_EXCL))
		error = ESTALE;
	if (!error) {
		plain_own(who, folder.fd, *fd);
		error = identity_at(*fd, "", &id, &st);
		if (!error)
			error = plain_entry_found(v, parent, area, name, &id, &st, v->moves, entry);
		if (error)
			close(*fd);
	}
	folder_close(v, &folder);
	return error;
}

static int open_create_plain(struct vfs *v, const struct request *who, const struct target *parent,
			     const char *name, mode_t mode, int flags, struct entry *entry,
			     struct opened *out)
{
	const struct codec *codec;
	struct target t;
	bool probe;
	int fd, error = upper_grow(v, area_for(parent->thing), UPPER_ENTRY);

	if (!error)
		error = open_check_room(v);
	if (!error)
		error = open_make_file(v, who, parent, name, mode, flags, &fd, entry);
	if (error)
		return error;
	if (store_claims(v->store, name, &codec, &probe))
		entry->entry_timeout = 0; /* the file may be shown as a folder once it is written */
	error = target_get(v, entry->node, &t);
	out->handle = error ? NULL : handle_new(v, who, t.node, flags, fd);
	if (!out->handle) {
		if (!error)
			target_put(v, &t);
		vfs_forget(v, entry->node, 1);
		return ENOMEM;
	}
	vfs_lock(v);
	out->handle->busy = handle_writes(out->handle);
	vfs_unlock(v);
	staging_given(v, who, t.node, 1u << GIVEN_MADE);
	target_put(v, &t);
	view_diagnose_no_bone(v, parent, name);
	return 0;
}

int view_create(struct vfs *v, const struct request *who, const struct target *parent,
		const char *name, const struct place *place, int flags, struct opened *out,
		struct entry *entry)
{
	const struct looked_up nothing = LOOKED_UP_NOTHING;
	struct target t;
	int error = place_node(v, parent, name, place, &t);

	*out = (struct opened){.handle = NULL};
	if (error)
		return error;
	error = open_view(v, who, &nothing, &t, flags | O_TRUNC, out);
	if (!error) {
		error = entry_of(v, &t, entry);
		if (error)
			vfs_release(v, out->handle);
	}
	if (!error) {
		vfs_lock(v);
		name_set_present(v, parent->thing->animation, parent->node, name);
		vfs_unlock(v);
	}
	target_put(v, &t);
	return error;
}

int vfs_create(struct vfs *v, const struct request *who, uint64_t parent, const char *name,
	       mode_t mode, int flags, struct entry *entry, struct opened *out)
{
	struct slot slot;
	int error = slot_find(v, parent, name, &slot);

	*out = (struct opened){.handle = NULL};
	/*
	 * ESTALE if the name is present again: the kernel must look it up, and open it with the
	 * checks for an existing file.
	 */
	if (!error && slot.present)
		error = flags & O_EXCL ? EEXIST : ESTALE;
	if (!error && slot.is_view && slot.place.kind != PLACE_VIEW)
		error = EISDIR;
	if (!error)
		error = slot.is_view ? view_create(v, who, &slot.parent, name, &slot.place, flags,
						   out, entry)
				     : open_create_plain(v, who, &slot.parent, name, mode, flags,
							 entry, out);
	slot_release(v, &slot);
	return looked_up_end(v, who, 0, error);
}

/* ---- release ---- */

static bool open_is_written(const struct node *node) REQUIRES(vfs_class)
{
	const struct handle *h = node->handles;

	while (h && (!handle_writes(h) || h->released))
		h = h->next_of_node;
	return h != NULL;
}

/*
 * Saves the text that the last handle left. No program can get an error any more; a refused text
 * only leaves .rejected and .error.
 */
static void save_last(struct vfs *v, const struct target *t, struct handle *h)
{
	struct changes changes = CHANGES_INIT;
	const struct view_state *view = &t->thing->view;
	enum draft_event event = DRAFT_FLUSH_OTHER;
	bool dirty;

	vfs_lock(v);
	/* Mark the handle under the lock, so that of two concurrent releases one is the last. */
	h->released = true;
	dirty = handle_writes(h) && !open_is_written(t->node) && view->draft &&
		draft_is_written(view->draft);
	if (view->mapped)
		event = DRAFT_SAVE;
	vfs_unlock(v);
	if (!dirty)
		return;
	view_commit(v, t, event, &changes);
	changes_send_all(v, &changes);
}

/*
 * Takes the handle from its node and settles the view that the node stands for, without releasing
 * the lock in between: otherwise end.c might treat a draft that was just closed as one that was
 * closed long ago.
 */
static void leave_view(struct vfs *v, struct handle *h, struct node *node, struct changes *changes)
	REQUIRES(vfs_class)
{
	handle_leave(v, h);
	if (node->thing->kind != THING_VIEW)
		return;
	if (handle_writes(h) && !node_writers(node) && view_settle(v, node, changes))
		animation_touched(v, node->thing->animation);
	if (!node->handles)
		view_closed(v, node);
}

void vfs_release(struct vfs *v, struct handle *h)
{
	struct changes changes = CHANGES_INIT;
	struct target t;

	handle_target(v, h, &t);
	if (t.thing->kind == THING_VIEW)
		save_last(v, &t, h);
	vfs_lock(v);
	leave_view(v, h, t.node, &changes);
	if (t.thing->kind == THING_PLAIN && handle_writes(h))
		staging_note_touch(v, t.node);
	vfs_unlock(v);
	handle_free(h);
	changes_send_all(v, &changes);
	target_put(v, &t);
}
