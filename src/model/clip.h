/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * clip.h - the edits of a clip's own values that more than one view offers.
 *
 * `c` is the writable copy of a clip of `a` (anim_edit_clip). False when out of memory.
 */
#ifndef ANIMFS_MODEL_CLIP_H
#define ANIMFS_MODEL_CLIP_H

#include "animfs/view.h"

static inline const struct clip *clip_shown(const struct shown *at)
{
	return &at->anim->clips[at->clip];
}

/* The clip's own field of that name, to be written; *found says whether it has one. */
struct field *clip_edit_field(struct anim *a, struct clip *c, const char *name, bool *found);
/* Also sets the format's own field "loop", if it has one, to 1 or 0: it is the stored form. */
bool clip_set_loop(struct anim *a, struct clip *c, bool loop);

/*
 * A new bone without name and keys, which can store the same roles as others of the clip or file.
 */
struct track clip_new_track(const struct anim *a, const struct clip *c);
/* Appends bones. */
bool clip_add_tracks(struct anim *a, struct clip *c, const struct track *added, uint32_t count);

/*
 * Drops keys past a new end, and bones without keys in formats that cannot store those. A longer
 * clip holds its last values; new keys are made only if the format needs them.
 */
bool clip_set_frames(struct anim *a, uint32_t clip, uint32_t frames);
/* Adds the curves that every bone of a `full` format has and this one lacks, with all values 0. */
bool clip_rest_curves(struct anim *a, const struct clip *c, struct track *track);
/*
 * Gives a new bone its first values, in formats that cannot store a bone without keys. False and
 * err.
 */
bool clip_begin_track(struct anim *a, const struct clip *c, struct track *track, struct err *err);

/* duration = frame time * (frames - 1), in float32, where the format stores it. */
void clip_follow_duration(const struct anim *a, struct clip *c);
/* The reverse: computes the frame time from a duration, if the format stores a frame time. */
void clip_follow_frame_time(const struct anim *a, struct clip *c);

#endif
