/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * import_edit.h - the edited texts of one animation file, as one edit of it.
 *
 * What is said of a clip or file as a whole (clip.json, file.json, frames.csv) is applied first.
 * All other texts are read as edits of that, each for itself: two may say the same of a curve, and
 * where they disagree the second is refused, so that nothing that was typed is lost in silence. New
 * clips come last.
 */
#ifndef ANIMFS_IMPORT_EDIT_H
#define ANIMFS_IMPORT_EDIT_H

#include "../fill.h"
#include "../store/tree.h"
#include "stamp.h"

struct import_text {
	char *path; /* in the folder of the file: "walk/bones/hips.csv" */
	struct buf text;
	struct stamp_text *noted; /* as it was exported; NULL: not known */
	bool found;               /* the file has this view, */
	struct place place;       /* here, */
	text_hash now;            /* and says this */
	bool used;                /* it is part of the edit */
	struct anim *edited;      /* what it alone makes of the file */
	struct err err;           /* why it is refused */
};

struct import_edit {
	struct tree tree; /* the file */
	struct import_text *texts;
	size_t count;
	/* What follows is the answer; zero before. */
	const struct anim *model; /* that of the file where nothing changes it */
	struct anim *merged;
	struct fill *fill;
};

/*
 * False where a text is refused (its err says why), or with err. Generated texts, raw.* and the
 * skeleton are left to the caller, with `used` false. Release it in either case.
 */
bool import_edit(struct import_edit *e, struct err *err);
void import_edit_release(struct import_edit *e);

#endif
