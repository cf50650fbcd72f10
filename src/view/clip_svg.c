/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * clip_svg.c - clip.svg: all curves of a clip on one sheet, a row of small charts per bone.
 *
 * The sheet stays small enough to open, however many bones and frames there are: rows get lower,
 * charts have fewer columns, and only the first ROWS bones are shown.
 */
#include "model/clip.h"
#include "model/curve_edit.h"
#include "model/sampled.h"
#include "own_digest.h"
#include "plot.h"
#include "svg.h"
#include "text/num.h"
#include "views.h"

#include <math.h>

#define ROWS 1000
#define ROW_HEIGHT 76
#define SHEET_HEIGHT 32000.0 /* of all rows; cairo draws up to 32767 */
#define ROW_GAP 12
#define COLUMNS 300000.0 /* in total, over all lines of all charts */

#define WIDTH 1000
#define LEFT 16
#define NAMES 150 /* width of the names */
#define RIGHT 14
#define FONT 9
#define LABELS 54 /* width of the labels left of a chart */
#define TOP 96    /* height of titles and frames */
#define BOTTOM 44 /* height of frames and seconds */
#define NAME_LETTERS 40
#define BONE_LETTERS 24

struct sheet {
	const struct shown *at;
	const struct clip *clip;
	uint32_t bones, rows;      /* bones with keys; how many are shown */
	unsigned roles;            /* number of roles that have a column */
	double column[ROLE_COUNT]; /* x of its charts; 0: no bone has the role */
	double row_height;
	struct chart chart;
};

static bool clip_svg_present(const struct shown *at)
{
	const struct clip *clip = clip_shown(at);

	for (uint32_t i = 0; clip->frames <= FRAMES_SHOWN && i < clip->track_count; i++)
		if (plot_has_track(clip, &clip->tracks[i]))
			return true;
	return false;
}

static void clip_svg_count_rows(struct sheet *s, bool has_role[ROLE_COUNT])
{
	for (uint32_t i = 0; i < s->clip->track_count; i++) {
		const struct track *track = &s->clip->tracks[i];

		s->bones += plot_has_track(s->clip, track);
		for (int role = 0; role < ROLE_COUNT; role++)
			has_role[role] |= plot_has_role(s->clip, track, (enum role)role);
	}
	s->rows = s->bones < ROWS ? s->bones : ROWS;
}

static struct sheet sheet_of(const struct shown *at)
{
	struct sheet s = {.at = at, .clip = clip_shown(at)};
	bool has_role[ROLE_COUNT] = {false};
	double x = LEFT + NAMES, width;

	clip_svg_count_rows(&s, has_role);
	for (int role = 0; role < ROLE_COUNT; role++)
		s.roles += has_role[role];
	width = floor((WIDTH - RIGHT - x) / s.roles);
	for (int role = 0; role < ROLE_COUNT; role++) {
		if (!has_role[role])
			continue;
		s.column[role] = x + LABELS;
		x += width;
	}
	s.row_height = fmin(ROW_HEIGHT, floor(SHEET_HEIGHT / s.rows));
	s.chart = (struct chart){.clip = s.clip,
				 .width = width - LABELS - FONT,
				 .height = s.row_height - ROW_GAP,
				 .font = FONT};
	s.chart.columns = (unsigned)fmin(s.chart.width, COLUMNS / (s.rows * s.roles * 3));
	return s;
}

static void clip_svg_write_head(const struct sheet *s, struct buf *out)
{
	svg_text_begin(LEFT, 22, " font-size=\"15\"", out);
	buf_text(out, "<tspan font-weight=\"bold\">");
	svg_escape(s->clip->label, NAME_LETTERS, out);
	buf_text(out, "</tspan> in ");
	svg_escape(s->at->file_name, NAME_LETTERS, out);
	svg_text_end(out);
	svg_text_begin(LEFT, 40, " fill-opacity=\".7\"", out);
	plot_length(s->at->anim, s->clip, out);
	buf_text(out, s->clip->loop ? ", in a loop, " : ", ");
	buf_unsigned(out, s->clip->track_count);
	buf_text(out, s->clip->track_count == 1 ? " bone" : " bones");
	if (s->bones < s->clip->track_count) {
		buf_text(out, ", ");
		buf_unsigned(out, s->clip->track_count - s->bones);
		buf_text(out, " without keys");
	}
	if (s->rows < s->bones) {
		buf_text(out, "; here are the first ");
		buf_unsigned(out, s->rows);
		buf_text(out, " that have keys");
	}
	svg_text_end(out);
	for (unsigned axis = 0; axis < 3; axis++)
		plot_legend(WIDTH - RIGHT - (3 - axis) * LEGEND_WIDTH, 22, axis, out);
}

