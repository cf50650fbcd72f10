/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Vib-Ribbon ANM: the movements of the objects of a model (TMD) of the PlayStation game.
 *
 * A file is a list of frames, 30 a second, and a frame is a list of keyframes. A keyframe belongs
 * to one object and has up to three parts: rotation, scale and position, all of them in the space
 * of the model. An object without a keyframe in a frame is not drawn in it. A keyframe without
 * parts, or two of one object in one frame, are legal.
 *
 * All numbers are little-endian.
 *
 *   header      0x00  u16 0x8000
 *               0x02  u16 word2 (1, 15, 20, 30 and 60 are known; its meaning is not)
 *               0x04  u16 number of frames
 *               0x06  u16 places[frames + 1], in units of two bytes from the start of the file:
 *                     where each frame begins, and where the last one ends
 *
 *   keyframe    0x00  u8 object
 *               0x01  u8 flags; bit 0: it has a rotation, 1: a scale, 2: a position; the others
 *                     have no known meaning
 *               0x02  s16 x y z of each part that it has, in the order of their bits
 *
 * Of a rotation 4096 is a whole turn, R = Rz * Ry * Rx; of a scale 4096 is 1; a position counts in
 * the units of the model's vertices.
 *
 * The first frame usually begins right behind the table and the last one ends with the file. Any
 * bytes between or after are kept. The places are 16 bits wide, and so the frames of a file end at
 * 131,070 at most.
 *
 * Bones are the objects that have a keyframe, by their numbers: the only order that stays while
 * keyframes come and go.
 *
 * Writing. The model has everything but the order of the objects within a frame. That is the old
 * file's: the n-th keyframe of an object in a frame takes the place of its old n-th one, and those
 * without an old one follow, by object. The bytes around the frames are copied.
 */
#include "ribbon.h"
#include "model/bones.h"

#include <stdlib.h>

/* A stored s16 is k - 32768. */
const struct lane ribbon_translation = {.form = LANE_GRID, .base = INT16_MIN, .step = 1, .unit = 1};
const struct lane ribbon_rotation = {
	.form = LANE_GRID, .base = INT16_MIN, .step = 1, .unit = DEGREES_PER_STEP, .exact = true};
const struct lane ribbon_scale = {.form = LANE_GRID, .base = -8, .step = 1.0f / 4096, .unit = 1};

const struct format ribbon_format = {
	.name = "ribbon",
	.suffix = "anm",
	.max_frames = FRAMES_MAX,
	RIBBON_MEMBERS,
};

/* ---- the file ---- */

static bool ribbon_read_header(struct ribbon *f, struct err *err)
{
	if (f->src.size < HEADER_SIZE)
		return err_at(err, ERR_FORMAT, f->src.size, 0, "the file ends inside its header");
	if (get_u16(f->src.data) != MAGIC)
		return err_at(err, ERR_FORMAT, 0, 2, "the file does not begin with 0x8000");
	f->frames = get_u16(f->src.data + 4);
	f->table_end = place_field(f->frames + 1);
	if (f->table_end > f->src.size)
		return err_at(err, ERR_FORMAT, 4, 2,
			      "the table of %u frames does not fit into the file", f->frames);
	return true;
}

static bool ribbon_check_table(struct ribbon *f, struct err *err)
{
	f->end = frame_place(f, f->frames);
	if (frame_place(f, 0) < f->table_end)
		return err_at(err, ERR_FORMAT, place_field(0), PLACE_SIZE,
			      "the frames begin at %zu, inside the table", frame_place(f, 0));
	for (uint32_t i = 0; i < f->frames; i++) {
		if (frame_place(f, i + 1) < frame_place(f, i))
			return err_at(err, ERR_FORMAT, place_field(i + 1), PLACE_SIZE,
				      "frame %u ends before it begins", i);
	}
	if (f->end > f->src.size)
		return err_at(err, ERR_FORMAT, place_field(f->frames), PLACE_SIZE,
			      "the frames end at %zu, past the end of the file", f->end);
	return true;
}

