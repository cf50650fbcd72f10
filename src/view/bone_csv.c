/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * bone_csv.c - NAME.csv: a bone as a table with a row for each frame.
 *
 *	frame,time,tx,ty,tz,rx,ry,rz,sx,sy,sz
 *	frame,time,tx,ty,tz,qx,qy,qz,qw,sx,sy,sz
 *
 * A blank cell means that there is no key. A curve with one value for the whole clip has it in the
 * first row. There are columns only for the roles that the format can store.
 *
 * In formats that store keyframes, a row is a keyframe, and a last column is `flags`.
 */
#include "bone_edit.h"
#include "bone_plain.h"
#include "csv.h"
#include "text/num.h"
#include "views.h"

#include <stdlib.h>
#include <string.h>

static bool bone_csv_read_frame(void *row, const struct cell *cell, unsigned what);
static bool bone_csv_read_time(void *row, const struct cell *cell, unsigned what);
static bool bone_csv_read_value(void *row, const struct cell *cell, unsigned what);
static bool bone_csv_read_tangent(void *row, const struct cell *cell, unsigned what);
static bool bone_csv_read_flags(void *row, const struct cell *cell, unsigned what);

/*
 * What the cells of a column hold, as packed into column.what: a role and how its numbers are read.
 * The axis is added to it.
 */
#define VALUE(role, kind) ((unsigned)(role) << 8 | (unsigned)(kind) << 4)
#define ROLE_OF(what) ((enum role)((what) >> 8 & 15))
#define KIND_OF(what) ((enum curve_kind)((what) >> 4 & 15))
#define AXIS_OF(what) ((what)&15)
/* A column of tangents. `side` distinguishes those into the key from those out of it. */
#define TANGENT(side, role, kind) (VALUE(role, kind) | ((unsigned)(side) + 1) << 12)
#define SIDE_OF(what) ((enum tangent)(((what) >> 12) - 1))

/*
 * The columns of a vector, of Euler angles or of a quaternion; and those of their tangents, in and
 * out.
 */
#define XYZ(read, prefix, what)                                                                    \
	{prefix "x", read, NULL, what}, {prefix "y", read, NULL, (what) + 1},                      \
	{                                                                                          \
		prefix "z", read, NULL, (what) + 2                                                 \
	}
#define XYZW(read, prefix, what)                                                                   \
	XYZ(read, prefix, what),                                                                   \
	{                                                                                          \
		prefix "w", read, NULL, (what) + 3                                                 \
	}

static const struct column columns[] = {
	{"frame", bone_csv_read_frame, NULL, 0},
	{"time", bone_csv_read_time, NULL, 0},
	XYZ(bone_csv_read_value, "t", VALUE(ROLE_TRANSLATION, CURVE_VECTOR)),
	XYZ(bone_csv_read_value, "r", VALUE(ROLE_ROTATION, CURVE_EULER)),
	XYZW(bone_csv_read_value, "q", VALUE(ROLE_ROTATION, CURVE_QUATERNION)),
	XYZ(bone_csv_read_value, "s", VALUE(ROLE_SCALE, CURVE_VECTOR)),
	XYZ(bone_csv_read_tangent, "it", TANGENT(TANGENT_IN, ROLE_TRANSLATION, CURVE_VECTOR)),
	XYZ(bone_csv_read_tangent, "ot", TANGENT(TANGENT_OUT, ROLE_TRANSLATION, CURVE_VECTOR)),
	XYZW(bone_csv_read_tangent, "iq", TANGENT(TANGENT_IN, ROLE_ROTATION, CURVE_QUATERNION)),
	XYZW(bone_csv_read_tangent, "oq", TANGENT(TANGENT_OUT, ROLE_ROTATION, CURVE_QUATERNION)),
	XYZ(bone_csv_read_tangent, "is", TANGENT(TANGENT_IN, ROLE_SCALE, CURVE_VECTOR)),
	XYZ(bone_csv_read_tangent, "os", TANGENT(TANGENT_OUT, ROLE_SCALE, CURVE_VECTOR)),
	{"flags", bone_csv_read_flags, NULL, 0},
};
enum { COLUMN_FRAME, COLUMN_FLAGS = ARRAY_SIZE(columns) - 1 };

