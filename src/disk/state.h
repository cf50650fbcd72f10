/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * state.h - the state directory: everything that a mount must keep besides the game's files.
 *
 *   DIR/README        explains the directory to people
 *   DIR/lock          held (flock) while a binary is checked and replaced
 *   DIR/mounts/ID     one per mount, locked for its life; lists the folders that had temporaries
 *                     of it, each ended by a NUL byte, durably before the first of them is made
 *   DIR/extra/PATH    ordinary files that people put into virtual folders, by the folder's path
 *   DIR/rejected/PATH NAME.rejected and NAME.error
 *   DIR/partial/NAME  a file that is being written for one of the others, until it is whole
 *   DIR/staging/PATH  an empty file for each folder PATH that was made to become a clip or an
 *                     animation file, while it is filled; the next mount continues
 *   DIR/history/NUMBER the versions of a file that saves have replaced (history.h)
 *
 * Names below extra, rejected and staging are stored as portable.h says, so that DIR can be on any
 * filesystem; paths here are those of the mount. DIR is SOURCE/.animfs unless --state says
 * otherwise. It is made when first needed, and again if it was removed. Thread-safe. Functions that
 * return int return 0 or an errno.
 */
#ifndef ANIMFS_DISK_STATE_H
#define ANIMFS_DISK_STATE_H

#include "animfs/base.h"
#include "util/lock_classes.h"
#include <limits.h>
#include <sys/stat.h>

enum state_area { STATE_UPPER, STATE_REJECTED, STATE_HISTORY, STATE_STAGING };
#define STATE_AREA_COUNT 4

struct state;

/*
 * `source` is SOURCE's descriptor and stays the caller's. `dir` is --state, or NULL; it need not
 * exist, but its parent must. Writes nothing yet. read_only: never makes or removes anything. NULL
 * and err on failure; a directory that cannot be written is no failure (state_writable).
 */
struct state *state_new(int source, const char *dir, bool read_only, struct err *err);
/*
 * Removes temporaries of mounts that have ended, if the directory exists. `rescue`, unless NULL, is
 * called first for each one in SOURCE: 0 if it has moved or removed it, ENOENT if it can be
 * removed; any other errno leaves it to the next mount. `folder` is the path of `dir` from SOURCE.
 */
typedef int state_rescue(struct state *s, const char *folder, int dir, const char *name);
void state_clean(struct state *s, state_rescue *rescue);
void state_free(struct state *s); /* ends the mount's own entry in mounts/; NULL is fine */
/* 0 if it can be written, else why not: EROFS, EACCES ... */
int state_writable(struct state *s);
/* Is the file with this stat the state directory? Used to hide it if SOURCE contains it. */
bool state_is(struct state *s, const struct stat *st);

/* Opens DIR with O_PATH; ENOENT if it does not exist. */
int state_open(struct state *s, int *fd);
/* Like state_open, but makes DIR if it does not exist; ENOENT if read-only. */
int state_make(struct state *s, int *fd);
/*
 * Loose files, which stand for members of archives in SOURCE: the path of one begins with that of
 * the archive. `open` opens their root with O_PATH; NULL: there are none. Set it before
 * state_clean.
 */
typedef int state_overlay_open(void *closure, int *fd);
void state_overlay(struct state *s, state_overlay_open *open, void *closure);
/*
 * Opens a folder with O_PATH by its path from SOURCE, in SOURCE or below the root of loose
 * files.
 */
int state_walk(const struct state *s, const char *folder, int *fd);
/* Returns SOURCE's descriptor, which state keeps. */
int state_source(const struct state *s);
/* Returns the name of DIR as the user gave it, for messages. */
const char *state_name(const struct state *s);
/* Returns a descriptor of DIR's parent folder, which state keeps. */
int state_above(const struct state *s);
/*
 * Makes `folder`, which stays the caller's, DIR's parent or, with `itself`, DIR. From then on
 * nothing above it is used.
 */
int state_move(struct state *s, int folder, bool itself);

