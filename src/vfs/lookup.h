/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lookup.h - names to nodes. */
#ifndef ANIMFS_VFS_LOOKUP_H
#define ANIMFS_VFS_LOOKUP_H

#include "view.h"

/* Does an animation of this format stay the file it is, with its folder beside it (x.canm.d)? */
bool stays_file(const struct vfs *v, const struct codec *codec);
/* What follows the file's name in that folder's; the second where something real has the first. */
extern const char *const beside_suffixes[2];
/* Could a file of this name be an animation that is a folder by its own name, or with one beside?
 */
bool name_may_show(struct vfs *v, const char *name, bool beside);

/* The node that a name is known to have, with references; false: none is. */
bool child_of(struct vfs *v, const struct node *parent, const char *name, struct target *out)
	EXCLUDES(vfs_class);
/* Is it a folder that is being filled (staging.h), or in one? */
bool is_staged(struct vfs *v, const struct node *node) EXCLUDES(vfs_class);
/* vfs_lookup for other parts: what `name` is in a folder; the entry counts as one lookup. */
int lookup_in(struct vfs *v, const struct target *parent, const char *name, struct entry *out)
	EXCLUDES(vfs_class);

/* What stands where a name is, or is to be made. */
struct slot {
	struct target parent;
	bool is_view; /* the name is one that the animation shows */
	bool present; /* and it is not absent */
	struct place place;
};
/* EROFS or EPERM where nothing can be changed at all. To be released in any case. */
int slot_find(struct vfs *v, uint64_t parent, const char *name, struct slot *out)
	EXCLUDES(vfs_class);
void slot_release(struct vfs *v, struct slot *s);

#endif