static bool is_value(unsigned column)
{
	return columns[column].read == bone_csv_read_value;
}

static bool is_tangent(unsigned column)
{
	return columns[column].read == bone_csv_read_tangent;
}

static const struct clip *bone_csv_clip_of(const struct shown *at)
{
	return &at->anim->clips[at->clip];
}

static const struct track *track_of(const struct shown *at)
{
	return &bone_csv_clip_of(at)->tracks[at->track];
}

static struct table_form bone_csv_form_of(const struct shown *at)
{
	struct table_form form = {columns, ARRAY_SIZE(columns), 0, 0, TABLE_BIT(COLUMN_FRAME)};
	enum curve_kind rotation = csv_rotation(at, track_of(at));

	for (unsigned i = 0; i < ARRAY_SIZE(columns); i++) {
		enum role role = ROLE_OF(columns[i].what);

		if (i == COLUMN_FLAGS && !at->anim->format->keyframes)
			continue;
		if (is_tangent(i) && !at->anim->format->timed)
			continue;
		form.may |= TABLE_BIT(i);
		if (is_tangent(i) && !at->style.tangents)
			continue;
		if ((!is_value(i) && !is_tangent(i)) ||
		    ((track_of(at)->roles & 1u << role) &&
		     (role != ROLE_ROTATION || KIND_OF(columns[i].what) == rotation)))
			form.shown |= TABLE_BIT(i);
	}
	return form;
}

/* ---- writing ---- */

/* The state of writing a bone as rows: for each curve, the next key to be written. */
struct cursor {
	const struct track *track;
	uint32_t next[ROLE_COUNT], shown[ROLE_COUNT];
	unsigned cells[ROLE_COUNT]; /* number of columns of each role */
	bool tangents;              /* each role has columns for its tangents, too */
	uint32_t keyframe;          /* the next keyframe to be written */
};

static struct cursor cursor_init(const struct shown *at, const struct track *track)
{
	const struct clip *clip = bone_csv_clip_of(at);
	struct cursor cur = {.track = track,
			     .tangents = at->style.tangents && at->anim->format->timed};

	for (int r = 0; r < ROLE_COUNT; r++) {
		if (track->curve[r])
			cur.shown[r] = curve_shown(track->curve[r], clip->frames);
		if (track->roles & 1 << r)
			cur.cells[r] = 3;
	}
	if (cur.cells[ROLE_ROTATION] && curve_edit_rotation(track) == CURVE_QUATERNION)
		cur.cells[ROLE_ROTATION] = 4;
	return cur;
}

/*
 * Finds the frame of the next row: the lowest with a key that is not written yet. False at the end.
 */
static bool cursor_frame(const struct cursor *cur, double *frame)
{
	const struct keyframes *k = cur->track->keyframes;
	bool found = false;

	if (k) {
		found = cur->keyframe < k->count;
		*frame = found ? k->frames[cur->keyframe] : 0;
		return found;
	}
	for (int r = 0; r < ROLE_COUNT; r++) {
		double f;

		if (cur->next[r] >= cur->shown[r])
			continue;
		f = curve_moment(cur->track->curve[r], cur->next[r]);
		if (!found || f < *frame)
			*frame = f;
		found = true;
	}
	return found;
}

/* Returns whether the role's next key belongs in the row of this frame. */
static bool has_cell(const struct cursor *cur, int role, double frame)
{
	if (cur->next[role] >= cur->shown[role])
		return false;
	if (cur->track->keyframes)
		return cur->track->keyframes->roles[cur->keyframe] & 1 << role;
	return curve_moment(cur->track->curve[role], cur->next[role]) <= frame;
}

#define ROW_MAX                                                                                    \
	(CSV_TIME_MAX + ROLE_COUNT * (CSV_KEY_MAX + CSV_TANGENTS_MAX + CSV_BLANKS_MAX) + 1 +       \
	 NUM_MAX + 1)

