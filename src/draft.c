/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "draft.h"

#include "file.h"
#include "view/own_digest.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

struct draft *draft_new(void)
{
	return calloc(1, sizeof(struct draft));
}

static void let_go(struct snap **snap)
{
	if (*snap)
		snap_put(*snap);
	*snap = NULL;
}

/* What this draft committed; it points into the base and goes before it. */
static void forget_commits(struct draft *d)
{
	committed_clear(&d->last);
}

static void drop_kept(struct draft *d)
{
	buf_release(&d->kept);
	d->have_kept = false;
}

void draft_free(struct draft *d)
{
	if (!d)
		return;
	forget_commits(d);
	let_go(&d->base);
	buf_release(&d->text);
	drop_kept(d);
	draft_free(d->closed_as);
	free(d->who);
	free(d);
}

static void rebase(struct draft *d, struct snap *now, const struct place *place)
{
	snap_get(now);
	forget_commits(d);
	let_go(&d->base);
	d->base = now;
	d->place = *place;
}

void draft_forget(struct draft *d)
{
	d->have_text = d->written = d->dirty = d->pending = d->refused = false;
	buf_release(&d->text);
	drop_kept(d);
	forget_commits(d);
}

void draft_give_up(struct draft *d)
{
	if (!d->have_kept) {
		draft_forget(d);
		return;
	}
	buf_release(&d->text);
	d->text = d->kept;
	d->kept = (struct buf)BUF_INIT;
	d->have_kept = d->dirty = d->pending = d->refused = false;
}

static bool render_hash(const struct tree *t, const struct place *place, uint64_t *out)
{
	struct buf text = BUF_INIT;
	bool fine;

	tree_render(t, place, &text);
	fine = !text.failed;
	*out = XXH3_64bits(text.data, text.size);
	buf_release(&text);
	return fine;
}

/*
 * Remembers what the view rendered to when it was saved, so that a later edit from elsewhere is
 * noticed.
 */
static bool settle(struct draft *d, const char *file_name)
{
	struct tree t = {d->last.saved ? d->last.saved : d->base, file_name};
	struct place place = d->place;

	if (d->settled)
		return true;
	d->canonical = 0;
	d->settled = (d->last.saved &&
		      !tree_again(&t, &(struct tree){d->base, file_name}, &d->place, &place)) ||
		     render_hash(&t, &place, &d->canonical);
	return d->settled;
}

bool draft_update(struct draft *d, const struct tree *now, const struct place *place)
{
	uint64_t hash;

	/* A file that was renamed onto the view is open for writing still. */
	if (d->writers > 0 && !d->base)
		rebase(d, (struct snap *)now->snap, place);
	if (!d->written) {
		if (d->writers > 0 && d->base)
			return true;
		if (d->base && d->base->generation == now->snap->generation)
			return true;
		d->have_text = false;
		rebase(d, (struct snap *)now->snap, place);
		return true;
	}
	/* What was refused stays what it is for whoever is still at it. */
	if (d->dirty || d->pending || d->refused || d->checked == now->snap->generation)
		return true;
	if (!settle(d, now->file_name) || !render_hash(now, place, &hash))
		return false;
	d->checked = now->snap->generation;
	if (hash == d->canonical)
		return true;
	draft_forget(d);
	rebase(d, (struct snap *)now->snap, place);
	return true;
}

void draft_rebase(struct draft *d, struct snap *now, const struct place *place)
{
	if (!d->base)
		return;
	rebase(d, now, place);
	if (!d->written)
		d->have_text = false;
}

bool draft_load(struct draft *d, const char *file_name)
{
	struct tree t = {d->base, file_name};

	if (d->have_text)
		return true;
	buf_clear(&d->text);
	tree_render(&t, &d->place, &d->text);
	d->have_text = !d->text.failed;
	if (!d->have_text)
		buf_release(&d->text);
	return d->have_text;
}

static void drop_closed(struct draft *d)
{
	draft_free(d->closed_as);
	d->closed_as = NULL;
}

/* Makes the draft what it was when its text was closed, if the file is still what that left. */
static void open_again(struct draft *d, const struct snap *now)
{
	struct draft *was = d->closed_as;

	if (!bytes_equal(buf_bytes(&was->last.saved->bytes), buf_bytes(&now->bytes)))
		return;
	draft_forget(d);
	let_go(&d->base);
	d->text = was->text;
	d->base = was->base;
	d->place = was->place;
	d->last = was->last;
	d->have_text = d->written = true;
	d->settled = false;
	d->checked = now->generation;
	free(was);
	d->closed_as = NULL;
}

