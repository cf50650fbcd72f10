/* SPDX-License-Identifier: GPL-3.0-or-later */
/* view.h - the version that a view shows, its size, and its text. */
#ifndef ANIMFS_VFS_VIEW_H
#define ANIMFS_VFS_VIEW_H

#include "animation.h"

/* A version, with a reference, and a place in it. */
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
 * The version that a virtual node shows, and its place in it: for an open view the version that it
 * was opened with, else the latest. `st`: the animation file's attributes (see animation_look).
 * ENOENT if the latest version has no such thing.
 */
int sight_of(struct vfs *v, const struct target *t, struct sight *out, struct stat *st)
	EXCLUDES(vfs_class);
/*
 * As sight_of, for a place in the latest version that the caller has just looked up. EIO if the
 * version of an open view was dropped (pinned.h), or if the text would be torn.
 */
int sight_in(struct vfs *v, const struct target *t, const struct sight *latest, struct sight *out)
	EXCLUDES(vfs_class);
/*
 * The place of `name` in a virtual folder now, absent or not; *found: whether it has one. 0 or an
 * errno: ESTALE if the folder's node now stands for another thing.
 */
int place_find(struct vfs *v, const struct target *folder, const char *name, struct place *out,
	       bool *found) EXCLUDES(vfs_class);
/*
 * As place_find, in a given version: 0, ENOENT, ENOMEM, or ESTALE, also if the version is outdated.
 */
int place_in(struct vfs *v, const struct target *folder, const struct version *version,
	     const char *name, struct place *out) EXCLUDES(vfs_class);
/*
 * The node and thing of this folder or view of the parent's animation, made if necessary; with
 * references. 0 or an errno: ESTALE if the parent's node now stands for another thing.
 */
int place_node(struct vfs *v, const struct target *parent, const char *name,
	       const struct place *place, struct target *out) EXCLUDES(vfs_class);

/* The text that readers of the view get, with a reference: the draft, or the rendered text. */
int view_text(struct vfs *v, const struct target *t, struct text **out) EXCLUDES(vfs_class);
/* The size of that text. Renders it if the size is not known. */
int view_size(struct vfs *v, const struct target *t, const struct sight *s, uint64_t *out)
	EXCLUDES(vfs_class);
/* Notes the size of its rendered text, which the kernel has, unless there is a draft by now. */
void view_note_size(struct vfs *v, const struct target *t, const struct sight *s, uint64_t size)
	EXCLUDES(vfs_class);
/*
 * The file is damaged, and this version, the best that is left, is older than the text whose size
 * the kernel was given: of the two it would make a text that never was.
 */
bool view_is_torn(const struct thing *thing, const struct version *version) REQUIRES(vfs_class);
/* Can no text of this view be saved, since the file is not understood? */
bool view_is_fixed(const struct view *view, const struct version *version);
/* Changes `st`, the file's attributes, to the view's: mtime, and write permission. */
void view_facts(const struct sight *s, struct stat *st);
/*
 * The view is opened: open handles show this version until view_closed. If it is already open, its
 * version stays.
 */
void view_pin(struct node *node, const struct sight *s) REQUIRES(vfs_class);
/*
 * The view is no longer open: drops its version and text. Those of a text that was replaced stay
 * until the kernel forgets the node, since it may be about to open it.
 */
void view_closed(struct vfs *v, struct node *node) REQUIRES(vfs_class);
#endif