/* Writes the cells of a key's tangents. Tangents of rotations are shown only in the stored kind. */
static size_t bone_csv_put_tangents(const struct cursor *cur, const uint32_t *keys, unsigned keyed,
				    char *row)
{
	size_t size = 0;

	for (int r = 0; cur->tangents && r < ROLE_COUNT; r++) {
		const struct curve *c = cur->track->curve[r];

		if (r == ROLE_ROTATION && cur->cells[r] == 3)
			continue;
		size += keyed & 1u << r ? csv_put_tangents(row + size, c, keys[r])
					: csv_put_blanks(row + size, 2 * cur->cells[r]);
	}
	return size;
}

/*
 * Writes "12,0.4": the frame and time of a row. The frame is taken from a key of a role, or from a
 * keyframe.
 */
static size_t bone_csv_put_frame(const struct cursor *cur, double frame, double seconds_per_frame,
				 char *row)
{
	for (int r = 0; r < ROLE_COUNT; r++)
		if (!cur->track->keyframes && has_cell(cur, r, frame))
			return csv_put_moment(row, cur->track->curve[r], cur->next[r],
					      seconds_per_frame);
	return csv_put_time(row, (uint32_t)frame, seconds_per_frame);
}

static void bone_csv_write_row(struct cursor *cur, double frame, double seconds_per_frame,
			       struct buf *out)
{
	const struct track *track = cur->track;
	uint32_t keys[ROLE_COUNT];
	unsigned keyed = 0;
	char *row;
	size_t size;

	if (!buf_reserve(out, ROW_MAX))
		return;
	row = (char *)out->data + out->size;
	size = bone_csv_put_frame(cur, frame, seconds_per_frame, row);
	for (int r = 0; r < ROLE_COUNT; r++) {
		keys[r] = cur->next[r];
		keyed |= (unsigned)has_cell(cur, r, frame) << r;
		size += keyed & 1u << r ? csv_put_key(row + size, track->curve[r], cur->next[r]++)
					: csv_put_blanks(row + size, cur->cells[r]);
	}
	size += bone_csv_put_tangents(cur, keys, keyed, row + size);
	if (track->keyframes) {
		row[size++] = ',';
		size += num_unsigned(row + size, track->keyframes->flags[cur->keyframe++]);
	}
	row[size++] = '\n';
	out->size += size;
}

static void bone_render(const struct shown *at, struct buf *out)
{
	const struct clip *clip = bone_csv_clip_of(at);
	double seconds_per_frame = anim_seconds_per_frame(at->anim, clip);
	struct arena arena = ARENA_INIT;
	struct track track =
		curve_edit_shown_as(track_of(at), csv_rotation(at, track_of(at)), &arena);
	struct cursor cur = cursor_init(at, &track);
	struct table_form form = bone_csv_form_of(at);
	double frame;

	table_write_names(&form, ",", out);
	buf_char(out, '\n');
	while (!out->failed && cursor_frame(&cur, &frame))
		bone_csv_write_row(&cur, frame, seconds_per_frame, out);
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
	struct curve_edit_role roles[ROLE_COUNT];
	struct curve_edit_row *moments; /* one for each row; only in formats that store keyframes */
	uint32_t rows;                  /* number of rows read so far */
	double frame;                   /* frame of the last row */
	size_t room; /* number of rows, and of keys of each role, that memory is allocated for */
	struct arena arena; /* owns the tangents that are read */
	struct csv_retimed retimed;
};

/* ---- the header ---- */

static bool refuse_kinds(const struct bone_text *p, const struct curve_edit_role *role,
			 const struct cell *cell)
{
	bool quaternion = csv_rotation(p->at, p->track) == CURVE_QUATERNION;

	/*
	 * The table lists angles before quaternions, so of two kinds of columns the later is the
	 * quaternion's.
	 */
	err_at(p->err, ERR_TEXT, quaternion ? role->at : cell->at,
	       quaternion ? role->length : cell->length,
	       "there are Euler and quaternion columns in one text");
	return err_accept(p->err, "%s", quaternion ? "qx, qy, qz, qw" : "rx, ry, rz");
}

