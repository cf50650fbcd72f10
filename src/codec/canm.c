/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * CANM: the animations of Earth Defense Force 4.1 and 5 (version 0x200) and 6 (version 0x300).
 *
 * A file is a list of animations. Each has rows, one for each bone; a row names the bone and up to
 * three channels: position, rotation, scale. Names and channels are in tables of their own and are
 * shared freely: between bones, between animations, and a channel of zeros may be the position of
 * one bone and the rotation of another.
 *
 * All numbers are little-endian. Offsets are signed and count from the start of the table entry
 * that holds them.
 *
 *   header      0x00  "CANM"
 *               0x04  u32 version
 *               0x08  u32 count, i32 offset: animations
 *               0x10  u32 count, i32 offset: channels
 *               0x18  u32 count, i32 offset: bone names
 *
 *   animation   0x00  i32 loop (1: it loops; others occur and do not)
 *               0x04  i32 name
 *               0x08  f32 duration, in game frames of 1/60 s
 *               0x0C  f32 game frames from one key to the next
 *               0x10  i32 number of frames
 *               0x14  u32 count, i32 offset: rows
 *
 *   row         0x00  u16 bone name, u16 position, u16 rotation, u16 scale; 0xFFFF: none
 *
 *   channel     0x00  u16 kind, u16 count, f32 base[3], f32 step[3], i32 keys     (version 0x200)
 *               0x00  f32 base[4], f32 step[4], i32 keys, u32 kind, u32 count, 0  (version 0x300)
 *               kind 0: one vector, in base
 *                    1: vectors u16[3], value = base + key * step
 *                    2: one quaternion x y z w, in base (version 0x300)
 *                    3: quaternions f32[4] (version 0x300)
 *               A vector that is a rotation holds Euler angles in radians, R = Rz * Ry * Rx.
 *
 *   name        0x00  i32 offset of UTF-16LE text, 2-aligned, up to a zero
 *
 * The count of a channel is its own and may differ from its animation's: the last key holds, and
 * keys past the end are not shown.
 *
 * The game's own files have this order: header, channels, u16 keys without padding, quaternions
 * (16-aligned), animations (4-aligned), rows in the order of the animations, names, strings in the
 * order of their code units but "Scene_Root" first. The order of the keys is not always that of the
 * channels. A channel table or quaternions that are not 16-aligned crash the game.
 *
 * Writing. Every part of the old file keeps its bytes and its place (layout.h) unless the model
 * differs there. An edited curve changes its channel in place if no other curve uses it; otherwise
 * it gets an existing equal channel, or a new one at the end of the table. A channel or a string
 * that loses its last user is removed; one that was never used stays. A bone name stays, or becomes
 * the new name when its last bone is renamed. canm_plan.c decides that, canm_write.c puts the parts
 * in their places.
 */
#include "canm.h"
#include "text/utf.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * Rows and strings may overlap, so a small file can decode to a large model. Limit on rows and code
 * units together: this number, or the size of the file if that is larger.
 */
#define EXPANSION_MIN 0x10000u
/* The names of all bones may take at most REPEATS times the limit on rows and code units. */
#define REPEATS 64

#define DEGREES (180 / M_PI)

static const char *const role_words[ROLE_COUNT] = {"position", "rotation", "scale"};

const struct format canm_format = {
	.name = "canm",
	.suffix = "canm",
	CANM_FORMAT,
};

/* ---- the entries of the tables ---- */

bool canm_follow(struct bytes src, size_t entry, int32_t offset, size_t *at)
{
	int64_t to = (int64_t)entry + offset;

	*at = src.size;
	if (to < 0 || to > (int64_t)src.size)
		return false;
	*at = (size_t)to;
	return true;
}

static size_t channel_place(const struct canm *f, uint32_t i)
{
	return f->channels.at + i * canm_channel_size(f->version);
}

void canm_get_words(const uint8_t *p, unsigned count, uint32_t *out)
{
	unsigned i;

	for (i = 0; i < count; i++)
		out[i] = get_u32(p + 4 * i);
}

static uint32_t channel_kind(const struct canm *f, uint32_t i)
{
	const uint8_t *p = canm_bytes(f, channel_place(f, i));

	return f->version == VERSION_EDF5 ? get_u16(p) : get_u32(p + 0x24);
}

