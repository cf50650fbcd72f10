/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * folder.h - a cache of descriptors for folders of SOURCE.
 *
 * Every access to a plain thing uses its folder's descriptor and one name. A mount knows more
 * folders than a process may have descriptors, so the most recently used are kept; others are
 * opened again, component by component, from the nearest ancestor with a descriptor. If the folder
 * that is found is not the one that the node stands for, the result is ESTALE.
 *
 * A thread that moves a name calls folders_hold_still before it moves it on disk, and
 * folders_let_move when the table of nodes has changed, so that a call that did not find a thing
 * under the name in the table can wait and look again.
 */
#ifndef ANIMFS_VFS_FOLDER_H
#define ANIMFS_VFS_FOLDER_H

#include "vfs.h"

/*
 * How many descriptors stay free for requests; if the process's limit is low, a quarter of it.
 * Other descriptors are kept: for files that programs have open, and by this cache. Without free
 * ones not even a lookup would work.
 */
#define DESCRIPTORS_RESERVED 64

/* Makes the cache. The caller keeps `root` open until folders_free. NULL: no memory. */
struct folders *folders_new(int root);
void folders_free(struct folders *f); /* call it after deadlines_stop; NULL is fine */
/*
 * Returns the first number that a descriptor must not have if it is to be kept. The kernel hands
 * out the lowest free number, so getting this one or a higher one means that all below are in use.
 */
int descriptors_end(const struct folders *f);

/*
 * Keeps other threads from moving names, until folders_let_move. Recursive: call folders_let_move
 * as often.
 */
void folders_hold_still(struct vfs *v) EXCLUDES(vfs_class);
void folders_let_move(struct vfs *v) EXCLUDES(vfs_class);

/* A descriptor on loan (O_PATH); give it back with folder_close. */
struct folder {
	int fd;
	int slot; /* slot in the cache; -1: the descriptor is the root's, or the caller's own */
	bool owned;
};
#define FOLDER_NONE                                                                                \
	{                                                                                          \
		-1, -1, false                                                                      \
	}

/*
 * Reads identity and attributes of a name in a folder, not following symbolic links; of the folder
 * itself if `name` is "". Returns 0 or an errno.
 */
int identity_at(int folder, const char *name, struct identity *id, struct stat *st);

/* Borrows a descriptor of a plain folder of SOURCE. Returns 0 or an errno. */
int folder_open(struct vfs *v, struct node *node, struct folder *out) EXCLUDES(vfs_class);
void folder_close(struct vfs *v, struct folder *folder) EXCLUDES(vfs_class);
/* Drops the cached descriptor of a folder whose thing is being freed, or which is gone. */
void folder_forget(struct vfs *v, const struct thing *thing) REQUIRES(vfs_class);
/*
 * Drops the descriptors of a folder that others have renamed, and of folders below, so that they
 * are opened again: on a FUSE filesystem that did not see the rename, they still refer to the old
 * path.
 */
void folder_moved(struct vfs *v, const struct node *node) REQUIRES(vfs_class);

#endif
