/* SPDX-License-Identifier: GPL-3.0-or-later */
/* motion_role.h - turns the motion of one role of one bone into an edit of its curve. */
#ifndef ANIMFS_VIEW_MOTION_ROLE_H
#define ANIMFS_VIEW_MOTION_ROLE_H

#include "figure.h"
#include "motion_path.h"

/*
 * The motion of one role of one bone: values at times; constant before the first and after the
 * last.
 */
struct motion_channel {
	uint32_t track; /* the bone's track in the clip */
	enum role role;
	enum motion_interpolation interpolation;
	uint32_t count; /* number of keys, at least 1 */
	/*
	 * times of the keys in seconds from the clip's first frame; finite, ascending, may repeat
	 */
	const double *times;
	/*
	 * values of the keys, finite: x y z, or x y z w of about length 1. With MOTION_CUBIC, three
	 * values per key: in-tangent (change per second), value, out-tangent
	 */
	const double *values;
	size_t at, length; /* place of the channel in the text, for errors */
	/* of a glTF: number of the accessor with the times, and its place in the text */
	uint32_t input;
	size_t input_at, input_length;
};

#define REACH_MAX 1e4 /* upper limit of `reach` below */

/* The arguments and state of one call of motion_apply. */
struct applying {
	const struct shown *at;
	const struct figure *figure;
	struct bytes text;
	struct anim *edited;
	double reach; /* the longest translation of the clip, at most REACH_MAX */
	struct err *err;
};

/* Applies the channel to a->edited. False and err when refused. */
bool motion_role(const struct applying *a, const struct motion_channel *channel);

#endif
