/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * known.h - the known versions of an animation file (store/digests.h): each version that was saved,
 * or found by a save, and each that others replaced after texts of it had been read. They are
 * stored in the state directory (history_blob_put), so that copies are recognized after a remount,
 * and after history has dropped the bytes. For the latest versions also remembers the program that
 * saved them (not stored).
 *
 * Guarded by the writer's lock of the animation.
 */
#ifndef ANIMFS_VFS_KNOWN_H
#define ANIMFS_VFS_KNOWN_H

#include "vfs.h"

#include "store/digests.h"

struct program;

/* A save, and the number of the version that it made. */
struct known_save {
	uint32_t number;
	uint64_t program; /* id of the program that saved; 0: unknown */
	char name[64];    /* command of that program */
	char *path;       /* path of the view from SOURCE */
	int64_t when;     /* when the save was done (clock_ms) */
	time_t time;
};

struct known;

/* Loads the digests stored for the file. NULL when out of memory. */
struct known *known_load(struct vfs *v, const struct where *where);
void known_free(struct known *k); /* NULL is fine */
const struct digests *known_digests(const struct known *k);

/*
 * Adds the latest versions in history that are unknown, in the first call and whenever `now` is not
 * known; call it before known_look. Another mount or command made these versions, and may have
 * shown their texts.
 */
void known_learn(struct known *k, struct vfs *v, const struct where *where, struct source *source,
		 struct version *now);
/*
 * Adds the current version `now`, after the versions that others have replaced since the last call,
 * and the texts of these versions that were served. Returns the number of `now`; 0 when out of
 * memory.
 */
uint32_t known_look(struct known *k, struct source *source, struct version *now);
/* Returns the number of a version, which is added if it is not known yet. */
uint32_t known_number(struct known *k, struct version *v);
/*
 * Adds the version `saved`, which a save by this program (or NULL) made from `before`, a version
 * that known_look has added. Returns its number; 0 when out of memory.
 */
uint32_t known_add(struct known *k, struct version *saved, struct version *before,
		   const struct program *program, const char *path);
/*
 * Notes that history has a version that a save made: if it has none later, the versions were
 * forgotten.
 */
void known_kept(struct known *k);
/*
 * Notes that this text was saved as the view with this path, and is served as it was saved in the
 * version of that number.
 */
void known_note(struct known *k, const char *in_file, struct bytes text, uint32_t number);
/*
 * Returns the save that made the version with this number; NULL if it is unknown, since it is too
 * old, or was made elsewhere.
 */
const struct known_save *known_save_of(const struct known *k, uint32_t number);

/* Returns whether anything is not stored yet. */
bool known_is_changed(const struct known *k);
/*
 * Stores the digests, unless the file's versions in history were forgotten after a save
 * (known_kept). Returns 0 or an errno: EBUSY if another process has locked the state directory.
 * After an error known_is_changed stays true.
 */
int known_store(struct known *k, struct vfs *v, const struct where *where);

/* Notes in the version that this text of one of its views was served. */
void known_serve(struct version *version, const struct place *place, struct bytes text);

#endif
