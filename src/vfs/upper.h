/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * upper.h - ordinary files beside views, and refused texts: their limits, and the folders of the
 * state directory that hold them, which have the path of the virtual folder.
 */
#ifndef ANIMFS_VFS_UPPER_H
#define ANIMFS_VFS_UPPER_H

#include "vfs.h"

/* a name counts for so many bytes, in addition to the file's size */
#define UPPER_ENTRY 4096
struct upper *upper_new(void); /* makes the counter of ordinary files; upper_free frees it */
void upper_free(struct upper *u);
/*
 * Accounts for more bytes in this area. Returns 0, or ENOSPC if the area's limit would be exceeded.
 */
int upper_grow(struct vfs *v, enum area area, uint64_t bytes);
/* Like upper_grow, for the file open as `fd`, which is about to get the size `size`. */
int upper_grow_to(struct vfs *v, const struct thing *thing, int fd, uint64_t size);
/* Appends a line for each animation that is gone but has files beside its views. */
void upper_list_orphans(struct vfs *v, struct buf *out);

/* Removes the upper folder of a virtual folder that was empty and has been removed. */
void upper_remove_folder(struct vfs *v, const struct node *parent, const char *name)
	EXCLUDES(vfs_class);
/*
 * Removes the upper folders, if they are empty, of an animation file that another program has
 * removed, or of the clips that only `before` has. Upper folders of other things stay, since a
 * program may be about to add files to them.
 */
void upper_remove_empty(struct vfs *v, const struct node *parent, const char *name)
	EXCLUDES(vfs_class);
void upper_remove_clips(struct vfs *v, const struct node *parent, const char *name,
			const struct version *before, const struct version *now)
	EXCLUDES(vfs_class);
/* Moves the upper folder of a virtual folder that has been renamed. */
void upper_move(struct vfs *v, const struct node *parent, const char *name,
		const struct node *new_parent, const char *new_name) EXCLUDES(vfs_class);

#endif
