/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "attr.h"
#include "control.h"
#include "given.h"
#include "handle.h"
#include "plain.h"

#include <errno.h>

#define VIRTUAL_BLOCK 4096
/* What programs best read and write at once: each such piece is a request. */
#define IO_BLOCK (128 << 10)

/* ---- virtual things ---- */

static mode_t folder_mode(mode_t file_mode)
{
	mode_t read = file_mode & 0444;

	return S_IFDIR | (file_mode & 0666) | read >> 2;
}

/* What a virtual folder or view takes over from the animation file: owner, mode, times. */
static void show_virtual(struct vfs *v, const struct target *t, struct stat *st)
{
	const struct mount_options *o = v->options;
	bool view = t->thing->kind == THING_VIEW;

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

static bool view_stands(struct vfs *v, const struct target *t)
{
	bool stands;

	vfs_lock(v);
	stands = t->thing->view.standing == STANDS;
	vfs_unlock(v);
	return stands;
}

/* What people wrote is there whether the file shows such a view or not. */
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

static int view_attributes(struct vfs *v, const struct target *t, struct stat *st)
{
	struct sight s = {.version = NULL};
	uint64_t size = 0;
	int error = sight_of(v, t, &s, st);

	if (error && !draft_size(v, t, &size))
		return error == ENOENT && !view_stands(v, t) ? ESTALE : error;
	if (!error)
		error = view_size(v, t, &s, &size);
	else if (animation_stat(v, t->thing->animation, st) == 0)
		error = 0;
	/* Its file is gone. */
	if (!st->st_mode)
		*st = (struct stat){.st_mode = S_IFREG | 0600};
	st->st_size = (off_t)size;
	if (!error && s.version)
		view_facts(&s, st);
	sight_release(&s);
	if (error)
		return error;
	show_virtual(v, t, st);
	return 0;
}

int attributes_of(struct vfs *v, const struct target *t, struct stat *st)
{
	switch ((enum thing_kind)t->thing->kind) {
	case THING_PLAIN:
		return plain_attributes(v, t, st);
	case THING_CONTROL:
		control_attributes(v, t, st);
		return 0;
	case THING_VIEW:
		return view_attributes(v, t, st);
	default:
		return folder_attributes(v, t, st);
	}
}

/* What is being written changes without anybody saying so. */
static bool is_unsettled(const struct target *t) REQUIRES(vfs_class)
{
	const struct draft *draft = t->thing->kind == THING_VIEW ? t->thing->view.draft : NULL;

	return draft && (draft->dirty || draft->pending || draft->refused || node_writers(t->node));
}

double timeout_of(struct vfs *v, const struct target *t)
{
	bool believed;

	if (t->thing->kind == THING_CONTROL)
		return 0;
	if (t->thing->kind == THING_PLAIN)
		return TIMEOUT;
	vfs_lock(v);
	believed = !is_unsettled(t) && animation_is_watched(v, t->thing->animation);
	vfs_unlock(v);
	return believed ? TIMEOUT_WATCHED : TIMEOUT;
}

static void entry_fill(struct vfs *v, const struct target *t, const struct stat *st,
		       struct entry *out)
{
	double timeout = timeout_of(v, t);

	*out = (struct entry){t->node->id, *st, timeout, timeout};
	vfs_lock(v);
	t->node->lookups++;
	vfs_unlock(v);
}

int entry_of(struct vfs *v, const struct target *t, struct entry *out)
{
	struct stat st;
	int error = attributes_of(v, t, &st);

	if (!error)
		entry_fill(v, t, &st, out);
	return error;
}

/* ---- the request ---- */

/*
 * A text that its name does not open any more is there for those who have it open, and for who has
 * just looked it up: anybody else is to look up the name again, which the kernel does once.
 */
static bool is_lost(struct vfs *v, const struct request *who, const struct target *t)
	REQUIRES(vfs_class)
{
	return t->thing->kind == THING_VIEW && t->thing->view.standing != STANDS &&
	       !t->node->handles && !v->unopened_files && *looked_up_by(v, who) != t->node->id;
}

int vfs_getattr(struct vfs *v, const struct request *who, uint64_t node, struct handle *handle,
		struct stat *st, double *timeout)
{
	struct target t;
	int fd = -1, error = target_get(v, node, &t);

	if (error)
		return error;
	vfs_lock(v);
	if (is_lost(v, who, &t))
		error = ESTALE;
	if (handle && t.thing->kind == THING_PLAIN)
		fd = handle->fd;
	vfs_unlock(v);
	if (fd >= 0 && fstat(fd, st) == 0)
		plain_show(v, st);
	else if (!error)
		error = attributes_of(v, &t, st);
	*timeout = timeout_of(v, &t);
	target_put(v, &t);
	return error;
}
