/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * stills.h - the stills of an animation file that names them: finds their files, and joins those of
 * each clip (x3d_join.h).
 *
 * A still is the scene in the file itself, or a file with a name that ends in .x3d: in the folder
 * of the animation or in one below it, the same for all stills of a clip, since the engine does not
 * interpolate between different ones. With a guard, only files in the animation's own folder that
 * every reader of the animation may read count.
 */
#ifndef ANIMFS_STORE_STILLS_H
#define ANIMFS_STORE_STILLS_H

#include "animfs/view.h"
#include "disk/dirfd.h"
#include "sandbox/guard.h"

/* limit for all stills of a file, each as often as it is named */
#define STILLS_BYTES_MAX ((size_t)64 << 20)

struct stills;

/* The file that names the stills, and where it is. */
struct stills_of {
	int dir;
	const char *file_name;
	struct bytes bytes; /* bytes of the file */
	const struct anim *anim;
	const struct guard *guard;
};

/* Loads all stills that a file names. NULL when out of memory. */
struct stills *stills_load(const struct stills_of *of);
void stills_free(struct stills *s); /* NULL is fine */
/*
 * Would loading them again give the same? One fstatat for each still while they are unchanged.
 * Updates its notes, so only one thread at a time may call it.
 */
bool stills_same(struct stills *s, const struct stills_of *of);

/* The stills of a clip, followed by those of later clips; NULL: there is no clip of this number. */
const struct shown_stills *stills_of_clip(const struct stills *s, uint32_t clip);
struct timespec stills_mtime(const struct stills *s); /* of the newest; {0} where there is none */
/* Is one of them in another folder than the file? */
bool stills_apart(const struct stills *s);
uint64_t stills_hash(const struct stills *s); /* hash of the bytes of all stills that were read */
size_t stills_size(const struct stills *s);   /* all their memory */
/* Could a file of this name be a still? */
bool stills_claims(const char *name);

#endif
