/* SPDX-License-Identifier: GPL-3.0-or-later */
/* import_texts.h - the texts in the exported folder of an animation file. */
#ifndef ANIMFS_IMPORT_TEXTS_H
#define ANIMFS_IMPORT_TEXTS_H

#include "import_edit.h"

struct import_texts {
	struct import_text *list; /* by path */
	size_t count, room;
	size_t max_text, max_file; /* the largest that are read; raw.* is a file */
	size_t read;               /* bytes of all that were looked at */
};

/*
 * Reads all texts in the folder and in those in it, and adds those that are not as the stamp notes
 * them. Names that begin with a dot, and what is no file, are passed over. False and err.
 */
bool import_texts_read(struct import_texts *t, int folder, const struct stamp *stamp,
		       struct err *err);
void import_texts_release(struct import_texts *t);

#endif
