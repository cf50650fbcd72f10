/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * CANM: the animations of Earth Defense Force 4.1 and 5 (version 0x200) and 6 (version 0x300).
 *
 * A file is a list of animations. Each has rows, one a bone; a row names the bone and up to three
 * channels: position, rotation, scale. Names and channels stand in tables of their own and are
 * shared freely: between bones, between animations, and a channel of zeros may well be the position
 * of one bone and the rotation of another.
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
 * The game's own files stand in this order: header, channels, u16 keys without padding, quaternions
 * (16-aligned), animations (4-aligned), rows in the order of the animations, names, strings in the
 * order of their code units but "Scene_Root" first. The order of the keys is not always that of the
 * channels. A channel table or quaternions that are not 16-aligned crash the game.
 *
 * Writing. Every part of the old file keeps its bytes and its place (layout.h) unless the model
 * says something else there. A curve that was edited changes its channel in place when nobody else
 * uses that; otherwise it gets an equal one that exists, or a new one at the end of the table. A
 * channel or a string that loses its last user goes; one that nobody used stays. A bone name stays,
 * or becomes the new name when its last bone is renamed.
 */
#include "codec/codecs.h"
#include "codec/layout.h"
#include "codec/quant.h"
#include "names.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define VERSION_EDF5 0x200u
#define VERSION_EDF6 0x300u

#define HEADER_SIZE 0x20
#define CLIP_SIZE 0x1C
#define ROW_SIZE 8
#define NAME_SIZE 4
#define NONE 0xFFFFu   /* a channel of a row that has none */
#define COUNT_MAX 0xFFFFu /* of channels and bone names that rows can tell apart, and of frames */

/*
 * Rows and strings may overlap, and then a small file can say a lot. What they come to may be this
 * much (rows, code units), or as many as the file has bytes.
 */
#define EXPANSION_MIN 0x10000u

#define DEGREES (180 / M_PI)

enum kind { KIND_VECTOR, KIND_VECTORS, KIND_QUATERNION, KIND_QUATERNIONS };

static const char *const role_words[ROLE_COUNT] = {"position", "rotation", "scale"};

static const struct format canm_format = {
	.name = "canm",
	.suffix = "canm",
	.rate = 60,
	.many_clips = true,
	.has_loop = true,
	.has_frame_time = true,
	.has_duration = true,
	.max_frames = COUNT_MAX,
};

/* ---- a file, checked: what decode and encode both read ---- */

struct table {
	uint32_t count;
	int32_t offset;
	size_t at;
};

/* A string: where it begins, and how many code units stand before its end. */
struct text {
	size_t at;
	size_t units;
};

struct canm {
	struct arena arena;
	struct bytes src;
	uint32_t version;
	struct table clips, channels, names;
	size_t closed; /* strings that begin before it have an end */
	size_t text_count;
	struct text *texts; /* the strings in use, by place */
};

struct channel {
	uint32_t kind, count;
	uint32_t base[4], step[4]; /* the bits of float32 */
	int32_t offset;
	uint32_t spare;
	const uint8_t *keys; /* kinds 1 and 3 */
};

struct entry {
	int32_t loop;
	size_t name_at;
	float duration, frame_time;
	int32_t frames;
	uint32_t row_count;
	int32_t row_offset;
	size_t rows_at;
};

struct row {
	uint16_t name, channel[ROLE_COUNT];
};

static size_t channel_size(uint32_t version)
{
	return version == VERSION_EDF5 ? 0x20 : 0x30;
}

static bool kind_is_keyed(uint32_t kind)
{
	return kind & 1;
}

static bool kind_is_quaternion(uint32_t kind)
{
	return kind >= KIND_QUATERNION;
}

static size_t key_size(uint32_t kind)
{
	return kind == KIND_VECTORS ? 6 : 16;
}

static size_t keys_size(const struct channel *c)
{
	return kind_is_keyed(c->kind) ? c->count * key_size(c->kind) : 0;
}

/* Where an offset leads that stands in the entry at `entry`. False when that is not in the file. */
static bool follow(struct bytes src, size_t entry, int32_t offset, size_t *at)
{
	*at = entry + (size_t)(ptrdiff_t)offset;
	if (offset < 0)
		return (size_t)-(ptrdiff_t)offset <= entry;
	return (size_t)offset <= src.size - entry;
}

static size_t channel_place(const struct canm *f, uint32_t i)
{
	return f->channels.at + i * channel_size(f->version);
}

static size_t clip_place(const struct canm *f, uint32_t i)
{
	return f->clips.at + (size_t)i * CLIP_SIZE;
}

static const uint8_t *bytes_at(const struct canm *f, size_t at)
{
	return f->src.data + at;
}

static uint32_t *words_at(const uint8_t *p, unsigned count, uint32_t *out)
{
	unsigned i;

	for (i = 0; i < count; i++)
		out[i] = get_u32(p + 4 * i);
	return out;
}

static struct channel load_channel(const struct canm *f, uint32_t i)
{
	size_t at = channel_place(f, i), keys;
	const uint8_t *p = bytes_at(f, at);
	struct channel c = {.kind = 0};

	if (f->version == VERSION_EDF5) {
		c.kind = get_u16(p);
		c.count = get_u16(p + 2);
		words_at(p + 4, 3, c.base);
		words_at(p + 0x10, 3, c.step);
		c.offset = (int32_t)get_u32(p + 0x1C);
	} else {
		words_at(p, 4, c.base);
		words_at(p + 0x10, 4, c.step);
		c.offset = (int32_t)get_u32(p + 0x20);
		c.kind = get_u32(p + 0x24);
		c.count = get_u32(p + 0x28);
		c.spare = get_u32(p + 0x2C);
	}
	if (kind_is_keyed(c.kind) && follow(f->src, at, c.offset, &keys))
		c.keys = bytes_at(f, keys);
	return c;
}

static struct entry load_entry(const struct canm *f, uint32_t i)
{
	size_t at = clip_place(f, i);
	const uint8_t *p = bytes_at(f, at);
	struct entry e = {
		.loop = (int32_t)get_u32(p),
		.duration = get_f32(p + 8),
		.frame_time = get_f32(p + 0xC),
		.frames = (int32_t)get_u32(p + 0x10),
		.row_count = get_u32(p + 0x14),
		.row_offset = (int32_t)get_u32(p + 0x18),
	};

	follow(f->src, at, (int32_t)get_u32(p + 4), &e.name_at);
	follow(f->src, at, e.row_offset, &e.rows_at);
	return e;
}

static struct row load_row(const struct canm *f, const struct entry *e, uint32_t i)
{
	const uint8_t *p = bytes_at(f, e->rows_at + (size_t)i * ROW_SIZE);

	return (struct row){get_u16(p), {get_u16(p + 2), get_u16(p + 4), get_u16(p + 6)}};
}

static size_t name_place(const struct canm *f, uint32_t i)
{
	size_t at = f->names.at + (size_t)i * NAME_SIZE, text;

	follow(f->src, at, (int32_t)get_u32(bytes_at(f, at)), &text);
	return text;
}

/* ---- checking it ---- */

static bool read_table(const struct canm *f, size_t field, size_t entry_size, const char *what,
		       struct table *t, struct err *err)
{
	t->count = get_u32(bytes_at(f, field));
	t->offset = (int32_t)get_u32(bytes_at(f, field + 4));
	if (!follow(f->src, 0, t->offset, &t->at) ||
	    !bytes_hold(f->src, t->at, t->count, entry_size)) {
		if (t->count)
			return err_at(err, ERR_FORMAT, field, 8,
				      "the table of %u %s at %d does not fit into the file",
				      t->count, what, t->offset);
		t->at = f->src.size;
	}
	return true;
}

