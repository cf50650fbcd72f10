/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "at.h"
#include "save.h"
#include "staging_file.h"
#include "staging_internal.h"
#include "structure.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* By the file's path: it has no node. */
static int open_parent(struct staged_file *f, const char *path)
{
	int error = staged_file_name(f, strdup(path));

	if (!error)
		error = at_walk(f->v->root, f->folder, O_PATH | O_DIRECTORY, &f->parent);
	if (error)
		f->parent = -1;
	return error;
}

/* 0: the file that has the name now is what the folder aside came to. EAGAIN: it is not. */
static int check_made(struct staged_file *f)
{
	int fd, error = staged_file_read(f, f->aside);

	if (error)
		return error;
	if (!staged_file_make(f))
		return f->err.code == ERR_SYSTEM || f->err.code == ERR_MEMORY ? errno_of(&f->err)
									      : EAGAIN;
	error = at_open(f->parent, f->name, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0, &fd);
	if (error)
		return error;
	error = at_compare(fd, buf_bytes(&f->made->bytes));
	close(fd);
	return error;
}

/* Nothing has gone from the folder yet. */
static void finish_made(struct staged_file *f)
{
	staged_file_save_skeleton(f);
	staged_file_keep_refused(f);
	note_set_aside(f->v, f->path);
	if (staged_file_put_away(f))
		note_remove_aside(f->v, f->path);
}

/* A file that has the name was put there by the last mount, or by somebody else, and stays. */
static int recover_aside(struct staged_file *f)
{
	struct stat st;
	int error;

	if (fstatat(f->parent, f->aside, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISDIR(st.st_mode))
		return 0;
	error = at_rename(f->parent, f->aside, f->parent, f->name, RENAME_NOREPLACE);
	if (error != EEXIST || unlinkat(f->parent, f->aside, AT_REMOVEDIR) == 0)
		return error == EEXIST ? 0 : error;
	error = check_made(f);
	if (!error)
		finish_made(f);
	else if (error == EAGAIN)
		staged_file_set_apart(f);
	return error == EAGAIN ? 0 : error;
}

/* Texts that were refused are kept already; those that are left came to something. */
static void note_fates(struct staged_file *f, const struct anim *blank)
{
	for (size_t i = 0; i < f->texts.count; i++) {
		if (fill_reads_of_file(f->texts.list[i].path))
			f->texts.list[i].fate = FILL_GENERATED;
	}
	for (size_t i = 0; i < f->clip_count; i++) {
		struct clip_folder *clip = &f->clips[i];
		char label[FILL_LABEL_SIZE];

		fill_label(blank, f->name, clip->name, label);
		snprintf(clip->label, sizeof(clip->label), "%s", label);
		for (size_t j = 0; j < clip->texts.count; j++) {
			if (fill_reads(clip->texts.list[j].path))
				clip->texts.list[j].fate = FILL_GENERATED;
		}
	}
}

/* True when there is nothing left to do. */
static bool recover_rest(struct staged_file *f)
{
	const struct codec *codec;
	struct anim *blank;
	bool probe, done = false;
	int error = staged_file_read(f, f->aside);

	if (error || !store_claims(f->v->store, f->name, &codec, &probe) || !codec)
		return error == ENOENT;
	blank = anim_blank(codec->format, NULL);
	if (blank) {
		note_fates(f, blank);
		done = staged_file_put_away(f);
	}
	anim_free(blank);
	return done;
}

static void close_all(struct staged_file *f)
{
	if (f->parent >= 0)
		close(f->parent);
	staged_file_release(f);
}

int staging_recover(struct vfs *v, const char *path)
{
	struct staged_file f = STAGED_FILE_INIT;
	int error;

	f.v = v;
	error = open_parent(&f, path);
	if (!error)
		error = recover_aside(&f);
	else if (error == ENOTDIR || error == ENOENT)
		error = 0; /* of a clip, or gone */
	close_all(&f);
	return error;
}

void staging_recover_rest(struct vfs *v, const char *path)
{
	struct staged_file f = STAGED_FILE_INIT;

	f.v = v;
	if (open_parent(&f, path) == 0 && recover_rest(&f))
		note_remove_aside(v, path);
	close_all(&f);
}
