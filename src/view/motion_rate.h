/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * motion_rate.h - detects a motion that was written at another frame rate than the clip's.
 *
 * A program with another frame rate has no keys at the clip's frames, so after a round trip every
 * value is interpolated and a little wrong. Only the times of the keys reveal it: all are at frames
 * of the other rate, and some are not at frames of the clip.
 */
#ifndef ANIMFS_VIEW_MOTION_RATE_H
#define ANIMFS_VIEW_MOTION_RATE_H

#include "animfs/anim.h"

/* The keys of one channel. */
struct motion_times {
	const double *times; /* times of the keys, as in motion_channel */
	uint32_t count;
	/* the clip's curve; in a timed format, times of its keys count like frames of the clip */
	const struct curve *own;
};

struct motion_rate {
	double hz;          /* the other rate, in frames per second */
	uint32_t keys, off; /* number of keys; number of those that are not at a key of the clip */
	uint32_t first_off; /* the first channel with a key that is not at a key of the clip */
};

/*
 * Detects another rate. `seconds` is the length of one frame of the clip. False if nothing
 * indicates another rate.
 */
bool motion_rate_other(const struct motion_times *channels, uint32_t count, double seconds,
		       struct motion_rate *out);

#endif
