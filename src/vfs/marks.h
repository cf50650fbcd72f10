/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * marks.h - names below an animation that something is noted of: they are absent, or were given
 * attributes. There can be as many as a user removes or copies, so they are in a list and in a hash
 * table by folder and name.
 */
#ifndef ANIMFS_VFS_MARKS_H
#define ANIMFS_VFS_MARKS_H

#include "vfs.h"

struct mark {
	struct mark *next, **back;
	struct mark *next_of_hash;
	struct node *parent; /* folder of the name; referenced */
	struct node *folder; /* for an absent name: the folder that had it, referenced, or NULL */
	struct given *given; /* attributes given to the name; owned; or NULL */
	/*
	 * For a removed clip: the version of the file when the removal began, and the program that
	 * removed it; both referenced, or NULL.
	 */
	struct version *base;
	struct program *by;
	char name[];
};

/*
 * A set of marks. It begins with a table of one slot, so that adding a name cannot fail for lack of
 * a larger table. {0}: empty.
 */
struct marks {
	struct mark *first;
	struct mark **slots; /* hash table; NULL: only `slot` is used */
	struct mark *slot;
	size_t mask, count;
};

struct mark *marks_find(const struct marks *t, const struct node *parent, const char *name)
	REQUIRES(vfs_class);
/* Adds a name that is not in the set. Returns NULL when out of memory. */
struct mark *marks_add(struct marks *t, struct node *parent, const char *name) REQUIRES(vfs_class);
/* Removes and frees a mark with everything noted in it. */
void marks_remove(struct vfs *v, struct marks *t, struct mark *mark) REQUIRES(vfs_class);
/* Moves a mark to another folder. */
void marks_move(struct vfs *v, struct marks *t, struct mark *mark, struct node *parent)
	REQUIRES(vfs_class);
/* Frees all marks of the set. */
void marks_release(struct vfs *v, struct marks *t) REQUIRES(vfs_class);

#endif
