/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * curves_csv.c - curves.csv: a whole clip as one long table, a row for each key of each channel.
 *
 *	bone,channel,frame,time,x,y,z,w
 *
 * A bone without keys is its name with blank cells. Where keyframes are data, `flags` and
 * `occurrence` follow (which of the keyframes of one frame it is); a keyframe has a row for each
 * role that it says, and one of the channel "none" when it says none.
 *
 * A save is about the whole clip: rows of every bone, and of every channel that has keys, must be
 * there (blank cells remove keys), and new names are new bones. Rows may come in any order.
 */
#include "clip.h"
#include "csv.h"
#include "curves.h"
#include "label.h"
#include "views.h"

#include <jansson.h>
#include <stdlib.h>

#define BONES_MAX 65535 /* no format counts further */

/* ---- writing ---- */

/* What is the same in all rows of a channel: the names in front, and how long a frame takes. */
struct channel {
	const char *bone, *name;
	size_t bone_size, name_size;
	double seconds_per_frame;
};

static struct channel channel_of(const struct track *track, int role, double seconds_per_frame)
{
	const char *name = role < ROLE_COUNT ? role_names[role] : "none";

	return (struct channel){track->label, name, strlen(track->label), strlen(name),
				seconds_per_frame};
}

/* Begins a row: room for all of it, and the cells bone, channel, frame and time. NULL: no memory.
 */
static char *begin_row(const struct channel *c, uint32_t frame, struct buf *out)
{
	char *row;

	if (!buf_reserve(out, c->bone_size + c->name_size + CSV_TIME_MAX + CSV_KEY_MAX +
				      CSV_BLANKS_MAX + 2 * NUM_MAX + 5))
		return NULL;
	row = (char *)out->data + out->size;
	memcpy(row, c->bone, c->bone_size);
	row += c->bone_size;
	*row++ = ',';
	memcpy(row, c->name, c->name_size);
	row += c->name_size;
	*row++ = ',';
	return row + csv_put_time(row, frame, c->seconds_per_frame);
}

static void end_row(char *row, struct buf *out)
{
	*row++ = '\n';
	out->size = (size_t)(row - (char *)out->data);
}

/* x, y, z and w. */
static char *put_values(char *row, const struct curve *c, uint32_t key)
{
	row += csv_put_key(row, c, key);
	return row + csv_put_blanks(row, 4 - curve_width(c));
}

static bool write_curve(const struct clip *clip, const struct track *track, int role,
			double seconds_per_frame, struct buf *out)
{
	const struct curve *c = track->curve[role];
	const struct channel channel = channel_of(track, role, seconds_per_frame);
	uint32_t shown = c ? curve_shown(c, clip->frames) : 0;

	for (uint32_t key = 0; key < shown; key++) {
		char *row = begin_row(&channel, curve_frame(c, key), out);

		if (!row)
			break;
		end_row(put_values(row, c, key), out);
	}
	return shown > 0;
}

/* The rows of one role, or with ROLE_COUNT of the keyframes that say none. */
static bool write_keyframes(const struct track *track, int role, double seconds_per_frame,
			    struct buf *out)
{
	const struct keyframes *k = track->keyframes;
	const struct channel channel = channel_of(track, role, seconds_per_frame);
	uint32_t key = 0, occurrence = 0;

