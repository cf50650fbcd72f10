/* SPDX-License-Identifier: GPL-3.0-or-later */
/* staging_file.c - computes the animation file that a staged folder becomes. */
#include "access.h"
#include "diagnostics.h"
#include "disk/dirfd.h"
#include "edit/structure.h"
#include "save.h"
#include "staging_internal.h"
#include "store/commit_skeleton.h"
#include "store/create.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- texts in it ---- */

static bool has_texts(const struct texts *texts)
{
	for (size_t i = 0; i < texts->count; i++) {
		if (assembly_reads(texts->list[i].path))
			return true;
	}
	return false;
}

static bool staging_file_read_clip(struct staged *f, const char *name)
{
	struct clip_folder *clip = &f->clips[f->clip_count];
	int error = dirfd_open(f->fd, name, O_RDONLY | O_DIRECTORY, 0, &clip->fd);

	if (error)
		return error == ENOENT || err_system(&f->err, error, name);
	f->clip_count++;
	clip->name = strdup(name);
	if (!clip->name)
		return err_memory(&f->err);
	return texts_read(f->v, f->who, clip->fd, assembly_reads, &clip->texts, &f->err);
}

static bool read_clips(struct staged *f)
{
	f->clips = calloc(f->texts.count + 1, sizeof(*f->clips));
	if (!f->clips)
		return err_memory(&f->err);
	for (size_t i = 0; i < f->texts.count; i++) {
		const struct text_name *name = &f->texts.names[i];

		if (S_ISDIR(name->st.st_mode) && name->path[0] != '.' && !strchr(name->path, '/') &&
		    !staging_file_read_clip(f, name->path))
			return false;
	}
	return true;
}

static int staging_file_choose_attributes(struct staged *f, const struct identity *raw, int fd)
{
	enum say own[GIVEN_COUNT], says[GIVEN_COUNT];

	staged_says(f, NULL, own);
	staged_says(f, raw, says);
	return gifts_for_file(says, own[GIVEN_MODE] == SAY_FOLDER, fd, &f->as);
}

static int read_raw_open(struct staged *f, int fd)
{
	struct identity raw;
	struct stat st;
	int error = access_check_read(f->v, f->who, fd);

	if (!error)
		error = dirfd_read_open(fd, f->v->options->store.max_file, &f->raw, &st);
	if (!error)
		error = identity_at(fd, "", &raw, &st);
	return error ? error : staging_file_choose_attributes(f, &raw, fd);
}

/*
 * Reads raw.*, which must be a regular file that its maker may read, and chooses the file's
 * attributes. Without a raw.* f->raw stays empty.
 */
static bool read_raw(struct staged *f)
{
	int fd, error;

	if (!f->raw_name[0])
		return true;
	error = dirfd_open(f->fd, f->raw_name, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0, &fd);
	if (!error) {
		error = read_raw_open(f, fd);
		close(fd);
	}
	if (!error)
		return true;
	buf_clear(&f->raw);
	return error == ENOENT || error == EISDIR || error == EINVAL || error == ELOOP ||
	       err_system(&f->err, error, f->raw_name);
}

/* Without a raw.* it stays a folder: ENODATA, or EBADMSG and f->err if there are texts in it. */
static int refuse_without_raw(struct staged *f)
{
	bool some = false;

	for (size_t i = 0; i < f->clip_count; i++)
		some = some || has_texts(&f->clips[i].texts);
	if (!some || !f->raw_name[0])
		return ENODATA;
	err_set(&f->err, ERR_FORMAT,
		"there is no %s in it, which is the file; animfs convert makes a file of another "
		"format, animfs import one of texts",
		f->raw_name);
	return EBADMSG;
}

int staged_read_file(struct staged *f)
{
	const struct codec *codec;
	bool probe;

	if (store_claims(f->v->store, f->name, &codec, &probe) && codec)
		tree_raw_name(f->name, codec->format, f->raw_name);
	f->animation = animation_new(f->v, NULL, false);
	if (!f->animation)
		return ENOMEM;
	if (!texts_read(f->v, f->who, f->fd, assembly_reads_of_file, &f->texts, &f->err) ||
	    !read_clips(f) || !read_raw(f))
		return errno_of(&f->err);
	return f->raw.size ? 0 : refuse_without_raw(f);
}

/* ---- the file it becomes ---- */

/*
 * Makes clips of folders. A folder that cannot become a clip is kept as an ordinary one; f->err
 * says why, if the file then fails.
 */
static bool assemble_clips(struct staged *f, struct assembly *assembly)
{
	for (size_t i = 0; i < f->clip_count; i++) {
		struct clip_folder *clip = &f->clips[i];
		struct err err = {.code = ERR_NONE};

		if (clip->made || !has_texts(&clip->texts))
			continue;
		assembly_label(assembly_model(assembly)->format, f->name, clip->name, clip->label);
		clip->made = assembly_clip(assembly, clip->label, clip->texts.list,
					   clip->texts.count, &err);
		if (!clip->made && err.code == ERR_MEMORY)
			return err_memory(&f->err);
		if (!clip->made)
			err_set(&f->err, err.code, "%s: %s", clip->name, err.message);
	}
	return true;
}

