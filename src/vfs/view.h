/* SPDX-License-Identifier: GPL-3.0-or-later */
/* view.h - the version that a view shows, its size, and its text. */
#ifndef ANIMFS_VFS_VIEW_H
#define ANIMFS_VFS_VIEW_H

#include "animation.h"

/* A version, with a reference, and the place of a view or folder in it. */
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
 * Finds the version that a virtual node shows, and the node's place in it: for an open view the
 * version that it was opened with, else the latest. `st`: the animation file's attributes (see
 * animation_look). ENOENT if the latest version has no such thing.
 */
int sight_of(struct vfs *v, const struct target *t, struct sight *out, struct stat *st)
	EXCLUDES(vfs_class);
/*
 * Like sight_of, for a place in the latest version that the caller has just looked up. EIO if the
 * version of an open view was dropped (pinned.h), or if the text would be torn.
 */
int sight_in(struct vfs *v, const struct target *t, const struct sight *latest, struct sight *out)
	EXCLUDES(vfs_class);
/*
 * Finds the place of `name` in a virtual folder now, whether or not the name is absent. *found:
 * whether there is such a place. Returns 0 or an errno: ESTALE if the folder's node now stands for
 * another thing.
 */
int place_find(struct vfs *v, const struct target *folder, const char *name, struct place *out,
	       bool *found) EXCLUDES(vfs_class);
/*
 * Adds a diagnostic if an ordinary file got a name in bones/ that looks like the text of a bone,
 * since such a file makes no bone.
 */
void view_diagnose_no_bone(struct vfs *v, const struct target *folder, const char *name)
	EXCLUDES(vfs_class);
/*
 * Like place_find, in a given version. Returns 0, ENOENT, ENOMEM, or ESTALE, also if the version is
 * outdated.
 */
int place_in(struct vfs *v, const struct target *folder, const struct version *version,
	     const char *name, struct place *out) EXCLUDES(vfs_class);
/*
 * Returns the node and thing of a folder or view of the parent's animation, made if necessary; with
 * references. 0 or an errno: ESTALE if the parent's node now stands for another thing.
 */
int place_node(struct vfs *v, const struct target *parent, const char *name,
	       const struct place *place, struct target *out) EXCLUDES(vfs_class);

/*
 * Returns the text that readers of the view get, with a reference: that of the draft, or the
 * rendered one.
 */
int view_text(struct vfs *v, const struct target *t, struct text **out) EXCLUDES(vfs_class);
/*
 * Returns the size of the text that view_text returns. Renders the text if the size is not known.
 */
int view_size(struct vfs *v, const struct target *t, const struct sight *s, uint64_t *out)
	EXCLUDES(vfs_class);
/*
 * Notes the size of the view's rendered text, which the kernel has, unless there is a draft by now.
 */
void view_note_size(struct vfs *v, const struct target *t, const struct sight *s, uint64_t size)
	EXCLUDES(vfs_class);
/*
 * Returns whether the view's text from this version would be torn. If the file is damaged, the
 * version, the best that is left, may be older than the text whose size the kernel was given: size
 * and bytes together would make a text that never was.
 */
bool view_is_torn(const struct thing *thing, const struct version *version) REQUIRES(vfs_class);
/* Returns whether no text of this view can be saved, since the file is not understood. */
bool view_is_fixed(const struct view *view, const struct version *version);
/* Changes the file's attributes in `st` to those of the view: mtime, and write permission. */
void view_facts(const struct sight *s, struct stat *st);
/*
 * Makes open handles of the view show this version until view_closed; called when the view is
 * opened. If it is already open, its version stays.
 */
void view_pin(struct node *node, const struct sight *s) REQUIRES(vfs_class);
/*
 * Drops the version and text of a view that is no longer open. A view that was replaced keeps them
 * until the kernel forgets the node, since the kernel may be about to open it.
 */
void view_closed(struct vfs *v, struct node *node) REQUIRES(vfs_class);
#endif
