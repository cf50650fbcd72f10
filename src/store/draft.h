/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * draft.h - a text that is being written to a view, until it becomes an edit.
 *
 * A draft exists from the first write or truncation, as long as its text may differ from the
 * rendered one. All handles share it. A write never fails because of the text's content. Every
 * commit is computed from the base, the version at the time when the view was first opened for
 * writing, not from the previous commit: shells flush an empty file before its data, and subshells
 * flush half a table.
 *
 *	lock; if (draft_attempt(d, event, &a)) {
 *		unlock; verdict = attempt_commit(&a, source, where, &err);
 *		... where refused: refusal_write(..., text_bytes(a.text), &a.rejected) ...
 *		lock; draft_conclude(d, &a, verdict); ... unlock;
 *		attempt_release(&a);
 *	}
 *
 * "lock" is the caller's lock that guards the draft. It is not held during a commit, so the text
 * may be read and written meanwhile.
 */
#ifndef ANIMFS_STORE_DRAFT_H
#define ANIMFS_STORE_DRAFT_H

#include "budget.h"
#include "commit.h"
#include "text.h"
#include "tree.h"
#include "util/later.h"

/* The state of a draft's text. */
enum draft_state {
	DRAFT_CLEAN,      /* the text is unchanged since the draft began */
	DRAFT_WRITTEN,    /* the text is still to be committed */
	DRAFT_COMMITTING, /* a commit runs: between draft_attempt and draft_conclude */
	DRAFT_REWRITTEN,  /* a commit runs, and the text was written to after it began */
	DRAFT_PENDING,    /* the last commit found the text incomplete: it may be continued */
	DRAFT_REFUSED,    /* the last commit was refused; the text is in .rejected */
	/* the last saved text, unchanged */
	DRAFT_SAVED,
	DRAFT_SAVED_RENDERED, /* like DRAFT_SAVED, and the text equals the rendered one */
	DRAFT_SAVED_STALE,    /* the text was ignored as stale (batch.h); dropped on close */
};

struct draft {
	struct later later;
	struct text *text; /* the text as written so far */
	/* The last saved text, to go back to if the current one is refused; or NULL. */
	struct text *saved;
	/* the version that edits are computed from; NULL after draft_expire, until draft_begin */
	struct version *base;
	uint64_t id;           /* number that is unique to this draft, base and save */
	struct place place;    /* place of the view in `base` */
	struct committed last; /* the last committed edit of base; empty during a commit */
	enum draft_state state;
	bool is_renamed;   /* the text was saved when its clip had another name than in base */
	unsigned rejected; /* number of this draft's .rejected file, or 0 */
	unsigned unkept;   /* how often in a row the refused text could not be kept */
	/* credentials of the last program that wrote to the text; NULL: those of the daemon */
	struct caller *who;
	int64_t closed;        /* time when the last writer closed the view; set by draft_settle */
	struct budget *budget; /* budget for memory, not owned; NULL: no limit */
	size_t charged;
};

static inline bool draft_is_committing(const struct draft *d)
{
	return d->state == DRAFT_COMMITTING || d->state == DRAFT_REWRITTEN;
}
/* Was the text written to since the last commit began? */
static inline bool draft_is_written(const struct draft *d)
{
	return d->state == DRAFT_WRITTEN || d->state == DRAFT_REWRITTEN;
}
/* Is any part of the text still to be saved, or being saved? */
static inline bool draft_is_unsaved(const struct draft *d)
{
	return d->state >= DRAFT_WRITTEN && d->state <= DRAFT_PENDING;
}

static inline bool draft_is_saved(const struct draft *d)
{
	return d->state >= DRAFT_SAVED;
}

/*
 * Makes a draft. `text` is the rendered text, of which a reference is taken; NULL: empty. Call it
 * only before a write. NULL when out of memory.
 */
struct draft *draft_new(struct version *base, const struct place *place, struct text *text,
			struct budget *budget);
