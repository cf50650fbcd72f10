/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * where.h - the place of an animation file. Valid for the duration of the call that it is passed
 * to.
 */
#ifndef ANIMFS_STORE_WHERE_H
#define ANIMFS_STORE_WHERE_H

#include "disk/history.h"

/*
 * A lock that is held while a new file gets its name: acquired once the file is written, and
 * released while the commit waits for another process. After a wait the commit starts from the
 * beginning, since earlier results may be obsolete. If `acquire` returns an errno, the commit fails
 * with it and makes nothing.
 */
struct turn {
	void (*release)(void *closure);
	int (*acquire)(void *closure);
	void *closure;
};

struct loose;
struct version;

/*
 * Called when a commit has replaced version `was` by `made`, before any other thread can get `made`
 * from the source.
 */
struct commit_hook {
	void (*committed)(void *closure, struct version *was, struct version *made);
	void *closure;
};

struct where {
	int dir;            /* descriptor of the file's folder; -1: there is no folder */
	const char *folder; /* path of that folder from SOURCE, without slashes at the ends */
	/*
	 * Path of that folder from the highest one that may be read, for siblings.h; it ends like
	 * `folder`. NULL: that is SOURCE.
	 */
	const char *above;
	const char *name;                /* name of the file on disk */
	const struct turn *turn;         /* for source_put_new; NULL: the caller keeps its locks */
	const struct commit_hook *hook;  /* NULL: none */
	const struct history_note *note; /* the program that saves (history.h); NULL: unknown */
	const uid_t *writer;             /* the user that saves; NULL: unknown */
	/*
	 * The file is the loose file of a member of an archive (overlay.h): while it does not
	 * exist, the member's bytes are read, and a commit makes it. Its folder need not exist:
	 * then `dir` is -1. NULL: it is a file like any other.
	 */
	const struct loose *loose;
};

/* The file, as history.h names it. */
static inline struct history_file where_file(const struct where *where)
{
	return (struct history_file){
		.dir = where->dir, .folder = where->folder, .name = where->name};
}

static inline void where_committed(const struct where *where, struct version *was,
				   struct version *made)
{
	if (where->hook)
		where->hook->committed(where->hook->closure, was, made);
}

/* The name under which it is decoded and shown. */
const char *where_label(const struct where *where);

#endif
