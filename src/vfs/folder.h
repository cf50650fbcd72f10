/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * folder.h - a cache of descriptors for folders of SOURCE.
 *
 * Every access to a plain thing uses its folder's descriptor and one name. A mount knows more
 * folders than a process may have descriptors, so the most recently used are kept; others are
 * opened again, component by component, from the nearest ancestor with a descriptor. If the folder
 * found is not the one that the node stands for, that is ESTALE.
 *
 * A thread that moves a name calls folders_hold_still before it moves it on disk, and
 * folders_let_move when the table of nodes has changed, so that a call that did not find a thing
 * under the name in the table can wait and look again.
 */
#ifndef ANIMFS_VFS_FOLDER_H
#define ANIMFS_VFS_FOLDER_H

#include "vfs.h"

/*
 * Descriptors are either used within one request, or kept: for files that programs have open, and
 * by this cache. This many stay free for the first kind, since without them not even a lookup would
 * work; if the process's limit is low, a quarter of it.
 */
#define DESCRIPTORS_RESERVED 64

/* the caller keeps `root` open until folders_free. NULL: no memory */
struct folders *folders_new(int root);
void folders_free(struct folders *f); /* after deadlines_stop; NULL is fine */
/*
 * Descriptors with this number or a higher one must not be kept. The kernel hands out the lowest
 * free number, so getting one of these means that all below are in use.
 */
int descriptors_end(const struct folders *f);

/* Recursive: call folders_let_move as often as folders_hold_still. */
void folders_hold_still(struct vfs *v) EXCLUDES(vfs_class);
void folders_let_move(struct vfs *v) EXCLUDES(vfs_class);

/* A descriptor on loan (O_PATH); give it back with folder_close. */
struct folder {
	int fd;
	int slot; /* -1: the root, or the caller's own descriptor */
	bool owned;
};
#define FOLDER_NONE                                                                                \
	{                                                                                          \
		-1, -1, false                                                                      \
	}

/*
 * Identity and attributes of a name in a folder, not following symbolic links; "": of the folder
 * itself. 0 or an errno.
 */
int identity_at(int folder, const char *name, struct identity *id, struct stat *st);

/* Borrows a descriptor of a plain folder of SOURCE. 0 or an errno. */
int folder_open(struct vfs *v, struct node *node, struct folder *out) EXCLUDES(vfs_class);
void folder_close(struct vfs *v, struct folder *folder) EXCLUDES(vfs_class);
/* The thing, or its folder, is gone: closes its descriptor. */
void folder_forget(struct vfs *v, const struct thing *thing) REQUIRES(vfs_class);
/*
 * Call it after others have renamed the folder. On a FUSE filesystem that did not see the rename,
 * descriptors of it and of folders below still refer to the old path: drops them, so that they are
 * opened again.
 */
void folder_moved(struct vfs *v, const struct node *node) REQUIRES(vfs_class);

#endif
