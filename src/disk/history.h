/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * history.h - every version of a file that a save replaced or removed, with its log.
 *
 *   DIR/history/           of the state directory (state.h); not for git, mode 0700
 *   DIR/history/NUMBER/    those of one file of SOURCE: NUMBER is a digest of its path, so that
 *                          no name there looks like an animation's
 *     path                 that path
 *     log                  a line for each version (history_log.h)
 *     7                    the bytes of version 7, once the file is another
 *     blob                 the caller's notes about the file's versions
 *   DIR/history/.count     the bytes of all versions, so that not every process counts them
 *   DIR/history/NUMBER-1/  the same of a file whose name belongs to another owner's file by now
 *
 * If a file with versions is renamed to the name of a removed one, the versions of that are kept as
 * those of NAME~1~.EXT in the same folder, where there is no such file (history_earlier).
 *
 * Copies are avoided: the replaced file is moved here, or linked before it is replaced; if links
 * are refused, its data is shared (FICLONE) or copied. Once the save has returned, no file here is
 * a link to the live file in SOURCE.
 *
 * A version gets its line when it is made, and its bytes when it is replaced. A file that existed
 * before the first save, or was changed by another program, gets its line at the next save. Saves
 * of one batch make one version: the bytes in between are not kept.
 *
 * A kill leaves the version's bytes here or in the temporary beside the file; history_recover and
 * the next save handle both. Functions return 0 or an errno. They are called with the lock of the
 * state directory (state_lock) where they say so.
 */
#ifndef ANIMFS_DISK_HISTORY_H
#define ANIMFS_DISK_HISTORY_H

#include "history_log.h"
#include "state.h"

#include <errno.h>

#define HISTORY_DEFAULT ((size_t)1 << 30)

struct history;

/*
 * Creates the history. `limit` is the size in bytes of all versions; 0: nothing is kept. NULL when
 * out of memory.
 */
struct history *history_new(struct state *state, uint64_t limit);
void history_free(struct history *h); /* NULL is fine */
struct state *history_state(const struct history *h);
/*
 * Brackets a rename in SOURCE and its history_rename, so that no save keeps its version under the
 * old name meanwhile. One thread at a time; NULL is fine.
 */
void history_begin_move(struct history *h) EXCLUDES(history_class);
void history_end_move(struct history *h) EXCLUDES(history_class);
/*
 * Removes temporaries of killed programs (state_clean), or moves those that are versions into
 * history. Call it after state_new.
 */
void history_clean(struct state *state);
/*
 * Like history_clean, and completes histories that a kill left half done. EBUSY if another process
 * holds the state's lock; the next mount then does it.
 */
int history_recover(struct state *state);

/*
 * Identifies a file: descriptor of its folder, the folder's path from SOURCE ("" is SOURCE), and
 * the file's name.
 */
struct history_file {
	int dir;
	const char *folder, *name;
	/* digests of the file's content before and after a save if known; or NULL */
	const struct history_digest *was, *now;
};

/* The program that saves, and a description of the change. Texts may be NULL. */
struct history_note {
	uint64_t batch; /* batch that the save belongs to; 0: none */
	bool apart;     /* make a separate version, even if the last one belongs to this batch */
	const char *program, *what;
	bool unfinished;
	bool step; /* the save is an undo or a redo (history_log.h), limited to `view` */
	/*
	 * of an undo or redo: number of the version that the file returns to; an undo that removes
	 * the file has the number of the version that it undoes
	 */
	uint64_t back;
	const char *view; /* the view that a step is limited to; "": the whole file */
};

/* Returns the batch whose version the save may extend: an argument of history_begin. */
static inline uint64_t history_joins(const struct history_note *note)
{
	return note->apart ? 0 : note->batch;
}

/*
 * ---- a save, with the lock ----
 *
 *	error = history_begin(h, &save, &file, &was, history_joins(&note));
 *	... replacement.keep = history_keep, .keeper = &save
 *	if (replaced)
 *		history_end(&save, &now, &note);
 *	else
 *		history_cancel(&save);
 */
struct history_save {
	struct history *history;
	const struct history_file *file;
	int folder; /* folder of the file's versions; -1 if nothing is kept */
	struct buf path;
	struct history_log log; /* the end of the file's log */
	struct history_entry last;
	bool has_last, had_file;
	bool is_foreign; /* the existing versions are those of another owner's file */
	bool is_strange; /* the file differs from the last version */
	bool is_unnoted; /* the file was saved by a program that was killed before it could add the
			    line */
	bool is_joined;  /* the save is part of the batch that made the last version */
	uint64_t copy;   /* the version whose kept bytes equal the present file; 0: none */
	bool is_linked;  /* the file has other hard links, which keep these bytes */
	struct history_digest was;
	struct bytes there; /* present content of the file, owned by the caller */
	uint64_t added;     /* bytes that the save has added to the history */
};
/*
 * Begins a save that replaces or removes the file. `was` has the file's present bytes, which must
 * stay until history_remove has returned; NULL: there is no file yet. Fails if versions cannot be
 * kept for any reason but space.
 */
int history_begin(struct history *h, struct history_save *s, const struct history_file *file,
		  const struct bytes *was, uint64_t batch) REQUIRES(replace_class);
/*
 * Keeps the old file as a version: the callback `keep` of struct replacement; `save`: the struct
 * history_save.
 */
