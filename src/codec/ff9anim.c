/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * FF9ANIM: an animation block of Final Fantasy IX for the PlayStation (DB chunk type 0x03).
 *
 * A block is one animation: the translation of the first bone, and three angles of every bone, in
 * every frame. There are no names, no rate, and no number of bones; a model has those.
 *
 * All numbers are little-endian. Pointers count from the block's first byte.
 *
 *   header      0x00  u16 0
 *               0x02  u16 number of frames
 *               0x04  record: the translation
 *               0x0C  u32 high table
 *               0x10  u32 low table; 0: none
 *
 *   table       records, one a bone
 *
 *   record      0x00  u16 x, u16 y, u16 z
 *               0x06  u16 mask; bit 0: x is a value for all frames, else a pointer to a stream of
 *                     one value a frame; bit 1: y, bit 2: z
 *
 *   stream      of a translation  s16 a frame
 *               of the high table u8 a frame; in a record the value stands sign-extended
 *               of the low table  4 bits a frame, those of even frames in the low half of a byte
 *
 * An angle is high << 4 | low, in steps of a 4096th of a turn; R = Rz * Ry * Rx, x first.
 *
 * The number of bones follows from the size of a table: it has as many records as fit before the
 * other table, the first of its streams, or the end. Without streams and another table, bytes
 * behind the table look like more records: then the number must be given, unless the records reach
 * the end exactly.
 *
 * The game's own blocks have this order: header, streams of the translation, high table, its
 * streams (bone by bone, x y z), low table, its streams; both tables and the end on multiples of 4.
 * A value is in the record if it is the same in all frames, otherwise in a stream; high and low
 * parts independently. So the values determine such a block, except whether it has a low table.
 *
 * Writing. A block whose values stay keeps its bytes. Any other is laid out again in this order.
 * The first word, the unused bits of masks and the bytes behind the last part are kept, gaps and
 * sharing are not. A low table stays, and is added if an angle needs it (ff9anim_write.c).
 */
#include "ff9anim.h"
#include "model/bones.h"

#include <stdlib.h>
#include <string.h>

static const struct lane translation_lane = {
	.form = LANE_GRID, .base = -32768, .step = 1, .unit = 1};
static const struct lane rotation_lane = {
	.form = LANE_GRID, .step = 1, .unit = DEGREES_PER_STEP, .turn = 360, .exact = true};

const struct format ff9anim_format = {
	.name = "ff9anim",
	.suffix = "ff9anim",
	.rate = 30,
	.full = true,
	.y_down = true,
	.length = "game unit",
	.nameless = true,
	.bone_name = "bone_%03u",
	.bones_counted = true,
	.roles = {1u << ROLE_TRANSLATION | 1u << ROLE_ROTATION, 1u << ROLE_ROTATION},
	.lanes = {&translation_lane, &rotation_lane, NULL},
	.max_frames = FRAMES_MAX,
};

/* ---- records and values ---- */

static struct record record_at(const struct block *b, size_t at)
{
	const uint8_t *p = b->src.data + at;

	return (struct record){{get_u16(p), get_u16(p + 2), get_u16(p + 4)}, get_u16(p + 6)};
}

static size_t record_place(const struct block *b, enum part part, uint32_t bone)
{
	size_t table = part == PART_HIGH ? b->high : b->low;

	return part == PART_TRANSLATION ? TRANSLATION_AT : table + (size_t)bone * RECORD_SIZE;
}

struct record ff9_record(const struct block *b, enum part part, uint32_t bone)
{
	if (part == PART_LOW && !b->low)
		return (struct record){.mask = MASK_USED};
	return record_at(b, record_place(b, part, bone));
}

/* One axis of a record: a value for all frames, or a stream with one for each. */
struct source {
	unsigned value;
	const uint8_t
		*stream; /* values of the axis, one per frame; NULL: one value for all frames */
};

static struct source source_of(const struct block *b, const struct record *r, unsigned axis)
{
	unsigned field = r->field[axis];

	return (struct source){field, is_constant(r, axis) ? NULL : b->src.data + field};
}

/* Returns the bits of one value that this part (high or low) stores. */
static inline unsigned value_at(const struct source *s, enum part part, uint32_t frame)
{
	switch (part) {
	case PART_TRANSLATION:
		return s->stream ? get_u16(s->stream + 2 * (size_t)frame) : s->value;
	case PART_HIGH:
		return s->stream ? s->stream[frame] : s->value & 0xFF;
	default:
		return (s->stream ? (unsigned)s->stream[frame / 2] >> frame % 2 * 4 : s->value) &
		       0xF;
	}
}

