/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * staging.h - staged folders: ones that a program creates and fills with texts, in an animation's
 * folder to make a clip or, with the name of an animation file, to make that file.
 */
#ifndef ANIMFS_VFS_STAGING_H
#define ANIMFS_VFS_STAGING_H

#include "staging_given.h"

struct stagings *stagings_new(void);      /* NULL: no memory */
void stagings_free(struct stagings *all); /* after stagings_end; NULL is fine */
/* Is a plain folder of this name, created here, to be staged? */
bool staging_wanted(struct vfs *v, const struct thing *parent, const char *name)
	EXCLUDES(vfs_class);
/*
 * Stages a folder that was just made by `who`, or renamed (NULL). An errno if it cannot be noted in
 * the state directory: the folder stays plain.
 */
int staging_begin(struct vfs *v, const struct request *who, const struct target *folder)
	EXCLUDES(vfs_class);
/* If the folder is staged: it had this name, and was removed or renamed. Ends the staging. */
void staging_forget(struct vfs *v, const struct target *folder, const struct node *parent,
		    const char *name) EXCLUDES(vfs_class);
/* Something happens to a plain thing: if it is in a staged folder, restarts the wait of that. */
void staging_touch(struct vfs *v, const struct node *node) EXCLUDES(vfs_class);
void staging_note_touch(struct vfs *v, const struct node *node) REQUIRES(vfs_class);
/*
 * The program of `who` is about to read a folder. If the folder is being turned into a clip or
 * file, waits for that. Once a program other than the folder's maker has read it, the end of the
 * maker no longer ends the staging.
 */
void staging_visit(struct vfs *v, const struct request *who, uint64_t folder) EXCLUDES(vfs_class);
/*
 * Notes which attributes were set on a staged folder, or a file in it (bits 1 << GIVEN_...), for
 * the file that the folder becomes. Includes staging_touch.
 */
void staging_given(struct vfs *v, const struct request *who, const struct node *node, unsigned what)
	EXCLUDES(vfs_class);
/*
 * Ends all staged folders below `above` (which the kernel may have locked for this request), or all
 * there are (NULL), now. 0 or the first errno. With `above`, a folder in which a file is open for
 * writing continues.
 */
int stagings_finish(struct vfs *v, const struct node *above) EXCLUDES(vfs_class);
/*
 * Ends all at the end of the mount; those that cannot become anything are left to the next mount.
 */
void stagings_end(struct vfs *v) EXCLUDES(vfs_class);
/* Stages the folders that an earlier mount left. */
void stagings_resume(struct vfs *v);

#endif
