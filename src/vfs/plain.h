/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * plain.h - ordinary files and folders: in SOURCE or, if they are in a virtual folder, in the
 * folder of the same path in the state directory.
 */
#ifndef ANIMFS_VFS_PLAIN_H
#define ANIMFS_VFS_PLAIN_H

#include "folder.h"
#include "handle.h"

/* Returns the area for a new plain thing in this folder. */
enum area area_for(const struct thing *parent);
/*
 * Opens the folder on disk that holds the plain children of a node. ENOENT if there is none and
 * `make` is not set.
 */
int plain_folder(struct vfs *v, const struct target *parent, enum area area, bool make,
		 struct folder *out) EXCLUDES(vfs_class);
/*
 * Converts a name to the form in which it is stored: unchanged in SOURCE, else as in portable.h.
 * Returns 0 or an errno.
 */
int plain_name(enum area area, const char *name, char stored[NAME_MAX + 1]);
/*
 * Returns the folder and stored name that a plain node has now. ENOENT if it has no name; ESTALE if
 * another file has the name, or the node stands for another thing. `name` has NAME_MAX + 1 bytes.
 */
int plain_where(struct vfs *v, const struct target *t, struct folder *folder, char *name,
		struct stat *st) EXCLUDES(vfs_class);
/*
 * Opens the file of a plain node by its name or, if it no longer has one, through an open handle's
 * descriptor.
 */
int plain_open(struct vfs *v, const struct target *t, int flags, int *fd) EXCLUDES(vfs_class);
/* Opens the file behind a descriptor again; `opened` may also be from plain_pin. */
int plain_open_again(int opened, int flags, int *fd);
/*
 * Opens the file of a plain node with O_PATH (also a symbolic link), or duplicates an open handle's
 * descriptor.
 */
int plain_pin(struct vfs *v, const struct target *t, int *fd) EXCLUDES(vfs_class);
/* Duplicates the descriptor of any open handle of the node. Returns -1 if there is none. */
int plain_borrow(struct vfs *v, const struct target *t) EXCLUDES(vfs_class);

/*
 * Returns the descriptor of a plain node's handle. A handle of a view that a rename has turned
 * plain has none: opens it now. -1 on failure.
 */
int handle_descriptor(struct vfs *v, struct handle *h) EXCLUDES(vfs_class);

/*
 * Returns whether the kernel may keep its cached pages of a file. Only if the pages are of the
 * version that `st` describes, and were read when any later write was sure to change the version
 * (timestamps are coarse). `now` is a time from before `st` was read. Also notes that pages read
 * from now on belong to that version.
 */
bool plain_keeps_pages(struct vfs *v, struct node *node, const struct stat *st,
		       const struct timespec *now) EXCLUDES(vfs_class);

/* Changes attributes of a plain file to what the mount shows (uid=, gid=, umask=, inode number). */
void plain_show(const struct vfs *v, struct stat *st);
int plain_attributes(struct vfs *v, const struct target *t, struct stat *st) EXCLUDES(vfs_class);
/*
 * plain_entry makes an entry for the file of this name in `folder`; plain_entry_found for a file
 * that was just seen or made. moves: v->moves from before that. ESTALE if the file is a folder and
 * there were renames since, so that its name may be obsolete; ELOOP or ESTALE if it would be below
 * itself.
 */
int plain_entry(struct vfs *v, const struct target *parent, enum area area, int folder,
		const char *name, struct entry *out) EXCLUDES(vfs_class);
int plain_entry_found(struct vfs *v, const struct target *parent, enum area area, const char *name,
		      const struct identity *id, struct stat *st, unsigned moves, struct entry *out)
	EXCLUDES(vfs_class);

/*
 * Takes a name that is gone from its node. `st`: the attributes of its thing, if that was plain, or
 * NULL.
 */
void name_lost(struct vfs *v, struct node *parent, const char *name, const struct stat *st)
	EXCLUDES(vfs_class);
/* Notes that a plain thing has lost a name; `st` was its attributes. */
void plain_lost_name(struct vfs *v, struct node *node, const struct stat *st) REQUIRES(vfs_class);
/*
 * Keep a folder open that is about to lose its name, for a kernel that does not open folders, which
 * may be using it. plain_keep_folder opens it (-1: failed); when the name is gone, plain_let_go
 * gives the descriptor to the folder's node. If the name is not gone, or had no node, pass NULL,
 * which closes the descriptor.
 */
int plain_keep_folder(struct vfs *v, int parent, const char *name);
void plain_let_go(struct vfs *v, struct node *node, int fd) EXCLUDES(vfs_class);
/*
 * Returns the owner for a file that the caller has made in a folder. False: the file belongs to the
 * daemon's user.
 */
bool plain_owner(const struct request *who, int folder, uid_t *uid, gid_t *gid);
/* Makes the caller the owner of a file that was made for it in a folder; fd may be O_PATH. */
void plain_own(const struct request *who, int folder, int fd);

#endif