static bool bone_csv_refuse_tangent(const struct bone_text *p, const struct cell *cell)
{
	err_at(p->err, ERR_TEXT, cell->at, cell->length,
	       "there are tangents without the values that they belong to");
	return err_accept(p->err, "the columns tx, ty, tz with itx, otx, ..., and qx with iqx");
}

static bool begin_roles(struct bone_text *p)
{
	for (enum role role = 0; role < ROLE_COUNT; role++)
		p->roles[role].role = role;
	for (unsigned i = 0; i < ARRAY_SIZE(columns); i++) {
		const struct cell *cell = table_of(&p->table, i);
		struct curve_edit_role *role = &p->roles[ROLE_OF(columns[i].what)];
		enum curve_kind kind = KIND_OF(columns[i].what);

		if (!(p->table.columns & TABLE_BIT(i)))
			continue;
		if (is_tangent(i) && (role->columns == 0 || role->kind != kind))
			return bone_csv_refuse_tangent(p, cell);
		if (!is_value(i))
			continue;
		if (role->columns == 0)
			*role = (struct curve_edit_role){.role = ROLE_OF(columns[i].what),
							 .kind = kind,
							 .is_static = -1,
							 .text = p->table.text,
							 .at = cell->at,
							 .length = cell->length};
		else if (role->kind != kind)
			return refuse_kinds(p, role, cell);
		role->columns |= (uint8_t)(1u << AXIS_OF(columns[i].what));
	}
	return true;
}

/* ---- rows ---- */

static bool grow_keys(struct bone_text *p)
{
	size_t room = p->room ? 2 * p->room : 64;

	if (p->rows < p->room)
		return true;
	if (p->at->anim->format->keyframes) {
		struct curve_edit_row *moments = reallocarray(p->moments, room, sizeof(*moments));

		if (!moments)
			return err_memory(p->err);
		p->moments = moments;
	}
	for (int r = 0; r < ROLE_COUNT; r++) {
		struct curve_edit_key *keys;

		if (p->roles[r].columns == 0)
			continue;
		keys = reallocarray(p->roles[r].keys, room, sizeof(*keys));
		if (!keys)
			return err_memory(p->err);
		p->roles[r].keys = keys;
	}
	p->room = room;
	return true;
}

static bool bone_csv_read_frame(void *row, const struct cell *cell, unsigned what)
{
	struct bone_text *p = row;
	struct curve_edit_key key = {.row_at = 0};

	(void)what;
	if (p->rows == UINT32_MAX ||
	    !csv_read_moment(&p->table, cell, p->at->anim->format, &key, p->err) || !grow_keys(p))
		return false;
	for (int r = 0; r < ROLE_COUNT; r++)
		if (p->roles[r].columns)
			p->roles[r].keys[p->rows] = key;
	if (p->moments)
		p->moments[p->rows] = (struct curve_edit_row){
			.frame = key.frame, .row_at = key.row_at, .row_length = key.row_length};
	p->frame = curve_edit_moment(&key);
	p->rows++;
	return true;
}

static bool bone_csv_read_time(void *row, const struct cell *cell, unsigned what)
{
	struct bone_text *p = row;

	(void)what;
	if (cell)
		csv_read_time(&p->table, cell, p->frame * p->seconds_per_frame, &p->retimed);
	return true;
}

static bool bone_csv_read_value(void *row, const struct cell *cell, unsigned what)
{
	struct bone_text *p = row;

	return !cell || csv_read_value(&p->table, cell, KIND_OF(what), AXIS_OF(what),
				       &p->roles[ROLE_OF(what)].keys[p->rows - 1], p->err);
}

static bool bone_csv_read_tangent(void *row, const struct cell *cell, unsigned what)
{
	struct bone_text *p = row;

	return !cell ||
	       csv_read_tangent(&p->table, cell, SIDE_OF(what), AXIS_OF(what),
				&p->roles[ROLE_OF(what)].keys[p->rows - 1], &p->arena, p->err);
}

