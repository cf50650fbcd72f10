/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * frames.csv: the stills of a file's animations, one a row.
 *
 *	animation,frame,time,url
 *	walk,0,0,frame_0.x3d
 *	walk,1,0.5,
 *
 * A row stands for the frame that has its number; a number that is not there yet makes a new frame,
 * and a frame that has no row any more goes. The order is that of the times. A blank url is a still
 * that stands in the file itself, where it stays.
 */
#include "csv.h"
#include "num.h"
#include "views.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum column { COLUMN_ANIMATION, COLUMN_FRAME, COLUMN_TIME, COLUMN_URL };
#define COLUMN_COUNT 4

static const char *const column_names[COLUMN_COUNT] = {"animation", "frame", "time", "url"};

static bool frames_present(const struct shown *at)
{
	return at->anim->format->stills;
}

/* ---- writing ---- */

static bool needs_quotes(const char *text)
{
	size_t size = strlen(text);

	return strpbrk(text, ",;\t\r\n\"") || text[0] == ' ' || (size && text[size - 1] == ' ');
}

static void write_cell(const char *text, struct buf *out)
{
	if (!needs_quotes(text)) {
		buf_text(out, text);
		return;
	}
	buf_char(out, '"');
	for (; *text; text++) {
		if (*text == '"')
			buf_char(out, '"');
		buf_char(out, *text);
	}
	buf_char(out, '"');
}

static void frames_render(const struct shown *at, struct buf *out)
{
	buf_text(out, "animation,frame,time,url\n");
	for (uint32_t c = 0; c < at->anim->clip_count; c++) {
		const struct clip *clip = &at->anim->clips[c];

		for (uint32_t i = 0; i < clip->frames && !out->failed; i++) {
			write_cell(clip->label, out);
			buf_char(out, ',');
			buf_unsigned(out, i);
			buf_char(out, ',');
			buf_f32_text(out, clip->stills[i].time);
			buf_char(out, ',');
			write_cell(clip->stills[i].url, out);
			buf_char(out, '\n');
		}
	}
}

/* ---- reading ---- */

struct row {
	uint32_t clip, frame;
	struct still still;
	struct cell frame_cell, time_cell; /* where they stand; their texts are gone */
};

struct frames_text {
	const struct anim *anim;
	struct err *err;
	struct table table;
	size_t width;
	size_t place[COLUMN_COUNT]; /* of each column, or TABLE_NOWHERE */
	struct row *rows;
	size_t count, room;
	struct anim *edited;
};

static bool refuse_cell(struct frames_text *p, const struct cell *cell, const char *accepted,
			const char *message)
{
	err_at(p->err, ERR_TEXT, cell->at, cell->length, "%s", message);
	return err_accept(p->err, "%s", accepted);
}

/* Of a single animation the name need not be said. */
static bool read_header(struct frames_text *p)
{
	unsigned required = 1u << COLUMN_FRAME;

	if (p->anim->clip_count != 1)
		required |= 1u << COLUMN_ANIMATION;
	if (!table_header(&p->table, column_names, COLUMN_COUNT, required, p->place, p->err))
		return false;
	p->width = p->table.count;
	return true;
}

/* ---- rows ---- */

static struct cell cell_of(const struct frames_text *p, enum column c)
{
	return *table_cell(&p->table, p->place[c]);
}

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

/* The rows of an animation stand together, so the one of the row before is tried first. */
static bool read_animation(struct frames_text *p, struct row *row)
{
	struct cell cell = cell_of(p, COLUMN_ANIMATION);
	const struct clip *clip = NULL;
	char label[256];

	if (cell.size == 0 && p->anim->clip_count == 1)
		return true;
	if (cell.size < sizeof(label)) {
		memcpy(label, cell.text, cell.size);
		label[cell.size] = '\0';
		clip = clip_labelled(p->anim, p->count ? row[-1].clip : 0, label);
	}
	if (!clip)
		return refuse_animation(p, &cell);
	row->clip = (uint32_t)(clip - p->anim->clips);
	return true;
}

static bool read_frame(struct frames_text *p, struct row *row)
{
	row->frame_cell = cell_of(p, COLUMN_FRAME);
	return csv_read_frame(&p->table, &row->frame_cell, &row->frame, p->err);
}

