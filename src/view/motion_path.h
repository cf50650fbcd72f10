/* SPDX-License-Identifier: GPL-3.0-or-later */
/* motion_path.h - a curve between keys that stand anywhere: where it is at a frame. */
#ifndef ANIMFS_VIEW_MOTION_PATH_H
#define ANIMFS_VIEW_MOTION_PATH_H

#include <stdbool.h>
#include <stdint.h>

enum motion_interpolation { MOTION_STEP, MOTION_LINEAR, MOTION_CUBIC };

struct path {
	enum motion_interpolation interpolation;
	bool straight;  /* between rotations straight ahead, as Blender goes, and not around */
	unsigned width; /* 3, or 4 for rotations */
	uint32_t count;
	const double *frames; /* of the keys; none below the last */
	const double *values; /* as of a motion_channel */
	double seconds;       /* that a frame takes */
	double near; /* a key that is this near to a frame stands in it: times are float32 */
};

/* Held before the first key and behind the last. A rotation is of length 1. */
void path_value(const struct path *p, double frame, double out[4]);

#endif