int history_keep(void *save, int dir, const char *name, bool spare);
/*
 * Adds a first version for a new file that was made from bytes which were never on disk. Call it
 * after history_begin without a file.
 */
int history_base(struct history_save *s, struct bytes base, const struct history_note *note)
	REQUIRES(replace_class);
/*
 * Removes the file like unlinkat; EAGAIN, and nothing is removed, if another file has the name by
 * now.
 */
int history_remove(struct history_save *s) REQUIRES(replace_class);
/* Returns the description of the last version if this save extends it; else "". */
const char *history_line(const struct history_save *s);
/*
 * Ends a save after which the file has the bytes `now`; NULL: it was removed. Drops old versions to
 * make room.
 */
void history_end(struct history_save *s, const struct bytes *now, const struct history_note *note)
	REQUIRES(replace_class);
/* Ends a save that replaced nothing. */
void history_cancel(struct history_save *s) REQUIRES(replace_class);

/* ---- room ---- */

/*
 * After `error` of a save of `size` bytes in the folder `dir` (-1: in the state directory): drops
 * the oldest versions if then there is room for it. If the error is EDQUOT, only those that count
 * for the same quota: that of `payer`, if this process can give files away, or else its own. False:
 * nothing was dropped, as the error has another reason, the versions are on another filesystem, or
 * all of them would not suffice. With the lock.
 */
bool history_yield(struct history *h, int error, int dir, uint64_t size, uid_t payer)
	REQUIRES(replace_class);
/*
 * Does the filesystem of the folder `dir` also hold the versions? False if there are no versions
 * yet.
 */
bool history_is_beside(const struct history *h, int dir);
static inline bool history_needs_room(int error)
{
	return error == ENOSPC || error == EDQUOT;
}
/*
 * Protects the versions from before a running batch from being dropped. Call it once for each file
 * of the batch. At most 64 batches; thread-safe, without the lock.
 */
void history_begin_batch(struct history *h, uint64_t batch) EXCLUDES(history_class);
void history_end_batch(struct history *h, uint64_t batch) EXCLUDES(history_class);

/* ---- reading ---- */

/* The versions of a file at the time of reading. */
struct history_book {
	int folder; /* folder that holds the bytes of the versions; -1: none */
	struct history_log log;
};
#define HISTORY_BOOK_INIT                                                                          \
	{                                                                                          \
		-1, HISTORY_LOG_INIT                                                               \
	}
/*
 * Reads the log of a file's versions. ENODATA if there are none, or only those of another owner's
 * file. `file->dir` may be -1. Call history_release in either case.
 */
int history_open(struct state *state, const struct history_file *file, struct history_book *b);
/*
 * Like history_open, but reads only the end of the log: the last version, and possibly some before
 * it.
 */
int history_open_end(struct state *state, const struct history_file *file, struct history_book *b);
void history_release(struct history_book *b);
/* Returns the index of a kept version with the same bytes as version i; SIZE_MAX: none. */
size_t history_kept(const struct history_log *l, size_t i);
/*
 * Reads the bytes of version i, which must be kept. `fd`, unless NULL, gets a descriptor of the
 * file with them.
 */
int history_bytes(const struct history_book *b, size_t i, struct buf *out, int *fd);

/*
 * Calls `each` with the path of each file that has versions; the callback may use all functions
 * here.
 */
typedef void history_each(void *closure, const char *path);
int history_for_each(struct state *state, history_each *each, void *closure);

/* ---- other changes ---- */

/*
 * Makes the path under which the versions of an earlier file of this path are kept: "b~1~.canm" for
 * "b.canm"; i is 1 to HISTORY_EARLIER_MAX. False if the path would be too long.
 */
bool history_earlier(const char *path, unsigned i, char out[PATH_MAX]);
#define HISTORY_EARLIER_MAX 999
/* Records that a file or folder has moved. Neither takes nor needs the lock. */
void history_rename(struct state *state, const char *from, const char *to);
/* Removes all versions of a file, and its blob. ENODATA if there are none. With the lock. */
int history_forget(struct state *state, const struct history_file *file) REQUIRES(replace_class);
/*
 * Marks the version of a batch that continues as unfinished, or of one that ended as finished. With
 * the lock.
 */
int history_set_unfinished(struct history *h, const struct history_file *file, uint64_t batch,
			   bool unfinished) REQUIRES(replace_class);

/* ---- the caller's own ---- */

/* Appends the blob to `out`; ENODATA if there is none. */
int history_blob_get(struct state *state, const struct history_file *file, struct buf *out);
/* Replaces the blob of a file; an empty one removes it. With the lock. */
int history_blob_put(struct state *state, const struct history_file *file, struct bytes blob)
	REQUIRES(replace_class);
/* Does the history have a folder for the file? It has none if the last save lacked the room. */
bool history_has(struct history *h, const struct history_file *file) EXCLUDES(history_class);
/*
 * Like history_blob_put, but for use while this process may rename files in SOURCE
 * (history_begin_move). With `make`, creates the file's folder if necessary; without it, nothing is
 * stored if the folder is missing, as after history_forget. With the lock.
 */
int history_keep_blob(struct history *h, const struct history_file *file, struct bytes blob,
		      bool make) REQUIRES(replace_class) EXCLUDES(history_class);

#endif
