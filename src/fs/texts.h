/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * texts.h - the texts of a folder that was filled: read all at once, and put away when it is known
 * what came of each.
 */
#ifndef ANIMFS_TEXTS_H
#define ANIMFS_TEXTS_H

#include "../fill.h"
#include "fs.h"

struct text_name {
	char *path; /* in the folder */
	int64_t born;
	bool folder;
};

struct texts {
	struct text_name *names;
	struct fill_text *list; /* of those that are files, in the same order */
	size_t count, room;
};

/*
 * What is in a real folder, and in its bones/ and frames/, in the order in which it came; folders
 * among them are only named. Only texts that are wanted, by their path, are read. 0 or an errno.
 */
int texts_read(struct fs *fs, int folder, bool (*wants)(const char *path), struct texts *texts);
void texts_release(struct texts *texts);

/* Keeps the refused ones as .rejected, with .error, and takes them out of the folder. */
void texts_keep_refused(struct fs *fs, int folder, const char *path, struct texts *texts);
/*
 * Takes the texts that came to something out of `folder`, which is to be called `path` from SOURCE
 * from now on; refused ones stay as .rejected, with .error. Ordinary files stay where they are.
 */
void texts_put_away(struct fs *fs, int folder, const char *path, struct texts *texts);

/* The folder is the clip's that the texts made; what is open in it, or somebody's working
 * directory, stays so. */
void fill_adopt_clip(struct fs *fs, struct node *folder, struct file *file,
		     const struct texts *texts);

#endif
