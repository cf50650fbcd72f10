/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lane.h - the grid that the numbers of one component of a curve lie on. */
#ifndef ANIMFS_LANE_H
#define ANIMFS_LANE_H

#include <stdbool.h>

/*
 * How the numbers of one component are stored, and so what is near enough to be the same number.
 * The value is unit * stored for LANE_FLOAT, unit * (base + k * step) for LANE_GRID, all in double.
 */
enum lane_form {
	LANE_DOUBLE, /* typed by a person, not stored yet: no grid */
	LANE_FLOAT,  /* a float32 */
	LANE_GRID,   /* an integer k from 0 to 65535 on base + k * step */
	LANE_CODE,   /* one number of a code that holds them all (a packed quaternion): no grid of
		      * its own, and what is stored may be `step` away from what was wanted */
};

struct lane {
	enum lane_form form;
	float base, step; /* LANE_GRID; LANE_CODE has a step */
	double unit;      /* 1, or degrees in one stored radian or step of a turn */
	double turn; /* values that differ by a multiple of it are the same (360); 0: none are */
	bool exact;  /* LANE_GRID: shown in full, not by the fewest digits; 9 decimals do */
};

#endif
