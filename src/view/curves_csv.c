/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * curves_csv.c - curves.csv: a whole clip as one long table, a row for each key of each channel.
 *
 *	bone,channel,frame,time,x,y,z,w
 *
 * A rotation in degrees is the channel `rotation`, without a w; a quaternion is `quaternion`.
 *
 * A bone without keys has a row with its name and blank cells. In formats that store keyframes,
 * there are also `flags` and `occurrence` (its index among the keyframes of its frame), and a
 * keyframe has a row for each role that it has a value for, or one row of the channel "none".
 *
 * A save replaces the whole clip: every bone, and every channel that has keys, must have rows
 * (blank cells remove keys), and new names add bones. Rows may be in any order.
 */
#include "bone_edit.h"
#include "bone_plain.h"
#include "csv.h"
#include "curves.h"
#include "model/clip.h"
#include "model/label.h"
#include "util/composed.h"
#include "util/string_map.h"
#include "views.h"

#include <stdlib.h>

#define BONES_MAX 65535 /* no format can have more bones */

static bool curves_csv_read_bone(void *row, const struct cell *cell, unsigned what);
static bool curves_csv_read_channel(void *row, const struct cell *cell, unsigned what);
static bool curves_csv_read_frame(void *row, const struct cell *cell, unsigned what);
static bool curves_csv_read_time(void *row, const struct cell *cell, unsigned what);
static bool read_axis(void *row, const struct cell *cell, unsigned what);
static bool curves_csv_read_flags(void *row, const struct cell *cell, unsigned what);
static bool read_occurrence(void *row, const struct cell *cell, unsigned what);
static bool curves_csv_read_tangent(void *row, const struct cell *cell, unsigned what);

static const struct column columns[] = {
	{"bone", curves_csv_read_bone, NULL, 0},
	{"channel", curves_csv_read_channel, NULL, 0},
	{"frame", curves_csv_read_frame, NULL, 0},
	{"time", curves_csv_read_time, NULL, 0},
	{"x", read_axis, NULL, 0},
	{"y", read_axis, NULL, 1},
	{"z", read_axis, NULL, 2},
	{"w", read_axis, NULL, 3},
	{"flags", curves_csv_read_flags, NULL, 0},
	{"occurrence", read_occurrence, NULL, 0},
	{"ix", curves_csv_read_tangent, NULL, 0},
	{"iy", curves_csv_read_tangent, NULL, 1},
	{"iz", curves_csv_read_tangent, NULL, 2},
	{"iw", curves_csv_read_tangent, NULL, 3},
	{"ox", curves_csv_read_tangent, NULL, 4},
	{"oy", curves_csv_read_tangent, NULL, 5},
	{"oz", curves_csv_read_tangent, NULL, 6},
	{"ow", curves_csv_read_tangent, NULL, 7},
};
enum { COLUMN_BONE, COLUMN_X = 4, COLUMN_FLAGS = 8, COLUMN_IX = 10 };
#define TANGENT_COLUMNS 8

static struct table_form curves_csv_form_of(const struct shown *at)
{
	const struct format *format = at->anim->format;
	uint64_t there = TABLE_BIT(format->keyframes ? COLUMN_IX : COLUMN_FLAGS) - 1;
	uint64_t tangents = format->timed ? (TABLE_BIT(TANGENT_COLUMNS) - 1) << COLUMN_IX : 0;

	return (struct table_form){columns, ARRAY_SIZE(columns), there | tangents,
				   there | (at->style.tangents ? tangents : 0), 7};
}

/* ---- writing ---- */

/* What all rows of one bone's channel have in common. */
struct channel {
	const char *bone, *name;
	size_t bone_size, name_size;
};

static struct channel channel_of(const struct track *track, int role)
{
	const char *name = role == ROLE_COUNT ? "none"
			   : role == ROLE_ROTATION && track->curve[role] &&
					   track->curve[role]->kind == CURVE_QUATERNION
				   ? CHANNEL_QUATERNION
				   : role_names[role];

	return (struct channel){track->label, name, strlen(track->label), strlen(name)};
}

/*
 * Reserves room for a whole row, and writes its cells bone and channel. Returns the end of what was
 * written; NULL when out of memory.
 */
