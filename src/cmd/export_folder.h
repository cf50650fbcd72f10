/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * export_folder.h - the folder of an animation file, as a mount shows it, written to a disk.
 *
 * One that is not there yet is written under another name and renamed when it is whole. In one that
 * is there each text is replaced by itself, where it says something else; what people put beside
 * them stays. A text that was edited since it was written is not replaced, and then none is.
 */
#ifndef ANIMFS_EXPORT_FOLDER_H
#define ANIMFS_EXPORT_FOLDER_H

#include "../store/tree.h"
#include "progress.h"

struct folder_export {
	struct tree tree;
	view_set listed;
	struct timespec mtime; /* that the texts get */
	const char *made_of;   /* for the stamp */
	int parent;            /* the folder that it is written into */
	const char *name;      /* what it is called there */
	bool force;            /* replaces edited texts, too */
	const struct progress *progress;
	size_t bytes; /* of text: the answer */
};

/* False and err; ERR_CONFLICT where it would replace what people wrote. */
bool export_folder(struct folder_export *x, struct err *err);

/* Has the folder `name` of `parent` been made of just this? */
bool export_is_current(int parent, const char *name, const char *file_name, const char *made_of);

/* ---- what other layouts are written with ---- */

/* The folders of a relative path, made where missing. 0 or an errno. */
int export_make_folders(int root, const char *path, int *fd);
/*
 * What a file or a folder is called beside its own name while it is written: the same for the same
 * name, so that what a killed export left is found again. Whoever writes it holds the lock, a file
 * beside it, so that exports that are at the same name take their turn.
 */
#define PART_NAME_SIZE 48
struct export_part {
	int parent, lock;
	char name[PART_NAME_SIZE], lock_name[PART_NAME_SIZE];
};
/*
 * Waits for whoever writes `name` in `parent`, and removes what a killed export left. 0 or an
 * errno: EINTR when progress says so. Ended in either case.
 */
int export_part_begin(struct export_part *part, int parent, const char *name,
		      const struct progress *progress);
/* A folder of the part's name. 0 or an errno. */
int export_part_folder(const struct export_part *part, int *fd);
/* Removes the part, if it still has that name. */
void export_part_end(struct export_part *part);
/* A new file, as at_make makes one. 0 or an errno. */
int export_put_file(int folder, const char *name, struct bytes text, const struct timespec *mtime);
/* A folder and all that is in it. */
void export_remove(int parent, const char *name);

#endif
