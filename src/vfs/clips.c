/* SPDX-License-Identifier: GPL-3.0-or-later */
/* clips.c - renaming and removing clips as folders. */
#include "clips.h"

#include "diagnostics.h"
#include "edit/compare.h"
#include "edit/structure.h"
#include "model/names.h"
#include "program.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static int latest(struct vfs *v, struct animation *a, struct version **out)
{
	struct stat st;

	return animation_look(v, a, out, &st);
}

/* ---- names of clips ---- */

static int clips_refuse_name(struct vfs *v, struct animation *a, const char *label)
{
	struct buf text = BUF_INIT;

	buf_text(&text, "a clip of this name is called ");
	name_escape(label, NAME_LIMIT, &text);
	buf_char(&text, '\0');
	if (!text.failed)
		diagnose_animation(v, a, label, "not a clip's name", (const char *)text.data);
	buf_release(&text);
	return EILSEQ;
}

/*
 * Checks the name for a clip. EPERM if an animation file could have it. EILSEQ if it is not a valid
 * clip's name in file-name form; .animfs/errors then has the valid form.
 */
static int clip_check_name(struct vfs *v, struct animation *a, const char *label)
{
	const struct codec *codec;
	struct buf name = BUF_INIT;
	bool possible, failed, probe;

	/*
	 * With an existing b.canm, `cp -r a.canm b.canm` makes a folder a.canm in it, which is not
	 * meant as a clip.
	 */
	if (store_claims(v->store, label, &codec, &probe) && !probe)
		return EPERM;
	possible = name_unescape(label, &name);
	failed = name.failed;
	buf_release(&name);
	if (failed)
		return ENOMEM;
	return possible ? 0 : clips_refuse_name(v, a, label);
}

int clip_check_new(struct vfs *v, struct animation *a, const char *label)
{
	struct version *now;
	int error = latest(v, a, &now);

	if (error)
		return error;
	if (!now->anim->format->many_clips || now->anim->format->stills || now->anim->read_only)
		error = EPERM;
	version_put(now);
	return error ? error : clip_check_name(v, a, label);
}

/* ---- rename ---- */

/*
 * Renames the clip in a copy of the model of `base`, and commits that. ENOENT if there is no such
 * clip.
 */
static int clips_edit_name(struct vfs *v, struct animation *a, struct version *base,
			   const char *label, const char *new_label, struct program *by,
			   struct changes *changes) REQUIRES(writer_class)
{
	int64_t clip = version_clip(base, label);
	struct anim *edited = clip < 0 ? NULL : anim_edit(base->anim);
	struct err err = {.code = ERR_NONE};
	int error;

	if (!edited)
		return clip < 0 ? ENOENT : ENOMEM;
	if (anim_clip_rename(edited, (uint32_t)clip, new_label, &err))
		error = edit_commit(v, a, base, edited, by, changes, &err);
	else
		error = errno_of(&err);
	anim_free(edited);
	return error;
}

int clip_rename(struct vfs *v, struct animation *a, const char *label, const char *new_label,
		struct program *by, struct changes *changes)
{
	struct version *base;
	int error = latest(v, a, &base);

	if (error)
		return error;
	error = base->anim->format->nameless ? EPERM : clip_check_name(v, a, new_label);
	if (!error)
		error = clips_edit_name(v, a, base, label, new_label, by, changes);
	version_put(base);
	return error;
}

/* ---- remove ---- */

/*
 * Finds the clips whose folders are absent. gone[clip] is the version of the file when the removal
 * of that clip began, with a reference, or NULL if the clip stays. *by: a program that removed one
 * of the clips, with a reference. Returns false if no clip is to be removed.
 */
static bool find_removed(struct vfs *v, const struct animation *a, struct version *now,
			 struct version **gone, struct program **by)
{
	bool any = false;

	if (now->anim->format->stills)
		return false;
	vfs_lock(v);
	for (const struct mark *m = a->absent.first; m && a->folder; m = m->next) {
		int64_t clip = m->parent == a->folder->node ? version_clip(now, m->name) : -1;

		if (clip < 0)
			continue;
		gone[clip] = version_get(m->base ? m->base : now);
		if (m->by && !*by)
			*by = program_get(m->by);
		any = true;
	}
	vfs_unlock(v);
	return any;
}

/* Returns whether the clip is the same in `now` as the clip of its name in `then`. */
static bool clip_is_the_same(const struct version *then, const struct version *now, uint32_t clip)
{
	int64_t was = version_clip(then, now->anim->clips[clip].label);
	struct buf differences = BUF_INIT;
	bool same;

	if (was < 0 || then->codec != now->codec)
		return false;
	same = compare_clips(then->anim, (uint32_t)was, now->anim, clip, &differences) &&
	       !differences.failed;
	buf_release(&differences);
	return same;
}

/*
 * Keeps the clips that another program has changed since their removal began: clears them in
 * `gone`. Returns false if there are such clips.
 */
static bool keep_changed(struct vfs *v, struct animation *a, const struct version *now,
			 struct version **gone)
{
	bool all = true;

	for (uint32_t i = 0; i < now->anim->clip_count; i++) {
		if (!gone[i] || version_same_bytes(gone[i], now) ||
		    clip_is_the_same(gone[i], now, i))
			continue;
		diagnose_animation(v, a, now->anim->clips[i].label, "not removed",
				   "another program changed it in the meantime");
		version_put(gone[i]);
		gone[i] = NULL;
		all = false;
	}
	return all;
}

/*
 * Removes clips from a copy of the model, the last clip first, so that the indices of the others
 * stay valid.
 */
static struct anim *edit_removed(const struct anim *base, struct version *const *gone,
				 struct err *err)
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

static void diagnose_removed(struct vfs *v, struct animation *a, const struct anim *base,
			     struct version *const *gone, const struct err *err)
{
	uint32_t first = base->clip_count;
	bool moved = false;
	char text[160];

	for (uint32_t i = 0; i < base->clip_count; i++) {
		moved |= !gone[i] && first < i;
		if (!gone[i])
			continue;
		if (i < first)
			first = i;
		diagnose_animation(v, a, base->clips[i].label, "not removed",
				   err->code ? err->message : NULL);
	}
	/* Games refer to clips by number, so report that numbers have changed. */
	snprintf(text, sizeof(text), "clip %u was removed: later clips have moved up", first);
	if (moved && !err->code)
		diagnose_animation(v, a, NULL, "clips", text);
}

int clips_take_out(struct vfs *v, struct animation *a, struct changes *changes)
{
	struct err err = {.code = ERR_NONE};
	struct anim *edited = NULL;
	struct version *base, **gone;
	struct program *by = NULL;
	bool all = true;
	int error = latest(v, a, &base);

	if (error)
		return error;
	gone = calloc(base->anim->clip_count + 1, sizeof(struct version *));
	if (!gone) {
		error = ENOMEM;
	} else if (find_removed(v, a, base, gone, &by)) {
		all = keep_changed(v, a, base, gone);
		edited = edit_removed(base->anim, gone, &err);
		error = edited ? edit_commit(v, a, base, edited, by, changes, &err)
			       : errno_of(&err);
		diagnose_removed(v, a, base->anim, gone, &err);
	}
	for (uint32_t i = 0; gone && i < base->anim->clip_count; i++)
		version_put(gone[i]);
	anim_free(edited);
	free(gone);
	program_put(by);
	version_put(base);
	return error || all ? error : EBADMSG;
}
