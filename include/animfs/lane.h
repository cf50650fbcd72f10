/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lane.h - the grid of the numbers of one component of a curve. */
#ifndef ANIMFS_LANE_H
#define ANIMFS_LANE_H

#include <stdbool.h>

/*
 * The stored form of the numbers of one component, which decides how near two of them must be to
 * count as equal. The value is unit * stored for LANE_FLOAT, unit * (base + k * step) for
 * LANE_GRID, all in double.
 */
enum lane_form {
	LANE_DOUBLE, /* typed by a person, not stored yet: no grid */
	LANE_FLOAT,  /* a float32 */
	LANE_GRID,   /* an integer k from 0 to 65535 on base + k * step */
	LANE_CODE,   /* a component of a packed code (a quaternion): it has no grid of its own, and
			the stored value may be `step` away from the wanted one */
};

struct lane {
	enum lane_form form;
	float base, step; /* LANE_GRID; LANE_CODE has a step */
	double unit;      /* 1, or degrees in one stored radian or step of a turn */
	double turn;      /* values that differ by a multiple of it are equal (360); 0: no period */
	bool exact;       /* LANE_GRID: shown in full, not by the fewest digits; 9 decimals do */
};

#endif