/* The edits together cannot be stored: refuses all, and leaves raw.* as the file. */
static void refuse_edits(struct staged *f, const struct err *err)
{
	for (size_t i = 0; i < f->clip_count; i++) {
		struct texts *texts = &f->clips[i].texts;

		for (size_t j = 0; j < texts->count; j++) {
			if (texts->list[j].fate != ASSEMBLY_USED)
				continue;
			texts->list[j].fate = ASSEMBLY_REFUSED;
			texts->list[j].err = *err;
			texts->list[j].err.placed = false;
		}
	}
}

static bool is_trouble(const struct err *err)
{
	return err->code == ERR_MEMORY || err->code == ERR_SYSTEM;
}

/* Computes f->made from `over` with these edits; f->err on failure. */
static void store_edits(struct staged *f, struct version *over, const struct anim *edited)
{
	struct err err = {.code = ERR_NONE};

	if (edited != over->anim)
		f->made = source_edited(f->animation->source, &f->where, over, edited, &err);
	if (is_trouble(&err)) {
		f->err = err;
		return;
	}
	if (err.code)
		refuse_edits(f, &err);
	if (!f->made)
		f->made = version_get(f->base);
}

/* Lists the folder itself, and the folders in it whose clip raw.* already has. */
static bool list_clips(struct staged *f, struct texts_in **in, size_t *count)
{
	*in = calloc(f->clip_count + 1, sizeof(**in));
	*count = 0;
	if (!*in)
		return err_memory(&f->err);
	(*in)[(*count)++] = (struct texts_in){"", &f->texts};
	for (size_t i = 0; i < f->clip_count; i++) {
		struct clip_folder *clip = &f->clips[i];

		assembly_label(f->base->anim->format, f->name, clip->name, clip->label);
		clip->made =
			has_texts(&clip->texts) && clip_labelled(f->base->anim, 0, clip->label);
		if (clip->made)
			(*in)[(*count)++] = (struct texts_in){clip->name, &clip->texts};
	}
	return true;
}

/* Applies texts that differ from raw.* as edits, in one batch; then adds new clips. */
static bool make_from_raw(struct staged *f)
{
	struct copied c = {.source = f->animation->source, .where = &f->where, .base = f->base};
	struct assembly *assembly = NULL;
	struct texts_in *in;
	size_t count;
	bool fine = list_clips(f, &in, &count) && texts_edit(&c, in, count, &f->err);

	if (fine) {
		assembly = assembly_new(c.edited ? c.edited : c.over->anim, f->name);
		fine = assembly ? assemble_clips(f, assembly) : err_memory(&f->err);
	}
	if (fine)
		store_edits(f, c.over, assembly_model(assembly));
	assembly_free(assembly);
	copied_release(&c);
	free(in);
	return f->made != NULL;
}

/* Nothing of raw.* must be kept: it is the file. */
static void note_raw(struct staged *f)
{
	for (size_t i = 0; i < f->texts.count; i++) {
		struct assembly_text *text = &f->texts.list[i];

		if (strcmp(text->path, f->raw_name) != 0)
			continue;
		text->fate = ASSEMBLY_GENERATED;
		text->text = buf_bytes(&f->raw);
		f->texts.names[i].read = true;
	}
}

bool staged_make_file(struct staged *f)
{
	f->base = source_decode(f->animation->source, &f->where, buf_bytes(&f->raw), &f->err);
	if (!f->base || !make_from_raw(f))
		return false;
	note_raw(f);
	return true;
}

/* ---- its skeleton ---- */

/* Saves the skeleton, unless its text only repeats known values. */
static bool staging_file_save_skeleton(const struct staged *f, struct version *base,
				       struct assembly_text *text)
{
	const struct tree tree = {base, f->name};
	struct version *now = NULL;
	struct skeleton *skeleton;
	struct place place;
	struct shown shown;
	bool saved;

	if (!tree_walk(&tree, SKELETON_FILE, &place))
		return true;
	shown = tree_shown(&tree, &place);
	skeleton = place.view->parse_skeleton(&shown, text->text, &text->err);
	if (!skeleton)
		return false;
	saved = source_commit_skeleton(f->animation->source, &f->where, base, skeleton, NULL,
				       f->who, &now, &text->err) != COMMIT_REFUSED;
	version_put(now);
	skeleton_free(skeleton);
	return saved;
}

void staged_save_skeleton(struct staged *f)
{
	struct version *base;

	for (size_t i = 0; i < f->texts.count; i++) {
		struct assembly_text *text = &f->texts.list[i];

		if (strcmp(text->path, SKELETON_FILE) != 0 || !text->text.size)
			continue;
		base = source_get(f->animation->source, &f->where, &text->err);
		if (!base || !staging_file_save_skeleton(f, base, text))
			text->fate = ASSEMBLY_REFUSED;
		version_put(base);
	}
}
