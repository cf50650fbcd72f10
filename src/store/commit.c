/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "commit.h"

#include "work.h"

/* ---- the ground of a draft's edit ---- */

/*
 * Returns the name of the base's clip in `on`, the current file or the ground. The clip may be
 * renamed there, but the clips have the same order.
 */
static const struct clip_renamed *renamed_in(const struct work *w, const struct version *on,
					     struct clip_renamed *out)
{
	int64_t at = w->renamed ? version_clip(w->current, w->renamed->label) : -1;

	if (at < 0 || (uint64_t)at >= on->anim->clip_count)
		return w->renamed;
	*out = (struct clip_renamed){w->renamed->clip, on->anim->clips[at].label};
	return out;
}

/*
 * Applies the edit that leads from `base` to `edited` to `on`, and encodes it. False if that is
 * impossible.
 */
static bool apply_edit(const struct work *w, const struct anim *base, const struct anim *edited,
		       const struct version *on, const struct clip_renamed *renamed,
		       struct buf *bytes)
{
	struct err why = {.code = ERR_NONE};
	struct anim *merged = anim_merge(base, edited, NULL, on->anim, renamed, &why);
	bool done = merged && w->codec->encode(merged, buf_bytes(&on->bytes), bytes, &why) &&
		    !bytes->failed;

	anim_free(merged);
	return done;
}

/* Does the draft's last commit, applied to this ground, give the current file? */
static bool leads_to_current(const struct work *w, const struct version *ground)
{
	struct clip_renamed renamed;
	struct buf bytes = BUF_INIT;
	bool same = apply_edit(w, w->base->anim, w->before->edited, ground,
			       renamed_in(w, ground, &renamed), &bytes) &&
		    bytes_equal(buf_bytes(&bytes), buf_bytes(&w->current->bytes));

	buf_release(&bytes);
	return same;
}

/*
 * Applies saves by others since the draft's last commit to its ground. NULL if their changes are
 * not fully known: comparing models suffices if only edits of models changed the file (lineage);
 * otherwise the result must lead to the current file.
 */
static struct version *move_ground(const struct work *w)
{
	const struct committed *before = w->before;
	struct err why = {.code = ERR_NONE};
	struct buf bytes = BUF_INIT;
	struct version *ground = NULL;

	if (anim_same_names(before->saved->anim, w->current->anim) &&
	    apply_edit(w, before->saved->anim, w->current->anim, before->ground, NULL, &bytes))
		ground = work_decode_bytes(w, &bytes, &why);
	buf_release(&bytes);
	if (ground && before->saved->lineage != w->current->lineage &&
	    !leads_to_current(w, ground)) {
		version_put(ground);
		return NULL;
	}
	if (ground)
		ground->lineage = w->current->lineage;
	return ground;
}

/*
 * Returns the ground, with a reference; NULL if the draft has committed before and its ground is
 * lost.
 */
static struct version *find_ground(const struct work *w)
{
	const struct committed *before = w->before;

	if (!before || !before->saved)
		return w->last ? NULL : version_get(w->current);
	if (!before->ground || before->ground->codec != w->codec)
		return NULL;
	if (version_same_bytes(w->current, before->saved))
		return version_get(before->ground);
	if (version_same_bytes(before->ground, before->saved))
		return version_get(w->current);
	return move_ground(w);
}

static bool prepare_edit(struct work *w, struct err *err)
{
	const struct anim *last = NULL;
	struct clip_renamed renamed;

	w->ground = find_ground(w);
	w->is_grounded = w->ground != NULL;
	if (!w->ground) {
		w->ground = version_get(w->current);
		last = w->last;
	}
	w->merged = anim_merge(w->base->anim, w->edited, last, w->ground->anim,
			       renamed_in(w, w->ground, &renamed), err);
	return w->merged && work_encode(w, w->merged, err);
}

/*
 * Prepares saving a whole file (raw.*). It would undo saves by other programs, so a change by them
 * is a conflict.
 */
static bool prepare_whole(struct work *w, struct err *err)
{
	struct bytes now = buf_bytes(&w->current->bytes);

	if (bytes_equal(*w->whole, now)) {
		w->result = version_get(w->current);
		return true;
	}
	if (w->codec->format->parts)
		return err_set(err, ERR_STORE, "%s", w->current->anim->read_only);
	if (!bytes_equal(now, buf_bytes(&w->base->bytes)) && w->last != w->current->anim &&
	    !(w->before && w->before->saved && version_same_bytes(w->current, w->before->saved)))
		return err_set(err, ERR_CONFLICT,
			       "another program changed the file in the meantime");
	buf_add(&w->bytes, w->whole->data, w->whole->size);
	if (w->bytes.failed)
		return err_memory(err);
	return work_decode_result(w, err);
}

/* ---- all of it ---- */

/*
 * Gets the latest version; compares bytes if the file's times are too coarse to distinguish
 * versions. replace_place compares bytes, too, but a change that it finds requires another attempt.
 */
static struct version *latest_by_bytes(struct work *w, struct err *err) REQUIRES(work_class)
{
	struct version *version = source_latest(w->source, w->where, &w->stamp, err);

	if (!version || !file_version_coarse(&w->stamp) ||
	    source_holds(w->where, buf_bytes(&version->bytes)))
		return version;
	version_put(version);
	source_doubt(w->source);
	return source_latest(w->source, w->where, &w->stamp, err);
}

/* Commits once. A refusal counts only if it was about the file's current bytes. */
static bool commit_file(struct work *w, struct err *err) REQUIRES(work_class)
{
	bool fine;

	w->current = latest_by_bytes(w, err);
	if (!w->current)
		return false;
	w->codec = w->current->codec;
	fine = w->whole ? prepare_whole(w, err) : prepare_edit(w, err);
	if (fine && w->result != w->current)
		return work_put(w, &w->stamp, err);
	if (source_holds(w->where, buf_bytes(&w->current->bytes)))
		return fine;
	w->obstacle = OBSTACLE_CHANGED;
	return false;
}

enum commit source_commit(struct source *s, const struct where *where, struct version *base,
			  const struct anim *edited, const struct anim *last,
			  const struct bytes *whole, struct version **now, struct err *err)
{
	struct work w = {.source = s,
			 .where = where,
			 .attempt = commit_file,
			 .base = base,
			 .edited = edited,
			 .last = last,
			 .whole = whole};

	return work_run(&w, now, NULL, err);
}

void committed_clear(struct committed *c)
{
	anim_free(c->edited);
	version_put(c->saved);
	version_put(c->ground);
	version_put(c->was);
	*c = (struct committed){.edited = NULL};
}

enum commit source_commit_draft(struct source *s, const struct where *where, struct version *base,
				struct anim *edited, const struct bytes *whole,
				const struct clip_renamed *renamed, struct committed *c,
				struct err *err)
{
	struct work w = {.source = s,
			 .where = where,
			 .attempt = commit_file,
			 .base = base,
			 .edited = edited,
			 .last = c->edited,
			 .before = c,
			 .whole = whole,
			 .renamed = renamed};
	struct version *now, *ground = NULL, *was = NULL;
	enum commit outcome;

	w.replaced = &was;
	outcome = work_run(&w, &now, &ground, err);

	if (outcome == COMMIT_REFUSED)
		return outcome;
	committed_clear(c);
	*c = (struct committed){edited, now, ground, was};
	return outcome;
}
