/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * animation.h - an animation file while the mount shows it: its versions, drafts, absent names, and
 * the state that the kernel was notified of.
 *
 * Only animation_look() gives the version that is shown, which is the latest; it notifies the
 * kernel of that version before it returns. An open view keeps showing the version that it was
 * opened with (sight_of).
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
	 * Constant. NULL: the file is shown as a folder. Otherwise the file is shown as itself,
	 * with its folder beside it, and this is the end of the file's name that the folder's name
	 * replaces by ".d".
	 */
	const char *beside;
	bool archived;                    /* constant: the file is a member of an archive */
	bool lists GUARDED_BY(vfs_class); /* the file lists others beside it (format.parts) */
	/* reads the file, and has its latest version; constant; has its own lock */
	struct source *source;
	/*
	 * Held while the file is changed, from taking the version that the change starts from until
	 * the new version is published, and while names in its folder are moved. Readers do not
	 * take it.
	 */
	struct lock writer;
	/* batches of saves that are running: see batches.h */
	struct program_batch *batches GUARDED_BY(writer_class);
	/* known versions of the file: see known.h; NULL: not loaded */
	struct known *known GUARDED_BY(writer_class);
	/*
	 * The node of `folder`, with a reference, as long as there are batches or known versions;
	 * else NULL. See keep_folder in batches.c.
	 */
	struct node *kept GUARDED_BY(writer_class);
	/*
	 * Hash of the text that was saved last, and the generation of the version that this save
	 * made.
	 */
	struct last_text {
		uint64_t hash, generation;
		bool as_said; /* as_said of the attempt that saved the text */
	} last_text GUARDED_BY(writer_class);

	uint32_t references GUARDED_BY(vfs_class);
	/* thing of the animation's folder (THING_ANIMATION); not referenced */
	struct thing *folder GUARDED_BY(vfs_class);
	/* things of this animation from THING_CLIP to THING_VIEW, linked by next_member */
	struct thing *members GUARDED_BY(vfs_class);
	struct marks absent GUARDED_BY(vfs_class); /* names that are absent */
	struct marks given GUARDED_BY(vfs_class);  /* names that were given attributes: given.h */
	/*
	 * The state that the kernel was last notified of: generation of the version, and a hash of
	 * the names (version_outline).
	 */
	uint64_t generation GUARDED_BY(vfs_class), names GUARDED_BY(vfs_class);
	/*
	 * A commit that is not published yet, from the commit until animation_publish; {NULL}:
	 * none. Meanwhile a look that finds `made` in the file shows `was`, since it does not know
	 * which view was saved nor which clips were renamed.
	 */
	struct shown_commit {
		struct version *was, *made;
	} commit GUARDED_BY(vfs_class);
	/*
	 * If the kernel opens no files: the last version that decoded, which is shown even if the
	 * file no longer decodes.
	 */
	struct version *good GUARDED_BY(vfs_class);
	struct shown_rights {
		mode_t mode;
		uid_t uid;
		gid_t gid;
		struct timespec ctime; /* ctime of the file; {0}: unknown since a save */
	} rights GUARDED_BY(vfs_class);
	bool damaged
		/* the file does not decode now; see last_good in animation.c */
		GUARDED_BY(vfs_class);
	bool linked
		/* the file has further hard links, changes through which go unnoticed */
		GUARDED_BY(vfs_class);
	bool stills GUARDED_BY(vfs_class); /* the animation shows stills */
	/* some stills are in another folder than the animation, which is not watched */
	bool apart GUARDED_BY(vfs_class);
	/* generation of the version that diagnose_stills has reported on */
	uint64_t explained GUARDED_BY(vfs_class);
	/*
	 * Size of a still, cached for version `generation` and one clip whose stills are all alike.
	 */
	struct {
		uint64_t generation;
		uint32_t clip, size;
	} still GUARDED_BY(vfs_class);
	/*
	 * When something below the animation last changed (clock_ms); while names are absent, the
	 * time that requests have taken since is added.
	 */
	int64_t touched GUARDED_BY(vfs_class);
	unsigned requests GUARDED_BY(vfs_class);
	int64_t ends GUARDED_BY(vfs_class); /* the time when `end` is due; 0: not set */
	/*
	 * ends unfinished work; due END_MS after `touched`, or after a view with a draft was closed
	 */
	struct deadline end;
	/* looks at the file; due soon after other programs may have changed it */
	struct deadline look;
	/*
	 * For outside.c: the version from before other programs changed the file, until the file is
	 * looked at.
	 */
	struct version *seen GUARDED_BY(vfs_class);
	/*
	 * For outside.c: hash of the names seen when it looked last. `again`: when to invalidate
	 * all names once more (clock_ms; 0: never).
	 */
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

