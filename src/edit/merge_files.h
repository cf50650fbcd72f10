/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * merge_files.h - a three-way merge of three independently decoded files, for git:
 *
 *	edited = merge_edit(base, theirs);
 *	merged = anim_merge(base, edited, NULL, ours, NULL, &err);
 *	if (!merged && err.code == ERR_CONFLICT)
 *		merge_conflicts(base, ours, theirs, &table);
 *
 * The result is stored over the bytes of ours.
 */
#ifndef ANIMFS_EDIT_MERGE_FILES_H
#define ANIMFS_EDIT_MERGE_FILES_H

#include "animfs/anim.h"

/*
 * Makes `theirs` an edit of base: clips and bones with equal labels are the same. The result points
 * into theirs. NULL when out of memory.
 */
struct anim *merge_edit(const struct anim *base, const struct anim *theirs);
/*
 * Appends a table of the curves and values that both sides changed differently:
 *
 *	clip,bone,role,frames_ours,frames_theirs
 *	walk,hips,rotation,3-7 12,5
 *
 * Frames are those that each side changed: numbers and ranges, or "all". Rows about a whole clip or
 * file have no bone and no frames, and their role names the value: loop, list of bones ...
 */
void merge_conflicts(const struct anim *base, const struct anim *ours, const struct anim *theirs,
		     struct buf *out);

#endif