void ff9_translation(const struct block *b, uint8_t *keys)
{
	struct record r = ff9_record(b, PART_TRANSLATION, 0);

	for (unsigned axis = 0; axis < AXES; axis++) {
		struct source s = source_of(b, &r, axis);
		uint8_t *to = keys + 2 * axis;

		for (uint32_t frame = 0; frame < b->frames; frame++, to += KEY_SIZE)
			put_u16(to, (uint16_t)(value_at(&s, PART_TRANSLATION, frame) ^ 0x8000));
	}
}

void ff9_rotation(const struct block *b, uint32_t bone, uint8_t *keys)
{
	struct record high = ff9_record(b, PART_HIGH, bone), low = ff9_record(b, PART_LOW, bone);

	for (unsigned axis = 0; axis < AXES; axis++) {
		struct source h = source_of(b, &high, axis), l = source_of(b, &low, axis);
		uint8_t *to = keys + 2 * axis;

		for (uint32_t frame = 0; frame < b->frames; frame++, to += KEY_SIZE)
			put_u16(to, (uint16_t)(value_at(&h, PART_HIGH, frame) << 4 |
					       value_at(&l, PART_LOW, frame)));
	}
}

/* ---- what is not in the model ---- */

static void ff9anim_extend_to(size_t end, size_t *last)
{
	if (end > *last)
		*last = end;
}

static void reach_streams(const struct block *b, enum part part, uint32_t bone, size_t *last)
{
	struct record r = ff9_record(b, part, bone);

	for (unsigned axis = 0; axis < AXES; axis++)
		if (!is_constant(&r, axis))
			ff9anim_extend_to(r.field[axis] + stream_size(part, b->frames), last);
}

struct bytes ff9_trailing(const struct block *b)
{
	size_t last = HEADER_SIZE, table = (size_t)b->bones * RECORD_SIZE;

	if (b->bones == 0)
		return (struct bytes){NULL, 0};
	ff9anim_extend_to(b->high + table, &last);
	reach_streams(b, PART_TRANSLATION, 0, &last);
	if (b->low)
		ff9anim_extend_to(b->low + table, &last);
	for (uint32_t bone = 0; bone < b->bones; bone++) {
		reach_streams(b, PART_HIGH, bone, &last);
		reach_streams(b, PART_LOW, bone, &last);
	}
	last = (last + 3) & ~(size_t)3;
	if (last >= b->src.size)
		return (struct bytes){NULL, 0};
	return (struct bytes){b->src.data + last, b->src.size - last};
}

static bool has_unused_bits(const struct block *b, enum part part, uint32_t count)
{
	for (uint32_t bone = 0; bone < count; bone++)
		if (ff9_record(b, part, bone).mask & (0xFFFF ^ MASK_USED))
			return true;
	return false;
}

static const char *ff9anim_beyond(const struct block *b)
{
	if (ff9_trailing(b).size)
		return "the bytes behind its last part";
	return has_unused_bits(b, PART_TRANSLATION, 1) || has_unused_bits(b, PART_HIGH, b->bones) ||
			       (b->low && has_unused_bits(b, PART_LOW, b->bones))
		       ? "bits of its masks without a known meaning"
		       : NULL;
}

/* ---- the number of bones ---- */

/* Lowers the end of a table to where one of its streams begins. */
static void lower_limit(const struct record *r, size_t table, size_t *limit)
{
	for (unsigned axis = 0; axis < AXES; axis++)
		if (!is_constant(r, axis) && r->field[axis] > table && r->field[axis] < *limit)
			*limit = r->field[axis];
}

/*
 * Counts the records of a table. *firm: the table ends where another part begins. *whole: it ends
 * exactly with the block.
 */
static uint32_t count_records(const struct block *b, size_t table, size_t other, bool *firm,
			      bool *whole)
{
	size_t limit = other > table ? other : b->src.size, at = table;
	struct record r = record_at(b, TRANSLATION_AT);

	lower_limit(&r, table, &limit);
	while (at < limit && limit - at >= RECORD_SIZE && (at - table) / RECORD_SIZE <= BONES_MAX) {
		r = record_at(b, at);
		lower_limit(&r, table, &limit);
		at += RECORD_SIZE;
	}
	*firm |= limit < b->src.size;
	*whole |= at == b->src.size;
	return (uint32_t)((at - table) / RECORD_SIZE);
}

/*
 * Returns the number of bones; 0: unknown. `given` is used only if the block does not determine the
 * number.
 */
static uint32_t count_bones(const struct block *b, uint32_t given)
{
	bool firm = false, whole = false;
	uint32_t count = count_records(b, b->high, b->low, &firm, &whole);

	if (b->low) {
		uint32_t low = count_records(b, b->low, b->high, &firm, &whole);

		count = low < count ? low : count;
	}
	if (given && !firm)
		return given;
	return firm || whole ? count : 0;
}

/* ---- checking it ---- */

