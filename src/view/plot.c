/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plot.h"

#include "svg.h"
#include "text/num.h"

#include <math.h>

#define FRAME_ROOM 4.5 /* minimum distance of two labelled frames, in font sizes */
/* minimum distance of labelled seconds, which have more digits, in font sizes */
#define SECOND_ROOM 6.0
/* minimum distance of labelled values, which are above each other, in font sizes */
#define VALUE_ROOM 2.0
#define VALUE_DIGITS 12 /* longer numbers are shown as float32, with an exponent */

/* ---- axes ---- */

static double round_step(double rough)
{
	static const double digits[] = {1, 2, 5};
	double power = pow(10, floor(log10(rough)));

	for (size_t i = 0; i < ARRAY_SIZE(digits); i++)
		if (digits[i] * power >= rough * 0.999999)
			return digits[i] * power;
	return 10 * power;
}

static double angle_step(double rough)
{
	static const double parts[] = {15, 30, 45, 90, 180, 360};

	for (size_t i = 0; rough > 10 && i < ARRAY_SIZE(parts); i++)
		if (parts[i] >= rough)
			return parts[i];
	return round_step(rough);
}

struct axis axis_over(double low, double high, double ticks, bool angles)
{
	double rough = (high - low) / ticks, most = fmax(fabs(low), fabs(high));
	struct axis a = {low, high, angles ? angle_step(rough) : round_step(rough), 0};

	if (most >= 1e6 || most < 1e-3)
		a.exponent = (int)floor(log10(most));
	return a;
}

/* Returns the first tick as a multiple of the step. Ticks past a->high are not drawn. */
static double first_tick(const struct axis *a)
{
	return ceil(a->low / a->step - 1e-6);
}

static bool is_tick(const struct axis *a, double i)
{
	return i <= a->high / a->step + 1e-6;
}

static void write_tick(const struct axis *a, double i, struct buf *out)
{
	/* Adding 0 turns -0 into 0. */
	buf_f32_text(out, (float)(i * a->step / pow(10, a->exponent) + 0.0));
}

