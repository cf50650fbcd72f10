/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * csv.c - a bone as a table with a row for each frame, and a whole clip as one long table.
 *
 *	bone CSV     frame,time,tx,ty,tz,rx,ry,rz,sx,sy,sz
 *	             frame,time,tx,ty,tz,qx,qy,qz,qw,sx,sy,sz
 *	curves.csv   bone,channel,frame,time,x,y,z,w
 *
 * A blank cell means that there is no key. A curve that is one value for the whole clip has it in
 * the first row. A bone CSV has columns for those roles alone that the format can store.
 *
 * Where keyframes are data, a row of a bone is a keyframe and `flags` stands behind its cells; in
 * curves.csv it has a row for each role, or one of the channel "none", and `occurrence` counts the
 * keyframes of one frame.
 */
#include "table.h"
#include "views.h"

#include "lens.h"
#include "num.h"

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

static bool is_served(const struct column *c, const struct shown *at)
{
	const struct track *track = track_of(at);

	if (c->meaning == MEANS_FLAGS)
		return at->anim->format->keyframes;
	if (c->meaning != MEANS_VALUE)
		return true;
	return (track->roles & 1 << c->role) &&
	       (c->role != ROLE_ROTATION || c->kind == lens_rotation(track));
}

/* ---- bone CSV: writing ---- */

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

/* The cells of one key, each with a comma before it. */
static void write_key(const struct curve *c, uint32_t key, struct buf *out)
{
	for (unsigned axis = 0; axis < curve_width(c); axis++) {
		buf_char(out, ',');
		buf_lane_text(out, curve_value(c, key, axis), &c->lane[axis]);
	}
}

static void write_blanks(unsigned count, struct buf *out)
{
	while (count--)
		buf_char(out, ',');
}

static void write_time(uint32_t frame, double seconds_per_frame, struct buf *out)
{
	buf_unsigned(out, frame);
	buf_char(out, ',');
	buf_seconds(out, frame * seconds_per_frame);
}

/* Where the writing of a bone stands: for each of its curves the next key that has no row yet. */
struct cursor {
	const struct track *track;
	uint32_t next[ROLE_COUNT], shown[ROLE_COUNT];
	uint32_t keyframe; /* the next, where there are some */
};

static struct cursor cursor_init(const struct clip *clip, const struct track *track)
{
	struct cursor cur = {.track = track};

	for (int r = 0; r < ROLE_COUNT; r++)
		if (track->curve[r])
			cur.shown[r] = curve_shown(track->curve[r], clip->frames);
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

static void write_row(struct cursor *cur, uint32_t frame, double seconds_per_frame, struct buf *out)
{
	const struct track *track = cur->track;

	write_time(frame, seconds_per_frame, out);
	for (int r = 0; r < ROLE_COUNT; r++) {
		const struct curve *c = track->curve[r];

		if (has_cell(cur, r, frame))
			write_key(c, cur->next[r]++, out);
		else if (track->roles & 1 << r)
			write_blanks(r == ROLE_ROTATION && lens_rotation(track) == CURVE_QUATERNION
					     ? 4
					     : 3,
				     out);
	}
	if (track->keyframes) {
		buf_char(out, ',');
		buf_unsigned(out, track->keyframes->flags[cur->keyframe++]);
	}
	buf_char(out, '\n');
}

static void bone_render(const struct shown *at, struct buf *out)
{
	const struct clip *clip = clip_of(at);
	double seconds_per_frame = anim_seconds_per_frame(at->anim, clip);
	struct cursor cur = cursor_init(clip, track_of(at));
	uint32_t frame;

	write_header(at, out);
	while (cursor_frame(&cur, &frame))
		write_row(&cur, frame, seconds_per_frame, out);
}

/* ---- curves.csv: writing ---- */

/* The first cells of a row: bone, channel, frame, time. */
static void write_place(const struct track *track, const char *channel, uint32_t frame,
			double seconds_per_frame, struct buf *out)
{
	buf_text(out, track->label);
	buf_char(out, ',');
	buf_text(out, channel);
	buf_char(out, ',');
	write_time(frame, seconds_per_frame, out);
}

static bool write_curve(const struct clip *clip, const struct track *track, int role,
			double seconds_per_frame, struct buf *out)
{
	const struct curve *c = track->curve[role];
	uint32_t shown = c ? curve_shown(c, clip->frames) : 0;

	for (uint32_t key = 0; key < shown && !out->failed; key++) {
		write_place(track, role_names[role], curve_frame(c, key), seconds_per_frame, out);
		write_key(c, key, out);
		write_blanks(4 - curve_width(c), out);
		buf_char(out, '\n');
	}
	return shown > 0;
}

/* The rows of one role, or with ROLE_COUNT of the keyframes that say none. */
static bool write_keyframes(const struct track *track, int role, double seconds_per_frame,
			    struct buf *out)
{
	const struct keyframes *k = track->keyframes;
	uint32_t key = 0, occurrence = 0;

