/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * svg.h - writes the parts of an SVG 1.1 drawing: its head, texts, numbers.
 *
 * Drawings are dark on white, or light on dark where the viewer prefers that
 * (prefers-color-scheme). Everything but the curves is drawn in currentColor. Coordinates are
 * pixels, to a tenth.
 */
#ifndef ANIMFS_VIEW_SVG_H
#define ANIMFS_VIEW_SVG_H

#include "animfs/base.h"

/*
 * svg_begin opens the drawing. The caller appends its <title> and <desc>, which screen readers and
 * tooltips show, and then calls svg_ground, which draws the background.
 */
void svg_begin(double width, double height, struct buf *out);
void svg_ground(double width, double height, struct buf *out);
void svg_end(struct buf *out);

/* Rounds to a tenth of a pixel. */
double svg_round(double v);
void svg_number(double v, struct buf *out);
/* Writes a point: "12,34.5". */
void svg_point(double x, double y, struct buf *out);

/*
 * Writes any bytes as XML text: what is not an XML character becomes U+FFFD. A text of more than
 * about `limit` letters (East Asian ones count as two) is cut, with an ellipsis.
 */
void svg_escape(const char *text, unsigned limit, struct buf *out);

/*
 * Opens <text>; the caller appends the content. `more` holds attributes, each with a space before
 * it, or is "".
 */
void svg_text_begin(double x, double y, const char *more, struct buf *out);
void svg_text_end(struct buf *out);

#endif