static char *begin_row(const struct channel *c, struct buf *out)
{
	char *row;

	if (!buf_reserve(out, c->bone_size + c->name_size + CSV_TIME_MAX + CSV_KEY_MAX +
				      CSV_TANGENTS_MAX + CSV_BLANKS_MAX + 2 * NUM_MAX + 5))
		return NULL;
	row = (char *)out->data + out->size;
	memcpy(row, c->bone, c->bone_size);
	row += c->bone_size;
	*row++ = ',';
	memcpy(row, c->name, c->name_size);
	row += c->name_size;
	*row++ = ',';
	return row;
}

static void end_row(char *row, struct buf *out)
{
	*row++ = '\n';
	out->size = (size_t)(row - (char *)out->data);
}

/* Writes the cells x, y, z and w. */
static char *curves_csv_put_values(char *row, const struct curve *c, uint32_t key)
{
	row += csv_put_key(row, c, key);
	return row + csv_put_blanks(row, 4 - curve_width(c));
}

/* Writes the cells of a key's tangents; the cells of w are blank if the values have none. */
static char *curves_csv_put_tangents(char *row, const struct curve *c, uint32_t key)
{
	for (enum tangent side = TANGENT_IN; side <= TANGENT_OUT; side++) {
		for (unsigned axis = 0; axis < 4; axis++) {
			*row++ = ',';
			if (axis < curve_width(c) && c->timing && c->timing->tangents)
				row += num_f32(row, curve_tangent(c, key, side, axis));
		}
	}
	return row;
}

static bool curves_csv_write_curve(const struct clip *clip, const struct track *track, int role,
				   double seconds_per_frame, bool tangents, struct buf *out)
{
	const struct curve *c = track->curve[role];
	const struct channel channel = channel_of(track, role);
	uint32_t shown = c ? curve_shown(c, clip->frames) : 0;

	for (uint32_t key = 0; key < shown; key++) {
		char *row = begin_row(&channel, out);

		if (!row)
			break;
		row += csv_put_moment(row, c, key, seconds_per_frame);
		row = curves_csv_put_values(row, c, key);
		end_row(tangents ? curves_csv_put_tangents(row, c, key) : row, out);
	}
	return shown > 0;
}

/*
 * Writes the rows that keyframes have for one role; with ROLE_COUNT, the rows of keyframes without
 * any role.
 */
static bool curves_csv_write_keyframes(const struct track *track, int role,
				       double seconds_per_frame, struct buf *out)
{
	const struct keyframes *k = track->keyframes;
	const struct channel channel = channel_of(track, role);
	uint32_t key = 0, occurrence = 0;

	for (uint32_t i = 0; i < k->count; i++) {
		bool says = role < ROLE_COUNT ? k->roles[i] & 1 << role : k->roles[i] == 0;
		char *row;

		occurrence = i > 0 && k->frames[i] == k->frames[i - 1] ? occurrence + 1 : 0;
		if (!says)
			continue;
		row = begin_row(&channel, out);
		if (!row)
			break;
		row += csv_put_time(row, k->frames[i], seconds_per_frame);
		if (role < ROLE_COUNT)
			row = curves_csv_put_values(row, track->curve[role], key++);
		else
			row += csv_put_blanks(row, 4);
		*row++ = ',';
		row += num_unsigned(row, k->flags[i]);
		*row++ = ',';
		row += num_unsigned(row, occurrence);
		end_row(row, out);
	}
	return k->count > 0;
}

static bool curves_csv_write_bone(const struct shown *at, const struct track *stored,
				  struct buf *out)
{
	const struct anim *a = at->anim;
	const struct clip *clip = clip_shown(at);
	bool tangents = at->style.tangents && a->format->timed;
	double seconds_per_frame = anim_seconds_per_frame(a, clip);
	struct arena arena = ARENA_INIT;
	struct track track = curve_edit_shown_as(stored, csv_rotation(at, stored), &arena);
	bool written = false;

	for (int r = 0; r < ROLE_COUNT && !track.keyframes; r++)
		written |=
			curves_csv_write_curve(clip, &track, r, seconds_per_frame, tangents, out);
	for (int r = 0; r <= ROLE_COUNT && track.keyframes; r++)
		written |= curves_csv_write_keyframes(&track, r, seconds_per_frame, out);
	out->failed |= arena.failed;
	arena_release(&arena);
	return written;
}

