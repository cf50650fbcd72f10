/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * owanim: an animation of Overwatch (asset type 006), first version of the header.
 *
 * A file is one clip without a name: a list of bones, by numbers that a model's skeleton lists, and
 * a table with an entry for each bone. An entry has three lists of keys: scales, positions and
 * rotations. A list is two arrays: the frames at which its keys stand, and their values. Keys are
 * sparse, usually in ascending order, and a frame may stand twice.
 *
 * All numbers are little-endian.
 *
 *   header      0   u32 kind of animation (160, 168, 288: absolute; 164, 166: additive)
 *               4   f32 duration, in seconds
 *               8   f32 frames a second
 *              12   u16 number of bones
 *              14   u16 flag
 *              16   u64 unknown
 *              24   u64 key of an effect, 0 for none
 *              32   u64 padding, all ones
 *              40   u64 offset: list of bones, u32 each
 *              48   u64 offset: table
 *              56   u64 end of the data, twice
 *              72   u64 zero
 *
 *   entry       0   u16 scales, positions, rotations: how many
 *               6   u16 flags
 *               8   i32 offset of the indices, likewise three
 *              20   i32 offset of the values, likewise three
 *              An offset counts in units of 4 bytes from the beginning of its entry. Where the
 *              count is 0 it says nothing.
 *
 *   scale           u16[3], in 1024ths
 *   position        f32[3]
 *   rotation        u16[3], a quaternion (smallest3.h)
 *
 * An index is a byte where the clip has at most 255 frames, otherwise a u16. How many frames it has
 * is not stored; it follows from the duration, in a way that depends on how that was rounded. An
 * old description of the format has an entry for each frame, whose arrays hold places in the list
 * of bones, and has the width of an index depend on the length of its list. Which of these is true
 * of a file is found by trying (owanim_fit.c).
 *
 * The usual order is: header, list of bones, table, then for each bone three arrays of indices and
 * three of values, each padded to 4; sometimes these stand before the table. Some bytes of unknown
 * meaning end the file. Arrays that are equal may be one.
 */
#include "model/bones.h"
#include "owanim_file.h"
#include "smallest3.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define USUAL_RATE 30 /* rate if the file has none */

static const struct lane lanes[LIST_COUNT] = {
	[LIST_SCALES] = {.form = LANE_GRID, .step = 1.0f / 1024, .unit = 1},
	[LIST_POSITIONS] = {.form = LANE_FLOAT, .unit = 1},
	[LIST_ROTATIONS] = {.form = LANE_CODE, .step = SMALLEST3_ERROR, .unit = 1},
};

const struct format owanim_format = {
	.name = "owanim",
	.suffix = "006",
	.sparse = true,
	.length = "m",
	.nameless = true,
	.has_duration = true,
	.rate_field = "fps",
	.bone_name = "bone_%04X",
	.quaternions = true,
	.lanes = {&lanes[LIST_POSITIONS], &lanes[LIST_ROTATIONS], &lanes[LIST_SCALES]},
	.max_frames = FRAMES_MAX,
};

/* ---- the file ---- */

enum list_kind owanim_kind(enum role role)
{
	return role == ROLE_SCALE         ? LIST_SCALES
	       : role == ROLE_TRANSLATION ? LIST_POSITIONS
					  : LIST_ROTATIONS;
}

/* The first two bytes are not enough: half of all files would count as newer Overwatch files. */
static bool refuse_newer(struct bytes src, struct err *err)
{
	bool has_times = src.size >= AT_FPS + 4;
	float duration = has_times ? get_f32(src.data + AT_DURATION) : 0;
	float fps = has_times ? get_f32(src.data + AT_FPS) : 0;

	if (duration >= 0 && duration <= FRAMES_MAX && fps >= 1 && fps <= 1000)
		return err_at(err, ERR_FORMAT, AT_NEWER, 2,
			      "this is a newer Overwatch header; the first version can be read");
	return err_at(err, ERR_FORMAT, AT_NEWER, 2,
		      "this is not the header of an animation: its bytes 2 and 3 are not zero");
}

