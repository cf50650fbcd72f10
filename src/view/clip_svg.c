/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * clip_svg.c - clip.svg: all curves of a clip on one sheet, a row of small charts per bone.
 *
 * The sheet stays small enough to open, however many bones and frames there are: rows get lower,
 * charts have fewer columns, and only the first ROWS bones are shown. A curve of one value is a
 * line of numbers. Bones stand below their parents, where these are known.
 */
#include "figure.h"
#include "model/clip.h"
#include "model/curve_edit.h"
#include "own_digest.h"
#include "plot.h"
#include "svg.h"
#include "text/num.h"
#include "views.h"

#include <math.h>

#define ROWS 1000
#define ROW_HEIGHT 76
#define SHEET_HEIGHT 32000.0 /* maximum height of all rows together; cairo draws up to 32767 */
#define STILL_HEIGHT 20      /* height of a row without charts */
#define STILL_MIDDLE 7       /* middle of the text in a row without charts */
#define ROW_GAP 12
#define BARS_BELOW 4     /* distance from the middle of a row without charts to its keyframe bars */
#define COLUMNS 300000.0 /* limit of the number of columns, over all lines of all charts */

#define WIDTH 1000
#define LEFT 16
#define NAMES 150 /* width of the column of bone names */
#define RIGHT 14
#define FONT 9
#define LABELS 54 /* width of the value labels left of a chart */
#define TOP 96    /* height of the titles and frame numbers above the charts */
#define BOTTOM 44 /* height of the frame numbers and seconds below the charts */
#define NAME_LETTERS 40
#define TITLE_LETTERS 200
#define BONE_LETTERS 24
#define INDENT 7 /* indentation of a bone from its parent */
#define DEEPEST 10

/* A bone with keys. */
struct row {
	uint32_t track, depth; /* the bone's track; how many of its ancestors have a row */
	bool charted[ROLE_COUNT];
	bool is_charted; /* one of the row's roles has a chart */
};

struct sheet {
	const struct shown *at;
	const struct clip *clip; /* the clip without tangents */
	struct row *rows;
	uint32_t bones, count; /* number of bones with keys; number of those that are shown */
	uint32_t depth;        /* depth of the bone that is being visited */
	bool has_role[ROLE_COUNT], charted[ROLE_COUNT], quaternions;
	double column[ROLE_COUNT]; /* by role: x of the charts; 0 if no bone has the role */
	double row_height, height; /* height of a row with charts; height of all rows */
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

/* ---- rows ---- */

static bool clip_svg_has_row(const struct sheet *s, uint32_t node)
{
	return node < s->clip->track_count && plot_has_track(s->clip, &s->clip->tracks[node]);
}

static struct row clip_svg_row_of(struct sheet *s, uint32_t node)
{
	const struct track *track = &s->clip->tracks[node];
	struct row row = {.track = node, .depth = s->depth};

