/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ff9anim_write.c - writes a model as a Final Fantasy IX block: the old bytes if the values are the
 * same, otherwise a block in the order of the game's own; and the codec.
 */
#include "codecs.h"
#include "ff9anim.h"
#include "model/bones.h"

#include <math.h>
#include <string.h>

#define POINTER_MAX 0xFFFFu /* limit of a pointer, which has 16 bits in a record */
#define STEPS 4096          /* steps of a full turn */

struct edit {
	struct arena arena;
	const struct anim *a;
	const struct clip *clip; /* the only clip of the file */
	struct err *err;
	struct block old; /* without bones: there is no old block */
	/* The values to be written. */
	uint16_t word0;
	uint32_t frames, bones;
	uint8_t *translation; /* keys as ff9_translation gives them */
	uint8_t **rotations;  /* keys of each bone as ff9_rotation gives them */
	bool low;             /* the new block gets a low table */
	struct buf *out;
};

/* ---- the model ---- */

static const char *ff9anim_write_clip_word(const struct edit *e)
{
	return e->clip->label ? e->clip->label : e->clip->name;
}

static const char *ff9anim_write_track_word(const struct track *t)
{
	return t->label ? t->label : t->name;
}

static bool ff9anim_write_check_clip(struct edit *e)
{
	const struct clip *c = e->clip;

	if (e->a->clip_count != 1)
		return err_set(e->err, ERR_STORE, "a block holds one animation, not %u",
			       e->a->clip_count);
	if (c->frames < 1 || c->frames > FRAMES_MAX)
		return err_set(e->err, ERR_STORE, "%s has %u frames; 1 to %u can be stored",
			       ff9anim_write_clip_word(e), c->frames, FRAMES_MAX);
	if (c->track_count < 1 || c->track_count > BONES_MAX ||
	    (uint64_t)c->track_count * c->frames > KEYS_MAX)
		return err_set(e->err, ERR_STORE,
			       "%s has %u bones over %u frames; at least one bone, and no more "
			       "than %u keys of bones, can be stored",
			       ff9anim_write_clip_word(e), c->track_count, c->frames, KEYS_MAX);
	if (c->loop || c->frame_time != 1 || c->duration != 0)
		return err_set(e->err, ERR_STORE,
			       "%s: whether it loops, its frame time and its duration cannot be "
			       "stored",
			       ff9anim_write_clip_word(e));
	return true;
}

static bool read_word0(struct edit *e)
{
	for (uint32_t i = 0; i < e->clip->field_count; i++) {
		const struct field *f = &e->clip->fields[i];

		if (strcmp(f->name, "word0") != 0)
			continue;
		if (f->type != FIELD_INT || f->integer < 0 || f->integer > UINT16_MAX)
			return err_set(e->err, ERR_STORE,
				       "%s: word0 is a whole number from 0 to 65535",
				       ff9anim_write_clip_word(e));
		e->word0 = (uint16_t)f->integer;
	}
	return true;
}

/* Refuses a new name for a bone, which is identified only by its index. */
static bool check_bone(struct edit *e, uint32_t i)
{
	const struct track *t = &e->clip->tracks[i];
	uint32_t number;

	if (bone_number(e->a->format, e->a->bone_names, t->name, &number) && number == i)
		return true;
	return err_set(
		e->err, ERR_STORE,
		"%s cannot be bone %u of %s: bones are identified by their place, and so can only "
		"be added or removed at the end, under the next number",
		ff9anim_write_track_word(t), i, ff9anim_write_clip_word(e));
}

/*
 * Refuses missing and additional curves, which the format does not allow; each has a key in every
 * frame.
 */
