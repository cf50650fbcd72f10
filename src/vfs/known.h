/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * known.h - the known versions of an animation file (store/digests.h): each that was saved, or
 * found by a save, and each that others replaced after texts of it had been read. They are stored
 * in the state directory (history_blob_put), so that copies are recognized after a remount, and
 * after history has dropped the bytes. For the latest versions, also the program that saved them
 * (not stored).
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
	uint64_t program; /* the program's id; 0: unknown */
	char name[64];    /* the program's command */
	char *path;       /* the view's path from SOURCE */
	int64_t when;     /* clock_ms */
	time_t time;
};

struct known;

/* Loads the digests stored for the file. NULL when out of memory. */
struct known *known_load(struct vfs *v, const struct where *where);
void known_free(struct known *k); /* NULL is fine */
const struct digests *known_digests(const struct known *k);

/*
 * Call it before known_look if `now` was not made here: adds the latest versions of the history
 * that are unknown. They were made by another mount or command, which may have shown their texts.
 */
void known_learn(struct known *k, struct vfs *v, const struct where *where, struct source *source,
		 struct version *now);
/*
 * Adds the current version `now`, after those that others replaced since, and the texts that were
 * served of these. Returns its number; 0 when out of memory.
 */
uint32_t known_look(struct known *k, struct source *source, struct version *now);
/* The number of a version, which is added if it is not known yet. */
uint32_t known_number(struct known *k, struct version *v);
/* A save by this program (or NULL) made `saved` from `before`, which known_look has added. */
uint32_t known_add(struct known *k, struct version *saved, struct version *before,
		   const struct program *program, const char *path);
/* The history has a version that a save made: if it has none later, that was forgotten. */
void known_kept(struct known *k);
/* This text was saved as the view of this path, and is served as saved in that version. */
void known_note(struct known *k, const char *in_file, struct bytes text, uint32_t number);
/* The save that made the version; NULL: unknown, since it is too old, or was made elsewhere. */
const struct known_save *known_save_of(const struct known *k, uint32_t number);

/* Is there anything that is not stored yet? */
bool known_is_changed(const struct known *k);
/*
 * Stores it, unless the file's versions were forgotten after a save (known_kept). 0 or an errno:
 * EBUSY if another process has locked the state directory. After an error it is still changed.
 */
int known_store(struct known *k, struct vfs *v, const struct where *where);

/* Notes that this text of a view in this version was served. */
void known_serve(struct version *version, const struct place *place, struct bytes text);

#endif
