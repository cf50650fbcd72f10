/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lookup.h - resolves names to nodes. */
#ifndef ANIMFS_VFS_LOOKUP_H
#define ANIMFS_VFS_LOOKUP_H

#include "gate.h"
#include "view.h"

/* Is a file of this format shown as itself, with its folder beside it (x.canm.d)? */
bool stays_file(const struct vfs *v, const struct codec *codec);
/* Could a file of this name be shown as a folder (`beside`: as a folder beside it)? */
bool name_may_show(struct vfs *v, const char *name, bool beside);

/* The node of the animation's folder, with a reference; NULL: it is no longer shown. */
struct node *folder_of(struct vfs *v, struct animation *a) EXCLUDES(vfs_class);
/* The node that the table has for a name, with references; false: none. */
bool child_of(struct vfs *v, const struct node *parent, const char *name, struct target *out)
	EXCLUDES(vfs_class);
/* The staging (staging.h) that the node is, or is in; NULL: none. */
struct staging *staging_above(const struct node *node) REQUIRES(vfs_class);
/* Is the node a staged folder, or in one? */
bool is_staged(struct vfs *v, const struct node *node) EXCLUDES(vfs_class);
/* vfs_lookup for other files of this layer. The entry counts as one lookup. */
int lookup_in(struct vfs *v, const struct target *parent, const char *name, struct entry *out)
	EXCLUDES(vfs_class);

/* lookup_in for a folder of an archive that the caller has found. */
int lookup_member(struct vfs *v, const struct target *parent, const struct spot *folder,
		  const char *name, struct entry *out) EXCLUDES(vfs_class);

/*
 * A look at an animation that several lookups below it share: the first one looks. A lookup that
 * begins when there is a later version looks again. A file that changes while its entry is made is
 * answered as it was, and not cached by the kernel.
 */
struct seen {
	struct version *version; /* NULL: not looked yet */
	struct stat st;          /* the file's attributes, as of animation_look */
};
void seen_release(struct seen *s);
/* lookup_in for a virtual folder. */
int lookup_virtual(struct vfs *v, const struct target *parent, const char *name, struct seen *seen,
		   struct entry *out) EXCLUDES(vfs_class);

/* The thing at a name, which may not exist yet. */
struct slot {
	struct guest guest; /* entered in the gate of the parent folder */
	struct target parent;
	int64_t began; /* of the request, if the parent is in an animation */
	bool is_view;  /* the animation has something of this name */
	bool present;  /* and the name is not absent */
	struct place place;
};
/*
 * EROFS or EPERM if nothing can be changed there. Release the slot in any case; do not move it in
 * memory (it holds a guest).
 */
int slot_find(struct vfs *v, uint64_t parent, const char *name, struct slot *out)
	EXCLUDES(vfs_class);
void slot_release(struct vfs *v, struct slot *s);

#endif