static bool ff9anim_write_check_curve(struct edit *e, uint32_t bone, enum role role)
{
	const struct track *t = &e->clip->tracks[bone];
	const struct curve *c = t->curve[role];
	bool wanted = role == ROLE_ROTATION || (role == ROLE_TRANSLATION && bone == 0);
	const char *name = ff9anim_write_track_word(t), *word = role_names[role];

	if (!c != !wanted)
		return err_set(e->err, ERR_STORE,
			       wanted ? "%s of %s needs a %s, in every frame"
				      : "%s of %s cannot have a %s; it has only a rotation, and "
					"only the first bone a translation",
			       name, ff9anim_write_clip_word(e), word);
	if (!c)
		return true;
	if (c->kind != (role == ROLE_ROTATION ? CURVE_EULER : CURVE_VECTOR)) {
		err_set(e->err, ERR_STORE,
			"the %s of %s in %s is not stored in this form; Euler angles are", word,
			name, ff9anim_write_clip_word(e));
		return err_accept(e->err, "angles in degrees, which --rotations=euler shows");
	}
	if (!c->keyed || c->frames || c->count != e->frames ||
	    c->interpolation != INTERPOLATION_LINEAR)
		return err_set(e->err, ERR_STORE,
			       "the %s of %s in %s has %u %s; a key in each of the %u frames is "
			       "needed, with linear interpolation",
			       word, name, ff9anim_write_clip_word(e), c->count,
			       c->keyed ? "keys" : "value", e->frames);
	return true;
}

/* Finds the step nearest to an angle, up to whole turns. */
static bool angle_key(double degrees, uint16_t *key)
{
	if (!isfinite(degrees))
		return false;
	*key = (uint16_t)(lround(remainder(degrees, 360) / DEGREES_PER_STEP) & (STEPS - 1));
	return true;
}

/*
 * Finds the nearest whole number for a length; values that only rounding moves past an end are
 * clamped.
 */
static bool length_key(double length, uint16_t *key)
{
	if (!(length >= INT16_MIN - 0.5 && length <= INT16_MAX + 0.5))
		return false;
	*key = (uint16_t)(fmin(fmax(round(length), INT16_MIN), INT16_MAX) - INT16_MIN);
	return true;
}

static bool ff9anim_write_refuse_key(struct edit *e, uint32_t bone, enum role role, uint32_t frame,
				     unsigned axis)
{
	const struct track *t = &e->clip->tracks[bone];

	return err_set(
		e->err, ERR_STORE, "the %s of %s in %s has %c = %.9g in frame %u; %s can be stored",
		role_names[role], ff9anim_write_track_word(t), ff9anim_write_clip_word(e),
		"xyz"[axis], curve_value(t->curve[role], frame, axis), frame,
		role == ROLE_ROTATION ? "any finite angle" : "a number from -32768 to 32767");
}

static uint8_t *store_curve(struct edit *e, uint32_t bone, enum role role)
{
	const struct curve *c = e->clip->tracks[bone].curve[role];
	uint8_t *keys = arena_alloc(&e->arena, e->frames, KEY_SIZE), *p = keys;

	for (uint32_t frame = 0; keys && frame < e->frames; frame++)
		for (unsigned axis = 0; axis < AXES; axis++, p += 2) {
			double value = curve_value(c, frame, axis);
			uint16_t key;

			if (!(role == ROLE_ROTATION ? angle_key(value, &key)
						    : length_key(value, &key))) {
				ff9anim_write_refuse_key(e, bone, role, frame, axis);
				return NULL;
			}
			put_u16(p, key);
		}
	if (!keys)
		err_memory(e->err);
	return keys;
}

static bool store_bone(struct edit *e, uint32_t i)
{
	for (enum role role = 0; role < ROLE_COUNT; role++)
		if (!ff9anim_write_check_curve(e, i, role))
			return false;
	if (i == 0) {
		e->translation = store_curve(e, 0, ROLE_TRANSLATION);
		if (!e->translation)
			return false;
	}
	e->rotations[i] = store_curve(e, i, ROLE_ROTATION);
	return e->rotations[i] != NULL;
}

static bool store_model(struct edit *e)
{
	e->word0 = e->old.word0;
	if (!ff9anim_write_check_clip(e) || !read_word0(e))
		return false;
	e->frames = e->clip->frames;
	e->bones = e->clip->track_count;
	e->rotations = arena_alloc(&e->arena, e->bones, sizeof(*e->rotations));
	if (!e->rotations)
		return err_memory(e->err);
	for (uint32_t i = 0; i < e->bones; i++)
		if (!check_bone(e, i) || !store_bone(e, i))
			return false;
	return true;
}

/* ---- the old block ---- */

