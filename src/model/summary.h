/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * summary.h - describes the differences between two versions of a file in one line:
 *
 *   walk: hips translation 12 keys, arm_L rotation 3 keys, clip.json loop; run removed
 *
 * Parts of one clip follow its name, with ", " between them; clips, and facts about the file, end
 * in "; ". At most SUMMARY_PARTS parts are named, and the others counted.
 */
#ifndef ANIMFS_MODEL_SUMMARY_H
#define ANIMFS_MODEL_SUMMARY_H

#include "animfs/anim.h"

#define SUMMARY_PARTS 6

/* Appends the line, without a newline; nothing if the models do not differ. */
void summary_files(const struct anim *before, const struct anim *after, struct buf *out);
/* Joins the lines of two successive saves; a part that both lines name appears once. */
void summary_join(const char *earlier, const struct buf *later, struct buf *out);

#endif
