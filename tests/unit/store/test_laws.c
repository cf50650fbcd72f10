/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The laws of saving, over chains of random edits of bone CSVs of every sample:
 *
 *   a save is read back, to the nearest values that can be stored
 *   values that the save did not name keep their bits
 *   saving a view's own text changes no byte of the file
 *   saving the same text again moves nothing by more than the grid's steps
 *
 * The laws are tested with rotations shown as they are stored, as Euler angles, as quaternions, and
 * as Euler angles only in tables. A failure prints all edits that led to it.
 */
#include "sample.h"

#include "model/rotation.h"
#include "random.h"

#include <glob.h>
#include <math.h>

#define CHAINS 40
#define EDITS 25 /* number of edits in a chain */
#define FORMS 4  /* number of values of enum rotations */

static const char *pick(const char *const *texts, size_t count)
{
	return texts[below((uint32_t)count)];
}

static void random_number(char out[40], const char *was)
{
	static const char *const ends[] = {"0",     "-0",     "1",      "-180",  "65535",
					   "1e-45", "-1e-40", "3.4e38", "-1e30", "1e39",
					   "nan",   "0.1",    "7.",     ".5",    "1E3"};
	double near = strtod(was, NULL);

	if (!isfinite(near))
		near = 0;
	if (below(3) == 0)
		snprintf(out, 40, "%s", pick(ends, ARRAY_SIZE(ends)));
	else if (below(2))
		snprintf(out, 40, "%.9g", near + (below(2000) - 1000.0) / (1 << below(20)));
	else
		snprintf(out, 40, "%.7g", near * (1 + (below(200) - 100.0) * 1e-7));
}

/* ---- a bone CSV as a grid of cells ---- */

#define ROWS 16
#define COLUMNS 16

struct grid {
	uint32_t rows, columns; /* rows (row 0 is the header) and columns */
	char cell[ROWS][COLUMNS][64];
};

static void grid_read(struct grid *g, const char *text)
{
	g->rows = g->columns = 0;
	while (*text) {
		uint32_t column = 0;

		for (;; text++) {
			size_t size = strcspn(text, ",\n");

			ck_assert(g->rows < ROWS && column < COLUMNS && size < 64);
			snprintf(g->cell[g->rows][column++], 64, "%.*s", (int)size, text);
			text += size;
			if (*text == '\n')
				break;
		}
		text++;
		g->rows++;
		g->columns = column;
	}
}

static void grid_write(const struct grid *g, struct buf *out)
{
	buf_clear(out);
	for (uint32_t row = 0; row < g->rows; row++)
		for (uint32_t column = 0; column < g->columns; column++)
			buf_format(out, "%s%c", g->cell[row][column],
				   column + 1 < g->columns ? ',' : '\n');
	buf_char(out, '\0');
	out->size--;
}

static enum curve_kind grid_rotation(const struct grid *g)
{
	for (uint32_t column = 2; column < g->columns; column++)
		if (g->cell[0][column][0] == 'q')
			return CURVE_QUATERNION;
	return CURVE_EULER;
}

/* Columns 0 and 1 are frame and time. */
static enum role grid_role(const struct grid *g, uint32_t column)
{
	char letter = g->cell[0][column][0];

	return letter == 't' ? ROLE_TRANSLATION : letter == 's' ? ROLE_SCALE : ROLE_ROTATION;
}

static unsigned grid_axis(const struct grid *g, uint32_t column)
{
	return (unsigned)(strchr("xyzw", g->cell[0][column][1]) - "xyzw");
}

static uint32_t grid_find_row(const struct grid *g, const char *frame)
{
	uint32_t row = 1;

	while (row < g->rows && strcmp(g->cell[row][0], frame) != 0)
		row++;
	return row;
}

static uint32_t grid_find_column(const struct grid *g, const char *name)
{
	uint32_t column = 0;

	while (column < g->columns && strcmp(g->cell[0][column], name) != 0)
		column++;
	return column;
}

static bool grid_has_column(const struct grid *g, const struct grid *other, uint32_t column)
{
	bool same = g->rows == other->rows && g->columns == other->columns;

	for (uint32_t row = 0; same && row < g->rows; row++)
		same = strcmp(g->cell[row][column], other->cell[row][column]) == 0;
	return same;
}

/* ---- edits ---- */

