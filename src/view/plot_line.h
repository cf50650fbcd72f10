/* SPDX-License-Identifier: GPL-3.0-or-later */
/* plot_line.h - draws one component of a curve as lines and markers. */
#ifndef ANIMFS_VIEW_PLOT_LINE_H
#define ANIMFS_VIEW_PLOT_LINE_H

#include "animfs/anim.h"

/* Ticks are at multiples of `step`, a round number, and labelled in units of 10^exponent. */
struct axis {
	double low, high, step;
	int exponent;
};

struct chart {
	const struct clip *clip;
	double x, y, width, height; /* of the area between the axes, in pixels */
	unsigned columns;           /* horizontal resolution */
	double font;                /* size of the labels, which are outside of the area */
};

/* Is the number finite and small enough to be drawn? */
bool plot_is_drawn(double v);
/* The distance of a frame from the left of the chart. */
double plot_x(const struct chart *chart, double frame);

struct plot_line {
	const struct chart *chart;
	const struct axis *values;
	const struct curve *curve;
	uint32_t shown; /* number of keys within the clip, at least 1 */
	unsigned axis;
};

void plot_line(const struct plot_line *line, struct buf *out);

/* Append the attributes of the path for an axis's lines, and of that for its markers. */
void plot_line_look(unsigned axis, struct buf *out);
void plot_marker_look(unsigned axis, struct buf *out);
/* Appends the marker of an axis, as part of a path's data. */
void plot_marker(unsigned axis, double x, double y, struct buf *out);

#endif
