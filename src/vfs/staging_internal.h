/* SPDX-License-Identifier: GPL-3.0-or-later */
/* staging_internal.h - shared by the staging*.c files. Paths are relative to SOURCE. */
#ifndef ANIMFS_VFS_STAGING_INTERNAL_H
#define ANIMFS_VFS_STAGING_INTERNAL_H

#include "animation.h"
#include "edit/assembly.h"
#include "gate.h"
#include "program.h"
#include "staging_given.h"
#include "store/copied.h"

/*
 * ---- staging_texts.c: reads the texts of a staged folder, and removes them when their fate is
 * known ----
 */

struct text_name {
	char *path; /* relative to the folder */
	struct identity id;
	struct stat st;    /* attributes when it was listed */
	struct bytes text; /* content, until it is in texts.list */
	bool read;         /* the content there is that of this file */
};

struct texts {
	struct text_name *names;
	struct assembly_text *list; /* in the same order; path "": not a text */
	size_t count, room;
	bool stored; /* the folder is in the state directory (names as in portable.h) */
};

/*
 * Lists a plain folder, and its bones/ and frames/, in order of creation; of other folders only the
 * name. Reads the texts whose path `wants` accepts. False and err if one of them, or a name, cannot
 * be read, so that nothing unknown gets lost. `who`: the caller that it reads for; NULL: the
 * daemon.
 */
bool texts_read(struct vfs *v, const struct caller *who, int folder,
		bool (*wants)(const char *path), struct texts *t, struct err *err);
void texts_release(struct texts *t);

/*
 * Reads texts for folders that the file already has as one batch: sets c->texts, and calls
 * copied_read. `path`: of the folder, relative to the file's own (""). False and err when out of
 * memory. Call copied_release in either case.
 */
struct texts_in {
	const char *path;
	struct texts *texts;
};
bool texts_edit(struct copied *c, const struct texts_in *in, size_t count, struct err *err);

/*
 * Lists in .animfs/errors the parts that were ignored in texts of the folder with this path, and
 * moves refused texts out of `folder`, to .rejected and .error files; one that these have no room
 * for gets another name. Their fate is then ASSEMBLY_GENERATED; that of a text that cannot be moved
 * is ASSEMBLY_UPPER.
 */
void texts_report(struct vfs *v, int folder, const char *path, struct texts *t);
/*
 * Removes the texts that were used from the folder, raw.* first. `raw`: its name in the file's own
 * folder; NULL: the folder is a clip's. Everything else stays: texts that have come or changed
 * since they were read, under a name that no view hides.
 */
void texts_put_away(struct vfs *v, int folder, const char *path, const char *raw,
		    const struct texts *t);

/* ---- a folder ---- */

/* A staged folder. Its thing points to it until it has ended. */
struct staging {
	struct node *node;   /* constant; referenced */
	struct thing *thing; /* constant; referenced */
	struct caller *who; /* constant: the folder's maker; NULL: unknown, or allow_other is off */
	struct deadline end;
	int64_t rest GUARDED_BY(staging_class); /* ms until the next attempt */

	uint32_t references GUARDED_BY(vfs_class); /* held by the thing, the deadline, and calls */
	struct gifts gifts GUARDED_BY(vfs_class);
	/*
	 * The program that made the folder and everything in it, as long as no other has looked at
	 * it: the staging ends with that program, if there is a file in it. Otherwise it ends when
	 * `quiet` does.
	 */
	struct program_end maker GUARDED_BY(vfs_class);
	bool has_file GUARDED_BY(vfs_class);
	struct quiet quiet GUARDED_BY(vfs_class);
};

/* A folder of texts in a folder that is to become a file: a clip, if it can be one. */
struct clip_folder {
	char *name;
	int fd;
	struct texts texts;
	bool made;
	char label[ASSEMBLY_LABEL_SIZE]; /* the clip's label, once it is made */
};

/* A staged folder while it is being turned into something: its names and content. */
struct staged {
	struct vfs *v;
	struct staging *staging;
	struct changes *changes;
	/* the animation that it becomes a clip of, or becomes; referenced */
	struct animation *animation;
	int fd; /* -1: not open */
	/* The caller as which it is read: its owner, with all groups if known; NULL: the daemon. */
	const struct caller *who;
	struct caller *owner;    /* `who` points to it, unless to staging->who */
	char *path, *above;      /* paths of the folder, and of its parent */
	struct node *node_above; /* node of the parent; referenced; or NULL */
	char name[NAME_MAX + 1];
	struct attributes as; /* attributes of the folder; later of the file */
	struct texts texts;   /* directly in it; for a clip, all */
	struct err err;

