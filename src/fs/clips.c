/* SPDX-License-Identifier: GPL-3.0-or-later */
/* clips.c - clips as folders: renamed, moved to another file, removed. */
#include "../names.h"
#include "../structure.h"
#include "fs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- commits of an edit that no text asked for ---- */

/* Clips whose names are told from those of others (walk~2) may be called otherwise now. */
static void follow_labels(struct fs *fs, struct file *file, const struct anim *base,
			  const struct anim *edited, const struct snap *now)
{
	for (uint32_t i = 0; i < edited->clip_count && i < now->anim->clip_count; i++) {
		uint32_t origin = edited->clips[i].origin;
		struct node *clip;

		if (origin == ANIM_NEW ||
		    strcmp(base->clips[origin].label, now->anim->clips[i].label) == 0)
			continue;
		clip = fs_child(fs, file->node, base->clips[origin].label);
		if (!clip)
			continue;
		clip_follow(fs, clip, now->anim->clips[i].label);
		fs_reference(fs, clip, -1);
	}
}

int file_commit(struct fs *fs, struct file *file, struct snap *base, const struct anim *edited,
		struct changes *changes, struct err *err)
{
	struct folder folder;
	struct snap *now;
	enum commit commit;
	int error = fs_source_folder(fs, file, &folder);

	if (error)
		return err_system(err, error, file->name) ? 0 : error;
	commit = source_commit(file->source, folder.fd, base, edited, NULL, NULL, &now, err);
	folder_close(&fs->folders, &folder);
	if (commit == COMMIT_REFUSED)
		return errno_of(err);
	if (commit == COMMIT_DONE) {
		file_changed(fs, file, 0, changes);
		follow_labels(fs, file, base->anim, edited, now);
	}
	snap_put(now);
	return 0;
}

/* ---- names ---- */

static int refuse_name(struct fs *fs, struct file *file, const char *label)
{
	struct buf text = BUF_INIT;

	buf_text(&text, "a clip of this name is called ");
	name_escape(label, NAME_LIMIT, &text);
	buf_char(&text, '\0');
	if (!text.failed)
		file_note(fs, file, label, "not a clip's name", (const char *)text.data);
	buf_release(&text);
	return EILSEQ;
}

int clip_check_name(struct fs *fs, struct file *file, const char *label)
{
	const struct codec *codec;
	struct buf name = BUF_INIT;
	bool possible, failed, probe;

	/* A second `cp -r a.canm b.canm`, which finds b.canm there: not to be taken for a clip. */
	if (store_claims(fs->store, label, &codec, &probe) && !probe)
		return EPERM;
	possible = name_unescape(label, &name);
	failed = name.failed;
	buf_release(&name);
	if (failed)
		return ENOMEM;
	return possible ? 0 : refuse_name(fs, file, label);
}

int clip_check_new(struct fs *fs, struct file *file, const char *label)
{
	struct snap *snap;
	int error = fs_snap(fs, file, &snap);

	if (error)
		return error;
	if (!snap->anim->format->many_clips || snap->anim->format->stills || snap->anim->read_only)
		error = EPERM;
	snap_put(snap);
	return error ? error : clip_check_name(fs, file, label);
}

/* ---- rename ---- */

static int edit_name(const struct snap *base, const char *label, const char *new_label,
		     struct anim *edited, struct err *err)
{
	int64_t clip = snap_clip(base, label);

	if (clip < 0)
		return ENOENT;
	return anim_clip_rename(edited, (uint32_t)clip, new_label, err) ? 0 : errno_of(err);
}

int clip_rename(struct fs *fs, struct file *file, const char *label, const char *new_label,
		struct changes *changes)
{
	struct err err = {.code = ERR_NONE};
	struct anim *edited = NULL;
	struct snap *base;
	int error = fs_snap(fs, file, &base);

	if (error)
		return error;
	error = base->anim->format->nameless ? EPERM : clip_check_name(fs, file, new_label);
	if (!error && !(edited = anim_edit(base->anim)))
		error = ENOMEM;
	if (!error)
		error = edit_name(base, label, new_label, edited, &err);
	if (!error)
		error = file_commit(fs, file, base, edited, changes, &err);
	anim_free(edited);
	snap_put(base);
	return error;
}

/* ---- from one file to another ---- */

static int copy_clip(struct fs *fs, struct snap *from, const char *label, struct file *to,
		     struct snap *base, const char *new_label, struct changes *changes)
{
	struct err err = {.code = ERR_NONE};
	int64_t clip = snap_clip(from, label);
	struct anim *edited;
	int error;