static void set_quaternion(struct grid *g, uint32_t row, uint32_t column)
{
	static const char *const some[][4] = {{"0", "0", "0", "1"},
					      {"0.6", "0", "-0.8", "0"},
					      {"0.5", "-0.5", "0.5", "0.5"},
					      {"0.1", "0.7", "0.1", "0.7001"}};
	const char *const *q = some[below(ARRAY_SIZE(some))];

	column -= grid_axis(g, column);
	for (unsigned axis = 0; axis < 4; axis++)
		snprintf(g->cell[row][column + axis], 64, "%s", q[axis]);
}

static void edit_cell(struct grid *g)
{
	uint32_t row = 1 + below(g->rows - 1), column = 2 + below(g->columns - 2);
	char *cell = g->cell[row][column], number[40];

	if (!*cell)
		return;
	random_number(number, cell);
	if (g->cell[0][column][0] == 'q')
		set_quaternion(g, row, column);
	else
		memcpy(cell, number, sizeof(number));
}

static void remove_role(struct grid *g)
{
	enum role role = (enum role)below(ROLE_COUNT);

	for (uint32_t column = 2; column < g->columns; column++)
		for (uint32_t row = 1; row < g->rows && grid_role(g, column) == role; row++)
			g->cell[row][column][0] = '\0';
}

static void remove_row(struct grid *g)
{
	uint32_t row = 2 + below(g->rows);

	if (row + 1 >= g->rows)
		return;
	memmove(g->cell[row], g->cell[row + 1], (g->rows - row - 1) * sizeof(g->cell[0]));
	g->rows--;
}

/*
 * Returns the row of a frame, which is added if missing. Only the clip's first or last frame can be
 * missing.
 */
static uint32_t need_row(struct grid *g, uint32_t frame)
{
	char text[16];
	uint32_t row;

	snprintf(text, sizeof(text), "%u", frame);
	row = grid_find_row(g, text);
	if (row < g->rows)
		return row;
	ck_assert_uint_lt(g->rows, ROWS);
	memset(g->cell[row], 0, sizeof(g->cell[row]));
	memcpy(g->cell[row][0], text, sizeof(text));
	g->rows++;
	return row;
}

/*
 * Fills a role in the first frame or in both ends: the role is new, or static, or begins to move.
 */
static void fill_role(struct grid *g, uint32_t frames)
{
	enum role role = (enum role)below(ROLE_COUNT);
	uint32_t rows[2] = {need_row(g, 0), 0}, count = 1 + below(2);

	rows[1] = count > 1 ? need_row(g, frames - 1) : rows[0];
	for (uint32_t i = 0; i < count; i++) {
		for (uint32_t column = 2; column < g->columns; column++) {
			if (grid_role(g, column) != role)
				continue;
			if (g->cell[0][column][0] == 'q')
				set_quaternion(g, rows[i], column);
			else
				snprintf(g->cell[rows[i]][column], 64, "%.3f",
					 (below(20000) - 10000.0) / 100);
		}
	}
}

static const char *edit_grid(struct grid *g, uint32_t frames)
{
	uint32_t choice = g->rows > 1 ? below(10) : 9;

	if (choice < 6)
		edit_cell(g);
	else if (choice == 6)
		remove_role(g);
	else if (choice == 7)
		remove_row(g);
	else
		fill_role(g, frames);
	return choice < 6 ? "cell" : choice == 6 ? "remove" : choice == 7 ? "row" : "fill";
}

/* ---- the laws ---- */

static struct buf history;
static enum rotations form; /* the form in which rotations are shown */

#define LAW(holds, ...)                                                                            \
	do {                                                                                       \
		if (!(holds)) {                                                                    \
			buf_format(&history, __VA_ARGS__);                                         \
			buf_char(&history, '\0');                                                  \
			ck_abort_msg("%s", (const char *)history.data);                            \
		}                                                                                  \
	} while (0)

/* A save: the file before and after, and the bone's text before, as saved, and after. */
struct save {
	struct sample old, now;
	uint32_t clip, track;
	struct grid served, saved, read;
};

static struct sample open_in_form(const char *name)
{
	struct sample s = sample_open(name);

	s.anim->rotations = form;
	return s;
}

static const struct track *track_of(const struct sample *s, const struct save *e)
{
	return &s->anim->clips[e->clip].tracks[e->track];
}

static struct shown shown_of(const struct sample *s, const struct save *e)
{
	struct shown at = sample_shown(s, e->clip, NULL);

	at.track = e->track;
	return at;
}