static bool ff9anim_read_table(const struct block *b, size_t field, const char *which,
			       size_t *table, struct err *err)
{
	uint32_t at = get_u32(b->src.data + field);

	*table = at;
	if (at & 0x80000000)
		return err_at(
			err, ERR_FORMAT, field, 4,
			"the pointer to the %s table, 0x%08X, is one of a block in the memory "
			"of the console",
			which, at);
	if (at % 4)
		return err_at(err, ERR_FORMAT, field, 4,
			      "the %s table stands at 0x%X, which is no multiple of 4", which, at);
	if (!bytes_hold(b->src, at, 1, RECORD_SIZE))
		return err_at(err, ERR_FORMAT, field, 4, "the %s table at 0x%X is not in the block",
			      which, at);
	return true;
}

static bool ff9anim_read_header(struct block *b, struct bytes src, struct err *err)
{
	*b = (struct block){.src = src};
	if (src.size < HEADER_SIZE)
		return err_at(err, ERR_FORMAT, src.size, 0, "the block ends inside its header");
	b->word0 = get_u16(src.data);
	b->frames = get_u16(src.data + 2);
	if (b->frames == 0)
		return err_at(err, ERR_FORMAT, 2, 2, "the animation has no frames");
	if (get_u32(src.data + 0xC) == 0)
		return err_at(err, ERR_FORMAT, 0xC, 4, "there is no high table");
	return ff9anim_read_table(b, 0xC, "high", &b->high, err) &&
	       (get_u32(src.data + 0x10) == 0 || ff9anim_read_table(b, 0x10, "low", &b->low, err));
}

static bool check_record(const struct block *b, enum part part, uint32_t bone, struct err *err)
{
	static const char *const names[] = {"translation", "high", "low"};
	size_t at = record_place(b, part, bone);
	struct record r = ff9_record(b, part, bone);

	for (unsigned axis = 0; axis < AXES; axis++, at += 2) {
		if (is_constant(&r, axis))
			continue;
		if (!bytes_hold(b->src, r.field[axis], 1, stream_size(part, b->frames)))
			return err_at(err, ERR_FORMAT, at, 2,
				      "bone %u: the %s values of %c at 0x%X leave the block", bone,
				      names[part], "xyz"[axis], r.field[axis]);
		if (part == PART_TRANSLATION && r.field[axis] % 2)
			return err_at(err, ERR_FORMAT, at, 2,
				      "the translation's values of %c stand at the odd offset 0x%X",
				      "xyz"[axis], r.field[axis]);
	}
	return true;
}

static bool ff9anim_check_tables(const struct block *b, struct err *err)
{
	if (!bytes_hold(b->src, b->high, b->bones, RECORD_SIZE) ||
	    (b->low && !bytes_hold(b->src, b->low, b->bones, RECORD_SIZE)))
		return err_at(err, ERR_FORMAT, b->high, 0, "%u bones do not fit into the block",
			      b->bones);
	if (b->bones > BONES_MAX || (uint64_t)b->bones * b->frames > KEYS_MAX)
		return err_at(err, ERR_FORMAT, b->high, 0, "%u bones over %u frames are too many",
			      b->bones, b->frames);
	for (uint32_t bone = 0; bone < b->bones; bone++)
		if (!check_record(b, PART_HIGH, bone, err) ||
		    (b->low && !check_record(b, PART_LOW, bone, err)))
			return false;
	return true;
}

bool ff9_read(struct block *b, struct bytes src, uint32_t bones, struct err *err)
{
	if (!ff9anim_read_header(b, src, err) || !check_record(b, PART_TRANSLATION, 0, err))
		return false;
	b->bones = count_bones(b, bones);
	if (b->bones == 0)
		return err_at(err, ERR_FORMAT, b->high, 0,
			      "the block does not say how many bones it has: give the number with "
			      "--type 'NAME=ff9anim:24', or put the model beside it, as NAME with "
			      "the extension .ff9model");
	return ff9anim_check_tables(b, err);
}

/* Could the block be read if the number of bones were given? */
bool ff9_incomplete(struct bytes src)
{
	struct block b;

	return ff9anim_read_header(&b, src, NULL) && count_bones(&b, 0) == 0;
}

/* ---- decode ---- */

/* Makes a curve whose keys are still to be filled in. */
static const struct curve *ff9anim_new_curve(struct anim *a, const struct block *b, enum role role,
					     uint8_t **keys)
{
	struct curve *c = arena_alloc(&a->arena, 1, sizeof(*c));

	*keys = arena_alloc(&a->arena, b->frames, KEY_SIZE);
	if (!c || !*keys)
		return NULL;
	c->kind = role == ROLE_ROTATION ? CURVE_EULER : CURVE_VECTOR;
	c->keyed = true;
	c->count = b->frames;
	for (unsigned axis = 0; axis < AXES; axis++)
		c->lane[axis] = *ff9anim_format.lanes[role];
	c->stored = *keys;
	return c;
}

