/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * given.h - attributes that programs set on a view, or on the folder of a clip and those in it:
 * remembered by name until the mount ends, never a reason for a save to fail, never applied to the
 * animation file.
 */
#ifndef ANIMFS_VFS_GIVEN_H
#define ANIMFS_VFS_GIVEN_H

#include "view.h"

/* Limits of extended attributes, in bytes. */
#define GIVEN_XATTRS_MAX (64 << 10)
#define GIVEN_ALL_MAX (64 << 20)

struct given_xattr {
	struct given_xattr *next;
	size_t size;
	uint8_t *value; /* allocated by itself */
	char name[];
};

struct given {
	bool has_mode, has_uid, has_gid, has_atime, has_mtime;
	mode_t mode;
	uid_t uid;
	gid_t gid;
	struct timespec atime, mtime;
	/* the view's mtime when the mtime was set: it counts only while the view does not change */
	struct timespec age;
	struct given_xattr *xattrs;
	size_t charged; /* bytes of xattrs, also counted in vfs->given */
};

/*
 * Are attributes of this thing remembered here? Otherwise they are those of the animation file, or
 * of a plain file. Of raw.* only the size is remembered.
 */
bool given_is_for(const struct thing *thing);
/* The attributes remembered for the node's name; NULL: none. */
struct given *given_find(const struct node *node) REQUIRES(vfs_class);
/*
 * As given_find, but makes an empty record if there is none. NULL: no memory, or the node has no
 * name.
 */
struct given *given_need(struct vfs *v, struct node *node) REQUIRES(vfs_class);
/*
 * The folder is about to lose its name for good: forgets the attributes remembered for it and below
 * it. (These hold references to the folders' nodes, and so to the animation.)
 */
void given_forget(struct vfs *v, const struct node *folder) REQUIRES(vfs_class);
/* The view is removed: forgets its attributes, so that the next thing of its name has none. */
void given_lose(struct vfs *v, struct node *node) REQUIRES(vfs_class);
/* Moves the attributes remembered for this name to `now`, the node that was renamed from it. */
void given_move(struct vfs *v, const struct node *parent, const char *name, struct node *now)
	REQUIRES(vfs_class);
void given_free(struct vfs *v, struct given *g);          /* NULL is fine */
void given_apply(const struct given *g, struct stat *st); /* NULL is fine */
/* Remembers the mode, and adapts a remembered ACL to it. */
void given_mode(struct given *g, mode_t mode);
/* Gives the view this mtime until its text changes. */
void given_mtime(struct vfs *v, const struct target *t, struct timespec mtime) EXCLUDES(vfs_class);

/* Appends an extended attribute to `out`. 0, ENODATA if it was not set, or ENOMEM. */
int given_xattr(struct vfs *v, const struct target *t, const char *name, struct buf *out)
	EXCLUDES(vfs_class);
/* Appends the names of extended attributes, each with its NUL. */
void given_list_xattrs(struct vfs *v, const struct target *t, struct buf *out) EXCLUDES(vfs_class);
/*
 * Like setxattr(). 0 or an errno: ENOSPC beyond GIVEN_XATTRS_MAX bytes, names included, for one
 * name, or GIVEN_ALL_MAX for the whole mount.
 */
int given_set_xattr(struct vfs *v, struct given *g, const char *name, struct bytes value, int flags)
	REQUIRES(vfs_class);
/* 0, or ENODATA if there is none. */
int given_remove_xattr(struct vfs *v, struct given *g, const char *name) REQUIRES(vfs_class);

#endif