static void curves_render(const struct shown *at, struct buf *out)
{
	const struct clip *clip = clip_shown(at);
	bool keyframes = at->anim->format->keyframes;
	struct table_form form = curves_csv_form_of(at);

	table_write_names(&form, ",", out);
	buf_char(out, '\n');
	for (uint32_t t = 0; t < clip->track_count && !out->failed; t++) {
		if (curves_csv_write_bone(at, &clip->tracks[t], out))
			continue;
		buf_format(out, "%s,,,,,,,%s%s\n", clip->tracks[t].label, keyframes ? ",," : "",
			   form.shown >> COLUMN_IX ? ",,,,,,,," : "");
	}
}

/* ---- reading ---- */

/* A bone that the text names: a bone of the clip, or a new one. */
struct target {
	const char *label;
	size_t at, length; /* place where the text first names the bone */
	bool given, done;
};

struct curves_text {
	const struct shown *at;
	double seconds_per_frame;
	struct err *err;
	struct table table;
	struct curves_row row; /* the row that is being read */
	uint8_t axes;          /* a bit for each of the columns x y z w that are present */
	bool scattered;        /* a bone's rows need not be consecutive */
	bool changed;
	bool cut; /* the last row of the bone being read is incomplete */

	uint32_t last; /* the bone of the previous row */
	uint32_t target_count, added_count;
	size_t target_room, added_room;
	struct target *targets;    /* all bones; the clip's come first */
	struct string_map numbers; /* indices in `targets`, by label */
	/* the labels of the clip's bones by composed_apart(); made when first needed */
	struct string_map apart;
	bool has_apart;

	struct curves_row
		*entries; /* rows of the bone that is being read; if scattered, all rows */
	size_t count, room;

	struct anim *edited;
	struct track *added; /* tracks of the new bones */
	struct csv_retimed retimed;
};

/* ---- bones ---- */

static bool add_target(struct curves_text *p, const char *label)
{
	struct target *targets =
		array_room(p->targets, p->target_count, &p->target_room, sizeof(*targets));

	if (!targets || p->target_count == UINT32_MAX)
		return err_memory(p->err);
	p->targets = targets;
	targets[p->target_count] = (struct target){.label = label};
	return string_map_add(&p->numbers, label, p->target_count++) >= 0 || err_memory(p->err);
}

static bool begin_targets(struct curves_text *p)
{
	const struct clip *clip = clip_shown(p->at);

	for (uint32_t i = 0; i < clip->track_count; i++)
		if (!add_target(p, clip->tracks[i].label))
			return false;
	return true;
}

static bool index_apart(struct curves_text *p)
{
	const struct clip *clip = clip_shown(p->at);

	for (uint32_t i = 0; i < clip->track_count && !p->has_apart; i++) {
		const char *label = clip->tracks[i].label;
		const char *apart = composed_may_differ(label)
					    ? composed_copy(label, &p->edited->arena)
					    : label;

		if (!apart || string_map_add(&p->apart, apart, i) < 0)
			return err_memory(p->err);
	}
	p->has_apart = true;
	return true;
}

/*
 * Returns the clip's bone whose name differs only in the form of composed characters; -1 if there
 * is none.
 */
static bool find_alike(struct curves_text *p, const char *label, int64_t *number)
{
	const char *apart;

	if (*number >= 0 || !composed_may_differ(label))
		return true;
	if (!index_apart(p))
		return false;
	apart = composed_copy(label, &p->edited->arena);
	if (!apart)
		return err_memory(p->err);
	*number = string_map_find(&p->apart, apart);
	return true;
}

/* Finds the bone of a row, which is usually the bone of the previous row. */
static bool find_bone(struct curves_text *p, const struct cell *cell, uint32_t *bone)
{
	int64_t number;
	char *label;

	*bone = p->last;
	if (p->last < p->target_count && cell_is(cell, p->targets[p->last].label))
		return true;
	if (cell->size == 0) {
		err_at(p->err, ERR_TEXT, cell->at, cell->length, "this row does not name its bone");
		return err_accept(p->err, "the name of a bone, or an empty row");
	}
	label = arena_text(&p->edited->arena, cell->text, cell->size);
	if (!label)
		return err_memory(p->err);
	number = string_map_find(&p->numbers, label);
	if (!find_alike(p, label, &number))
		return false;
	*bone = number >= 0 ? (uint32_t)number : p->target_count;
	if (number < 0 && p->target_count >= BONES_MAX)
		return err_at(p->err, ERR_STORE, cell->at, cell->length,
			      "a clip has at most %d bones", BONES_MAX);
	return number >= 0 || add_target(p, label);
}

