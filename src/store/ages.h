/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ages.h - since when each clip and track of a version has been unchanged: the time, which is the
 * mtime of its views, and the generation, that of the version in which its texts last changed.
 *
 * A save replaces the whole file, but backups, make and rsync must see only the changed views as
 * changed. A clip or track that is equal to the one of the same name in the previous version keeps
 * its age.
 */
#ifndef ANIMFS_STORE_AGES_H
#define ANIMFS_STORE_AGES_H

#include "animfs/anim.h"
#include "labels.h"
#include <time.h>

struct age {
	struct timespec time;
	uint64_t since; /* generation; unlike the time, no program can set it */
};

struct ages {
	/* by clip: index in `at` of the clip's age, which its tracks' ages follow */
	uint32_t *first;
	struct age *at;
	size_t count;      /* of ages in `at` */
	size_t size;       /* memory of both, in bytes */
	struct age listed; /* of everything but the curves: the list of clips and bones */
};

/* A model and its ages. */
struct aged {
	const struct anim *anim;
	const struct labels *labels;
	const struct ages *ages; /* may be empty */
};

/*
 * Computes the ages of `anim`. `now`: the age of changed parts. `before`: the previous version; its
 * ages are empty if unknown. kept: all other inputs of texts are unchanged, so generations are
 * inherited as well as times. `edit`: the model edited from before->anim that was stored as `anim`
 * (anim_stored), or NULL; tracks that it shares with before->anim are not compared again. False
 * when out of memory.
 */
bool ages_init(struct ages *ages, const struct anim *anim, struct age now,
	       const struct aged *before, bool kept, const struct anim *edit);
void ages_release(struct ages *ages);
/*
 * Copies the data that ages_resume needs: only `listed` if all ages are equal, as in a file that
 * was only read. False when out of memory, and if `from` is empty.
 */
bool ages_remember(struct ages *to, const struct ages *from);
/*
 * The ages of the same model when it is read again: as remembered, or, unless kept (see above),
 * only the times are.
 */
void ages_resume(struct ages *ages, const struct ages *was, bool kept);

/*
 * The age of a track or, with track -1, of the clip: that of the newest change in it or its tracks.
 */
struct age ages_of(const struct ages *ages, uint32_t clip, int64_t track);
/* The age of the content of a view with `lists`, apart from the file's name. */
struct age ages_listed(const struct ages *ages);

#endif
