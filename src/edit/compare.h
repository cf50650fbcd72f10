/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * compare.h - prints the differences between two animations for people.
 *
 * The lines are those of listing.h, with '-' before lines that only the first has and '+' before
 * lines that only the second has, below the clip or bone that they belong to; and sentences about
 * renamed and moved ones. Two files of one format are compared completely. Different formats never
 * store the same numbers: there, the poses are compared in each frame that has a key, within the
 * steps of both formats, rotations to a tenth of a degree.
 */
#ifndef ANIMFS_EDIT_COMPARE_H
#define ANIMFS_EDIT_COMPARE_H

#include "animfs/anim.h"

/*
 * Each function prints the differences to `out` and returns true if there are none; a failed
 * allocation sets out->failed.
 */
bool compare_files(const struct anim *a, const struct anim *b, struct buf *out);
bool compare_clips(const struct anim *a, uint32_t a_clip, const struct anim *b, uint32_t b_clip,
		   struct buf *out);
/* Compares two bones, given by the indices of their clips and tracks. */
bool compare_bones(const struct anim *a, uint32_t a_clip, uint32_t a_track, const struct anim *b,
		   uint32_t b_clip, uint32_t b_track, struct buf *out);

#endif
