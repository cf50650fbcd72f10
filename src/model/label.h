/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * label.h - converts the file-name form of a clip or bone in a text to the stored name.
 *
 * The results live in the arena of `a`, which is being edited. NULL and err, at the label's place
 * in the text, if no stored name has that form, or the format cannot store it.
 */
#ifndef ANIMFS_MODEL_LABEL_H
#define ANIMFS_MODEL_LABEL_H

#include "animfs/anim.h"

/*
 * File names of the views beside the clips' folders, which clips must not use; NULL ends the list.
 * "raw." is followed by the extension of the animation file.
 */
extern const char *const label_view_files[];

/*
 * Converts the new label of clip number `clip`. Refuses a label that another clip of `a` or a view
 * of the file has.
 */
const char *label_new_clip(struct anim *a, uint32_t clip, const char *label, size_t at,
			   size_t length, struct err *err);
const char *label_bone(struct anim *a, const char *label, size_t at, size_t length,
		       struct err *err);

#endif