static bool ff9anim_write_says_the_same(const struct edit *e, uint8_t *keys)
{
	size_t size = (size_t)e->frames * KEY_SIZE;

	ff9_translation(&e->old, keys);
	if (memcmp(keys, e->translation, size) != 0)
		return false;
	for (uint32_t bone = 0; bone < e->bones; bone++) {
		ff9_rotation(&e->old, bone, keys);
		if (memcmp(keys, e->rotations[bone], size) != 0)
			return false;
	}
	return true;
}

static bool compare_blocks(struct edit *e, bool *same)
{
	uint8_t *keys;

	*same = false;
	if (e->old.bones != e->bones || e->old.frames != e->frames || e->old.word0 != e->word0)
		return true;
	keys = arena_alloc(&e->arena, e->frames, KEY_SIZE);
	if (!keys)
		return err_memory(e->err);
	*same = ff9anim_write_says_the_same(e, keys);
	return true;
}

/* Returns the unknown bits of a bone's mask, which stay with the bone. */
static uint16_t unused_bits(const struct edit *e, enum part part, uint32_t bone)
{
	return bone < e->old.bones ? ff9_record(&e->old, part, bone).mask & (0xFFFF ^ MASK_USED)
				   : 0;
}

/* ---- the new block ---- */

static const uint8_t *keys_of(const struct edit *e, enum part part, uint32_t bone)
{
	return part == PART_TRANSLATION ? e->translation : e->rotations[bone];
}

/* Returns the bits of a key that this part (high or low) stores. */
static uint16_t bits_of(const struct edit *e, enum part part, uint32_t bone, unsigned axis,
			uint32_t frame)
{
	uint16_t key = get_u16(keys_of(e, part, bone) + (size_t)frame * KEY_SIZE + 2 * axis);

	return part == PART_TRANSLATION ? key ^ 0x8000 : part == PART_HIGH ? key >> 4 : key & 0xF;
}

static bool part_moves(const struct edit *e, enum part part, uint32_t bone, unsigned axis)
{
	uint16_t first = bits_of(e, part, bone, axis, 0);

	for (uint32_t frame = 1; frame < e->frames; frame++)
		if (bits_of(e, part, bone, axis, frame) != first)
			return true;
	return false;
}

static uint32_t count_moving(const struct edit *e, enum part part)
{
	uint32_t bones = part == PART_TRANSLATION ? 1 : e->bones, count = 0;

	for (uint32_t bone = 0; bone < bones; bone++)
		for (unsigned axis = 0; axis < AXES; axis++)
			count += part_moves(e, part, bone, axis);
	return count;
}

/* Does an angle of the model need the low table? */
static bool needs_low(const struct edit *e)
{
	for (uint32_t bone = 0; bone < e->bones; bone++)
		for (unsigned axis = 0; axis < AXES; axis++)
			if (bits_of(e, PART_LOW, bone, axis, 0) ||
			    part_moves(e, PART_LOW, bone, axis))
				return true;
	return false;
}

static size_t align_up(size_t at)
{
	return (at + 3) & ~(size_t)3;
}

/* Returns the place of the last stream if that many streams of each part have that many frames. */
static size_t last_stream(const struct edit *e, const uint32_t moving[3], uint32_t frames)
{
	size_t table = (size_t)e->bones * RECORD_SIZE, at = HEADER_SIZE, last = 0;

	for (enum part part = PART_TRANSLATION; part <= PART_LOW; part++) {
		if (part != PART_TRANSLATION)
			at = align_up(at) + table;
		at += moving[part] * stream_size(part, frames);
		if (moving[part])
			last = at - stream_size(part, frames);
	}
	return last;
}

/* Refuses a block whose pointers would not fit into 16 bits. */
static bool ff9anim_write_check_room(struct edit *e, const uint32_t moving[3])
{
	uint32_t fit = e->frames;

	while (fit > 0 && last_stream(e, moving, fit) > POINTER_MAX)
		fit--;
	if (fit == e->frames)
		return true;
	err_set(e->err, ERR_STORE,
		"%s is too long: its last values would stand at %zu, and a block can point to %u "
		"at most",
		ff9anim_write_clip_word(e), last_stream(e, moving, e->frames), POINTER_MAX);
	if (fit == 0)
		return err_accept(e->err, "fewer bones, or fewer that move");
	return err_accept(e->err, "%u frames of these bones, or fewer of them that move", fit);
}

static uint8_t *out_at(const struct edit *e, size_t at)
{
	return e->out->data + at;
}

