/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * upper.h - ordinary files beside views, and refused texts: how much may be put there, and the
 * folders of the state directory that have the path of a virtual folder.
 */
#ifndef ANIMFS_VFS_UPPER_H
#define ANIMFS_VFS_UPPER_H

#include "vfs.h"

/* What a name counts, beside what is in it. */
#define UPPER_ENTRY 4096
struct upper *upper_new(void); /* free by upper_free */
void upper_free(struct upper *u);
/* So much more comes into this area. ENOSPC where it is limited, and full. */
int upper_grow(struct vfs *v, enum area area, uint64_t bytes);
/* The same for a file, open as fd, that is to have this size. */
int upper_grow_to(struct vfs *v, const struct thing *thing, int fd, uint64_t size);
/* A line for each animation that has files beside its views and is gone. */
void upper_list_orphans(struct vfs *v, struct buf *out);

/* The virtual folder of this name is removed, and was empty. */
void upper_remove_folder(struct vfs *v, const struct node *parent, const char *name)
	EXCLUDES(vfs_class);
/*
 * Others took the animation in this folder away, or those of its clips that only `before` has. What
 * is there is not touched: somebody may be about to put something into it.
 */
void upper_remove_empty(struct vfs *v, const struct node *parent, const char *name)
	EXCLUDES(vfs_class);
void upper_remove_clips(struct vfs *v, const struct node *parent, const char *name,
			const struct version *before, const struct version *now)
	EXCLUDES(vfs_class);
/* What lies there for a folder goes where the folder goes; paths from SOURCE's root. */
void upper_move(struct vfs *v, const char *path, const char *new_path);

#endif