static bool owanim_read_header(struct owanim *f, struct err *err)
{
	const uint8_t *p = f->src.data;

	if (f->src.size >= 4 && get_u16(p + AT_NEWER) != 0)
		return refuse_newer(f->src, err);
	if (f->src.size < HEADER_SIZE)
		return err_at(err, ERR_FORMAT, f->src.size, 0, "the file ends inside its header");
	f->bones = get_u16(p + AT_BONES);
	if (f->bones == 0 && !(get_f32(p + AT_FPS) > 0))
		return err_at(err, ERR_FORMAT, AT_FPS, 4,
			      "this is no animation: it has no bones and no frames a second");
	f->bones_at = owanim_u64(p + AT_BONE_LIST);
	f->table_at = owanim_u64(p + AT_TABLE);
	if (f->bones && !bytes_hold(f->src, f->bones_at, f->bones, ID_SIZE))
		return err_at(err, ERR_FORMAT, AT_BONE_LIST, 8,
			      "the list of %u bones does not fit into the file", f->bones);
	return true;
}

bool owanim_read(struct owanim *f, struct bytes src, struct err *err)
{
	*f = (struct owanim){.arena = ARENA_INIT, .src = src};
	return owanim_read_header(f, err) && owanim_find_fit(f, err);
}

/* Counts the keys of each bone; with `next`, also sorts them in. */
static void visit_keys(const struct owanim *f, struct owkeys *keys, size_t *next)
{
	uint32_t entries = owanim_entries(&f->fit, f->bones);

	for (uint32_t i = 0; i < entries * LIST_COUNT; i++) {
		uint32_t entry = i / LIST_COUNT;
		enum list_kind kind = i % LIST_COUNT;
		struct owlist list = owanim_list(f, entry, kind);

		for (uint32_t place = 0; place < list.count; place++) {
			uint32_t index = owanim_index(&list, place);
			uint32_t bone = f->fit.by_frame ? index : entry;

			if (bone >= f->bones)
				continue; /* a key of a bone that is not in the list; it is kept */
			if (!next) {
				keys->first[(size_t)bone * LIST_COUNT + kind + 1]++;
				continue;
			}
			keys->keys[next[(size_t)bone * LIST_COUNT + kind]++] = (struct owkey){
				.frame = f->fit.by_frame ? entry : index,
				.place = place,
				.data = list.data + place * owanim_data_size(kind),
			};
		}
	}
}

static int by_frame(const void *a, const void *b)
{
	const struct owkey *p = a, *q = b;

	if (p->frame != q->frame)
		return p->frame < q->frame ? -1 : 1;
	return p->place < q->place ? -1 : p->place > q->place;
}

static void owanim_sort_keys(struct owkey *keys, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		if (keys[i - 1].frame <= keys[i].frame)
			continue;
		qsort(keys, count, sizeof(*keys), by_frame);
		return;
	}
}

bool owanim_keys(struct owanim *f, struct owkeys *keys)
{
	size_t lists = (size_t)f->bones * LIST_COUNT;
	size_t *next = arena_alloc(&f->arena, lists + 1, sizeof(*next));

	keys->first = arena_alloc(&f->arena, lists + 1, sizeof(*keys->first));
	if (!next || !keys->first)
		return false;
	visit_keys(f, keys, NULL);
	for (size_t i = 0; i < lists; i++)
		keys->first[i + 1] += keys->first[i];
	memcpy(next, keys->first, (lists + 1) * sizeof(*next));
	keys->keys = arena_alloc(&f->arena, keys->first[lists], sizeof(*keys->keys));
	if (!keys->keys)
		return false;
	visit_keys(f, keys, next);
	for (size_t i = 0; i < lists; i++)
		owanim_sort_keys(keys->keys + keys->first[i], keys->first[i + 1] - keys->first[i]);
	return true;
}

