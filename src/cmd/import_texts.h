/* SPDX-License-Identifier: GPL-3.0-or-later */
/* import_texts.h - the texts in the exported folder of an animation file. */
#ifndef ANIMFS_CMD_IMPORT_TEXTS_H
#define ANIMFS_CMD_IMPORT_TEXTS_H

#include "import_clips.h"

struct import_texts {
	struct import_text *list; /* texts, sorted by path */
	size_t count, room;
	size_t max_text, max_file; /* limits on sizes; max_file applies to raw.* */
	bool all;                  /* include texts that are unchanged according to the stamp */
	size_t read;               /* size of all texts read, in bytes */
};

/*
 * Reads all texts in the folder and below. Adds those that differ from the stamp, or all. Skips
 * names that begin with a dot, and anything but files. False, with err set, on failure.
 */
bool import_texts_read(struct import_texts *t, int folder, const struct stamp *stamp,
		       struct err *err);
void import_texts_release(struct import_texts *t);

#endif
