/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bone_svg.c - NAME.svg: the curves of a bone as charts, one for each role that has keys. */
#include "model/clip.h"
#include "model/curve_edit.h"
#include "model/sampled.h"
#include "own_digest.h"
#include "plot.h"
#include "svg.h"
#include "views.h"

#define WIDTH 760
#define LEFT 66
#define RIGHT 24
#define TOP 52 /* height of the name of the bone and the length of the clip */
#define CHART_HEIGHT 140
#define CHART_TOP 26    /* height of the heading and legend of a chart */
#define CHART_BOTTOM 28 /* height of the frame numbers below a chart */
#define BOTTOM 22       /* height of the seconds below the last chart */
#define STILL_HEIGHT 24
#define STILL_BOTTOM 12
#define NAME_LETTERS 44
#define TITLE_LETTERS 200

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

/* Returns the height of a role in the drawing. A role of one value is only a line of text. */
static double role_height(const struct shown *at, const struct track *track, enum role role)
{
	if (!plot_has_role(clip_shown(at), track, role))
		return 0;
	return plot_is_still(clip_shown(at), track, role) ? STILL_HEIGHT
							  : CHART_TOP + CHART_HEIGHT + CHART_BOTTOM;
}

/*
 * Returns the last role that has a chart, under which the seconds are drawn; ROLE_COUNT if none
 * has.
 */
static int last_chart(const struct shown *at, const struct track *track)
{
	int last = ROLE_COUNT;

	for (int role = 0; role < ROLE_COUNT; role++)
		if (role_height(at, track, (enum role)role) > STILL_HEIGHT)
			last = role;
	return last;
}

static double picture_height(const struct shown *at, const struct track *track)
{
	double height = TOP + (last_chart(at, track) < ROLE_COUNT ? BOTTOM : STILL_BOTTOM);

	for (int role = 0; role < ROLE_COUNT; role++)
		height += role_height(at, track, (enum role)role);
	return height;
}

static void bone_svg_write_title(const struct shown *at, struct buf *out)
{
	buf_text(out, "<title>");
	svg_escape(track_shown(at)->label, TITLE_LETTERS, out);
	buf_text(out, " in ");
	svg_escape(clip_shown(at)->label, TITLE_LETTERS, out);
	buf_text(out, "</title>\n<desc>Curves of one bone of ");
	svg_escape(at->file_name, TITLE_LETTERS, out);
	buf_text(out, ": x, y and z of its");
	for (int role = 0, any = 0; role < ROLE_COUNT; role++)
		if (plot_has_role(clip_shown(at), track_shown(at), (enum role)role))
			buf_format(out, "%s %s", any++ ? "," : "", role_names[role]);
	buf_text(out, " over ");
	plot_length(at->anim, clip_shown(at), out);
	buf_text(out, ".</desc>\n");
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

/* Writes the number of keys: "12 keys". */
static void bone_svg_write_keys(const struct curve *c, uint32_t keys, struct buf *out)
{
	if (!c->keyed) {
		buf_text(out, "one value for all frames");
		return;
	}
	buf_unsigned(out, keys);
	buf_text(out, keys == 1 ? " key" : " keys");
	if (c->interpolation == INTERPOLATION_STEP)
		buf_text(out, " that hold");
	if (c->timing)
		buf_text(out, " with tangents, drawn in each frame");
}

/* Writes a role with one value: "1.5, -2, 0.25 in all frames, 12 keys". */
static void bone_svg_write_still(const struct curve *drawn, const struct curve *stored,
				 uint32_t keys, struct buf *out)
{
	plot_value(drawn, out);
	buf_text(out, " in all frames");
	if (stored->keyed) {
		buf_text(out, ", ");
		buf_unsigned(out, keys);
		buf_text(out, keys == 1 ? " key" : " keys");
	}
}

/* Writes the heading of a role: "rotation (degrees), 12 keys". */
static void write_role_head(const struct shown *at, const struct chart *chart,
			    const struct track *track, enum role role, struct buf *out)
{
	const struct clip *clip = chart->clip;
	const struct curve *stored = track_shown(at)->curve[role];
	const uint32_t keys = curve_shown(stored, clip->frames);
	bool converted = stored->kind == CURVE_QUATERNION;

	svg_text_begin(LEFT, chart->y - 9, "", out);
	buf_format(out, "<tspan font-weight=\"bold\">%s</tspan> (%s", role_names[role],
		   plot_unit(at->anim->format, role));
	buf_text(out, converted ? ", of quaternions), " : "), ");
	if (plot_is_still(clip, track, role)) {
		bone_svg_write_still(track->curve[role], stored, keys, out);
	} else {
		bone_svg_write_keys(stored->timing ? stored : track->curve[role], keys, out);
		plot_equal_axes(chart, track, role, ", ", out);
	}
	svg_text_end(out);
}

static void write_role_chart(const struct chart *chart, const struct track *track, enum role role,
			     struct buf *out)
{
	for (unsigned axis = 0; axis < 3; axis++)
		plot_legend(WIDTH - RIGHT - (3 - axis) * LEGEND_WIDTH, chart->y - 9, axis, out);
	plot_chart(chart, track, role, out);
	plot_frames(chart, out);
}

/* Draws the bars of keyframes under the line of text of a role without a chart. */
static void write_bars(const struct chart *chart, const struct track *track, double y,
		       struct buf *out)
{
	struct chart line = *chart;

	if (!track->keyframes)
		return;
	line.y = y;
	line.height = 0;
	plot_keyframes(&line, track->keyframes, out);
}

static void bone_svg_write_roles(const struct shown *at, const struct track *track,
				 struct chart *chart, struct buf *out)
{
	const int last = last_chart(at, track);
	double y = TOP;

	for (int role = 0; role < ROLE_COUNT; role++) {
		double height = role_height(at, track, (enum role)role);

		if (height == 0)
			continue;
		chart->y = y + CHART_TOP;
		write_role_head(at, chart, track, (enum role)role, out);
		if (height > STILL_HEIGHT)
			write_role_chart(chart, track, (enum role)role, out);
		else
			write_bars(chart, track, chart->y - 7, out);
		y += height;
		if (role != last)
			continue;
		plot_seconds(chart, CHART_BOTTOM - 10,
			     anim_seconds_per_frame(at->anim, chart->clip), out);
		y += BOTTOM;
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
		double height = picture_height(at, &track);

		svg_begin(WIDTH, height, out);
		bone_svg_write_title(at, out);
		svg_ground(WIDTH, height, out);
		bone_svg_write_head(at, out);
		bone_svg_write_roles(at, &track, &chart, out);
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
