/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * animation.h - an animation file while the mount shows it: its versions, and what is going on in
 * its folder.
 *
 * Which version is shown has one answer: animation_look(), the latest, of which the kernel is
 * notified before it is returned; but a view that is open shows what it was opened with (view_at).
 */
#ifndef ANIMFS_VFS_ANIMATION_H
#define ANIMFS_VFS_ANIMATION_H

#include "deadline.h"
#include "folder.h"
#include "invalidate.h"
#include "vfs.h"

/* Milliseconds after which what nobody goes on with is ended. */
#define END_MS 2000
/* After which a reply that was on its way when something changed has reached the kernel. */
#define TICK_MS 200

/* A name below an animation that is absent, or was given attributes; by the node it is in. */
struct mark {
	struct mark *next;
	struct node *parent; /* referenced */
	struct node *folder; /* absent: what had the name, where that is a folder; referenced */
	struct given *given; /* or NULL: absent */
	char name[];
};

/* A view, by its path in the animation's folder, that was saved in the burst. */
struct saved {
	struct saved *next;
	char path[];
};

struct animation {
	bool beside; /* constant: the file stays what it is, its folder's name has a suffix */
	struct source *source; /* constant; has locks of its own */
	/*
	 * Held by whoever changes the file, from the version that it starts from to the one that it
	 * leaves, and while names of its folder are moved. Never for reading.
	 */
	struct lock writer;
	bool paired GUARDED_BY(writer_class); /* by who holds another one, too */
	struct burst {                        /* see burst.h */
		struct version *before; /* what was there before the burst; NULL: no save in it */
		struct saved *saved;    /* what was saved in it */
		unsigned passed;        /* how many texts were stale copies */
		uint64_t hash, generation; /* the text saved last, and the version that it made */
	} burst GUARDED_BY(writer_class);

	uint32_t references GUARDED_BY(vfs_class);
	struct thing *folder GUARDED_BY(vfs_class);  /* ANIMATION; not referenced */
	struct thing *members GUARDED_BY(vfs_class); /* CLIP to VIEW, by next_member */
	struct mark *absent GUARDED_BY(vfs_class);
	struct mark *given GUARDED_BY(vfs_class);
	/* What the kernel was notified of last: the version, its names, the file on disk. */
	uint64_t generation GUARDED_BY(vfs_class), names GUARDED_BY(vfs_class);
	/* While a save replaces the file: what is shown until animation_publish; or NULL. */
	struct version *showing GUARDED_BY(vfs_class);
	/* While a clip becomes another file's, by its writer: its node. See open.c. */
	const struct node *moving GUARDED_BY(vfs_class);
	/* Where files are not opened, and it does not decode any more: what is still shown. */
	struct version *good GUARDED_BY(vfs_class);
	struct shown_rights {
		mode_t mode;
		uid_t uid;
		gid_t gid;
		struct timespec ctime; /* {0}: not known since a save */
	} rights GUARDED_BY(vfs_class);
	bool damaged
		GUARDED_BY(vfs_class); /* it does not decode now: see last_good in animation.c */
	bool linked
		GUARDED_BY(vfs_class); /* it has other names: changes by those are not noticed */
	/* How long each still of a clip is in which nothing moves, in the version of `generation`.
	 */
	struct {
		uint64_t generation;
		uint32_t clip, size;
	} still GUARDED_BY(vfs_class);
	int64_t touched GUARDED_BY(vfs_class); /* when something below it changed last, clock_ms */
	int64_t ends GUARDED_BY(vfs_class);    /* when `end` is due; 0: it is not set */
	struct deadline end;  /* END_MS after that, or after a view with a draft was closed */
	struct deadline look; /* others may have changed the file */
	/* Of outside.c: what was there when others changed the file, until it is looked at; */
	struct version *seen GUARDED_BY(vfs_class);
	/* which names were seen last; when all are invalidated once more: clock_ms, or 0. */
	uint64_t looked GUARDED_BY(vfs_class);
	int64_t again GUARDED_BY(vfs_class);
};

static inline void writer_lock(struct animation *a) ACQUIRE(writer_class)
{
	lock_acquire(&a->writer, &writer_class);
}

static inline void writer_unlock(struct animation *a) RELEASE(writer_class)
{
	lock_release(&a->writer, &writer_class);
}

/* With one reference for the caller. NULL: no memory. */
struct animation *animation_new(struct vfs *v, bool beside);
void animation_get(struct animation *a) REQUIRES(vfs_class);
void animation_put(struct vfs *v, struct animation *a) REQUIRES(vfs_class); /* NULL is fine */

/* Where its file lies now. */
struct site {
	struct folder folder;
	char name[NAME_MAX + 1];
	char *folder_path;
	struct turn turn; /* gives the writer's lock up while another process is waited for */
	struct where where;
};
/* 0 or an errno: ENOENT when its folder has no name any more. To be closed where it is 0. */
int site_open(struct vfs *v, struct animation *a, struct site *out) EXCLUDES(vfs_class);
void site_close(struct vfs *v, struct site *site);
/* The file's own name; false where its folder has none any more. */
bool animation_name(const struct animation *a, char name[NAME_MAX + 1]) REQUIRES(vfs_class);
/* Its attributes on disk. */
int animation_stat(struct vfs *v, struct animation *a, struct stat *st) EXCLUDES(vfs_class);