static void write_column_heads(const struct sheet *s, struct buf *out)
{
	for (int role = 0; role < ROLE_COUNT; role++) {
		if (s->column[role] == 0)
			continue;
		svg_text_begin(s->column[role], TOP - 30, "", out);
		buf_format(out, "<tspan font-weight=\"bold\">%s</tspan> (%s)", role_names[role],
			   plot_unit(s->at->anim->format, (enum role)role));
		svg_text_end(out);
	}
}

/* A nested drawing clips the name, so that even wide letters do not overlap the charts. */
static void clip_svg_write_name(const struct track *track, double y, struct buf *out)
{
	buf_text(out, "<svg x=\"0\" y=\"");
	svg_number(y, out);
	buf_format(out, "\" width=\"%d\" height=\"%d\">", LEFT + NAMES, 16);
	svg_text_begin(LEFT, 12, "", out);
	svg_escape(track->label, BONE_LETTERS, out);
	svg_text_end(out);
	buf_text(out, "</svg>\n");
}

static void clip_svg_write_row(struct sheet *s, const struct track *stored, struct buf *out)
{
	struct arena arena = ARENA_INIT;
	struct track drawn = track_sampled(stored, s->clip->frames, &arena);
	struct track track = curve_edit_shown_as(&drawn, CURVE_EULER, &arena);

	out->failed |= arena.failed;
	clip_svg_write_name(&track, s->chart.y + s->chart.height / 2 - 8, out);
	for (int role = 0; !out->failed && role < ROLE_COUNT; role++) {
		s->chart.x = s->column[role];
		if (plot_has_role(s->clip, &track, (enum role)role))
			plot_chart(&s->chart, &track, (enum role)role, out);
	}
	arena_release(&arena);
}

static void write_rows(struct sheet *s, struct buf *out)
{
	uint32_t rows = 0;

	for (uint32_t i = 0; rows < s->rows && !out->failed; i++) {
		const struct track *track = &s->clip->tracks[i];

		if (!plot_has_track(s->clip, track))
			continue;
		s->chart.y = TOP + rows++ * s->row_height;
		clip_svg_write_row(s, track, out);
	}
}

/* Writes the frames above and below all rows, and the seconds. */
static void clip_svg_write_times(struct sheet *s, struct buf *out)
{
	double seconds = anim_seconds_per_frame(s->at->anim, s->clip), below = s->chart.height;

	for (int role = 0; role < ROLE_COUNT; role++) {
		if (s->column[role] == 0)
			continue;
		s->chart.x = s->column[role];
		s->chart.y = TOP - FONT - 13 - below;
		plot_frames(&s->chart, out);
		s->chart.y = TOP + (s->rows - 1) * s->row_height;
		plot_frames(&s->chart, out);
		plot_seconds(&s->chart, FONT + 8, seconds, out);
	}
}

static void clip_svg_render(const struct shown *at, struct buf *out)
{
	struct sheet s = sheet_of(at);

	svg_begin(WIDTH, TOP + s.rows * s.row_height + BOTTOM, out);
	clip_svg_write_head(&s, out);
	write_column_heads(&s, out);
	write_rows(&s, out);
	clip_svg_write_times(&s, out);
	svg_end(out);
	own_digest_add(out);
}

const struct view view_clip_svg = {
	.name = "svg",
	.place = VIEW_OF_CLIP,
	.file = "clip.svg",
	.present = clip_svg_present,
	.render = clip_svg_render,
	.names_file = true,
	.composed = true,
};
