/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * staging_texts.h - the texts of a staged folder: read all at once, and put away when it is known
 * what came of each.
 */
#ifndef ANIMFS_VFS_STAGING_TEXTS_H
#define ANIMFS_VFS_STAGING_TEXTS_H

#include "fill.h"
#include "vfs.h"

struct text_name {
	char *path; /* in the folder */
	int64_t born;
	struct stat st; /* when it was listed */
};

struct texts {
	struct text_name *names;
	struct fill_text *list; /* in the same order; path "" where it is no text */
	size_t count, room;
};
#define TEXTS_INIT                                                                                 \
	{                                                                                          \
		NULL, NULL, 0, 0                                                                   \
	}

/*
 * What is in a plain folder, and in its bones/ and frames/, in the order in which it came; folders
 * among them are only named. Only texts that are wanted, by their path, are read. False and err
 * when one of them, or its name, cannot be read: what is not known is not to be lost.
 */
bool texts_read(struct vfs *v, int folder, bool (*wants)(const char *path), struct texts *t,
		struct err *err);
void texts_release(struct texts *t);

/*
 * Keeps the refused ones as .rejected of the folder that is named `path` from SOURCE, with .error,
 * and takes them out of `folder`. They are generated then; one that cannot be kept is an extra.
 */
void texts_keep_refused(struct vfs *v, int folder, const char *path, struct texts *t);
/* Takes the texts that came to something out of the folder. What else is in it stays. */
void texts_put_away(int folder, struct texts *t);

#endif