static bool read_header(struct canm *f, struct err *err)
{
	if (f->src.size < HEADER_SIZE)
		return err_at(err, ERR_FORMAT, f->src.size, 0, "the file ends inside its header");
	if (memcmp(f->src.data, "CANM", 4) != 0)
		return err_at(err, ERR_FORMAT, 0, 4, "the file does not begin with CANM");
	f->version = get_u32(bytes_at(f, 4));
	if (f->version != VERSION_EDF5 && f->version != VERSION_EDF6)
		return err_at(err, ERR_FORMAT, 4, 4,
			      "version 0x%X is unknown; 0x200 and 0x300 can be read", f->version);
	return read_table(f, 0x08, CLIP_SIZE, "animations", &f->clips, err) &&
	       read_table(f, 0x10, channel_size(f->version), "channels", &f->channels, err) &&
	       read_table(f, 0x18, NAME_SIZE, "bone names", &f->names, err);
}

static bool check_channel(const struct canm *f, uint32_t i, struct err *err)
{
	struct channel c = load_channel(f, i);
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
	if (!follow(f->src, at, c.offset, &keys))
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

/* The string that the offset at `field` of the entry at `entry` leads to. */
static bool note_text(struct canm *f, size_t entry, size_t field, const char *whose, uint32_t i,
		      struct err *err)
{
	size_t at;

	if (!follow(f->src, entry, (int32_t)get_u32(bytes_at(f, field)), &at))
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
	struct row row = load_row(f, e, i);
	size_t at = e->rows_at + (size_t)i * ROW_SIZE;
	unsigned role;

	if (row.name >= f->names.count)
		return err_at(err, ERR_FORMAT, at, 2,
			      "animation %u, row %u: there is no bone name %u", clip, i, row.name);
	for (role = 0; role < ROLE_COUNT; role++) {
		uint16_t channel = row.channel[role];
		struct channel c;

		at += 2;
		if (channel == NONE)
			continue;
		if (channel >= f->channels.count)
			return err_at(err, ERR_FORMAT, at, 2,
				      "animation %u, row %u: there is no channel %u", clip, i,
				      channel);
		c = load_channel(f, channel);
		if (kind_is_quaternion(c.kind) && role != ROLE_ROTATION)
			return err_at(err, ERR_FORMAT, at, 2,
				      "animation %u, row %u: channel %u holds quaternions and "
				      "cannot be a %s",
				      clip, i, channel, role_words[role]);
		if (kind_is_keyed(c.kind) && e->frames > (int32_t)COUNT_MAX)
			return err_at(err, ERR_FORMAT, clip_place(f, clip) + 0x10, 4,
				      "animation %u has keys over %d frames; %u is the most", clip,
				      e->frames, COUNT_MAX);
	}
	return true;
}

static bool check_clip(const struct canm *f, uint32_t i, size_t *room, struct err *err)
{
	struct entry e = load_entry(f, i);
	size_t at = clip_place(f, i), rows;
	uint32_t row;

	if (e.frames < 1)
		return err_at(err, ERR_FORMAT, at + 0x10, 4, "animation %u has %d frames", i,
			      e.frames);
	if (e.row_count == 0)
		return true;
	if (!follow(f->src, at, e.row_offset, &rows) ||
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

static size_t expansion(const struct canm *f)
{
	return f->src.size > EXPANSION_MIN ? f->src.size : EXPANSION_MIN;
}

/* Behind the last zero that can end a string. */
static size_t find_closed(struct bytes src)
{
	size_t end = src.size & ~(size_t)1;

	while (end >= 2 && get_u16(src.data + end - 2) != 0)
		end -= 2;
	return end;
}

static int by_place(const void *a, const void *b)
{
	const struct text *p = a, *q = b;

	return p->at < q->at ? -1 : p->at > q->at;
}

/* Each string once, and how long it is. */
static bool measure_texts(struct canm *f, struct err *err)
{
	size_t room = expansion(f), count = 0, i;

	qsort(f->texts, f->text_count, sizeof(*f->texts), by_place);
	for (i = 0; i < f->text_count; i++) {
		struct text t = {f->texts[i].at, 0};

		if (count && f->texts[count - 1].at == t.at)
			continue;
		while (get_u16(bytes_at(f, t.at + 2 * t.units)) != 0) {
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

static size_t find_text(const struct canm *f, size_t at)
{
	struct text key = {at, 0};
	const struct text *t = bsearch(&key, f->texts, f->text_count, sizeof(key), by_place);

	return (size_t)(t - f->texts);
}

/* The whole file, every claim of it. What it needs is in f->arena, also after a failure. */
static bool read_file(struct canm *f, struct bytes src, struct err *err)
{
	size_t rows;
	uint32_t i;

	*f = (struct canm){.arena = ARENA_INIT, .src = src};
	if (!read_header(f, err))
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

		if (!note_text(f, at, at, "bone", i, err))
			return false;
	}
	rows = expansion(f);
	for (i = 0; i < f->clips.count; i++) {
		size_t at = clip_place(f, i);

		if (!note_text(f, at, at + 4, "animation", i, err) ||
		    !check_clip(f, i, &rows, err))
			return false;
	}
	return measure_texts(f, err);
}

static bool canm_probe(struct bytes src)
{
	struct canm f = {.src = src};

	return read_header(&f, NULL);
}

/* ---- decode ---- */

static double role_unit(enum curve_kind kind)
{
	return kind == CURVE_EULER ? DEGREES : 1;
}

/* A channel as the curve it is in a role. `base` is where its base stands in the file. */
static struct curve curve_of(const struct channel *c, const uint8_t *base, enum role role)
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

		lane->unit = role_unit(curve.kind);
		lane->form = LANE_FLOAT;
		if (c->kind == KIND_VECTORS) {
			lane->form = LANE_GRID;
			lane->base = f32_from_bits(c->base[axis]);
			lane->step = f32_from_bits(c->step[axis]);
		}
	}
	return curve;
}

static struct curve load_curve(const struct canm *f, uint32_t channel, enum role role)
{
	struct channel c = load_channel(f, channel);
	size_t base = f->version == VERSION_EDF5 ? 4 : 0;

	return curve_of(&c, bytes_at(f, channel_place(f, channel) + base), role);
}

/* The names of all strings, in f's arena or that of the model. */
static const char **load_texts(const struct canm *f, struct arena *arena)
{
	const char **names = arena_alloc(arena, f->text_count + 1, sizeof(char *));
	size_t i;

	for (i = 0; names && i < f->text_count; i++) {
		names[i] = name_from_utf16(arena, bytes_at(f, f->texts[i].at), f->texts[i].units);
		if (!names[i])
			return NULL;
	}
	return names;
}

struct decoder {
	struct canm f;
	struct anim *a;
	const char **texts;
	const struct curve **curves[2]; /* of each channel: as a vector, as a rotation */
};

static const struct curve *shared_curve(struct decoder *d, uint32_t channel, enum role role)
{
	const struct curve **place = &d->curves[role == ROLE_ROTATION][channel];
	struct curve *c;

	if (!*place) {
		c = arena_alloc(&d->a->arena, 1, sizeof(*c));
		if (c)
			*c = load_curve(&d->f, channel, role);
		*place = c;
	}
	return *place;
}

static const char *name_of(const struct decoder *d, size_t at)
{
	return d->texts[find_text(&d->f, at)];
}

static bool decode_track(struct decoder *d, const struct entry *e, uint32_t i, struct track *t)
{
	struct row row = load_row(&d->f, e, i);
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

static bool decode_clip(struct decoder *d, uint32_t i, struct clip *clip)
{
	struct entry e = load_entry(&d->f, i);
	struct track *tracks = arena_alloc(&d->a->arena, e.row_count, sizeof(*tracks));
	struct field *loop = arena_alloc(&d->a->arena, 1, sizeof(*loop));
	uint32_t row;

	if (!loop || d->a->arena.failed)
		return false;
	*loop = (struct field){
		.name = "loop", .type = FIELD_INT, .integer = e.loop, .editable = true};
	*clip = (struct clip){
		.name = name_of(d, e.name_at),
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
		if (!decode_track(d, &e, row, &tracks[row]))
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
		bones[i] = name_of(d, name_place(&d->f, i));
	d->a->bone_count = d->f.names.count;
	d->a->bones = bones;
	return true;
}

static bool decode_all(struct decoder *d)
{
	struct clip *clips = arena_alloc(&d->a->arena, d->f.clips.count, sizeof(*clips));
	uint32_t i;

	d->texts = load_texts(&d->f, &d->a->arena);
	for (i = 0; i < 2; i++)
		d->curves[i] = arena_alloc(&d->f.arena, d->f.channels.count,
					   sizeof(struct curve *));
	if (!d->texts || d->f.arena.failed || d->a->arena.failed || !decode_names(d))
		return false;
	for (i = 0; i < d->f.clips.count; i++)
		if (!decode_clip(d, i, &clips[i]))
			return false;
	d->a->clip_count = d->f.clips.count;
	d->a->clips = clips;
	return true;
}

static struct anim *canm_decode(struct bytes src, struct err *err)
{
	struct decoder d = {.a = NULL};

	if (!read_file(&d.f, src, err))
		goto done;
	d.a = calloc(1, sizeof(*d.a));
	if (!d.a) {
		err_memory(err);
		goto done;
	}
	d.a->format = &canm_format;
	d.a->version = d.f.version;
	d.a->rate = canm_format.rate;
	if (!decode_all(&d)) {
		anim_free(d.a);
		d.a = NULL;
		err_memory(err);
	}
done:
	arena_release(&d.f.arena);
	return d.a;
}

/* ---- encode: finding equal things ---- */

/* Numbers of things that somebody else keeps, found by what they are. */
struct index {
	uint32_t *cells; /* number + 1; 0: free */
	size_t size;     /* a power of two */
	size_t used;
};

typedef bool same_fn(const void *owner, uint32_t number, const void *key);

static uint64_t mix(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
	return hash ^ hash >> 29;
}

/* Room for `count` entries altogether. */
static bool index_init(struct index *x, struct arena *arena, size_t count)
{
	*x = (struct index){.size = 4};
	while (x->size / 2 < count)
		x->size *= 2;
	x->cells = arena_alloc(arena, x->size, sizeof(*x->cells));
	return x->cells != NULL;
}

static bool index_find(const struct index *x, uint64_t hash, same_fn *same, const void *owner,
		       const void *key, uint32_t *number)
{
	size_t i;

	for (i = hash & (x->size - 1); x->cells[i]; i = (i + 1) & (x->size - 1)) {
		*number = x->cells[i] - 1;
		if (same(owner, *number, key))
			return true;
	}
	return false;
}

static void index_put(struct index *x, uint64_t hash, uint32_t number)
{
	size_t i = hash & (x->size - 1);

	while (x->cells[i])
		i = (i + 1) & (x->size - 1);
	x->cells[i] = number + 1;
}

/* ---- encode: the old file, and what becomes of it ---- */

#define PENDING UINT32_MAX

enum rank {
	RANK_HEADER,
	RANK_CHANNELS,
	RANK_VECTORS,
	RANK_QUATERNIONS,
	RANK_CLIPS,
	RANK_ROWS,
	RANK_NAMES,
	RANK_STRINGS,
};

/* A curve of the model, and the channel that was in its place: where they are equal, it stays. */
struct pair {
	const struct curve *want;
	uint32_t was, is; /* channels, as numbers of records */
	uint32_t clip, track;
	enum role role;
};

/* A channel of the new file. The first ones are those of the old file, under their old numbers. */
struct record {
	struct channel is;
	bool changed;
	uint32_t had, users; /* how many roles used it, and how many do */
	uint32_t number;     /* in the new table */
	struct part *keys;
};

/* A bone name of the new file. */
struct bone {
	size_t text;
	uint32_t had, users;
	const char *seen; /* a name in the model that was found to be this one */
};

struct string {
	const char *name;
	const uint8_t *units;
	size_t size; /* with the zero at the end */
	size_t order;
	bool used;
	struct part *part;
};

/* An animation of the new file. */
struct target {
	const struct clip *clip;
	uint32_t was; /* its number in the old file, or ANIM_NEW */
	struct entry old;
	size_t first; /* its first track, among those of all clips */
	size_t text;
	int32_t loop;
	uint8_t *rows;
	size_t place; /* of its rows in the old file, or LAYOUT_NEW */
	struct part *part;
};

struct edit {
	struct canm old;
	const struct anim *a;
	struct err *err;
	uint32_t version;
	struct target *targets;
	size_t track_count;
	uint32_t *slots; /* of each track and role: number of the pair + 1, or 0 */
	uint32_t *named; /* of each track: its bone */
	struct pair *pairs;
	uint32_t pair_count;
	struct record *records;
	uint32_t record_count;
	struct bone *bones;
	uint32_t bone_count;
	struct string *strings;
	size_t string_count;
	struct index pair_index, record_index, bone_index, string_index, row_index;
	struct layout layout;
	struct piece {
		struct part *part;
		uint8_t *bytes;
	} header, channels, clips, names; /* what holds offsets, and is filled in last */
	uint32_t channel_count;
	bool too_far; /* an offset does not fit */
};

static void *need(struct edit *e, size_t count, size_t size)
{
	void *memory = arena_alloc(&e->old.arena, count, size);

	if (!memory)
		err_memory(e->err);
	return memory;
}

/* Its row in the old file. False when it is new. */
static bool old_row(const struct edit *e, const struct target *t, const struct track *track,
		    struct row *row)
{
	if (t->was == ANIM_NEW || track->origin >= t->old.row_count)
		return false;
	*row = load_row(&e->old, &t->old, track->origin);
	return true;
}

static uint32_t old_channel(const struct edit *e, const struct target *t,
			    const struct track *track, enum role role)
{
	struct row row;

	return old_row(e, t, track, &row) ? row.channel[role] : NONE;
}

static const char *track_word(const struct track *track)
{
	return track->label ? track->label : track->name;
}

/* ---- animations ---- */

static const struct field *find_loop(const struct clip *clip)
{
	uint32_t i;

	for (i = 0; i < clip->field_count; i++)
		if (strcmp(clip->fields[i].name, "loop") == 0)
			return &clip->fields[i];
	return NULL;
}

/* The stored number goes before the word, where both were changed. */
static bool choose_loop(const struct edit *e, struct target *t)
{
	const struct field *field = find_loop(t->clip);
	bool is_new = t->was == ANIM_NEW;

	t->loop = is_new ? t->clip->loop : t->old.loop;
	if (field && (is_new ? (field->integer == 1) == t->clip->loop
			     : field->integer != t->old.loop)) {
		if (field->integer < INT32_MIN || field->integer > INT32_MAX)
			return err_set(e->err, ERR_STORE, "loop is a number of 32 bits");
		t->loop = (int32_t)field->integer;
	} else if (t->clip->loop != (t->loop == 1)) {
		t->loop = t->clip->loop;
	}
	return true;
}

static bool check_time(const struct edit *e, const struct target *t, float now, float old,
		       const char *what)
{
	if (isfinite(now) || (t->was != ANIM_NEW && f32_bits(now) == f32_bits(old)))
		return true;
	return err_set(e->err, ERR_STORE, "the %s must be a finite number", what);
}

static bool check_frames(const struct edit *e, const struct clip *clip)
{
	uint32_t i;
	unsigned role;

	if (clip->frames < 1 || clip->frames > INT32_MAX)
		return err_set(e->err, ERR_STORE, "an animation cannot have %u frames",
			       clip->frames);
	for (i = 0; clip->frames > COUNT_MAX && i < clip->track_count; i++)
		for (role = 0; role < ROLE_COUNT; role++)
			if (clip->tracks[i].curve[role] && clip->tracks[i].curve[role]->keyed)
				return err_set(e->err, ERR_STORE,
					       "an animation with keys has at most %u frames",
					       COUNT_MAX);
	return true;
}

static bool plan_clip(struct edit *e, uint32_t i)
{
	const struct clip *clip = &e->a->clips[i];
	struct target *t = &e->targets[i];

	*t = (struct target){.clip = clip, .was = ANIM_NEW, .first = e->track_count};
	if (clip->origin < e->old.clips.count) {
		t->was = clip->origin;
		t->old = load_entry(&e->old, t->was);
	}
	e->track_count += clip->track_count;
	return check_frames(e, clip) && choose_loop(e, t) &&
	       check_time(e, t, clip->frame_time, t->old.frame_time, "frame time") &&
	       check_time(e, t, clip->duration, t->old.duration, "duration");
}

static bool plan_clips(struct edit *e)
{
	uint32_t i;

	e->targets = need(e, e->a->clip_count, sizeof(*e->targets));
	if (!e->targets)
		return false;
	for (i = 0; i < e->a->clip_count; i++)
		if (!plan_clip(e, i))
			return false;
	return true;
}

/* ---- curves: which of them stay, and where the others go ---- */

static bool lanes_same(const struct curve *a, const struct curve *b)
{
	unsigned i;

	for (i = 0; i < curve_width(a); i++)
		if (a->lane[i].form != b->lane[i].form ||
		    f32_bits(a->lane[i].base) != f32_bits(b->lane[i].base) ||
		    f32_bits(a->lane[i].step) != f32_bits(b->lane[i].step))
			return false;
	return true;
}

static bool is_unchanged(const struct edit *e, const struct curve *want, uint32_t was,
			 enum role role)
{
	struct curve old;

	if (was == NONE)
		return false;
	old = load_curve(&e->old, was, role);
	if (want->stored == old.stored && want->kind == old.kind && want->keyed == old.keyed &&
	    want->count == old.count && lanes_same(want, &old))
		return true;
	return curve_same(want, &old);
}

static bool check_curve(const struct edit *e, const struct track *track, enum role role)
{
	const struct curve *c = track->curve[role];
	const char *bone = track_word(track), *word = role_names[role];

	if (role == ROLE_ROTATION ? c->kind == CURVE_VECTOR : c->kind != CURVE_VECTOR)
		return err_set(e->err, ERR_STORE, "%s: its %s cannot be stored as a %s", bone, word,
			       c->kind == CURVE_QUATERNION ? "quaternion" : "vector of this kind");
	if (c->kind == CURVE_QUATERNION && e->version == VERSION_EDF5)
		return err_set(e->err, ERR_STORE,
			       "%s: version 0x200 has Euler angles and no quaternions", bone);
	if (c->frames || c->interpolation != INTERPOLATION_LINEAR)
		return err_set(e->err, ERR_STORE,
			       "%s: its %s needs a key in every frame and linear interpolation",
			       bone, word);
	if (c->count < 1 || (c->keyed && c->count > COUNT_MAX && e->version == VERSION_EDF5) ||
	    c->count > INT32_MAX)
		return err_set(e->err, ERR_STORE, "%s: its %s cannot have %u keys", bone, word,
			       c->count);
	return true;
}

static bool same_pair(const void *owner, uint32_t number, const void *key)
{
	const struct pair *a = (const struct pair *)owner + number, *b = key;

	return a->want == b->want && a->was == b->was && a->role == b->role;
}

static bool plan_slot(struct edit *e, uint32_t clip, uint32_t track, enum role role)
{
	const struct target *t = &e->targets[clip];
	const struct track *tr = &t->clip->tracks[track];
	struct pair pair = {
		.want = tr->curve[role], .clip = clip, .track = track, .role = role};
	uint64_t hash;
	uint32_t number;

	if (!pair.want)
		return true;
	pair.was = old_channel(e, t, tr, role);
	hash = mix(mix(mix(0, (uintptr_t)pair.want), pair.was), role);
	if (!index_find(&e->pair_index, hash, same_pair, e->pairs, &pair, &number)) {
		pair.is = is_unchanged(e, pair.want, pair.was, role) ? pair.was : PENDING;
		if (pair.is == PENDING && !check_curve(e, tr, role))
			return false;
		number = e->pair_count++;
		e->pairs[number] = pair;
		index_put(&e->pair_index, hash, number);
	}
	e->slots[(t->first + track) * ROLE_COUNT + role] = number + 1;
	return true;
}

static bool plan_slots(struct edit *e)
{
	size_t slots = e->track_count * ROLE_COUNT;
	uint32_t clip, track;
	unsigned role;

	e->slots = need(e, slots, sizeof(*e->slots));
	e->pairs = need(e, slots, sizeof(*e->pairs));
	if (!index_init(&e->pair_index, &e->old.arena, slots) || !e->slots || !e->pairs)
		return err_memory(e->err);
	for (clip = 0; clip < e->a->clip_count; clip++)
		for (track = 0; track < e->a->clips[clip].track_count; track++)
			for (role = 0; role < ROLE_COUNT; role++)
				if (!plan_slot(e, clip, track, role))
					return false;
	return true;
}

/* How many of a channel's numbers mean something. */
static unsigned base_width(uint32_t kind)
{
	return kind == KIND_QUATERNIONS ? 0 : kind == KIND_QUATERNION ? 4 : 3;
}

static unsigned step_width(uint32_t kind)
{
	return kind == KIND_VECTORS ? 3 : 0;
}

static bool same_channel(const void *owner, uint32_t number, const void *key)
{
	const struct channel *a = &((const struct record *)owner + number)->is, *b = key;

	if (a->kind != b->kind || memcmp(a->base, b->base, 4 * base_width(a->kind)) != 0 ||
	    memcmp(a->step, b->step, 4 * step_width(a->kind)) != 0)
		return false;
	if (!kind_is_keyed(a->kind))
		return true;
	return a->count == b->count &&
	       (a->keys == b->keys || memcmp(a->keys, b->keys, keys_size(a)) == 0);
}

static uint64_t hash_bytes(uint64_t hash, const uint8_t *p, size_t size)
{
	size_t i;

	for (i = 0; i < size; i++)
		hash = mix(hash, p[i]);
	return hash;
}

static uint64_t hash_channel(const struct channel *c)
{
	size_t size = keys_size(c);
	uint64_t hash = mix(mix(0, c->kind), size);
	unsigned i;

	for (i = 0; i < base_width(c->kind); i++)
		hash = mix(hash, c->base[i]);
	for (i = 0; i < step_width(c->kind); i++)
		hash = mix(hash, c->step[i]);
	/* A few keys tell channels apart well enough. */
	return hash_bytes(hash, c->keys, size < 64 ? size : 64);
}

static void count_users(struct edit *e)
{
	size_t slots = e->track_count * ROLE_COUNT, i;
	uint32_t clip, row;
	unsigned role;

	for (clip = 0; clip < e->old.clips.count; clip++) {
		struct entry entry = load_entry(&e->old, clip);

		for (row = 0; row < entry.row_count; row++) {
			struct row r = load_row(&e->old, &entry, row);

			e->bones[r.name].had++;
			for (role = 0; role < ROLE_COUNT; role++)
				if (r.channel[role] != NONE)
					e->records[r.channel[role]].had++;
		}
	}
	for (i = 0; i < slots; i++)
		if (e->slots[i] && e->pairs[e->slots[i] - 1].is != PENDING)
			e->records[e->pairs[e->slots[i] - 1].is].users++;
}

static bool load_records(struct edit *e)
{
	uint32_t pending = 0, i;

	for (i = 0; i < e->pair_count; i++)
		pending += e->pairs[i].is == PENDING;
	e->record_count = e->old.channels.count;
	e->records = need(e, (size_t)e->record_count + pending, sizeof(*e->records));
	if (!e->records ||
	    !index_init(&e->record_index, &e->old.arena, (size_t)e->record_count + pending))
		return err_memory(e->err);
	for (i = 0; i < e->record_count; i++) {
		e->records[i].is = load_channel(&e->old, i);
		if (pending)
			index_put(&e->record_index, hash_channel(&e->records[i].is), i);
	}
	return true;
}

/* ---- curves: numbers to stored numbers ---- */

static uint32_t kind_of(const struct curve *c)
{
	if (c->kind == CURVE_QUATERNION)
		return c->keyed ? KIND_QUATERNIONS : KIND_QUATERNION;
	return c->keyed ? KIND_VECTORS : KIND_VECTOR;
}

/* As the game's own files fill in what a kind has no use for. */
static struct channel new_channel(uint32_t kind)
{
	struct channel c = {.kind = kind, .count = 1};

	if (!kind_is_quaternion(kind))
		c.base[3] = f32_bits(1);
	if (kind == KIND_VECTORS)
		c.step[3] = f32_bits(1);
	return c;
}

/* Does the model's curve hold just what a channel of this kind stores? */
static bool is_stored_form(const struct curve *c, uint32_t kind)
{
	enum lane_form form = kind == KIND_VECTORS ? LANE_GRID : LANE_FLOAT;
	double unit = role_unit(c->kind);
	unsigned axis;

	for (axis = 0; axis < curve_width(c); axis++)
		if (c->lane[axis].form != form || !f64_same(c->lane[axis].unit, unit))
			return false;
	return c->stored != NULL;
}

static void take_stored(const struct curve *want, struct channel *c)
{
	unsigned axis;

	if (kind_is_keyed(c->kind))
		c->keys = want->stored;
	else
		words_at(want->stored, curve_width(want), c->base);
	for (axis = 0; axis < step_width(c->kind); axis++) {
		c->base[axis] = f32_bits(want->lane[axis].base);
		c->step[axis] = f32_bits(want->lane[axis].step);
	}
}

static const char *store_grid(struct edit *e, struct quant *q, unsigned *axis, struct channel *c)
{
	uint32_t count = c->count, i;
	uint8_t *keys = need(e, count, 6);
	uint16_t *k = need(e, count, sizeof(*k));

	if (!keys || !k)
		return "out of memory";
	c->keys = keys;
	for (*axis = 0; *axis < 3; ++*axis) {
		struct lane lane;
		const char *why = quant_grid(q, *axis, &lane, k);

		if (why)
			return why;
		c->base[*axis] = f32_bits(lane.base);
		c->step[*axis] = f32_bits(lane.step);
		for (i = 0; i < count; i++)
			put_u16(keys + 6 * (size_t)i + 2 * *axis, k[i]);
	}
	return NULL;
}

static const char *store_floats(struct edit *e, struct quant *q, unsigned *axis, struct channel *c)
{
	unsigned width = curve_width(q->wanted);
	bool keyed = kind_is_keyed(c->kind);
	uint32_t count = keyed ? c->count : 1, i;
	uint8_t *floats = need(e, count, 4 * width);

	if (!floats)
		return "out of memory";
	for (i = 0; i < count; i++) {
		for (*axis = 0; *axis < width; ++*axis) {
			float value;
			const char *why = quant_float(q, i, *axis, &value);

			if (why)
				return why;
			put_f32(floats + 4 * ((size_t)i * width + *axis), value);
		}
	}
	if (keyed)
		c->keys = floats;
	else
		words_at(floats, width, c->base);
	return NULL;
}

static bool make_channel(struct edit *e, const struct pair *pair, struct channel *c)
{
	uint32_t kind = kind_of(pair->want);
	struct quant q = {.wanted = pair->want, .unit = role_unit(pair->want->kind)};
	const struct clip *clip = e->targets[pair->clip].clip;
	struct curve old;
	unsigned axis = 0;
	const char *why;

	*c = new_channel(kind);
	if (pair->was != NONE) {
		struct channel was = load_channel(&e->old, pair->was);

		if (was.kind == kind)
			*c = was;
		old = load_curve(&e->old, pair->was, pair->role);
		q.old = old.kind == pair->want->kind ? &old : NULL;
	}
	if (kind_is_keyed(kind))
		c->count = pair->want->count;
	if (is_stored_form(pair->want, kind)) {
		take_stored(pair->want, c);
		return true;
	}
	why = kind == KIND_VECTORS ? store_grid(e, &q, &axis, c) : store_floats(e, &q, &axis, c);
	if (!why)
		return true;
	return err_set(e->err, ERR_STORE, "%s: %s %c of frame %u: %s",
		       track_word(&clip->tracks[pair->track]), role_names[pair->role],
		       "xyzw"[axis], q.key, why);
}

/* The record of an edited curve. */
static bool place_pair(struct edit *e, struct pair *pair)
{
	struct record *was = pair->was == NONE ? NULL : &e->records[pair->was];
	struct channel c;
	uint64_t hash;

	if (!make_channel(e, pair, &c))
		return false;
	hash = hash_channel(&c);
	if (was && !was->users) {
		pair->is = pair->was;
		was->is = c;
		was->changed = true;
		index_put(&e->record_index, hash, pair->is);
	} else if (!index_find(&e->record_index, hash, same_channel, e->records, &c, &pair->is)) {
		pair->is = e->record_count++;
		if (!kind_is_keyed(c.kind))
			c.offset = 0;
		e->records[pair->is] = (struct record){.is = c, .changed = true};
		index_put(&e->record_index, hash, pair->is);
	}
	e->records[pair->is].users++;
	return true;
}

/* Channels that nobody used are none of our business; those that lost their users go. */
static bool record_is_live(const struct edit *e, uint32_t i)
{
	const struct record *r = &e->records[i];

	return i >= e->old.channels.count || r->had == 0 || r->users > 0;
}

static void number_records(struct edit *e)
{
	uint32_t i;

	for (i = 0; i < e->record_count; i++)
		if (record_is_live(e, i))
			e->records[i].number = e->channel_count++;
}

static bool place_pairs(struct edit *e)
{
	uint32_t i;

	for (i = 0; i < e->pair_count; i++)
		if (e->pairs[i].is == PENDING && !place_pair(e, &e->pairs[i]))
			return false;
	number_records(e);
	if (e->channel_count > COUNT_MAX && e->record_count > e->old.channels.count)
		return err_set(e->err, ERR_STORE, "a file can have at most %u channels", COUNT_MAX);
	return true;
}

/* ---- names ---- */

static bool same_string(const void *owner, uint32_t number, const void *key)
{
	return strcmp(((const struct string *)owner + number)->name, key) == 0;
}

static uint64_t hash_text(const char *text)
{
	return hash_bytes(0, (const uint8_t *)text, strlen(text));
}

static bool load_strings(struct edit *e)
{
	size_t room = e->old.text_count + e->a->clip_count + e->track_count, i;
	const char **names = load_texts(&e->old, &e->old.arena);

	e->strings = need(e, room, sizeof(*e->strings));
	if (!names || !e->strings || !index_init(&e->string_index, &e->old.arena, room))
		return err_memory(e->err);
	e->string_count = e->old.text_count;
	for (i = 0; i < e->string_count; i++) {
		const struct text *t = &e->old.texts[i];

		e->strings[i] = (struct string){.name = names[i],
						.units = bytes_at(&e->old, t->at),
						.size = 2 * t->units + 2};
		index_put(&e->string_index, hash_text(names[i]), (uint32_t)i);
	}
	return true;
}

static bool has_unit_zero(const struct buf *units)
{
	size_t i;

	for (i = 0; i + 1 < units->size; i += 2)
		if (get_u16(units->data + i) == 0)
			return true;
	return false;
}

static bool add_string(struct edit *e, const char *name)
{
	struct string *s = &e->strings[e->string_count];
	struct buf units = BUF_INIT;
	uint8_t *copy = NULL;
	bool ok = false;

	name_to_utf16(name, &units);
	if (has_unit_zero(&units)) {
		err_set(e->err, ERR_STORE, "a name cannot hold a zero character");
		goto done;
	}
	buf_u16(&units, 0);
	copy = units.failed ? NULL : need(e, units.size, 1);
	if (!copy) {
		err_memory(e->err);
		goto done;
	}
	memcpy(copy, units.data, units.size);
	*s = (struct string){.name = name, .units = copy, .size = units.size};
	index_put(&e->string_index, hash_text(name), (uint32_t)e->string_count++);
	ok = true;
done:
	buf_release(&units);
	return ok;
}

static bool string_for(struct edit *e, const char *name, size_t *text)
{
	uint32_t number;

	if (index_find(&e->string_index, hash_text(name), same_string, e->strings, name, &number)) {
		*text = number;
		return true;
	}
	*text = e->string_count;
	return add_string(e, name);
}

static bool name_clips(struct edit *e)
{
	uint32_t i;

	for (i = 0; i < e->a->clip_count; i++) {
		struct target *t = &e->targets[i];

		if (t->was != ANIM_NEW) {
			t->text = find_text(&e->old, t->old.name_at);
			if (strcmp(e->strings[t->text].name, t->clip->name) == 0)
				continue;
		}
		if (!string_for(e, t->clip->name, &t->text))
			return false;
	}
	return true;
}

static bool same_bone(const void *owner, uint32_t number, const void *key)
{
	const struct edit *e = owner;

	return strcmp(e->strings[e->bones[number].text].name, key) == 0;
}

static bool load_bones(struct edit *e)
{
	size_t room = e->old.names.count + e->track_count;
	uint32_t i;

	e->named = need(e, e->track_count, sizeof(*e->named));
	e->bones = need(e, room, sizeof(*e->bones));
	if (!e->named || !e->bones || !index_init(&e->bone_index, &e->old.arena, room))
		return err_memory(e->err);
	e->bone_count = e->old.names.count;
	for (i = 0; i < e->bone_count; i++) {
		struct bone *b = &e->bones[i];

		b->text = find_text(&e->old, name_place(&e->old, i));
		index_put(&e->bone_index, hash_text(e->strings[b->text].name), i);
	}
	return true;
}

static bool keeps_bone(struct edit *e, const struct track *track, uint32_t was)
{
	struct bone *b = &e->bones[was];

	/* Tracks of one bone mostly share their name by pointer too. */
	if (b->seen != track->name && !same_bone(e, was, track->name))
		return false;
	b->seen = track->name;
	return true;
}

/* `was`: the bone that the track was, or PENDING. */
static bool bone_for(struct edit *e, const char *name, uint32_t was, uint32_t *number)
{
	uint64_t hash = hash_text(name);

	if (index_find(&e->bone_index, hash, same_bone, e, name, number))
		return true;
	*number = was;
	if (was == PENDING || e->bones[was].users) {
		if (e->bone_count >= COUNT_MAX)
			return err_set(e->err, ERR_STORE, "a file can have at most %u bone names",
				       COUNT_MAX);
		*number = e->bone_count++;
	}
	index_put(&e->bone_index, hash, *number);
	return string_for(e, name, &e->bones[*number].text);
}

static bool name_track(struct edit *e, const struct target *t, uint32_t track, bool first)
{
	const struct track *tr = &t->clip->tracks[track];
	uint32_t *named = &e->named[t->first + track], was = PENDING;
	struct row row;

	if (!first && *named != PENDING)
		return true;
	if (old_row(e, t, tr, &row))
		was = row.name;
	*named = PENDING;
	if (first && was != PENDING && keeps_bone(e, tr, was))
		*named = was;
	else if (!first && !bone_for(e, tr->name, was, named))
		return false;
	if (*named != PENDING)
		e->bones[*named].users++;
	return true;
}

/* First those that stay, so that it is known which names are free. */
static bool name_tracks(struct edit *e)
{
	uint32_t clip, track, pass;

	for (pass = 0; pass < 2; pass++) {
		for (clip = 0; clip < e->a->clip_count; clip++) {
			const struct target *t = &e->targets[clip];

			for (track = 0; track < t->clip->track_count; track++)
				if (!name_track(e, t, track, pass == 0))
					return false;
		}
	}
	return true;
}

/* ---- the new file's parts ---- */

static size_t clips_end(const struct canm *f)
{
	return f->clips.at + (size_t)f->clips.count * CLIP_SIZE;
}

/* Where an old table that is empty may grow: LAYOUT_NEW when that is nowhere. */
static size_t table_place(const struct canm *f, const struct table *t)
{
	size_t at;

	if (t->count)
		return t->at;
	if (f->src.size == 0 || !follow(f->src, 0, t->offset, &at) || at < HEADER_SIZE)
		return LAYOUT_NEW;
	return at;
}

static bool add_piece(struct edit *e, enum rank rank, size_t align, size_t old_at, size_t old_size,
		      size_t size, struct piece *piece)
{
	piece->bytes = need(e, size, 1);
	if (!piece->bytes)
		return false;
	piece->part = layout_add(&e->layout, rank, align, old_at, old_size);
	piece->part->data = piece->bytes;
	piece->part->size = size;
	return true;
}

static bool add_table(struct edit *e, enum rank rank, size_t align, const struct table *old,
		      size_t entry, size_t count, struct piece *piece)
{
	size_t place = table_place(&e->old, old);

	/* An empty table that points nowhere keeps doing so. */
	if (e->old.src.size && place == LAYOUT_NEW && count == 0)
		return true;
	return add_piece(e, rank, align, place, old->count * entry, count * entry, piece);
}

static bool add_tables(struct edit *e)
{
	bool is_old = e->old.src.size > 0;

	return add_piece(e, RANK_HEADER, 1, is_old ? 0 : LAYOUT_NEW, is_old ? HEADER_SIZE : 0,
			 HEADER_SIZE, &e->header) &&
	       add_table(e, RANK_CHANNELS, 16, &e->old.channels, channel_size(e->version),
			 e->channel_count, &e->channels) &&
	       add_table(e, RANK_CLIPS, 4, &e->old.clips, CLIP_SIZE, e->a->clip_count,
			 &e->clips) &&
	       add_table(e, RANK_NAMES, 4, &e->old.names, NAME_SIZE, e->bone_count, &e->names);
}

/* The keys of an old channel. Channels may share them. */
struct block {
	size_t at, size;
	uint32_t kind, record;
};

static int by_block(const void *a, const void *b)
{
	const struct block *p = a, *q = b;

	if (p->at != q->at)
		return p->at < q->at ? -1 : 1;
	if (p->size != q->size)
		return p->size < q->size ? -1 : 1;
	if (p->kind != q->kind)
		return p->kind < q->kind ? -1 : 1;
	return p->record < q->record ? -1 : p->record > q->record;
}

static bool same_block(const struct block *p, const struct block *q)
{
	return p->at == q->at && p->size == q->size && p->kind == q->kind;
}

static enum rank keys_rank(uint32_t kind)
{
	return kind == KIND_QUATERNIONS ? RANK_QUATERNIONS : RANK_VECTORS;
}

static size_t keys_align(uint32_t kind)
{
	return kind == KIND_QUATERNIONS ? 16 : 2;
}

static void give_keys(struct record *r, struct part *part)
{
	part->data = r->is.keys;
	part->size = keys_size(&r->is);
	r->keys = part;
}

/* `count` old channels with the same keys: who keeps the block, or may put its own there? */
static void share_block(struct edit *e, const struct block *b, size_t count)
{
	struct part *part = layout_add(&e->layout, keys_rank(b->kind), keys_align(b->kind), b->at,
				       b->size);
	size_t i;

	for (i = 0; i < count; i++) {
		struct record *r = &e->records[b[i].record];

		if (record_is_live(e, b[i].record) && !r->changed)
			give_keys(r, part);
	}
	for (i = 0; i < count && !part->data; i++) {
		struct record *r = &e->records[b[i].record];

		if (r->changed && r->is.kind == b->kind)
			give_keys(r, part);
	}
}

static bool add_old_keys(struct edit *e)
{
	struct block *blocks = need(e, e->old.channels.count, sizeof(*blocks));
	size_t count = 0, i, next;

	if (!blocks)
		return false;
	for (i = 0; i < e->old.channels.count; i++) {
		struct channel c = load_channel(&e->old, (uint32_t)i);

		if (kind_is_keyed(c.kind))
			blocks[count++] = (struct block){(size_t)(c.keys - e->old.src.data),
							 keys_size(&c), c.kind, (uint32_t)i};
	}
	qsort(blocks, count, sizeof(*blocks), by_block);
	for (i = 0; i < count; i = next) {
		for (next = i + 1; next < count && same_block(&blocks[i], &blocks[next]);)
			next++;
		share_block(e, &blocks[i], next - i);
	}
	return true;
}

static void add_new_keys(struct edit *e)
{
	uint32_t i;

	for (i = 0; i < e->record_count; i++) {
		struct record *r = &e->records[i];
		struct part *part;

		if (r->keys || !kind_is_keyed(r->is.kind) || !record_is_live(e, i))
			continue;
		part = layout_add(&e->layout, keys_rank(r->is.kind), keys_align(r->is.kind),
				  LAYOUT_NEW, 0);
		part->order = i;
		give_keys(r, part);
	}
}

static bool same_rows(const void *owner, uint32_t number, const void *key)
{
	const struct target *a = (const struct target *)owner + number, *b = key;
	size_t size = (size_t)b->clip->track_count * ROW_SIZE;

	return a->place == b->place && a->old.row_count == b->old.row_count &&
	       a->clip->track_count == b->clip->track_count && memcmp(a->rows, b->rows, size) == 0;
}

static bool fill_rows(struct edit *e, struct target *t)
{
	uint32_t track;
	unsigned role;

	t->rows = need(e, t->clip->track_count, ROW_SIZE);
	for (track = 0; t->rows && track < t->clip->track_count; track++) {
		uint8_t *row = t->rows + (size_t)track * ROW_SIZE;
		size_t i = t->first + track;

		put_u16(row, (uint16_t)e->named[i]);
		for (role = 0; role < ROLE_COUNT; role++) {
			uint32_t slot = e->slots[i * ROLE_COUNT + role];
			uint32_t number =
				slot ? e->records[e->pairs[slot - 1].is].number : NONE;

			put_u16(row + 2 + 2 * role, (uint16_t)number);
		}
	}
	return t->rows != NULL;
}

/* Rows that two animations shared, and that are still the same, stay shared. */
static void add_rows(struct edit *e, uint32_t i)
{
	struct target *t = &e->targets[i];
	size_t size = (size_t)t->clip->track_count * ROW_SIZE;
	size_t old_size = t->was == ANIM_NEW ? 0 : (size_t)t->old.row_count * ROW_SIZE;
	uint64_t hash = mix(0, t->place);
	uint32_t twin;

	if (t->was != ANIM_NEW && t->place == LAYOUT_NEW && size == 0)
		return;
	if (t->place != LAYOUT_NEW && old_size &&
	    index_find(&e->row_index, hash, same_rows, e->targets, t, &twin)) {
		t->part = e->targets[twin].part;
		return;
	}
	t->part = layout_add(&e->layout, RANK_ROWS, 4, t->place, old_size);
	t->part->old_order = t->was;
	t->part->order = i;
	t->part->data = t->rows;
	t->part->size = size;
	if (t->place != LAYOUT_NEW && size == old_size &&
	    memcmp(t->rows, bytes_at(&e->old, t->place), size) == 0)
		t->part->data = bytes_at(&e->old, t->place);
	index_put(&e->row_index, hash, i);
}

/*
 * Where the rows of the old animations stand. Those of one without rows are where they would be if
 * it had some, provided that its offset says so; otherwise it keeps its offset whatever it says.
 */
static size_t *find_row_places(struct edit *e)
{
	size_t *places = need(e, e->old.clips.count, sizeof(*places));
	size_t next = clips_end(&e->old), at;
	uint32_t i;

	for (i = 0; places && i < e->old.clips.count; i++) {
		struct entry entry = load_entry(&e->old, i);

		places[i] = LAYOUT_NEW;
		if (!follow(e->old.src, clip_place(&e->old, i), entry.row_offset, &at))
			continue;
		if (entry.row_count) {
			places[i] = at;
			next = at + (size_t)entry.row_count * ROW_SIZE;
		} else if (at == next) {
			places[i] = at;
		}
	}
	return places;
}

static void add_gone_rows(struct edit *e, const size_t *places)
{
	uint32_t i;

	for (i = 0; i < e->old.clips.count; i++) {
		struct entry entry = load_entry(&e->old, i);

		if (places[i] == LAYOUT_NEW || entry.row_count == 0)
			continue;
		layout_add(&e->layout, RANK_ROWS, 4, places[i], (size_t)entry.row_count * ROW_SIZE)
			->old_order = i;
	}
}

static bool add_all_rows(struct edit *e)
{
	size_t *places = find_row_places(e);
	uint32_t i;

	if (!places || !index_init(&e->row_index, &e->old.arena, e->a->clip_count))
		return err_memory(e->err);
	for (i = 0; i < e->a->clip_count; i++) {
		struct target *t = &e->targets[i];

		t->place = t->was == ANIM_NEW ? LAYOUT_NEW : places[t->was];
		if (!fill_rows(e, t))
			return false;
		add_rows(e, i);
	}
	for (i = 0; i < e->a->clip_count; i++)
		if (e->targets[i].was != ANIM_NEW)
			places[e->targets[i].was] = LAYOUT_NEW;
	add_gone_rows(e, places);
	return true;
}

static bool is_scene_root(const struct string *s)
{
	return strcmp(s->name, "Scene_Root") == 0;
}

static int by_units(const void *a, const void *b)
{
	const struct string *p = *(struct string *const *)a, *q = *(struct string *const *)b;
	size_t i;

	if (is_scene_root(p) != is_scene_root(q))
		return is_scene_root(p) ? -1 : 1;
	for (i = 0; i < p->size && i < q->size; i += 2) {
		uint16_t x = get_u16(p->units + i), y = get_u16(q->units + i);

		if (x != y)
			return x < y ? -1 : 1;
	}
	return p < q ? -1 : p > q;
}

static bool sort_strings(struct edit *e)
{
	struct string **sorted = need(e, e->string_count, sizeof(struct string *));
	size_t i;

	if (!sorted)
		return false;
	for (i = 0; i < e->string_count; i++)
		sorted[i] = &e->strings[i];
	qsort(sorted, e->string_count, sizeof(struct string *), by_units);
	for (i = 0; i < e->string_count; i++)
		sorted[i]->order = i;
	return true;
}

static bool add_strings(struct edit *e)
{
	size_t i;

	if (!sort_strings(e))
		return false;
	for (i = 0; i < e->bone_count; i++)
		e->strings[e->bones[i].text].used = true;
	for (i = 0; i < e->a->clip_count; i++)
		e->strings[e->targets[i].text].used = true;
	for (i = 0; i < e->string_count; i++) {
		struct string *s = &e->strings[i];
		bool is_old = i < e->old.text_count;

		if (!s->used && !is_old)
			continue;
		s->part = layout_add(&e->layout, RANK_STRINGS, 2,
				     is_old ? e->old.texts[i].at : LAYOUT_NEW,
				     is_old ? s->size : 0);
		s->part->old_order = s->part->order = s->order;
		s->part->data = s->units;
		s->part->size = s->used ? s->size : 0;
	}
	return true;
}

static bool add_parts(struct edit *e)
{
	size_t room = 4 + (size_t)e->old.channels.count + e->record_count + e->a->clip_count +
		      e->old.clips.count + e->string_count;

	if (!layout_init(&e->layout, &e->old.arena, e->old.src, room))
		return err_memory(e->err);
	e->layout.ordered = 1u << RANK_ROWS | 1u << RANK_STRINGS;
	if (!add_tables(e) || !add_old_keys(e))
		return false;
	add_new_keys(e);
	return add_all_rows(e) && add_strings(e);
}

/* ---- the bytes of what holds offsets ---- */

/* Writes the offset, from the entry at `entry`, of a place in the new file. */
static void put_offset(struct edit *e, const struct piece *piece, size_t entry, size_t field,
		       size_t to)
{
	int64_t offset = (int64_t)to - (int64_t)(piece->part->at + entry);

	if (offset < INT32_MIN || offset > INT32_MAX)
		e->too_far = true;
	put_u32(piece->bytes + entry + field, (uint32_t)offset);
}

static void put_table(struct edit *e, size_t field, uint32_t count, const struct piece *piece,
		      const struct table *old)
{
	put_u32(e->header.bytes + field, count);
	if (piece->part)
		put_offset(e, &e->header, 0, field + 4, piece->part->at);
	else
		put_u32(e->header.bytes + field + 4, (uint32_t)old->offset);
}

static void put_header(struct edit *e)
{
	memcpy(e->header.bytes, "CANM", 4);
	put_u32(e->header.bytes + 4, e->version);
	put_table(e, 0x08, e->a->clip_count, &e->clips, &e->old.clips);
	put_table(e, 0x10, e->channel_count, &e->channels, &e->old.channels);
	put_table(e, 0x18, e->bone_count, &e->names, &e->old.names);
}

static void put_words(uint8_t *p, const uint32_t *words, unsigned count)
{
	unsigned i;

	for (i = 0; i < count; i++)
		put_u32(p + 4 * i, words[i]);
}

static void put_channel(struct edit *e, const struct record *r)
{
	size_t entry = r->number * channel_size(e->version), field;
	uint8_t *p = e->channels.bytes + entry;
	const struct channel *c = &r->is;

	if (e->version == VERSION_EDF5) {
		put_u16(p, (uint16_t)c->kind);
		put_u16(p + 2, (uint16_t)c->count);
		put_words(p + 4, c->base, 3);
		put_words(p + 0x10, c->step, 3);
		field = 0x1C;
	} else {
		put_words(p, c->base, 4);
		put_words(p + 0x10, c->step, 4);
		put_u32(p + 0x24, c->kind);
		put_u32(p + 0x28, c->count);
		put_u32(p + 0x2C, c->spare);
		field = 0x20;
	}
	if (r->keys)
		put_offset(e, &e->channels, entry, field, r->keys->at);
	else
		put_u32(p + field, (uint32_t)c->offset);
}

static void put_clip(struct edit *e, uint32_t i)
{
	const struct target *t = &e->targets[i];
	size_t entry = (size_t)i * CLIP_SIZE;
	uint8_t *p = e->clips.bytes + entry;

	put_u32(p, (uint32_t)t->loop);
	put_offset(e, &e->clips, entry, 4, e->strings[t->text].part->at);
	put_f32(p + 8, t->clip->duration);
	put_f32(p + 0xC, t->clip->frame_time);
	put_u32(p + 0x10, t->clip->frames);
	put_u32(p + 0x14, t->clip->track_count);
	if (t->part)
		put_offset(e, &e->clips, entry, 0x18, t->part->at);
	else
		put_u32(p + 0x18, (uint32_t)t->old.row_offset);
}

static void put_tables(struct edit *e)
{
	uint32_t i;

	e->too_far = false;
	put_header(e);
	for (i = 0; i < e->record_count; i++)
		if (record_is_live(e, i))
			put_channel(e, &e->records[i]);
	for (i = 0; i < e->a->clip_count; i++)
		put_clip(e, i);
	for (i = 0; i < e->bone_count; i++)
		put_offset(e, &e->names, (size_t)i * NAME_SIZE, 0,
			   e->strings[e->bones[i].text].part->at);
}

/* ---- encode ---- */

static bool begin(struct edit *e, struct bytes old)
{
	uint32_t version = e->a->version ? e->a->version : VERSION_EDF5;

	if (old.size == 0) {
		e->version = version;
		if (version != VERSION_EDF5 && version != VERSION_EDF6)
			return err_set(e->err, ERR_STORE, "version %u cannot be written", version);
		return true;
	}
	if (!read_file(&e->old, old, e->err))
		return false;
	e->version = e->old.version;
	if (e->a->version && e->a->version != e->version)
		return err_set(e->err, ERR_STORE, "the version of a file cannot be changed");
	return true;
}

static bool plan(struct edit *e)
{
	if (!plan_clips(e) || !plan_slots(e) || !load_records(e) || !load_strings(e) ||
	    !load_bones(e))
		return false;
	count_users(e);
	return place_pairs(e) && name_clips(e) && name_tracks(e);
}

static bool place_parts(struct edit *e)
{
	if (layout_stay(&e->layout)) {
		put_tables(e);
		if (!layout_clash(&e->layout))
			return true;
	}
	if (!layout_pack(&e->layout, e->err))
		return false;
	put_tables(e);
	return !e->too_far || err_set(e->err, ERR_STORE, "the file would be larger than 2 GiB");
}

static bool canm_encode(const struct anim *a, struct bytes old, struct buf *out, struct err *err)
{
	struct edit e = {.a = a, .err = err};
	bool ok = begin(&e, old) && plan(&e) && add_parts(&e) && place_parts(&e);

	if (ok) {
		layout_write(&e.layout, out);
		ok = !out->failed || err_memory(err);
	}
	arena_release(&e.old.arena);
	return ok;
}

static const char *const canm_patterns[] = {"*.canm", NULL};

const struct codec canm_codec = {
	.format = &canm_format,
	.patterns = canm_patterns,
	.probe = canm_probe,
	.decode = canm_decode,
	.encode = canm_encode,
};