	if (clip < 0)
		return ENOENT;
	edited = anim_edit(base->anim);
	if (!edited)
		return ENOMEM;
	if (!anim_clip_copy(edited, from->anim, (uint32_t)clip, new_label, &err))
		error = errno_of(&err);
	else
		error = file_commit(fs, to, base, edited, changes, &err);
	anim_free(edited);
	/* Told where it will be looked for: mv says no more than that it failed. */
	file_note(fs, to, new_label, "not moved here", error ? err.message : NULL);
	return error;
}

static int take_clip(struct fs *fs, struct file *file, struct snap *base, const char *label,
		     struct changes *changes)
{
	struct err err = {.code = ERR_NONE};
	int64_t clip = snap_clip(base, label);
	struct anim *edited = clip < 0 ? NULL : anim_edit(base->anim);
	int error = 0;

	if (!edited)
		return clip < 0 ? ENOENT : ENOMEM;
	/* The one clip of a format stays, and what was to be moved is a copy. */
	if (anim_clip_remove(edited, (uint32_t)clip, &err))
		error = file_commit(fs, file, base, edited, changes, &err);
	anim_free(edited);
	file_note(fs, file, label, "not removed", err.code ? err.message : NULL);
	return error;
}

static bool can_move(const struct snap *from, const struct snap *to)
{
	return to->anim->format->many_clips && !from->anim->format->stills &&
	       !to->anim->format->stills;
}

int clip_move(struct fs *fs, struct file *from, const char *label, struct file *to,
	      const char *new_label, struct changes *changes)
{
	struct snap *source, *target = NULL;
	int error = fs_snap(fs, from, &source);

	if (error)
		return error;
	error = fs_snap(fs, to, &target);
	if (!error && !can_move(source, target))
		error = EXDEV;
	if (!error)
		error = clip_check_name(fs, to, new_label);
	if (!error)
		error = copy_clip(fs, source, label, to, target, new_label, changes);
	if (!error)
		error = take_clip(fs, from, source, label, changes);
	snap_put(target);
	snap_put(source);
	return error;
}

/* ---- remove ---- */

/* Which clips' folders were removed; how many. */
static uint32_t mark_removed(const struct file *file, const struct snap *snap, bool *gone)
{
	uint32_t count = 0;

	for (const struct away *away = file->away; away; away = away->next) {
		int64_t clip = away->parent == file->node ? snap_clip(snap, away->name) : -1;

		if (clip < 0 || snap->anim->format->stills)
			continue;
		gone[clip] = true;
		count++;
	}
	return count;
}

/* The last of them first: those before it keep their places. */
static struct anim *edit_removed(const struct anim *base, const bool *gone, struct err *err)
{
	struct anim *edited = anim_edit(base);

	if (!edited)
		err_memory(err);
	for (uint32_t i = base->clip_count; edited && i-- > 0;) {
		if (!gone[i] || anim_clip_remove(edited, i, err))
			continue;
		anim_free(edited);
		edited = NULL;
	}
	return edited;
}

/* Others count clips: who finds another one under a number is to find out why. */
static void note_removed(struct fs *fs, struct file *file, const struct anim *base,
			 const bool *gone, const struct err *err)
{
	uint32_t first = 0;
	char text[160];

	for (uint32_t i = 0; i < base->clip_count; i++) {
		if (gone[i])
			file_note(fs, file, base->clips[i].label, "not removed",
				  err->code ? err->message : NULL);
	}
	while (first < base->clip_count && !gone[first])
		first++;
	for (uint32_t i = first; i < base->clip_count && !err->code; i++) {
		if (gone[i])
			continue;
		snprintf(text, sizeof(text), "clip %u was removed: those behind it have moved up",
			 first);
		file_note(fs, file, NULL, "clips", text);
		return;
	}
}

int clips_take_out(struct fs *fs, struct file *file, struct changes *changes)
{
	struct err err = {.code = ERR_NONE};
	struct anim *edited = NULL;
	struct snap *base;
	bool *gone;
	int error = fs_snap(fs, file, &base);

	if (error)
		return error;
	gone = calloc(base->anim->clip_count + 1, sizeof(*gone));
	if (!gone) {
		error = ENOMEM;
	} else if (mark_removed(file, base, gone) > 0) {
		edited = edit_removed(base->anim, gone, &err);
		error = edited ? file_commit(fs, file, base, edited, changes, &err)
			       : errno_of(&err);
		note_removed(fs, file, base->anim, gone, &err);
	}
	anim_free(edited);
	free(gone);
	snap_put(base);
	return error;
}
