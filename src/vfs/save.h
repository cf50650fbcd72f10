/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * save.h - saving texts in a mount: the commit, invalidations, .rejected and .error files.
 *
 * The functions take the writer's lock of the animation, unless they require it, and return 0 or an
 * errno.
 */
#ifndef ANIMFS_VFS_SAVE_H
#define ANIMFS_VFS_SAVE_H

#include "view.h"

int errno_of(const struct err *err);

/* Commits the view's draft, if it has anything to commit. */
int view_commit(struct vfs *v, const struct target *t, enum draft_event event,
		struct changes *changes) EXCLUDES(vfs_class, writer_class);
int view_commit_locked(struct vfs *v, const struct target *t, enum draft_event event,
		       struct changes *changes) EXCLUDES(vfs_class) REQUIRES(writer_class);
/*
 * Truncates or extends the view's text. Through a handle, the change is a part of the handle's
 * save. By name (handle NULL) no close will follow: size 0 begins a save, any other size is a save
 * by itself. ESTALE if the node now stands for another thing, or its name for another view.
 */
int view_resize(struct vfs *v, const struct request *who, const struct target *t, uint64_t size,
		struct handle *handle, struct changes *changes) EXCLUDES(vfs_class, writer_class);
/*
 * Saves `text` as the view `name` of a folder, on behalf of `caller` (from access_caller; taken
 * over). *out is a new thing for the view, with the text as its draft, which no node points to yet.
 */
int text_save(struct vfs *v, const struct request *who, const struct target *parent,
	      const char *name, struct text *text, struct caller *caller, struct thing **out,
	      struct changes *changes) EXCLUDES(vfs_class) REQUIRES(writer_class);
/* Returns a copy of the text of a view or a plain file. */
int node_text(struct vfs *v, const struct target *t, struct text **out) EXCLUDES(vfs_class);
/*
 * Writes a view's text into a plain file that the caller then owns. `exclusive`: the file must not
 * exist yet.
 */
int view_write_out(struct vfs *v, const struct request *who, const struct target *t,
		   const struct target *parent, const char *name, bool exclusive)
	EXCLUDES(vfs_class);
/*
 * Commits an edit of version `base` that did not come from a text. Renames nodes of clips whose
 * names change as a consequence. `by`: the program that makes the edit, for history; NULL: not
 * known. Returns 0 or an errno, with err for the user.
 */
int edit_commit(struct vfs *v, struct animation *a, struct version *base, const struct anim *edited,
		struct program *by, struct changes *changes, struct err *err) EXCLUDES(vfs_class)
	REQUIRES(writer_class);
/*
 * Renames the node of a clip that has a new name in version `now`, which is published, and moves
 * the ordinary files beside the clip's texts.
 */
void clip_follow(struct vfs *v, struct animation *a, const char *label, const char *new_label,
		 struct version *now, struct changes *changes) EXCLUDES(vfs_class)
	REQUIRES(writer_class);

/* Lock and unlock the writer's locks of two animations, without deadlock; either may be NULL. */
void writers_lock(struct animation *a, struct animation *b) ACQUIRE(writer_class);
void writers_unlock(struct animation *a, struct animation *b) RELEASE(writer_class);

/*
 * Makes room for a draft to grow: drops `size` bytes, or as many as there are, of texts that are
 * kept as they were saved for closed views. Those views are rendered from then on. Returns false if
 * there are no such texts.
 */
bool drafts_make_room(struct vfs *v, size_t size) EXCLUDES(vfs_class);
/* Commits every unsaved draft, at the end of the mount. */
void drafts_commit_all(struct vfs *v);

#endif