/* ---- one bone ---- */

static bool read_track(struct curves_text *p, const struct track *track, struct curves_rows rows,
		       struct track *now)
{
	const struct curves_bone bone = {.at = p->at,
					 .text = p->table.text,
					 .axes = p->axes,
					 .arena = &p->edited->arena,
					 .err = p->err};

	return curves_read_track(&bone, track, rows, now);
}

static bool old_bone(struct curves_text *p, uint32_t bone, struct curves_rows rows)
{
	const struct track *old = &clip_shown(p->at)->tracks[bone];
	struct track now = *old;

	if (!read_track(p, old, rows, &now))
		return false;
	if (track_same(&now, old))
		return true;
	/* Refuse a last row that is still incomplete: it must not remove keys. */
	p->changed = true;
	return !p->cut ? bone_edit_put(p->at, p->edited, bone, &now, &p->changed, p->err)
		       : table_refuse_cut(&p->table, p->err);
}

static bool new_bone(struct curves_text *p, uint32_t bone, struct curves_rows rows)
{
	const struct target *target = &p->targets[bone];
	struct track track = clip_new_track(p->at->anim, clip_shown(p->at)), now;

	struct track *added = array_room(p->added, p->added_count, &p->added_room, sizeof(*added));

	if (!added)
		return err_memory(p->err);
	p->added = added;
	track.label = target->label;
	track.name = label_bone(p->edited, target->label, target->at, target->length, p->err);
	if (!track.name)
		return false;
	now = track;
	if (!read_track(p, &track, rows, &now))
		return false;
	p->added[p->added_count++] = now;
	return true;
}

/* Appends the new bones, in the order of the text. */
static bool curves_csv_add_bones(struct curves_text *p)
{
	struct clip *clip;

	if (p->added_count == 0)
		return true;
	clip = anim_edit_clip(p->edited, p->at->clip);
	p->changed = true;
	return (clip && clip_add_tracks(p->edited, clip, p->added, p->added_count)) ||
	       err_memory(p->err);
}

/* ---- rows ---- */

static bool refuse_channel(const struct curves_text *p, const struct cell *cell)
{
	if (cell->size)
		err_at(p->err, ERR_TEXT, cell->at, cell->length, "\"%s\" is not a channel",
		       cell_excerpt(cell).text);
	else
		err_at(p->err, ERR_TEXT, cell->at, cell->length,
		       "this row does not name its channel");
	return err_accept(p->err, "translation, rotation (degrees), quaternion%s",
			  p->at->anim->format->keyframes ? ", scale or none" : " or scale");
}

/* Returns whether the row has only a bone's name, which means that the bone has no keys. */
static bool is_name_alone(const struct curves_text *p)
{
	for (size_t i = 0; i < p->table.count; i++)
		if (&p->table.cells[i] != table_of(&p->table, COLUMN_BONE) &&
		    !cell_is_blank(&p->table.cells[i]))
			return false;
	return true;
}

static bool curves_csv_read_bone(void *row, const struct cell *cell, unsigned what)
{
	struct curves_text *p = row;

	p->row = (struct curves_row){.channel = (uint8_t)what};
	return find_bone(p, cell, &p->row.bone);
}

static bool curves_csv_read_channel(void *row, const struct cell *cell, unsigned what)
{
	struct curves_text *p = row;
	uint8_t *channel = &p->row.channel;

	(void)what;
	if (cell_is_blank(cell)) {
		*channel = CHANNEL_BLANK;
		return is_name_alone(p) || refuse_channel(p, cell);
	}
	p->row.quaternion = cell_is(cell, CHANNEL_QUATERNION);
	*channel = ROLE_ROTATION;
	if (p->row.quaternion)
		return true;
	for (*channel = 0; *channel < ROLE_COUNT; ++*channel)
		if (cell_is(cell, role_names[*channel]))
			return true;
	return (p->at->anim->format->keyframes && cell_is(cell, "none")) || refuse_channel(p, cell);
}

