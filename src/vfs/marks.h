/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * marks.h - names below an animation that something is noted of: they are absent, or were given
 * attributes. As many as a user removes or copies: a list, and a hash table by folder and name.
 */
#ifndef ANIMFS_VFS_MARKS_H
#define ANIMFS_VFS_MARKS_H

#include "vfs.h"

struct mark {
	struct mark *next, **back;
	struct mark *next_of_hash;
	struct node *parent; /* referenced */
	struct node *folder; /* of an absent name: the folder that had it; referenced; or NULL */
	struct given *given; /* owned; or NULL */
	/*
	 * Of a removed clip: the version of the file when the removal began, and the program that
	 * removed it; referenced; or NULL.
	 */
	struct version *base;
	struct program *by;
	char name[];
};

/*
 * A table of one slot is there from the beginning, so that adding a name cannot fail for want of a
 * larger one. {0}: empty.
 */
struct marks {
	struct mark *first;
	struct mark **slots; /* NULL: `slot` */
	struct mark *slot;
	size_t mask, count;
};

struct mark *marks_find(const struct marks *t, const struct node *parent, const char *name)
	REQUIRES(vfs_class);
/* Adds a name that is not there. NULL when out of memory. */
struct mark *marks_add(struct marks *t, struct node *parent, const char *name) REQUIRES(vfs_class);
/* Removes and frees a mark with everything noted in it. */
void marks_remove(struct vfs *v, struct marks *t, struct mark *mark) REQUIRES(vfs_class);
/* Moves a mark to another folder. */
void marks_move(struct vfs *v, struct marks *t, struct mark *mark, struct node *parent)
	REQUIRES(vfs_class);
/* Frees all. */
void marks_release(struct vfs *v, struct marks *t) REQUIRES(vfs_class);

#endif
