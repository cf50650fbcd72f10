/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "draft.h"

#include "commit_skeleton.h"
#include "typed.h"
#include "util/timing.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- memory ---- */

static size_t memory_of(const struct draft *d)
{
	return text_capacity(d->text) + (d->saved != d->text ? text_capacity(d->saved) : 0);
}

/* Charges the budget with the memory in use, even beyond the limit. */
static void settle_charge(struct draft *d)
{
	size_t now = memory_of(d);

	if (!d->budget)
		return;
	if (now > d->charged)
		budget_force(d->budget, now - d->charged);
	else
		budget_give(d->budget, d->charged - now);
	d->charged = now;
}

/* May the draft grow by this much? */
static bool is_affordable(const struct draft *d, size_t more)
{
	if (!d->budget || !more)
		return true;
	if (!budget_take(d->budget, more))
		return false;
	budget_give(d->budget, more);
	return true;
}

/* ---- beginning and end ---- */

static uint64_t new_id(void)
{
	static _Atomic uint64_t last;

	return ++last;
}

struct draft *draft_new(struct version *base, const struct place *place, struct text *text,
			struct budget *budget)
{
	struct draft *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->text = text_get(text);
	d->base = version_get(base);
	d->id = new_id();
	d->place = *place;
	d->budget = budget;
	settle_charge(d);
	return d;
}

static void draft_set_text(struct text **to, struct text *text)
{
	text_put(*to);
	*to = text;
}

/* Sets the base. The committed edit points into the old base, so it is freed first. */
static void set_base(struct draft *d, struct version *base)
{
	struct version *old = d->base;

	committed_clear(&d->last);
	d->base = base ? version_get(base) : NULL;
	d->is_renamed = false;
	d->id = new_id();
	version_put(old);
}

/* Frees a draft later (later.h), since an edit, and texts, can be large. */
static void draft_free_later(struct later *l)
{
	struct draft *d = (struct draft *)l;

	set_base(d, NULL);
	draft_set_text(&d->text, NULL);
	draft_set_text(&d->saved, NULL);
	settle_charge(d);
	free(d->who);
	free(d);
}

void draft_free(struct draft *d)
{
	if (!d)
		return;
	assert(!draft_is_committing(d));
	later_free(&d->later, draft_free_later);
}

/*
 * Returns whether members of a text may follow from each other, as in texts of clips and files.
 * Kept as saved after an edit of one member, such a text would contradict itself, and the next edit
 * of it would be taken for a change of both. A generated text may be of another version.
 */
bool draft_hangs_together(const struct view *view)
{
	return !view->whole && !view->parse_skeleton &&
	       (view->place != VIEW_OF_BONE || !view->parse);
}

bool draft_is_contradictory(const struct draft *d)
{
	return d->state == DRAFT_SAVED_STALE ||
	       (d->state == DRAFT_SAVED && draft_hangs_together(d->place.view));
}

/* Is the file unchanged since the draft's last commit? */
static bool is_last(const struct draft *d, const struct version *now)
{
	return d->base && d->last.saved && version_same_bytes(d->last.saved, now);
}

void draft_begin_again(struct draft *d, bool append)
{
	if (d->base && draft_is_saved(d) && !append && !draft_is_contradictory(d))
		d->id = new_id();
}

void draft_begin(struct draft *d, struct version *now, const struct place *place, bool append)
{
	if (d->base && draft_is_unsaved(d))
		return;
	if ((append || draft_is_contradictory(d)) && is_last(d, now))
		return;
	set_base(d, now);
	d->place = *place;
}

void draft_save_for(struct draft *d, struct caller *who)
{
	free(d->who);
	d->who = who;
}

/* ---- writing ---- */

/* Must the saved text be kept before it is changed, to go back to it? */
static bool is_to_keep(const struct draft *d)
{
	return draft_is_saved(d) && !d->saved && !draft_hangs_together(d->place.view);
}

static void keep_saved(struct draft *d)
{
	if (is_to_keep(d))
		draft_set_text(&d->saved, text_get(d->text));
}

/* Returns the memory that changing the text takes, with room for `size` bytes. */
static size_t draft_more(const struct draft *d, size_t size)
{
	size_t room = text_capacity(d->text), now = text_bytes(d->text).size;

	if (is_to_keep(d) || (text_is_shared(d->text) && d->saved == d->text))
		return size > now ? size : now;
	return size > room ? size - room : 0;
}

bool draft_will_copy(const struct draft *d)
{
	return text_bytes(d->text).size > DRAFT_COPY_MAX &&
	       (text_is_shared(d->text) || is_to_keep(d)) && is_affordable(d, draft_more(d, 0));
}