static double step_of(const struct curve *c, unsigned axis)
{
	const struct lane *lane = &c->lane[axis];

	return lane->form == LANE_GRID ? fabs(lane->unit * (double)lane->step) : 0;
}

/* Checks a cell of the saved text against the same cell as read afterwards. */
static void check_cell(const struct save *e, uint32_t row, uint32_t column)
{
	const char *saved = e->saved.cell[row][column], *read;
	uint32_t to_row = grid_find_row(&e->read, e->saved.cell[row][0]);
	uint32_t to_column = grid_find_column(&e->read, e->saved.cell[0][column]);
	const struct curve *c = track_of(&e->now, e)->curve[grid_role(&e->saved, column)];
	double x = strtod(saved, NULL), y;

	LAW(to_row < e->read.rows && to_column < e->read.columns && c,
	    "%s of frame %s is not there", saved, e->saved.cell[row][0]);
	read = e->read.cell[to_row][to_column];
	y = strtod(read, NULL);
	LAW(*read && ((isnan(x) && isnan(y)) || x == y ||
		      fabs(x - y) <= step_of(c, grid_axis(&e->saved, column)) * 0.5001 +
					     fabs(x) * 2.5e-7 + 1e-43),
	    "%s of frame %s is read as %s", saved, e->saved.cell[row][0], read);
}

/* Returns whether the curve is stored in another form than the text shows. */
static bool is_converted(const struct save *e, const struct curve *c)
{
	return c && c->kind != CURVE_VECTOR && c->kind != grid_rotation(&e->saved);
}

/* Limit of angles beyond which full turns are not kept. */
#define FAR 65536.0

/*
 * Returns a rotation as a unit quaternion, and how far the digits of a float32 may have moved it.
 */
static double unit_rotation(const double *value, enum curve_kind kind, double q[4])
{
	static const double none[4] = {0, 0, 0, 1};
	double length = 0, digits = 1e-4;

	if (kind == CURVE_EULER)
		rotation_quaternion(value, none, q);
	else
		memcpy(q, value, 4 * sizeof(*q));
	for (unsigned axis = 0; axis < 3 && kind == CURVE_EULER; axis++)
		digits += fmin(fabs(value[axis]), FAR) * 2.4e-7;
	for (unsigned axis = 0; axis < 4; axis++)
		length += q[axis] * q[axis];
	for (unsigned axis = 0; axis < 4; axis++)
		q[axis] /= sqrt(length);
	return digits;
}

/* Returns the angle between two unit quaternions, in degrees. */
static double degrees_apart(const double a[4], const double b[4])
{
	double minus = 0, plus = 0;

	for (unsigned axis = 0; axis < 4; axis++) {
		minus += (a[axis] - b[axis]) * (a[axis] - b[axis]);
		plus += (a[axis] + b[axis]) * (a[axis] + b[axis]);
	}
	return 4 * asin(fmin(sqrt(fmin(minus, plus)) / 2, 1)) * 180 / M_PI;
}

/* Returns the degrees by which the steps of the grids may move a rotation. */
static double steps_of(const struct curve *c)
{
	double steps = 0;

	for (unsigned axis = 0; axis < curve_width(c); axis++)
		steps += step_of(c, axis);
	return steps;
}

/* Reads the rotation in a row; returns false if the row has none. */
static bool row_rotation(const struct grid *g, uint32_t row, double value[4])
{
	bool given = false;

	for (uint32_t column = 2; column < g->columns; column++) {
		if (grid_role(g, column) != ROLE_ROTATION)
			continue;
		given = g->cell[row][column][0] != '\0';
		value[grid_axis(g, column)] = strtod(g->cell[row][column], NULL);
	}
	return given;
}

/* Checks a rotation that was saved in another form against the one that is read afterwards. */
static void check_rotation(const struct save *e, uint32_t row)
{
	const struct curve *c = track_of(&e->now, e)->curve[ROLE_ROTATION];
	uint32_t to_row = grid_find_row(&e->read, e->saved.cell[row][0]);
	enum curve_kind kind = grid_rotation(&e->saved);
	double saved[4], read[4], a[4], b[4], room;

	if (!row_rotation(&e->saved, row, saved))
		return;
	LAW(to_row < e->read.rows && row_rotation(&e->read, to_row, read),
	    "the rotation of frame %s is not there", e->saved.cell[row][0]);
	room = unit_rotation(saved, kind, a) + unit_rotation(read, kind, b) + steps_of(c);
	LAW(degrees_apart(a, b) <= room || (isnan(a[0]) && isnan(b[0])),
	    "the rotation of frame %s is read %g degrees away, and %g may be",
	    e->saved.cell[row][0], degrees_apart(a, b), room);
}

