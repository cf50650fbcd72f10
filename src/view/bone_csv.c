/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * bone_csv.c - NAME.csv: a bone as a table with a row for each frame.
 *
 *	frame,time,tx,ty,tz,rx,ry,rz,sx,sy,sz
 *	frame,time,tx,ty,tz,qx,qy,qz,qw,sx,sy,sz
 *
 * A blank cell means that there is no key. A curve that is one value for the whole clip has it in
 * the first row. A bone CSV has columns for those roles alone that the format can store.
 *
 * Where keyframes are data, a row is a keyframe, and `flags` stands behind its cells.
 */
#include "bone_plain.h"
#include "csv.h"
#include "num.h"
#include "views.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum meaning { MEANS_NOTHING, MEANS_FRAME, MEANS_TIME, MEANS_VALUE, MEANS_FLAGS };

static const struct column {
	const char *name;
	enum meaning meaning;
	enum role role; /* MEANS_VALUE, and the following too */
	enum curve_kind kind;
	uint8_t axis;
} columns[] = {
	{"frame", MEANS_FRAME, 0, 0, 0},
	{"time", MEANS_TIME, 0, 0, 0},
	{"tx", MEANS_VALUE, ROLE_TRANSLATION, CURVE_VECTOR, 0},
	{"ty", MEANS_VALUE, ROLE_TRANSLATION, CURVE_VECTOR, 1},
	{"tz", MEANS_VALUE, ROLE_TRANSLATION, CURVE_VECTOR, 2},
	{"rx", MEANS_VALUE, ROLE_ROTATION, CURVE_EULER, 0},
	{"ry", MEANS_VALUE, ROLE_ROTATION, CURVE_EULER, 1},
	{"rz", MEANS_VALUE, ROLE_ROTATION, CURVE_EULER, 2},
	{"qx", MEANS_VALUE, ROLE_ROTATION, CURVE_QUATERNION, 0},
	{"qy", MEANS_VALUE, ROLE_ROTATION, CURVE_QUATERNION, 1},
	{"qz", MEANS_VALUE, ROLE_ROTATION, CURVE_QUATERNION, 2},
	{"qw", MEANS_VALUE, ROLE_ROTATION, CURVE_QUATERNION, 3},
	{"sx", MEANS_VALUE, ROLE_SCALE, CURVE_VECTOR, 0},
	{"sy", MEANS_VALUE, ROLE_SCALE, CURVE_VECTOR, 1},
	{"sz", MEANS_VALUE, ROLE_SCALE, CURVE_VECTOR, 2},
	{"flags", MEANS_FLAGS, 0, 0, 0},
};

#define COLUMN_COUNT ARRAY_SIZE(columns)

static const struct clip *clip_of(const struct shown *at)
{
	return &at->anim->clips[at->clip];
}

static const struct track *track_of(const struct shown *at)
{
	return &clip_of(at)->tracks[at->track];
}

/* Can a text of this bone have the column? */
static bool is_read(const struct column *c, const struct shown *at)
{
	if (c->meaning == MEANS_FLAGS)
		return at->anim->format->keyframes;
	return c->meaning != MEANS_VALUE || (track_of(at)->roles & 1 << c->role);
}

static bool is_served(const struct column *c, const struct shown *at)
{
	return is_read(c, at) &&
	       (c->role != ROLE_ROTATION || c->kind == lens_shown_rotation(at->anim, track_of(at)));
}

/* ---- writing ---- */

static void write_header(const struct shown *at, struct buf *out)
{
	for (size_t i = 0; i < COLUMN_COUNT; i++) {
		if (!is_served(&columns[i], at))
			continue;
		if (i > 0)
			buf_char(out, ',');
		buf_text(out, columns[i].name);
	}
	buf_char(out, '\n');
}

/* Where the writing of a bone stands: for each of its curves the next key that has no row yet. */
struct cursor {
	const struct track *track;
	uint32_t next[ROLE_COUNT], shown[ROLE_COUNT];
	unsigned cells[ROLE_COUNT]; /* of the role in each row */
	uint32_t keyframe;          /* the next, where there are some */
};

