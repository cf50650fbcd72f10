/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * plain.h - files and folders that exist as such: in SOURCE, or, for virtual folders, in the folder
 * of the same path in the state directory.
 */
#ifndef ANIMFS_VFS_PLAIN_H
#define ANIMFS_VFS_PLAIN_H

#include "folder.h"
#include "handle.h"

/* Where a new plain thing in this folder lies. */
enum area area_for(const struct thing *parent);
/* The folder in which a node's plain children of an area are. ENOENT: there is none, and !make. */
int plain_folder(struct vfs *v, const struct target *parent, enum area area, bool make,
		 struct folder *out) EXCLUDES(vfs_class);
/*
 * A folder and name under which a plain node is now; ENOENT when it has no name, ESTALE when other
 * things stand there, or the node stands for another thing. name has NAME_MAX + 1 bytes.
 */
int plain_where(struct vfs *v, const struct target *t, struct folder *folder, char *name,
		struct stat *st) EXCLUDES(vfs_class);
/* Opens it, by its name or, where it has none any more, as a second opening of an open file. */
int plain_open(struct vfs *v, const struct target *t, int flags, int *fd) EXCLUDES(vfs_class);
/* An O_PATH descriptor of it, also of a symbolic link, or that of an open handle. */
int plain_pin(struct vfs *v, const struct target *t, int *fd) EXCLUDES(vfs_class);
/* A descriptor of any open handle of the node, duplicated; -1: there is none. */
int plain_borrow(struct vfs *v, const struct target *t) EXCLUDES(vfs_class);

/* The descriptor of a plain node's handle, opened now where a rename made it plain; or -1. */
int handle_descriptor(struct vfs *v, struct handle *h) EXCLUDES(vfs_class);

/* Its attributes as the mount shows them. */
void plain_show(const struct vfs *v, struct stat *st);
int plain_attributes(struct vfs *v, const struct target *t, struct stat *st) EXCLUDES(vfs_class);
/* An entry for what was just seen, or made, under this name in `folder`. */
int plain_entry(struct vfs *v, const struct target *parent, enum area area, int folder,
		const char *name, struct entry *out) EXCLUDES(vfs_class);
int plain_entry_found(struct vfs *v, const struct target *parent, enum area area, const char *name,
		      const struct identity *id, struct stat *st, struct entry *out)
	EXCLUDES(vfs_class);

/* A name is gone; st: what was there, when it was something plain, or NULL. */
void name_lost(struct vfs *v, struct node *parent, const char *name, const struct stat *st)
	EXCLUDES(vfs_class);
/* A plain thing lost a name, of which `st` says what it was. */
void plain_lost_name(struct vfs *v, struct node *node, const struct stat *st) REQUIRES(vfs_class);
/*
 * A folder that is about to lose its name may be open without our knowing: a descriptor of it, or
 * -1. Then the name is gone, and the folder's node gets the descriptor for as long as it lives; or
 * it is not, and parent is NULL.
 */
int plain_hold_folder(struct vfs *v, int parent, const char *name);
void plain_let_go(struct vfs *v, struct node *parent, const char *name, int fd) EXCLUDES(vfs_class);
/* Gives what the caller makes to the caller, where the daemon is not the caller. */
void plain_own(struct vfs *v, const struct request *who, int folder, const char *name);

#endif