struct channel canm_channel(const struct canm *f, uint32_t i)
{
	size_t at = channel_place(f, i), keys;
	const uint8_t *p = canm_bytes(f, at);
	struct channel c = {.kind = 0};

	if (f->version == VERSION_EDF5) {
		c.kind = get_u16(p);
		c.count = get_u16(p + 2);
		canm_get_words(p + 4, 3, c.base);
		canm_get_words(p + 0x10, 3, c.step);
		c.offset = (int32_t)get_u32(p + 0x1C);
	} else {
		canm_get_words(p, 4, c.base);
		canm_get_words(p + 0x10, 4, c.step);
		c.offset = (int32_t)get_u32(p + 0x20);
		c.kind = get_u32(p + 0x24);
		c.count = get_u32(p + 0x28);
		c.spare = get_u32(p + 0x2C);
	}
	if (kind_is_keyed(c.kind) && canm_follow(f->src, at, c.offset, &keys))
		c.keys = canm_bytes(f, keys);
	return c;
}

static void put_words(uint8_t *p, const uint32_t *words, unsigned count)
{
	unsigned i;

	for (i = 0; i < count; i++)
		put_u32(p + 4 * i, words[i]);
}

void canm_put_channel(uint32_t version, const struct channel *c, uint8_t *p)
{
	if (version == VERSION_EDF5) {
		put_u16(p, (uint16_t)c->kind);
		put_u16(p + 2, (uint16_t)c->count);
		put_words(p + 4, c->base, 3);
		put_words(p + 0x10, c->step, 3);
		put_u32(p + 0x1C, (uint32_t)c->offset);
	} else {
		put_words(p, c->base, 4);
		put_words(p + 0x10, c->step, 4);
		put_u32(p + 0x20, (uint32_t)c->offset);
		put_u32(p + 0x24, c->kind);
		put_u32(p + 0x28, c->count);
		put_u32(p + 0x2C, c->spare);
	}
}

struct entry canm_entry(const struct canm *f, uint32_t i)
{
	size_t at = canm_clip_place(f, i);
	const uint8_t *p = canm_bytes(f, at);
	struct entry e = {
		.loop = (int32_t)get_u32(p),
		.duration = get_f32(p + 8),
		.frame_time = get_f32(p + 0xC),
		.frames = (int32_t)get_u32(p + 0x10),
		.row_count = get_u32(p + 0x14),
		.row_offset = (int32_t)get_u32(p + 0x18),
	};

	canm_follow(f->src, at, (int32_t)get_u32(p + 4), &e.name_at);
	canm_follow(f->src, at, e.row_offset, &e.rows_at);
	return e;
}

void canm_put_entry(const struct entry *e, uint8_t *p)
{
	put_u32(p, (uint32_t)e->loop);
	put_f32(p + 8, e->duration);
	put_f32(p + 0xC, e->frame_time);
	put_u32(p + 0x10, (uint32_t)e->frames);
	put_u32(p + 0x14, e->row_count);
	put_u32(p + 0x18, (uint32_t)e->row_offset);
}

struct row canm_row(const struct canm *f, const struct entry *e, uint32_t i)
{
	const uint8_t *p = canm_bytes(f, e->rows_at + (size_t)i * ROW_SIZE);

	return (struct row){get_u16(p), {get_u16(p + 2), get_u16(p + 4), get_u16(p + 6)}};
}

size_t canm_name_place(const struct canm *f, uint32_t i)
{
	size_t at = f->names.at + (size_t)i * NAME_SIZE, text;

	canm_follow(f->src, at, (int32_t)get_u32(canm_bytes(f, at)), &text);
	return text;
}

/* ---- checks ---- */

static bool canm_read_table(const struct canm *f, size_t field, size_t entry_size, const char *what,
			    struct table *t, struct err *err)
{
	t->count = get_u32(canm_bytes(f, field));
	t->offset = (int32_t)get_u32(canm_bytes(f, field + 4));
	if (!canm_follow(f->src, 0, t->offset, &t->at) ||
	    !bytes_hold(f->src, t->at, t->count, entry_size)) {
		if (t->count)
			return err_at(err, ERR_FORMAT, field, 8,
				      "the table of %u %s at %d does not fit into the file",
				      t->count, what, t->offset);
		t->at = f->src.size;
	}
	return true;
}

