/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * svg.h - the words of an SVG 1.1 drawing: its head, texts, numbers.
 *
 * What is drawn has the colour of the text around it (currentColor) and no background, so that it
 * can be read on white and on black. Coordinates are pixels, to a tenth.
 */
#ifndef ANIMFS_VIEW_SVG_H
#define ANIMFS_VIEW_SVG_H

#include "animfs/base.h"

void svg_begin(double width, double height, struct buf *out);
void svg_end(struct buf *out);

/* To a tenth of a pixel. */
double svg_round(double v);
void svg_number(double v, struct buf *out);
/* "12,34.5" */
void svg_point(double x, double y, struct buf *out);

/*
 * A text of any bytes as XML can hold it: what is no character becomes U+FFFD. Longer than about
 * `limit` letters (those of East Asia count as two): cut, with an ellipsis.
 */
void svg_escape(const char *text, unsigned limit, struct buf *out);

/* <text>, whose words follow; `more` are attributes, each with a space before it, or "". */
void svg_text_begin(double x, double y, const char *more, struct buf *out);
void svg_text_end(struct buf *out);

#endif
