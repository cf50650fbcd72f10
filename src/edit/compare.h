/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * compare.h - what differs between two animations, for people.
 *
 * In lines as of listing.h, with '-' before what only the first has and '+' before what only the
 * second has, below the clip or bone that they are about; and sentences for what was renamed or
 * moved. Of two files of one format all is compared. Different formats never hold the same numbers:
 * there, clips are compared by what they show in each frame that has a key, to within the steps of
 * the two; rotations to a tenth of a degree.
 */
#ifndef ANIMFS_EDIT_COMPARE_H
#define ANIMFS_EDIT_COMPARE_H

#include "animfs/anim.h"

/* Each returns whether nothing differs; a failed allocation shows in out->failed. */
bool compare_files(const struct anim *a, const struct anim *b, struct buf *out);
bool compare_clips(const struct anim *a, uint32_t a_clip, const struct anim *b, uint32_t b_clip,
		   struct buf *out);
/* Bones by their place in the clips. */
bool compare_bones(const struct anim *a, uint32_t a_clip, uint32_t a_track, const struct anim *b,
		   uint32_t b_clip, uint32_t b_track, struct buf *out);

#endif
