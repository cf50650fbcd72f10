/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plot_line.h"

#include "svg.h"

#include <math.h>

#define FARTHEST 1e60 /* limit of drawn numbers; all float32 numbers are smaller */
#define MARKER_ROOM 6 /* minimum distance of keys with markers, in pixels */

/* ---- looks ---- */

/*
 * Vermilion, bluish green and blue, after Okabe and Ito: colour-blind readers can tell them apart,
 * on white and on black.
 */
static const char *const colours[] = {"#d55e00", "#009e73", "#1f86d1"};
/* A dot falls into the middle of each gap between dashes, and leaves room beside it, so that three
 * equal curves are all visible. */
static const char *const dashes[] = {"", " stroke-dasharray=\"8,16\"",
				     " stroke-dasharray=\"1,11\" stroke-dashoffset=\"-3.5\""};

void plot_line_look(unsigned axis, struct buf *out)
{
	buf_format(out, " fill=\"none\" stroke=\"%s\"%s", colours[axis], dashes[axis]);
}

void plot_marker_look(unsigned axis, struct buf *out)
{
	buf_format(out,
		   axis == 0 ? " fill=\"none\" stroke=\"%s\" stroke-width=\"5\""
			     : " stroke=\"none\" fill=\"%s\"",
		   colours[axis]);
}

void plot_marker(unsigned axis, double x, double y, struct buf *out)
{
	/*
	 * The marker of each component. A line without length is a disc, since lines have round
	 * ends.
	 */
	static const struct {
		double x, y;
		const char *path;
	} shapes[] = {{0, 0, "h0"}, {-2, -2, "h4v4h-4z"}, {-3, 2, "h6l-3,-5z"}};

	buf_char(out, 'M');
	svg_point(x + shapes[axis].x, y + shapes[axis].y, out);
	buf_text(out, shapes[axis].path);
}

/* ---- places ---- */

bool plot_is_drawn(double v)
{
	return fabs(v) <= FARTHEST;
}

double plot_x(const struct chart *chart, double frame)
{
	return chart->clip->frames > 1 ? chart->width * frame / (chart->clip->frames - 1)
				       : chart->width / 2;
}

static double plot_line_value_of(const struct plot_line *l, uint32_t key)
{
	return curve_value(l->curve, key, l->axis);
}

struct point {
	double x, y;
};

static struct point plot_line_point_of(const struct plot_line *l, double frame, double value)
{
	const struct axis *v = l->values;

	return (struct point){svg_round(plot_x(l->chart, frame)),
			      svg_round(l->chart->height * (v->high - value) / (v->high - v->low))};
}

static struct point key_point(const struct plot_line *l, uint32_t key)
{
	return plot_line_point_of(l, curve_frame(l->curve, key), plot_line_value_of(l, key));
}

/* ---- the pen ---- */

/*
 * Writes the points of a path. The last point is held back: a point between two of the same height
 * is not written.
 */
struct pen {
	struct buf *out;
	bool steps;
	bool down, waits;
	struct point at, waiting;
};

static void pen_write(struct pen *pen, struct point p)
{
	if (pen->steps) {
		buf_char(pen->out, 'H');
		svg_number(p.x, pen->out);
		if (p.y != pen->at.y) {
			buf_char(pen->out, 'V');
			svg_number(p.y, pen->out);
		}
	} else {
		buf_char(pen->out, ' ');
		svg_point(p.x, p.y, pen->out);
	}
	pen->at = p;
}

static void pen_to(struct pen *pen, struct point p)
{
	if (!pen->down) {
		buf_char(pen->out, 'M');
		svg_point(p.x, p.y, pen->out);
		pen->at = p;
		pen->down = true;
		return;
	}
	if (pen->waits && (pen->waiting.y != pen->at.y || pen->waiting.y != p.y))
		pen_write(pen, pen->waiting);
	pen->waiting = p;
	pen->waits = true;
}

static void pen_lift(struct pen *pen)
{
	if (pen->waits)
		pen_write(pen, pen->waiting);
	else if (pen->down)
		buf_text(pen->out, "h0"); /* a line without length: a dot */
	pen->down = pen->waits = false;
}

/* ---- columns ---- */

struct extreme {
	struct point point;
	uint32_t key;
};

/* The keys in one column of the chart. */
struct column {
	uint64_t place;
	bool filled;
	bool open; /* the last key in the column is not a number, so the line has a gap */
	struct extreme least, most;
};

static uint64_t column_of(const struct plot_line *l, uint32_t key)
{
	return (uint64_t)curve_frame(l->curve, key) * l->chart->columns / l->chart->clip->frames;
}