static struct cursor cursor_init(const struct clip *clip, const struct track *track)
{
	struct cursor cur = {.track = track};

	for (int r = 0; r < ROLE_COUNT; r++) {
		if (track->curve[r])
			cur.shown[r] = curve_shown(track->curve[r], clip->frames);
		if (track->roles & 1 << r)
			cur.cells[r] = 3;
	}
	if (cur.cells[ROLE_ROTATION] && lens_rotation(track) == CURVE_QUATERNION)
		cur.cells[ROLE_ROTATION] = 4;
	return cur;
}

/* The frame of the next row: the least at which a curve has a key left. False at the end. */
static bool cursor_frame(const struct cursor *cur, uint32_t *frame)
{
	const struct keyframes *k = cur->track->keyframes;
	bool found = false;

	if (k) {
		found = cur->keyframe < k->count;
		*frame = found ? k->frames[cur->keyframe] : 0;
		return found;
	}
	for (int r = 0; r < ROLE_COUNT; r++) {
		uint32_t f;

		if (cur->next[r] >= cur->shown[r])
			continue;
		f = curve_frame(cur->track->curve[r], cur->next[r]);
		if (!found || f < *frame)
			*frame = f;
		found = true;
	}
	return found;
}

/* Does the next key of the role stand in the next row? */
static bool has_cell(const struct cursor *cur, int role, uint32_t frame)
{
	if (cur->next[role] >= cur->shown[role])
		return false;
	if (cur->track->keyframes)
		return cur->track->keyframes->roles[cur->keyframe] & 1 << role;
	return curve_frame(cur->track->curve[role], cur->next[role]) == frame;
}

#define ROW_MAX (CSV_TIME_MAX + ROLE_COUNT * CSV_KEY_MAX + 1 + NUM_MAX + 1)

static void write_row(struct cursor *cur, uint32_t frame, double seconds_per_frame, struct buf *out)
{
	const struct track *track = cur->track;
	char *row;
	size_t size;

	if (!buf_reserve(out, ROW_MAX))
		return;
	row = (char *)out->data + out->size;
	size = csv_put_time(row, frame, seconds_per_frame);
	for (int r = 0; r < ROLE_COUNT; r++)
		size += has_cell(cur, r, frame)
				? csv_put_key(row + size, track->curve[r], cur->next[r]++)
				: csv_put_blanks(row + size, cur->cells[r]);
	if (track->keyframes) {
		row[size++] = ',';
		size += num_unsigned(row + size, track->keyframes->flags[cur->keyframe++]);
	}
	row[size++] = '\n';
	out->size += size;
}

static void bone_render(const struct shown *at, struct buf *out)
{
	const struct clip *clip = clip_of(at);
	double seconds_per_frame = anim_seconds_per_frame(at->anim, clip);
	struct arena arena = ARENA_INIT;
	struct track track = lens_shown(at->anim, track_of(at), &arena);
	struct cursor cur = cursor_init(clip, &track);
	uint32_t frame;

	write_header(at, out);
	while (!out->failed && cursor_frame(&cur, &frame))
		write_row(&cur, frame, seconds_per_frame, out);
	out->failed |= arena.failed;
	arena_release(&arena);
}

/* ---- reading ---- */

struct bone_text {
	const struct shown *at;
	const struct track *track;
	double seconds_per_frame;
	struct err *err;
	struct table table;
	const struct column **header; /* what each column is; a blank name is NULL */
	size_t width;
	size_t frame_column;
	struct lens_role roles[ROLE_COUNT];
	struct lens_row *moments; /* a row each, where keyframes are data */
	uint32_t rows, capacity;  /* of these, and of each role's keys */
	bool cut;                 /* the last row has no line end and fewer cells than the header */
	struct csv_retimed retimed;
};

static void list_columns(const struct shown *at, char *out, size_t size)
{
	size_t used = 0;

	for (size_t i = 0; i < COLUMN_COUNT; i++)
		if (is_served(&columns[i], at) && used < size)
			used += (size_t)snprintf(out + used, size - used, "%s%s", i ? ", " : "",
						 columns[i].name);
}

