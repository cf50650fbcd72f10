/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * import_file.h - imports the edited texts of one folder into its animation file, all or none, or
 * makes the file if it does not exist. A member of an archive is saved as a loose file.
 */
#ifndef ANIMFS_CMD_IMPORT_FILE_H
#define ANIMFS_CMD_IMPORT_FILE_H

#include "disk/state.h"
#include "store/tree.h"

enum import_outcome { IMPORT_SAME, IMPORT_CHANGED, IMPORT_MADE, IMPORT_REJECTED };

struct import_file {
	struct store *store;
	struct state *state;
	const char *path; /* path of the animation file from SOURCE */
	/* loose file of the member, if the file is a member of an archive; or NULL */
	const struct loose *loose;
	const char *name;                /* the last part of path */
	const char *folder;              /* the part of path before the name */
	const char *shown;               /* path of the folder of texts, for messages */
	const struct history_note *note; /* the program that saves, for the history */
	int source;                      /* descriptor of SOURCE */
	int texts;                       /* descriptor of the folder of texts */
	bool dry_run;                    /* check only; do not change anything */
	bool verbose;                    /* also list ignored texts in messages */
	size_t max_text, max_file;
	/* fields below are results */
	size_t read;     /* size of all texts read, in bytes */
	size_t rejected; /* number of refused texts */
	size_t silent;   /* old texts that were ignored although the file has other values */
	struct buf messages;
	struct buf rejects; /* the refusals as JSON, each after a comma */
	struct err err;     /* reason for IMPORT_REJECTED, unless it is about a text */
};

enum import_outcome import_file(struct import_file *f);
/* Adds to `rejects` the reason why this path is refused; the place counts in `text`. */
void import_reject(struct import_file *f, const char *path, struct bytes text,
		   const struct err *err);

#endif
