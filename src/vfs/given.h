/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * given.h - attributes that programs set on a view, or on the folder of a clip and folders in it.
 * They are remembered by name until the mount ends, never make a save fail, and are never applied
 * to the animation file.
 */
#ifndef ANIMFS_VFS_GIVEN_H
#define ANIMFS_VFS_GIVEN_H

#include "view.h"

/* Limits of the size of remembered extended attributes, in bytes. */
#define GIVEN_XATTRS_MAX (64 << 10)
#define GIVEN_ALL_MAX (64 << 20)

struct given_xattr {
	struct given_xattr *next;
	size_t size;
	uint8_t *value; /* value of the attribute, in a heap block of its own */
	char name[];
};

struct given {
	bool has_mode, has_uid, has_gid, has_atime, has_mtime;
	mode_t mode;
	uid_t uid;
	gid_t gid;
	struct timespec atime, mtime;
	/*
	 * the view's mtime at the time when a program set its mtime; the set one counts only while
	 * the view keeps this one
	 */
	struct timespec age;
	struct given_xattr *xattrs;
	size_t charged; /* size of xattrs in bytes, also counted in vfs->given */
};

/*
 * Returns whether attributes of this thing are remembered here. Otherwise, as for raw.*, they are
 * those of the animation file, or of a plain file.
 */
bool given_is_for(const struct thing *thing);
/* Returns the attributes remembered for the node's name; NULL if there are none. */
struct given *given_find(const struct node *node) REQUIRES(vfs_class);
/*
 * Like given_find, but makes an empty record if there is none. NULL: no memory, or the node has no
 * name.
 */
struct given *given_need(struct vfs *v, struct node *node) REQUIRES(vfs_class);
/*
 * Forgets the attributes remembered for a folder and below it, before the folder loses its name for
 * good. (The records hold references to the folders' nodes, and so to the animation.)
 */
void given_forget(struct vfs *v, const struct node *folder) REQUIRES(vfs_class);
/*
 * Forgets the attributes of a view that is removed, so that the next thing with its name has none.
 */
void given_lose(struct vfs *v, struct node *node) REQUIRES(vfs_class);
/* Moves the attributes remembered for this name to the node `now`, which was renamed from it. */
void given_move(struct vfs *v, const struct node *parent, const char *name, struct node *now)
	REQUIRES(vfs_class);
void given_free(struct vfs *v, struct given *g); /* NULL is fine */
/* changes *st to the attributes remembered in `g`; NULL is fine */
void given_apply(const struct given *g, struct stat *st);
/* Remembers the mode, and adapts a remembered ACL to it. */
void given_mode(struct given *g, mode_t mode);
/* Makes the view show this mtime until its text changes. */
void given_mtime(struct vfs *v, const struct target *t, struct timespec mtime) EXCLUDES(vfs_class);

/* Appends an extended attribute to `out`. Returns 0, ENODATA if it was not set, or ENOMEM. */
int given_xattr(struct vfs *v, const struct target *t, const char *name, struct buf *out)
	EXCLUDES(vfs_class);
/* Appends the names of the extended attributes, each with its NUL. */
void given_list_xattrs(struct vfs *v, const struct target *t, struct buf *out) EXCLUDES(vfs_class);
/*
 * Sets an extended attribute, like setxattr(). Returns 0 or an errno: ENOSPC beyond
 * GIVEN_XATTRS_MAX bytes, names included, for the attributes of one file, or GIVEN_ALL_MAX for the
 * whole mount.
 */
int given_set_xattr(struct vfs *v, struct given *g, const char *name, struct bytes value, int flags)
	REQUIRES(vfs_class);
/* Removes an extended attribute. Returns 0, or ENODATA if it is not set. */
int given_remove_xattr(struct vfs *v, struct given *g, const char *name) REQUIRES(vfs_class);

#endif
