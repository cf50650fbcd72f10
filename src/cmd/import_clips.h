/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * import_clips.h - the texts of one animation file, and the clips in its folder that the file
 * does not have.
 */
#ifndef ANIMFS_CMD_IMPORT_CLIPS_H
#define ANIMFS_CMD_IMPORT_CLIPS_H

#include "edit/assembly.h"
#include "stamp.h"
#include "store/copied.h"

struct import_text {
	char *path; /* path of the text from the file's folder: "walk/bones/hips.csv" */
	struct buf text;
	struct stamp_text *noted; /* entry of the text in the stamp; NULL: none */
	enum copied_fate fate;
	bool used;      /* the values of the text are in the file, or will be */
	struct err err; /* the reason why the text is refused, if it is */
};

struct import_clips {
	const char *file_name;
	struct import_text *texts;
	size_t count;
	bool all;                          /* texts that were exported may make clips too */
	const struct hierarchy *hierarchy; /* of texts of another format; may be NULL */
	/* Set before the call without new clips, afterwards with them. */
	const struct anim *model;
	struct assembly *assembly; /* assembly that owns the new model */
};

/*
 * Makes a clip of each folder with texts of a clip that the model does not have (COPIED_OTHER).
 * False if a text is refused (text->err), or with err. Release it in either case.
 */
bool import_clips(struct import_clips *c, struct err *err);
void import_clips_release(struct import_clips *c);

#endif