/* Writes the unit of an axis's labels: "×10⁻⁴". */
static void write_power(const struct axis *a, struct buf *out)
{
	static const char *const raised[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
	int e = a->exponent < 0 ? -a->exponent : a->exponent;

	buf_text(out, a->exponent < 0 ? "×10⁻" : "×10");
	if (e > 9)
		buf_text(out, raised[e / 10 % 10]);
	buf_text(out, raised[e % 10]);
}

/* ---- the keys that are drawn ---- */

static uint32_t plot_shown_keys(const struct clip *clip, const struct track *track, enum role role)
{
	return track->curve[role] ? curve_shown(track->curve[role], clip->frames) : 0;
}

bool plot_has_role(const struct clip *clip, const struct track *track, enum role role)
{
	return plot_shown_keys(clip, track, role) > 0;
}

bool plot_has_track(const struct clip *clip, const struct track *track)
{
	for (int role = 0; role < ROLE_COUNT; role++)
		if (plot_has_role(clip, track, (enum role)role))
			return true;
	return false;
}

/* Returns whether two keys have the same value. A quaternion and its negative are one rotation. */
static bool plot_same_value(const struct curve *c, uint32_t a, uint32_t b)
{
	bool same = true, turned = c->kind == CURVE_QUATERNION;

	for (unsigned axis = 0; axis < curve_width(c); axis++) {
		double x = curve_value(c, a, axis), y = curve_value(c, b, axis);

		same &= x == y;
		turned &= x == -y;
	}
	return same || turned;
}

/*
 * Returns whether a key's value can be drawn: its numbers are finite and not too large, and a
 * quaternion has a length, without which it has no angles.
 */
static bool plot_is_number(const struct curve *c, uint32_t key)
{
	double square = 0;

	for (unsigned axis = 0; axis < curve_width(c); axis++) {
		double v = curve_value(c, key, axis);

		if (!plot_is_drawn(v))
			return false;
		square += v * v;
	}
	return c->kind != CURVE_QUATERNION || square > 0;
}

bool plot_is_still(const struct clip *clip, const struct track *track, enum role role)
{
	const struct curve *c = track->curve[role];
	uint32_t shown = plot_shown_keys(clip, track, role);

	if (shown == 0 || !plot_is_number(c, 0))
		return false;
	for (uint32_t key = 1; key < shown; key++)
		if (!plot_same_value(c, 0, key))
			return false;
	return true;
}

/* ---- values ---- */

/* Finds the least and the greatest number that can be drawn; both are 0 if there is none. */
static void find_range(const struct curve *c, uint32_t shown, double *low, double *high)
{
	*low = INFINITY;
	*high = -INFINITY;
	for (uint32_t key = 0; key < shown; key++) {
		for (unsigned axis = 0; axis < 3; axis++) {
			double v = curve_value(c, key, axis);

			if (!plot_is_drawn(v))
				continue;
			*low = fmin(*low, v);
			*high = fmax(*high, v);
		}
	}
	if (*low > *high)
		*low = *high = 0;
}

/*
 * Widens a narrow range, so that a constant is drawn in the middle, and rounding errors and changes
 * too small to matter are not magnified.
 */
static void widen(double *low, double *high, enum role role)
{
	static const double seen[ROLE_COUNT] = {
		[ROLE_TRANSLATION] = 1e-40, [ROLE_ROTATION] = 1, [ROLE_SCALE] = 0.01};
	double most = fmax(fabs(*low), fabs(*high)), span = *high - *low, least;

	if (span > 0)
		least = fmax(seen[role], most * 1e-4);
	else
		least = most > 1e-40 ? most : 2;
	*low -= fmax(least - span, 0) / 2 + span * 0.05;
	*high += fmax(least - span, 0) / 2 + span * 0.05;
}

static struct axis value_axis(const struct chart *chart, const struct curve *c, uint32_t shown,
			      enum role role)
{
	double low, high;

	find_range(c, shown, &low, &high);
	widen(&low, &high, role);
	return axis_over(low, high, fmax(chart->height / (VALUE_ROOM * chart->font), 2),
			 role == ROLE_ROTATION);
}

/* ---- grid and labels ---- */

static struct axis frame_axis(const struct chart *chart)
{
	double last = chart->clip->frames - 1;
	struct axis a =
		axis_over(0, fmax(last, 1), chart->width / (FRAME_ROOM * chart->font), false);

	a.step = fmax(a.step, 1);
	a.high = last;
	return a;
}

/*
 * Returns the least distance of a labelled tick from the last frame: half of both labels, and some
 * room.
 */
static double label_room(const struct chart *chart)
{
	double digits = floor(log10(fmax(chart->clip->frames - 1, 1))) + 1;

	return (0.65 * digits + 0.7) * chart->font;
}

/*
 * Returns whether a tick has a label. The last frame always has one of its own; a tick whose label
 * would touch it has none.
 */
static bool has_frame_label(const struct chart *chart, double frame)
{
	return plot_x(chart, chart->clip->frames - 1) - plot_x(chart, frame) >= label_room(chart);
}

static double tick_y(const struct chart *chart, const struct axis *a, double i)
{
	return chart->height * (a->high - i * a->step) / (a->high - a->low);
}

static void write_grid(const struct chart *chart, const struct axis *values, struct buf *out)
{
	const struct axis frames = frame_axis(chart);

	buf_text(out, "<path d=\"");
	for (double i = first_tick(&frames); is_tick(&frames, i); i++) {
		buf_char(out, 'M');
		svg_point(plot_x(chart, i * frames.step), 0, out);
		buf_char(out, 'V');
		svg_number(chart->height, out);
	}
	if (chart->clip->frames > 1) {
		buf_char(out, 'M');
		svg_point(chart->width, 0, out);
		buf_char(out, 'V');
		svg_number(chart->height, out);
	}
	for (double i = first_tick(values); is_tick(values, i); i++) {
		buf_char(out, 'M');
		svg_point(0, tick_y(chart, values, i), out);
		buf_char(out, 'H');
		svg_number(chart->width, out);
	}
	buf_text(out, "\" stroke=\"currentColor\" stroke-opacity=\".15\"/>\n<path d=\"M0,0V");
	svg_number(chart->height, out);
	buf_char(out, 'H');
	svg_number(chart->width, out);
	if (values->low < 0 && values->high > 0) {
		buf_char(out, 'M');
		svg_point(0, tick_y(chart, values, 0), out);
		buf_char(out, 'H');
		svg_number(chart->width, out);
	}
	buf_text(out, "\" fill=\"none\" stroke=\"currentColor\" stroke-opacity=\".5\"/>\n");
}

static void plot_write_values(const struct chart *chart, const struct axis *values, struct buf *out)
{
	for (double i = first_tick(values); is_tick(values, i); i++) {
		svg_text_begin(-5, tick_y(chart, values, i) + 0.35 * chart->font,
			       " text-anchor=\"end\"", out);
		write_tick(values, i, out);
		if (values->exponent != 0 && i != 0)
			write_power(values, out);
		svg_text_end(out);
	}
}

static void group_begin(const struct chart *chart, double below, struct buf *out)
{
	buf_text(out, "<g transform=\"translate(");
	svg_point(chart->x, chart->y + below, out);
	buf_text(out, ")\" font-size=\"");
	svg_number(chart->font, out);
	buf_text(out, "\">\n");
}

static void write_tick_below(const struct chart *chart, double frame, const struct axis *a,
			     double i, struct buf *out)
{
	svg_text_begin(plot_x(chart, frame), chart->font + 4, " text-anchor=\"middle\"", out);
	write_tick(a, i, out);
	svg_text_end(out);
}

static void write_axis_name(const struct chart *chart, const char *name, const struct axis *a,
			    struct buf *out)
{
	svg_text_begin(-chart->font, chart->font + 4, " text-anchor=\"end\"", out);
	if (a->exponent != 0)
		write_power(a, out);
	buf_text(out, name);
	svg_text_end(out);
}

void plot_frames(const struct chart *chart, struct buf *out)
{
	const struct axis frames = frame_axis(chart);

	group_begin(chart, chart->height, out);
	write_axis_name(chart, "frame", &frames, out);
	for (double i = 0; is_tick(&frames, i); i++)
		if (has_frame_label(chart, i * frames.step))
			write_tick_below(chart, i * frames.step, &frames, i, out);
	write_tick_below(chart, frames.high, &frames, frames.high / frames.step, out);
	buf_text(out, "</g>\n");
}

void plot_seconds(const struct chart *chart, double below, double seconds_per_frame,
		  struct buf *out)
{
	double last = chart->clip->frames - 1;
	struct axis a = axis_over(0, fmax(last, 1) * seconds_per_frame,
				  chart->width / (SECOND_ROOM * chart->font), false);

	a.high = last * seconds_per_frame;
	group_begin(chart, chart->height + below, out);
	write_axis_name(chart, " s", &a, out);
	buf_text(out, "<path stroke=\"currentColor\" stroke-opacity=\".5\" d=\"");
	for (double i = 0; is_tick(&a, i); i++) {
		buf_char(out, 'M');
		svg_point(plot_x(chart, i * a.step / seconds_per_frame), 0, out);
		buf_text(out, "v4");
	}
	buf_text(out, "\"/>\n");
	for (double i = 0; is_tick(&a, i); i++)
		write_tick_below(chart, i * a.step / seconds_per_frame, &a, i, out);
	buf_text(out, "</g>\n");
}

/* ---- keyframes ---- */

static void write_bar(const struct chart *chart, double begin, double end, struct buf *out)
{
	if (end < begin)
		return;
	buf_char(out, 'M');
	svg_point(begin, chart->height + 2.5, out);
	buf_char(out, 'H');
	svg_number(end, out);
}

static void plot_write_keyframes(const struct chart *chart, const struct keyframes *k,
				 struct buf *out)
{
	double half = fmax(chart->width / fmax(chart->clip->frames - 1, 1) / 2, 0.5);
	double begin = 0, end = -INFINITY;

	buf_text(out,
		 "<path stroke=\"currentColor\" stroke-width=\"3\" stroke-opacity=\".6\" d=\"");
	for (uint32_t i = 0; i < k->count && k->frames[i] < chart->clip->frames; i++) {
		double x = plot_x(chart, k->frames[i]);

		if (x - half > end + 1) {
			write_bar(chart, begin, end, out);
			begin = fmax(x - half, 0);
		}
		end = fmin(x + half, chart->width);
	}
	write_bar(chart, begin, end, out);
	buf_text(out, "\"/>\n");
}

void plot_keyframes(const struct chart *chart, const struct keyframes *k, struct buf *out)
{
	group_begin(chart, 0, out);
	plot_write_keyframes(chart, k, out);
	buf_text(out, "</g>\n");
}

void plot_chart(const struct chart *chart, const struct track *track, enum role role,
		struct buf *out)
{
	const struct curve *curve = track->curve[role];
	uint32_t shown = plot_shown_keys(chart->clip, track, role);
	const struct axis values = value_axis(chart, curve, shown, role);

	group_begin(chart, 0, out);
	write_grid(chart, &values, out);
	plot_write_values(chart, &values, out);
	if (track->keyframes)
		plot_write_keyframes(chart, track->keyframes, out);
	buf_text(out,
		 "<g stroke-width=\"1.8\" stroke-linecap=\"round\" stroke-linejoin=\"round\">\n");
	for (unsigned axis = 0; axis < 3; axis++) {
		struct plot_line line = {chart, &values, curve, shown, axis};

		plot_line(&line, out);
	}
	buf_text(out, "</g>\n</g>\n");
}

/* ---- words ---- */

void plot_value(const struct curve *c, struct buf *out)
{
	for (unsigned axis = 0; axis < 3; axis++) {
		double v = curve_value(c, 0, axis);
		char text[NUM_MAX];
		size_t size = num_lane(text, v, &c->lane[axis]);

		if (axis > 0)
			buf_text(out, ", ");
		if (size <= VALUE_DIGITS)
			buf_add(out, text, size);
		else
			buf_f32_text(out, (float)v);
	}
}

/*
 * Returns the greatest distance of two components; INFINITY if only one of them has a gap
 * somewhere. Numbers that are not drawn are gaps.
 */
static double axes_apart(const struct curve *c, uint32_t shown, unsigned a, unsigned b)
{
	double most = 0;

	for (uint32_t key = 0; key < shown; key++) {
		double x = curve_value(c, key, a), y = curve_value(c, key, b);

		if (plot_is_drawn(x) && plot_is_drawn(y))
			most = fmax(most, fabs(x - y));
		else if (plot_is_drawn(x) != plot_is_drawn(y))
			return INFINITY;
	}
	return most;
}

static const char *equals_sign(double apart)
{
	return apart > 0 ? "≈" : "=";
}

void plot_equal_axes(const struct chart *chart, const struct track *track, enum role role,
		     const char *before, struct buf *out)
{
	static const uint8_t pairs[][2] = {{0, 1}, {1, 2}, {0, 2}};
	const struct curve *c = track->curve[role];
	uint32_t shown = plot_shown_keys(chart->clip, track, role);
	const struct axis values = value_axis(chart, c, shown, role);
	const double close = (values.high - values.low) * 0.7 / chart->height;
	double apart[ARRAY_SIZE(pairs)];

	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++)
		apart[i] = axes_apart(c, shown, pairs[i][0], pairs[i][1]);
	if (fmax(apart[0], fmax(apart[1], apart[2])) <= close) {
		buf_format(out, "%sx %s y %s z", before, equals_sign(apart[0]),
			   equals_sign(apart[1]));
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
		if (apart[i] > close)
			continue;
		buf_format(out, "%s%c %s %c", before, "xyz"[pairs[i][0]], equals_sign(apart[i]),
			   "xyz"[pairs[i][1]]);
		return;
	}
}