/* How many letters must be put in, left out or changed, whatever their case. */
static size_t distance(const char *a, size_t a_size, const char *b, size_t b_size)
{
	size_t row[8];

	for (size_t i = 0; i <= b_size; i++)
		row[i] = i;
	for (size_t i = 1; i <= a_size; i++) {
		size_t diagonal = row[0];

		row[0] = i;
		for (size_t k = 1; k <= b_size; k++) {
			size_t changed = diagonal +
					 (tolower((uint8_t)a[i - 1]) != tolower((uint8_t)b[k - 1]));
			size_t shifted = (row[k] < row[k - 1] ? row[k] : row[k - 1]) + 1;

			diagonal = row[k];
			row[k] = changed < shifted ? changed : shifted;
		}
	}
	return row[b_size];
}

/* The column that is meant, where a single letter makes the difference. */
static const char *nearest_column(const struct shown *at, const struct cell *cell)
{
	const char *nearest = NULL;
	size_t least = 2;

	for (size_t i = 0; i < COLUMN_COUNT && cell->size > 1 && cell->size < 8; i++) {
		const char *name = columns[i].name;
		size_t d = distance(cell->text, cell->size, name, strlen(name));

		if (d >= least || !is_read(&columns[i], at))
			continue;
		least = d;
		nearest = name;
	}
	return nearest;
}

static bool refuse_column(const struct bone_text *p, const struct cell *cell)
{
	const char *nearest = nearest_column(p->at, cell);
	char list[128];

	list_columns(p->at, list, sizeof(list));
	err_at(p->err, ERR_TEXT, cell->at, cell->length, "\"%s\" is not a column%s%s",
	       cell_excerpt(cell).text, nearest ? "; it looks like " : "", nearest ? nearest : "");
	return err_accept(p->err, "%s", list);
}

static const struct column *find_column(const struct cell *cell)
{
	for (size_t i = 0; i < COLUMN_COUNT; i++)
		if (cell_is(cell, columns[i].name))
			return &columns[i];
	return NULL;
}

/* Notes a column of a role. */
static bool read_role_column(struct bone_text *p, const struct cell *cell, const struct column *c)
{
	struct lens_role *role = &p->roles[c->role];

	if (role->columns == 0) {
		*role = (struct lens_role){.role = c->role,
					   .kind = c->kind,
					   .is_static = -1,
					   .text = p->table.text,
					   .at = cell->at,
					   .length = cell->length};
	} else if (role->kind != c->kind) {
		err_at(p->err, ERR_TEXT, cell->at, cell->length,
		       "there are Euler and quaternion columns in one text");
		return err_accept(p->err, "%s",
				  lens_shown_rotation(p->at->anim, p->track) == CURVE_QUATERNION
					  ? "qx, qy, qz, qw"
					  : "rx, ry, rz");
	}
	role->columns |= (uint8_t)(1u << c->axis);
	return true;
}

static bool read_column(struct bone_text *p, size_t i)
{
	const struct cell *cell = &p->table.cells[i];
	const struct column *c;

	if (cell->size == 0)
		return true;
	c = find_column(cell);
	if (!c || (c->meaning == MEANS_FLAGS && !is_read(c, p->at)))
		return refuse_column(p, cell);
	for (size_t k = 0; k < i; k++)
		if (p->header[k] == c)
			return err_at(p->err, ERR_TEXT, cell->at, cell->length,
				      "the column %s is there twice", c->name);
	p->header[i] = c;
	if (c->meaning == MEANS_FRAME)
		p->frame_column = i;
	return c->meaning != MEANS_VALUE || read_role_column(p, cell, c);
}

static bool read_header(struct bone_text *p)
{
	const struct table *t = &p->table;
	size_t begin;

	if (!table_row(&p->table, p->err))
		return false;
	if (t->count == 0)
		return err_set(p->err, ERR_EMPTY, "the text is empty");
	p->width = t->count;
	p->header = calloc(p->width, sizeof(*p->header));
	if (!p->header)
		return err_memory(p->err);
	p->frame_column = SIZE_MAX;
	for (size_t i = 0; i < p->width; i++)
		if (!read_column(p, i))
			return false;
	if (p->frame_column < p->width)
		return true;
	begin = t->cells[0].at;
	err_at(p->err, ERR_TEXT, begin, t->row_end - begin, "there is no column frame");
	return err_accept(p->err, "a first line that names the columns, frame among them");
}

