/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * frames_csv.c - frames.csv: the stills of a file's animations, one per row.
 *
 *	animation,frame,time,url
 *	walk,0,0,frame_0.x3d
 *	walk,1,0.5,
 *
 * A row is the frame with its number; a new number adds a frame, and a frame without a row is
 * removed. Frames are sorted by time. A blank url means a still that is embedded in the file, and
 * remains there.
 */
#include "csv.h"
#include "text/num.h"
#include "views.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool frames_csv_read_animation(void *text, const struct cell *cell, unsigned what);
static bool frames_csv_read_frame(void *text, const struct cell *cell, unsigned what);
static bool frames_csv_read_time(void *text, const struct cell *cell, unsigned what);
static bool frames_csv_read_url(void *text, const struct cell *cell, unsigned what);
static void frames_csv_write_animation(const void *written, unsigned what, struct buf *out);
static void frames_csv_write_frame(const void *written, unsigned what, struct buf *out);
static void frames_csv_write_time(const void *written, unsigned what, struct buf *out);
static void write_url(const void *written, unsigned what, struct buf *out);

static const struct column columns[] = {
	{"animation", frames_csv_read_animation, frames_csv_write_animation, 0},
	{"frame", frames_csv_read_frame, frames_csv_write_frame, 0},
	{"time", frames_csv_read_time, frames_csv_write_time, 0},
	{"url", frames_csv_read_url, write_url, 0},
};

/* Returns the columns of the table. In a file with one animation, the name may be left out. */
static struct table_form frames_csv_form_of(const struct anim *anim)
{
	return (struct table_form){columns, ARRAY_SIZE(columns), 15, 15,
				   anim->clip_count == 1 ? 2 : 3};
}

static bool frames_present(const struct shown *at)
{
	return at->anim->format->stills;
}

/* ---- writing ---- */

struct written {
	const struct clip *clip;
	uint32_t frame;
};

static void frames_csv_write_animation(const void *written, unsigned what, struct buf *out)
{
	const struct written *w = written;

	(void)what;
	csv_write_text(w->clip->label, out);
}

static void frames_csv_write_frame(const void *written, unsigned what, struct buf *out)
{
	const struct written *w = written;

	(void)what;
	buf_unsigned(out, w->frame);
}

static void frames_csv_write_time(const void *written, unsigned what, struct buf *out)
{
	const struct written *w = written;

	(void)what;
	buf_f32_text(out, w->clip->stills[w->frame].time);
}

static void write_url(const void *written, unsigned what, struct buf *out)
{
	const struct written *w = written;

	(void)what;
	csv_write_text(w->clip->stills[w->frame].url, out);
}

static void frames_render(const struct shown *at, struct buf *out)
{
	struct table_form form = frames_csv_form_of(at->anim);

	table_write_names(&form, ",", out);
	buf_char(out, '\n');
	for (uint32_t c = 0; c < at->anim->clip_count; c++) {
		struct written w = {&at->anim->clips[c], 0};

		for (; w.frame < w.clip->frames && !out->failed; w.frame++)
			table_write_row(&form, &w, out);
	}
}

/* ---- reading ---- */

struct row {
	uint32_t clip, frame;
	struct still still;
	struct cell frame_cell, time_cell; /* only their places are valid; their texts are gone */
};

struct frames_text {
	const struct anim *anim;
	struct err *err;
	struct table table;
	struct row *rows;        /* rows[count] is the row that is being read */
	const struct still *old; /* the old still with the row's frame number, or NULL */
	size_t count, room;
	struct anim *edited;
};

static bool frames_csv_refuse_cell(struct frames_text *p, const struct cell *cell,
				   const char *accepted, const char *message)
{
	err_at(p->err, ERR_TEXT, cell->at, cell->length, "%s", message);
	return err_accept(p->err, "%s", accepted);
}

/* ---- rows ---- */

static bool refuse_animation(struct frames_text *p, const struct cell *cell)
{
	char list[256] = "";
	size_t used = 0;

	for (uint32_t i = 0; i < p->anim->clip_count && used < sizeof(list); i++)
		used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s", i ? ", " : "",
					 p->anim->clips[i].label);
	err_at(p->err, ERR_TEXT, cell->at, cell->length, "the file has no animation \"%s\"",
	       cell_excerpt(cell).text);
	return err_accept(p->err, "%s", list);
}

/*
 * Reads the cell "animation". Rows of an animation are mostly consecutive: the previous row's is
 * tried first.
 */
static bool frames_csv_read_animation(void *text, const struct cell *cell, unsigned what)
{
	struct frames_text *p = text;
	struct row *row = &p->rows[p->count];
	const struct clip *clip = NULL;
	char label[256];

	(void)what;
	/* The cell is required in a file with several animations. */
	if (!cell || (cell->size == 0 && p->anim->clip_count == 1))
		return true;
	if (cell->size < sizeof(label)) {
		memcpy(label, cell->text, cell->size);
		label[cell->size] = '\0';
		clip = clip_labelled(p->anim, p->count ? row[-1].clip : 0, label);
	}
	if (!clip)
		return refuse_animation(p, cell);
	row->clip = (uint32_t)(clip - p->anim->clips);
	return true;
}

