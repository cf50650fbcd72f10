/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lookup.h - resolves names to nodes. */
#ifndef ANIMFS_VFS_LOOKUP_H
#define ANIMFS_VFS_LOOKUP_H

#include "gate.h"
#include "view.h"

/*
 * Returns whether a file of this format is shown as itself, with its folder beside it (x.canm.d).
 */
bool stays_file(const struct vfs *v, const struct codec *codec);
/*
 * Returns whether a file of this name could be shown as a folder (`beside`: as itself with a folder
 * beside it).
 */
bool name_may_show(struct vfs *v, const char *name, bool beside);

/*
 * Returns the node of the animation's folder, with a reference; NULL if the animation is no longer
 * shown.
 */
struct node *folder_of(struct vfs *v, struct animation *a) EXCLUDES(vfs_class);
/* Returns the node that the table has for a name, with references; false if there is none. */
bool child_of(struct vfs *v, const struct node *parent, const char *name, struct target *out)
	EXCLUDES(vfs_class);
/*
 * Returns the staging (staging.h) of the staged folder that the node is, or is in; NULL if there is
 * none.
 */
struct staging *staging_above(const struct node *node) REQUIRES(vfs_class);
/* Returns whether the node is a staged folder, or in one. */
bool is_staged(struct vfs *v, const struct node *node) EXCLUDES(vfs_class);
/* Looks up a name like vfs_lookup, for calls of this layer. The entry counts as one lookup. */
int lookup_in(struct vfs *v, const struct target *parent, const char *name, struct entry *out)
	EXCLUDES(vfs_class);

/* Looks up a name like lookup_in, in a folder of an archive whose entry the caller has found. */
int lookup_member(struct vfs *v, const struct target *parent, const struct spot *folder,
		  const char *name, struct entry *out) EXCLUDES(vfs_class);

/*
 * A look at an animation that several lookups below it share: the first lookup looks, and a lookup
 * that begins when there is a later version looks again. If the file changes while an entry is
 * made, the entry describes the version before, and the kernel does not cache it.
 */
struct seen {
	struct version *version; /* the version found by the look; NULL: not looked yet */
	struct stat st;          /* the file's attributes, as from animation_look */
};
void seen_release(struct seen *s);
/* Looks up a name like lookup_in, in a virtual folder. */
int lookup_virtual(struct vfs *v, const struct target *parent, const char *name, struct seen *seen,
		   struct entry *out) EXCLUDES(vfs_class);

/* The place of a name in a folder, whether or not anything has the name. */
struct slot {
	struct guest guest; /* makes the request a guest in the parent folder (gate.h) */
	struct target parent;
	int64_t began; /* when the request began, if the parent is in an animation */
	bool is_view;  /* the animation has a view or folder of this name */
	bool present;  /* the animation has something of this name, and the name is not absent */
	struct place place;
};
/*
 * Finds the slot of a name in a folder. Returns EROFS or EPERM if nothing can be changed there.
 * Release the slot in any case; do not move it in memory (it holds a guest).
 */
int slot_find(struct vfs *v, uint64_t parent, const char *name, struct slot *out)
	EXCLUDES(vfs_class);
void slot_release(struct vfs *v, struct slot *s);

#endif
