/* SPDX-License-Identifier: GPL-3.0-or-later */
/* staging_internal.h - staged folders, as the files of staging know them. Paths are from SOURCE. */
#ifndef ANIMFS_VFS_STAGING_INTERNAL_H
#define ANIMFS_VFS_STAGING_INTERNAL_H

#include "animation.h"
#include "staging_given.h"
#include "staging_texts.h"

#include <errno.h>

struct staging {
	struct node *node; /* constant; a reference */
	struct deadline end;
	int64_t rest GUARDED_BY(staging_class); /* ms until it is tried again */

	struct staging *next GUARDED_BY(vfs_class);
	uint32_t references GUARDED_BY(vfs_class); /* of the list, the deadline, and calls */
	bool listed GUARDED_BY(vfs_class);
	uint64_t touches GUARDED_BY(vfs_class); /* how often something happened there */
	struct gifts gifts GUARDED_BY(vfs_class);
};

/* Did anything happen there since it had so many touches? Then what was read may be old. */
static inline bool staging_changed(struct vfs *v, const struct staging *s, uint64_t touches)
	EXCLUDES(vfs_class)
{
	bool changed;

	vfs_lock(v);
	changed = s->touches != touches;
	vfs_unlock(v);
	return changed;
}

/*
 * It becomes a clip of the animation in whose folder it is, or an animation file. 0 or an errno:
 * ENODATA when there is nothing in it to make a file of, EAGAIN when something happened in it
 * meanwhile, EBADMSG where the texts are wrong.
 */
int staging_make_clip(struct vfs *v, struct staging *s, struct changes *changes)
	REQUIRES(staging_class) EXCLUDES(vfs_class, writer_class);
int staging_make_file(struct vfs *v, struct staging *s, struct changes *changes)
	REQUIRES(staging_class) EXCLUDES(vfs_class, writer_class);

/* Why it is still one, for .animfs/errors; NULL: there is nothing to say. */
static inline const char *staging_reason(int error, const struct err *err)
{
	if (err->code)
		return err->message;
	return !error || error == ENODATA || error == ENOENT || error == EAGAIN ? NULL
										: strerror(error);
}

/* ---- staging_adopt.c: nodes stand for what the folder became, and who is in them stays there ----
 */

/* The folder itself; kind is of one. Out of memory it loses its name, which is looked up again. */
void adopt_folder(struct vfs *v, struct node *node, enum thing_kind kind, struct animation *a,
		  struct changes *changes) REQUIRES(vfs_class);
/* The folder is a clip's, and bones/ and frames/ in it are that clip's. */
void adopt_clip(struct vfs *v, struct node *node, struct animation *a, struct changes *changes)
	REQUIRES(vfs_class);
/* A plain thing of this name is gone, or lies elsewhere: it is looked up again. */
void adopt_forget(struct vfs *v, struct node *folder, const char *name, const struct stat *st,
		  struct changes *changes) REQUIRES(vfs_class);
/* The same of texts in it, and in bones/ and frames/: those that came to something, or all. */
void adopt_forget_texts(struct vfs *v, struct node *folder, const struct texts *t, bool all,
			struct changes *changes) REQUIRES(vfs_class);

/* ---- staging_notes.c: in the state directory, so that the next mount goes on after a kill ---- */

/* Behind the name of a folder that stands aside, and of the note about it. */
#define ASIDE ".animfs-filled~"

int note_add(struct vfs *v, const char *path);
void note_remove(struct vfs *v, const char *path);
/* The file was made; what is left of its folder stands aside until it is put away. */
void note_set_aside(struct vfs *v, const char *path);
void note_remove_aside(struct vfs *v, const char *path);
/* All of them; aside: `path` is that of the file that was made. `each` may change the notes. */
void notes_each(struct vfs *v, void (*each)(struct vfs *v, const char *path, bool aside));

/* ---- staging_recover.c: folders that were becoming files when a mount was killed ---- */

/*
 * A folder that was moved aside has its name again; or it is made, if that is the file which has
 * the name. Another file stays, and the folder gets a name beside it. 0, or an errno where that is
 * not done: the next mount tries again.
 */
int staging_recover(struct vfs *v, const char *path);
/* The file was made, and a killed mount has not put away all that was left of the folder. */
void staging_recover_rest(struct vfs *v, const char *path);

#endif
