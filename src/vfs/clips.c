/* SPDX-License-Identifier: GPL-3.0-or-later */
/* clips.c - renaming, moving and removing clips as folders. */
#include "clips.h"

#include "diagnostics.h"
#include "edit/compare.h"
#include "edit/structure.h"
#include "model/names.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static int latest(struct vfs *v, struct animation *a, struct version **out)
{
	struct stat st;

	return animation_look(v, a, out, &st);
}

/* ---- names ---- */

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
 * EPERM if it is the name of an animation file. EILSEQ if it is not a valid clip's name in
 * file-name form; .animfs/errors then has the valid form.
 */
static int clip_check_name(struct vfs *v, struct animation *a, const char *label)
{
	const struct codec *codec;
	struct buf name = BUF_INIT;
	bool possible, failed, probe;

	/*
	 * `cp -r a.canm b.canm` with an existing b.canm makes a.canm in it: that is not meant as a
	 * clip.
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

/* ---- edits ---- */

/*
 * An edit of a model from anim_edit, with a clip of `from` and, if the edit needs one, a new label.
 */
typedef bool clip_edit(struct anim *edited, const struct anim *from, uint32_t clip,
		       const char *new_label, struct err *err);

/* Edits `base` and commits. ENOENT if `from` has no clip with this label. err is for the user. */
static int edit_clip(struct vfs *v, struct animation *a, struct version *base,
		     const struct version *from, const char *label, clip_edit *edit,
		     const char *new_label, struct changes *changes, struct err *err)
	REQUIRES(writer_class)
{
	int64_t clip = version_clip(from, label);
	struct anim *edited = clip < 0 ? NULL : anim_edit(base->anim);
	int error;

	if (!edited)
		return clip < 0 ? ENOENT : ENOMEM;
	if (edit(edited, from->anim, (uint32_t)clip, new_label, err))
		error = edit_commit(v, a, base, edited, changes, err);
	else
		error = errno_of(err);
	anim_free(edited);
	return error;
}

static bool clips_edit_name(struct anim *edited, const struct anim *from, uint32_t clip,
			    const char *label, struct err *err)
{
	(void)from;
	return anim_clip_rename(edited, clip, label, err);
}

int clip_rename(struct vfs *v, struct animation *a, const char *label, const char *new_label,
		struct changes *changes)
{
	struct err err = {.code = ERR_NONE};
	struct version *base;
	int error = latest(v, a, &base);

	if (error)
		return error;
	error = base->anim->format->nameless ? EPERM : clip_check_name(v, a, new_label);
	if (!error)
		error = edit_clip(v, a, base, base, label, clips_edit_name, new_label, changes,
				  &err);
	version_put(base);
	return error;
}

/* ---- from one file to another ---- */

static int clips_copy(struct vfs *v, struct version *from, const char *label, struct animation *to,
		      struct version *base, const char *new_label, struct changes *changes)
	REQUIRES(writer_class)
{
	struct err err = {.code = ERR_NONE};
	int error = edit_clip(v, to, base, from, label, anim_clip_copy, new_label, changes, &err);

	/* mv only reports that it failed, so say why where the user will look. */
	diagnose_animation(v, to, new_label, "not moved here", error ? err.message : NULL);
	return error;
}

static bool edit_gone(struct anim *edited, const struct anim *from, uint32_t clip,
		      const char *unused, struct err *err)
{
	(void)from;
	(void)unused;
	return anim_clip_remove(edited, clip, err);
}

/* Removes the clip after it was copied. In a format with exactly one clip per file it stays. */
static int take_clip(struct vfs *v, struct animation *a, struct version *base, const char *label,
		     struct changes *changes) REQUIRES(writer_class)
{
	struct err err = {.code = ERR_NONE};
	int error = edit_clip(v, a, base, base, label, edit_gone, NULL, changes, &err);

	diagnose_animation(v, a, label, "not removed", err.code ? err.message : NULL);
	return base->anim->format->many_clips ? error : 0;
}

static bool can_move(const struct version *from, const struct version *to)
{
	return to->anim->format->many_clips && !from->anim->format->stills &&
	       !to->anim->format->stills;
}

int clip_move(struct vfs *v, struct animation *from, const char *label, struct animation *to,
	      const char *new_label, struct changes *changes)
{
	struct version *source, *target = NULL;
	int error = latest(v, from, &source);

	if (error)
		return error;
	error = latest(v, to, &target);
	if (!error && !can_move(source, target))
		error = EXDEV;
	if (!error)
		error = clip_check_name(v, to, new_label);
	if (!error)
		error = clips_copy(v, source, label, to, target, new_label, changes);
	if (!error)
		error = take_clip(v, from, source, label, changes);
	version_put(target);
	version_put(source);
	return error;
}

/* ---- remove ---- */

/*
 * Finds the clips whose folders are absent: by clip, what the file was when its removal began, with
 * a reference; NULL: it stays. False: none.
 */
static bool find_removed(struct vfs *v, const struct animation *a, struct version *now,
			 struct version **gone)
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
		any = true;
	}
	vfs_unlock(v);
	return any;
}

/* Does the file have the same clip of this name now as it had then? */
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

/* Clips that another program has changed since their removal began stay. False: there are such. */
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

/* Removes from the end, so that the other indices stay valid. */
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
	bool all = true;
	int error = latest(v, a, &base);

	if (error)
		return error;
	gone = calloc(base->anim->clip_count + 1, sizeof(struct version *));
	if (!gone) {
		error = ENOMEM;
	} else if (find_removed(v, a, base, gone)) {
		all = keep_changed(v, a, base, gone);
		edited = edit_removed(base->anim, gone, &err);
		error = edited ? edit_commit(v, a, base, edited, changes, &err) : errno_of(&err);
		diagnose_removed(v, a, base->anim, gone, &err);
	}
	for (uint32_t i = 0; gone && i < base->anim->clip_count; i++)
		version_put(gone[i]);
	anim_free(edited);
	free(gone);
	version_put(base);
	return error || all ? error : EBADMSG;
}
