/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * given.h - attributes that were given to a view, or to a clip's folder and those in it: remembered
 * by name while the mount lives, never a reason for a save to fail, never passed to the binary.
 */
#ifndef ANIMFS_VFS_GIVEN_H
#define ANIMFS_VFS_GIVEN_H

#include "view.h"

struct given_xattr {
	struct given_xattr *next;
	size_t size;
	uint8_t *value; /* its own allocation */
	char name[];
};

struct given {
	bool has_mode, has_uid, has_gid, has_atime, has_mtime;
	mode_t mode;
	uid_t uid;
	gid_t gid;
	struct timespec atime, mtime;
	struct timespec age; /* of the view when mtime was given: when it changes, that is over */
	struct given_xattr *xattrs;
	struct mark *below[4]; /* of the tree of an animation's marks: see given.c */
};

/*
 * Is what is given to this thing remembered? Otherwise it is the animation file's own, or a plain
 * file's. raw.* is remembered in nothing but its size.
 */
bool given_is_for(const struct thing *thing);
/* Of the name that the node has; NULL: nothing. */
struct given *given_find(const struct node *node) REQUIRES(vfs_class);
/* The same, made where there is none. NULL: no memory, or the node has no name any more. */
struct given *given_need(struct vfs *v, struct node *node) REQUIRES(vfs_class);
/*
 * The folder is about to lose its name for good: nothing is remembered any more of it and of what
 * is in it. Until then that keeps the nodes of those folders, and by them the animation.
 */
void given_forget(struct vfs *v, const struct node *folder) REQUIRES(vfs_class);
/* What was given to this name is `now`'s, which was renamed from it. */
void given_move(struct vfs *v, const struct node *parent, const char *name, struct node *now)
	REQUIRES(vfs_class);
void given_free(struct given *g);                         /* NULL is fine */
void given_apply(const struct given *g, struct stat *st); /* NULL is fine */
/* The mode was given: a remembered ACL says it, too. */
void given_mode(struct given *g, mode_t mode);
/* The view has this mtime until it changes. */
void given_mtime(struct vfs *v, const struct target *t, struct timespec mtime) EXCLUDES(vfs_class);

/* An extended attribute, appended to `out`. ENODATA where none of the name was given, ENOMEM. */
int given_xattr(struct vfs *v, const struct target *t, const char *name, struct buf *out)
	EXCLUDES(vfs_class);
/* Their names, each with its NUL; appends. */
void given_list_xattrs(struct vfs *v, const struct target *t, struct buf *out) EXCLUDES(vfs_class);
/* As setxattr. 0 or an errno. */
int given_set_xattr(struct given *g, const char *name, struct bytes value, int flags)
	REQUIRES(vfs_class);
/* ENODATA where there is none. */
int given_remove_xattr(struct given *g, const char *name) REQUIRES(vfs_class);

#endif