static bool check_frame(const struct ribbon *f, uint32_t frame, struct err *err)
{
	size_t at = frame_place(f, frame), end = frame_place(f, frame + 1);
	struct keyframe k;

	while (ribbon_next(f, &at, end, &k))
		;
	return at == end || err_at(err, ERR_FORMAT, at, end - at,
				   "a keyframe of frame %u crosses the frame's end", frame);
}

bool ribbon_read(struct ribbon *f, struct bytes src, struct err *err)
{
	*f = (struct ribbon){.src = src};
	if (!ribbon_read_header(f, err) || !ribbon_check_table(f, err))
		return false;
	for (uint32_t i = 0; i < f->frames; i++) {
		if (!check_frame(f, i, err))
			return false;
	}
	return true;
}

/*
 * Recognizes a file. The two bytes at the beginning are little evidence, so no byte of the file may
 * be left over.
 */
bool ribbon_probe(struct bytes src)
{
	struct ribbon f;

	return ribbon_read(&f, src, NULL) && frame_place(&f, 0) == f.table_end && f.end == src.size;
}

/* ---- decode ---- */

struct keys {
	uint32_t count, *frames;
	uint8_t *stored; /* stored values, u16[3] per key */
};

/* The keys of an object. Counted in a first pass and filled in a second. */
struct object {
	uint32_t count, *frames;
	uint8_t *flags, *roles;
	struct keys keys[ROLE_COUNT];
};

struct decoder {
	struct ribbon f;
	struct anim *a;
	struct object objects[OBJECTS];
};

static void count_keyframe(struct object *o, const struct keyframe *k)
{
	o->count++;
	for (unsigned part = 0; part < PART_COUNT; part++)
		o->keys[part_roles[part]].count += k->flags >> part & 1;
}

static void ribbon_take_key(struct keys *keys, uint32_t frame, const uint8_t *part)
{
	uint8_t *to = keys->stored + (size_t)keys->count * PART_SIZE;

	keys->frames[keys->count++] = frame;
	for (size_t i = 0; i < PART_SIZE; i += 2)
		put_u16(to + i, get_u16(part + i) ^ 0x8000);
}

static void take_keyframe(struct object *o, uint32_t frame, const struct keyframe *k)
{
	uint32_t i = o->count++;
	const uint8_t *part = k->parts;

	o->frames[i] = frame;
	o->flags[i] = k->flags & (uint8_t)~PART_BITS;
	for (unsigned bit = 0; bit < PART_COUNT; bit++) {
		enum role role = part_roles[bit];

		if (!(k->flags & 1u << bit))
			continue;
		o->roles[i] |= (uint8_t)(1u << role);
		ribbon_take_key(&o->keys[role], frame, part);
		part += PART_SIZE;
	}
}

/* Visits all keyframes; with `counting` counts the keys, else fills them in. */
static void visit_keyframes(struct decoder *d, bool counting)
{
	for (uint32_t frame = 0; frame < d->f.frames; frame++) {
		size_t at = frame_place(&d->f, frame), end = frame_place(&d->f, frame + 1);
		struct keyframe k;

		while (ribbon_next(&d->f, &at, end, &k)) {
			if (counting)
				count_keyframe(&d->objects[k.object], &k);
			else
				take_keyframe(&d->objects[k.object], frame, &k);
		}
	}
}

static void ribbon_make_room(struct object *o, struct arena *arena)
{
	if (!o->count)
		return;
	o->frames = arena_alloc(arena, o->count, sizeof(*o->frames));
	o->flags = arena_alloc(arena, o->count, 1);
	o->roles = arena_alloc(arena, o->count, 1);
	o->count = 0;
	for (unsigned role = 0; role < ROLE_COUNT; role++) {
		struct keys *keys = &o->keys[role];

		if (!keys->count)
			continue;
		keys->frames = arena_alloc(arena, keys->count, sizeof(*keys->frames));
		keys->stored = arena_alloc(arena, keys->count, PART_SIZE);
		keys->count = 0;
	}
}

