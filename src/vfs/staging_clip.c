/* SPDX-License-Identifier: GPL-3.0-or-later */
/* staging_clip.c - a staged folder in an animation's folder becomes a clip of it. */
#include "diagnostics.h"
#include "given.h"
#include "save.h"
#include "staging_internal.h"
#include "store/digests_kept.h"
#include "util/composed.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Commits a model that was made for the program that filled the folder. */
static int commit_made(struct staged *f, struct version *base, const struct anim *model)
	REQUIRES(writer_class)
{
	struct program *by = staged_maker(f);
	int error = edit_commit(f->v, f->animation, base, model, by, f->changes, &f->err);

	program_put(by);
	return error;
}

/* The file already has this clip: commits the texts as edits of it. */
static int commit_texts(struct staged *f, struct version *base, const char *file_name)
	REQUIRES(writer_class)
{
	const struct texts_in in = {f->name, &f->texts};
	const char *slash = strrchr(f->above, '/');
	char *folder = strndup(f->above, slash ? (size_t)(slash - f->above) : 0);
	const struct history_file file = {.dir = -1, .folder = folder, .name = file_name};
	struct digests *known = folder ? digests_load(f->v->state, &file) : NULL;
	struct copied c = {.source = f->animation->source, .base = base, .known = known};
	struct site site;
	int error = known ? site_open(f->v, f->animation, &site) : ENOMEM;

	if (!error) {
		c.where = &site.where;
		c.number = digests_add(known, base, NULL);
		if (!c.number || !texts_edit(&c, &in, 1, &f->err))
			error = ENOMEM;
		else
			error = commit_made(f, c.over, c.edited ? c.edited : c.over->anim);
		site_close(f->v, &site);
	}
	copied_release(&c);
	digests_free(known);
	free(folder);
	return error;
}

static int commit_new(struct staged *f, struct version *base, const char *file_name)
	REQUIRES(writer_class)
{
	struct assembly *assembly = assembly_new(base->anim, file_name);
	int error;

	if (!assembly)
		error = ENOMEM;
	else if (!assembly_clip(assembly, f->name, f->texts.list, f->texts.count, &f->err))
		error = errno_of(&f->err);
	else
		error = commit_made(f, base, assembly_model(assembly));
	assembly_free(assembly);
	return error;
}

/* Reports a new clip whose name looks like that of another: a copy that was made elsewhere. */
static void report_alike(const struct staged *f, const struct anim *anim)
{
	char made[NAME_MAX + 1], other[NAME_MAX + 1], reason[2 * NAME_MAX + 128];

	for (uint32_t i = 0; i < anim->clip_count; i++) {
		if (!composed_same(anim->clips[i].label, f->name))
			continue;
		composed_points(f->name, made, sizeof(made));
		composed_points(anim->clips[i].label, other, sizeof(other));
		snprintf(reason, sizeof(reason),
			 "its name looks like that of another clip, but is written %s and not %s",
			 made, other);
		diagnose_event(f->v, f->path, "new clip", reason);
		return;
	}
}

/* Makes a clip of the texts, and commits it. */
static int commit_clip(struct staged *f) REQUIRES(writer_class)
{
	const char *slash = strrchr(f->above, '/'), *name = slash ? slash + 1 : f->above;
	struct version *base;
	struct stat st;
	int error = animation_look(f->v, f->animation, &base, &st);

	if (error)
		return error;
	if (clip_labelled(base->anim, 0, f->name)) {
		error = commit_texts(f, base, name);
	} else {
		error = commit_new(f, base, name);
		if (!error)
			report_alike(f, base->anim);
	}
	version_put(base);
	return error;
}

static void carry_mtime(const struct staged *f)
{
	struct target t;

	if (target_get(f->v, f->staging->node->id, &t) != 0)
		return;
	given_mtime(f->v, &t, f->as.mtime);
	target_put(f->v, &t);
}

static void adopt(struct staged *f) REQUIRES(writer_class)
{
	struct node *node = f->staging->node;
	enum say says[GIVEN_COUNT];

	texts_report(f->v, f->fd, f->path, &f->texts);
	staged_says(f, NULL, says);
	vfs_lock(f->v);
	adopt_clip(f->v, node, f->animation, f->changes);
	adopt_forget_texts(f->v, node, &f->texts, false, f->changes);
	gifts_carry_over(f->v, says, &f->as, node);
	vfs_unlock(f->v);
	texts_put_away(f->v, f->fd, f->path, NULL, &f->texts);
	if (says[GIVEN_TIME] == SAY_FOLDER)
		carry_mtime(f);
	/* Others may have looked up a text before it was removed. */
	vfs_lock(f->v);
	adopt_forget_texts(f->v, node, &f->texts, false, f->changes);
	vfs_unlock(f->v);
}

int staging_make_clip(struct staged *f)
{
	int error;

	f->texts.stored = true;
	writer_lock(f->animation);
	error = staged_open(f);
	if (!error && !texts_read(f->v, f->who, f->fd, assembly_reads, &f->texts, &f->err))
		error = errno_of(&f->err);
	if (!error)
		error = commit_clip(f);
	if (!error)
		adopt(f);
	writer_unlock(f->animation);
	return error;
}
