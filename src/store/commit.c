/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "commit.h"

#include "../loss.h"
#include "work.h"

/* ---- what an edit of a draft is stored over ---- */

/* The edit that leads from `base` to `edited`, made in `on`. False where it cannot be. */
static bool apply(const struct work *w, const struct anim *base, const struct anim *edited,
		  const struct version *on, struct buf *bytes)
{
	struct err why = {.code = ERR_NONE};
	struct anim *merged = anim_merge(base, edited, NULL, on->anim, &why);
	bool done = merged && w->codec->encode(merged, buf_bytes(&on->bytes), bytes, &why) &&
		    !bytes->failed;

	anim_free(merged);
	return done;
}

/* Is the file what the draft's last commit makes of this ground? */
static bool leads_to_current(const struct work *w, const struct version *ground)
{
	struct buf bytes = BUF_INIT;
	bool same = apply(w, w->base->anim, w->before->edited, ground, &bytes) &&
		    bytes_equal(buf_bytes(&bytes), buf_bytes(&w->current->bytes));

	buf_release(&bytes);
	return same;
}

/*
 * What others saved since the draft's last commit, made in its ground. NULL where that is not
 * known: a model says all that changed where it was edits of models that changed the file; else the
 * file itself must be what comes of it.
 */
static struct version *move_ground(const struct work *w)
{
	const struct committed *before = w->before;
	struct err why = {.code = ERR_NONE};
	struct buf bytes = BUF_INIT;
	struct version *ground = NULL;

	if (anim_same_names(before->saved->anim, w->current->anim) &&
	    apply(w, before->saved->anim, w->current->anim, before->ground, &bytes))
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

/* With a holder; NULL where the draft has committed, and what was there without it is lost. */
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

	w->ground = find_ground(w);
	w->is_grounded = w->ground != NULL;
	if (!w->ground) {
		w->ground = version_get(w->current);
		last = w->last;
	}
	w->merged = anim_merge(w->base->anim, w->edited, last, w->ground->anim, err);
	if (!w->merged || !work_encode(w, w->merged, err))
		return false;
	w->loses = w->ground == w->current ? anim_loses(w->current->anim, w->merged, true)
					   : anim_loses(w->current->anim, w->result->anim, false);
	return true;
}

/* All of the file at once: nothing of what others saved would be left. */
static bool prepare_whole(struct work *w, struct err *err)
{
	struct bytes now = buf_bytes(&w->current->bytes);

	if (bytes_equal(*w->whole, now)) {
		w->result = version_get(w->current);
		return true;
	}
	if (!bytes_equal(now, buf_bytes(&w->base->bytes)) && w->last != w->current->anim &&
	    !(w->before && w->before->saved && version_same_bytes(w->current, w->before->saved)))
		return err_set(err, ERR_CONFLICT, "somebody else changed the file in the meantime");
	buf_add(&w->bytes, w->whole->data, w->whole->size);
	if (w->bytes.failed)
		return err_memory(err);
	if (!work_decode_result(w, err))
		return false;
	w->loses = anim_loses(w->current->anim, w->result->anim, false);
	return true;
}

/* ---- all of it ---- */

/*
 * Times tell the versions of a file apart only if they are fine enough and nobody sets them back;
 * bytes do. replace_place compares them, too, but where times are coarse it had better not be
 * needed for that.
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

/* A verdict about bytes that are there no more is none. */
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
	*c = (struct committed){NULL, NULL, NULL};
}

enum commit source_commit_draft(struct source *s, const struct where *where, struct version *base,
				struct anim *edited, const struct bytes *whole, struct committed *c,
				struct err *err)
{
	struct work w = {.source = s,
			 .where = where,
			 .attempt = commit_file,
			 .base = base,
			 .edited = edited,
			 .last = c->edited,
			 .before = c,
			 .whole = whole};
	struct version *now, *ground = NULL;
	enum commit outcome = work_run(&w, &now, &ground, err);

	if (outcome == COMMIT_REFUSED)
		return outcome;
	committed_clear(c);
	*c = (struct committed){edited, now, ground};
	return outcome;
}