bool draft_continue(struct draft *d, const struct snap *now)
{
	if (d->writers || d->dirty || d->pending)
		return false;
	if (d->closed_as && !d->written)
		open_again(d, now);
	if (!d->written || !d->base || !d->last.saved)
		return false;
	d->writers++;
	return true;
}

void draft_begin(struct draft *d, struct snap *now, const struct place *place)
{
	if (d->writers++ > 0 || d->dirty || d->pending)
		return;
	drop_closed(d);
	rebase(d, now, place);
}

/*
 * Before text is changed: what it says as it was saved is what the view goes on saying where the
 * change is refused. Out of memory it then says the same as it is rendered.
 */
static void keep_saved(struct draft *d)
{
	if (!d->written || d->dirty || d->pending || d->refused || !draft_stays_as_saved(d))
		return;
	drop_kept(d);
	buf_add(&d->kept, d->text.data, d->text.size);
	d->have_kept = !d->kept.failed;
	if (!d->have_kept)
		drop_kept(d);
}

void draft_save_for(struct draft *d, struct caller *who)
{
	free(d->who);
	d->who = who;
}

/* Makes text what people write: from here on nothing renders over it. */
static void touch(struct draft *d)
{
	d->have_text = d->written = d->dirty = true;
	d->refused = false;
}

int draft_write(struct draft *d, const char *file_name, uint64_t at, const void *data, size_t size,
		size_t limit)
{
	size_t end = (size_t)at + size;

	if (at > limit || size > limit - at)
		return EFBIG;
	if (!draft_load(d, file_name))
		return ENOMEM;
	keep_saved(d);
	if (end > d->text.size) {
		if (!buf_reserve(&d->text, end - d->text.size)) {
			d->text.failed = false;
			return ENOMEM;
		}
		if (at > d->text.size)
			memset(d->text.data + d->text.size, 0, (size_t)at - d->text.size);
		d->text.size = end;
	}
	if (size)
		memcpy(d->text.data + at, data, size);
	touch(d);
	return 0;
}

int draft_truncate(struct draft *d, const char *file_name, uint64_t size, size_t limit)
{
	if (size > limit)
		return EFBIG;
	if (size > 0 && !draft_load(d, file_name))
		return ENOMEM;
	if (size <= d->text.size) {
		keep_saved(d);
		d->text.size = (size_t)size;
		touch(d);
		return 0;
	}
	return draft_write(d, file_name, size, NULL, 0, limit);
}

void draft_replace(struct draft *d, struct buf *text)
{
	keep_saved(d);
	buf_release(&d->text);
	d->text = *text;
	*text = (struct buf)BUF_INIT;
	touch(d);
}

bool draft_refuse_generated(struct err *err)
{
	err_at(err, ERR_TEXT, 0, 0,
	       "this text is generated from the curves, and was changed by hand: its last line is "
	       "not its digest");
	return err_accept(
		err, "edits of bones/*.csv, bones/*.json or clip.json; this view follows them");
}

/*
 * A text as it was generated changes nothing, whichever version it shows: copies of whole folders
 * bring it back.
 */
static enum verdict save_generated(const struct draft *d, struct err *err)
{
	return own_digest_valid(buf_bytes(&d->text)) || draft_refuse_generated(err)
		       ? VERDICT_SAME
		       : VERDICT_REFUSED;
}

static enum verdict verdict_of(enum commit commit)
{
	return commit == COMMIT_REFUSED ? VERDICT_REFUSED
	       : commit == COMMIT_DONE  ? VERDICT_SAVED
					: VERDICT_SAME;
}

static enum verdict save_skeleton(struct draft *d, struct source *source, int folder,
				  const char *file_name, struct err *err)
{
	struct tree t = {d->base, file_name};
	struct shown at = tree_shown(&t, &d->place);
	struct skeleton *edited = d->place.view->parse_skeleton(&at, buf_bytes(&d->text), err);
	struct snap *saved = d->last.saved, *now = NULL;
	enum commit commit;

	if (!edited)
		return VERDICT_REFUSED;
	commit = source_commit_skeleton(source, folder, d->base, edited,
					saved ? rest_skeleton(saved->rest) : NULL, d->who, &now,
					err);
	skeleton_free(edited);
	if (commit != COMMIT_REFUSED) {
		forget_commits(d);
		d->last.saved = now;
	}
	return verdict_of(commit);
}

