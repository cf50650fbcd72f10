/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * export_folder.h - the folder of an animation file, as a mount shows it, written to a disk.
 *
 * A new folder is written under another name and renamed when it is complete. In an existing folder
 * each text that differs is replaced, and other files stay. If a text was edited since it was
 * written, nothing is replaced (unless `force`).
 */
#ifndef ANIMFS_CMD_EXPORT_FOLDER_H
#define ANIMFS_CMD_EXPORT_FOLDER_H

#include "progress.h"
#include "store/digests.h"
#include "store/tree.h"

struct folder_export {
	struct tree tree;
	view_set listed;
	struct timespec mtime; /* mtime to set on the texts */
	const char *made_of;   /* description of the inputs, for the stamp */
	int parent;            /* the folder to write into */
	const char *name;      /* the name of the new folder */
	bool force;            /* also replaces edited texts */
	/* if not NULL, gets the digests of the exported texts, as texts of version `number` */
	struct digests *known;
	uint32_t number;
	/*
	 * Number of folders up to the site whose player the pages share; 0: each page has its
	 * own.
	 */
	unsigned site_depth;
	const struct progress *progress;
	size_t bytes; /* result: size of all texts in bytes */
};

/* Exports a file. False and err; ERR_CONFLICT if edited texts would be replaced. */
bool export_folder(struct folder_export *x, struct err *err);

/* Was the folder `name` of `parent` made from exactly these inputs? */
bool export_is_current(int parent, const char *name, const char *file_name, const char *made_of);

/* ---- for other layouts ---- */

/* Makes the missing folders of a relative path. 0 or an errno. */
int export_make_folders(int root, const char *path, int *fd);
/*
 * The temporary name of a file or folder while it is written: always the same for one name, so that
 * leftovers of a killed export are found again. The writer holds the lock, a file beside it, so
 * that exports of the same name take turns.
 */
#define PART_NAME_SIZE 48
struct export_part {
	int parent, lock;
	char name[PART_NAME_SIZE], lock_name[PART_NAME_SIZE];
};
/*
 * Waits for another export that writes `name` in `parent`, and removes leftovers of a killed one. 0
 * or an errno: EINTR if progress was stopped. Call export_part_end in either case.
 */
int export_part_begin(struct export_part *part, int parent, const char *name,
		      const struct progress *progress);
/* Makes a folder with the part's name. 0 or an errno. */
int export_part_folder(const struct export_part *part, int *fd);
/* Removes the file or folder with the part's name, if it still exists. */
void export_part_end(struct export_part *part);
/* Makes a new file with dirfd_make. 0 or an errno. */
int export_put_file(int folder, const char *name, struct bytes text, const struct timespec *mtime);
/* Removes a folder and everything in it. */
void export_remove(int parent, const char *name);

#endif
