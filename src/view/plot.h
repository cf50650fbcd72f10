/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * plot.h - charts of curves, for clip.svg and a bone's picture.
 *
 * A chart shows one role of one bone: x, y and z over the frames of the clip, in three colours that
 * colour-blind readers can tell apart, with different dashes and markers. A line joins the keys; it
 * is faint where a value is held before the first key and after the last, and has a gap where a
 * number is not finite. Keys have markers where there is room. In formats that store keyframes, a
 * bar under the axis shows the frames that have one. A role of one value needs no chart, but
 * plot_value.
 *
 * If there are more keys than columns, only the least and greatest of each column are drawn, at
 * their own frames. That looks the same, and bounds the size of the text: 80 bytes per column, 20
 * per pixel of the width, and 4 kB.
 */
#ifndef ANIMFS_VIEW_PLOT_H
#define ANIMFS_VIEW_PLOT_H

#include "plot_line.h"

/*
 * An axis from low to high with at most `ticks` + 1 ticks; for angles at fractions of a turn. low <
 * high.
 */
struct axis axis_over(double low, double high, double ticks, bool angles);

/* Does the track have a key of the role within the clip's frames? Of any role? */
bool plot_has_role(const struct clip *clip, const struct track *track, enum role role);
bool plot_has_track(const struct clip *clip, const struct track *track);
/*
 * Has a role one value in all frames, of numbers that can be drawn? Then plot_value is enough: a
 * chart would only be a straight line.
 */
bool plot_is_still(const struct clip *clip, const struct track *track, enum role role);

/*
 * Draws the chart of a role that has keys; rotations must be angles. Values are labelled to its
 * left.
 */
void plot_chart(const struct chart *chart, const struct track *track, enum role role,
		struct buf *out);
/* Draws bars under the chart at frames with keyframes, in which the bone is drawn. */
void plot_keyframes(const struct chart *chart, const struct keyframes *k, struct buf *out);
/* Label the frames below the chart, and the seconds `below` pixels further down. */
void plot_frames(const struct chart *chart, struct buf *out);
void plot_seconds(const struct chart *chart, double below, double seconds_per_frame,
		  struct buf *out);

/* Appends the first key: "1.5, -2, 0.25". Rotations must be angles. */
void plot_value(const struct curve *c, struct buf *out);
/*
 * Appends `before` and "x = z", "x = y ≈ z" if these lines of the chart lie on each other; else
 * nothing. As for plot_chart, the role has keys.
 */
void plot_equal_axes(const struct chart *chart, const struct track *track, enum role role,
		     const char *before, struct buf *out);
/* "m", "degrees", "factor" */
const char *plot_unit(const struct format *format, enum role role);
/* A legend entry: a piece of the line of a component (0: x) with its marker, and its name. */
#define LEGEND_WIDTH 52
void plot_legend(double x, double y, unsigned axis, struct buf *out);
/*
 * "61 frames of 0.016667 s". It must not show whether the clip loops: an edit of only that does
 * not change the texts of bones (store/ages.h).
 */
void plot_length(const struct anim *a, const struct clip *clip, struct buf *out);

#endif
