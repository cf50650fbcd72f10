/* SPDX-License-Identifier: GPL-3.0-or-later */
/* staging_clip.c - a staged folder in an animation's folder becomes a clip of it. */
#include "at.h"
#include "diagnostics.h"
#include "given.h"
#include "save.h"
#include "staging_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

struct clip_job {
	struct vfs *v;
	struct staging *staging;
	struct animation *animation; /* a reference */
	uint64_t touches;            /* of the folder, before anything was read */
	int fd;                      /* the folder; -1: it is not open */
	struct buf path;             /* of it, from SOURCE, with a NUL */
	char name[NAME_MAX + 1], file_name[NAME_MAX + 1];
	struct texts texts;
	struct attributes as; /* the folder's */
	struct changes *changes;
	struct err err;
};

/* The animation in whose folder it is, with a reference; NULL: in none any more. */
static struct animation *animation_of(struct vfs *v, const struct staging *s)
{
	struct animation *a = NULL;
	const struct link *link;

	vfs_lock(v);
	link = node_link(s->node);
	if (link && link->parent->thing->kind == THING_ANIMATION)
		a = link->parent->thing->animation;
	if (a)
		animation_get(a);
	vfs_unlock(v);
	return a;
}

static int find_names(struct clip_job *j) REQUIRES(writer_class)
{
	const struct link *link;
	int error = ENOENT;

	vfs_lock(j->v);
	link = node_link(j->staging->node);
	if (link && link->parent->thing->animation == j->animation &&
	    animation_name(j->animation, j->file_name)) {
		strcpy(j->name, link->name);
		error = node_path(j->staging->node, &j->path);
	}
	j->touches = j->staging->touches;
	vfs_unlock(j->v);
	return error;
}

static int open_folder(struct clip_job *j)
{
	int folder, error;

	error = state_folder(j->v->state, STATE_EXTRA, (const char *)j->path.data, false, &folder);
	if (error)
		return error;
	error = at_walk(folder, "", O_RDONLY | O_DIRECTORY, &j->fd);
	close(folder);
	if (error)
		j->fd = -1;
	return error ? error : attributes_read(j->fd, &j->as);
}

/* The edit that the texts come to, saved. */
static int commit_clip(struct clip_job *j) REQUIRES(writer_class)
{
	struct fill *fill = NULL;
	struct version *base;
	struct stat st;
	int error = animation_look(j->v, j->animation, &base, &st);

	if (error)
		return error;
	fill = fill_new(base->anim, j->file_name);
	if (!fill)
		error = ENOMEM;
	else if (!fill_clip(fill, j->name, j->texts.list, j->texts.count, &j->err))
		error = errno_of(&j->err);
	else if (staging_changed(j->v, j->staging, j->touches))
		error = EAGAIN;
	else
		error = edit_commit(j->v, j->animation, base, fill_model(fill), j->changes,
				    &j->err);
	fill_free(fill);
	version_put(base);
	return error;
}

/* The commit may have given up the writer's lock, and the folder have another name by now. */
static bool is_there(const struct clip_job *j) REQUIRES(vfs_class)
{
	const struct link *link = node_link(j->staging->node);

	return link && link->parent->thing->animation == j->animation &&
	       strcmp(link->name, j->name) == 0;
}

static bool adopt_job(struct clip_job *j) REQUIRES(writer_class)
{
	struct node *node = j->staging->node;
	bool there;

	vfs_lock(j->v);
	there = is_there(j);
	vfs_unlock(j->v);
	if (!there)
		return false;
	texts_keep_refused(j->v, j->fd, (const char *)j->path.data, &j->texts);
	vfs_lock(j->v);
	adopt_clip(j->v, node, j->animation, j->changes);
	adopt_forget_texts(j->v, node, &j->texts, false, j->changes);
	gifts_carry_over(j->v, &j->staging->gifts, &j->as, node);
	vfs_unlock(j->v);
	return true;
}

static void carry_mtime(struct clip_job *j)
{
	struct target t = {.node = NULL};

	vfs_lock(j->v);
	if (gifts_say(&j->staging->gifts, NULL, GIVEN_TIME) == SAY_FOLDER)
		t = (struct target){node_get(j->staging->node), thing_get(j->staging->node->thing)};
	vfs_unlock(j->v);
	if (!t.node)
		return;
	given_mtime(j->v, &t, j->as.mtime);
	target_put(j->v, &t);
}

static int make_clip(struct clip_job *j) REQUIRES(writer_class)
{
	int error = find_names(j);

	if (!error)
		error = open_folder(j);
	if (!error && !texts_read(j->v, j->fd, fill_reads, &j->texts, &j->err))
		error = errno_of(&j->err);
	if (!error)
		error = commit_clip(j);
	if (error)
		return error;
	if (!adopt_job(j))
		return EAGAIN;
	texts_put_away(j->fd, &j->texts);
	carry_mtime(j);
	/* Others may have looked up a text that was still there. */
	vfs_lock(j->v);
	adopt_forget_texts(j->v, j->staging->node, &j->texts, false, j->changes);
	vfs_unlock(j->v);
	return 0;
}

static void job_release(struct clip_job *j)
{
	if (j->fd >= 0)
		close(j->fd);
	texts_release(&j->texts);
	attributes_release(&j->as);
	buf_release(&j->path);
	vfs_lock(j->v);
	animation_put(j->v, j->animation);
	vfs_unlock(j->v);
}

int staging_make_clip(struct vfs *v, struct staging *s, struct changes *changes)
{
	struct clip_job j = {.v = v,
			     .staging = s,
			     .animation = animation_of(v, s),
			     .fd = -1,
			     .path = BUF_INIT,
			     .texts = TEXTS_INIT,
			     .as = ATTRIBUTES_INIT,
			     .changes = changes};
	int error;

	if (!j.animation)
		return EAGAIN;
	writer_lock(j.animation);
	error = make_clip(&j);
	writer_unlock(j.animation);
	if (j.name[0])
		diagnose_animation(v, j.animation, j.name, "not a clip yet",
				   staging_reason(error, &j.err));
	job_release(&j);
	return error;
}
