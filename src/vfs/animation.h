/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * animation.h - an animation file while the mount shows it: its versions, drafts, absent names, and
 * the state of it that the kernel was told.
 *
 * animation_look() is the only way to the version that is shown, the latest; the kernel is notified
 * of it before it returns. Only an open view keeps showing the version that it was opened with
 * (sight_of).
 */
#ifndef ANIMFS_VFS_ANIMATION_H
#define ANIMFS_VFS_ANIMATION_H

#include "archive.h"
#include "deadline.h"
#include "folder.h"
#include "invalidate.h"
#include "marks.h"
#include "vfs.h"

struct known;
struct program_batch;

struct animation {
	/*
	 * Constant. Not NULL: the file is shown as itself, and its folder beside it; the file's
	 * name ends with this where the folder's ends with ".d". NULL: the file is the folder.
	 */
	const char *beside;
	bool archived;                    /* constant: it is a member of an archive */
	bool lists GUARDED_BY(vfs_class); /* the file lists others beside it (format.parts) */
	struct source *source;            /* constant; locks itself */
	/*
	 * Held while the file is changed, from taking the version that the change starts from until
	 * the new version is published, and while names in its folder are moved. Readers do not
	 * take it.
	 */
	struct lock writer;
	struct program_batch *batches GUARDED_BY(writer_class); /* batches.h */
	struct known *known GUARDED_BY(writer_class);           /* known.h; NULL: not loaded */
	/* The folder's node while there is any of both, referenced; or NULL. batches.c */
	struct node *kept GUARDED_BY(writer_class);
	/* Hash of the text that was saved last, and the generation that it made. */
	struct last_text {
		uint64_t hash, generation;
		bool as_said; /* struct attempt */
	} last_text GUARDED_BY(writer_class);

