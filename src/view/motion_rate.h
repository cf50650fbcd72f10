/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * motion_rate.h - was a motion written at another frame rate than the clip's?
 *
 * A program whose frame rate is not the clip's keeps no key where the clip has a frame, and what
 * comes back is a motion in between: every value is a little wrong. Only the times of the keys
 * reveal it. They are evidence where none is off the other rate's frames, and some are off the
 * clip's.
 */
#ifndef ANIMFS_VIEW_MOTION_RATE_H
#define ANIMFS_VIEW_MOTION_RATE_H

#include "animfs/anim.h"

/* The keys of one channel. */
struct motion_times {
	const double *times; /* as in motion_channel */
	uint32_t count;
	const struct curve
		*own; /* its keys may be between frames: their times are the clip's too */
};

struct motion_rate {
	double hz;          /* the other rate, in frames a second */
	uint32_t keys, off; /* how many keys there are; how many are not where the clip has one */
	uint32_t first_off; /* the first channel with such a key */
};

/* `seconds`: a frame of the clip. False where nothing speaks for another rate. */
bool motion_rate_other(const struct motion_times *channels, uint32_t count, double seconds,
		       struct motion_rate *out);

#endif