static void column_add(struct column *c, struct point p, uint32_t key)
{
	if (!c->filled || p.y < c->least.point.y)
		c->least = (struct extreme){p, key};
	if (!c->filled || p.y > c->most.point.y)
		c->most = (struct extreme){p, key};
	c->filled = true;
	c->open = false;
}

static void column_draw(const struct column *c, struct pen *pen)
{
	bool falls = c->most.key < c->least.key;

	if (!c->filled)
		return;
	pen_to(pen, falls ? c->most.point : c->least.point);
	if (c->most.key != c->least.key)
		pen_to(pen, falls ? c->least.point : c->most.point);
	if (c->open)
		pen_lift(pen);
}

/*
 * Returns whether the angle wraps around after this key, as from 359 to 1. No line joins the two
 * keys then.
 */
static bool turns_over(const struct plot_line *l, uint32_t key)
{
	double turn = l->curve->lane[l->axis].turn;

	return turn > 0 && key > 0 && l->curve->interpolation == INTERPOLATION_LINEAR &&
	       fabs(plot_line_value_of(l, key) - plot_line_value_of(l, key - 1)) > turn / 2;
}

static void draw_keys(const struct plot_line *l, struct pen *pen)
{
	struct column column = {.place = 0};

	for (uint32_t key = 0; key < l->shown; key++) {
		uint64_t place = column_of(l, key);

		if (curve_last_in_frame(l->curve, key) != key)
			continue; /* The marker of the key shows its value. */
		if (place != column.place) {
			column_draw(&column, pen);
			column = (struct column){.place = place};
		}
		if (!column.filled &&
		    (!plot_is_drawn(plot_line_value_of(l, key)) || turns_over(l, key)))
			pen_lift(pen);
		if (plot_is_drawn(plot_line_value_of(l, key)))
			column_add(&column, key_point(l, key), key);
		else
			column.open = true;
	}
	column_draw(&column, pen);
	pen_lift(pen);
}

/* Draws a key's value, held from the key's frame to another frame. */
static void draw_hold(const struct plot_line *l, uint32_t key, uint32_t frame, struct pen *pen)
{
	if (curve_frame(l->curve, key) == frame || !plot_is_drawn(plot_line_value_of(l, key)))
		return;
	pen_to(pen, key_point(l, key));
	pen_to(pen, plot_line_point_of(l, frame, plot_line_value_of(l, key)));
	pen_lift(pen);
}

/* ---- paths ---- */

static void path_begin(struct buf *out)
{
	buf_text(out, "<path d=\"");
}

/* Ends the path that was begun at offset `begin` of the text, or drops it if it is empty. */
static void path_end(const struct plot_line *l, void (*look)(unsigned axis, struct buf *out),
		     const char *more, size_t begin, struct buf *out)
{
	if (out->data && out->data[out->size - 1] == '"') {
		out->size = begin;
		return;
	}
	buf_char(out, '"');
	look(l->axis, out);
	buf_text(out, more);
	buf_text(out, "/>\n");
}

static void draw_line(const struct plot_line *l, struct pen *pen)
{
	size_t begin = pen->out->size;

	path_begin(pen->out);
	if (l->curve->keyed)
		draw_keys(l, pen);
	else
		draw_hold(l, 0, l->chart->clip->frames - 1, pen);
	path_end(l, plot_line_look, "", begin, pen->out);
}

static void draw_ends(const struct plot_line *l, struct pen *pen)
{
	size_t begin = pen->out->size;

	path_begin(pen->out);
	if (l->curve->keyed) {
		draw_hold(l, curve_last_in_frame(l->curve, 0), 0, pen);
		draw_hold(l, l->shown - 1, l->chart->clip->frames - 1, pen);
	}
	path_end(l, plot_line_look, " stroke-opacity=\".6\"", begin, pen->out);
}

static bool has_markers(const struct plot_line *l)
{
	return (l->curve->keyed || l->chart->clip->frames == 1) &&
	       l->shown <= l->chart->width / MARKER_ROOM;
}

static void draw_markers(const struct plot_line *l, struct buf *out)
{
	size_t begin = out->size;

	path_begin(out);
	for (uint32_t key = 0; key < l->shown; key++) {
		struct point p = key_point(l, key);

		if (plot_is_drawn(plot_line_value_of(l, key)))
			plot_marker(l->axis, p.x, p.y, out);
	}
	path_end(l, plot_marker_look, "", begin, out);
}

void plot_line(const struct plot_line *line, struct buf *out)
{
	struct pen pen = {.out = out, .steps = line->curve->interpolation == INTERPOLATION_STEP};

	draw_line(line, &pen);
	draw_ends(line, &pen);
	if (has_markers(line))
		draw_markers(line, out);
}
