/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * draft.h - what people wrote into a view, and how that becomes an edit.
 *
 * A draft exists from the first write or truncation on, and only while its text is not the rendered
 * one. It is shared by all handles. Writing never fails for what is written. Every commit is
 * computed from the base, the version that was there when the view was first opened for writing,
 * and not from the last commit: shells flush an empty file before its data, and subshells flush
 * half a table.
 *
 *	lock; if (draft_attempt(d, event, &a)) {
 *		unlock; verdict = attempt_commit(&a, source, where, &err);
 *		... where refused: refusal_write(..., text_bytes(a.text), &a.rejected) ...
 *		lock; draft_conclude(d, &a, verdict); ... unlock;
 *		attempt_release(&a);
 *	}
 *
 * "lock" is the caller's and guards the draft; it is not held during a commit. Meanwhile the text
 * may be read and written. Knows no FUSE.
 */
#ifndef ANIMFS_DRAFT_H
#define ANIMFS_DRAFT_H

#include "budget.h"
#include "commit.h"
#include "text.h"
#include "tree.h"

struct draft {
	struct text *text; /* what they wrote */
	/* The text as saved last, to go back to when what is written now is refused; or NULL. */
	struct text *saved;
	struct version *base;  /* what edits are computed from; NULL once draft_expire gave it up */
	struct place place;    /* of the view in base */
	struct committed last; /* the edit of base committed last; empty while one is running */
	bool dirty;            /* written to since the last commit began */
	bool pending;       /* the last commit took it for half-written: the next one continues */
	bool refused;       /* the last commit was refused: the text is in .rejected */
	bool committing;    /* between draft_attempt and draft_conclude */
	bool is_saved;      /* the text is what was saved last, */
	bool is_rendered;   /* and a table that hangs together, as it is rendered */
	unsigned rejected;  /* which of the .rejected files is this draft's, or 0 */
	struct caller *who; /* who opened it for writing last; NULL: who may do what we may */
	int64_t closed;     /* when the last writer closed: draft_settle */
	struct budget *budget; /* the caller's; NULL: no limit */
	size_t charged;
};

/*
 * `text` is the rendered one; a holder of its own is taken. NULL: it is empty. Whoever calls writes
 * next. NULL when out of memory.
 */
struct draft *draft_new(struct version *base, const struct place *place, struct text *text,
			struct budget *budget);
/* While no commit is running, or when its draft_conclude will not be called. NULL is fine. */
void draft_free(struct draft *d);

/*
 * A first writer opens it. Takes `now` as the base, unless text is still to be saved; or, where it
 * is opened for appending, the draft's last commit is what the file still holds. (A text that is
 * contradictory keeps its base then however it is opened: it says what it was saved as.)
 * Give the draft up before where the view changed since (tree_since).
 */
void draft_begin(struct draft *d, struct version *now, const struct place *place, bool append);
/* What it is edited from is called otherwise in `now`, and is the same. No commit is running. */
void draft_rebase(struct draft *d, struct version *now, const struct place *place);
/* Who is asked about when the text comes to a file beside the animation; taken over. */
void draft_save_for(struct draft *d, struct caller *who);

/*
 * 0 or an errno: EFBIG beyond `limit`, which bounds the text; ENOSPC beyond the budget; ENOMEM.
 * What lies between is filled with zeros.
 */
int draft_write(struct draft *d, uint64_t at, struct bytes data, size_t limit);
int draft_truncate(struct draft *d, uint64_t size, size_t limit);
/* The whole text at once (rename onto the view); the text is taken over. */
void draft_replace(struct draft *d, struct text *text);

/* How a commit is asked for. */
enum draft_event {
	/*
	 * A flush by another process than the opener, or before the opener wrote, or the close of a
	 * handle that was opened for appending: half-written text stays pending.
	 */
	DRAFT_FLUSH_OTHER,
	/*
	 * The opener's flush, rename, fsync, truncate by name, a mapping's release: half-written
	 * text is an error.
	 */
	DRAFT_SAVE,
	/*
	 * 2 s after the last close, or the end of the mount: empty text is no change, and given up
	 * by draft_settle; other half-written text is an error.
	 */
	DRAFT_END,
};

enum verdict {
	VERDICT_PENDING, /* half-written: wait for more */
	VERDICT_SAME,    /* the text says what is there already */
	VERDICT_SAVED,
	VERDICT_REFUSED, /* see err; the binary is unchanged */
};

/* A commit that is to be made, with holders of its own. */
struct attempt {
	struct text *text;
	struct version *base;
	struct place place;
	enum draft_event event;
	struct committed last; /* last.saved: afterwards, the version that is there */
	struct caller *who;
	unsigned rejected; /* for refusal_write */
	bool is_rendered;  /* as of struct draft */
};

/*
 * With the lock, while no commit of this draft is running. False: there is nothing to save. Clears
 * dirty.
 */
bool draft_attempt(struct draft *d, enum draft_event event, struct attempt *out);
/* With no lock. The file may be one of another name by now: `where` says which. */
enum verdict attempt_commit(struct attempt *a, struct source *source, const struct where *where,
			    struct err *err);
/* With the lock. A write during the commit leaves the draft dirty. */
void draft_conclude(struct draft *d, struct attempt *a, enum verdict verdict);
void attempt_release(struct attempt *a);
/*
 * After draft_conclude: what was refused is nowhere else. It stays, past the last close, until a
 * later commit of it.
 */
void draft_keep_unsaved(struct draft *d);

/*
 * There is no writer any more, and no commit running. Gives up what was refused. False: what is
 * left is the rendered text, and the draft is to be freed. True: it stays, either because something
 * is still to be saved (dirty or pending: DRAFT_END 2 s later) or because its text was saved
 * (draft_expire 2 s later).
 */
bool draft_settle(struct draft *d, int64_t now_ms);
/*
 * 2 s after the last close nobody has gone on with the saved text: it gives up its base. False: the
 * text is not the same table as `canonical`, the view as it is rendered now; free the draft.
 */
bool draft_expire(struct draft *d, struct bytes canonical);
/* Gives up what was written and not saved. False: the rendered text is left; free the draft. */
bool draft_give_up(struct draft *d);

/*
 * Would any reader see the same table in both? In CSV: the same separator, decimal point, header
 * and rows, whatever the digits of the numbers; in JSON: the same structure. Texts whose members
 * hang together (of clips and files) are the same only in every byte: as saved they would
 * contradict themselves, and the next edit would be read as one of both.
 */
bool draft_hangs_together(const struct view *view);
bool draft_same_table(const struct view *view, struct bytes saved, struct bytes canonical);
/*
 * Was a text saved whose members hang together? Not a table that is what is rendered: that does not
 * contradict itself, and rows that are appended to it go on from its base.
 */
bool draft_is_contradictory(const struct draft *d);

/* Refuses a text of a view that only renders. Returns false. */
bool draft_refuse_generated(struct err *err);

#endif
