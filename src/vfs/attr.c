/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "attr.h"
#include "control.h"
#include "diagnostics.h"
#include "gate.h"
#include "given.h"
#include "handle.h"
#include "invalidate.h"
#include "looked_up.h"
#include "plain.h"
#include "util/clock.h"

#include <errno.h>
#include <unistd.h>

#define VIRTUAL_BLOCK 4096
/* preferred I/O size (st_blksize): programs that follow it make one request per piece */
#define IO_BLOCK (128 << 10)

/* ---- virtual things ---- */

static mode_t folder_mode(mode_t file_mode)
{
	mode_t read = file_mode & 0444;

	return S_IFDIR | (file_mode & 0666) | read >> 2;
}

/*
 * Changes the animation file's attributes in *st to those of a virtual folder or view, which has
 * the file's owner, mode and times.
 */
static void show_virtual(struct vfs *v, const struct target *t, struct stat *st)
{
	const struct mount_options *o = v->options;
	bool view = !t->thing->folder; /* a view, or a file in an archive */

	st->st_nlink = 1;
	st->st_rdev = 0;
	st->st_mode = view ? S_IFREG | (st->st_mode & 0666) : folder_mode(st->st_mode);
	if (!view)
		st->st_size = VIRTUAL_BLOCK;
	if (v->read_only)
		st->st_mode &= ~(mode_t)0222;
	if (o->uid >= 0)
		st->st_uid = (uid_t)o->uid;
	if (o->gid >= 0)
		st->st_gid = (gid_t)o->gid;
	if (o->umask >= 0)
		st->st_mode &= ~(mode_t)(o->umask & 0777);
	st->st_blocks = (st->st_size + 511) / 512;
	st->st_blksize = view ? IO_BLOCK : VIRTUAL_BLOCK;
	vfs_lock(v);
	st->st_ino = t->node->shown_ino;
	if (given_is_for(t->thing))
		given_apply(given_find(t->node), st);
	vfs_unlock(v);
}

static int folder_attributes(struct vfs *v, const struct target *t, struct stat *st)
{
	int error = animation_stat(v, t->thing->animation, st);

	if (!error)
		show_virtual(v, t, st);
	return error;
}

/*
 * Changes the attributes of an archive member, or of the folder beside an archive, to what the
 * mount shows: both are read-only.
 */
static void show_member(struct vfs *v, const struct target *t, struct stat *st)
{
	st->st_mode &= ~(mode_t)0222;
	show_virtual(v, t, st);
}

static int member_attributes(struct vfs *v, const struct target *t, struct stat *st)
{
	struct spot spot;
	int error;

	if (t->thing->kind == THING_ARCHIVE) {
		error = archive_stat(v, t->node, st);
	} else {
		error = member_spot(v, t->node, &spot);
		if (!error)
			spot_stat(v, t->node, &spot, st);
		if (!error)
			spot_release(&spot);
	}
	if (!error)
		show_member(v, t, st);
	return error;
}

static bool view_stands(struct vfs *v, const struct target *t)
{
	bool stands;

	vfs_lock(v);
	stands = t->thing->view.standing == STANDS;
	vfs_unlock(v);
	return stands;
}

/*
 * Returns whether the view has a draft, and the size of its text in *out. A draft has a size
 * whether or not the file still has such a view.
 */
static bool draft_size(struct vfs *v, const struct target *t, uint64_t *out)
{
	const struct draft *draft;

	vfs_lock(v);
	draft = t->thing->view.draft;
	if (draft)
		*out = text_bytes(draft->text).size;
	vfs_unlock(v);
	return draft != NULL;
}

/*
 * Makes the attributes of a view in the sight *s, which is released. `error` is that of getting the
 * sight; if it is not 0, there is no sight.
 */
static int view_attributes_in(struct vfs *v, const struct target *t, struct sight *s, int error,
			      struct stat *st)
{
	uint64_t size = 0;

	if (error && !draft_size(v, t, &size))
		return error == ENOENT && !view_stands(v, t) ? ESTALE : error;
	if (!error)
		error = view_size(v, t, s, &size);
	else if (animation_stat(v, t->thing->animation, st) == 0)
		error = 0;
	/* st_mode is 0 if the file is gone. */
	if (!st->st_mode)
		*st = (struct stat){.st_mode = S_IFREG | 0600};
	st->st_size = (off_t)size;
	if (!error && s->version)
		view_facts(s, st);
	sight_release(s);
	if (error)
		return error;
	show_virtual(v, t, st);
	return 0;
}

static int view_attributes(struct vfs *v, const struct target *t, struct stat *st)
{
	struct sight s = {.version = NULL};
	int error = sight_of(v, t, &s, st);

	return view_attributes_in(v, t, &s, error, st);
}

int attributes_of(struct vfs *v, const struct target *t, struct stat *st)
{
	switch ((enum thing_kind)t->thing->kind) {
	case THING_PLAIN:
		return plain_attributes(v, t, st);
	case THING_CONTROL:
		control_attributes(v, t, st);
		return 0;
	case THING_ARCHIVE:
	case THING_MEMBER:
		return member_attributes(v, t, st);
	case THING_VIEW:
		return view_attributes(v, t, st);
	default:
		return folder_attributes(v, t, st);
	}
}

/*
 * Returns whether the attributes can change without an invalidation, since the view is being
 * written to.
 */
static bool is_unsettled(const struct target *t) REQUIRES(vfs_class)
{
	const struct draft *draft = t->thing->kind == THING_VIEW ? t->thing->view.draft : NULL;

	return draft &&
	       (draft_is_unsaved(draft) || draft->state == DRAFT_REFUSED || node_writers(t->node));
}