static bool canm_read_header(struct canm *f, struct err *err)
{
	if (f->src.size < HEADER_SIZE)
		return err_at(err, ERR_FORMAT, f->src.size, 0, "the file ends inside its header");
	if (memcmp(f->src.data, "CANM", 4) != 0)
		return err_at(err, ERR_FORMAT, 0, 4, "the file does not begin with CANM");
	f->version = get_u32(canm_bytes(f, 4));
	if (f->version != VERSION_EDF5 && f->version != VERSION_EDF6)
		return err_at(err, ERR_FORMAT, 4, 4,
			      "version 0x%X is unknown; 0x200 and 0x300 can be read", f->version);
	return canm_read_table(f, 0x08, CLIP_SIZE, "animations", &f->clips, err) &&
	       canm_read_table(f, 0x10, canm_channel_size(f->version), "channels", &f->channels,
			       err) &&
	       canm_read_table(f, 0x18, NAME_SIZE, "bone names", &f->names, err);
}

static bool check_channel(const struct canm *f, uint32_t i, struct err *err)
{
	struct channel c = canm_channel(f, i);
	size_t at = channel_place(f, i), keys;
	uint32_t last = f->version == VERSION_EDF5 ? KIND_VECTORS : KIND_QUATERNIONS;

	if (c.kind > last)
		return err_at(err, ERR_FORMAT, at, 0, "channel %u is of the unknown kind %u", i,
			      c.kind);
	if (!kind_is_keyed(c.kind))
		return true;
	if (c.count < 1 || c.count > INT32_MAX)
		return err_at(err, ERR_FORMAT, at, 0, "channel %u has %d keys", i,
			      (int32_t)c.count);
	if (!canm_follow(f->src, at, c.offset, &keys))
		return err_at(err, ERR_FORMAT, at, 0, "the keys of channel %u lie outside the file",
			      i);
	if (keys % 2)
		return err_at(err, ERR_FORMAT, at, 0,
			      "the keys of channel %u stand at the odd offset %zu", i, keys);
	if (!bytes_hold(f->src, keys, c.count, key_size(c.kind)))
		return err_at(err, ERR_FORMAT, at, 0,
			      "the %u keys of channel %u do not fit into the file", c.count, i);
	return true;
}

/* Notes the string at the offset in `field` of the entry at `entry`. */
static bool canm_note_text(struct canm *f, size_t entry, size_t field, const char *whose,
			   uint32_t i, struct err *err)
{
	size_t at;

	if (!canm_follow(f->src, entry, (int32_t)get_u32(canm_bytes(f, field)), &at))
		return err_at(err, ERR_FORMAT, field, 4, "the name of %s %u lies outside the file",
			      whose, i);
	if (at % 2)
		return err_at(err, ERR_FORMAT, field, 4,
			      "the name of %s %u stands at the odd offset %zu", whose, i, at);
	if (at >= f->closed)
		return err_at(err, ERR_FORMAT, at, 0, "the name of %s %u has no end", whose, i);
	f->texts[f->text_count++].at = at;
	return true;
}

static bool check_row(const struct canm *f, uint32_t clip, const struct entry *e, uint32_t i,
		      struct err *err)
{
	struct row row = canm_row(f, e, i);
	size_t at = e->rows_at + (size_t)i * ROW_SIZE;
	unsigned role;

	if (row.name >= f->names.count)
		return err_at(err, ERR_FORMAT, at, 2,
			      "animation %u, row %u: there is no bone name %u", clip, i, row.name);
	for (role = 0; role < ROLE_COUNT; role++) {
		uint16_t channel = row.channel[role];
		uint32_t kind;

		at += 2;
		if (channel == NONE)
			continue;
		if (channel >= f->channels.count)
			return err_at(err, ERR_FORMAT, at, 2,
				      "animation %u, row %u: there is no channel %u", clip, i,
				      channel);
		kind = channel_kind(f, channel);
		if (kind_is_quaternion(kind) && role != ROLE_ROTATION)
			return err_at(err, ERR_FORMAT, at, 2,
				      "animation %u, row %u: channel %u holds quaternions and "
				      "cannot be a %s",
				      clip, i, channel, role_words[role]);
		if (kind_is_keyed(kind) && e->frames > (int32_t)COUNT_MAX)
			return err_at(err, ERR_FORMAT, canm_clip_place(f, clip) + 0x10, 4,
				      "animation %u has keys over %d frames; %u is the most", clip,
				      e->frames, COUNT_MAX);
	}
	return true;
}