/* Frees the draft, which no commit may use. NULL is ignored. */
void draft_free(struct draft *d);

/*
 * Called when a first writer opens a view with a draft. Makes `now` the base, unless there is
 * unsaved text; or if it is opened for appending and the file is unchanged since the draft's last
 * commit. (A contradictory text keeps its base however it is opened.) If the view has changed since
 * (tree_since), drop the draft before. Also called, with `append`, when there is no writer and
 * `now` becomes the latest version, so that the draft keeps no older one.
 */
void draft_begin(struct draft *d, struct version *now, const struct place *place, bool append);
/*
 * Called when another writer opens the view: its save is a new one, not part of the last one,
 * unless it appends. The base stays. (The last writer may have closed the view already: the kernel
 * reports that late.)
 */
void draft_begin_again(struct draft *d, bool append);
/* Sets the credentials for writing a file beside the animation; takes them over. */
void draft_save_for(struct draft *d, struct caller *who);

/*
 * Writes to the text, filling gaps with zeros. 0 or an errno: EFBIG if the text would exceed
 * `limit` bytes; ENOSPC if it would exceed the budget; ENOMEM.
 */
int draft_write(struct draft *d, uint64_t at, struct bytes data, size_t limit);
int draft_truncate(struct draft *d, uint64_t size, size_t limit);
/*
 * A write changes a copy of the text if the text is shared with a commit or a reader, or is also
 * the saved one. Copying a long text takes time, so a caller with a lock that must be held briefly
 * makes the copy before:
 *
 *	lock; while (draft_will_copy(d)) {
 *		was = text_get(d->text); unlock; copy = text_copy(was); lock;
 *		if (d->text == was) draft_take_copy(d, copy);
 *		...
 *	} draft_write(...);
 *
 * draft_take_copy takes over the copy. A text of at most DRAFT_COPY_MAX bytes is copied under the
 * lock.
 */
#define DRAFT_COPY_MAX 4096
bool draft_will_copy(const struct draft *d);
void draft_take_copy(struct draft *d, struct text *copy);
/* Replaces the whole text by another, which it takes over (rename onto the view). */
void draft_replace(struct draft *d, struct text *text);

/* The cause of a commit. */
enum draft_event {
	/*
	 * A flush by a process other than the opener, or before the opener has written, or of a
	 * handle that was opened for appending: an incomplete text stays pending.
	 */
	DRAFT_FLUSH_OTHER,
	/*
	 * The opener's flush, rename, fsync, truncate by name, release of a mapping: an incomplete
	 * text is an error.
	 */
	DRAFT_SAVE,
	/*
	 * 2 s after the last close, or the end of the mount: an empty text is no change, and
	 * dropped by draft_settle; any other incomplete text is an error.
	 */
	DRAFT_END,
};

enum verdict {
	VERDICT_PENDING, /* the text is incomplete: wait for more */
	VERDICT_SAME,    /* the text changes nothing */
	VERDICT_SAVED,
	VERDICT_REFUSED, /* the text was refused, see err; the animation file is unchanged */
};

/* A commit in progress, with its own references. */
struct attempt {
	struct text *text;
	struct version *base;
	uint64_t id; /* id of the draft that is committed */
	struct place place;
	enum draft_event event;
	struct anim *edited;   /* set by attempt_read: the edit of the base; or NULL */
	struct committed last; /* last.saved: after the commit, the current version */
	struct caller *who;
	/*
	 * The current name of the clip in the file; NULL: as in base. Set and owned by the caller.
	 */
	const char *called;
	unsigned rejected; /* number of the .rejected file, for refusal_write */
	unsigned unkept;   /* like the field of struct draft */
	bool is_rendered;  /* as in struct draft, */
	bool is_silent;    /* like the field of struct draft */
	bool is_renamed;   /* like the field of struct draft */
	bool once_more;    /* attempt_read_as was called: the text was the last one saved */
	/* Does the file have the text's values? Set by the caller when the batch was stored. */
	bool as_said;
};

