/* SPDX-License-Identifier: GPL-3.0-or-later */
/* view.h - what a view says: of which version, how long, and the text itself. */
#ifndef ANIMFS_VFS_VIEW_H
#define ANIMFS_VFS_VIEW_H

#include "animation.h"

/* A version, with a holder, and the place in it. */
struct sight {
	struct version *version;
	struct place place;
};
static inline struct tree sight_tree(const struct sight *s)
{
	return (struct tree){s->version, s->version->file_name};
}
void sight_release(struct sight *s);

/*
 * The version that a virtual node shows, and its place in it: what an open view was opened with,
 * else the latest. And what the animation's file is on disk (see animation_look). ENOENT where the
 * latest version has no such thing.
 */
int sight_of(struct vfs *v, const struct target *t, struct sight *out, struct stat *st)
	EXCLUDES(vfs_class);
/* What `name` is in a virtual folder, in a version, absent or not: 0, ENOENT or ENOMEM. */
int place_in(struct vfs *v, const struct target *folder, const struct version *version,
	     const char *name, struct place *out) EXCLUDES(vfs_class);
/* The folder or view of this name, made when it is not known; with references. */
int place_node(struct vfs *v, const struct target *parent, const char *name,
	       const struct place *place, struct target *out) EXCLUDES(vfs_class);

/* The text that the view says to who has it open: what people wrote, or what was rendered. */
int view_text(struct vfs *v, const struct target *t, struct text **out) EXCLUDES(vfs_class);
/* Its size, in this sight of it. Renders it if nobody knows. */
int view_size(struct vfs *v, const struct target *t, const struct sight *s, uint64_t *out)
	EXCLUDES(vfs_class);
/* No text of this view can be saved: the file is not understood. */
bool view_is_fixed(const struct view *view, const struct version *version);
/* When the view last changed, and whether it can be written, into *st, which is the file's. */
void view_facts(const struct sight *s, struct stat *st);
/*
 * The node's view is shown in this sight to whoever has it open, until view_closed. Where it is
 * open already, that stays.
 */
void view_pin(struct node *node, const struct sight *s) REQUIRES(vfs_class);
/*
 * Nobody has it open any more: what was kept for them goes. Of a text that was replaced it stays
 * until the kernel forgets the node, which may be about to open it.
 */
void view_closed(struct vfs *v, struct node *node) REQUIRES(vfs_class);
#endif
