/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * difference.h - describes the difference between two skeletons. Either may be NULL, a skeleton
 * without joints.
 */
#ifndef ANIMFS_SKELETON_DIFFERENCE_H
#define ANIMFS_SKELETON_DIFFERENCE_H

#include "skeleton.h"

/*
 * Appends the rows (skeleton.h) that differ, in the order of `a`: "-" before a row that only `a`
 * has, "+" before one that only `b` has. Returns true if nothing differs; sets out->failed if an
 * allocation failed.
 */
bool skeleton_difference(const struct skeleton *a, const struct skeleton *b, struct buf *out);
/* Appends the differences in one line, like model/summary.h: "skeleton: hips, tail added". */
void skeleton_summary(const struct skeleton *before, const struct skeleton *after, struct buf *out);

#endif