	for (int role = 0; role < ROLE_COUNT; role++) {
		if (!plot_has_role(s->clip, track, (enum role)role))
			continue;
		row.charted[role] = !plot_is_still(s->clip, track, (enum role)role);
		row.is_charted |= row.charted[role];
		s->charted[role] |= row.charted[role];
		s->has_role[role] = true;
		s->quaternions |= track->curve[role]->kind == CURVE_QUATERNION;
	}
	return row;
}

static void clip_svg_enter(void *user, uint32_t node, uint32_t depth)
{
	struct sheet *s = user;

	(void)depth; /* Bones without a row count as well. */
	if (!clip_svg_has_row(s, node))
		return;
	if (s->count < ROWS)
		s->rows[s->count++] = clip_svg_row_of(s, node);
	s->bones++;
	s->depth++;
}

static void clip_svg_leave(void *user, uint32_t node, uint32_t depth)
{
	struct sheet *s = user;

	(void)depth;
	if (clip_svg_has_row(s, node))
		s->depth--;
}

static bool list_rows(struct sheet *s, struct arena *arena)
{
	static const struct figure_walk walk = {clip_svg_enter, clip_svg_leave};
	struct figure figure;

	s->rows = arena_alloc(arena, ROWS, sizeof(*s->rows));
	if (!figure_make(&figure, s->at, arena))
		return false;
	s->clip = figure.clip;
	figure_walk(&figure, &walk, s);
	return true;
}

/* ---- places ---- */

static void place_columns(struct sheet *s)
{
	double x = LEFT + NAMES, width;
	unsigned roles = 0;

	for (int role = 0; role < ROLE_COUNT; role++)
		roles += s->has_role[role];
	width = floor((WIDTH - RIGHT - x) / roles);
	for (int role = 0; role < ROLE_COUNT; role++) {
		if (!s->has_role[role])
			continue;
		s->column[role] = x + LABELS;
		x += width;
	}
	s->chart.width = width - LABELS - FONT;
	s->chart.columns = (unsigned)fmin(s->chart.width, COLUMNS / (s->count * roles * 3));
}

static void set_heights(struct sheet *s)
{
	uint32_t charted = 0;
	double still;

	for (uint32_t i = 0; i < s->count; i++)
		charted += s->rows[i].is_charted;
	still = (s->count - charted) * (double)STILL_HEIGHT;
	s->row_height = fmin(ROW_HEIGHT, floor((SHEET_HEIGHT - still) / fmax(charted, 1)));
	s->height = still + charted * s->row_height;
}

/* Sets up the sheet. Returns false when out of memory. */
static bool sheet_make(struct sheet *s, const struct shown *at, struct arena *arena)
{
	*s = (struct sheet){.at = at};
	if (!list_rows(s, arena))
		return false;
	set_heights(s);
	s->chart = (struct chart){.clip = s->clip, .height = s->row_height - ROW_GAP, .font = FONT};
	place_columns(s);
	return true;
}

/* ---- words ---- */

static void clip_svg_write_title(const struct sheet *s, struct buf *out)
{
	buf_text(out, "<title>");
	svg_escape(s->clip->label, TITLE_LETTERS, out);
	buf_text(out, " in ");
	svg_escape(s->at->file_name, TITLE_LETTERS, out);
	buf_text(out, "</title>\n<desc>Curves of ");
	buf_unsigned(out, s->count);
	buf_text(out, s->count == 1 ? " bone, a row: x, y and z of its"
				    : " bones, a row for each: x, y and z of their");
	for (int role = 0, any = 0; role < ROLE_COUNT; role++)
		if (s->has_role[role])
			buf_format(out, "%s %s", any++ ? "," : "", role_names[role]);
	buf_text(out, " over ");
	plot_length(s->at->anim, s->clip, out);
	buf_text(out, ".</desc>\n");
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
	if (s->count < s->bones) {
		buf_text(out, "; here are the first ");
		buf_unsigned(out, s->count);
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
		buf_format(out, "<tspan font-weight=\"bold\">%s</tspan> (%s%s)", role_names[role],
			   plot_unit(s->at->anim->format, (enum role)role),
			   role == ROLE_ROTATION && s->quaternions ? ", of quaternions" : "");
		svg_text_end(out);
	}
}

/*
 * Writes the name of a bone. A nested drawing clips it, so that even wide letters do not overlap
 * the charts.
 */
static void clip_svg_write_name(const struct track *track, uint32_t depth, double y,
				struct buf *out)
{
	buf_text(out, "<svg x=\"0\" y=\"");
	svg_number(y, out);
	buf_format(out, "\" width=\"%d\" height=\"%d\">", LEFT + NAMES, 16);
	svg_text_begin(LEFT + INDENT * fmin(depth, DEEPEST), 12, "", out);
	svg_escape(track->label, BONE_LETTERS, out);
	svg_text_end(out);
	buf_text(out, "</svg>\n");
}

/* ---- cells ---- */

/* Begins a line of text in the column of a role, vertically centred at `middle`. */
static void cell_begin(const struct sheet *s, enum role role, double middle, const char *more,
		       struct buf *out)
{
	svg_text_begin(s->column[role], middle + 0.35 * FONT, more, out);
}

static void write_no_keys(const struct sheet *s, enum role role, double middle, struct buf *out)
{
	cell_begin(s, role, middle, " font-size=\"9\" fill-opacity=\".55\"", out);
	buf_text(out, "no keys");
	svg_text_end(out);
}

/* Writes a curve of one value: "1.5, -2, 0.25 (12 keys)". */
static void write_still(const struct sheet *s, const struct track *track, enum role role,
			const struct curve *stored, double middle, struct buf *out)
{
	cell_begin(s, role, middle, " font-size=\"9\"", out);
	plot_value(track->curve[role], out);
	if (stored->keyed) {
		uint32_t keys = curve_shown(stored, s->clip->frames);

		buf_text(out, " (");
		buf_unsigned(out, keys);
		buf_text(out, keys == 1 ? " key)" : " keys)");
	}
	svg_text_end(out);
	if (track->keyframes) {
		struct chart line = s->chart;

		line.x = s->column[role];
		line.y = middle;
		line.height = BARS_BELOW;
		plot_keyframes(&line, track->keyframes, out);
	}
}

static void write_charted(struct sheet *s, const struct track *track, enum role role, double y,
			  struct buf *out)
{
	struct buf equal = BUF_INIT;