void draft_take_copy(struct draft *d, struct text *copy)
{
	keep_saved(d);
	draft_set_text(&d->text, copy);
	settle_charge(d);
}

static void draft_touch(struct draft *d)
{
	assert(d->base);
	d->state = draft_is_committing(d) ? DRAFT_REWRITTEN : DRAFT_WRITTEN;
	d->unkept = 0;
	settle_charge(d);
}

/* Gets the text's bytes for changing, with room for `size` bytes. 0 or an errno. */
static int open_text(struct draft *d, size_t size, struct buf **out)
{
	if (!is_affordable(d, draft_more(d, size)))
		return ENOSPC;
	keep_saved(d);
	*out = text_writable(&d->text, size);
	return *out ? 0 : ENOMEM;
}

static int draft_resize(struct draft *d, size_t size, struct buf **out)
{
	int error = open_text(d, size, out);
	struct buf *bytes;

	if (error)
		return error;
	bytes = *out;
	if (size > bytes->size)
		memset(bytes->data + bytes->size, 0, size - bytes->size);
	bytes->size = size;
	return 0;
}

int draft_write(struct draft *d, uint64_t at, struct bytes data, size_t limit)
{
	struct buf *bytes;
	size_t end;
	int error;

	if (at > limit || data.size > limit - at)
		return EFBIG;
	end = (size_t)at + data.size;
	if (end < text_bytes(d->text).size)
		end = text_bytes(d->text).size;
	error = draft_resize(d, end, &bytes);
	if (error)
		return error;
	if (data.size)
		memcpy(bytes->data + at, data.data, data.size);
	draft_touch(d);
	return 0;
}

int draft_truncate(struct draft *d, uint64_t size, size_t limit)
{
	struct buf *bytes;
	int error;

	if (size > limit)
		return EFBIG;
	if (size == 0) {
		/* An empty text needs no copy. */
		keep_saved(d);
		draft_set_text(&d->text, NULL);
		draft_touch(d);
		return 0;
	}
	error = draft_resize(d, (size_t)size, &bytes);
	if (!error)
		draft_touch(d);
	return error;
}

void draft_replace(struct draft *d, struct text *text)
{
	keep_saved(d);
	draft_set_text(&d->text, text);
	draft_touch(d);
}

/* ---- committing ---- */

bool draft_attempt(struct draft *d, enum draft_event event, struct attempt *out)
{
	/* A pending text was found incomplete before, and has not been written since. */
	if (d->state != DRAFT_WRITTEN && (d->state != DRAFT_PENDING || event == DRAFT_FLUSH_OTHER))
		return false;
	if (event == DRAFT_END && text_bytes(d->text).size == 0) {
		d->state = DRAFT_REFUSED;
		return false;
	}
	assert(d->base);
	*out = (struct attempt){
		.text = text_get(d->text),
		.base = version_get(d->base),
		.id = d->id,
		.place = d->place,
		.event = event,
		.last = d->last,
		.who = d->who,
		.rejected = d->rejected,
		.unkept = d->unkept,
		.is_renamed = d->is_renamed,
	};
	d->last = (struct committed){.edited = NULL};
	d->who = NULL;
	d->state = DRAFT_COMMITTING;
	return true;
}

void attempt_release(struct attempt *a)
{
	anim_free(a->edited);
	committed_clear(&a->last);
	version_put(a->base);
	text_put(a->text);
	free(a->who);
	*a = (struct attempt){.text = NULL};
}

static enum verdict verdict_of(enum commit commit)
{
	return commit == COMMIT_REFUSED ? VERDICT_REFUSED
	       : commit == COMMIT_DONE  ? VERDICT_SAVED
					: VERDICT_SAME;
}

static enum verdict draft_save_skeleton(struct attempt *a, struct source *source,
					const struct where *where, struct err *err)
{
	const struct tree tree = {a->base, where_label(where)};
	const struct shown at = tree_shown(&tree, &a->place);
	struct skeleton *edited = a->place.view->parse_skeleton(&at, text_bytes(a->text), err);
	struct version *saved = a->last.saved, *now = NULL;
	enum commit commit;

	if (!edited)
		return VERDICT_REFUSED;
	commit = source_commit_skeleton(source, where, a->base, edited,
					saved ? shared_skeleton(saved->skeleton) : NULL, a->who,
					&now, err);
	skeleton_free(edited);
	if (commit != COMMIT_REFUSED) {
		committed_clear(&a->last);
		a->last.saved = now;
	}
	return verdict_of(commit);
}

static bool is_unfilled(const struct view *view, struct bytes text)
{
	return !view->whole && text.size > 0 && text.data[text.size - 1] == '\0';
}