/*
 * Recognizes an owanim by its content. There is no magic number, so the header's values must be
 * plausible, and every index and array must be in its place.
 */
bool owanim_probe(struct bytes src)
{
	struct owanim f = {.src = src};
	const uint8_t *p = src.data;
	float duration, fps;
	bool fine;

	if (!owanim_read_header(&f, NULL) || f.bones == 0 || get_u32(p + AT_COUNTER) == 0)
		return false;
	duration = get_f32(p + AT_DURATION);
	fps = get_f32(p + AT_FPS);
	if (!(duration >= 0 && duration <= FRAMES_MAX && fps >= 1 && fps <= 1000) ||
	    owanim_u64(p + AT_ZERO) != 0 || owanim_u64(p + AT_END1) > src.size ||
	    owanim_u64(p + AT_END2) > src.size)
		return false;
	fine = owanim_find_fit(&f, NULL) && f.wrong == 0;
	arena_release(&f.arena);
	return fine;
}

/* ---- decode ---- */

struct curve owanim_curve(enum list_kind kind)
{
	struct curve c = {
		.kind = kind == LIST_ROTATIONS ? CURVE_QUATERNION : CURVE_VECTOR,
		.interpolation = INTERPOLATION_LINEAR,
		.keyed = true,
	};

	for (unsigned axis = 0; axis < curve_width(&c); axis++)
		c.lane[axis] = lanes[kind];
	return c;
}

static bool decode_rotations(struct arena *arena, const struct owkey *keys, struct curve *c)
{
	double *values = arena_alloc(arena, c->count, 4 * sizeof(*values));

	for (uint32_t i = 0; values && i < c->count; i++)
		smallest3_decode(keys[i].data, values + 4 * (size_t)i);
	c->values = values;
	return values != NULL;
}

static bool decode_vectors(struct arena *arena, size_t size, const struct owkey *keys,
			   struct curve *c)
{
	uint8_t *stored = arena_alloc(arena, c->count, size);

	for (uint32_t i = 0; stored && i < c->count; i++)
		memcpy(stored + i * size, keys[i].data, size);
	c->stored = stored;
	return stored != NULL;
}

static struct curve *owanim_decode_curve(struct arena *arena, enum list_kind kind,
					 const struct owkey *keys, size_t count)
{
	struct curve *c = arena_alloc(arena, 1, sizeof(*c));
	size_t size = owanim_data_size(kind);
	uint32_t *frames = arena_alloc(arena, count, sizeof(*frames));

	if (!c || !frames)
		return NULL;
	*c = owanim_curve(kind);
	c->count = (uint32_t)count;
	c->frames = frames;
	for (size_t i = 0; i < count; i++)
		frames[i] = keys[i].frame;
	if (kind == LIST_ROTATIONS ? !decode_rotations(arena, keys, c)
				   : !decode_vectors(arena, size, keys, c))
		return NULL;
	return c;
}

static bool owanim_decode_track(struct owanim *f, const struct owkeys *keys, struct anim *a,
				uint32_t bone, struct track *t)
{
	uint32_t id = get_u32(f->src.data + f->bones_at + (size_t)bone * ID_SIZE);

	*t = (struct track){
		.name = bone_name(a->format, a->bone_names, &a->arena, id),
		.origin = bone,
		.roles = (1 << ROLE_COUNT) - 1,
		.rotation = CURVE_QUATERNION,
	};
	if (!t->name)
		return false;
	for (unsigned role = 0; role < ROLE_COUNT; role++) {
		enum list_kind kind = owanim_kind(role);
		const size_t *first = keys->first + (size_t)bone * LIST_COUNT + kind;

		if (first[0] == first[1])
			continue;
		t->curve[role] = owanim_decode_curve(&a->arena, kind, keys->keys + first[0],
						     first[1] - first[0]);
		if (!t->curve[role])
			return false;
	}
	return true;
}

