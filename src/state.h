/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * state.h - the state directory: what a mount must not forget, beside the game's files.
 *
 *   DIR/README        what this is
 *   DIR/lock          held (flock) while a binary is checked and replaced
 *   DIR/mounts/ID     one per mount, locked for its life; lists the folders that had temporaries
 *                     of it, each ended by a NUL byte, durably before the first of them is made
 *   DIR/extra/PATH    ordinary files that people put into virtual folders, by the folder's path
 *   DIR/rejected/PATH NAME.rejected and NAME.error
 *   DIR/partial/NAME  what is being written for one of the others, until it is whole
 *   DIR/filling/PATH  an empty file for each folder PATH that was made to become a clip or an
 *                     animation file, while its texts come; the next mount goes on with it
 *   DIR/backup/PATH   binaries as they were before something was removed from them (backup.h)
 *
 * DIR is SOURCE/.animfs unless --state says otherwise. It is made when first needed, and made anew
 * when somebody removed it. Thread-safe. What returns int returns 0 or an errno.
 */
#ifndef ANIMFS_STATE_H
#define ANIMFS_STATE_H

#include "animfs/base.h"
#include "util/lock_classes.h"
#include <sys/stat.h>

enum state_area { STATE_EXTRA, STATE_REJECTED, STATE_BACKUP, STATE_FILLING };
#define STATE_AREA_COUNT 4

struct state;

/*
 * `source` is SOURCE's descriptor and stays the caller's. `dir` is --state, or NULL; it need not
 * exist, but the folder that it is in must. Nothing is written yet, but stale temporaries of mounts
 * that are gone are removed where a directory exists. read_only: nothing will be made or removed.
 * NULL and err on failure; a directory that cannot be written is none (state_writable).
 */
struct state *state_new(int source, const char *dir, bool read_only, struct err *err);
void state_free(struct state *s); /* ends the mount's own entry in mounts/; NULL is fine */
/* 0 when things can be made in it, or why not: EROFS, EACCES ... */
int state_writable(struct state *s);
/* Is this the state directory itself? For hiding it where SOURCE contains it. */
bool state_is(struct state *s, const struct stat *st);

/* DIR as an O_PATH descriptor; ENOENT where it is not there. */
int state_open(struct state *s, int *fd);
/* The same, made where it is not there; ENOENT where nothing is to be made. */
int state_hold(struct state *s, int *fd);
/* DIR's own name, for messages. */
const char *state_name(const struct state *s);
/* The folder that DIR is in, or will be, as a descriptor that stays the state's. */
int state_above(const struct state *s);
/*
 * From here on that folder is used by another descriptor, which stays the caller's; with `itself`
 * that is DIR, and nothing above it is used any more.
 */
int state_move(struct state *s, int folder, bool itself);

/* The folder PATH of an area as an O_PATH descriptor; ENOENT where it is not there and !make. */
int state_folder(struct state *s, enum state_area area, const char *path, bool make, int *fd);

/*
 * What belongs to the folder `from` belongs to `to` from now on, with all below it: in every area.
 * Where `to` has something of its own already, both stay as they are (ENOTEMPTY).
 */
int state_rename(struct state *s, const char *from, const char *to);

/*
 * Exclusive between all threads, mounts and commands that use this state directory. Not recursive;
 * the thread that locked it unlocks it, and only where state_lock returned 0.
 */
int state_lock(struct state *s) TRY_ACQUIRE(0, replace_class);
void state_unlock(struct state *s) RELEASE(replace_class);
/* EBUSY where another process has it; waits for other threads of this one only for moments. */
int state_trylock(struct state *s) TRY_ACQUIRE(0, replace_class);
/* Waits until no other process has it, at most so long (ETIMEDOUT). It is not taken. */
int state_wait(struct state *s, int64_t ms);

/*
 * A name for a temporary in the folder `path` of SOURCE (relative, "" for the root) that says
 * whose it is; the folder is noted in mounts/ID first, so that the next mount can clean it after a
 * kill. Call state_temporary_gone when it was renamed or removed.
 */
#define STATE_TEMPORARY_SIZE 72
int state_temporary(struct state *s, const char *path, char *name, size_t size);
void state_temporary_gone(struct state *s, const char *path);

/*
 * The folder for what is to be moved, when it is whole, to another one of DIR, as an O_PATH
 * descriptor, and a name there. What a kill leaves in it is removed by the next mount.
 */
int state_partial(struct state *s, int *fd, char *name, size_t size);
/*
 * Puts a file of these bytes under `name` into `folder`, whole or, after a kill too, not at all.
 * in_source: the folder's path from SOURCE, or NULL where it is one of DIR.
 */
#define STATE_PUT_NEW 1  /* EEXIST where something of that name is there */
#define STATE_PUT_SYNC 2 /* it is to outlast a power cut */
int state_put(struct state *s, int folder, const char *in_source, const char *name, mode_t mode,
	      struct bytes data, unsigned how);
/*
 * The same of a file that belongs to somebody: it has this owner, where that can be given, and this
 * mode, whatever the umask, before it can be seen.
 */
struct state_owner {
	uid_t uid;
	gid_t gid;
	mode_t mode;
};
int state_put_as(struct state *s, int folder, const char *in_source, const char *name,
		 const struct state_owner *owner, struct bytes data, unsigned how);

#endif
