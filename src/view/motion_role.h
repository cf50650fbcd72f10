/* SPDX-License-Identifier: GPL-3.0-or-later */
/* motion_role.h - what a motion says of one role of one bone, as an edit of its curve. */
#ifndef ANIMFS_VIEW_MOTION_ROLE_H
#define ANIMFS_VIEW_MOTION_ROLE_H

#include "figure.h"
#include "motion_path.h"

/*
 * What one role of one bone does: the value at each of some times, held before the first and behind
 * the last.
 */
struct motion_channel {
	uint32_t track; /* of the clip */
	enum role role;
	enum motion_interpolation interpolation;
	uint32_t count;       /* of keys, one at least */
	const double *times;  /* seconds from the clip's first frame; finite, none below the last */
	const double *values; /* finite; x y z of each key, rotations x y z w of length 1 or near it
			       * MOTION_CUBIC: of each key the way it comes in by, in change a
			       * second, its value, and the way it goes out by */
	size_t at, length;    /* where the text says it, for errors */
};

/* One call of motion_apply. */
struct applying {
	const struct shown *at;
	const struct figure *figure;
	struct bytes text;
	struct anim *edited;
	struct err *err;
};

/* The channel as an edit of `edited`. False and err when refused. */
bool motion_role(const struct applying *a, const struct motion_channel *channel);

#endif
