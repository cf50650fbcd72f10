/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * clip.h - the edits of a clip's own values that more than one view offers.
 *
 * `c` is the writable copy of a clip of `a` (anim_edit_clip). False when out of memory.
 */
#ifndef ANIMFS_VIEW_CLIP_H
#define ANIMFS_VIEW_CLIP_H

#include "animfs/anim.h"

/* The clip's own field of that name, to be written; *found says whether it has one. */
struct field *clip_edit_field(struct anim *a, struct clip *c, const char *name, bool *found);
/* Where the format has a field "loop" too, it is the stored form of the same thing: 1 or 0. */
bool clip_set_loop(struct anim *a, struct clip *c, bool loop);

/* duration = frame time * (frames - 1), in float32, where the format stores it. */
void clip_follow_duration(const struct anim *a, struct clip *c);
/* The other way round: the frame time of a duration, where the format stores one. */
void clip_follow_frame_time(const struct anim *a, struct clip *c);

#endif