static struct field integer_field(const char *name, uint32_t value, bool editable)
{
	return (struct field){
		.name = name, .type = FIELD_INT, .integer = value, .editable = editable};
}

/*
 * Makes the fields of the header. A 64-bit field is shown as two halves, as many readers of JSON
 * have 53 bits.
 */
static bool owanim_decode_fields(const struct owanim *f, struct anim *a, struct clip *clip)
{
	const uint8_t *p = f->src.data;
	struct field *own = arena_alloc(&a->arena, 3, sizeof(*own));
	struct field *effect = arena_alloc(&a->arena, 2, sizeof(*effect));

	if (!own || !effect)
		return false;
	own[0] = integer_field("counter1", get_u32(p + AT_COUNTER), true);
	own[1] = (struct field){.name = "fps",
				.type = FIELD_REAL,
				.real = (double)get_f32(p + AT_FPS),
				.editable = true};
	own[2] = integer_field("flag", get_u16(p + AT_FLAG), true);
	clip->field_count = 3;
	clip->fields = own;
	effect[0] = integer_field("effect_high", get_u32(p + AT_EFFECT + 4), false);
	effect[1] = integer_field("effect_low", get_u32(p + AT_EFFECT), false);
	a->field_count = 2;
	a->fields = effect;
	return true;
}

static bool owanim_decode_clip(struct owanim *f, struct anim *a)
{
	struct clip *clip = arena_alloc(&a->arena, 1, sizeof(*clip));
	struct track *tracks = arena_alloc(&a->arena, f->bones, sizeof(*tracks));
	struct owkeys keys;

	if (!clip || !tracks || !owanim_keys(f, &keys) || !owanim_decode_fields(f, a, clip))
		return false;
	for (uint32_t bone = 0; bone < f->bones; bone++) {
		if (!owanim_decode_track(f, &keys, a, bone, &tracks[bone]))
			return false;
	}
	clip->name = "";
	clip->frames = f->fit.frames;
	clip->frame_time = 1;
	clip->duration = get_f32(f->src.data + AT_DURATION);
	clip->track_count = f->bones;
	clip->tracks = tracks;
	a->clip_count = 1;
	a->clips = clip;
	return true;
}

static bool owanim_is_zero(const uint8_t *p, size_t size)
{
	while (size && *p == 0)
		p++, size--;
	return size == 0;
}

static const char *owanim_beyond(const struct owanim *f)
{
	uint64_t end = owanim_u64(f->src.data + AT_END1);
	bool any = owanim_u64(f->src.data + AT_UNKNOWN) != 0;

	if (end >= HEADER_SIZE && end < f->src.size)
		any |= !owanim_is_zero(f->src.data + end, (size_t)(f->src.size - end));
	for (uint32_t i = 0; f->bones && i < owanim_entries(&f->fit, f->bones); i++)
		any |= get_u16(owanim_entry(f, i) + 6) != 0;
	return any ? "bytes without a known meaning: in the header, the table or at the end" : NULL;
}

static double rate_of(const struct owanim *f)
{
	float fps = get_f32(f->src.data + AT_FPS);

	return isfinite(fps) && fps > 0 ? (double)fps : USUAL_RATE;
}

struct anim *owanim_decode(struct bytes src, const struct hints *hints, struct err *err)
{
	struct anim *a = NULL;
	struct owanim f;

	if (!owanim_read(&f, src, err))
		goto done;
	a = calloc(1, sizeof(*a));
	if (!a) {
		err_memory(err);
		goto done;
	}
	a->format = &owanim_format;
	a->rate = rate_of(&f);
	a->beyond = owanim_beyond(&f);
	a->bone_names = hints ? hints->bone_names : NULL;
	if (!owanim_decode_clip(&f, a)) {
		anim_free(a);
		a = NULL;
		err_memory(err);
	}
done:
	arena_release(&f.arena);
	return a;
}