static void check_put_get(const struct save *e)
{
	bool converted = is_converted(e, track_of(&e->now, e)->curve[ROLE_ROTATION]);

	for (uint32_t row = 1; row < e->saved.rows; row++) {
		if (converted)
			check_rotation(e, row);
		for (uint32_t column = 2; column < e->saved.columns; column++)
			if (e->saved.cell[row][column][0] &&
			    !(converted && grid_role(&e->saved, column) == ROLE_ROTATION))
				check_cell(e, row, column);
	}
}

static bool same_cells(const struct save *e, uint32_t row, enum role role)
{
	uint32_t was = grid_find_row(&e->served, e->saved.cell[row][0]);
	bool same = was < e->served.rows;

	for (uint32_t column = 2; same && column < e->saved.columns; column++)
		same = grid_role(&e->saved, column) != role ||
		       strcmp(e->saved.cell[row][column], e->served.cell[was][column]) == 0;
	return same;
}

/*
 * Checks that rotations that were not edited keep their bits in another form, too; on a grid, edits
 * of others may move them.
 */
static void check_rotations_kept(const struct save *e)
{
	const struct curve *old = track_of(&e->old, e)->curve[ROLE_ROTATION];
	const struct curve *now = track_of(&e->now, e)->curve[ROLE_ROTATION];

	if (!old || !now || old->keyed != now->keyed || !is_converted(e, now) ||
	    now->lane[0].form == LANE_GRID)
		return;
	for (uint32_t row = 1; row < e->saved.rows; row++) {
		uint32_t key = (uint32_t)strtoul(e->saved.cell[row][0], NULL, 10);

		if (key >= now->count || !same_cells(e, row, ROLE_ROTATION))
			continue;
		for (unsigned axis = 0; axis < curve_width(now); axis++)
			LAW(f64_same(curve_value(old, key, axis), curve_value(now, key, axis)),
			    "the rotation of key %u moved", key);
	}
}

/* Checks components of the edited bone whose columns were not edited. */
static void check_columns(const struct save *e)
{
	for (uint32_t column = 2; column < e->saved.columns; column++) {
		enum role role = grid_role(&e->saved, column);
		unsigned axis = grid_axis(&e->saved, column);
		const struct curve *old = track_of(&e->old, e)->curve[role];
		const struct curve *now = track_of(&e->now, e)->curve[role];

		if (!old || !now || old->keyed != now->keyed || old->kind != now->kind ||
		    is_converted(e, now) || !grid_has_column(&e->saved, &e->served, column))
			continue;
		LAW(old->count == now->count, "%s has other keys", e->saved.cell[0][column]);
		for (uint32_t key = 0; key < old->count; key++)
			LAW(f64_same(curve_value(old, key, axis), curve_value(now, key, axis)),
			    "%s of key %u moved", e->saved.cell[0][column], key);
	}
}

static void check_locality(const struct save *e)
{
	const struct anim *a = e->old.anim, *b = e->now.anim;

	LAW(a->clip_count == b->clip_count && a->bone_count == b->bone_count, "lists changed");
	for (uint32_t i = 0; i < a->clip_count; i++) {
		const struct clip *p = &a->clips[i], *q = &b->clips[i];

		LAW(p->frames == q->frames && p->loop == q->loop && strcmp(p->name, q->name) == 0 &&
			    f32_bits(p->frame_time) == f32_bits(q->frame_time) &&
			    f32_bits(p->duration) == f32_bits(q->duration) &&
			    p->track_count == q->track_count,
		    "clip %u changed", i);
		for (uint32_t t = 0; t < p->track_count; t++)
			for (int r = 0; r < ROLE_COUNT; r++)
				LAW((i == e->clip && t == e->track) ||
					    curve_same(p->tracks[t].curve[r],
						       q->tracks[t].curve[r]),
				    "the %s of %s/%s changed", role_names[r], p->label,
				    p->tracks[t].label);
	}
	check_columns(e);
	check_rotations_kept(e);
}

