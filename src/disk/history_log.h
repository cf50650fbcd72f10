/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * history_log.h - the log of the versions of one file: a line of text for each, in the order in
 * which they were made. history.h says where the file is.
 *
 * Lines are only appended. A later line of the same number takes the place of an earlier one; a
 * malformed line (torn by a kill or a power cut) is ignored.
 */
#ifndef ANIMFS_DISK_HISTORY_LOG_H
#define ANIMFS_DISK_HISTORY_LOG_H

#include "animfs/base.h"

enum history_kind {
	HISTORY_EDIT,    /* a save replaced the file */
	HISTORY_MADE,    /* a save made the file; there was none before */
	HISTORY_FOUND,   /* the file was found on disk; no known save made it */
	HISTORY_REMOVED, /* the file did not exist from here on */
	HISTORY_STEP,    /* undo or redo: `view` was restored to its content in version `back` */
};
#define HISTORY_KINDS 5

struct history_digest {
	uint64_t high, low;
};

/* A version. Its texts are never NULL; they belong to the log, or to the maker of the entry. */
struct history_entry {
	uint64_t number; /* version number, counted from 1 */
	enum history_kind kind;
	bool unfinished;              /* the batch of this version did not end */
	bool kept;                    /* the bytes of this version are stored here */
	uint64_t batch;               /* batch that made the version; 0: none */
	int64_t time;                 /* when it was made, in ns since 1970 */
	uint64_t size;                /* size of the file */
	int64_t mtime;                /* mtime of the file, in ns since 1970 */
	uint64_t dev, ino;            /* identity of the file after the save */
	uint32_t uid;                 /* owner of the file */
	struct history_digest digest; /* digest of the file's bytes; zero if it was removed */
	uint64_t back; /* HISTORY_REMOVED: if not 0, an undo of version `back` removed the file */
	const char *view;    /* HISTORY_STEP: "" or the path of a view in the file */
	const char *program; /* "" where it is not known */
	const char *what;    /* description of the change, in one line */
};

struct history_log {
	struct history_entry *list; /* versions, sorted by number */
	size_t count, room;
	struct buf text; /* memory that holds the texts of all entries */
	bool torn;       /* the last line lacks its newline */
};
#define HISTORY_LOG_INIT                                                                           \
	{                                                                                          \
		NULL, 0, 0, BUF_INIT, false                                                        \
	}

struct history_digest history_digest_of(struct bytes bytes);
bool history_digest_same(const struct history_digest *a, const struct history_digest *b);

/*
 * Adds the versions in `text`, which it takes over. False when out of memory. The caller sets
 * `kept`.
 */
bool history_log_parse(struct history_log *l, struct buf *text);
void history_log_release(struct history_log *l);
/* Appends the line of an entry, with its newline. */
void history_log_line(const struct history_entry *e, struct buf *out);
/* Returns the index of a version by its number; SIZE_MAX: none. */
size_t history_log_find(const struct history_log *l, uint64_t number);
/* Returns the newest version; NULL if the log is empty. */
const struct history_entry *history_log_last(const struct history_log *l);

/* ---- in the folder of a file's versions ---- */

#define HISTORY_LOG "log"
#define HISTORY_NAME_SIZE 32
/* Writes the name of the file that holds the bytes of a version. */
void history_name(uint64_t number, char out[HISTORY_NAME_SIZE]);
bool history_log_keeps(int folder, uint64_t number);
/* Reads the whole log, and which versions are kept. 0 or an errno; a missing log is empty. */
int history_log_read(int folder, struct history_log *out);
/* Reads only the last lines into an empty log. */
int history_log_read_end(int folder, struct history_log *out);

/*
 * ---- which version an undo or a redo leads to ----
 *
 * Undo follows the versions back as they were made, past the versions that undo and redo made, so
 * that it can be repeated. Redo goes the same way forth, until an edit ends it. Both skip versions
 * that equal the present one within the scope, and those whose bytes are not available.
 */
struct history_scope {
	const char *view; /* that is undone; "": the file */
	/* Is version i equal to the last one within the scope? */
	bool (*same)(void *closure, size_t i);
	/* returns whether the bytes of version i are available */
	bool (*there)(void *closure, size_t i);
	void *closure;
};
/* Returns the index of the version that version i equals within the scope. */
size_t history_position(const struct history_log *l, const struct history_scope *s, size_t i);
/*
 * Return the index of the version that an undo or redo leads to, or SIZE_MAX. The log must not be
 * empty.
 */
size_t history_undo(const struct history_log *l, const struct history_scope *s);
size_t history_redo(const struct history_log *l, const struct history_scope *s);

#endif
