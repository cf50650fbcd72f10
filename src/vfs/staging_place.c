/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * staging_place.c - a staged folder under the name of an animation file becomes that file.
 *
 * When the new bytes are known the folder is moved aside, and they are put in its place. If they
 * cannot be, it is moved back; the next mount after one was killed does so, or goes on. Neither
 * replaces or removes a file of others that has come by the name.
 */
#include "at.h"
#include "clips.h"
#include "diagnostics.h"
#include "lookup.h"
#include "staging_file.h"
#include "staging_internal.h"
#include "store/create.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the tree ---- */

static void adopt_clips(struct staged_file *f, struct changes *changes) REQUIRES(vfs_class)
{
	for (size_t i = 0; i < f->clip_count; i++) {
		struct clip_folder *clip = &f->clips[i];
		struct node *node = nodes_by_name(&f->v->nodes, f->staging->node, clip->name);

		if (!clip->label[0] || !node || !node->thing->folder)
			continue;
		adopt_clip(f->v, node, f->animation, changes);
		adopt_forget_texts(f->v, node, &clip->texts, true, changes);
	}
	adopt_forget_texts(f->v, f->staging->node, &f->texts, true, changes);
}

/* A file that is shown as one: the folder's name is that file's. */
static void leave_name(struct staged_file *f, struct changes *changes) REQUIRES(vfs_class)
{
	const struct link *link = node_link(f->staging->node);
	const struct stat st = {.st_mode = S_IFDIR | f->as.mode, .st_nlink = 1};

	if (link)
		adopt_forget(f->v, link->parent, f->name, &st, changes);
}

static void adopt_file(struct staged_file *f, struct changes *changes) REQUIRES(writer_class)
{
	bool stays = stays_file(f->v, f->made->codec);

	vfs_lock(f->v);
	if (!stays) {
		adopt_folder(f->v, f->staging->node, THING_ANIMATION, f->animation, changes);
		adopt_clips(f, changes);
	} else {
		leave_name(f, changes);
	}
	vfs_unlock(f->v);
	for (size_t i = 0; i < f->clip_count && !stays; i++) {
		const struct clip_folder *clip = &f->clips[i];

		if (clip->label[0] && strcmp(clip->label, clip->name) != 0)
			clip_follow(f->v, f->animation, clip->name, clip->label, f->made, changes);
	}
}

/* ---- the disk ---- */

/* What put_in_place knows, and its turn with it. */
struct placing {
	struct staged_file *f;
	bool is_aside;
	int error; /* why it is not */
};

/* Is the folder what it was read as, under its name? */
static int check_folder(const struct staged_file *f)
{
	struct identity read, there;
	struct stat st;
	int error = identity_at(f->fd, "", &read, &st);

	if (!error)
		error = identity_at(f->parent, f->name, &there, &st);
	if (!error &&
	    (!identity_same(&read, &there) || staging_changed(f->v, f->staging, f->touches)))
		error = EAGAIN;
	return error;
}

static void move_aside(struct placing *p)
{
	const struct staged_file *f = p->f;

	p->error = check_folder(f);
	if (!p->error)
		p->error = at_rename(f->parent, f->name, f->parent, f->aside, RENAME_NOREPLACE);
	p->is_aside = !p->error;
}

static int move_back(struct placing *p)
{
	const struct staged_file *f = p->f;
	int error = 0;

	if (p->is_aside)
		error = at_rename(f->parent, f->aside, f->parent, f->name, RENAME_NOREPLACE);
	p->is_aside = p->is_aside && error;
	return error;
}

/* While another process is waited for the folder is there, and names may move. */
static void turn_release(void *closure)
{
	struct placing *p = closure;

	p->error = move_back(p);
	folders_let_move(p->f->v);
}

static void turn_acquire(void *closure)
{
	struct placing *p = closure;

	folders_hold_still(p->f->v);
	if (!p->error)
		move_aside(p);
}

/* What is not the raw.* that came changed now: rsync is to see that. */
static bool put_new(struct placing *p)
{
	struct staged_file *f = p->f;
	const struct turn turn = {turn_release, turn_acquire, p};
	const struct where where = {f->parent, f->folder, f->name, &turn};
	struct attributes as = f->as;

	if (f->base && !version_same_bytes(f->base, f->made))
		as.has_mtime = false;
	if (!source_put_new(f->animation->source, &where, f->base, f->made, &as, &f->err))
		return false;
	if (p->is_aside)
		return true;
	/* The folder went elsewhere during the wait, and becomes a file there. */
	unlinkat(f->parent, f->name, 0);
	return false;
}

/* Between the two names the file has none: who looks for it then waits. */
static int put_in_place(struct staged_file *f)
{
	struct placing p = {.f = f};

	move_aside(&p);
	if (p.error)
		return p.error;
	if (put_new(&p))
		return 0;
	if (move_back(&p) == EEXIST) {
		staged_file_set_apart(f);
		return ENOENT;
	}
	if (!p.error)
		return errno_of(&f->err);
	err_clear(&f->err); /* it is about the folder, which stood in its own way */
	return p.error;
}

/* ---- all of it ---- */

static int find_names(struct staged_file *f, struct folder *parent)
{
	struct buf path = BUF_INIT;
	struct node *above = NULL;
	int error;

	vfs_lock(f->v);
	error = node_path(f->staging->node, &path);
	if (!error)
		above = node_get(node_link(f->staging->node)->parent);
	f->touches = f->staging->touches;
	vfs_unlock(f->v);
	if (error) {
		buf_release(&path);
		return error;
	}
	error = staged_file_name(f, (char *)path.data);
	if (!error)
		error = folder_open(f->v, above, parent);
	vfs_lock(f->v);
	node_put(&f->v->nodes, above);
	vfs_unlock(f->v);
	f->parent = parent->fd;
	return error;
}

static int become(struct staged_file *f, struct changes *changes) REQUIRES(staging_class)
{
	int error;

	if (!staged_file_make(f))
		return errno_of(&f->err);
	writer_lock(f->animation);
	folders_hold_still(f->v);
	error = put_in_place(f);
	if (!error)
		adopt_file(f, changes);
	folders_let_move(f->v);
	if (!error)
		staged_file_save_skeleton(f);
	writer_unlock(f->animation);
	return error;
}

/* The file has all of it: what is left stands aside. */
static void put_file_away(struct staged_file *f)
{
	staged_file_keep_refused(f);
	note_set_aside(f->v, f->path);
	if (staged_file_put_away(f))
		note_remove_aside(f->v, f->path);
}

int staging_make_file(struct vfs *v, struct staging *s, struct changes *changes)
{
	struct staged_file f = STAGED_FILE_INIT;
	struct folder parent = FOLDER_NONE;
	int error;

	f.v = v;
	f.staging = s;
	error = find_names(&f, &parent);
	if (!error)
		error = staged_file_read(&f, f.name);
	if (!error && !staged_file_is_something(&f))
		error = ENODATA;
	if (!error)
		error = become(&f, changes);
	if (!error)
		put_file_away(&f);
	if (f.path)
		diagnose(v, f.path, "not an animation yet", staging_reason(error, &f.err));
	staged_file_release(&f);
	folder_close(v, &parent);
	return error;
}
