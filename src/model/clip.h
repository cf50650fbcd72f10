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

/*
 * Returns the clip's own field named `name`, writable; *found: the clip has such a
 * field.
 */
struct field *clip_edit_field(struct anim *a, struct clip *c, const char *name, bool *found);
/*
 * Sets whether the clip loops. A field "loop" of the format, which stores this, is set to 1 or
 * 0.
 */
bool clip_set_loop(struct anim *a, struct clip *c, bool loop);

/*
 * Returns a new bone without name and keys, which can store the same roles as others of the clip or
 * file.
 */
struct track clip_new_track(const struct anim *a, const struct clip *c);
/* Appends bones. */
bool clip_add_tracks(struct anim *a, struct clip *c, const struct track *added, uint32_t count);

/*
 * Drops keys past a new end, and bones without keys in formats that cannot store those. A longer
 * clip holds its last values; new keys are made only if the format needs them.
 */
bool clip_set_frames(struct anim *a, uint32_t clip, uint32_t frames);
/*
 * Adds curves that the bone lacks and that a format with all curves (`full`) requires; all values
 * are 0.
 */
bool clip_rest_curves(struct anim *a, const struct clip *c, struct track *track);
/*
 * Gives a new bone its first values, in formats that cannot store a bone without keys. Returns
 * false and sets err on failure.
 */
bool clip_begin_track(struct anim *a, const struct clip *c, struct track *track, struct err *err);

/* Sets the stored duration, if the format has one: frame time * (frames - 1), in float32. */
void clip_follow_duration(const struct anim *a, struct clip *c);
/* Sets the frame time from the stored duration, if the format stores a frame time. */
void clip_follow_frame_time(const struct anim *a, struct clip *c);

#endif
