/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ages.h - since when each clip and track of a version has been the same: the time, which is the
 * mtime of its views, and the generation of the version in which its texts became what they are.
 *
 * A save replaces the whole file, but a backup, make or rsync must see a change only where there is
 * one. What is the same as in the version before, by name, keeps its time.
 */
#ifndef ANIMFS_AGES_H
#define ANIMFS_AGES_H

#include "animfs/anim.h"
#include "labels.h"
#include <time.h>

struct age {
	struct timespec time;
	uint64_t since; /* generation; says more than the time, which others can set */
};

struct ages {
	uint32_t *first; /* by clip: where its ages begin: the clip's own, then its tracks' */
	struct age *at;
	size_t size; /* of both */
};

/* A model and what is known of it. */
struct aged {
	const struct anim *anim;
	const struct labels *labels;
	const struct ages *ages; /* may be empty */
};

/*
 * `now` is the age of what is new. `before` is the version before; its ages are empty where it is
 * not known. kept: what the texts depend on beside clips and tracks is the same in it, so that
 * generations are inherited as times are. `edit` is the model edited from before that was stored as
 * `anim` (anim_stored), or NULL: its clips that still have the tracks of before need not be
 * compared again. False when out of memory.
 */
bool ages_init(struct ages *ages, const struct anim *anim, struct age now,
	       const struct aged *before, bool kept, const struct anim *edit);
void ages_release(struct ages *ages);

/* track -1: of the clip, which is as old as the newest change in it or in any of its tracks. */
struct age ages_of(const struct ages *ages, uint32_t clip, int64_t track);

#endif