static const struct curve *make_curve(const struct keys *keys, enum role role, struct arena *arena)
{
	struct curve *c = keys->count ? arena_alloc(arena, 1, sizeof(*c)) : NULL;

	if (!c)
		return NULL;
	*c = (struct curve){
		.kind = ribbon_kind(role),
		.interpolation = INTERPOLATION_STEP,
		.keyed = true,
		.count = keys->count,
		.frames = keys->frames,
		.stored = keys->stored,
	};
	for (unsigned axis = 0; axis < curve_width(c); axis++)
		c->lane[axis] = *ribbon_format.lanes[role];
	return c;
}

static void ribbon_make_track(struct decoder *d, uint32_t number, struct track *t)
{
	struct arena *arena = &d->a->arena;
	const struct object *o = &d->objects[number];
	struct keyframes *k = arena_alloc(arena, 1, sizeof(*k));

	t->name = bone_name(&ribbon_format, d->a->bone_names, arena, number);
	t->roles = (1u << ROLE_COUNT) - 1;
	t->rotation = CURVE_EULER;
	for (enum role role = 0; role < ROLE_COUNT; role++)
		t->curve[role] = make_curve(&o->keys[role], role, arena);
	if (!t->name || !k) {
		arena->failed = true;
		return;
	}
	*k = (struct keyframes){o->count, o->frames, o->flags, o->roles};
	t->keyframes = k;
}

static void ribbon_make_clip(struct decoder *d, struct clip *clip, struct field *word2)
{
	struct track *tracks = arena_alloc(&d->a->arena, OBJECTS, sizeof(*tracks));

	*word2 = (struct field){.name = "word2",
				.type = FIELD_INT,
				.integer = get_u16(d->f.src.data + 2),
				.editable = true};
	*clip = (struct clip){
		.name = "",
		.frames = d->f.frames,
		.frame_time = 1,
		.tracks = tracks,
		.field_count = 1,
		.fields = word2,
	};
	for (uint32_t i = 0; tracks && i < OBJECTS; i++) {
		if (!d->objects[i].count)
			continue;
		tracks[clip->track_count].origin = clip->track_count;
		ribbon_make_track(d, i, &tracks[clip->track_count++]);
	}
}

/* Makes the model. False when out of memory. */
static bool ribbon_make_anim(struct decoder *d, const struct hints *hints)
{
	struct anim *a = d->a;
	struct clip *clip = arena_alloc(&a->arena, 1, sizeof(*clip));
	struct field *word2 = arena_alloc(&a->arena, 1, sizeof(*word2));

	visit_keyframes(d, true);
	for (unsigned i = 0; i < OBJECTS; i++)
		ribbon_make_room(&d->objects[i], &a->arena);
	if (a->arena.failed)
		return false;
	visit_keyframes(d, false);
	a->format = &ribbon_format;
	a->rate = ribbon_format.rate;
	if (d->f.table_end < frame_place(&d->f, 0) || d->f.end < d->f.src.size)
		a->beyond = "the bytes before and behind its frames";
	a->bone_names = hints ? hints->bone_names : NULL;
	a->clip_count = 1;
	a->clips = clip;
	ribbon_make_clip(d, clip, word2);
	return !a->arena.failed;
}

struct anim *ribbon_decode(struct bytes src, const struct hints *hints, struct err *err)
{
	struct decoder d = {.a = NULL};

	if (!ribbon_read(&d.f, src, err))
		return NULL;
	d.a = calloc(1, sizeof(*d.a));
	if (d.a && ribbon_make_anim(&d, hints))
		return d.a;
	anim_free(d.a);
	err_memory(err);
	return NULL;
}
