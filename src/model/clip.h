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
/* Where the format has a field "loop" too, it is the stored form of the same thing: 1 or 0. */
bool clip_set_loop(struct anim *a, struct clip *c, bool loop);

/* What a new bone can store, without name and keys: what others of the clip can, or of the file. */
struct track clip_new_track(const struct anim *a, const struct clip *c);
/* More bones behind the others. */
bool clip_add_tracks(struct anim *a, struct clip *c, const struct track *added, uint32_t count);

/*
 * Keys past a new end go, and bones that have none left where the format has only such with keys.
 * A longer clip holds its last values; new keys are made only where the format needs them.
 */
bool clip_set_frames(struct anim *a, uint32_t clip, uint32_t frames);
/* The curves that a bone of a `full` format has and this one lacks, at rest: all is 0. */
bool clip_rest_curves(struct anim *a, const struct clip *c, struct track *track);
/* What a new bone says at once, where the format stores none that says nothing. False and err. */
bool clip_begin_track(struct anim *a, const struct clip *c, struct track *track, struct err *err);

/* duration = frame time * (frames - 1), in float32, where the format stores it. */
void clip_follow_duration(const struct anim *a, struct clip *c);
/* The other way round: the frame time of a duration, where the format stores one. */
void clip_follow_frame_time(const struct anim *a, struct clip *c);

#endif