	s->chart.x = s->column[role];
	s->chart.y = y;
	plot_chart(&s->chart, track, role, out);
	plot_equal_axes(&s->chart, track, role, "", &equal);
	out->failed |= equal.failed;
	if (equal.size > 0) {
		svg_text_begin(s->chart.x + s->chart.width, y - 2,
			       " text-anchor=\"end\" font-size=\"9\" fill-opacity=\".7\"", out);
		buf_add(out, equal.data, equal.size);
		svg_text_end(out);
	}
	buf_release(&equal);
}

static void clip_svg_write_row(struct sheet *s, const struct row *row, double y, struct buf *out)
{
	const struct track *stored = &clip_shown(s->at)->tracks[row->track];
	struct arena arena = ARENA_INIT;
	struct track track = curve_edit_shown_as(&s->clip->tracks[row->track], CURVE_EULER, &arena);
	double middle = y + (row->is_charted ? s->chart.height / 2 : STILL_MIDDLE);

	out->failed |= arena.failed;
	clip_svg_write_name(&track, row->depth, middle - 8, out);
	for (int role = 0; !out->failed && role < ROLE_COUNT; role++) {
		if (s->column[role] == 0)
			continue;
		if (!plot_has_role(s->clip, &track, (enum role)role))
			write_no_keys(s, (enum role)role, middle, out);
		else if (row->charted[role])
			write_charted(s, &track, (enum role)role, y, out);
		else
			write_still(s, &track, (enum role)role, stored->curve[role], middle, out);
	}
	arena_release(&arena);
}

static void write_rows(struct sheet *s, struct buf *out)
{
	double y = TOP;

	for (uint32_t i = 0; i < s->count && !out->failed; i++) {
		clip_svg_write_row(s, &s->rows[i], y, out);
		y += s->rows[i].is_charted ? s->row_height : STILL_HEIGHT;
	}
}

/* Writes the frames above and below all rows, and the seconds. */
static void clip_svg_write_times(struct sheet *s, struct buf *out)
{
	double seconds = anim_seconds_per_frame(s->at->anim, s->clip), below = s->chart.height;
	double end = TOP + s->height - (s->rows[s->count - 1].is_charted ? ROW_GAP : 0);

	for (int role = 0; role < ROLE_COUNT; role++) {
		if (!s->charted[role])
			continue;
		s->chart.x = s->column[role];
		s->chart.y = TOP - FONT - 13 - below;
		plot_frames(&s->chart, out);
		s->chart.y = end - below;
		plot_frames(&s->chart, out);
		plot_seconds(&s->chart, FONT + 8, seconds, out);
	}
}

static void clip_svg_render(const struct shown *at, struct buf *out)
{
	struct arena arena = ARENA_INIT;
	struct sheet s;

	if (sheet_make(&s, at, &arena)) {
		double height = TOP + s.height + BOTTOM;

		svg_begin(WIDTH, height, out);
		clip_svg_write_title(&s, out);
		svg_ground(WIDTH, height, out);
		clip_svg_write_head(&s, out);
		write_column_heads(&s, out);
		write_rows(&s, out);
		clip_svg_write_times(&s, out);
		svg_end(out);
		own_digest_add(out);
	}
	out->failed |= arena.failed;
	arena_release(&arena);
}

const struct view view_clip_svg = {
	.name = "svg",
	.place = VIEW_OF_CLIP,
	.file = "clip.svg",
	.present = clip_svg_present,
	.render = clip_svg_render,
	.posed = true,
	.names_file = true,
	.composed = true,
};
