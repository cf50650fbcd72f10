/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * plot.h - charts of curves: what clip.svg and a bone's picture are made of.
 *
 * A chart shows one role of one bone: x, y and z over the frames of the clip, in three colours that
 * differ for every eye, and in their dashes and markers. A line joins the keys; it is faint where a
 * value is held before the first key and after the last, and has a gap where a number is not
 * finite. Keys have markers where there is room for them. A bar under the axis shows the frames
 * that have a keyframe, where the format has those.
 *
 * Of more keys than a chart has columns the least and the greatest in each column are drawn, where
 * they are: the picture looks the same, and its text has a bound, 80 bytes a column and 20 a pixel
 * of the width, and 4 kB.
 */
#ifndef ANIMFS_VIEW_PLOT_H
#define ANIMFS_VIEW_PLOT_H

#include "plot_line.h"

/* At most `ticks` + 1 of them; of angles, at parts of a turn. low is less than high. */
struct axis axis_over(double low, double high, double ticks, bool angles);

/* Has the track a key of the role that the clip shows? And of any role? */
bool plot_has_role(const struct clip *clip, const struct track *track, enum role role);
bool plot_has_track(const struct clip *clip, const struct track *track);

/* Of a role that is there; rotations must be angles. Values stand left of the chart. */
void plot_chart(const struct chart *chart, const struct track *track, enum role role,
		struct buf *out);
/* The frames below the chart, and the seconds so far below it. */
void plot_frames(const struct chart *chart, struct buf *out);
void plot_seconds(const struct chart *chart, double below, double seconds_per_frame,
		  struct buf *out);

/* "m", "degrees", "factor" */
const char *plot_unit(const struct format *format, enum role role);
/* A stretch of the line of an axis (0: x) with its marker, and its name. */
#define LEGEND_WIDTH 52
void plot_legend(double x, double y, unsigned axis, struct buf *out);
/* "61 frames of 0.016667 s, in a loop" */
void plot_length(const struct anim *a, const struct clip *clip, struct buf *out);

#endif