	for (uint32_t i = 0; i < k->count && !out->failed; i++) {
		bool says = role < ROLE_COUNT ? k->roles[i] & 1 << role : k->roles[i] == 0;

		occurrence = i > 0 && k->frames[i] == k->frames[i - 1] ? occurrence + 1 : 0;
		if (!says)
			continue;
		write_place(track, role < ROLE_COUNT ? role_names[role] : "none", k->frames[i],
			    seconds_per_frame, out);
		if (role < ROLE_COUNT)
			write_key(track->curve[role], key++, out);
		write_blanks(role < ROLE_COUNT ? 4 - curve_width(track->curve[role]) : 4, out);
		buf_format(out, ",%u,%u\n", (unsigned)k->flags[i], (unsigned)occurrence);
	}
	return k->count > 0;
}

static bool write_bone(const struct clip *clip, const struct track *track, double seconds_per_frame,
		       struct buf *out)
{
	bool written = false;

	for (int r = 0; r < ROLE_COUNT && !track->keyframes; r++)
		written |= write_curve(clip, track, r, seconds_per_frame, out);
	for (int r = 0; r <= ROLE_COUNT && track->keyframes; r++)
		written |= write_keyframes(track, r, seconds_per_frame, out);
	return written;
}

static void curves_render(const struct shown *at, struct buf *out)
{
	const struct clip *clip = clip_of(at);
	double seconds_per_frame = anim_seconds_per_frame(at->anim, clip);

	bool keyframes = at->anim->format->keyframes;

	buf_format(out, "bone,channel,frame,time,x,y,z,w%s\n",
		   keyframes ? ",flags,occurrence" : "");
	for (uint32_t t = 0; t < clip->track_count && !out->failed; t++) {
		if (write_bone(clip, &clip->tracks[t], seconds_per_frame, out))
			continue;
		buf_text(out, clip->tracks[t].label);
		write_blanks(keyframes ? 9 : 7, out);
		buf_char(out, '\n');
	}
}

/* ---- bone CSV: reading ---- */

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
	bool retimed;             /* a time is not what was served; the first such cell: */
	struct cell retimed_cell;
};

static uint16_t short_length(const struct cell *cell)
{
	return (uint16_t)(cell->length < UINT16_MAX ? cell->length : UINT16_MAX);
}

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

		if (d >= least || !is_served(&columns[i], at))
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
		if (cell->size == strlen(columns[i].name) &&
		    memcmp(cell->text, columns[i].name, cell->size) == 0)
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
				  lens_rotation(p->track) == CURVE_QUATERNION ? "qx, qy, qz, qw"
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
	if (!c || (c->meaning == MEANS_FLAGS && !is_served(c, p->at)))
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

static bool refuse_value(const struct bone_text *p, const struct cell *cell, const struct column *c)
{
	table_refuse_number(cell, "number", p->err);
	return err_accept(p->err, "a decimal number such as %s, or nothing where there is no key",
			  c->kind == CURVE_EULER        ? "12.5 (degrees)"
			  : c->kind == CURVE_QUATERNION ? "0.25 (-1 to 1)"
							: "12.5");
}

static bool read_frame(const struct bone_text *p, const struct cell *cell, uint32_t *frame)
{
	if (cell->size == 0) {
		err_at(p->err, ERR_TEXT, cell->at, cell->length, "there is no frame in this row");
		return err_accept(p->err, "a whole number such as 12, or an empty row");
	}
	if (table_frame(&p->table, cell, frame))
		return true;
	table_refuse_number(cell, "frame number", p->err);
	return err_accept(p->err, "a whole number such as 12");
}