	uint32_t references GUARDED_BY(vfs_class);
	struct thing *folder GUARDED_BY(vfs_class); /* THING_ANIMATION; not referenced */
	/* THING_CLIP to THING_VIEW, linked by next_member */
	struct thing *members GUARDED_BY(vfs_class);
	struct marks absent GUARDED_BY(vfs_class); /* names that are absent, */
	struct marks given GUARDED_BY(vfs_class);  /* or were given attributes: given.h */
	/* The state that the kernel was last told: version, names, and the file's attributes. */
	uint64_t generation GUARDED_BY(vfs_class), names GUARDED_BY(vfs_class);
	/*
	 * From a commit until animation_publish: a look that finds `made` shows `was`, since it
	 * could know neither which view was saved nor which clips were renamed. {NULL}: none.
	 */
	struct shown_commit {
		struct version *was, *made;
	} commit GUARDED_BY(vfs_class);
	/*
	 * If the kernel opens no files: the last version that decoded, still shown when the file no
	 * longer does.
	 */
	struct version *good GUARDED_BY(vfs_class);
	struct shown_rights {
		mode_t mode;
		uid_t uid;
		gid_t gid;
		struct timespec ctime; /* {0}: unknown since a save */
	} rights GUARDED_BY(vfs_class);
	bool damaged
		/* the file does not decode now; see last_good in animation.c */
		GUARDED_BY(vfs_class);
	bool linked
		/* the file has further hard links, changes through which go unnoticed */
		GUARDED_BY(vfs_class);
	bool stills GUARDED_BY(vfs_class); /* the animation shows stills */
	/* some stills are in another folder, which is not watched */
	bool apart GUARDED_BY(vfs_class);
	uint64_t explained GUARDED_BY(vfs_class); /* generation: see diagnose_stills */
	/*
	 * Cached, for version `generation`: the size of a still of a clip whose stills are all
	 * alike.
	 */
	struct {
		uint64_t generation;
		uint32_t clip, size;
	} still GUARDED_BY(vfs_class);
	/*
	 * When something below it last changed (clock_ms); while names are absent, the time that
	 * requests have taken since is added. And the number of requests in progress.
	 */
	int64_t touched GUARDED_BY(vfs_class);
	unsigned requests GUARDED_BY(vfs_class);
	int64_t ends GUARDED_BY(vfs_class); /* when `end` is due; 0: not set */
	/* due END_MS after `touched`, or after a view with a draft was closed */
	struct deadline end;
	struct deadline look; /* due when others may have changed the file */
	/*
	 * Used by outside.c: the version from before others changed the file, until it is looked
	 * at;
	 */
	struct version *seen GUARDED_BY(vfs_class);
	/* the names that were seen last; when to invalidate all once more (clock_ms; 0: never). */
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

/* Makes one with a reference for the caller. NULL: no memory. */
struct animation *animation_new(struct vfs *v, const char *beside, bool archived);
void animation_get(struct animation *a) REQUIRES(vfs_class);
void animation_put(struct vfs *v, struct animation *a) REQUIRES(vfs_class); /* NULL is fine */

/* Where the file is now. */
struct site {
	struct folder folder;    /* not open if the file is a member of an archive */
	struct spot spot;        /* place of that member in the archive */
	struct loose_site loose; /* loose file of that member */
	char name[NAME_MAX + 1];
	char *folder_path;
	struct commit_hook hook; /* calls animation_committed */
	struct vfs *vfs;
	struct animation *animation;
	struct where where;
};
/* 0 or an errno: ENOENT if its folder no longer has a name. After 0, call site_close. */
int site_open(struct vfs *v, struct animation *a, struct site *out) EXCLUDES(vfs_class);
void site_close(struct vfs *v, struct site *site);
/*
 * The attributes of the file. For a member of an archive: those of its loose file or, if there is
 * none, those of the archive, with the member's size. 0 or an errno.
 */
int site_stat(const struct site *site, struct stat *st);
/*
 * May a member of an archive be edited through its views? 0, or EROFS and err, which names the way.
 * 0 for any other file.
 */
int animation_check(struct vfs *v, struct animation *a, struct err *err) EXCLUDES(vfs_class);
/* The file's own name; false if its folder no longer has a name. */
bool animation_name(const struct animation *a, char name[NAME_MAX + 1]) REQUIRES(vfs_class);
/* The file's attributes on disk. 0 or an errno. */
int animation_stat(struct vfs *v, struct animation *a, struct stat *st) EXCLUDES(vfs_class);

/*
 * The latest version, with a reference for the caller, and the file's attributes; st_mode is 0 if
 * the file is gone and something in it is still open. The kernel has been notified of the version
 * (except for what another caller's `changes` still holds). Returns 0; ENOENT; EIO if it does not
 * decode and nothing in it is open; ENOMEM; or the errno of reading it.
 */
int animation_look(struct vfs *v, struct animation *a, struct version **out, struct stat *st)
	EXCLUDES(vfs_class);
/*
 * Makes `now` (made by a save, or found on disk) the version that is shown, and adds to `changes`
 * everything known to the kernel that differs in it. `saved` (or NULL): the view that was saved,
 * which keeps the saved text. `relabels`: clips with a new name; their nodes get it. Does nothing
 * if `now` is older than what is shown.
 */
struct relabel { /* a renamed clip; names in file-name form */
	const char *from, *to;
};
void animation_publish(struct vfs *v, struct animation *a, struct version *now,
		       const struct thing *saved, const struct relabel *relabels, size_t count,
		       struct changes *changes) EXCLUDES(vfs_class);
/* A save replaced `was` by `made`, and will publish it: see struct animation, `commit`. */
void animation_committed(struct vfs *v, struct animation *a, struct version *was,
			 struct version *made) EXCLUDES(vfs_class);
/* The save has published its commit, or has committed nothing. */
void animation_settled(struct vfs *v, struct animation *a) EXCLUDES(vfs_class)
	REQUIRES(writer_class);
/* Are changes by others noticed, so that the kernel may cache for long? */
bool animation_is_watched(const struct vfs *v, const struct animation *a) REQUIRES(vfs_class);
/* Notes the first version of an animation that the kernel does not know yet. */
void animation_begin(struct animation *a, const struct version *now, const struct stat *st)
	REQUIRES(vfs_class);
/*
 * The place of a view or folder in a version, by the current names of its node and those above.
 * Does not check whether the view is present (view.h). False: there is none.
 */
bool place_by_names(const struct node *node, const struct version *version, struct place *out)
	REQUIRES(vfs_class);
/* ---- drafts of views ---- */

/*
 * Gives the view a draft, which it takes over. The node stays, even if the kernel forgets it, while
 * the draft has a base (draft_expire drops that).
 */
void view_give_draft(struct node *node, struct draft *draft) REQUIRES(vfs_class);
/* Forgets which program saves this view, unless some program still has it open for writing. */
void view_drop_program(struct node *node) REQUIRES(vfs_class);
/* The draft has dropped its base: the node may go once it is forgotten. */
void view_release_draft(struct vfs *v, struct node *node) REQUIRES(vfs_class);
/* Drops the draft: the view's text is rendered again. May free the node. */
void view_drop_draft(struct vfs *v, struct node *node) REQUIRES(vfs_class);
/*
 * The node is about to be pointed at another thing with the same text. The old thing keeps its
 * draft for requests that are reading it; nothing else finds it. The caller has references to both.
 */
void view_leave_draft(struct vfs *v, struct node *node) REQUIRES(vfs_class);

/*
 * Called when the view is no longer open for writing. Drops a refused draft, and a saved text whose
 * members depend on each other (draft_is_contradictory): kept as saved it would contradict itself,
 * and the next edit would be taken for a change of both. Returns whether something is left to be
 * ended later.
 */
bool view_settle(struct vfs *v, struct node *node, struct changes *changes) REQUIRES(vfs_class);
/*
 * Called when a save of the view is concluded, or has given it its name. If others have changed the
 * view since the version that the save made was published, the saved text is not the latest.
 */
void view_catch_up(struct vfs *v, struct node *node, struct changes *changes) REQUIRES(vfs_class);
/* Makes the view's name open the rendered text; open handles keep the text as saved. */
void view_part(struct vfs *v, struct node *node, struct changes *changes) REQUIRES(vfs_class);

/* ---- deadlines ---- */

/*
 * Around a request about a name in the file: the time that we take for it does not count as a pause
 * of the program. A program that removes a folder with many names, or on a slow filesystem, may
 * wait longer than END_MS for one of them. May be nested.
 */
int64_t request_begins(struct vfs *v, struct animation *a) EXCLUDES(vfs_class);
void request_ends(struct vfs *v, struct animation *a, int64_t began) EXCLUDES(vfs_class);
/* Something below it changed: restarts the wait for END_MS of quiet. */
void animation_touched(struct vfs *v, struct animation *a) REQUIRES(vfs_class);
void animation_touch(struct vfs *v, struct animation *a) EXCLUDES(vfs_class);
/* Has nothing changed below it for END_MS? */
bool animation_is_quiet(struct vfs *v, const struct animation *a) EXCLUDES(vfs_class);
/* Sets the deadline `end` to this time, unless it is due before (end.h). */
void animation_end_at(struct vfs *v, struct animation *a, int64_t when) REQUIRES(vfs_class);
/* Others may have changed the file: a thread looks at it soon. */
void animation_changed(struct vfs *v, struct animation *a) EXCLUDES(vfs_class);

/* ---- names that are absent ---- */

bool name_is_absent(const struct animation *a, const struct node *parent, const char *name)
	REQUIRES(vfs_class);
/* `folder`: the folder that has the name, or NULL if it is a file. False when out of memory. */
bool name_set_absent(struct vfs *v, struct animation *a, struct node *parent, const char *name,
		     struct node *folder) REQUIRES(vfs_class);
void name_set_present(struct vfs *v, struct animation *a, const struct node *parent,
		      const char *name) REQUIRES(vfs_class);
/*
 * A thread is about to remove a name in this folder: if that begins the removal of a clip, notes
 * the current version of the file.
 */
void removal_begin(struct vfs *v, const struct request *who, const struct target *folder)
	EXCLUDES(vfs_class);
/*
 * The clip's name has become absent: if other programs have changed the clip since its removal
 * began, their changes are not removed. `who`: the caller that removed the name.
 */
void removal_end(struct vfs *v, const struct request *who, const struct target *parent,
		 const char *name, const struct target *clip) EXCLUDES(vfs_class);
/* The folder that had an absent name; NULL if it was not a folder. */
struct node *name_folder(const struct animation *a, const struct node *parent, const char *name)
	REQUIRES(vfs_class);
/* Moves the absent names of folder `old` to `now`, which replaces it. */
void names_move(struct vfs *v, struct animation *a, const struct node *old, struct node *now)
	REQUIRES(vfs_class);

#endif