	/* If it is to become a file (staging_file.c, staging_place.c): */
	struct folder parent;
	struct where where; /* where the file is to be, in `parent` */
	/* the folder's name while the file is put in its place */
	char aside[NAME_MAX + 1];
	struct clip_folder *clips;
	size_t clip_count;
	char raw_name[NAME_MAX + 1]; /* name of raw.* in it; "": no format has the file's name */
	struct buf raw;
	struct version *base; /* raw.*, decoded */
	struct version *made; /* raw.* with all texts applied */
	bool is_aside;
	bool is_still; /* from folders_hold_still: renames and lookups wait */
	int error;
};
#define STAGED_INIT(vfs)                                                                           \
	{                                                                                          \
		.v = (vfs), .fd = -1, .as = ATTRIBUTES_INIT, .parent = FOLDER_NONE,                \
		.raw = BUF_INIT                                                                    \
	}

/* ---- staging_folder.c ---- */

/*
 * Finds the names of the folder, opens it, and sets f->who to its owner. The owner will own the
 * clip or file that the folder becomes, and so must be allowed to read everything in the folder.
 * ENOENT: the folder no longer has a name.
 */
int staged_open(struct staged *f) EXCLUDES(vfs_class);
void staged_release(struct staged *f) EXCLUDES(vfs_class);
/* A reference to the program that filled it; NULL: not known. */
struct program *staged_maker(const struct staged *f) EXCLUDES(vfs_class);
/* As gifts_say; SAY_NOBODY if unknown. */
void staged_says(const struct staged *f, const struct identity *raw, enum say says[GIVEN_COUNT])
	EXCLUDES(vfs_class);

/*
 * These point nodes to the file that the folder became, so that programs in the folder stay there.
 */
/*
 * The folder itself; kind: that of a folder. Out of memory it loses its name, to be looked up
 * again.
 */
void adopt_folder(struct vfs *v, struct node *node, enum thing_kind kind, struct animation *a,
		  struct changes *changes) REQUIRES(vfs_class);
/* The folder becomes a clip's, with its bones/ and frames/. */
void adopt_clip(struct vfs *v, struct node *node, struct animation *a, struct changes *changes)
	REQUIRES(vfs_class);
/* A plain thing with this name is gone or moved: its name is to be looked up again. */
void adopt_forget(struct vfs *v, struct node *folder, const char *name, const struct stat *st,
		  struct changes *changes) REQUIRES(vfs_class);
/*
 * As adopt_forget, for the texts of the folder, its bones/ and its frames/: only the texts that the
 * clip or file was made of, or all.
 */
void adopt_forget_texts(struct vfs *v, struct node *folder, const struct texts *t, bool all,
			struct changes *changes) REQUIRES(vfs_class);

/*
 * ---- staging_clip.c, staging_place.c: it becomes a clip of the animation in whose folder it is,
 * or an animation file. 0 or an errno: ENODATA when there is nothing in it to make a file of,
 * EBADMSG where the texts are wrong or raw.* is lacking. ----
 */

int staging_make_clip(struct staged *f) REQUIRES(staging_class) EXCLUDES(vfs_class, writer_class);
int staging_make_file(struct staged *f) REQUIRES(staging_class) EXCLUDES(vfs_class, writer_class);

/*
 * ---- staging_file.c: the file that the folder becomes ----
 *
 * raw.* is the file, and texts that differ from it are edits; without raw.* it stays a folder. The
 * file's skeleton is put beside it.
 *
 * The file belongs to its maker, the owner of the folder, and gets the attributes that were set on
 * the folder or on raw.*. If none were set, or they are unknown after a kill, it has the mode of
 * raw.*, restricted to the users that the folder admits.
 */

/*
 * Reads everything in it. 0 or an errno: without a raw.* ENODATA, or EBADMSG if there are texts in
 * it.
 */
int staged_read_file(struct staged *f) EXCLUDES(vfs_class);
/* Computes the content of the file, without writing it. False, with or without err. */
bool staged_make_file(struct staged *f);
/* After the file is in place: saves its skeleton. */
void staged_save_skeleton(struct staged *f);

#endif