static void read_time(struct bone_text *p, const struct cell *cell, uint32_t frame)
{
	double served = frame * p->seconds_per_frame, time;

	if (p->retimed || cell->size == 0)
		return;
	/* The served time is within half a microsecond of the exact one, any other is not. */
	if (table_number(&p->table, cell, &time) &&
	    fabs(time - served) <= 0.5000001e-6 + served * 1e-14)
		return;
	p->retimed = true;
	p->retimed_cell = *cell;
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

static bool read_value(struct bone_text *p, const struct cell *cell, const struct column *c)
{
	struct lens_key *key = &p->roles[c->role].keys[p->rows];

	key->at[c->axis] = cell->at;
	key->length[c->axis] = short_length(cell);
	if (cell->size == 0)
		return true;
	key->given |= (uint8_t)(1u << c->axis);
	return table_number(&p->table, cell, &key->value[c->axis]) || refuse_value(p, cell, c);
}

/* A byte of flags. A blank one is 0 in a new keyframe, and in an old one what it was. */
static bool read_flags(struct bone_text *p, const struct cell *cell)
{
	struct lens_row *row = &p->moments[p->rows];
	uint8_t settable = p->at->anim->format->flags;
	uint32_t flags;

	if (cell->size == 0)
		return true;
	if (!table_frame(&p->table, cell, &flags) || flags & ~(uint32_t)settable) {
		err_at(p->err, ERR_TEXT, cell->at, cell->length, "\"%s\" are no flags",
		       cell_excerpt(cell).text);
		return err_accept(p->err, "a number made of the bits of %u, such as 0",
				  (unsigned)settable);
	}
	row->has_flags = true;
	row->flags = (uint8_t)flags;
	return true;
}

static bool refuse_surplus(const struct bone_text *p, const struct cell *cell)
{
	err_at(p->err, ERR_TEXT, cell->at, cell->length, "\"%s\" stands in a column without a name",
	       cell_excerpt(cell).text);
	return err_accept(p->err, "as many cells as the first line has");
}

static bool read_cells(struct bone_text *p, uint32_t frame)
{
	size_t count = p->table.count > p->width ? p->table.count : p->width;

	for (size_t i = 0; i < count; i++) {
		const struct column *c = i < p->width ? p->header[i] : NULL;
		const struct cell *cell = table_cell(&p->table, i);

		if (!c && cell->size)
			return refuse_surplus(p, cell);
		if (!c)
			continue;
		if (c->meaning == MEANS_TIME)
			read_time(p, cell, frame);
		if (c->meaning == MEANS_VALUE && !read_value(p, cell, c))
			return false;
		if (c->meaning == MEANS_FLAGS && !read_flags(p, cell))
			return false;
	}
	return true;
}

static bool read_row(struct bone_text *p)
{
	const struct cell *cell = table_cell(&p->table, p->frame_column);
	struct lens_key key = {.row_at = cell->at, .row_length = short_length(cell)};

	if (!read_frame(p, cell, &key.frame) || !grow_keys(p))
		return false;
	for (int r = 0; r < ROLE_COUNT; r++)
		if (p->roles[r].columns)
			p->roles[r].keys[p->rows] = key;
	if (p->moments)
		p->moments[p->rows] =
			(struct lens_row){key.frame, key.row_at, key.row_length, false, 0};
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
	if (track || !p->retimed)
		return true;
	err_at(p->err, ERR_TEXT, p->retimed_cell.at, p->retimed_cell.length,
	       "only the time was changed, and time is for reading");
	return err_accept(p->err, "another frame_time in clip.json; frame says where a key stands");
}

/*
 * Says in which column of the table the fault is. One at the very end of a text, with no line end
 * behind it, may be no fault of the rest.
 */
static void tell_place(const struct bone_text *p)
{
	struct err *err = p->err;

	if (!err || !err->placed)
		return;
	err->column = table_column(&p->table, err->at);
	if (err->code == ERR_TEXT && err->at + err->length >= p->table.text.size)
		err->code = ERR_EARLY;
}

static struct anim *bone_parse(const struct shown *at, struct bytes text, struct err *err)
{
	struct bone_text p = {.at = at,
			      .track = track_of(at),
			      .seconds_per_frame = anim_seconds_per_frame(at->anim, clip_of(at)),
			      .err = err};
	struct anim *edited = NULL;
	bool fine = table_open(&p.table, text, err) && read_header(&p) && read_rows(&p);

	if (fine) {
		edited = anim_edit(at->anim);
		fine = edited ? read_bone(&p, edited) : err_memory(err);
	}
	if (!fine) {
		tell_place(&p);
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

const struct view view_curves_csv = {
	.name = "curves",
	.place = VIEW_OF_CLIP,
	.file = "curves.csv",
	.render = curves_render,
};