static void check_get_put(const struct sample *s, const struct view *view, const struct shown *at)
{
	struct buf own = view_text(view, at), bytes = BUF_INIT;
	struct err err = {0};
	struct anim *same = view->parse(at, buf_bytes(&own), &err);
	/* For a bone without keys, a header without rows is its own text. */
	LAW(same != NULL, "its own text is refused: %s", err.message);
	LAW(s->codec->encode(same, buf_bytes(&s->bytes), &bytes, &err), "%s", err.message);
	LAW(bytes_equal(buf_bytes(&bytes), buf_bytes(&s->bytes)),
	    "%s: its own text changed the file", view->file);
	anim_free(same);
	buf_release(&bytes);
	buf_release(&own);
}

/* Checks the views for other programs, which not every clip has. */
static void check_interchange(const struct sample *s, const struct shown *at)
{
	if (view_gltf.present(at))
		check_get_put(s, &view_gltf, at);
	if (view_bvh.present(at))
		check_get_put(s, &view_bvh, at);
}

/*
 * Returns the largest number of a component: the rounding error of its texts to float32 is a
 * fraction of that.
 */
static double extent(const struct curve *c, unsigned axis)
{
	double most = 0;

	for (uint32_t key = 0; key < c->count; key++)
		if (isfinite(curve_value(c, key, axis)))
			most = fmax(most, fabs(curve_value(c, key, axis)));
	return most;
}

static void check_near(const struct curve *a, const struct curve *b)
{
	LAW(!a == !b && (!a || (a->kind == b->kind && a->count == b->count)),
	    "saved again it is another curve");
	for (unsigned axis = 0; a && axis < curve_width(a); axis++) {
		double room = step_of(a, axis) + step_of(b, axis) + extent(a, axis) * 1e-6 + 1e-43;

		for (uint32_t key = 0; key < a->count; key++) {
			double x = curve_value(a, key, axis), y = curve_value(b, key, axis);

			LAW(f64_same(x, y) || fabs(x - y) <= room,
			    "saved again %.9g of key %u becomes %.9g", x, key, y);
		}
	}
}

/* Checks that two curves are nearly equal whose rotations were saved in another form. */
static void check_near_rotations(const struct curve *a, const struct curve *b)
{
	LAW(a->kind == b->kind && a->count == b->count, "saved again it is another curve");
	for (uint32_t key = 0; key < a->count; key++) {
		double x[4], y[4], p[4], q[4], room;

		for (unsigned axis = 0; axis < curve_width(a); axis++) {
			x[axis] = curve_value(a, key, axis);
			y[axis] = curve_value(b, key, axis);
		}
		room = unit_rotation(x, a->kind, p) + unit_rotation(y, b->kind, q);
		room += steps_of(a) + steps_of(b);
		LAW(degrees_apart(p, q) <= room || (isnan(p[0]) && isnan(q[0])),
		    "saved again the rotation of key %u moves %g degrees", key,
		    degrees_apart(p, q));
	}
}

static void check_put_put(const struct save *e, const struct buf *text)
{
	struct shown at = shown_of(&e->now, e);
	struct err err = {0};
	struct anim *edited = view_bone_csv.parse(&at, buf_bytes(text), &err);
	struct sample again;

	LAW(edited != NULL, "the same text is refused: %s", err.message);
	again = sample_store(&e->now, edited);
	for (int r = 0; r < ROLE_COUNT; r++) {
		const struct curve *now = track_of(&e->now, e)->curve[r];
		const struct curve *then = track_of(&again, e)->curve[r];

		if (now && then && is_converted(e, now))
			check_near_rotations(now, then);
		else
			check_near(now, then);
	}
	sample_close(&again);
	anim_free(edited);
}

static void check_laws(struct save *e, const struct buf *text)
{
	struct shown at = shown_of(&e->now, e);
	struct buf read = view_text(&view_bone_csv, &at);

	grid_read(&e->read, (const char *)read.data);
	buf_release(&read);
	check_put_get(e);
	check_locality(e);
	check_get_put(&e->now, &view_bone_csv, &at);
	check_get_put(&e->now, &view_bone_json, &at);
	check_get_put(&e->now, &view_curves_csv, &at);
	check_get_put(&e->now, &view_clip_json, &at);
	check_interchange(&e->now, &at);
	check_put_put(e, text);
}

/* ---- chains of edits ---- */

static void choose_bone(struct save *e)
{
	do {
		e->clip = below(e->old.anim->clip_count);
	} while (e->old.anim->clips[e->clip].track_count == 0);
	e->track = below(e->old.anim->clips[e->clip].track_count);
}

