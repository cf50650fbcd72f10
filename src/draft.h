/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * draft.h - what a view says while somebody has it open: its text, and how the text becomes an
 * edit.
 *
 * Reading only, the text is the view rendered from the latest version. The first write or
 * truncation makes it a draft: from then on it is what people wrote, shared by all handles, until
 * it is saved or given up. Writing never fails for what is written. Every commit is computed from
 * the base, the version that was there when the view was first opened for writing, and not from the
 * last commit: shells flush an empty file before its data, and subshells flush half a table.
 *
 * Knows no FUSE. The caller keeps two threads from using one draft (the file's lock).
 */
#ifndef ANIMFS_DRAFT_H
#define ANIMFS_DRAFT_H

#include "source.h"
#include "tree.h"

struct draft {
	struct buf text;
	struct buf kept; /* the text as it was saved, while another is being written over it */
	bool have_kept;
	bool have_text; /* text is the view's text; otherwise it is still to be rendered */
	bool written;   /* text came from people, not from render */
	bool dirty;     /* written to since the last commit */
	bool mapped;    /* a mapping wrote since the last flush; it has no handle of its own */
	bool pending;   /* the last commit took it for half-written: the next open continues it */
	bool refused;   /* the last commit was refused: the text is in .rejected */
	unsigned rejected;     /* which of the .rejected files is this draft's, or 0 */
	unsigned handles;      /* open */
	unsigned writers;      /* of them, for writing */
	struct snap *base;     /* what edits are computed from; what text was rendered from */
	struct place place;    /* of the view in base */
	struct committed last; /* the edit of base that this draft committed last */
	bool settled;          /* once saved: canonical is known; until then last.saved is there */
	uint64_t canonical;    /* hash of what the view rendered to then, to notice other edits */
	uint64_t checked;      /* the generation for which canonical was last compared */
	int64_t closed;        /* when the last writer closed, clock_ms */
	/* Of a text that is rendered again once it is closed: the draft as it was, or NULL. */
	struct draft *closed_as;
	struct caller *who;    /* who opened it for writing last; NULL: who may do what we may */
};

struct draft *draft_new(void);
void draft_free(struct draft *d);

/*
 * Brings the draft to the version `now`: a text that nobody wrote is rendered from it when next
 * asked for, a saved text is given up when the view says something else now, a text being written
 * stays. The view's place in `now` is `place`.
 */
bool draft_update(struct draft *d, const struct tree *now, const struct place *place);
/* What the draft is edited from is called otherwise in `now`, and is the same. */
void draft_rebase(struct draft *d, struct snap *now, const struct place *place);
/* Has the text in memory; false when out of memory. */
bool draft_load(struct draft *d, const char *file_name);
/*
 * Somebody opens it for writing: takes `now` as the base where the draft has none of its own. Call
 * draft_update before, which gives up a text, and with it a base, that the view has left behind.
 */
void draft_begin(struct draft *d, struct snap *now, const struct place *place);
/*
 * The same for somebody who appends, where `now` is the version that is there: goes on with a text
 * that was saved and closed lately, and with its base, also where it is rendered again by now.
 * False: there is none; call draft_begin.
 */
bool draft_continue(struct draft *d, const struct snap *now);

/* Who is asked about when the text comes to a file beside the animation; taken over. */
void draft_save_for(struct draft *d, struct caller *who);

/*
 * One writer less; call it after the commit. With the last one text that was refused is given up
 * (draft_give_up), and saved text of a clip or file, which renders to something else where its
 * members hang together. A saved text keeps its base, for who appends to it, until draft_expire.
 */
void draft_end(struct draft *d);
/* Has it a base that waits for who goes on with the text? */
bool draft_awaits_more(const struct draft *d);
/* Nobody has gone on with the saved text: the next writer edits what is there then. */
void draft_expire(struct draft *d);
/* Gives up what was written and not saved: the text is the one saved before, or rendered again. */
void draft_give_up(struct draft *d);
/* Gives up what people wrote; the text will be rendered again. */
void draft_forget(struct draft *d);

/* 0 or an errno; what lies between is filled with zeros. `limit` bounds the text. */
int draft_write(struct draft *d, const char *file_name, uint64_t at, const void *data, size_t size,
		size_t limit);
int draft_truncate(struct draft *d, const char *file_name, uint64_t size, size_t limit);
/* The whole text at once (rename onto the view); the buffer is taken over. */
void draft_replace(struct draft *d, struct buf *text);

enum draft_event {
	DRAFT_FLUSH,  /* half-written text stays pending */
	DRAFT_CLOSE,  /* the last close: empty text is no change, half-written text an error */
	DRAFT_DEMAND, /* rename, fsync, truncate by name: half-written text is an error */
};

enum verdict {
	VERDICT_NOTHING, /* there was nothing to save */
	VERDICT_PENDING, /* half-written: wait for more */
	VERDICT_SAME,    /* the text says what is there already */
	VERDICT_SAVED,
	VERDICT_REFUSED, /* see err; the binary is unchanged */
};

/* Refuses a text of a view that only renders. Returns false. */
bool draft_refuse_generated(struct err *err);

enum verdict draft_commit(struct draft *d, enum draft_event event, struct source *source,
			  int folder, const char *file_name, struct err *err);
/* What was refused is nowhere else: it stays, past the last close, until a later commit of it. */
void draft_keep_unsaved(struct draft *d);
/* Does a text that was saved go on saying what was typed? Others are made anew. */
bool draft_stays_as_saved(const struct draft *d);

#endif