bool draft_is_unfilled(const struct draft *d)
{
	return is_unfilled(d->place.view, text_bytes(d->text));
}

static bool is_half_written(const struct err *err)
{
	return err->code == ERR_EARLY || err->code == ERR_EMPTY;
}

static bool has_suffix(const struct view *view, const char *suffix)
{
	const char *own = strrchr(view->file, '.');

	return own && strcmp(own, suffix) == 0;
}

/* Is the saved text equal to the text rendered from the resulting version? */
static bool is_rendered(const struct attempt *a, const char *file_name)
{
	const struct tree was = {a->base, file_name}, now = {a->last.saved, file_name};
	struct buf canonical = BUF_INIT;
	struct place place;
	bool same = now.version && tree_again(&now, &was, &a->place, &place) &&
		    tree_render(&now, &place, &canonical) == 0 &&
		    bytes_equal(text_bytes(a->text), buf_bytes(&canonical));

	buf_release(&canonical);
	return same;
}

/* Is the error one that an incomplete text may have, so that it may be pending? */
static bool attempt_is_half_written(const struct attempt *a, const struct err *err)
{
	const struct view *view = a->place.view;

	return a->event == DRAFT_FLUSH_OTHER &&
	       (is_half_written(err) ||
		(!typed_is_generated(view) && is_unfilled(view, text_bytes(a->text))));
}

enum verdict attempt_read(struct attempt *a, const struct where *where, struct err *err)
{
	const struct tree tree = {a->base, where_label(where)};
	const struct shown at = tree_shown(&tree, &a->place);

	switch (typed_read(a->place.view, &at, text_bytes(a->text), &a->edited, err)) {
	case TYPED_EDIT:
		return VERDICT_SAVED;
	case TYPED_NOTHING:
		return VERDICT_SAME;
	case TYPED_WRONG:
		break;
	}
	return attempt_is_half_written(a, err) ? VERDICT_PENDING : VERDICT_REFUSED;
}

bool attempt_read_as(struct attempt *a, struct version *now)
{
	const struct tree was = {a->base, NULL}, is = {now, NULL};
	struct place place;
	struct anim *edited;

	if (a->last.saved || !tree_again(&is, &was, &a->place, &place))
		return false;
	edited = anim_edit(now->anim);
	if (!edited)
		return false;
	a->edited = edited;
	a->once_more = true;
	version_put(a->base);
	a->base = version_get(now);
	a->place = place;
	return true;
}

/*
 * Returns true if nothing needs to be stored: the edit changes nothing and is the draft's first, so
 * that it leaves any version as it is. False also if the latest version is not in memory.
 */
static bool store_nothing(struct attempt *a, struct source *source)
{
	struct version *now;

	if (!a->edited || a->last.saved || !anim_is_unedited(a->edited, a->base->anim))
		return false;
	now = source_last(source);
	if (!now)
		return false;
	a->last = (struct committed){a->edited, now, version_get(now), NULL};
	a->edited = NULL;
	return true;
}

static enum verdict store_attempt(struct attempt *a, struct source *source,
				  const struct where *where, struct err *err)
{
	const struct view *view = a->place.view;
	const struct clip_renamed renamed = {a->place.clip, a->called};
	const struct bytes text = text_bytes(a->text);
	enum commit commit;

	if (view->parse_skeleton)
		return draft_save_skeleton(a, source, where, err);
	if (store_nothing(a, source))
		return VERDICT_SAME;
	commit = source_commit_draft(source, where, a->base, a->edited, view->whole ? &text : NULL,
				     a->called ? &renamed : NULL, &a->last, err);
	if (commit != COMMIT_REFUSED)
		a->edited = NULL;
	return verdict_of(commit);
}

enum verdict attempt_store(struct attempt *a, struct source *source, const struct where *where,
			   struct err *err)
{
	enum verdict verdict = store_attempt(a, source, where, err);

	if (verdict == VERDICT_REFUSED)
		return attempt_is_half_written(a, err) ? VERDICT_PENDING : VERDICT_REFUSED;
	/*
	 * Only needed for texts that rows are appended to; any other is dropped on close without
	 * rendering.
	 */
	if (a->event == DRAFT_FLUSH_OTHER && draft_hangs_together(a->place.view) &&
	    has_suffix(a->place.view, ".csv"))
		a->is_rendered = is_rendered(a, where_label(where));
	return verdict;
}

enum verdict attempt_commit(struct attempt *a, struct source *source, const struct where *where,
			    struct err *err)
{
	enum verdict verdict = attempt_read(a, where, err);

