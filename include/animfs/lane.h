/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lane.h - the grid of the numbers of one component of a curve. */
#ifndef ANIMFS_LANE_H
#define ANIMFS_LANE_H

#include <stdbool.h>

/*
 * The stored form of the numbers of one component, which decides how near two numbers must be to
 * count as equal. A value is unit * stored for LANE_FLOAT, and unit * (base + k * step) for
 * LANE_GRID, all in double.
 */
enum lane_form {
	LANE_DOUBLE, /* a number typed by a person and not stored yet: no grid */
	LANE_FLOAT,  /* a stored float32 */
	LANE_GRID,   /* a stored integer k from 0 to 65535; the number is base + k * step */
	/*
	 * a component of a packed code (a quaternion): without a grid of its own; the stored value
	 * may differ from the wanted one by up to `step`
	 */
	LANE_CODE,
};

struct lane {
	enum lane_form form;
	float base, step; /* of LANE_GRID; `step` also of LANE_CODE */
	double unit;      /* 1, or the degrees of one stored radian or step of a turn */
	double turn; /* values that differ by a multiple of `turn` are equal (360); 0: no period */
	/*
	 * of LANE_GRID: numbers are shown in full, with up to 9 decimals, not by the fewest digits
	 */
	bool exact;
};

#endif
