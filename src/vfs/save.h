/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * save.h - what saving a text means to the mount: the commit, what the kernel must forget,
 * .rejected and .error.
 *
 * All take the writer's lock of the animation themselves, but for those that say that the caller
 * holds it.
 */
#ifndef ANIMFS_VFS_SAVE_H
#define ANIMFS_VFS_SAVE_H

#include "view.h"

int errno_of(const struct err *err);

/* Commits the view's draft, if there is something in it to commit. */
int view_commit(struct vfs *v, const struct target *t, enum draft_event event,
		struct changes *changes) EXCLUDES(vfs_class, writer_class);
int view_commit_held(struct vfs *v, const struct target *t, enum draft_event event,
		     struct changes *changes) EXCLUDES(vfs_class) REQUIRES(writer_class);
/*
 * Gives the view's text this size. Through a handle that is part of what the handle writes. By name
 * (NULL) there is no close to wait for: to nothing is the beginning of a save, any other size is
 * one. ESTALE where the node stands for another thing by now, or its name is another view's.
 */
int view_resize(struct vfs *v, const struct request *who, const struct target *t, uint64_t size,
		struct handle *handle, struct changes *changes) EXCLUDES(vfs_class, writer_class);
/*
 * Saves `text` as the view `name` of a folder, for `caller` (access_caller, taken over): *out is
 * the view's thing then, a new one with that draft, which no node points to yet. The caller holds
 * the writer's lock.
 */
int text_save(struct vfs *v, const struct request *who, const struct target *parent,
	      const char *name, struct text *text, struct caller *caller, struct thing **out,
	      struct changes *changes) EXCLUDES(vfs_class) REQUIRES(writer_class);
/* A copy of what a view or a plain file says. */
int node_text(struct vfs *v, const struct target *t, struct text **out) EXCLUDES(vfs_class);
/* Writes a view's text into a plain file. */
int view_write_out(struct vfs *v, const struct target *t, const struct target *parent,
		   const char *name, bool exclusive) EXCLUDES(vfs_class);
/*
 * Saves an edit of the version `base` that no text asked for; the caller holds the writer's lock.
 * Clips whose names follow from others' are renamed in the tree, too. An errno, and err for people.
 */
int edit_commit(struct vfs *v, struct animation *a, struct version *base, const struct anim *edited,
		struct changes *changes, struct err *err) EXCLUDES(vfs_class)
	REQUIRES(writer_class);
/*
 * A clip's folder has another name in this version, which is published: its node, and what lies
 * beside its texts, go with it.
 */
void clip_follow(struct vfs *v, struct animation *a, const char *label, const char *new_label,
		 struct version *now, struct changes *changes) EXCLUDES(vfs_class)
	REQUIRES(writer_class);

/* Two animations at once, in the order of their addresses; either may be NULL. */
void writers_lock(struct animation *a, struct animation *b) ACQUIRE(writer_class);
void writers_unlock(struct animation *a, struct animation *b) RELEASE(writer_class);

/* Commits every draft that is not saved: at the end of the mount. */
void drafts_commit_all(struct vfs *v);

#endif
