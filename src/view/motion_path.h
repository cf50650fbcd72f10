/* SPDX-License-Identifier: GPL-3.0-or-later */
/* motion_path.h - evaluates a curve whose keys may be between frames. */
#ifndef ANIMFS_VIEW_MOTION_PATH_H
#define ANIMFS_VIEW_MOTION_PATH_H

#include <stdbool.h>
#include <stdint.h>

enum motion_interpolation { MOTION_STEP, MOTION_LINEAR, MOTION_CUBIC };

struct path {
	enum motion_interpolation interpolation;
	/* rotations are interpolated linearly and normalised, as Blender does, not spherically */
	bool straight;
	unsigned width; /* 3, or 4 for rotations */
	uint32_t count;
	const double *frames; /* of the keys, in frames; ascending, may repeat */
	const double *values; /* as in motion_channel */
	double seconds;       /* per frame */
	/* a key this near to a frame counts as at the frame, since times are float32 */
	double near;
};

/*
 * The value at a frame; constant before the first key and after the last. Rotations have length 1.
 */
void path_value(const struct path *p, double frame, double out[4]);

#endif
