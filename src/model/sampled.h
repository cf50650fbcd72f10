/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sampled.h - a clip for readers that do not know tangents: a curve that has them is replaced by
 * its values in every frame, linear in between.
 */
#ifndef ANIMFS_MODEL_SAMPLED_H
#define ANIMFS_MODEL_SAMPLED_H

#include "animfs/anim.h"

/* Returns the track with sampled curves; arena->failed is set when out of memory. */
struct track track_sampled(const struct track *track, uint32_t frames, struct arena *arena);
const struct clip *clip_sampled(const struct clip *clip, struct arena *arena);

#endif