static bool canm_check_clip(const struct canm *f, uint32_t i, size_t *room, struct err *err)
{
	struct entry e = canm_entry(f, i);
	size_t at = canm_clip_place(f, i), rows;
	uint32_t row;

	if (e.frames < 1)
		return err_at(err, ERR_FORMAT, at + 0x10, 4, "animation %u has %d frames", i,
			      e.frames);
	if (e.row_count == 0)
		return true;
	if (!canm_follow(f->src, at, e.row_offset, &rows) ||
	    !bytes_hold(f->src, rows, e.row_count, ROW_SIZE))
		return err_at(err, ERR_FORMAT, at + 0x14, 8,
			      "the %u rows of animation %u do not fit into the file", e.row_count,
			      i);
	if (e.row_count > *room)
		return err_at(err, ERR_FORMAT, at + 0x14, 8,
			      "the rows of the animations overlap too often");
	*room -= e.row_count;
	for (row = 0; row < e.row_count; row++)
		if (!check_row(f, i, &e, row, err))
			return false;
	return true;
}

static size_t expansion_limit(const struct canm *f)
{
	return f->src.size > EXPANSION_MIN ? f->src.size : EXPANSION_MIN;
}

/* Returns the end of the last NUL that can terminate a string. */
static size_t find_closed(struct bytes src)
{
	size_t end = src.size & ~(size_t)1;

	while (end >= 2 && get_u16(src.data + end - 2) != 0)
		end -= 2;
	return end;
}

static int canm_by_place(const void *a, const void *b)
{
	const struct text *p = a, *q = b;

	return p->at < q->at ? -1 : p->at > q->at;
}

/* Finds the length of each string once. */
static bool measure_texts(struct canm *f, struct err *err)
{
	size_t room = expansion_limit(f), count = 0, i;

	qsort(f->texts, f->text_count, sizeof(*f->texts), canm_by_place);
	for (i = 0; i < f->text_count; i++) {
		struct text t = {f->texts[i].at, 0};

		if (count && f->texts[count - 1].at == t.at)
			continue;
		while (get_u16(canm_bytes(f, t.at + 2 * t.units)) != 0) {
			if (t.units == room)
				return err_at(err, ERR_FORMAT, t.at, 0,
					      "the names overlap too often");
			t.units++;
		}
		room -= t.units;
		f->texts[count++] = t;
	}
	f->text_count = count;
	return true;
}

size_t canm_find_text(const struct canm *f, size_t at)
{
	struct text key = {at, 0};
	const struct text *t = bsearch(&key, f->texts, f->text_count, sizeof(key), canm_by_place);

	return (size_t)(t - f->texts);
}

static bool spend_room(size_t *room, size_t units, struct err *err)
{
	if (units > *room)
		return err_set(err, ERR_FORMAT, "names as long as these are used too often");
	*room -= units;
	return true;
}

/*
 * Limits the total length of bone names: a small file can give one long name to thousands of bones,
 * and every text would repeat it.
 */
static bool canm_check_repeats(struct canm *f, struct err *err)
{
	size_t room = REPEATS * expansion_limit(f);
	size_t *units = arena_alloc(&f->arena, f->names.count, sizeof(*units));
	uint32_t i, row;

	if (!units)
		return err_memory(err);
	for (i = 0; i < f->names.count; i++) {
		units[i] = f->texts[canm_find_text(f, canm_name_place(f, i))].units;
		if (!spend_room(&room, units[i], err))
			return false;
	}
	for (i = 0; i < f->clips.count; i++) {
		struct entry e = canm_entry(f, i);

		if (!spend_room(&room, f->texts[canm_find_text(f, e.name_at)].units, err))
			return false;
		for (row = 0; row < e.row_count; row++)
			if (!spend_room(&room, units[canm_row(f, &e, row).name], err))
				return false;
	}
	return true;
}