	for (uint32_t i = 0; i < k->count; i++) {
		bool says = role < ROLE_COUNT ? k->roles[i] & 1 << role : k->roles[i] == 0;
		char *row;

		occurrence = i > 0 && k->frames[i] == k->frames[i - 1] ? occurrence + 1 : 0;
		if (!says)
			continue;
		row = begin_row(&channel, k->frames[i], out);
		if (!row)
			break;
		if (role < ROLE_COUNT)
			row = put_values(row, track->curve[role], key++);
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

static bool write_bone(const struct anim *a, const struct clip *clip, const struct track *stored,
		       struct buf *out)
{
	double seconds_per_frame = anim_seconds_per_frame(a, clip);
	struct arena arena = ARENA_INIT;
	struct track track = lens_shown(a, stored, &arena);
	bool written = false;

	for (int r = 0; r < ROLE_COUNT && !track.keyframes; r++)
		written |= write_curve(clip, &track, r, seconds_per_frame, out);
	for (int r = 0; r <= ROLE_COUNT && track.keyframes; r++)
		written |= write_keyframes(&track, r, seconds_per_frame, out);
	out->failed |= arena.failed;
	arena_release(&arena);
	return written;
}

static void curves_render(const struct shown *at, struct buf *out)
{
	const struct clip *clip = clip_shown(at);
	bool keyframes = at->anim->format->keyframes;

	buf_format(out, "bone,channel,frame,time,x,y,z,w%s\n",
		   keyframes ? ",flags,occurrence" : "");
	for (uint32_t t = 0; t < clip->track_count && !out->failed; t++) {
		if (write_bone(at->anim, clip, &clip->tracks[t], out))
			continue;
		buf_format(out, "%s,,,,,,,%s\n", clip->tracks[t].label, keyframes ? ",," : "");
	}
}

/* ---- reading ---- */

enum meaning {
	MEANS_BONE,
	MEANS_CHANNEL,
	MEANS_FRAME,
	MEANS_TIME,
	MEANS_X,
	MEANS_W = MEANS_X + 3,
	MEANS_FLAGS,
	MEANS_OCCURRENCE,
	MEANING_COUNT
};

static const char *const columns[MEANING_COUNT] = {
	"bone", "channel", "frame", "time", "x", "y", "z", "w", "flags", "occurrence"};

/* A bone that the text can name: one of the clip, or a new one. */
struct target {
	const char *label;
	size_t at, length; /* where it is first named */
	bool given, done;
};

struct curves_text {
	const struct shown *at;
	double seconds_per_frame;
	struct err *err;
	struct table table;
	size_t place[MEANING_COUNT]; /* of each column, or TABLE_NOWHERE */
	size_t width;
	uint8_t axes;   /* bit per column x y z w that is there */
	bool scattered; /* the rows of a bone do not stand together */
	bool changed, cut;

	uint32_t last; /* the bone of the row before */
	uint32_t target_count, added_count;
	size_t target_room, added_room;
	struct target *targets; /* the clip's own come first */
	json_t *numbers;        /* of targets, by label */

	struct curves_row
		*entries; /* of the bone that is being read; of all of them when scattered */
	size_t count, room;

	struct anim *edited;
	struct track *added; /* new bones */
	struct csv_retimed retimed;
};

/* ---- the header ---- */

static bool read_header(struct curves_text *p)
{
	const unsigned required = 1u << MEANS_BONE | 1u << MEANS_CHANNEL | 1u << MEANS_FRAME;
	bool keyframes = p->at->anim->format->keyframes;

	for (size_t i = 0; i < MEANING_COUNT; i++)
		p->place[i] = TABLE_NOWHERE;
	if (!table_header(&p->table, columns, keyframes ? MEANING_COUNT : MEANS_FLAGS, required,
			  p->place, p->err))
		return false;
	p->width = p->table.count;
	for (unsigned axis = 0; axis < 4; axis++)
		if (p->place[MEANS_X + axis] != TABLE_NOWHERE)
			p->axes |= (uint8_t)(1u << axis);
	return true;
}

/* ---- bones ---- */

static bool add_target(struct curves_text *p, const char *label)
{
	struct target *targets =
		array_room(p->targets, p->target_count, &p->target_room, sizeof(*targets));

	if (!targets || p->target_count == UINT32_MAX)
		return err_memory(p->err);
	p->targets = targets;
	targets[p->target_count] = (struct target){.label = label};
	return json_object_set_new_nocheck(p->numbers, label, json_integer(p->target_count++)) ==
		       0 ||
	       err_memory(p->err);
}

static bool begin_targets(struct curves_text *p)
{
	const struct clip *clip = clip_shown(p->at);

	p->numbers = json_object();
	for (uint32_t i = 0; p->numbers && i < clip->track_count; i++)
		if (!add_target(p, clip->tracks[i].label))
			return false;
	return p->numbers || err_memory(p->err);
}

/* The rows of one bone mostly follow each other. */
static bool find_bone(struct curves_text *p, const struct cell *cell, uint32_t *bone)
{
	const json_t *number;
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
	number = json_object_get(p->numbers, label);
	*bone = number ? (uint32_t)json_integer_value(number) : p->target_count;
	if (!number && p->target_count >= BONES_MAX)
		return err_at(p->err, ERR_STORE, cell->at, cell->length,
			      "a clip has at most %d bones", BONES_MAX);
	return number || add_target(p, label);
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
	struct track now = *old, *track;

	if (!read_track(p, old, rows, &now))
		return false;
	if (track_same(&now, old))
		return true;
	/* The cells that a half-written row has not got yet remove nothing. */
	if (p->cut)
		return err_at(p->err, ERR_EARLY, p->table.text.size, 0,
			      "the last row ends before its columns do");
	track = anim_edit_track(p->edited, p->at->clip, bone);
	if (!track)
		return err_memory(p->err);
	*track = now;
	p->changed = true;
	return true;
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

/* The new bones follow the old ones, in the order of the text. */
static bool add_bones(struct curves_text *p)
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

static const struct cell *cell_of(const struct curves_text *p, enum meaning column)
{
	return table_cell(&p->table, p->place[column]);
}

static bool refuse_channel(const struct curves_text *p, const struct cell *cell)
{
	if (cell->size)
		err_at(p->err, ERR_TEXT, cell->at, cell->length, "\"%s\" is not a channel",
		       cell_excerpt(cell).text);
	else
		err_at(p->err, ERR_TEXT, cell->at, cell->length,
		       "this row does not name its channel");
	return err_accept(p->err, "translation, rotation%s",
			  p->at->anim->format->keyframes ? ", scale or none" : " or scale");
}

/* A row of a bone's name alone: it has no keys. */
static bool is_name_alone(const struct curves_text *p)
{
	for (size_t i = 0; i < p->table.count; i++)
		if (i != p->place[MEANS_BONE] && p->table.cells[i].size)
			return false;
	return true;
}

static bool read_channel(const struct curves_text *p, uint8_t *channel)
{
	const struct cell *cell = cell_of(p, MEANS_CHANNEL);

	if (cell->size == 0) {
		*channel = CHANNEL_BLANK;
		return is_name_alone(p) || refuse_channel(p, cell);
	}
	for (*channel = 0; *channel < ROLE_COUNT; ++*channel)
		if (cell_is(cell, role_names[*channel]))
			return true;
	return (p->at->anim->format->keyframes && cell_is(cell, "none")) || refuse_channel(p, cell);
}

static bool read_values(struct curves_text *p, struct curves_row *e)
{
	for (unsigned axis = 0; axis < 4; axis++) {
		const struct cell *cell = cell_of(p, MEANS_X + axis);

		if (!(p->axes & 1u << axis))
			continue;
		if (cell->size && e->channel == CHANNEL_NONE) {
			err_at(p->err, ERR_TEXT, cell->at, cell->length,
			       "a keyframe of the channel none has no values");
			return err_accept(p->err, "a blank cell");
		}
		if (!csv_read_value(&p->table, cell,
				    e->channel == ROLE_ROTATION ? CURVE_EULER : CURVE_VECTOR, axis,
				    &e->key, p->err))
			return false;
	}
	return true;
}

static bool read_occurrence(struct curves_text *p, struct lens_key *key)
{
	const struct cell *cell = cell_of(p, MEANS_OCCURRENCE);

	if (cell->size == 0 || table_frame(&p->table, cell, &key->occurrence))
		return true;
	table_refuse_number(cell, "number", p->err);
	return err_accept(p->err,
			  "0 for the first keyframe of the frame, 1 for the second, and so on");
}

static bool check_surplus(const struct curves_text *p)
{
	for (size_t i = p->width; i < p->table.count; i++)
		if (p->table.cells[i].size)
			return csv_refuse_surplus(&p->table.cells[i], p->err);
	return true;
}

static bool read_entry(struct curves_text *p, struct curves_row *e)
{
	const struct cell *frame = cell_of(p, MEANS_FRAME);

	e->key.row_at = frame->at;
	e->key.row_length = cell_length(frame);
	if (!check_surplus(p) || !read_channel(p, &e->channel))
		return false;
	if (e->channel == CHANNEL_BLANK)
		return true;
	if (!csv_read_frame(&p->table, frame, &e->key.frame, p->err))
		return false;
	csv_read_time(&p->table, cell_of(p, MEANS_TIME), e->key.frame * p->seconds_per_frame,
		      &p->retimed);
	return read_values(p, e) &&
	       csv_read_flags(&p->table, cell_of(p, MEANS_FLAGS), p->at->anim->format->flags,
			      &e->flags, p->err) &&
	       read_occurrence(p, &e->key);
}

static bool add_entry(struct curves_text *p, const struct curves_row *e)
{
	struct curves_row *entries = array_room(p->entries, p->count, &p->room, sizeof(*entries));

	if (!entries)
		return err_memory(p->err);
	p->entries = entries;
	entries[p->count++] = *e;
	return true;
}

/* The rows of one bone are over. */
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

static bool read_row(struct curves_text *p)
{
	const struct cell *name = cell_of(p, MEANS_BONE);
	struct curves_row e = {.key = {.frame = 0}};

	if (!find_bone(p, name, &e.bone) || !read_entry(p, &e))
		return false;
	if (!p->scattered && p->count && p->entries[0].bone != e.bone) {
		if (!end_bone(p, (struct curves_rows){p->entries, p->count}))
			return false;
		p->count = 0;
	}
	/* Rows that come too late: everything is read again, and held until the end. */
	if (p->targets[e.bone].done)
		return false;
	if (!p->targets[e.bone].given) {
		p->targets[e.bone].given = true;
		p->targets[e.bone].at = name->at;
		p->targets[e.bone].length = name->length;
	}
	p->last = e.bone;
	p->cut = p->table.row_end == p->table.text.size && p->table.count < p->width;
	return add_entry(p, &e);
}

static int by_bone(const void *pa, const void *pb)
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
		qsort(p->entries, p->count, sizeof(*p->entries), by_bone);
	for (size_t i = 0; i < p->count; i++, rows.count++) {
		if (p->entries[i].bone == rows.first->bone)
			continue;
		if (!end_bone(p, rows))
			return false;
		rows = (struct curves_rows){&p->entries[i], 0};
	}
	return end_bone(p, rows);
}

/* A bone is removed in clip.json: here its rows may only have been forgotten, or cut off. */
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

static bool read_rows(struct curves_text *p)
{
	size_t rows = 0;

	for (;; rows++) {
		if (!table_row(&p->table, p->err))
			return false;
		if (p->table.done)
			break;
		if (!read_row(p))
			return false;
	}
	if (rows == 0 && clip_shown(p->at)->track_count > 0) {
		err_set(p->err, ERR_EMPTY, "there is a header and no row");
		return err_accept(p->err, "rows of every bone; clip.json removes bones");
	}
	if (!end_bones(p) || !check_bones(p) || !add_bones(p))
		return false;
	return p->changed || csv_check_retimed(&p->retimed, p->err);
}

static void close_text(struct curves_text *p)
{
	free(p->entries);
	free(p->targets);
	free(p->added);
	json_decref(p->numbers);
	table_close(&p->table);
}

/* One reading of the text. */
static struct anim *read_text(const struct shown *at, struct bytes text, bool scattered,
			      struct err *err)
{
	struct curves_text p = {.at = at,
				.seconds_per_frame =
					anim_seconds_per_frame(at->anim, clip_shown(at)),
				.scattered = scattered,
				.err = err};
	bool fine = table_open(&p.table, text, err) && read_header(&p);

	if (fine) {
		p.edited = anim_edit(at->anim);
		fine = p.edited ? begin_targets(&p) && read_rows(&p) : err_memory(err);
	}
	if (!fine) {
		table_tell_place(&p.table, err);
		anim_free(p.edited);
		p.edited = NULL;
	}
	close_text(&p);
	return p.edited;
}

/*
 * Rows of a bone that stand together, as they are served, are done with at once. Whatever is wrong
 * with them may only come of more rows further down, so then all are held.
 */
static struct anim *curves_parse(const struct shown *at, struct bytes text, struct err *err)
{
	struct err first = {.code = ERR_NONE};
	struct anim *edited = read_text(at, text, false, &first);

	return edited ? edited : read_text(at, text, true, err);
}

const struct view view_curves_csv = {
	.name = "curves",
	.place = VIEW_OF_CLIP,
	.file = "curves.csv",
	.render = curves_render,
	.every_key = true,
	.parse = curves_parse,
};
