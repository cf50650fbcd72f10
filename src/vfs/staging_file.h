/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * staging_file.h - what is in a staged folder under the name of an animation file, and what file
 * that comes to.
 *
 * Its raw.* is the file, and texts that differ from what that says are edits of it. Without one the
 * clips make a new file. Its skeleton is put beside that.
 *
 * The file is its maker's, who owns the folder from mkdir on, and has what was given to the folder
 * or to raw.*. Where nothing was given, or a kill made us forget it, it has the mode of raw.*, and
 * whom the folder kept out the file keeps out.
 */
#ifndef ANIMFS_VFS_STAGING_FILE_H
#define ANIMFS_VFS_STAGING_FILE_H

#include "staging_internal.h"

/* One folder of texts in it, which is to be a clip. */
struct clip_folder {
	char *name;
	int fd;
	struct texts texts;
	char label[NAME_MAX + 1]; /* of the clip that it came to; "": to none */
};

struct staged_file {
	struct vfs *v;
	struct staging *staging; /* NULL: it has no node */
	uint64_t touches;        /* of the folder, before anything was read */
	int parent;              /* the folder of SOURCE that it is in; borrowed */
	int fd;                  /* the folder itself; -1: it is not open */
	char *path, *folder;     /* of it, and of that which it is in, from SOURCE */
	char name[NAME_MAX + 1], aside[NAME_MAX + 1];
	struct animation *animation; /* what it becomes */
	struct version *base;        /* what raw.* says, or NULL */
	struct version *made;        /* what all of it says */
	struct buf raw;
	struct attributes as; /* what the file is to have beside its bytes */
	struct texts texts;   /* directly in it */
	struct clip_folder *clips;
	size_t clip_count;
	struct err err;
};
#define STAGED_FILE_INIT                                                                           \
	{                                                                                          \
		.parent = -1, .fd = -1, .raw = BUF_INIT, .as = ATTRIBUTES_INIT                     \
	}

/* Takes the path over (NULL: there was no memory). 0 or an errno. */
int staged_file_name(struct staged_file *f, char *path);
/* All that is in it, under the name that it has now. 0 or an errno. */
int staged_file_read(struct staged_file *f, const char *now) EXCLUDES(vfs_class);
/* Is there anything in it that an animation could be made of? */
bool staged_file_is_something(const struct staged_file *f);
/* What the file is to be; nothing is written yet. False, with or without err. */
bool staged_file_make(struct staged_file *f);
/* When the file is there: its skeleton, for as long as nobody else moves it. */
void staged_file_save_skeleton(struct staged_file *f);
void staged_file_keep_refused(struct staged_file *f);
/*
 * What came to something goes from the folder aside, and the rest becomes what lies beside the
 * views. True when nothing is left of the folder.
 */
bool staged_file_put_away(struct staged_file *f);
/*
 * Another file has come by the name and stays: the folder gets a name beside it that nothing else
 * has, where people find it.
 */
void staged_file_set_apart(struct staged_file *f);
void staged_file_release(struct staged_file *f) EXCLUDES(vfs_class);

#endif