double timeout_of(struct vfs *v, const struct target *t)
{
	bool believed;

	if (t->thing->kind == THING_CONTROL)
		return 0;
	if (t->thing->kind == THING_PLAIN || thing_is_member(t->thing))
		return TIMEOUT;
	vfs_lock(v);
	believed = !is_unsettled(t) && animation_is_watched(v, t->thing->animation);
	vfs_unlock(v);
	return believed ? TIMEOUT_WATCHED : TIMEOUT;
}

/*
 * Counts a lookup of the node. Called before the node's attributes are taken, so that changes of
 * them from then on are sent to the kernel (send_again).
 */
static void count_lookup(struct vfs *v, const struct target *t)
{
	vfs_lock(v);
	t->node->lookups++;
	vfs_unlock(v);
}

/*
 * Completes an entry or, on an error, takes back the counted lookup. error: 0, or the reason why
 * there are no attributes.
 */
static int entry_end(struct vfs *v, const struct target *t, int error, const struct stat *st,
		     struct entry *out)
{
	double timeout = timeout_of(v, t);

	if (!error) {
		*out = (struct entry){t->node->id, *st, timeout, timeout};
		return 0;
	}
	vfs_lock(v);
	node_forget(&v->nodes, t->node, 1);
	vfs_unlock(v);
	return error;
}

int entry_of(struct vfs *v, const struct target *t, struct entry *out)
{
	struct stat st;
	int error;

	count_lookup(v, t);
	error = attributes_of(v, t, &st);
	return entry_end(v, t, error, &st, out);
}

int member_entry(struct vfs *v, const struct target *t, const struct spot *spot, struct entry *out)
{
	struct stat st;

	count_lookup(v, t);
	spot_stat(v, t->node, spot, &st);
	show_member(v, t, &st);
	return entry_end(v, t, 0, &st, out);
}

int entry_in(struct vfs *v, const struct target *t, const struct sight *latest,
	     const struct stat *st, struct entry *out)
{
	struct stat shown = *st;
	struct sight s;
	int error = 0;

	if (!st->st_mode)
		return entry_of(v, t, out);
	count_lookup(v, t);
	if (t->thing->kind == THING_VIEW) {
		error = sight_in(v, t, latest, &s);
		error = view_attributes_in(v, t, &s, error, &shown);
	} else {
		show_virtual(v, t, &shown);
	}
	return entry_end(v, t, error, &shown, out);
}

/* ---- getattr ---- */

/*
 * Returns whether the request must look the name up again, since the view was replaced. A replaced
 * text may be used by its openers, and by a thread that has just looked it up. Any other request
 * gets ESTALE, on which the kernel looks up the name again, once.
 */
static bool is_lost(struct vfs *v, const struct request *who, const struct target *t)
	REQUIRES(vfs_class)
{
	return t->thing->kind == THING_VIEW && t->thing->view.standing != STANDS &&
	       !t->node->handles && !v->unopened_files && !was_looked_up(v, who, t->node);
}

/*
 * Invalidates cached pages of an open file that others changed, unless it is open for writing here:
 * then its pages have our own writes.
 */
static void check_pages(struct vfs *v, const struct target *t, const struct stat *st,
			const struct timespec *now)
{
	bool read;

	vfs_lock(v);
	read = t->node->handles && !node_writers(t->node);
	vfs_unlock(v);
	if (read && !plain_keeps_pages(v, t->node, st, now))
		invalidate_data(v, t->node->id);
}

/*
 * Reads the attributes of the file or view that the thread has found again after an ESTALE
 * (looked_up.h). Returns ESTALE if it has found none.
 */
static int kept_attributes(struct vfs *v, const struct request *who, const struct target *t,
			   struct stat *st)
{
	int fd, error;

	if (t->thing->kind == THING_VIEW)
		return looked_up_view(v, who, t->node, st) ? 0 : ESTALE;
	fd = looked_up_borrow(v, who, t->node);
	if (fd < 0)
		return ESTALE;
	error = fstat(fd, st) == 0 ? 0 : errno;
	close(fd);
	if (!error)
		plain_show(v, st);
	return error;
}

int attributes_found(struct vfs *v, const struct request *who, const struct target *t,
		     struct stat *st)
{
	int error = attributes_of(v, t, st);

	if ((error == ENOENT || error == ESTALE) && kept_attributes(v, who, t, st) == 0)
		return 0;
	return error;
}

static int get_attributes(struct vfs *v, const struct request *who, const struct target *t,
			  struct handle *handle, struct stat *st)
{
	struct timespec now;
	bool lost;
	int fd = -1, error = 0;

	now = clock_wall();
	vfs_lock(v);
	lost = is_lost(v, who, t);
	if (handle && t->thing->kind == THING_PLAIN)
		fd = handle->fd;
	vfs_unlock(v);
	if (fd >= 0 && fstat(fd, st) == 0)
		plain_show(v, st);
	else
		error = lost ? ESTALE : attributes_of(v, t, st);
	if (error == ESTALE)
		error = kept_attributes(v, who, t, st);
	if (!error && t->thing->kind == THING_PLAIN && S_ISREG(st->st_mode))
		check_pages(v, t, st, &now);
	return error;
}

int vfs_getattr(struct vfs *v, const struct request *who, uint64_t node, struct handle *handle,
		struct stat *st, double *timeout)
{
	struct target t;
	unsigned tries = 0;
	struct look look;
	int error;

	look_begin(v, who, node, &look);
	do {
		error = target_get(v, node, &t);
		if (error)
			break;
		error = get_attributes(v, who, &t, handle, st);
		*timeout = timeout_of(v, &t);
	} while (target_again(v, &t, error, &tries));
	look_end(v, &look);
	return looked_up_end(v, who, 0, error);
}