static const struct curve *decode_translation(struct anim *a, const struct block *b)
{
	uint8_t *keys;
	const struct curve *c = ff9anim_new_curve(a, b, ROLE_TRANSLATION, &keys);

	if (c)
		ff9_translation(b, keys);
	return c;
}

static const struct curve *decode_rotation(struct anim *a, const struct block *b, uint32_t bone)
{
	uint8_t *keys;
	const struct curve *c = ff9anim_new_curve(a, b, ROLE_ROTATION, &keys);

	if (c)
		ff9_rotation(b, bone, keys);
	return c;
}

static bool ff9anim_decode_track(struct anim *a, const struct block *b, uint32_t bone,
				 struct track *t)
{
	*t = (struct track){.name = a->bones[bone],
			    .origin = bone,
			    .roles = 1 << ROLE_ROTATION,
			    .rotation = CURVE_EULER};
	t->curve[ROLE_ROTATION] = decode_rotation(a, b, bone);
	if (bone == 0) {
		t->roles |= 1 << ROLE_TRANSLATION;
		t->curve[ROLE_TRANSLATION] = decode_translation(a, b);
	}
	return !a->arena.failed;
}

static bool ff9anim_decode_clip(struct anim *a, const struct block *b, struct clip *clip)
{
	struct track *tracks = arena_alloc(&a->arena, b->bones, sizeof(*tracks));
	struct field *word0 = arena_alloc(&a->arena, 1, sizeof(*word0));

	if (!tracks || !word0)
		return false;
	*word0 = (struct field){
		.name = "word0", .type = FIELD_INT, .integer = b->word0, .editable = true};
	*clip = (struct clip){.name = "",
			      .frames = b->frames,
			      .frame_time = 1,
			      .track_count = b->bones,
			      .tracks = tracks,
			      .field_count = 1,
			      .fields = word0};
	for (uint32_t bone = 0; bone < b->bones; bone++)
		if (!ff9anim_decode_track(a, b, bone, &tracks[bone]))
			return false;
	return true;
}

static bool ff9anim_decode_all(struct anim *a, const struct block *b)
{
	const char **bones = arena_alloc(&a->arena, b->bones, sizeof(*bones));
	struct clip *clip = arena_alloc(&a->arena, 1, sizeof(*clip));

	for (uint32_t bone = 0; bones && bone < b->bones; bone++) {
		bones[bone] = bone_name(a->format, a->bone_names, &a->arena, bone);
		if (!bones[bone])
			return false;
	}
	a->bone_count = b->bones;
	a->bones = bones;
	a->clip_count = 1;
	a->clips = clip;
	return bones && clip && ff9anim_decode_clip(a, b, clip);
}

struct anim *ff9_decode(struct bytes src, const struct hints *hints, struct err *err)
{
	struct block b;
	struct anim *a;

	if (!ff9_read(&b, src, hints ? hints->bones : 0, err))
		return NULL;
	a = calloc(1, sizeof(*a));
	if (!a) {
		err_memory(err);
		return NULL;
	}
	a->format = &ff9anim_format;
	a->rate = ff9anim_format.rate;
	a->beyond = ff9anim_beyond(&b);
	a->bone_names = hints ? hints->bone_names : NULL;
	if (ff9anim_decode_all(a, &b))
		return a;
	anim_free(a);
	err_memory(err);
	return NULL;
}

/* ---- detection ---- */

/* Are the record's streams behind the header? */
static bool points_past_header(const struct record *r)
{
	for (unsigned axis = 0; axis < AXES; axis++)
		if (!is_constant(r, axis) && r->field[axis] < HEADER_SIZE)
			return false;
	return true;
}

/* Recognizes a block by what holds for all blocks of the game, since there is no magic number. */
bool ff9_probe(struct bytes src)
{
	struct block b;
	struct record r;
	size_t streams;

	if (!ff9anim_read_header(&b, src, NULL))
		return false;
	r = ff9_record(&b, PART_TRANSLATION, 0);
	streams = (size_t)(AXES - __builtin_popcount(r.mask & MASK_USED));
	if (b.word0 || r.mask > MASK_USED || !points_past_header(&r) ||
	    b.high != ((HEADER_SIZE + streams * stream_size(PART_TRANSLATION, b.frames) + 3) &
		       ~(size_t)3) ||
	    (b.low && b.low <= b.high) || !ff9_read(&b, src, 0, NULL))
		return false;
	for (uint32_t bone = 0; bone < b.bones; bone++) {
		struct record high = ff9_record(&b, PART_HIGH, bone);
		struct record low = ff9_record(&b, PART_LOW, bone);

		if (!points_past_header(&high) || !points_past_header(&low))
			return false;
	}
	return true;
}
