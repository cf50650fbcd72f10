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
	uint64_t since; /* generation, which, unlike the time, no program can set */
};

struct ages {
	/* for each clip: index in `at` of the clip's age, which is followed by its tracks' ages */
	uint32_t *first;
	struct age *at;
	size_t count; /* number of ages in `at` */
	size_t size;  /* size of `first` and `at` together, in bytes */
	/*
	 * age of everything but the curves: the list of clips and bones, and of those bones whose
	 * rotations have no angles
	 */
	struct age listed;
};

/* A model and its ages. */
struct aged {
	const struct anim *anim;
	const struct labels *labels;
	const struct ages *ages; /* ages of `anim`; may be empty */
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
 * Computes the ages of a model that is read again from those remembered; unless `kept` (see
 * ages_init), only times are taken over.
 */
void ages_resume(struct ages *ages, const struct ages *was, bool kept);

/*
 * Returns the age of a track or, with track -1, of a clip: that of the newest change in it or its
 * tracks.
 */
struct age ages_of(const struct ages *ages, uint32_t clip, int64_t track);
/* Returns the age of a view's content with `lists`, apart from the file's name. */
struct age ages_listed(const struct ages *ages);

#endif