static bool grow_keys(struct bone_text *p)
{
	uint32_t capacity = p->capacity ? 2 * p->capacity : 64;

	if (p->rows < p->capacity)
		return true;
	if (capacity < p->capacity)
		return err_memory(p->err);
	if (p->at->anim->format->keyframes) {
		struct lens_row *moments = reallocarray(p->moments, capacity, sizeof(*moments));

		if (!moments)
			return err_memory(p->err);
		p->moments = moments;
	}
	for (int r = 0; r < ROLE_COUNT; r++) {
		struct lens_key *keys;

		if (p->roles[r].columns == 0)
			continue;
		keys = reallocarray(p->roles[r].keys, capacity, sizeof(*keys));
		if (!keys)
			return err_memory(p->err);
		p->roles[r].keys = keys;
	}
	p->capacity = capacity;
	return true;
}

static bool read_cells(struct bone_text *p, uint32_t frame)
{
	size_t count = p->table.count > p->width ? p->table.count : p->width;

	for (size_t i = 0; i < count; i++) {
		const struct column *c = i < p->width ? p->header[i] : NULL;
		const struct cell *cell = table_cell(&p->table, i);

		if (!c && cell->size)
			return csv_refuse_surplus(cell, p->err);
		if (!c)
			continue;
		if (c->meaning == MEANS_TIME)
			csv_read_time(&p->table, cell, frame * p->seconds_per_frame, &p->retimed);
		if (c->meaning == MEANS_VALUE &&
		    !csv_read_value(&p->table, cell, c->kind, c->axis,
				    &p->roles[c->role].keys[p->rows], p->err))
			return false;
		if (c->meaning == MEANS_FLAGS &&
		    !csv_read_flags(&p->table, cell, p->at->anim->format->flags,
				    &p->moments[p->rows].flags, p->err))
			return false;
	}
	return true;
}

static bool read_row(struct bone_text *p)
{
	const struct cell *cell = table_cell(&p->table, p->frame_column);
	struct lens_key key = {.row_at = cell->at, .row_length = cell_length(cell)};

	if (!csv_read_frame(&p->table, cell, &key.frame, p->err) || !grow_keys(p))
		return false;
	for (int r = 0; r < ROLE_COUNT; r++)
		if (p->roles[r].columns)
			p->roles[r].keys[p->rows] = key;
	if (p->moments)
		p->moments[p->rows] = (struct lens_row){
			.frame = key.frame, .row_at = key.row_at, .row_length = key.row_length};
	if (!read_cells(p, key.frame))
		return false;
	p->rows++;
	p->cut = p->table.row_end == p->table.text.size && p->table.count < p->width;
	return true;
}

static bool shows_keys(const struct bone_text *p)
{
	struct cursor cur = cursor_init(clip_of(p->at), p->track);
	uint32_t frame;

	return cursor_frame(&cur, &frame);
}

/* More rows than frames: one is repeated or out of range, and nobody needs to hold the rest. */
static bool has_enough_rows(const struct bone_text *p)
{
	return !p->at->anim->format->sparse && p->rows > clip_of(p->at)->frames;
}

static bool read_rows(struct bone_text *p)
{
	while (!has_enough_rows(p)) {
		if (!table_row(&p->table, p->err))
			return false;
		if (p->table.done)
			break;
		if (!read_row(p))
			return false;
	}
	if (p->rows > 0 || !shows_keys(p))
		return true;
	err_set(p->err, ERR_EMPTY, "there is a header and no row");
	return err_accept(p->err, "rows; keys are removed by blank cells in the rows");
}

static bool read_curve(struct bone_text *p, enum role r, struct anim *edited,
		       const struct curve **out)
{
	struct lens_role *role = &p->roles[r];

	*out = p->track->curve[r];
	if (role->columns == 0)
		return true;
	role->count = p->rows;
	if (!lens_curve(p->at->anim, clip_of(p->at), p->track, role, &edited->arena, out, p->err))
		return false;
	/* The cells that a half-written row has not got yet remove nothing. */
	if (p->cut && p->track->curve[r] && !*out)
		return err_at(p->err, ERR_EARLY, p->table.text.size, 0,
			      "the last row ends before its columns do");
	return true;
}