static bool frames_csv_read_frame(void *text, const struct cell *cell, unsigned what)
{
	struct frames_text *p = text;
	struct row *row = &p->rows[p->count];
	const struct clip *clip = &p->anim->clips[row->clip];

	(void)what;
	row->frame_cell = *cell;
	if (!csv_read_frame(&p->table, cell, &row->frame, p->err))
		return false;
	p->old = row->frame < clip->frames ? &clip->stills[row->frame] : NULL;
	if (p->old)
		row->still = *p->old;
	return true;
}

static bool frames_csv_read_time(void *text, const struct cell *cell, unsigned what)
{
	struct frames_text *p = text;
	struct row *row = &p->rows[p->count];
	double time = NAN;

	(void)what;
	row->time_cell = row->frame_cell;
	if (!cell && p->old)
		return true;
	if (!cell)
		cell = &p->table.blank;
	row->time_cell = *cell;
	if (cell->size == 0)
		return frames_csv_refuse_cell(p, cell, "seconds such as 0.5",
					      "this frame has no time");
	if (!table_number(&p->table, cell, &time) || !isfinite((float)time)) {
		table_refuse_number(&p->table, cell, "time", p->err);
		return err_accept(p->err, "seconds such as 0.5");
	}
	if (!p->old || (float)time != p->old->time)
		row->still.time = (float)time;
	return true;
}

static bool trimmed_same(const char *text, const struct cell *cell)
{
	size_t size;

	text += strspn(text, " \t");
	size = strlen(text);
	while (size > 0 && strchr(" \t", text[size - 1]))
		size--;
	return size == cell->size && memcmp(text, cell->text, size) == 0;
}

/*
 * Returns whether the url is a beginning of the old one, at the end of a text without a final
 * newline.
 */
static bool is_cut_url(const struct frames_text *p, const struct cell *cell, const char *old)
{
	return cell->at + cell->length == p->table.text.size && cell->size < strlen(old) &&
	       memcmp(old, cell->text, cell->size) == 0;
}

static bool check_url(struct frames_text *p, const struct still *old, const struct cell *cell)
{
	if (old && !*old->url && cell->size > 0)
		return frames_csv_refuse_cell(
			p, cell, "nothing; a new frame can have a url",
			"the scene of this frame stands in the file, and would be lost");
	if (cell->size == 0 && !(old && !*old->url))
		return frames_csv_refuse_cell(p, cell, "the file of the still, such as still.x3d",
					      old ? "this frame has no url any more"
						  : "a new frame has no url");
	if (!old || !is_cut_url(p, cell, old->url))
		return true;
	err_at(p->err, ERR_EARLY, cell->at, cell->length, "the text may end before this url does");
	return err_accept(p->err, "a line end behind it");
}

static bool frames_csv_read_url(void *text, const struct cell *cell, unsigned what)
{
	struct frames_text *p = text;
	struct row *row = &p->rows[p->count];
	const struct still *old = p->old;

	(void)what;
	if (!cell && old)
		return true;
	if (!cell)
		cell = &p->table.blank;
	if (old && (cell_is(cell, old->url) || trimmed_same(old->url, cell)))
		return true;
	if (!check_url(p, old, cell))
		return false;
	row->still.url = arena_text(&p->edited->arena, cell->text, cell->size);
	return row->still.url || err_memory(p->err);
}

static bool frames_csv_read_row(struct frames_text *p)
{
	struct row *rows = array_room(p->rows, p->count, &p->room, sizeof(*rows));

	if (!rows)
		return err_memory(p->err);
	p->rows = rows;
	rows[p->count] = (struct row){.still = {.url = "", .origin = ANIM_NEW}};
	if (p->table.cut)
		return table_refuse_cut(&p->table, p->err);
	if (!table_read(&p->table, p))
		return false;
	p->count++;
	return true;
}

static bool frames_csv_read_rows(struct frames_text *p)
{
	while (table_row(&p->table, p->err) && !p->table.done) {
		if (!frames_csv_read_row(p))
			return false;
	}
	if (!p->table.done || p->count > 0)
		return p->table.done;
	err_set(p->err, ERR_EMPTY, "there is a header and no row");
	return err_accept(p->err, "rows; a frame goes when its row is left out");
}

/* ---- all rows together ---- */

static int frames_csv_by_text(const struct row *a, const struct row *b)
{
	return a->frame_cell.at < b->frame_cell.at ? -1 : a->frame_cell.at > b->frame_cell.at;
}