/*
 * The latest version, with a holder for the caller, and the file's attributes; st_mode is 0 where
 * the file is gone and something in it is still open. The kernel has been notified of it before
 * (outside of `changes`, in a burst of its own). 0, ENOENT, EIO where it does not decode and
 * nothing in it is open, ENOMEM, or what reading it failed with.
 */
int animation_look(struct vfs *v, struct animation *a, struct version **out, struct stat *st)
	EXCLUDES(vfs_class);
/*
 * This is the version that is there now, and was made by a save, or found: what of it the kernel
 * knows and says something else now is added to `changes`. `saved` (or NULL): the view that was
 * saved, whose text is what was saved. The nodes of clips that have another name there get it, and
 * what is written in their views is edited from this version. An older version than the latest is
 * left alone.
 */
struct relabel { /* a clip that has another name in it, in the form of file names */
	const char *from, *to;
};
void animation_publish(struct vfs *v, struct animation *a, struct version *now,
		       const struct thing *saved, const struct relabel *relabels, size_t count,
		       struct changes *changes) EXCLUDES(vfs_class);
/*
 * Shows this version from here until animation_publish, or until it is called with NULL, whatever
 * the file is meanwhile: who looks at a file that was just replaced knows neither which view was
 * saved nor which clips were renamed. Takes the version over.
 */
void animation_show(struct vfs *v, struct animation *a, struct version *version) EXCLUDES(vfs_class)
	REQUIRES(writer_class);
/* Will changes by others be noticed, so that the kernel may believe what it was told? */
bool animation_is_watched(const struct vfs *v, const struct animation *a) REQUIRES(vfs_class);
/* The same of one that the kernel knows nothing of yet. */
void animation_begin(struct animation *a, const struct version *now, const struct stat *st)
	REQUIRES(vfs_class);
/*
 * The place of a view or folder in a version, by the names that its node and those above have now.
 * Whether a view that needs something to say has it is not looked at. False: there is none.
 */
bool place_by_names(const struct node *node, const struct version *version, struct place *out)
	REQUIRES(vfs_class);
/* ---- drafts of views ---- */

/*
 * The draft that the view has from now on; its node stays while the draft has a base (draft_expire
 * gives that up), whether the kernel remembers it or not.
 */
void view_give_draft(struct node *node, struct draft *draft) REQUIRES(vfs_class);
/* The draft gave up its base: the node may be forgotten. */
void view_release_draft(struct vfs *v, struct node *node) REQUIRES(vfs_class);
/* The view says again what is rendered. The node may go. */
void view_drop_draft(struct vfs *v, struct node *node) REQUIRES(vfs_class);

/*
 * Nobody has the view open for writing any more. What was refused is given up; and a text whose
 * members follow from each other is rendered again at once (draft_is_contradictory): as it was
 * saved it would contradict itself, and the next edit of it be read as one of both. True while
 * there is something to be ended later.
 */
bool view_settle(struct vfs *v, struct node *node, struct changes *changes) REQUIRES(vfs_class);
/* Its name opens what is rendered; those who have it open keep the text as it was saved. */
void view_part(struct vfs *v, struct node *node, struct changes *changes) REQUIRES(vfs_class);

/* ---- what is done later ---- */

/* Something below it changed: what waits for END_MS of quiet waits on. */
void animation_touch(struct vfs *v, struct animation *a) EXCLUDES(vfs_class);
/* Looks at this time, at the latest, what is to be ended (end.h). */
void animation_end_at(struct vfs *v, struct animation *a, int64_t when) REQUIRES(vfs_class);
/* Others may have changed the file: it is looked at soon, by a thread of its own. */
void animation_changed(struct vfs *v, struct animation *a) EXCLUDES(vfs_class);

/* ---- names that are absent ---- */

bool name_is_absent(const struct animation *a, const struct node *parent, const char *name)
	REQUIRES(vfs_class);
/* folder: what has the name, where that is a folder, or NULL. False when out of memory. */
bool name_set_absent(struct vfs *v, struct animation *a, struct node *parent, const char *name,
		     struct node *folder) REQUIRES(vfs_class);
void name_set_present(struct vfs *v, struct animation *a, const struct node *parent,
		      const char *name) REQUIRES(vfs_class);
/* The folder that had an absent name; NULL where it was none. */
struct node *name_folder(const struct animation *a, const struct node *parent, const char *name)
	REQUIRES(vfs_class);
/* What is absent in folder `old` is absent in folder `now`, which stands in its place. */
void names_move(struct vfs *v, struct animation *a, const struct node *old, struct node *now)
	REQUIRES(vfs_class);

#endif