/* Makes an animation with one reference, for the caller. Returns NULL when out of memory. */
struct animation *animation_new(struct vfs *v, const char *beside, bool archived);
void animation_get(struct animation *a) REQUIRES(vfs_class);
void animation_put(struct vfs *v, struct animation *a) REQUIRES(vfs_class); /* NULL is fine */

/* The place of an animation file, found by site_open. */
struct site {
	/* folder of the file; not open if the file is a member of an archive */
	struct folder folder;
	struct spot spot;        /* if the file is a member of an archive: its place there */
	struct loose_site loose; /* if the file is a member of an archive: its loose file */
	char name[NAME_MAX + 1];
	char *folder_path;
	struct commit_hook hook; /* its function is animation_committed */
	struct vfs *vfs;
	struct animation *animation;
	struct where where;
};
/*
 * Finds where the animation file is now. Returns 0 or an errno: ENOENT if the animation's folder no
 * longer has a name. After 0, call site_close.
 */
int site_open(struct vfs *v, struct animation *a, struct site *out) EXCLUDES(vfs_class);
void site_close(struct vfs *v, struct site *site);
/*
 * Reads the attributes of the file: for a member of an archive, those of its loose file or, if
 * there is none, those of the archive, with the member's size. Returns 0 or an errno.
 */
int site_stat(const struct site *site, struct stat *st);
/*
 * Checks whether the file may be edited through its views, if it is a member of an archive. Returns
 * 0, or EROFS with a message in err for the user, which names another way; 0 for any other file.
 */
int animation_check(struct vfs *v, struct animation *a, struct err *err) EXCLUDES(vfs_class);
/* Copies the file's own name to `name`; false if the animation's folder no longer has a name. */
bool animation_name(const struct animation *a, char name[NAME_MAX + 1]) REQUIRES(vfs_class);
/* Reads the file's attributes on disk. Returns 0 or an errno. */
int animation_stat(struct vfs *v, struct animation *a, struct stat *st) EXCLUDES(vfs_class);

/*
 * Returns the latest version, with a reference for the caller, and the file's attributes; st_mode
 * is 0 if the file is gone and something in it is still open. The kernel has been notified of the
 * version (except for notifications that another caller still holds in its `changes`). Returns 0;
 * ENOENT; EIO if the file does not decode and nothing in it is open; ENOMEM; or the errno of
 * reading the file.
 */
int animation_look(struct vfs *v, struct animation *a, struct version **out, struct stat *st)
	EXCLUDES(vfs_class);
/*
 * Makes `now` (made by a save, or found on disk) the version that is shown, and adds to `changes`
 * everything known to the kernel that differs in it. `saved` (or NULL): the view that was saved,
 * which keeps the saved text. `relabels`: clips with new names, which their nodes get. Does nothing
 * if `now` is older than what is shown.
 */
struct relabel { /* a renamed clip; names in file-name form */
	const char *from, *to;
};
void animation_publish(struct vfs *v, struct animation *a, struct version *now,
		       const struct thing *saved, const struct relabel *relabels, size_t count,
		       struct changes *changes) EXCLUDES(vfs_class);
/*
 * Notes that a save has replaced `was` by `made` on disk, and will publish `made`: see `commit` in
 * struct animation.
 */
void animation_committed(struct vfs *v, struct animation *a, struct version *was,
			 struct version *made) EXCLUDES(vfs_class);
/*
 * Ends what animation_committed began: the save has published its commit, or has committed nothing.
 */
void animation_settled(struct vfs *v, struct animation *a) EXCLUDES(vfs_class)
	REQUIRES(writer_class);
/* Returns whether changes by other programs are noticed, so that the kernel may cache for long. */
bool animation_is_watched(const struct vfs *v, const struct animation *a) REQUIRES(vfs_class);
/*
 * Notes the first version of an animation as the one that the kernel is notified of: it does not
 * know the animation yet.
 */
void animation_begin(struct animation *a, const struct version *now, const struct stat *st)
	REQUIRES(vfs_class);
/*
 * Finds the place of a view or folder in a version, by the present names of its node and the nodes
 * above. Does not check whether the view is present (view.h). Returns false if there is no such
 * place.
 */
bool place_by_names(const struct node *node, const struct version *version, struct place *out)
	REQUIRES(vfs_class);
/* ---- drafts of views ---- */

/*
 * Gives the view a draft, which it takes over. While the draft has a base, it keeps the node even
 * if the kernel forgets it (draft_expire drops the base).
 */