static bool bone_csv_read_flags(void *row, const struct cell *cell, unsigned what)
{
	struct bone_text *p = row;

	(void)what;
	return !cell || csv_read_flags(&p->table, cell, p->at->anim->format->flags,
				       &p->moments[p->rows - 1].flags, p->err);
}

static bool shows_keys(const struct bone_text *p)
{
	struct cursor cur = cursor_init(p->at, p->track);
	double frame;

	return cursor_frame(&cur, &frame);
}

/*
 * Returns whether to stop reading: with more rows than frames, a row is repeated or out of range,
 * and the text will be refused.
 */
static bool has_enough_rows(const struct bone_text *p)
{
	return !p->at->anim->format->sparse && p->rows > bone_csv_clip_of(p->at)->frames;
}

static bool bone_csv_read_rows(struct bone_text *p)
{
	while (!has_enough_rows(p)) {
		if (!table_row(&p->table, p->err))
			return false;
		if (p->table.done)
			break;
		if (!table_read(&p->table, p))
			return false;
	}
	for (int r = 0; r < ROLE_COUNT; r++)
		p->roles[r].count = p->rows;
	if (p->rows > 0 || !shows_keys(p))
		return true;
	err_set(p->err, ERR_EMPTY, "there is a header and no row");
	return err_accept(p->err, "rows; keys are removed by blank cells in the rows");
}

/* ---- the bone ---- */

/* Refuses a text whose last row is still incomplete: it must not remove keys. */
static bool check_cut(const struct bone_text *p, const struct track *now)
{
	bool removed = p->at->anim->format->keyframes && !track_same(now, p->track);

	for (int r = 0; r < ROLE_COUNT; r++)
		removed |= p->track->curve[r] && !now->curve[r];
	return !p->table.cut || !removed || table_refuse_cut(&p->table, p->err);
}

static bool edit_bone(struct bone_text *p, struct anim *edited)
{
	struct curve_edit_rows text = {p->rows, p->moments, p->roles, p->table.text};
	struct track now = *p->track;
	bool changed;

	return bone_edit_read(p->at, p->track, &text, &edited->arena, &now, p->err) &&
	       check_cut(p, &now) &&
	       bone_edit_put(p->at, edited, p->at->track, &now, &changed, p->err) &&
	       (changed || csv_check_retimed(&p->retimed, p->at->anim->format, p->err));
}

static struct anim *parse_whole(const struct shown *at, const struct table_form *form,
				struct bytes text, struct err *err)
{
	struct bone_text p = {.at = at,
			      .track = track_of(at),
			      .seconds_per_frame =
				      anim_seconds_per_frame(at->anim, bone_csv_clip_of(at)),
			      .err = err};
	struct anim *edited = NULL;
	bool fine = table_open(&p.table, text, err) && table_header(&p.table, form, err) &&
		    begin_roles(&p) && bone_csv_read_rows(&p);

	if (fine) {
		edited = anim_edit(at->anim);
		fine = edited ? edit_bone(&p, edited) : err_memory(err);
	}
	if (!fine) {
		table_finish_error(&p.table, p.err);
		anim_free(edited);
		edited = NULL;
	}
	for (int r = 0; r < ROLE_COUNT; r++)
		free(p.roles[r].keys);
	free(p.moments);
	arena_release(&p.arena);
	table_close(&p.table);
	return edited;
}

static struct anim *bone_parse(const struct shown *at, struct bytes text, struct err *err)
{
	struct table_form form = bone_csv_form_of(at);
	struct bytes rows = text;
	/* Try the fast path of bone_plain.c first. */
	struct anim *edited = table_take_names(&form, &rows) ? bone_parse_plain(at, rows) : NULL;

	return edited ? edited : parse_whole(at, &form, text, err);
}

bool clip_has_bones(const struct shown *at)
{
	return bone_csv_clip_of(at)->frames <= FRAMES_SHOWN;
}

const struct view view_bone_csv = {
	.name = "csv",
	.place = VIEW_OF_BONE,
	.file = ".csv",
	.present = clip_has_bones,
	.render = bone_render,
	.parse = bone_parse,
};
