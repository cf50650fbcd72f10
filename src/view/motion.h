/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * motion.h - the way back from interchange formats: what a program says that the bones do, as an
 * edit of the clip.
 *
 * It is compared with what was served at the same time. Within 0.01 degrees, or 1e-5 of a length or
 * of a scale (a millionth of what is larger than 10, which float32 cannot say better), nothing was
 * changed, and what is stored stays. A role that the motion does not speak of stays too.
 *
 * Where keys stand at any frame, those of a curve stay where they are as long as the motion is what
 * lies between them; otherwise it gets keys where the motion has them.
 */
#ifndef ANIMFS_VIEW_MOTION_H
#define ANIMFS_VIEW_MOTION_H

#include "motion_role.h"

/* No two channels are of the same role of the same bone. */
struct motion {
	uint32_t count;
	const struct motion_channel *channels;
};

/*
 * The model with the clip's curves as the motion says, made with anim_edit from at->anim; curves
 * that it leaves as they are, are the same pointers. NULL and err when refused: a motion that does
 * not last as long as the clip does, what the format cannot store, and all edits where keyframes
 * are data. `text` is the whole text, for errors.
 */
struct anim *motion_apply(const struct shown *at, const struct motion *m, struct bytes text,
			  struct err *err);

/* The bones of a clip by their names. */
struct motion_names {
	const struct clip *clip;
	const uint32_t *sorted; /* tracks */
};
/* False when out of memory. */
bool motion_names_make(struct motion_names *names, const struct clip *clip, struct arena *arena);
/* The track of that label, or UINT32_MAX. */
uint32_t motion_names_find(const struct motion_names *names, const char *label);
/* The one track whose label begins so, for programs that cut names; or UINT32_MAX. */
uint32_t motion_names_find_cut(const struct motion_names *names, const char *begin);

#endif
