/* SPDX-License-Identifier: GPL-3.0-or-later */
/* plot_line.h - draws one component of a curve as lines and markers. */
#ifndef ANIMFS_VIEW_PLOT_LINE_H
#define ANIMFS_VIEW_PLOT_LINE_H

#include "animfs/anim.h"

/*
 * An axis: ticks are at multiples of `step`, a round number, and labelled in units of 10^exponent.
 */
struct axis {
	double low, high, step;
	int exponent;
};

struct chart {
	const struct clip *clip;
	double x, y, width, height; /* the area between the axes, in pixels */
	unsigned columns; /* horizontal resolution: keys in one column are drawn together */
	double font;      /* font size of the labels, which are outside of the area */
};

/* Returns whether the number is finite and small enough to be drawn. */
bool plot_is_drawn(double v);
/* Returns the distance of a frame from the left of the chart, in pixels. */
double plot_x(const struct chart *chart, double frame);

struct plot_line {
	const struct chart *chart;
	const struct axis *values;
	const struct curve *curve;
	uint32_t shown; /* number of keys within the clip; at least 1 */
	unsigned axis;
};

void plot_line(const struct plot_line *line, struct buf *out);

/*
 * Append the attributes of a path: plot_line_look for the lines of a component, plot_marker_look
 * for the markers.
 */
void plot_line_look(unsigned axis, struct buf *out);
void plot_marker_look(unsigned axis, struct buf *out);
/* Appends the marker of a component to a path's data. */
void plot_marker(unsigned axis, double x, double y, struct buf *out);

#endif
