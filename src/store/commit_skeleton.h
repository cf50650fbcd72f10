/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commit_skeleton.h - saves a skeleton in the text beside the animation file (rest.h). */
#ifndef ANIMFS_COMMIT_SKELETON_H
#define ANIMFS_COMMIT_SKELETON_H

#include "source.h"

/*
 * Saves what was made of base's skeleton: as the file's own (rest.h), in a text beside it, which is
 * made where there is none; the file stays as it is. `last` is what the same draft committed
 * before, or NULL. ERR_CONFLICT when others changed the skeleton, or when the text that is there
 * cannot be read. A text from which bones are removed is kept as a file is. With a guard it is
 * written, or made, only as `who` could do it, and one that is made is his. The rest is as of
 * source_commit.
 */
enum commit source_commit_skeleton(struct source *s, const struct where *where,
				   struct version *base, const struct skeleton *edited,
				   const struct skeleton *last, const struct caller *who,
				   struct version **now, struct err *err);

#endif