static int frames_csv_by_frame(const void *left, const void *right)
{
	const struct row *a = left, *b = right;

	if (a->clip != b->clip)
		return a->clip < b->clip ? -1 : 1;
	if (a->frame != b->frame)
		return a->frame < b->frame ? -1 : 1;
	return frames_csv_by_text(a, b);
}

static int frames_csv_by_time(const void *left, const void *right)
{
	const struct row *a = left, *b = right;

	if (a->clip != b->clip)
		return a->clip < b->clip ? -1 : 1;
	if (a->still.time < b->still.time || a->still.time > b->still.time)
		return a->still.time < b->still.time ? -1 : 1;
	return frames_csv_by_text(a, b);
}

static size_t frames_csv_line_of(const struct frames_text *p, const struct cell *cell)
{
	return err_locate(p->table.text, cell->at).line;
}

static bool check_frames(struct frames_text *p)
{
	qsort(p->rows, p->count, sizeof(*p->rows), frames_csv_by_frame);
	for (size_t i = 1; i < p->count; i++) {
		const struct row *first = &p->rows[i - 1], *row = &p->rows[i];

		if (first->clip != row->clip || first->frame != row->frame)
			continue;
		err_at(p->err, ERR_TEXT, row->frame_cell.at, row->frame_cell.length,
		       "frame %u is given twice, first in line %zu", (unsigned)row->frame,
		       frames_csv_line_of(p, &first->frame_cell));
		return err_accept(p->err, "each frame once, and for a new one a number that is "
					  "not there yet");
	}
	return true;
}

static bool order_rows(struct frames_text *p)
{
	qsort(p->rows, p->count, sizeof(*p->rows), frames_csv_by_time);
	for (size_t i = 1; i < p->count; i++) {
		const struct row *first = &p->rows[i - 1], *row = &p->rows[i];

		if (first->clip != row->clip || first->still.time < row->still.time)
			continue;
		err_at(p->err, ERR_TEXT, row->time_cell.at, row->time_cell.length,
		       "this time is that of line %zu too",
		       frames_csv_line_of(p, &first->time_cell));
		return err_accept(p->err, "times that can be told apart as float32");
	}
	return true;
}

static bool frames_csv_stills_same(const struct clip *clip, const struct row *rows, size_t count)
{
	bool same = count == clip->frames;

	for (size_t i = 0; same && i < count; i++)
		same = rows[i].still.origin == clip->stills[i].origin &&
		       rows[i].still.url == clip->stills[i].url &&
		       f32_bits(rows[i].still.time) == f32_bits(clip->stills[i].time);
	return same;
}

static bool set_stills(struct frames_text *p, uint32_t clip, const struct row *rows, size_t count)
{
	struct still *stills;
	struct clip *c;

	if (frames_csv_stills_same(&p->anim->clips[clip], rows, count))
		return true;
	c = anim_edit_clip(p->edited, clip);
	stills = arena_alloc(&p->edited->arena, count, sizeof(*stills));
	if (!c || !stills)
		return err_memory(p->err);
	for (size_t i = 0; i < count; i++)
		stills[i] = rows[i].still;
	c->stills = stills;
	c->frames = (uint32_t)count;
	return true;
}

/*
 * Replaces the stills of all animations. A missing animation makes the error ERR_EARLY: its rows
 * may still be to come.
 */
static bool set_clips(struct frames_text *p)
{
	size_t begin = 0, end = 0;

	for (uint32_t clip = 0; clip < p->anim->clip_count; clip++, begin = end) {
		while (end < p->count && p->rows[end].clip == clip)
			end++;
		if (begin == end) {
			err_at(p->err, ERR_EARLY, p->table.text.size, 0, "%s has no frame left",
			       p->anim->clips[clip].label);
			return err_accept(p->err, "at least one row for each animation");
		}
		if (!set_stills(p, clip, p->rows + begin, end - begin))
			return false;
	}
	return true;
}

static struct anim *frames_parse(const struct shown *at, struct bytes text, struct err *err)
{
	struct frames_text p = {.anim = at->anim, .err = err, .edited = anim_edit(at->anim)};
	struct table_form form = frames_csv_form_of(at->anim);
	bool fine = p.edited ? table_open(&p.table, text, err) : err_memory(err);

	fine = fine && table_header(&p.table, &form, err) && frames_csv_read_rows(&p) &&
	       check_frames(&p) && order_rows(&p) && set_clips(&p);
	if (!fine) {
		table_finish_error(&p.table, err);
		anim_free(p.edited);
		p.edited = NULL;
	}
	free(p.rows);
	table_close(&p.table);
	return p.edited;
}

const struct view view_frames_csv = {
	.name = "csv",
	.place = VIEW_OF_FILE,
	.file = "frames.csv",
	.present = frames_present,
	.render = frames_render,
	.parse = frames_parse,
};