static bool read_time(struct frames_text *p, const struct still *old, struct row *row)
{
	struct cell cell = cell_of(p, COLUMN_TIME);
	double time = NAN;

	row->time_cell = row->frame_cell;
	if (p->place[COLUMN_TIME] == TABLE_NOWHERE && old)
		return true;
	row->time_cell = cell;
	if (cell.size == 0)
		return refuse_cell(p, &cell, "seconds such as 0.5", "this frame has no time");
	if (!table_number(&p->table, &cell, &time) || !isfinite((float)time)) {
		table_refuse_number(&cell, "time", p->err);
		return err_accept(p->err, "seconds such as 0.5");
	}
	if (!old || (float)time != old->time)
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

/* At the end of a text without a line end: would more of it have been what was there? */
static bool is_cut_url(const struct frames_text *p, const struct cell *cell, const char *old)
{
	return cell->at + cell->length == p->table.text.size && cell->size < strlen(old) &&
	       memcmp(old, cell->text, cell->size) == 0;
}

static bool check_url(struct frames_text *p, const struct still *old, const struct cell *cell)
{
	if (old && !*old->url && cell->size > 0)
		return refuse_cell(p, cell, "nothing; a new frame can have a url",
				   "the scene of this frame stands in the file, and would be lost");
	if (cell->size == 0 && !(old && !*old->url))
		return refuse_cell(p, cell, "the file of the still, such as still.x3d",
				   old ? "this frame has no url any more"
				       : "a new frame has no url");
	if (!old || !is_cut_url(p, cell, old->url))
		return true;
	err_at(p->err, ERR_EARLY, cell->at, cell->length, "the text may end before this url does");
	return err_accept(p->err, "a line end behind it");
}

static bool read_url(struct frames_text *p, const struct still *old, struct row *row)
{
	struct cell cell = cell_of(p, COLUMN_URL);

	if (p->place[COLUMN_URL] == TABLE_NOWHERE && old)
		return true;
	if (old && (cell_is(&cell, old->url) || trimmed_same(old->url, &cell)))
		return true;
	if (!check_url(p, old, &cell))
		return false;
	row->still.url = arena_text(&p->edited->arena, cell.text, cell.size);
	return row->still.url || err_memory(p->err);
}

static bool check_row_end(struct frames_text *p)
{
	const struct table *t = &p->table;

	for (size_t i = p->width; i < t->count; i++)
		if (t->cells[i].size)
			return csv_refuse_surplus(&t->cells[i], p->err);
	if (t->row_end < t->text.size || t->count >= p->width)
		return true;
	return err_at(p->err, ERR_EARLY, t->text.size, 0,
		      "the last row ends before its columns do");
}

static bool read_row(struct frames_text *p)
{
	const struct still *old = NULL;
	struct row *row = array_room(p->rows, p->count, &p->room, sizeof(*row));

	if (!row)
		return err_memory(p->err);
	p->rows = row;
	row += p->count;
	*row = (struct row){.still = {.url = "", .origin = ANIM_NEW}};
	if (!check_row_end(p) || !read_animation(p, row) || !read_frame(p, row))
		return false;
	if (row->frame < p->anim->clips[row->clip].frames)
		old = &p->anim->clips[row->clip].stills[row->frame];
	if (old)
		row->still = *old;
	if (!read_time(p, old, row) || !read_url(p, old, row))
		return false;
	p->count++;
	return true;
}

static bool read_rows(struct frames_text *p)
{
	for (;;) {
		if (!table_row(&p->table, p->err))
			return false;
		if (p->table.done)
			break;
		if (!read_row(p))
			return false;
	}
	if (p->count > 0)
		return true;
	err_set(p->err, ERR_EMPTY, "there is a header and no row");
	return err_accept(p->err, "rows; a frame goes when its row is left out");
}

/* ---- all rows together ---- */

static int by_text(const struct row *a, const struct row *b)
{
	return a->frame_cell.at < b->frame_cell.at ? -1 : a->frame_cell.at > b->frame_cell.at;
}

static int by_frame(const void *left, const void *right)
{
	const struct row *a = left, *b = right;

	if (a->clip != b->clip)
		return a->clip < b->clip ? -1 : 1;
	if (a->frame != b->frame)
		return a->frame < b->frame ? -1 : 1;
	return by_text(a, b);
}

static int by_time(const void *left, const void *right)
{
	const struct row *a = left, *b = right;

	if (a->clip != b->clip)
		return a->clip < b->clip ? -1 : 1;
	if (a->still.time < b->still.time || a->still.time > b->still.time)
		return a->still.time < b->still.time ? -1 : 1;
	return by_text(a, b);
}

static size_t line_of(const struct frames_text *p, const struct cell *cell)
{
	return err_locate(p->table.text, cell->at).line;
}

static bool check_frames(struct frames_text *p)
{
	qsort(p->rows, p->count, sizeof(*p->rows), by_frame);
	for (size_t i = 1; i < p->count; i++) {
		const struct row *first = &p->rows[i - 1], *row = &p->rows[i];

		if (first->clip != row->clip || first->frame != row->frame)
			continue;
		err_at(p->err, ERR_TEXT, row->frame_cell.at, row->frame_cell.length,
		       "frame %u is given twice, first in line %zu", (unsigned)row->frame,
		       line_of(p, &first->frame_cell));
		return err_accept(p->err, "each frame once, and for a new one a number that is "
					  "not there yet");
	}
	return true;
}

static bool order_rows(struct frames_text *p)
{
	qsort(p->rows, p->count, sizeof(*p->rows), by_time);
	for (size_t i = 1; i < p->count; i++) {
		const struct row *first = &p->rows[i - 1], *row = &p->rows[i];

		if (first->clip != row->clip || first->still.time < row->still.time)
			continue;
		err_at(p->err, ERR_TEXT, row->time_cell.at, row->time_cell.length,
		       "this time is that of line %zu too", line_of(p, &first->time_cell));
		return err_accept(p->err, "times that can be told apart as float32");
	}
	return true;
}

static bool stills_same(const struct clip *clip, const struct row *rows, size_t count)
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

	if (stills_same(&p->anim->clips[clip], rows, count))
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

/* Animations whose rows are not there may be still to come. */
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
	bool fine = p.edited ? table_open(&p.table, text, err) : err_memory(err);

	fine = fine && read_header(&p) && read_rows(&p) && check_frames(&p) && order_rows(&p) &&
	       set_clips(&p);
	if (!fine) {
		table_tell_place(&p.table, err);
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