static enum verdict save(struct draft *d, struct source *source, int folder, const char *file_name,
			 struct err *err)
{
	const struct view *view = d->place.view;
	struct tree t = {d->base, file_name};
	struct shown at = tree_shown(&t, &d->place);
	struct bytes text = buf_bytes(&d->text);
	struct anim *edited = NULL;
	enum commit commit;

	if (view->parse_skeleton)
		return save_skeleton(d, source, folder, file_name, err);
	if (!view->whole && !view->parse)
		return save_generated(d, err);
	if (!view->whole) {
		edited = view->parse(&at, text, err);
		if (!edited)
			return VERDICT_REFUSED;
	}
	commit = source_commit_draft(source, folder, d->base, edited, view->whole ? &text : NULL,
				     &d->last, err);
	if (commit == COMMIT_REFUSED)
		anim_free(edited);
	return verdict_of(commit);
}

static bool is_half_written(const struct err *err)
{
	return err->code == ERR_EARLY || err->code == ERR_EMPTY;
}

/*
 * The texts of clips and files say in one member what follows from another. As it was saved such a
 * text would contradict itself, and the next edit of it would be read as one of both. A generated
 * text may be that of an older version.
 */
bool draft_stays_as_saved(const struct draft *d)
{
	const struct view *view = d->place.view;

	return view->whole || view->parse_skeleton || (view->parse && view->place == VIEW_OF_BONE);
}

enum verdict draft_commit(struct draft *d, enum draft_event event, struct source *source,
			  int folder, const char *file_name, struct err *err)
{
	enum verdict verdict;

	if (!d->dirty && !d->pending)
		return VERDICT_NOTHING;
	if (d->text.size == 0) {
		if (event == DRAFT_CLOSE) {
			d->dirty = false;
			d->pending = true;
			return VERDICT_NOTHING;
		}
		err_set(err, ERR_EMPTY, "the text is empty");
		err_accept(err, "the whole text; in a bone's CSV, blank cells remove keys");
		verdict = VERDICT_REFUSED;
	} else {
		verdict = save(d, source, folder, file_name, err);
	}
	d->dirty = false;
	d->pending = verdict == VERDICT_REFUSED && event != DRAFT_DEMAND && is_half_written(err);
	if (d->pending && event == DRAFT_FLUSH)
		return VERDICT_PENDING;
	d->refused = verdict == VERDICT_REFUSED;
	if (d->refused)
		return verdict;
	drop_kept(d);
	d->settled = false;
	d->checked = (d->last.saved ? d->last.saved : d->base)->generation;
	/* The text of another is given up when it is closed, mostly before anybody asks for this.
	 */
	if (draft_stays_as_saved(d) && !settle(d, file_name))
		d->checked = 0;
	return verdict;
}

void draft_keep_unsaved(struct draft *d)
{
	d->dirty = true;
	d->pending = d->refused = false;
}

/* Where its commits left all as it was, a base of that moment leads to the same. */
bool draft_awaits_more(const struct draft *d)
{
	return d->closed_as || (d->written && !d->writers && !d->dirty && !d->pending &&
				d->last.saved && d->last.saved != d->last.ground);
}

/* What it is but for its text goes on without it; out of memory nobody can go on with it. */
static void put_closed(struct draft *d)
{
	struct draft *was = draft_new();

	if (was) {
		was->text = d->text;
		was->base = d->base;
		was->place = d->place;
		was->last = d->last;
		d->text = (struct buf)BUF_INIT;
		d->base = NULL;
		d->last = (struct committed){NULL, NULL, NULL};
		drop_closed(d);
		d->closed_as = was;
	}
	draft_forget(d);
}

static void end_base(struct draft *d)
{
	forget_commits(d);
	/* A text that nobody wrote is the base's. */
	if (d->written)
		let_go(&d->base);
}

void draft_end(struct draft *d)
{
	if (--d->writers > 0)
		return;
	d->closed = clock_ms();
	if (d->pending || d->dirty) /* it is still to be saved */
		return;
	d->rejected = 0;
	if (d->refused)
		draft_give_up(d);
	/* A handle that came with a rename may close without having written again. */
	if (d->written && !draft_stays_as_saved(d) && draft_awaits_more(d))
		put_closed(d);
	/* Without its hash nobody could tell later whether it is still what the file says. */
	else if (!d->closed_as && (!draft_stays_as_saved(d) || (d->written && !d->settled)))
		draft_forget(d);
	if (!draft_awaits_more(d) || d->closed_as)
		end_base(d);
}

void draft_expire(struct draft *d)
{
	drop_closed(d);
	end_base(d);
}
