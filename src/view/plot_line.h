/* SPDX-License-Identifier: GPL-3.0-or-later */
/* plot_line.h - one component of a curve as lines and markers. */
#ifndef ANIMFS_VIEW_PLOT_LINE_H
#define ANIMFS_VIEW_PLOT_LINE_H

#include "animfs/anim.h"

/* Round ticks at the multiples of step; they are labelled in units of 10^exponent. */
struct axis {
	double low, high, step;
	int exponent;
};

struct chart {
	const struct clip *clip;
	double x, y, width, height; /* of the area between the axes */
	unsigned columns;           /* that are told apart, of all of it */
	double font;                /* size of the labels, which stand around the area */
};

/* Can the number be drawn? */
bool plot_is_drawn(double v);
/* Where a frame stands, from the left of the chart. */
double plot_x(const struct chart *chart, double frame);

struct plot_line {
	const struct chart *chart;
	const struct axis *values;
	const struct curve *curve;
	uint32_t shown; /* keys, at least 1 */
	unsigned axis;
};

void plot_line(const struct plot_line *line, struct buf *out);

/* The look of an axis: what a path with its lines, and one with its markers, needs. */
void plot_line_look(unsigned axis, struct buf *out);
void plot_marker_look(unsigned axis, struct buf *out);
/* The marker of an axis, as a part of a path. */
void plot_marker(unsigned axis, double x, double y, struct buf *out);

#endif
