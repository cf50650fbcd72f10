/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ages.h - when each clip and track last said something else: the mtime of its views.
 *
 * A save replaces the whole file, but a backup, make or rsync must see a change only where there is
 * one. What is the same as in the version before, by name, keeps its time.
 */
#ifndef ANIMFS_AGES_H
#define ANIMFS_AGES_H

#include "animfs/anim.h"
#include <time.h>

struct snap;

struct ages {
	uint32_t *first; /* by clip: where its times begin: the clip's own, then its tracks' */
	struct timespec *at;
	size_t size; /* of both */
	struct timespec now; /* what is as old as this changed with the version, all else did not */
	uint64_t
		since; /* the generation that this is told from, where curves alone changed; or 0 */
};

/*
 * `before` is the version before, or NULL where it is not known. `edit` is the model edited from it
 * that was stored as `anim` (anim_stored), or NULL: its clips that still have the tracks of before
 * need not be compared again. False when out of memory.
 */
bool ages_init(struct ages *ages, const struct anim *anim, struct timespec now,
	       const struct snap *before, const struct anim *edit);
void ages_release(struct ages *ages);

/* track -1: of the clip, which is when it or any of its tracks changed. */
struct timespec ages_of(const struct ages *ages, uint32_t clip, int64_t track);
/* Does it say what it said in the version `since`? (Or false, where it is not known.) */
bool ages_kept(const struct ages *ages, uint32_t clip, int64_t track);

#endif
