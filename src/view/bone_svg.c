/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bone_svg.c - NAME.svg: the curves of a bone as charts, one for each role that has keys. */
#include "model/clip.h"
#include "model/curve_edit.h"
#include "model/sampled.h"
#include "own_digest.h"
#include "plot.h"
#include "svg.h"
#include "text/num.h"
#include "views.h"

#include <math.h>

#define WIDTH 760
#define LEFT 66
#define RIGHT 24
#define TOP 52 /* name of the bone and length of the clip */
#define CHART_HEIGHT 140
#define CHART_TOP 26    /* its heading and legend */
#define CHART_BOTTOM 28 /* its frame numbers */
#define BOTTOM 22       /* the seconds */
#define NAME_LETTERS 44
#define VALUE_DIGITS 16 /* of a value in the legend */

static const struct track *track_shown(const struct shown *at)
{
	return &clip_shown(at)->tracks[at->track];
}

static bool bone_svg_present(const struct shown *at)
{
	const struct clip *clip = clip_shown(at);

	return clip_has_bones(at) && at->track < clip->track_count &&
	       plot_has_track(clip, track_shown(at));
}

static double picture_height(const struct shown *at)
{
	double height = TOP + BOTTOM;

	for (int role = 0; role < ROLE_COUNT; role++)
		if (plot_has_role(clip_shown(at), track_shown(at), (enum role)role))
			height += CHART_TOP + CHART_HEIGHT + CHART_BOTTOM;
	return height;
}

static void bone_svg_write_head(const struct shown *at, struct buf *out)
{
	svg_text_begin(LEFT, 20, " font-size=\"15\"", out);
	buf_text(out, "<tspan font-weight=\"bold\">");
	svg_escape(track_shown(at)->label, NAME_LETTERS, out);
	buf_text(out, "</tspan> in ");
	svg_escape(clip_shown(at)->label, NAME_LETTERS / 2, out);
	svg_text_end(out);
	svg_text_begin(LEFT, 37, " fill-opacity=\".7\"", out);
	svg_escape(at->file_name, NAME_LETTERS, out);
	buf_text(out, ", ");
	plot_length(at->anim, clip_shown(at), out);
	svg_text_end(out);
}

/* "1.5, -2, 0.25", where there is room for it. */
static bool bone_svg_write_value(const struct curve *c, struct buf *out)
{
	char text[3][NUM_MAX];
	int size[3];

	for (unsigned axis = 0; axis < 3; axis++) {
		double v = curve_value(c, 0, axis);

		size[axis] = (int)num_lane(text[axis], v, &c->lane[axis]);
		if (!isfinite(v) || size[axis] > VALUE_DIGITS)
			return false;
	}
	buf_format(out, "%.*s, %.*s, %.*s", size[0], text[0], size[1], text[1], size[2], text[2]);
	return true;
}

/* "12 keys", "1.5, -2, 0.25 in all frames" */
static void bone_svg_write_keys(const struct curve *c, uint32_t keys, struct buf *out)
{
	if (!c->keyed) {
		buf_text(out, bone_svg_write_value(c, out) ? " in all frames"
							   : "one value for all frames");
		return;
	}
	buf_unsigned(out, keys);
	buf_text(out, keys == 1 ? " key" : " keys");
	if (c->interpolation == INTERPOLATION_STEP)
		buf_text(out, " that hold");
	if (c->timing)
		buf_text(out, " with tangents, drawn in each frame");
}

/* "rotation (degrees), 12 keys" */
static void write_chart_head(const struct shown *at, const struct track *track, enum role role,
			     double y, struct buf *out)
{
	const struct curve *stored = track_shown(at)->curve[role];
	bool converted = stored->kind == CURVE_QUATERNION;

	svg_text_begin(LEFT, y, "", out);
	buf_format(out, "<tspan font-weight=\"bold\">%s</tspan> (%s", role_names[role],
		   plot_unit(at->anim->format, role));
	buf_text(out, converted ? ", of quaternions), " : "), ");
	bone_svg_write_keys(stored->timing ? stored : track->curve[role],
			    curve_shown(stored, clip_shown(at)->frames), out);
	svg_text_end(out);
	for (unsigned axis = 0; axis < 3; axis++)
		plot_legend(WIDTH - RIGHT - (3 - axis) * LEGEND_WIDTH, y, axis, out);
}

/* Writes the charts below each other; *chart is then the last one. */
static void write_charts(const struct shown *at, const struct track *track, struct chart *chart,
			 struct buf *out)
{
	double y = TOP;

	for (int role = 0; role < ROLE_COUNT; role++) {
		if (!plot_has_role(chart->clip, track, (enum role)role))
			continue;
		chart->y = y + CHART_TOP;
		write_chart_head(at, track, (enum role)role, chart->y - 9, out);
		plot_chart(chart, track, (enum role)role, out);
		plot_frames(chart, out);
		y = chart->y + CHART_HEIGHT + CHART_BOTTOM;
	}
}

static void bone_svg_render(const struct shown *at, struct buf *out)
{
	struct arena arena = ARENA_INIT;
	struct track drawn = track_sampled(track_shown(at), clip_shown(at)->frames, &arena);
	struct track track = curve_edit_shown_as(&drawn, CURVE_EULER, &arena);
	struct chart chart = {.clip = clip_shown(at),
			      .x = LEFT,
			      .width = WIDTH - LEFT - RIGHT,
			      .height = CHART_HEIGHT,
			      .columns = WIDTH - LEFT - RIGHT,
			      .font = 10};

	out->failed |= arena.failed;
	if (!out->failed) {
		svg_begin(WIDTH, picture_height(at), out);
		bone_svg_write_head(at, out);
		write_charts(at, &track, &chart, out);
		plot_seconds(&chart, CHART_BOTTOM - 10,
			     anim_seconds_per_frame(at->anim, chart.clip), out);
		svg_end(out);
		own_digest_add(out);
	}
	arena_release(&arena);
}

const struct view view_bone_svg = {
	.name = "svg",
	.place = VIEW_OF_BONE,
	.file = ".svg",
	.present = bone_svg_present,
	.render = bone_svg_render,
	.names_file = true,
	.composed = true,
};