static bool curves_csv_read_frame(void *row, const struct cell *cell, unsigned what)
{
	struct curves_text *p = row;

	(void)what;
	p->row.key.row_at = cell->at;
	p->row.key.row_length = cell_length(cell);
	return p->row.channel == CHANNEL_BLANK ||
	       csv_read_moment(&p->table, cell, p->at->anim->format, &p->row.key, p->err);
}

static bool curves_csv_read_time(void *row, const struct cell *cell, unsigned what)
{
	struct curves_text *p = row;

	(void)what;
	if (cell)
		csv_read_time(&p->table, cell,
			      curve_edit_moment(&p->row.key) * p->seconds_per_frame, &p->retimed);
	return true;
}

static bool read_axis(void *row, const struct cell *cell, unsigned what)
{
	struct curves_text *p = row;

	if (!cell)
		return true;
	if (!cell_is_blank(cell) && p->row.channel == CHANNEL_NONE) {
		err_at(p->err, ERR_TEXT, cell->at, cell->length,
		       "a keyframe of the channel none has no values");
		return err_accept(p->err, "a blank cell");
	}
	return csv_read_value(&p->table, cell,
			      p->row.quaternion                 ? CURVE_QUATERNION
			      : p->row.channel == ROLE_ROTATION ? CURVE_EULER
								: CURVE_VECTOR,
			      what, &p->row.key, p->err);
}

static bool curves_csv_read_flags(void *row, const struct cell *cell, unsigned what)
{
	struct curves_text *p = row;

	(void)what;
	return !cell ||
	       csv_read_flags(&p->table, cell, p->at->anim->format->flags, &p->row.flags, p->err);
}

static bool read_occurrence(void *row, const struct cell *cell, unsigned what)
{
	struct curves_text *p = row;

	(void)what;
	if (!cell || cell_is_blank(cell) || table_frame(&p->table, cell, &p->row.key.occurrence))
		return true;
	table_refuse_number(&p->table, cell, "number", p->err);
	return err_accept(p->err,
			  "0 for the first keyframe of the frame, 1 for the second, and so on");
}

static bool curves_csv_read_tangent(void *row, const struct cell *cell, unsigned what)
{
	struct curves_text *p = row;

	return !cell || csv_read_tangent(&p->table, cell, what < 4 ? TANGENT_IN : TANGENT_OUT,
					 what % 4, &p->row.key, &p->edited->arena, p->err);
}

static bool curves_csv_add_entry(struct curves_text *p, const struct curves_row *e)
{
	struct curves_row *entries = array_room(p->entries, p->count, &p->room, sizeof(*entries));

	if (!entries)
		return err_memory(p->err);
	p->entries = entries;
	entries[p->count++] = *e;
	return true;
}

/* Applies the rows of one bone. */
static bool end_bone(struct curves_text *p, struct curves_rows rows)
{
	uint32_t bone;

	if (rows.count == 0)
		return true;
	bone = rows.first->bone;
	p->targets[bone].done = true;
	return bone < clip_shown(p->at)->track_count ? old_bone(p, bone, rows)
						     : new_bone(p, bone, rows);
}

static bool curves_csv_read_row(struct curves_text *p)
{
	const struct cell *name = table_of(&p->table, COLUMN_BONE);
	const struct curves_row *e = &p->row;

	if (!table_read(&p->table, p))
		return false;
	if (!p->scattered && p->count && p->entries[0].bone != e->bone) {
		if (!end_bone(p, (struct curves_rows){p->entries, p->count}))
			return false;
		p->count = 0;
	}
	/* If the bone's rows are not consecutive, start again with `scattered`. */
	if (p->targets[e->bone].done)
		return false;
	if (!p->targets[e->bone].given) {
		p->targets[e->bone].given = true;
		p->targets[e->bone].at = name->at;
		p->targets[e->bone].length = name->length;
	}
	p->last = e->bone;
	p->cut = p->table.cut;
	return curves_csv_add_entry(p, e);
}