/*
 * Begins a commit. Call it with the lock, while no other commit of this draft is running. False:
 * nothing to save.
 */
bool draft_attempt(struct draft *d, enum draft_event event, struct attempt *out);
/*
 * The commit in two steps; call them without the lock. `where`: the present place of the file,
 * perhaps under a new name. attempt_read parses the text: VERDICT_SAVED: there is something to
 * store; VERDICT_SAME: nothing; pending; or refused. Whole files and skeletons are only parsed by
 * attempt_store.
 */
enum verdict attempt_read(struct attempt *a, const struct where *where, struct err *err);
/*
 * Replaces attempt_read for a text that was stored by the save which made `now`: the text gets the
 * values of `now`, even if parsing it would give others. False if out of memory, if `now` has no
 * such view, or if the draft has been committed before; then nothing changes.
 */
bool attempt_read_as(struct attempt *a, struct version *now);
enum verdict attempt_store(struct attempt *a, struct source *source, const struct where *where,
			   struct err *err);
enum verdict attempt_commit(struct attempt *a, struct source *source, const struct where *where,
			    struct err *err);
/*
 * Replaces attempt_store if the caller stored the text's effect by other means, which made `saved`.
 * Later commits of this draft must not use attempt_store.
 */
void attempt_stored(struct attempt *a, struct version *saved);
bool attempt_is_stored_otherwise(const struct attempt *a);
/* Ends a commit; call it with the lock. A write during the commit is still to be saved. */
void draft_conclude(struct draft *d, struct attempt *a, enum verdict verdict);
void attempt_release(struct attempt *a);
/*
 * Was the text extended and not filled yet? A mapping may be written after the descriptor was
 * closed, so a text that ends in zeros is incomplete.
 */
bool draft_is_unfilled(const struct draft *d);
/* Makes the next commit try a refused text again, unchanged. */
void draft_try_again(struct draft *d);
/*
 * Keeps a refused text in the draft after the last close, until a later commit, as it could not be
 * kept elsewhere. Call it after draft_conclude.
 */
void draft_keep_unsaved(struct draft *d);
/*
 * Returns when DRAFT_END or draft_expire is due (clock_ms); call it after draft_settle. A text that
 * could not be kept is tried again, each time after twice the time.
 */
int64_t draft_due(const struct draft *d);

/*
 * After draft_conclude: the saved text is not the view's, but a writer still has it open. Unless it
 * is written to again, it then counts as contradictory (below).
 */
void draft_drop_on_close(struct draft *d);

/*
 * Call it when the last writer goes, before any other thread can see that there is none. Drops a
 * refused text. False: only the rendered text is left; free the draft. True: it stays, because a
 * commit is in progress, or something is still to be saved (DRAFT_END 2 s later), or because its
 * text was saved (draft_expire 2 s later).
 */
bool draft_settle(struct draft *d, int64_t now_ms);
/*
 * Call it 2 s after the last close of a saved text: drops the base, unless the text has been
 * written to since. Returns false then.
 */
bool draft_expire(struct draft *d);
/* Drops the unsaved text. False: the rendered text is left; free the draft. */
bool draft_give_up(struct draft *d);

/*
 * Texts whose members depend on each other (clip.json, file.json) would contradict themselves if
 * they were kept as saved, and the next edit would be taken for a change of both. A generated text
 * may be of another version. Is the view one of these two kinds?
 */
bool draft_hangs_together(const struct view *view);
/*
 * Has the saved text fewer values than the rendered one, as where it was saved with fewer columns?
 * Any other stays as it was saved, whatever its dialect, until values of the view change.
 */
bool draft_says_less(const struct view *view, struct bytes saved, struct bytes rendered);
/*
 * Is the saved text one that must not be kept: of a view that draft_hangs_together, or a stale one
 * that was ignored? False for a table equal to the rendered one: it does not contradict itself, and
 * rows that are appended to it continue from its base.
 */
bool draft_is_contradictory(const struct draft *d);

#endif