void view_give_draft(struct node *node, struct draft *draft) REQUIRES(vfs_class);
/* Forgets which program saves this view, unless some program still has it open for writing. */
void view_drop_program(struct node *node) REQUIRES(vfs_class);
/*
 * Releases the reference that the draft had to the node, after the draft has dropped its base. May
 * free the node.
 */
void view_release_draft(struct vfs *v, struct node *node) REQUIRES(vfs_class);
/* Drops the draft: the view's text is rendered again. May free the node. */
void view_drop_draft(struct vfs *v, struct node *node) REQUIRES(vfs_class);
/*
 * Releases the reference that the view's draft has to the node, which is about to be pointed at
 * another thing with the same text. The old thing keeps the draft for requests that are reading it;
 * no other request finds it. The caller has references to node and thing.
 */
void view_leave_draft(struct vfs *v, struct node *node) REQUIRES(vfs_class);

/*
 * Called when the view is no longer open for writing. Drops a refused draft. Also drops a saved
 * text whose members depend on each other (draft_is_contradictory): kept as saved it would
 * contradict itself, and the next edit would count as a change of both. Returns whether a draft is
 * left, to be ended later.
 */
bool view_settle(struct vfs *v, struct node *node, struct changes *changes) REQUIRES(vfs_class);
/*
 * Replaces the view's node if others have changed the view since the version that its save made was
 * published: then the saved text is not the latest. Called when a save of the view is concluded, or
 * has given the view its name.
 */
void view_catch_up(struct vfs *v, struct node *node, struct changes *changes) REQUIRES(vfs_class);
/*
 * Makes the view's name open the rendered text, and drops the saved one; open handles keep the text
 * as saved.
 */
void view_part(struct vfs *v, struct node *node, struct changes *changes) REQUIRES(vfs_class);

/* ---- deadlines ---- */

/*
 * Begins a request about a name in the animation; request_ends ends it. The time in between does
 * not count as a pause of the program, which may wait longer than END_MS for one request if it
 * removes a folder with many names, or on a slow filesystem. May be nested.
 */
int64_t request_begins(struct vfs *v, struct animation *a) EXCLUDES(vfs_class);
void request_ends(struct vfs *v, struct animation *a, int64_t began) EXCLUDES(vfs_class);
/* Notes that something below the animation changed: restarts the wait for END_MS of quiet. */
void animation_touched(struct vfs *v, struct animation *a) REQUIRES(vfs_class);
void animation_touch(struct vfs *v, struct animation *a) EXCLUDES(vfs_class);
/* Returns whether nothing has changed below the animation for END_MS. */
bool animation_is_quiet(struct vfs *v, const struct animation *a) EXCLUDES(vfs_class);
/* Sets the deadline `end` of the animation to the time `when`, unless it is due earlier (end.h). */
void animation_end_at(struct vfs *v, struct animation *a, int64_t when) REQUIRES(vfs_class);
/* Schedules a look at the file, which other programs may have changed; a thread makes it soon. */
void animation_changed(struct vfs *v, struct animation *a) EXCLUDES(vfs_class);

/* ---- names that are absent ---- */

bool name_is_absent(const struct animation *a, const struct node *parent, const char *name)
	REQUIRES(vfs_class);
/*
 * Makes the name `name` in `parent` absent. `folder`: the node of the folder that has the name, or
 * NULL if a file has it. Returns false when out of memory.
 */
bool name_set_absent(struct vfs *v, struct animation *a, struct node *parent, const char *name,
		     struct node *folder) REQUIRES(vfs_class);
void name_set_present(struct vfs *v, struct animation *a, const struct node *parent,
		      const char *name) REQUIRES(vfs_class);
/*
 * Called when a thread is about to remove a name in this folder of an animation. If that begins the
 * removal of a clip, notes the current version of the file.
 */
void removal_begin(struct vfs *v, const struct request *who, const struct target *folder)
	EXCLUDES(vfs_class);
/*
 * Called when a clip's name has become absent. If other programs have changed the clip since its
 * removal began, their changes are not removed. `who`: the caller that removed the name.
 */
void removal_end(struct vfs *v, const struct request *who, const struct target *parent,
		 const char *name, const struct target *clip) EXCLUDES(vfs_class);
/* Returns the node of the folder that had the absent name; NULL if the name was not a folder's. */
struct node *name_folder(const struct animation *a, const struct node *parent, const char *name)
	REQUIRES(vfs_class);
/* Moves the absent names of the folder `old` to the folder `now`, which replaces it. */
void names_move(struct vfs *v, struct animation *a, const struct node *old, struct node *now)
	REQUIRES(vfs_class);

#endif
