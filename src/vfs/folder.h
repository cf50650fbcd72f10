/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * folder.h - a bounded number of descriptors for the folders of SOURCE that are in use.
 *
 * Every access to a plain thing is by its folder's descriptor and one name. A mount knows more
 * folders than a process may have descriptors, so those used last are kept and the others opened
 * again, component by component from the nearest one at hand; a folder that is not the one the node
 * stands for any more is ESTALE.
 *
 * A thread that moves a name holds folders_hold_still from before it moves on disk until the table
 * knows, so that a call that did not find a thing under its name in the table can look once more.
 */
#ifndef ANIMFS_VFS_FOLDER_H
#define ANIMFS_VFS_FOLDER_H

#include "vfs.h"

/*
 * Descriptors are of two kinds: those of one piece of work, and those that are kept, by programs
 * that have files open and by this table. So many stay free for the first kind, without which not
 * even a name could be looked up; a process that may have few keeps a quarter.
 */
#define DESCRIPTORS_RESERVED 64

struct folders *folders_new(int root); /* root stays the caller's. NULL: no memory */
void folders_free(struct folders *f);  /* after deadlines_stop; NULL is fine */
/*
 * No descriptor of this number or a higher one is kept. The kernel gives the lowest that is free:
 * where it gives one of these, all below are in use.
 */
int descriptors_end(const struct folders *f);

/* The thread that holds it may hold it again, and then lets go as often. */
void folders_hold_still(struct vfs *v) EXCLUDES(vfs_class);
void folders_let_move(struct vfs *v) EXCLUDES(vfs_class);

/* A descriptor on loan (O_PATH); give it back with folder_close. */
struct folder {
	int fd;
	int slot; /* -1: the root, or the borrower's own descriptor */
	bool owned;
};
#define FOLDER_NONE                                                                                \
	{                                                                                          \
		-1, -1, false                                                                      \
	}

/*
 * What is in a folder under this name, not following links; "" is what the descriptor is of.
 * 0 or an errno.
 */
int identity_at(int folder, const char *name, struct identity *id, struct stat *st);

/* The descriptor of a plain folder of SOURCE. 0 or an errno. */
int folder_open(struct vfs *v, struct node *node, struct folder *out) EXCLUDES(vfs_class);
void folder_close(struct vfs *v, struct folder *folder) EXCLUDES(vfs_class);
/* The thing is gone, or its folder: no descriptor is kept for it. */
void folder_forget(struct vfs *v, const struct thing *thing) REQUIRES(vfs_class);

#endif