	return verdict == VERDICT_SAVED ? attempt_store(a, source, where, err) : verdict;
}

/*
 * Forgets the last committed edit, so that a later commit does not replace it, and notes the
 * version that the save made.
 */
void attempt_stored(struct attempt *a, struct version *saved)
{
	committed_clear(&a->last);
	a->last.saved = version_get(saved);
}

bool attempt_is_stored_otherwise(const struct attempt *a)
{
	const struct view *view = a->place.view;

	return a->last.saved && !a->last.edited && !view->whole && !view->parse_skeleton;
}

/* Notes that the text of an attempt is saved; the draft's text may have changed meanwhile. */
static void draft_note_saved(struct draft *d, const struct attempt *a)
{
	bool newer = d->state == DRAFT_WRITTEN && !draft_hangs_together(a->place.view);

	if (d->state != DRAFT_WRITTEN)
		d->state = a->is_silent     ? DRAFT_SAVED_STALE
			   : a->is_rendered ? DRAFT_SAVED_RENDERED
					    : DRAFT_SAVED;
	draft_set_text(&d->saved, newer ? text_get(a->text) : NULL);
	settle_charge(d);
}

void draft_conclude(struct draft *d, struct attempt *a, enum verdict verdict)
{
	assert(draft_is_committing(d));
	if (d->state == DRAFT_REWRITTEN)
		d->state = DRAFT_WRITTEN;
	d->rejected = a->rejected;
	d->is_renamed = a->is_renamed;
	if (!d->who) {
		d->who = a->who;
		a->who = NULL;
	}
	/*
	 * The committed edit points into the base, so keep it only if the draft still has that
	 * base.
	 */
	if (d->base == a->base) {
		d->last = a->last;
		a->last = (struct committed){.edited = NULL};
	}
	if (verdict == VERDICT_SAVED || verdict == VERDICT_SAME)
		draft_note_saved(d, a);
	else if (d->state == DRAFT_COMMITTING)
		d->state = verdict == VERDICT_PENDING ? DRAFT_PENDING : DRAFT_REFUSED;
}

void draft_try_again(struct draft *d)
{
	if (d->state == DRAFT_REFUSED)
		d->state = DRAFT_WRITTEN;
}

void draft_keep_unsaved(struct draft *d)
{
	d->state = DRAFT_WRITTEN;
	d->unkept++;
}

int64_t draft_due(const struct draft *d)
{
	int64_t wait = END_MS;

	for (unsigned i = 0; i < d->unkept && wait < REST_MAX_MS; i++)
		wait *= 2;
	return d->closed + (wait < REST_MAX_MS ? wait : REST_MAX_MS);
}

/* ---- when it is closed ---- */

bool draft_give_up(struct draft *d)
{
	assert(!draft_is_committing(d));
	if (d->saved) {
		draft_set_text(&d->text, d->saved);
		d->saved = NULL;
		d->state = DRAFT_SAVED;
		settle_charge(d);
	} else if (!draft_is_saved(d)) {
		d->state = DRAFT_CLEAN;
	}
	return draft_is_saved(d);
}

void draft_drop_on_close(struct draft *d)
{
	if (draft_is_saved(d))
		d->state = DRAFT_SAVED_STALE;
}

bool draft_settle(struct draft *d, int64_t now_ms)
{
	d->closed = now_ms;
	if (draft_is_unsaved(d))
		return true;
	d->rejected = d->unkept = 0;
	return d->state == DRAFT_REFUSED ? draft_give_up(d) : draft_is_saved(d);
}

bool draft_expire(struct draft *d)
{
	if (draft_is_unsaved(d))
		return false;
	set_base(d, NULL);
	return true;
}

/*
 * Counts cells, or tokens, that are not blank. A comma is part of a number where the header has
 * another separator.
 */
static size_t words_of(const struct view *view, struct bytes text)
{
	const uint8_t *line = text.size ? memchr(text.data, '\n', text.size) : NULL;
	size_t head = line ? (size_t)(line - text.data) : text.size, words = 0;
	bool commas = has_suffix(view, ".json") || !head ||
		      !(memchr(text.data, ';', head) || memchr(text.data, '\t', head));
	bool stops[256] = {false}, within = false;

	for (const char *c = " \t\r\n\";:{}[],"; *c; c++)
		stops[(unsigned char)*c] = *c != ',' || commas;
	for (size_t i = 0; i < text.size; i++) {
		words += !within && !stops[text.data[i]];
		within = !stops[text.data[i]];
	}
	return words;
}

bool draft_says_less(const struct view *view, struct bytes saved, struct bytes rendered)
{
	return !view->whole && words_of(view, saved) < words_of(view, rendered);
}
