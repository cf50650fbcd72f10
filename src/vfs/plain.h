/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * plain.h - ordinary files and folders: in SOURCE or, if they are in a virtual folder, in the
 * folder of the same path in the state directory.
 */
#ifndef ANIMFS_VFS_PLAIN_H
#define ANIMFS_VFS_PLAIN_H

#include "folder.h"
#include "handle.h"

/* The area for a new plain thing in this folder. */
enum area area_for(const struct thing *parent);
/*
 * Opens the folder on disk that holds the plain children of a node. ENOENT: there is none and
 * !make.
 */
int plain_folder(struct vfs *v, const struct target *parent, enum area area, bool make,
		 struct folder *out) EXCLUDES(vfs_class);
/* The stored form of a name: unchanged in SOURCE, else as in portable.h. 0 or an errno. */
int plain_name(enum area area, const char *name, char stored[NAME_MAX + 1]);
/*
 * The folder and stored name of a plain node now. ENOENT if it has no name; ESTALE if another file
 * has the name, or the node stands for another thing. `name` has NAME_MAX + 1 bytes.
 */
int plain_where(struct vfs *v, const struct target *t, struct folder *folder, char *name,
		struct stat *st) EXCLUDES(vfs_class);
/* Opens it by its name or, if it no longer has one, through an open handle's descriptor. */
int plain_open(struct vfs *v, const struct target *t, int flags, int *fd) EXCLUDES(vfs_class);
/* Opens the file of an open descriptor again, also one of plain_pin. */
int plain_open_again(int opened, int flags, int *fd);
/* Opens it with O_PATH (also a symbolic link), or duplicates an open handle's descriptor. */
int plain_pin(struct vfs *v, const struct target *t, int *fd) EXCLUDES(vfs_class);
/* Duplicates the descriptor of any open handle of the node; -1: none. */
int plain_borrow(struct vfs *v, const struct target *t) EXCLUDES(vfs_class);

/* The descriptor of a plain node's handle; opens it now if a rename turned a view plain; or -1. */
int handle_descriptor(struct vfs *v, struct handle *h) EXCLUDES(vfs_class);

/*
 * May the kernel keep its cached pages of a file? Only if they are of this version, and were read
 * when any later write was sure to change the version (timestamps are coarse). `now` is a time from
 * before `st` was read. Also notes that pages that are read from now on belong to `st`.
 */
bool plain_keeps_pages(struct vfs *v, struct node *node, const struct stat *st,
		       const struct timespec *now) EXCLUDES(vfs_class);

/* Changes attributes to what the mount shows (uid=, gid=, umask=, read-only). */
void plain_show(const struct vfs *v, struct stat *st);
int plain_attributes(struct vfs *v, const struct target *t, struct stat *st) EXCLUDES(vfs_class);
/*
 * Makes an entry for the file of this name in `folder`; the _found variant for one that was just
 * seen or made. moves: v->moves from before that; ESTALE if it is a folder and there were renames
 * since, because its name may be obsolete; ELOOP or ESTALE if it would be below itself.
 */
int plain_entry(struct vfs *v, const struct target *parent, enum area area, int folder,
		const char *name, struct entry *out) EXCLUDES(vfs_class);
int plain_entry_found(struct vfs *v, const struct target *parent, enum area area, const char *name,
		      const struct identity *id, struct stat *st, unsigned moves, struct entry *out)
	EXCLUDES(vfs_class);

/* Call it when a name is gone; `st`: the attributes of its thing, if that was plain, or NULL. */
void name_lost(struct vfs *v, struct node *parent, const char *name, const struct stat *st)
	EXCLUDES(vfs_class);
/* A plain thing has lost a name; `st` was its attributes. */
void plain_lost_name(struct vfs *v, struct node *node, const struct stat *st) REQUIRES(vfs_class);
/*
 * For a kernel that does not open folders, a folder that is about to lose its name may be in use.
 * plain_keep_folder opens it (-1: failed); when the name is gone, plain_let_go gives the descriptor
 * to the folder's node. If the name is not gone, or had no node, pass NULL, which closes it.
 */
int plain_keep_folder(struct vfs *v, int parent, const char *name);
void plain_let_go(struct vfs *v, struct node *node, int fd) EXCLUDES(vfs_class);
/* The owner for a file that the caller has made in a folder. False: the daemon's user. */
bool plain_owner(const struct request *who, int folder, uid_t *uid, gid_t *gid);
/* Makes the caller the owner of a file that was made for it in a folder; fd may be O_PATH. */
void plain_own(const struct request *who, int folder, int fd);

#endif