static int curves_csv_by_bone(const void *pa, const void *pb)
{
	const struct curves_row *a = pa, *b = pb;

	if (a->bone != b->bone)
		return a->bone < b->bone ? -1 : 1;
	return a->key.row_at < b->key.row_at ? -1 : a->key.row_at > b->key.row_at;
}

static bool end_bones(struct curves_text *p)
{
	struct curves_rows rows = {p->entries, 0};

	if (p->scattered)
		qsort(p->entries, p->count, sizeof(*p->entries), curves_csv_by_bone);
	for (size_t i = 0; i < p->count; i++, rows.count++) {
		if (p->entries[i].bone == rows.first->bone)
			continue;
		if (!end_bone(p, rows))
			return false;
		rows = (struct curves_rows){&p->entries[i], 0};
	}
	return end_bone(p, rows);
}

/*
 * Refuses a text that lacks a bone, since its rows may be missing by mistake. Bones are removed in
 * clip.json.
 */
static bool check_bones(const struct curves_text *p)
{
	for (uint32_t i = 0; i < clip_shown(p->at)->track_count; i++) {
		if (p->targets[i].given)
			continue;
		err_at(p->err, ERR_TEXT, p->table.text.size, 0, "the rows of %s are gone",
		       p->targets[i].label);
		return err_accept(p->err, "rows of every bone; clip.json removes bones");
	}
	return true;
}

static bool curves_csv_read_rows(struct curves_text *p)
{
	size_t rows = 0;

	for (; table_row(&p->table, p->err) && !p->table.done; rows++) {
		if (!curves_csv_read_row(p))
			return false;
	}
	if (!p->table.done)
		return false;
	if (rows == 0 && clip_shown(p->at)->track_count > 0) {
		err_set(p->err, ERR_EMPTY, "there is a header and no row");
		return err_accept(p->err, "rows of every bone; clip.json removes bones");
	}
	if (!end_bones(p) || !check_bones(p) || !curves_csv_add_bones(p))
		return false;
	return p->changed || csv_check_retimed(&p->retimed, p->at->anim->format, p->err);
}

static void close_text(struct curves_text *p)
{
	free(p->entries);
	free(p->targets);
	free(p->added);
	string_map_release(&p->numbers);
	string_map_release(&p->apart);
	table_close(&p->table);
}

/* Parses the text once. Unless `scattered`, a bone's rows must be consecutive. */
static struct anim *curves_csv_read_text(const struct shown *at, struct bytes text, bool scattered,
					 struct err *err)
{
	struct curves_text p = {.at = at,
				.seconds_per_frame =
					anim_seconds_per_frame(at->anim, clip_shown(at)),
				.scattered = scattered,
				.err = err};
	struct table_form form = curves_csv_form_of(at);
	bool fine = table_open(&p.table, text, err) && table_header(&p.table, &form, err);

	if (fine) {
		p.axes = (uint8_t)(p.table.columns >> COLUMN_X & 15);
		p.edited = anim_edit(at->anim);
		fine = p.edited ? begin_targets(&p) && curves_csv_read_rows(&p) : err_memory(err);
	}
	if (!fine) {
		table_finish_error(&p.table, err);
		anim_free(p.edited);
		p.edited = NULL;
	}
	close_text(&p);
	return p.edited;
}

/*
 * Applies the rows of a bone as soon as the next bone begins, which needs little memory. If that
 * fails, the cause may be further rows of the bone later in the text: then the text is parsed again
 * with all rows kept.
 */
static struct anim *parse_rows(const struct shown *at, struct bytes text, struct err *err)
{
	struct err first = {.code = ERR_NONE};
	struct anim *edited = curves_csv_read_text(at, text, false, &first);

	return edited ? edited : curves_csv_read_text(at, text, true, err);
}

static struct anim *curves_parse(const struct shown *at, struct bytes text, struct err *err)
{
	struct table_form form = curves_csv_form_of(at);
	struct bytes rows = text;
	/* Try the fast path of bone_plain.c first. */
	struct anim *edited = table_take_names(&form, &rows) ? curves_parse_plain(at, rows) : NULL;

	return edited ? edited : parse_rows(at, text, err);
}

const struct view view_curves_csv = {
	.name = "curves",
	.place = VIEW_OF_CLIP,
	.file = "curves.csv",
	.render = curves_render,
	.every_key = true,
	.parse = curves_parse,
};