bool canm_read(struct canm *f, struct bytes src, struct err *err)
{
	size_t rows;
	uint32_t i;

	*f = (struct canm){.arena = ARENA_INIT, .src = src};
	if (!canm_read_header(f, err))
		return false;
	f->closed = find_closed(src);
	f->texts = arena_alloc(&f->arena, (size_t)f->names.count + f->clips.count + 1,
			       sizeof(*f->texts));
	if (!f->texts)
		return err_memory(err);
	for (i = 0; i < f->channels.count; i++)
		if (!check_channel(f, i, err))
			return false;
	for (i = 0; i < f->names.count; i++) {
		size_t at = f->names.at + (size_t)i * NAME_SIZE;

		if (!canm_note_text(f, at, at, "bone", i, err))
			return false;
	}
	rows = expansion_limit(f);
	for (i = 0; i < f->clips.count; i++) {
		size_t at = canm_clip_place(f, i);

		if (!canm_note_text(f, at, at + 4, "animation", i, err) ||
		    !canm_check_clip(f, i, &rows, err))
			return false;
	}
	return measure_texts(f, err) && canm_check_repeats(f, err);
}

static void canm_extend_to(size_t *extent, size_t at, size_t count, size_t size)
{
	if (count && at + count * size > *extent)
		*extent = at + count * size;
}

static size_t data_extent(const struct canm *f)
{
	size_t extent = HEADER_SIZE, i;

	canm_extend_to(&extent, f->clips.at, f->clips.count, CLIP_SIZE);
	canm_extend_to(&extent, f->channels.at, f->channels.count, canm_channel_size(f->version));
	canm_extend_to(&extent, f->names.at, f->names.count, NAME_SIZE);
	for (i = 0; i < f->channels.count; i++) {
		struct channel c = canm_channel(f, (uint32_t)i);

		if (c.keys)
			canm_extend_to(&extent, (size_t)(c.keys - f->src.data), 1, keys_size(&c));
	}
	for (i = 0; i < f->clips.count; i++) {
		struct entry e = canm_entry(f, (uint32_t)i);

		canm_extend_to(&extent, e.rows_at, e.row_count, ROW_SIZE);
	}
	for (i = 0; i < f->text_count; i++)
		canm_extend_to(&extent, f->texts[i].at, f->texts[i].units + 1, 2);
	return extent;
}

bool canm_extent(struct bytes src, size_t *extent, struct err *err)
{
	struct canm f;
	bool ok = canm_read(&f, src, err);

	if (ok)
		*extent = data_extent(&f);
	arena_release(&f.arena);
	return ok;
}

bool canm_probe(struct bytes src)
{
	struct canm f = {.src = src};

	return canm_read_header(&f, NULL);
}

/* ---- decode ---- */

double canm_unit(enum curve_kind kind)
{
	return kind == CURVE_EULER ? DEGREES : 1;
}

/* Returns the curve of a channel in a role. `base` is where the channel's base is in the file. */
static struct curve canm_curve_of(const struct channel *c, const uint8_t *base, enum role role)
{
	bool keyed = kind_is_keyed(c->kind);
	struct curve curve = {
		.kind = kind_is_quaternion(c->kind) ? CURVE_QUATERNION
			: role == ROLE_ROTATION     ? CURVE_EULER
						    : CURVE_VECTOR,
		.interpolation = INTERPOLATION_LINEAR,
		.keyed = keyed,
		.count = keyed ? c->count : 1,
		.stored = keyed ? c->keys : base,
	};
	unsigned axis;

	for (axis = 0; axis < curve_width(&curve); axis++) {
		struct lane *lane = &curve.lane[axis];

		lane->unit = canm_unit(curve.kind);
		lane->form = LANE_FLOAT;
		if (c->kind == KIND_VECTORS) {
			lane->form = LANE_GRID;
			lane->base = f32_from_bits(c->base[axis]);
			lane->step = f32_from_bits(c->step[axis]);
		}
	}
	return curve;
}

struct curve canm_curve(const struct canm *f, uint32_t channel, enum role role)
{
	struct channel c = canm_channel(f, channel);
	size_t base = f->version == VERSION_EDF5 ? 4 : 0;

	return canm_curve_of(&c, canm_bytes(f, channel_place(f, channel) + base), role);
}

const char **canm_texts(const struct canm *f, struct arena *arena)
{
	const char **names = arena_alloc(arena, f->text_count + 1, sizeof(char *));
	size_t i;

	for (i = 0; names && i < f->text_count; i++) {
		names[i] = utf8_from_utf16(arena, canm_bytes(f, f->texts[i].at), f->texts[i].units);
		if (!names[i])
			return NULL;
	}
	return names;
}

