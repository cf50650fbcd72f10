/* SPDX-License-Identifier: GPL-3.0-or-later */
/* motion_path.h - evaluates a curve whose keys may be between frames. */
#ifndef ANIMFS_VIEW_MOTION_PATH_H
#define ANIMFS_VIEW_MOTION_PATH_H

#include <stdbool.h>
#include <stdint.h>

enum motion_interpolation { MOTION_STEP, MOTION_LINEAR, MOTION_CUBIC };

struct path {
	enum motion_interpolation interpolation;
	/* interpolates rotations linearly and normalises them, as Blender does, not spherically */
	bool straight;
	unsigned width; /* components of a value: 3, or 4 for rotations */
	uint32_t count;
	const double *frames; /* frames of the keys; ascending, may repeat */
	const double *values; /* values of the keys, laid out as in motion_channel */
	double seconds;       /* seconds per frame */
	/* a key this near to a frame, in frames, counts as at the frame, since times are float32 */
	double near;
};

/*
 * Computes the value at a frame; constant before the first key and after the last. Rotations have
 * length 1.
 */
void path_value(const struct path *p, double frame, double out[4]);

#endif
