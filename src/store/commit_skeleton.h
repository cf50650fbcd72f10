/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commit_skeleton.h - saves a skeleton to the text beside the animation file (find_skeleton.h). */
#ifndef ANIMFS_STORE_COMMIT_SKELETON_H
#define ANIMFS_STORE_COMMIT_SKELETON_H

#include "source.h"

/*
 * Saves `edited`, made from base's skeleton, to the file's own skeleton text, which is created if
 * necessary; the animation file does not change. `last`: the last commit of the same draft, or
 * NULL. ERR_CONFLICT: another program changed the skeleton, or the existing text cannot be read.
 * The old text is kept in history. With a guard, the text is written or created only if the caller
 * `who` could do so, and then belongs to that user. Otherwise as source_commit.
 */
enum commit source_commit_skeleton(struct source *s, const struct where *where,
				   struct version *base, const struct skeleton *edited,
				   const struct skeleton *last, const struct caller *who,
				   struct version **now, struct err *err);
/*
 * Returns whether source_commit_skeleton would save `edited`, as far as this can be checked without
 * writing. Without a guard.
 */
bool source_check_skeleton(struct source *s, const struct where *where, struct version *base,
			   const struct skeleton *edited, struct err *err);

#endif
