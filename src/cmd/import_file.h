/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * import_file.h - the edited texts of one folder saved into its animation file, all or none; or the
 * file made of them, where there is none.
 */
#ifndef ANIMFS_IMPORT_FILE_H
#define ANIMFS_IMPORT_FILE_H

#include "../state.h"
#include "../store/tree.h"

enum import_outcome { IMPORT_SAME, IMPORT_CHANGED, IMPORT_MADE, IMPORT_REJECTED };

struct import_file {
	struct store *store;
	struct state *state;
	const char *path;   /* the animation file, from SOURCE */
	const char *name;   /* and its last part */
	const char *folder; /* and what stands before it */
	const char *shown;  /* the folder of texts, as it is called in messages */
	int source;         /* SOURCE */
	int texts;          /* the folder of texts */
	bool dry_run;       /* only finds out */
	size_t max_text, max_file;
	/* The answer. */
	size_t read;     /* bytes of text */
	size_t rejected; /* texts */
	struct buf messages;
	struct buf rejects; /* the same as JSON, a comma before each */
	struct err err;     /* of IMPORT_REJECTED, where it is not about a text */
};

enum import_outcome import_file(struct import_file *f);
/* Adds to `rejects` what is wrong with this path; `text` is what the place is in. */
void import_reject(struct import_file *f, const char *path, struct bytes text,
		   const struct err *err);

#endif