/*
 * Opens the folder PATH of an area with O_PATH; ENOENT if it does not exist and !make. The caller
 * stores names in it as portable.h says.
 */
int state_folder(struct state *s, enum state_area area, const char *path, bool make, int *fd);
/* Like state_folder, for the parent folder of PATH; *name points to the last part of PATH. */
int state_parent(struct state *s, enum state_area area, const char *path, bool make,
		 const char **name, int *fd);
/* Like state_parent, but returns the last part of PATH in its stored form. */
int state_place(struct state *s, enum state_area area, const char *path, bool make,
		char stored[NAME_MAX + 1], int *fd);

/*
 * After a rename of a folder from `from` to `to`: moves the entries of all areas for it and below,
 * except history, which has history_rename. If `to` has something already, nothing moves
 * (ENOTEMPTY).
 */
int state_rename(struct state *s, const char *from, const char *to);

/*
 * Takes the exclusive lock of the state directory, among all threads, mounts and commands. Not
 * recursive; unlock in the same thread, and only if state_lock returned 0. EBUSY if another process
 * holds the lock for STATE_LOCK_MS, or `ms`.
 */
int state_lock(struct state *s) TRY_ACQUIRE(0, replace_class);
int state_lock_within(struct state *s, int64_t ms) TRY_ACQUIRE(0, replace_class);
void state_unlock(struct state *s) RELEASE(replace_class);
/* Takes the lock; EBUSY if another process holds it. Waits for other threads of this process. */
int state_trylock(struct state *s) TRY_ACQUIRE(0, replace_class);
/* Waits up to `ms` until no other process holds the lock (else EBUSY), without taking it. */
int state_wait(struct state *s, int64_t ms);

/*
 * Makes a name for a temporary in the folder `path` of SOURCE (relative, "" for the root) that
 * identifies this mount. The folder is first noted in mounts/ID, so that the next mount can clean
 * it after a kill. Call state_temporary_gone once it was renamed or removed.
 */
#define STATE_TEMPORARY_SIZE 72
int state_temporary(struct state *s, const char *path, char *name, size_t size);
/*
 * Like state_temporary, for a file or folder that is renamed to `new_name` in two steps: after a
 * kill it is not removed, but gets that name, or a similar one if the name is in use or too long to
 * be part of the temporary's.
 */
int state_on_its_way(struct state *s, const char *path, const char *new_name,
		     char name[NAME_MAX + 1]);
void state_temporary_gone(struct state *s, const char *path);

/*
 * Opens with O_PATH the folder for files that are written before they are moved to another folder
 * of DIR, and makes a name in it. The next mount removes files that a kill left there.
 */
int state_partial(struct state *s, int *fd, char *name, size_t size);
/*
 * Puts a file with these bytes into `folder`; after a kill it is whole or absent. in_source: the
 * folder's path from SOURCE; NULL: it is in DIR.
 */
#define STATE_PUT_NEW 1  /* fail with EEXIST if the name exists */
#define STATE_PUT_SYNC 2 /* make the file durable with fsync */
int state_put(struct state *s, int folder, const char *in_source, const char *name, mode_t mode,
	      struct bytes data, unsigned how);
/*
 * Like state_put, with an owner, as far as it can be set (-1: ours), a mode, whatever the umask,
 * and a time (NULL: now), which are all set before the file is visible.
 */
struct state_owner {
	uid_t uid;
	gid_t gid;
	mode_t mode;
	const struct timespec *mtime;
};
int state_put_as(struct state *s, int folder, const char *in_source, const char *name,
		 const struct state_owner *owner, struct bytes data, unsigned how);
/*
 * Like state_put, in an area of the state directory: `folder` is the descriptor of the folder
 * `path`, which is made again if another process removes it while it is empty.
 */
int state_put_below(struct state *s, enum state_area area, const char *path, int folder,
		    const char *name, const struct state_owner *owner, struct bytes data,
		    unsigned how);

#endif
