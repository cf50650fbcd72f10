/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * label.h - from the file-name form of a clip or bone, as a text says it, to the stored name.
 *
 * The results live in the arena of `a`, which is being edited. NULL and err, at the place that the
 * label has in the text, when no stored name has that form, or the format cannot store it.
 */
#ifndef ANIMFS_MODEL_LABEL_H
#define ANIMFS_MODEL_LABEL_H

#include "animfs/anim.h"

/*
 * The files of the views beside the folders of the clips, which must not have their names; NULL
 * ends the list. "raw." is followed by the extension of the animation file.
 */
extern const char *const label_view_files[];

/* No clip of `a` but number `clip`, and no view of the file, may be called so. */
const char *label_new_clip(struct anim *a, uint32_t clip, const char *label, size_t at,
			   size_t length, struct err *err);
const char *label_bone(struct anim *a, const char *label, size_t at, size_t length,
		       struct err *err);

#endif