struct decoder {
	struct canm f;
	struct anim *a;
	const char **texts;
	const struct curve *
		*curves[2]; /* for each channel: its curve as a vector, and as a rotation */
};

static const struct curve *shared_curve(struct decoder *d, uint32_t channel, enum role role)
{
	const struct curve **place = &d->curves[role == ROLE_ROTATION][channel];
	struct curve *c;

	if (!*place) {
		c = arena_alloc(&d->a->arena, 1, sizeof(*c));
		if (c)
			*c = canm_curve(&d->f, channel, role);
		*place = c;
	}
	return *place;
}

static const char *canm_name_of(const struct decoder *d, size_t at)
{
	return d->texts[canm_find_text(&d->f, at)];
}

static bool canm_decode_track(struct decoder *d, const struct entry *e, uint32_t i, struct track *t)
{
	struct row row = canm_row(&d->f, e, i);
	unsigned role;

	t->name = d->a->bones[row.name];
	t->origin = i;
	t->roles = (1 << ROLE_COUNT) - 1;
	t->rotation = d->f.version == VERSION_EDF5 ? CURVE_EULER : CURVE_QUATERNION;
	for (role = 0; role < ROLE_COUNT; role++) {
		if (row.channel[role] == NONE)
			continue;
		t->curve[role] = shared_curve(d, row.channel[role], role);
		if (!t->curve[role])
			return false;
	}
	return true;
}

static bool canm_decode_clip(struct decoder *d, uint32_t i, struct clip *clip)
{
	struct entry e = canm_entry(&d->f, i);
	struct track *tracks = arena_alloc(&d->a->arena, e.row_count, sizeof(*tracks));
	struct field *loop = arena_alloc(&d->a->arena, 1, sizeof(*loop));
	uint32_t row;

	if (!loop || d->a->arena.failed)
		return false;
	*loop = (struct field){
		.name = "loop", .type = FIELD_INT, .integer = e.loop, .editable = true};
	*clip = (struct clip){
		.name = canm_name_of(d, e.name_at),
		.origin = i,
		.frames = (uint32_t)e.frames,
		.frame_time = e.frame_time,
		.duration = e.duration,
		.loop = e.loop == 1,
		.track_count = e.row_count,
		.tracks = tracks,
		.field_count = 1,
		.fields = loop,
	};
	for (row = 0; row < e.row_count; row++)
		if (!canm_decode_track(d, &e, row, &tracks[row]))
			return false;
	return true;
}

static bool decode_names(struct decoder *d)
{
	const char **bones = arena_alloc(&d->a->arena, d->f.names.count, sizeof(char *));
	uint32_t i;

	if (d->a->arena.failed)
		return false;
	for (i = 0; i < d->f.names.count; i++)
		bones[i] = canm_name_of(d, canm_name_place(&d->f, i));
	d->a->bone_count = d->f.names.count;
	d->a->bones = bones;
	return true;
}

static bool canm_decode_all(struct decoder *d)
{
	struct clip *clips = arena_alloc(&d->a->arena, d->f.clips.count, sizeof(*clips));
	uint32_t i;

	d->texts = canm_texts(&d->f, &d->a->arena);
	for (i = 0; i < 2; i++)
		d->curves[i] =
			arena_alloc(&d->f.arena, d->f.channels.count, sizeof(struct curve *));
	if (!d->texts || d->f.arena.failed || d->a->arena.failed || !decode_names(d))
		return false;
	for (i = 0; i < d->f.clips.count; i++)
		if (!canm_decode_clip(d, i, &clips[i]))
			return false;
	d->a->clip_count = d->f.clips.count;
	d->a->clips = clips;
	return true;
}

struct anim *canm_decode(struct bytes src, const struct hints *hints, struct err *err)
{
	struct decoder d = {.a = NULL};

	(void)hints;
	if (!canm_read(&d.f, src, err))
		goto done;
	d.a = calloc(1, sizeof(*d.a));
	if (!d.a) {
		err_memory(err);
		goto done;
	}
	d.a->format = &canm_format;
	d.a->version = d.f.version;
	d.a->rate = canm_format.rate;
	if (!canm_decode_all(&d)) {
		anim_free(d.a);
		d.a = NULL;
		err_memory(err);
	}
done:
	arena_release(&d.f.arena);
	return d.a;
}
