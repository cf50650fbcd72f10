/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * motion.h - turns a motion that was read from an interchange format into an edit of the clip.
 *
 * The motion is compared with what was served, frame by frame. Values within 0.01 degrees, or 1e-5
 * of a length or scale (or a millionth above 10, about the precision of float32) count as equal,
 * and the stored value stays. Roles that are not in the motion stay too.
 *
 * In formats with keys at any frame, a curve keeps its keys' frames as long as interpolation
 * between them gives the motion; otherwise it gets keys where the motion has them.
 */
#ifndef ANIMFS_VIEW_MOTION_H
#define ANIMFS_VIEW_MOTION_H

#include "motion_role.h"

/* A motion: at most one channel for each role of each bone. */
struct motion {
	uint32_t count;
	const struct motion_channel *channels;
};

/*
 * Returns the model with the clip's curves changed to follow the motion, made with anim_edit from
 * at->anim; unchanged curves are the same pointers. NULL and err when refused: the motion is not as
 * long as the clip, the format cannot store it, or the format stores keyframes, which cannot be
 * edited in this way. `text` is the whole text, for errors.
 */
struct anim *motion_apply(const struct shown *at, const struct motion *m, struct bytes text,
			  struct err *err);

/* An index of a clip's bones by label. */
struct motion_names {
	const struct clip *clip;
	const uint32_t *sorted; /* indices of tracks, sorted by label */
};
/* Indexes the labels of a clip's bones. Returns false when out of memory. */
bool motion_names_make(struct motion_names *names, const struct clip *clip, struct arena *arena);
/* Returns the index of the track with that label, or UINT32_MAX. */
uint32_t motion_names_find(const struct motion_names *names, const char *label);
/*
 * Returns the only track whose label begins with `begin`, or UINT32_MAX; for programs that cut
 * names.
 */
uint32_t motion_names_find_cut(const struct motion_names *names, const char *begin);
/*
 * Returns what is left of a name without the parts that programs may change: case, spaces and `. :
 * _ -` (also where they are escaped as in a label), the form of composed characters, and a suffix
 * such as ".001"; with `prefix` also everything up to the last ':' or '|'. Returns NULL when out of
 * memory.
 */
char *motion_names_key(const char *name, bool prefix, struct arena *arena);

#endif
