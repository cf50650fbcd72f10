/* SPDX-License-Identifier: GPL-3.0-or-later */
/* versions.h - the versions of a file, or of one of its views, for commands. */
#ifndef ANIMFS_CMD_VERSIONS_H
#define ANIMFS_CMD_VERSIONS_H

#include "cmd.h"

#include "disk/history_undo.h"

struct versions {
	struct target t; /* the operand; not read yet, and `inside` is "" for the whole file */
	struct history_file file;
	struct history_book book;
	/* name of the file whose versions these are, if it is not the operand itself */
	char name[NAME_MAX + 1];
	struct buf live; /* bytes of the file, if it exists */
	bool is_there;
};

/*
 * Finds the file of a path, which need not exist any more, and its versions. False and err: number
 * is ENODATA if there are none. FILE/skeleton.csv is the file beside FILE, FILE/raw.X is FILE.
 * Release it in either case.
 */
bool versions_open(struct versions *v, const char *path, const struct command *command,
		   struct err *err);
/* Reads file and log again with the lock held, in case they were read in the middle of a save. */
bool versions_settle(struct versions *v, struct err *err);
void versions_release(struct versions *v);
/* Is the file equal to its last version? */
bool versions_current(const struct versions *v);
/* Are the bytes of version i available? */
bool versions_have(const struct versions *v, size_t i);
/* Gets the bytes of version i. */
bool versions_bytes(const struct versions *v, size_t i, struct buf *out, struct err *err);
/* Decodes version i; the caller gets a reference. NULL, with err set, on failure. */
struct version *versions_decode(struct versions *v, size_t i, struct err *err);
/* Gets the view's text in version i. False if it had none; with err set on another failure. */
bool versions_text(struct versions *v, size_t i, struct buf *out, struct err *err);
/* Checks that the view exists in some version or else in the latest file; if not, ERR_OPERAND. */
bool versions_check_view(struct versions *v, struct err *err);
/* Gets the index of the version whose number was typed. False, with err set, if there is none. */
bool versions_number(const struct versions *v, const char *number, size_t *i, struct err *err);
/* Prints one line about a version. */
void versions_print(const struct versions *v, size_t i);
/* Appends version i as a JSON line of the format animfs.log/1. `path`: the operand. */
void versions_write_json(const struct versions *v, size_t i, const char *path, struct buf *out);

#endif
