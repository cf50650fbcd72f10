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
 * Returns an axis from low to high with at most `ticks` + 1 ticks; an axis of angles has ticks at
 * fractions of a turn. `low` must be less than `high`.
 */
struct axis axis_over(double low, double high, double ticks, bool angles);

/*
 * plot_has_role returns whether the track has a key of the role within the clip's frames;
 * plot_has_track whether it has one of any role.
 */
bool plot_has_role(const struct clip *clip, const struct track *track, enum role role);
bool plot_has_track(const struct clip *clip, const struct track *track);
/*
 * Returns whether a role has one value in all frames, of numbers that can be drawn. Then plot_value
 * is enough: a chart would be a straight line.
 */
bool plot_is_still(const struct clip *clip, const struct track *track, enum role role);

/*
 * Draws the chart of a role that has keys. Rotations must be angles. Labels of values are left of
 * the chart.
 */
void plot_chart(const struct chart *chart, const struct track *track, enum role role,
		struct buf *out);
/* Draws bars under the chart, at frames with keyframes: the bone is drawn only in these. */
void plot_keyframes(const struct chart *chart, const struct keyframes *k, struct buf *out);
/*
 * plot_frames labels the frames below the chart; plot_seconds the seconds, `below` pixels further
 * down.
 */
void plot_frames(const struct chart *chart, struct buf *out);
void plot_seconds(const struct chart *chart, double below, double seconds_per_frame,
		  struct buf *out);

/* Appends the value of the first key: "1.5, -2, 0.25". Rotations must be angles. */
void plot_value(const struct curve *c, struct buf *out);
/*
 * Appends `before` and "x = z" or "x = y ≈ z" if these lines of the chart lie on each other; else
 * nothing. The role must have keys.
 */
void plot_equal_axes(const struct chart *chart, const struct track *track, enum role role,
		     const char *before, struct buf *out);
/* Returns the unit of a role's values: "m", "degrees" or "factor". */
const char *plot_unit(const struct format *format, enum role role);
/* Draws a legend entry: the name of a component (0: x), and a piece of its line with a marker. */
#define LEGEND_WIDTH 52
void plot_legend(double x, double y, unsigned axis, struct buf *out);
/*
 * Appends the length of a clip: "61 frames of 0.016667 s". It must not show whether the clip loops:
 * an edit of only that does not change the texts of bones (store/ages.h).
 */
void plot_length(const struct anim *a, const struct clip *clip, struct buf *out);

#endif