static void put_stream(struct edit *e, enum part part, uint32_t bone, unsigned axis)
{
	size_t at = e->out->size;

	buf_zero(e->out, stream_size(part, e->frames));
	for (uint32_t frame = 0; !e->out->failed && frame < e->frames; frame++) {
		uint16_t bits = bits_of(e, part, bone, axis, frame);

		if (part == PART_TRANSLATION)
			put_u16(out_at(e, at + 2 * (size_t)frame), bits);
		else if (part == PART_HIGH)
			*out_at(e, at + frame) = (uint8_t)bits;
		else
			*out_at(e, at + frame / 2) |= (uint8_t)(bits << (frame % 2 ? 4 : 0));
	}
}

/* Fills in the record at `at`, and appends its streams to the block. */
static void put_record(struct edit *e, enum part part, uint32_t bone, size_t at)
{
	uint16_t mask = unused_bits(e, part, bone);

	for (unsigned axis = 0; axis < AXES; axis++) {
		uint16_t field = (uint16_t)e->out->size;

		if (part_moves(e, part, bone, axis)) {
			put_stream(e, part, bone, axis);
		} else {
			field = bits_of(e, part, bone, axis, 0);
			if (part == PART_HIGH)
				field = (uint16_t)(int8_t)field;
			mask = (uint16_t)(mask | FLAG_CONSTANT(axis));
		}
		if (!e->out->failed)
			put_u16(out_at(e, at + 2 * (size_t)axis), field);
	}
	if (!e->out->failed)
		put_u16(out_at(e, at + 2 * AXES), mask);
}

/* Writes a table; `pointer` is the place of its offset in the header. */
static void ff9anim_write_put_table(struct edit *e, enum part part, size_t pointer)
{
	size_t at;

	buf_align(e->out, 4);
	at = e->out->size;
	buf_zero(e->out, (size_t)e->bones * RECORD_SIZE);
	if (!e->out->failed)
		put_u32(out_at(e, pointer), (uint32_t)at);
	for (uint32_t bone = 0; bone < e->bones; bone++)
		put_record(e, part, bone, at + (size_t)bone * RECORD_SIZE);
}

static bool put_block(struct edit *e)
{
	struct bytes rest = ff9_trailing(&e->old);
	uint32_t moving[3] = {count_moving(e, PART_TRANSLATION), count_moving(e, PART_HIGH), 0};

	/*
	 * Without streams and a low table, trailing bytes would be read as more records of the high
	 * one.
	 */
	e->low = e->old.low || needs_low(e) || (rest.size && !moving[PART_HIGH]);
	if (e->low)
		moving[PART_LOW] = count_moving(e, PART_LOW);
	if (!ff9anim_write_check_room(e, moving))
		return false;
	buf_u16(e->out, e->word0);
	buf_u16(e->out, (uint16_t)e->frames);
	buf_zero(e->out, HEADER_SIZE - 4);
	put_record(e, PART_TRANSLATION, 0, TRANSLATION_AT);
	ff9anim_write_put_table(e, PART_HIGH, 0xC);
	if (e->low)
		ff9anim_write_put_table(e, PART_LOW, 0x10);
	buf_align(e->out, 4);
	buf_add(e->out, rest.data, rest.size);
	return !e->out->failed || err_memory(e->err);
}

static bool ff9_encode(const struct anim *a, struct bytes old, struct buf *out, struct err *err)
{
	struct edit e = {.arena = ARENA_INIT, .a = a, .clip = a->clips, .err = err, .out = out};
	bool same = false;
	bool done = (old.size == 0 || ff9_read(&e.old, old, a->bone_count, err)) &&
		    store_model(&e) && compare_blocks(&e, &same);

	if (done && same) {
		buf_add(out, old.data, old.size);
		done = !out->failed || err_memory(err);
	} else if (done) {
		done = put_block(&e);
	}
	arena_release(&e.arena);
	return done;
}

static const char *const ff9anim_patterns[] = {"*.ff9anim", "*.animation", NULL};

const struct codec ff9anim_codec = {
	.format = &ff9anim_format,
	.patterns = ff9anim_patterns,
	.probe = ff9_probe,
	.incomplete = ff9_incomplete,
	.decode = ff9_decode,
	.encode = ff9_encode,
};