const char *plot_unit(const struct format *format, enum role role)
{
	switch (role) {
	case ROLE_TRANSLATION:
		return format->length;
	case ROLE_ROTATION:
		return "degrees";
	default:
		return "factor";
	}
}

void plot_legend(double x, double y, unsigned axis, struct buf *out)
{
	buf_text(out, "<path stroke-width=\"1.8\" stroke-linecap=\"round\" d=\"M");
	svg_point(x, y - 4, out);
	buf_text(out, "h26\"");
	plot_line_look(axis, out);
	buf_text(out, "/><path stroke-linecap=\"round\" d=\"");
	plot_marker(axis, x + 13, y - 4, out);
	buf_char(out, '"');
	plot_marker_look(axis, out);
	buf_text(out, "/>\n");
	svg_text_begin(x + 32, y, "", out);
	buf_char(out, "xyz"[axis]);
	svg_text_end(out);
}

void plot_length(const struct anim *a, const struct clip *clip, struct buf *out)
{
	buf_unsigned(out, clip->frames);
	buf_text(out, clip->frames == 1 ? " frame of " : " frames of ");
	buf_seconds(out, anim_seconds_per_frame(a, clip));
	buf_text(out, " s");
	if (a->format->keyframes)
		buf_text(out, ", drawn where the bars are");
}