/* The curves of a bone whose rows are keyframes. */
static bool read_keyframes(struct bone_text *p, struct anim *edited, struct track **track)
{
	struct lens_rows text = {p->rows, p->moments, p->roles, p->table.text};
	struct track now = *p->track;
	bool changed;

	for (int r = 0; r < ROLE_COUNT; r++)
		p->roles[r].count = p->rows;
	if (!lens_keyframes(p->at->anim, clip_of(p->at), p->track, &text, &edited->arena, &now,
			    &changed, p->err))
		return false;
	if (p->cut && changed)
		return err_at(p->err, ERR_EARLY, p->table.text.size, 0,
			      "the last row ends before its columns do");
	if (!changed)
		return true;
	*track = anim_edit_track(edited, p->at->clip, p->at->track);
	if (!*track)
		return err_memory(p->err);
	**track = now;
	return true;
}

static bool read_curves(struct bone_text *p, struct anim *edited, struct track **edited_track)
{
	struct track *track = NULL;

	for (int r = 0; r < ROLE_COUNT; r++) {
		const struct curve *curve;

		if (!read_curve(p, (enum role)r, edited, &curve))
			return false;
		if (curve == p->track->curve[r])
			continue;
		if (!track)
			track = anim_edit_track(edited, p->at->clip, p->at->track);
		if (!track)
			return err_memory(p->err);
		track->curve[r] = curve;
	}
	*edited_track = track;
	return true;
}

static bool read_bone(struct bone_text *p, struct anim *edited)
{
	struct track *track = NULL;

	if (!(p->at->anim->format->keyframes ? read_keyframes : read_curves)(p, edited, &track))
		return false;
	return track || csv_check_retimed(&p->retimed, p->err);
}

/* What stands behind the first line, if it is the one that is served. */
static bool skip_header(const struct shown *at, struct bytes text, struct bytes *rows)
{
	const uint8_t *p = text.data, *end = text.data + text.size;

	for (size_t i = 0; i < COLUMN_COUNT; i++) {
		size_t size = strlen(columns[i].name);

		if (!is_served(&columns[i], at))
			continue;
		if (i > 0 && (p == end || *p++ != ','))
			return false;
		if ((size_t)(end - p) < size || memcmp(p, columns[i].name, size) != 0)
			return false;
		p += size;
	}
	if (p == end || *p++ != '\n')
		return false;
	*rows = (struct bytes){p, (size_t)(end - p)};
	return true;
}

static struct anim *bone_parse(const struct shown *at, struct bytes text, struct err *err)
{
	struct bone_text p = {.at = at,
			      .track = track_of(at),
			      .seconds_per_frame = anim_seconds_per_frame(at->anim, clip_of(at)),
			      .err = err};
	struct anim *edited = NULL;
	struct bytes rows;
	bool fine;

	if (skip_header(at, text, &rows))
		edited = bone_parse_plain(at, rows);
	if (edited)
		return edited;
	fine = table_open(&p.table, text, err) && read_header(&p) && read_rows(&p);
	if (fine) {
		edited = anim_edit(at->anim);
		fine = edited ? read_bone(&p, edited) : err_memory(err);
	}
	if (!fine) {
		table_tell_place(&p.table, p.err);
		anim_free(edited);
		edited = NULL;
	}
	for (int r = 0; r < ROLE_COUNT; r++)
		free(p.roles[r].keys);
	free(p.moments);
	free(p.header);
	table_close(&p.table);
	return edited;
}

bool clip_has_bones(const struct shown *at)
{
	return clip_of(at)->frames <= FRAMES_SHOWN;
}

const struct view view_bone_csv = {
	.name = "csv",
	.place = VIEW_OF_BONE,
	.file = ".csv",
	.present = clip_has_bones,
	.render = bone_render,
	.parse = bone_parse,
};