/* Checks that a refusal is about the text, or about a limit of the format. */
static void check_refusal(const struct err *err)
{
	LAW(err->message[0], "no reason is given");
	LAW(err->code == ERR_TEXT || err->code == ERR_STORE || err->code == ERR_EMPTY,
	    "code %d: %s", err->code, err->message);
	LAW(!strstr(err->message, "comes back"), "%s", err->message);
}

/* Saves an edit. Returns true if it was stored; e->now is the new file then. */
static bool save_edit(struct save *e, const struct buf *text)
{
	struct shown at = shown_of(&e->old, e);
	struct buf bytes = BUF_INIT;
	struct err err = {0};
	struct anim *edited = view_bone_csv.parse(&at, buf_bytes(text), &err);
	bool stored =
		edited && e->old.codec->encode(edited, buf_bytes(&e->old.bytes), &bytes, &err);

	if (stored) {
		e->now = sample_decode(e->old.name, bytes);
		e->now.anim->rotations = form;
		LAW(anim_stored(edited, e->old.anim, e->now.anim, &err), "%s", err.message);
	} else {
		check_refusal(&err);
		buf_release(&bytes);
	}
	anim_free(edited);
	return stored;
}

static bool one_edit(struct save *e, struct buf *text)
{
	const struct clip *clip;
	struct shown at;
	struct buf own;

	choose_bone(e);
	clip = &e->old.anim->clips[e->clip];
	at = shown_of(&e->old, e);
	own = view_text(&view_bone_csv, &at);
	grid_read(&e->served, (const char *)own.data);
	buf_release(&own);
	e->saved = e->served;
	buf_format(&history, "\n%s/%s, %s:\n", clip->label, clip->tracks[e->track].label,
		   edit_grid(&e->saved, clip->frames));
	grid_write(&e->saved, text);
	buf_add(&history, text->data, text->size);
	return save_edit(e, text);
}

START_TEST(laws_hold_along_chains_of_edits)
{
	struct buf text = BUF_INIT;
	static struct save e;
	unsigned stored = 0;

	const char *name = sample_names[_i / FORMS];

	form = (enum rotations)(_i % FORMS);
	random_state = 0x9E3779B97F4A7C15u + (uint64_t)_i;
	for (int chain = 0; chain < CHAINS; chain++) {
		e.old = open_in_form(name);
		buf_clear(&history);
		buf_format(&history, "%s, rotations %d", name, (int)form);
		for (int i = 0; i < EDITS; i++) {
			if (!one_edit(&e, &text))
				continue;
			check_laws(&e, &text);
			sample_close(&e.old);
			e.old = e.now;
			stored++;
		}
		sample_close(&e.old);
	}
	ck_assert_uint_gt(stored, CHAINS * EDITS / 3);
	buf_release(&text);
	buf_release(&history);
}
END_TEST

static void check_own_texts(const struct sample *s)
{
	for (uint32_t clip = 0; clip < s->anim->clip_count; clip++) {
		struct shown at = sample_shown(s, clip, NULL);

		if (s->anim->clips[clip].track_count > 0)
			check_get_put(s, &view_curves_csv, &at);
		check_interchange(s, &at);
		for (; at.track < s->anim->clips[clip].track_count; at.track++) {
			check_get_put(s, &view_bone_csv, &at);
			check_get_put(s, &view_bone_json, &at);
		}
	}
}

/* Loops over all samples of all formats. */
START_TEST(own_texts_change_nothing_in_any_form)
{
	unsigned count = 0;
	glob_t found;

	form = (enum rotations)_i;
	ck_assert_int_eq(glob("tests/data/*/*", 0, NULL, &found), 0);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		const char *name = strrchr(found.gl_pathv[i], '/') + 1;
		struct sample s;

		if (strncmp(name, "bad_", 4) == 0 || !codec_for_name(name))
			continue;
		s = open_in_form(name);
		buf_clear(&history);
		buf_format(&history, "%s, rotations %d: ", name, (int)form);
		check_own_texts(&s);
		sample_close(&s);
		count++;
	}
	globfree(&found);
	buf_release(&history);
	ck_assert_uint_gt(count, 4);
}
END_TEST

Suite *laws_suite(void);

Suite *laws_suite(void)
{
	Suite *s = suite_create("laws");
	TCase *t = tcase_create("laws");

	tcase_add_loop_test(t, laws_hold_along_chains_of_edits, 0, 4 * FORMS);
	tcase_add_loop_test(t, own_texts_change_nothing_in_any_form, 0, FORMS);
	suite_add_tcase(s, t);
	return s;
}
