/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The Final Fantasy IX codec. Expected values of the samples stand beside them; other blocks, in
 * any order, are made here by a writer of its own (struct maker), which shares nothing with the
 * codec.
 */
#include "animfs/codec.h"
#include "coding.h"
#include "load.h"
#include "random.h"
#include "text/num.h"

#include <check.h>
#include <glob.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

#define STEP (360.0 / 4096)

static const struct codec *ff9(void)
{
	return codec_named("ff9anim");
}

static struct anim *decode_as(struct bytes src, uint32_t bones)
{
	const struct hints hints = {.bones = bones};

	return decode_ok(ff9(), src, &hints);
}

static struct anim *decode(struct bytes src)
{
	return decode_as(src, 0);
}

static void decode_refused(struct bytes src, uint32_t bones, const char *why)
{
	struct err err = {.code = ERR_NONE};
	struct hints hints = {.bones = bones};
	struct anim *a = ff9()->decode(src, &hints, &err);

	ck_assert_msg(a == NULL, "accepted, not: %s", why);
	ck_assert_int_eq(err.code, ERR_FORMAT);
	ck_assert(err.placed && err.at <= src.size);
	ck_assert_msg(strstr(err.message, why) != NULL, "%s", err.message);
}

/* Encodes a model, and checks the result as a save does. */
static struct buf encode(const struct anim *a, struct bytes old)
{
	return encode_ok(ff9(), a, old);
}

static struct buf store(const struct anim *a, const struct anim *was, struct bytes old)
{
	struct err err = {.code = ERR_NONE};
	struct buf out = encode(a, old);
	struct anim *now = decode(buf_bytes(&out));

	ck_assert_msg(anim_stored(a, was, now, &err), "%s", err.message);
	anim_free(now);
	return out;
}

static void encode_refused(const struct anim *a, struct bytes old, const char *why)
{
	struct err err = {.code = ERR_NONE};
	struct buf out = BUF_INIT;

	ck_assert_msg(!ff9()->encode(a, old, &out, &err), "stored, not: %s", why);
	ck_assert_int_eq(err.code, ERR_STORE);
	ck_assert_msg(strstr(err.message, why) || strstr(err.accepted, why), "%s (%s)", err.message,
		      err.accepted);
	buf_release(&out);
}

static void check_bytes(struct bytes got, struct bytes wanted)
{
	size_t at = 0;

	ck_assert_uint_eq(got.size, wanted.size);
	while (at < got.size && got.data[at] == wanted.data[at])
		at++;
	ck_assert_msg(at == got.size, "byte 0x%zx differs", at);
}

static void check_identity(struct bytes src, const struct anim *a)
{
	struct buf out = encode(a, src);

	check_bytes(buf_bytes(&out), src);
	buf_release(&out);
}

static double value_of(const struct anim *a, uint32_t bone, enum role role, uint32_t frame,
		       unsigned axis)
{
	return curve_value(a->clips[0].tracks[bone].curve[role], frame, axis);
}

static bool has_low(struct bytes block)
{
	return get_u32(block.data + 0x10) != 0;
}

/* ---- editing a model ---- */

/* Returns the values of a curve of `edited`, made writable, with `count` keys; new keys are 0. */
static double *edit_values(struct anim *edited, uint32_t bone, enum role role, uint32_t count)
{
	struct track *t = anim_edit_track(edited, 0, bone);
	const struct curve *old = t->curve[role];
	struct curve *c = arena_alloc(&edited->arena, 1, sizeof(*c));
	double *values = arena_alloc(&edited->arena, count, 3 * sizeof(*values));

	ck_assert(c && values);
	for (uint32_t key = 0; old && key < count && key < old->count; key++)
		for (unsigned axis = 0; axis < 3; axis++)
			values[3 * key + axis] = curve_value(old, key, axis);
	if (old)
		*c = *old;
	else
		*c = (struct curve){.kind = role == ROLE_ROTATION ? CURVE_EULER : CURVE_VECTOR,
				    .keyed = true};
	c->count = count;
	c->stored = NULL;
	c->values = values;
	t->curve[role] = c;
	return values;
}

static void set_value(struct anim *edited, uint32_t bone, enum role role, uint32_t frame,
		      unsigned axis, double value)
{
	uint32_t count = edited->clips[0].frames;

	edit_values(edited, bone, role, count)[3 * frame + axis] = value;
}

/* Returns the block after an edit of one of its values. */
static struct buf with_value(struct bytes src, uint32_t bone, enum role role, uint32_t frame,
			     unsigned axis, double value)
{
	struct anim *a = decode(src), *edited = anim_edit(a);
	struct buf out;

	set_value(edited, bone, role, frame, axis, value);
	out = store(edited, a, src);
	anim_free(edited);
	anim_free(a);
	return out;
}

/* ---- the samples ---- */

#define SAMPLES "tests/data/ff9anim/"

static json_t *load_expectation(const char *path)
{
	json_error_t error;
	json_t *json = json_load_file(path, 0, &error);

	ck_assert_msg(json != NULL, "%s: %s", path, error.text);
	return json;
}

static struct buf load_block(const char *expectation)
{
	char path[256];
	size_t stem = strlen(expectation) - strlen(".expect.json");

	snprintf(path, sizeof(path), "%.*s.ff9anim", (int)stem, expectation);
	return load_file(path);
}

static struct buf load_sample(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), SAMPLES "%s.ff9anim", name);
	return load_file(path);
}

typedef void sample_check(struct bytes block, const json_t *expected);

/* Calls `check` for every sample that is valid, or for every one that is not. */
static void each_sample(bool valid, sample_check *check)
{
	glob_t found;
	unsigned checked = 0;

	ck_assert_int_eq(glob(SAMPLES "*.expect.json", 0, NULL, &found), 0);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		json_t *expected = load_expectation(found.gl_pathv[i]);
		struct buf block = load_block(found.gl_pathv[i]);

		if (json_is_true(json_object_get(expected, "valid")) == valid) {
			check(buf_bytes(&block), expected);
			checked++;
		}
		buf_release(&block);
		json_decref(expected);
	}
	globfree(&found);
	ck_assert_uint_eq(checked, valid ? 24 : 5);
}

static void check_values(const struct anim *a, const json_t *expected)
{
	const json_t *translation = json_object_get(expected, "translation");
	const json_t *angles = json_object_get(expected, "angles");

	for (uint32_t frame = 0; frame < a->clips[0].frames; frame++) {
		const json_t *pose = json_array_get(angles, frame);
		const json_t *place = json_array_get(translation, frame);

		ck_assert_uint_eq(json_array_size(pose), a->clips[0].track_count);
		for (uint32_t bone = 0; bone < a->clips[0].track_count; bone++)
			for (unsigned axis = 0; axis < 3; axis++)
				ck_assert_double_eq(value_of(a, bone, ROLE_ROTATION, frame, axis),
						    (double)json_integer_value(json_array_get(
							    json_array_get(pose, bone), axis)) *
							    STEP);
		for (unsigned axis = 0; axis < 3; axis++)
			ck_assert_double_eq(
				value_of(a, 0, ROLE_TRANSLATION, frame, axis),
				(double)json_integer_value(json_array_get(place, axis)));
	}
}

static void check_expected(struct bytes block, const json_t *expected)
{
	struct anim *a = decode(block);

	ck_assert_int_eq(a->clips[0].frames,
			 json_integer_value(json_object_get(expected, "frames")));
	ck_assert_int_eq(a->clips[0].track_count,
			 json_integer_value(json_object_get(expected, "bones")));
	ck_assert_int_eq(has_low(block), json_is_true(json_object_get(expected, "has_low")));
	check_values(a, expected);
	check_identity(block, a);
	anim_free(a);
}

START_TEST(samples_say_what_is_expected_and_keep_their_bytes)
{
	each_sample(true, check_expected);
}
END_TEST

static void check_refused(struct bytes block, const json_t *expected)
{
	(void)expected;
	decode_refused(block, 0, "");
	ck_assert(!ff9()->probe(block));
}

START_TEST(samples_that_are_none_are_refused)
{
	each_sample(false, check_refused);
}
END_TEST

START_TEST(refusals_say_what_is_wrong)
{
	static const struct {
		const char *name, *why;
	} cases[] = {
		{"bad_empty", "ends inside its header"}, {"bad_frames0", "no frames"},
		{"bad_high_ptr", "not in the block"},    {"bad_reloc_ptr", "memory of the console"},
		{"bad_truncated", "leave the block"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct buf block = load_sample(cases[i].name);

		decode_refused(buf_bytes(&block), 0, cases[i].why);
		buf_release(&block);
	}
}
END_TEST

/*
 * Edits a block and undoes the edit: a canonical block has its bytes again, any other the same
 * content.
 */
static void check_there_and_back(struct bytes block, const json_t *expected)
{
	struct anim *a = decode(block);
	uint32_t bone = a->clips[0].track_count - 1, frame = a->clips[0].frames - 1;
	double was = value_of(a, bone, ROLE_ROTATION, frame, 1);
	/* Use a step of the high part, which needs no low table. */
	struct buf there = with_value(block, bone, ROLE_ROTATION, frame, 1, was + 16 * STEP);
	struct buf back = with_value(buf_bytes(&there), bone, ROLE_ROTATION, frame, 1, was);
	struct anim *b = decode(buf_bytes(&back));

	check_values(b, expected);
	ck_assert_int_eq(
		there.size == block.size && memcmp(there.data, block.data, there.size) == 0, 0);
	if (json_is_true(json_object_get(expected, "canonical")))
		check_bytes(buf_bytes(&back), block);
	anim_free(a);
	anim_free(b);
	buf_release(&there);
	buf_release(&back);
}

START_TEST(edited_canonical_blocks_stay_canonical)
{
	each_sample(true, check_there_and_back);
}
END_TEST

START_TEST(fixed_facts_of_the_model)
{
	struct buf block = load_sample("tmask3");
	struct anim *a = decode(buf_bytes(&block));
	const struct clip *c = a->clips;
	const struct lane *angle = c->tracks[1].curve[ROLE_ROTATION]->lane;

	ck_assert_uint_eq(a->clip_count, 1);
	ck_assert_str_eq(c->name, "");
	ck_assert_double_eq(a->rate, 30);
	ck_assert(!c->loop && c->frame_time == 1.0f);
	ck_assert_uint_eq(a->bone_count, c->track_count);
	ck_assert_str_eq(c->tracks[0].name, "bone_000");
	ck_assert_str_eq(c->tracks[2].name, "bone_002");
	for (uint32_t i = 0; i < c->track_count; i++) {
		const struct track *t = &c->tracks[i];

		ck_assert_uint_eq(t->origin, i);
		ck_assert_int_eq(t->roles, i == 0 ? 1 << ROLE_TRANSLATION | 1 << ROLE_ROTATION
						  : 1 << ROLE_ROTATION);
		ck_assert_int_eq(t->curve[ROLE_TRANSLATION] != NULL, i == 0);
		ck_assert(!t->curve[ROLE_SCALE]);
		ck_assert(t->curve[ROLE_ROTATION]->keyed);
		ck_assert_uint_eq(t->curve[ROLE_ROTATION]->count, c->frames);
		ck_assert_int_eq(t->rotation, CURVE_EULER);
	}
	ck_assert(angle->exact && angle->turn == 360 && angle->unit == STEP);
	anim_free(a);
	buf_release(&block);
}
END_TEST

/* ---- a writer of blocks ---- */

#define MADE_BONES 40
#define MADE_FRAMES 320

struct maker {
	uint32_t frames, bones;
	/* low: a low table is written; as_streams: curves that do not move are in streams, too */
	bool low, as_streams;
	uint16_t word0;
	unsigned spare; /* unused bits of all masks */
	int16_t translation[MADE_FRAMES][3];
	uint16_t angle[MADE_BONES][MADE_FRAMES][3];
	const char *trailing;
	uint8_t records[3][MADE_BONES]
		       [8]; /* records of the translation, the high table and the low table */
	struct buf out;
};

/* Makes random motion in which about half of the parts do not move. */
static void made_motion(struct maker *m)
{
	for (unsigned axis = 0; axis < 3; axis++) {
		bool moves = below(2);

		for (uint32_t f = 0; f < m->frames; f++)
			m->translation[f][axis] =
				(int16_t)(f == 0 || moves ? (int)below(65536) - 32768
							  : m->translation[0][axis]);
	}
	for (uint32_t bone = 0; bone < m->bones; bone++)
		for (unsigned axis = 0; axis < 3; axis++) {
			bool high = below(2), low = below(2);
			unsigned h = below(256), l = below(16);

			for (uint32_t f = 0; f < m->frames; f++) {
				h = high ? below(256) : h;
				l = low ? below(16) : l;
				m->angle[bone][f][axis] = (uint16_t)(h << 4 | (m->low ? l : 0));
			}
		}
}

/* Returns the mask of a part: 'T' translation, 'H' high, 'L' low. */
static unsigned made_bits(const struct maker *m, char part, uint32_t bone, uint32_t f,
			  unsigned axis)
{
	return part == 'T'   ? (uint16_t)m->translation[f][axis]
	       : part == 'H' ? m->angle[bone][f][axis] / 16
			     : m->angle[bone][f][axis] % 16;
}

static void made_stream(struct maker *m, char part, uint32_t bone, unsigned axis)
{
	uint8_t byte = 0;

	for (uint32_t f = 0; f < m->frames; f++) {
		unsigned bits = made_bits(m, part, bone, f, axis);

		if (part == 'T') {
			buf_u16(&m->out, (uint16_t)bits);
		} else if (part == 'H') {
			buf_char(&m->out, (char)bits);
		} else if (f % 2 == 0) {
			byte = (uint8_t)bits;
			if (f + 1 == m->frames)
				buf_char(&m->out, (char)byte);
		} else {
			buf_char(&m->out, (char)(byte | bits << 4));
		}
	}
}

/* Makes a record whose streams are appended to the block. */
static void made_record(struct maker *m, char part, uint32_t bone)
{
	uint8_t *record = m->records[part == 'T' ? 0 : part == 'H' ? 1 : 2][bone];
	unsigned mask = m->spare;

	for (unsigned axis = 0; axis < 3; axis++) {
		unsigned first = made_bits(m, part, bone, 0, axis);
		unsigned field = part == 'H' && first > 127 ? first | 0xFF00 : first;
		bool same = !m->as_streams;

		for (uint32_t f = 1; same && f < m->frames; f++)
			same = made_bits(m, part, bone, f, axis) == first;
		if (same) {
			mask |= 1u << axis;
		} else {
			field = (unsigned)m->out.size;
			made_stream(m, part, bone, axis);
		}
		put_u16(record + 2 * axis, (uint16_t)field);
	}
	put_u16(record + 6, (uint16_t)mask);
}

static void made_records(struct maker *m, char part)
{
	for (uint32_t bone = 0; bone < m->bones; bone++)
		made_record(m, part, bone);
}

static size_t made_table(struct maker *m)
{
	size_t at;

	buf_align(&m->out, 4);
	at = m->out.size;
	buf_zero(&m->out, (size_t)m->bones * 8);
	return at;
}

/*
 * Makes a block in the order of the letters: T streams of the translation, H and L the tables, h
 * and l their streams, g a gap of junk, p padding to 4.
 */
static struct bytes made(struct maker *m, const char *order)
{
	size_t high = 0, low = 0;

	buf_clear(&m->out);
	buf_zero(&m->out, 0x14);
	for (; *order; order++) {
		if (*order == 'T') {
			buf_align(&m->out, 2);
			made_record(m, 'T', 0);
		} else if (*order == 'H')
			high = made_table(m);
		else if (*order == 'h')
			made_records(m, 'H');
		else if (*order == 'L' && m->low)
			low = made_table(m);
		else if (*order == 'l' && m->low)
			made_records(m, 'L');
		else if (*order == 'g')
			buf_add(&m->out, "\xEE\xFF\x7F\x80\x01\x02\x03\x04\x05\x06", 10);
		else if (*order == 'p')
			buf_align(&m->out, 4);
	}
	if (m->trailing)
		buf_text(&m->out, m->trailing);
	ck_assert(!m->out.failed);
	put_u16(m->out.data, m->word0);
	put_u16(m->out.data + 2, (uint16_t)m->frames);
	memcpy(m->out.data + 4, m->records[0][0], 8);
	put_u32(m->out.data + 0xC, (uint32_t)high);
	put_u32(m->out.data + 0x10, (uint32_t)low);
	memcpy(m->out.data + high, m->records[1], 8 * m->bones);
	if (m->low)
		memcpy(m->out.data + low, m->records[2], 8 * m->bones);
	return buf_bytes(&m->out);
}

#define CANONICAL "THhLlp" /* the order of the game's own blocks */

static struct maker *maker_new(uint32_t bones, uint32_t frames, bool low)
{
	struct maker *m = calloc(1, sizeof(*m));

	ck_assert(m != NULL);
	m->bones = bones;
	m->frames = frames;
	m->low = low;
	made_motion(m);
	return m;
}

static void maker_free(struct maker *m)
{
	buf_release(&m->out);
	free(m);
}

static void check_made(const struct maker *m, const struct anim *a)
{
	ck_assert_uint_eq(a->clips[0].frames, m->frames);
	ck_assert_uint_eq(a->clips[0].track_count, m->bones);
	for (uint32_t f = 0; f < m->frames; f++)
		for (unsigned axis = 0; axis < 3; axis++) {
			ck_assert_double_eq(value_of(a, 0, ROLE_TRANSLATION, f, axis),
					    m->translation[f][axis]);
			for (uint32_t bone = 0; bone < m->bones; bone++)
				ck_assert_double_eq(value_of(a, bone, ROLE_ROTATION, f, axis),
						    m->angle[bone][f][axis] * STEP);
		}
}

/* Numbers of bones and frames that no sample has. */
static const struct {
	uint32_t bones, frames;
} shapes[] = {{1, 1},   {1, 2},  {2, 3},   {3, 4},   {5, 5},    {40, 1},  {40, 2}, {17, 31},
	      {7, 100}, {9, 17}, {1, 255}, {4, 257}, {11, 320}, {23, 63}, {6, 12}, {39, 9}};

/* In the game's order, the model and the presence of a low table determine the block. */
START_TEST(made_blocks_are_written_again_from_their_model_alone)
{
	for (size_t i = 0; i < ARRAY_SIZE(shapes); i++) {
		struct maker *m = maker_new(shapes[i].bones, shapes[i].frames, _i);
		struct bytes block = made(m, CANONICAL);
		struct anim *a = decode(block);
		struct buf anew;

		ck_assert(ff9()->probe(block));
		check_made(m, a);
		check_identity(block, a);
		m->angle[0][0][0] |= (uint16_t)_i; /* an angle that needs the low table */
		block = made(m, CANONICAL);
		anim_free(a);
		a = decode(block);
		anew = encode(a, (struct bytes){NULL, 0});
		check_bytes(buf_bytes(&anew), block);
		buf_release(&anew);
		anim_free(a);
		maker_free(m);
	}
}
END_TEST

static const char *const orders[] = {"TLlHhp", "HLhlTp", "LHlhTp", "HhTLl",  "HhLlTp", "LlTHhp",
				     "TgHhLl", "HhgLlT", "ThlHLp", "lhTgLH", CANONICAL};

START_TEST(other_orders_keep_their_bytes_until_edited)
{
	for (size_t i = 0; i < ARRAY_SIZE(shapes); i++) {
		struct maker *m = maker_new(shapes[i].bones, shapes[i].frames, true);
		struct bytes block;
		struct anim *a;
		struct buf out;

		m->as_streams = true;
		block = made(m, orders[_i]);
		a = decode(block);
		check_made(m, a);
		check_identity(block, a);
		anim_free(a);
		m->angle[0][0][2] ^= 0x801;
		out = with_value(block, 0, ROLE_ROTATION, 0, 2, m->angle[0][0][2] * STEP);
		m->as_streams = false;
		check_bytes(buf_bytes(&out), made(m, CANONICAL));
		buf_release(&out);
		maker_free(m);
	}
}
END_TEST

START_TEST(an_edit_keeps_word0_spare_bits_and_what_trails)
{
	for (size_t i = 0; i < ARRAY_SIZE(shapes); i++) {
		struct maker *m = maker_new(shapes[i].bones, shapes[i].frames, _i);
		struct bytes block;
		struct buf out;

		m->word0 = 0xBEEF;
		m->spare = 0xA5F0;
		m->trailing = "what stands behind";
		m->as_streams = true;
		block = made(m, "LHlhgTp");
		m->angle[0][0][1] ^= 0x7F0;
		out = with_value(block, 0, ROLE_ROTATION, 0, 1, m->angle[0][0][1] * STEP);
		m->as_streams = false;
		/* Words after a high table without a low one would look like more of the table. */
		for (uint32_t b = 0; b < m->bones && !m->low && m->frames == 1; b++)
			put_u16(m->records[2][b] + 6, 7);
		m->low = m->low || m->frames == 1;
		if (_i || m->frames > 1)
			check_bytes(buf_bytes(&out), made(m, CANONICAL));
		else
			ck_assert(has_low(buf_bytes(&out)));
		ck_assert_mem_eq(out.data + out.size - strlen(m->trailing), m->trailing,
				 strlen(m->trailing));
		buf_release(&out);
		maker_free(m);
	}
}
END_TEST

/* ---- the low table ---- */

START_TEST(an_edit_adds_a_low_table_where_it_needs_one)
{
	for (size_t i = 0; i < ARRAY_SIZE(shapes); i++) {
		struct maker *m = maker_new(shapes[i].bones, shapes[i].frames, false);
		uint32_t bone = m->bones - 1, frame = m->frames - 1;
		struct bytes block = made(m, CANONICAL);
		struct buf high, low, back;

		ck_assert(!has_low(block));
		m->angle[bone][frame][0] = 0xFF0;
		high = with_value(block, bone, ROLE_ROTATION, frame, 0, 0xFF0 * STEP);
		check_bytes(buf_bytes(&high), made(m, CANONICAL));

		m->low = true;
		m->angle[bone][frame][0] = 0xFF1;
		low = with_value(buf_bytes(&high), bone, ROLE_ROTATION, frame, 0, 0xFF1 * STEP);
		check_bytes(buf_bytes(&low), made(m, CANONICAL));

		/* The low table stays when no angle needs it any more. */
		m->angle[bone][frame][0] = 0xFF0;
		back = with_value(buf_bytes(&low), bone, ROLE_ROTATION, frame, 0, 0xFF0 * STEP);
		check_bytes(buf_bytes(&back), made(m, CANONICAL));
		buf_release(&high);
		buf_release(&low);
		buf_release(&back);
		maker_free(m);
	}
}
END_TEST

/* ---- numbers ---- */

START_TEST(angles_go_to_the_nearest_step_up_to_whole_turns)
{
	static const struct {
		double degrees;
		unsigned step;
	} cases[] = {{0, 0},
		     {-0.0, 0},
		     {90, 1024},
		     {-90, 3072},
		     {180, 2048},
		     {-180, 2048},
		     {360, 0},
		     {359.99, 0},
		     {-0.04, 0},
		     {-0.05, 4095},
		     {STEP, 1},
		     {1.49 * STEP, 1},
		     {1.51 * STEP, 2},
		     {3600045, 512},
		     {-3600045, 3584},
		     {4095.49 * STEP, 4095},
		     {4095.51 * STEP, 0},
		     {1e30, 4096}};
	struct buf block = load_sample("bones001");

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct buf out =
			with_value(buf_bytes(&block), 0, ROLE_ROTATION, 3, 1, cases[i].degrees);
		struct anim *a = decode(buf_bytes(&out));

		if (cases[i].step < 4096)
			ck_assert_double_eq(value_of(a, 0, ROLE_ROTATION, 3, 1),
					    cases[i].step * STEP);
		anim_free(a);
		buf_release(&out);
	}
	buf_release(&block);
}
END_TEST

START_TEST(lengths_go_to_the_nearest_whole_number)
{
	static const struct {
		double length, stored;
	} cases[] = {{0, 0},           {-0.0, 0},          {1.4, 1},          {-1.6, -2},
		     {32767, 32767},   {-32768, -32768},   {32767.49, 32767}, {-32768.49, -32768},
		     {32767.5, 32767}, {-32768.5, -32768}, {-0.49, 0},        {255.5, 256}};
	static const double refused[] = {32767.51, -32768.51, 32768, 1e30, -INFINITY, NAN};
	struct buf block = load_sample("bones024");
	struct anim *a = decode(buf_bytes(&block));

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct buf out =
			with_value(buf_bytes(&block), 0, ROLE_TRANSLATION, 6, 2, cases[i].length);
		struct anim *b = decode(buf_bytes(&out));

		ck_assert_double_eq(value_of(b, 0, ROLE_TRANSLATION, 6, 2), cases[i].stored);
		anim_free(b);
		buf_release(&out);
	}
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		struct anim *edited = anim_edit(a);

		set_value(edited, 0, ROLE_TRANSLATION, 6, 2, refused[i]);
		encode_refused(edited, buf_bytes(&block), "in frame 6");
		anim_free(edited);
	}
	anim_free(a);
	buf_release(&block);
}
END_TEST

START_TEST(angles_that_are_not_finite_are_refused_by_name)
{
	struct buf block = load_sample("bones024");
	struct anim *a = decode(buf_bytes(&block)), *edited = anim_edit(a);

	set_value(edited, 23, ROLE_ROTATION, 2, 0, NAN);
	encode_refused(edited, buf_bytes(&block), "rotation of bone_023");
	anim_free(edited);
	edited = anim_edit(a);
	set_value(edited, 23, ROLE_ROTATION, 2, 0, -INFINITY);
	encode_refused(edited, buf_bytes(&block), "x = -inf in frame 2");
	anim_free(edited);
	anim_free(a);
	buf_release(&block);
}
END_TEST

START_TEST(word0_is_a_field_of_16_bits)
{
	static const int64_t good[] = {0, 1, 65535}, bad[] = {-1, 65536, INT64_MAX};
	struct buf block = load_sample("word0_nonzero");
	struct anim *a = decode(buf_bytes(&block));
	struct field field = a->clips[0].fields[0];

	ck_assert_str_eq(field.name, "word0");
	ck_assert(field.editable && field.integer == get_u16(block.data));
	for (size_t i = 0; i < 6; i++) {
		struct anim *edited = anim_edit(a);
		struct buf out;

		field.integer = i < 3 ? good[i] : bad[i - 3];
		anim_edit_clip(edited, 0)->fields = &field;
		if (i < 3) {
			out = store(edited, a, buf_bytes(&block));
			ck_assert_int_eq(get_u16(out.data), good[i]);
			buf_release(&out);
		} else {
			encode_refused(edited, buf_bytes(&block), "word0");
		}
		anim_free(edited);
	}
	anim_free(a);
	buf_release(&block);
}
END_TEST

/* ---- edits that cannot be stored ---- */

static struct curve *edit_curve(struct anim *a, uint32_t bone, enum role role)
{
	edit_values(a, bone, role, a->clips[0].frames);
	return (struct curve *)a->clips[0].tracks[bone].curve[role];
}

static void break_model(struct anim *a, int what)
{
	switch (what) {
	case 0:
		anim_edit_track(a, 0, 3)->curve[ROLE_ROTATION] = NULL;
		break;
	case 1:
		anim_edit_track(a, 0, 0)->curve[ROLE_TRANSLATION] = NULL;
		break;
	case 2:
		edit_curve(a, 3, ROLE_TRANSLATION);
		break;
	case 3:
		edit_curve(a, 0, ROLE_SCALE);
		break;
	case 4:
		edit_curve(a, 3, ROLE_ROTATION)->kind = CURVE_QUATERNION;
		break;
	case 5:
		edit_curve(a, 3, ROLE_ROTATION)->keyed = false;
		break;
	case 6:
		edit_curve(a, 3, ROLE_ROTATION)->interpolation = INTERPOLATION_STEP;
		break;
	case 7:
		edit_curve(a, 3, ROLE_ROTATION)->count = 1;
		break;
	case 8:
		anim_edit_clip(a, 0)->frames += 1;
		break;
	case 9:
		anim_edit_clip(a, 0)->frames = 0;
		break;
	case 10:
		anim_edit_clip(a, 0)->frames = 65536;
		break;
	case 11:
		anim_edit_clip(a, 0)->loop = true;
		break;
	case 12:
		anim_edit_clip(a, 0)->frame_time = 2;
		break;
	case 13:
		anim_edit_clip(a, 0)->track_count = 0;
		break;
	case 14:
		a->clip_count = 0;
		break;
	case 15: /* remove a bone in the middle */
		memmove(anim_edit_track(a, 0, 1), anim_edit_track(a, 0, 2),
			22 * sizeof(struct track));
		anim_edit_clip(a, 0)->track_count = 23;
		break;
	case 16:
		anim_edit_track(a, 0, 23)->name = "tail";
		break;
	case 17:
		anim_edit_track(a, 0, 23)->name = "bone_024";
		break;
	}
}

START_TEST(what_cannot_be_stored_is_refused_by_name)
{
	static const char *const why[] = {
		"bone_003 of walk needs a rotation",
		"bone_000 of walk needs a translation",
		"bone_003 of walk cannot have a translation",
		"bone_000 of walk cannot have a scale",
		"rotation of bone_003",
		"has 7 value",
		"linear interpolation",
		"has 1 keys; a key in each of the 7 frames",
		"each of the 8 frames",
		"0 frames; 1 to 65535",
		"65536 frames; 1 to 65535",
		"loops",
		"frame time",
		"0 bones",
		"one animation, not 0",
		"bone_002 cannot be bone 1",
		"tail cannot be bone 23",
		"bone_024 cannot be bone 23",
	};
	struct buf block = load_sample("bones024");
	struct anim *a = decode(buf_bytes(&block)), *edited = anim_edit(a);

	anim_edit_clip(edited, 0)->label = "walk";
	break_model(edited, _i);
	encode_refused(edited, buf_bytes(&block), why[_i]);
	anim_free(edited);
	anim_free(a);
	buf_release(&block);
}
END_TEST

/* ---- bones and frames ---- */

START_TEST(bones_go_and_come_at_the_end)
{
	struct maker *m = maker_new(20, 12, true);
	struct bytes block = made(m, CANONICAL);
	struct anim *a = decode(block), *fewer = anim_edit(a), *more, *b;
	struct buf less, again;
	struct clip *clip;
	struct track *tracks;

	anim_edit_clip(fewer, 0)->track_count = 15;
	less = store(fewer, a, block);
	m->bones = 15;
	check_bytes(buf_bytes(&less), made(m, CANONICAL));

	b = decode(buf_bytes(&less));
	more = anim_edit(b);
	clip = anim_edit_clip(more, 0);
	tracks = arena_alloc(&more->arena, 20, sizeof(*tracks));
	memcpy(tracks, clip->tracks, 15 * sizeof(*tracks));
	memcpy(tracks + 15, a->clips[0].tracks + 15, 5 * sizeof(*tracks));
	for (unsigned i = 15; i < 20; i++)
		tracks[i].origin = ANIM_NEW;
	clip->tracks = tracks;
	clip->track_count = 20;
	again = store(more, b, buf_bytes(&less));
	m->bones = 20;
	check_bytes(buf_bytes(&again), made(m, CANONICAL));
	buf_release(&again);
	buf_release(&less);
	anim_free(more);
	anim_free(b);
	anim_free(fewer);
	anim_free(a);
	maker_free(m);
}
END_TEST

static void set_frames(struct anim *edited, uint32_t frames)
{
	struct clip *clip = anim_edit_clip(edited, 0);

	for (uint32_t bone = 0; bone < clip->track_count; bone++)
		edit_values(edited, bone, ROLE_ROTATION, frames);
	edit_values(edited, 0, ROLE_TRANSLATION, frames);
	clip->frames = frames;
}

START_TEST(frames_are_as_many_as_the_model_says)
{
	static const uint32_t frames[] = {1, 2, 11, 12, 13, 255, 256};
	struct maker *m = maker_new(7, 12, true);
	struct bytes block = made(m, CANONICAL);
	struct anim *a = decode(block);

	for (size_t i = 0; i < ARRAY_SIZE(frames); i++) {
		struct anim *edited = anim_edit(a), *b;
		struct buf out;

		set_frames(edited, frames[i]);
		out = store(edited, a, block);
		b = decode(buf_bytes(&out));
		ck_assert_uint_eq(b->clips[0].frames, frames[i]);
		anim_free(b);
		anim_free(edited);
		buf_release(&out);
	}
	anim_free(a);
	maker_free(m);
}
END_TEST

/*
 * Makes a model in which all axes of `count` bones move, in the high parts, and x of the
 * translation does not.
 */
static struct anim *moving_model(const struct anim *a, uint32_t frames)
{
	struct anim *edited = anim_edit(a);

	set_frames(edited, frames);
	for (uint32_t bone = 0; bone < edited->clips[0].track_count; bone++) {
		double *values = edit_values(edited, bone, ROLE_ROTATION, frames);

		for (unsigned axis = 0; axis < 3; axis++) {
			values[axis] = 0;
			values[3 * (frames - 1) + axis] = 90;
		}
	}
	return edited;
}

START_TEST(streams_begin_within_16_bits)
{
	struct maker *m = maker_new(1, 1, false);
	struct bytes block = made(m, CANONICAL);
	struct anim *a = decode(block), *edited, *b;
	/* The last stream begins at 0x14 + 8 + 2 * frames. */
	const uint32_t most = (0xFFFF - 0x1C) / 2;
	struct buf out;
	char fit[64];

	memset(m->angle, 0, sizeof(m->angle));
	memset(m->translation, 0, sizeof(m->translation));
	block = made(m, CANONICAL);
	anim_free(a);
	a = decode(block);
	edited = moving_model(a, most);
	out = store(edited, a, block);
	b = decode(buf_bytes(&out));
	ck_assert_double_eq(value_of(b, 0, ROLE_ROTATION, most - 1, 2), 90);
	anim_free(b);
	buf_release(&out);
	anim_free(edited);
	edited = moving_model(a, most + 1);
	snprintf(fit, sizeof(fit), "%u frames", most);
	encode_refused(edited, block, fit);
	anim_free(edited);
	anim_free(a);
	maker_free(m);
}
END_TEST

START_TEST(still_frames_take_no_room)
{
	struct buf block = load_sample("bones001");
	struct anim *a = decode(buf_bytes(&block)), *one = anim_edit(a), *b, *edited;
	struct buf single, out;

	set_frames(one, 1);
	single = store(one, a, buf_bytes(&block));
	b = decode(buf_bytes(&single));
	edited = anim_edit(b);
	set_frames(edited, 65535);
	for (uint32_t frame = 1; frame < 65535; frame++)
		for (unsigned axis = 0; axis < 3; axis++) {
			const struct track *t = edited->clips[0].tracks;

			for (unsigned role = 0; role < 2; role++) {
				double *values = (double *)t->curve[role]->values;

				values[3 * frame + axis] = values[axis];
			}
		}
	out = store(edited, b, buf_bytes(&single));
	ck_assert_uint_eq(out.size, single.size);
	ck_assert_uint_eq(get_u16(out.data + 2), 65535);
	buf_release(&out);
	buf_release(&single);
	anim_free(edited);
	anim_free(b);
	anim_free(one);
	anim_free(a);
	buf_release(&block);
}
END_TEST

/* ---- how many bones there are ---- */

START_TEST(bones_that_nothing_tells_are_asked_for)
{
	struct maker *m = maker_new(5, 1, false); /* a block of one frame has no streams */
	struct bytes block;
	struct anim *a;
	struct buf out;

	m->trailing = "abc";
	block = made(m, CANONICAL);
	ck_assert(ff9()->incomplete(block));
	ck_assert(!ff9()->probe(block));
	decode_refused(block, 0, "--type");
	decode_refused(block, 0, ".ff9model");
	a = decode_as(block, 5);
	check_made(m, a);
	check_identity(block, a);
	anim_free(a);
	a = decode_as(block, 4);
	ck_assert_uint_eq(a->clips[0].track_count, 4);
	check_identity(block, a);
	anim_free(a);
	decode_refused(block, 6, "6 bones do not fit");

	/* Once edited, the block shows its number of bones. */
	a = decode_as(block, 5);
	{
		struct anim *edited = anim_edit(a);

		set_value(edited, 2, ROLE_ROTATION, 0, 0, 22.5);
		out = store(edited, a, block);
		anim_free(edited);
	}
	anim_free(a);
	ck_assert(!ff9()->incomplete(buf_bytes(&out)));
	ck_assert_mem_eq(out.data + out.size - 3, "abc", 3);
	buf_release(&out);
	maker_free(m);
}
END_TEST

START_TEST(what_the_block_tells_goes_before_a_given_number)
{
	struct buf block = load_sample("bones024");
	struct anim *a = decode_as(buf_bytes(&block), 20);

	ck_assert_uint_eq(a->clips[0].track_count, 24);
	anim_free(a);
	buf_release(&block);
}
END_TEST

/* The trailing words may be as long as a record, so that they look like one. */
START_TEST(a_given_number_goes_before_what_the_end_suggests)
{
	struct maker *m = maker_new(5, 1, false);
	struct bytes block;
	struct anim *a;

	m->trailing = "8 bytes.";
	block = made(m, CANONICAL);
	ck_assert(!ff9()->incomplete(block));
	a = decode_as(block, 5);
	check_made(m, a);
	check_identity(block, a);
	anim_free(a);
	decode_refused(block, UINT32_MAX, "do not fit");
	maker_free(m);
}
END_TEST

/* ---- bytes that cannot be trusted ---- */

/*
 * Checks any bytes, from a heap block of exactly that size: they are refused with a reason, or
 * encode to the same bytes.
 */
static bool try_bytes(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);
	struct bytes src = {copy, size};
	struct err err = {.code = ERR_NONE};
	struct anim *a;
	bool good;

	if (size)
		memcpy(copy, data, size);
	ff9()->probe(src);
	a = ff9()->decode(src, NULL, &err);
	good = a != NULL;
	if (a)
		check_identity(src, a);
	else
		ck_assert(err.code == ERR_FORMAT && err.message[0] && err.at <= size);
	anim_free(a);
	free(copy);
	return good;
}

static void cut(struct bytes block, const json_t *expected)
{
	(void)expected;
	for (size_t size = 0; size < block.size && size < 3000; size++)
		try_bytes(block.data, size);
	for (size_t drop = 1; drop < block.size && drop < 600; drop++)
		try_bytes(block.data, block.size - drop);
}

START_TEST(cut_at_every_length)
{
	each_sample(true, cut);
}
END_TEST

static void change(struct bytes block, const json_t *expected)
{
	static const uint8_t changes[] = {0x01, 0x80, 0xFF};
	uint8_t *bytes = malloc(block.size);
	unsigned good = 0;

	(void)expected;
	ck_assert(bytes != NULL);
	memcpy(bytes, block.data, block.size);
	for (size_t i = 0; i < block.size && i < 1300; i++) {
		for (size_t c = 0; c < ARRAY_SIZE(changes); c++) {
			bytes[i] ^= changes[c];
			good += try_bytes(bytes, block.size);
			bytes[i] = block.data[i];
		}
	}
	ck_assert_uint_gt(good, 0);
	free(bytes);
}

START_TEST(every_byte_changed)
{
	each_sample(true, change);
}
END_TEST

START_TEST(short_blocks_do_not_grow_without_bound)
{
	struct buf block = BUF_INIT;

	buf_u32(&block, 0xFFFF0000); /* number of frames: 65535 */
	buf_zero(&block, 6);
	buf_u16(&block, 7);
	buf_u32(&block, 0x14);
	buf_u32(&block, 0);
	for (unsigned bone = 0; bone < 257; bone++) {
		buf_zero(&block, 6);
		buf_u16(&block, 7);
	}
	decode_refused(buf_bytes(&block), 0, "too many");
	block.size -= 8 * 2;
	anim_free(decode(buf_bytes(&block)));
	buf_release(&block);
}
END_TEST

START_TEST(more_bones_than_can_be_numbered_are_refused)
{
	struct buf block = BUF_INIT;

	buf_u32(&block, 0x00010000); /* number of frames: 1 */
	buf_zero(&block, 6);
	buf_u16(&block, 7);
	buf_u32(&block, 0x14);
	buf_u32(&block, 0);
	for (unsigned bone = 0; bone < 70000; bone++) {
		buf_zero(&block, 6);
		buf_u16(&block, 7);
	}
	decode_refused(buf_bytes(&block), 70000, "too many");
	decode_refused(buf_bytes(&block), 0, "");
	block.size = 0x14 + 8 * 65535;
	anim_free(decode(buf_bytes(&block)));
	buf_release(&block);
}
END_TEST

START_TEST(other_files_are_not_taken_for_blocks)
{
	static const char *const others[] = {
		"tests/data/canm/wiki512.canm",
		"tests/data/canm/edf6_768.canm",
		"tests/unit/codec/test_ff9anim.c",
		"LICENSE",
		"Makefile",
		"/proc/self/exe",
	};
	uint8_t noise[256] = {0};
	unsigned taken = 0;

	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		struct buf file = load_file(others[i]);

		ck_assert_msg(!ff9()->probe(buf_bytes(&file)), "%s", others[i]);
		buf_release(&file);
	}
	ck_assert(!ff9()->probe((struct bytes){noise, sizeof(noise)}));
	for (unsigned i = 0; i < 100000; i++) {
		for (size_t at = 2; at < sizeof(noise); at++)
			noise[at] = (uint8_t)below(256);
		taken += ff9()->probe((struct bytes){noise, sizeof(noise)});
	}
	ck_assert_uint_eq(taken, 0);
}
END_TEST

static void check_probe(struct bytes block, const json_t *expected)
{
	if (json_is_true(json_object_get(expected, "canonical")))
		ck_assert(ff9()->probe(block));
}

START_TEST(blocks_as_the_game_has_them_are_recognised)
{
	each_sample(true, check_probe);
}
END_TEST

static TCase *case_of(const char *name, const TTest *const *tests, size_t count)
{
	TCase *tc = tcase_create(name);

	for (size_t i = 0; i < count; i++)
		tcase_add_test(tc, tests[i]);
	return tc;
}
#define CASE(name, ...)                                                                            \
	case_of(name, (const TTest *const[]){__VA_ARGS__},                                         \
		sizeof((const TTest *const[]){__VA_ARGS__}) / sizeof(TTest *))

Suite *ff9anim_suite(void);

Suite *ff9anim_suite(void)
{
	Suite *s = suite_create("ff9anim");
	TCase *made_blocks = tcase_create("made");

	suite_add_tcase(s, CASE("samples", samples_say_what_is_expected_and_keep_their_bytes,
				samples_that_are_none_are_refused, refusals_say_what_is_wrong,
				edited_canonical_blocks_stay_canonical, fixed_facts_of_the_model));
	tcase_add_loop_test(made_blocks, made_blocks_are_written_again_from_their_model_alone, 0,
			    2);
	tcase_add_loop_test(made_blocks, other_orders_keep_their_bytes_until_edited, 0,
			    ARRAY_SIZE(orders));
	tcase_add_loop_test(made_blocks, an_edit_keeps_word0_spare_bits_and_what_trails, 0, 2);
	tcase_add_test(made_blocks, an_edit_adds_a_low_table_where_it_needs_one);
	tcase_add_loop_test(made_blocks, what_cannot_be_stored_is_refused_by_name, 0, 18);
	suite_add_tcase(s, made_blocks);
	suite_add_tcase(s, CASE("numbers", angles_go_to_the_nearest_step_up_to_whole_turns,
				lengths_go_to_the_nearest_whole_number,
				angles_that_are_not_finite_are_refused_by_name,
				word0_is_a_field_of_16_bits));
	suite_add_tcase(s, CASE("lists", bones_go_and_come_at_the_end,
				frames_are_as_many_as_the_model_says, streams_begin_within_16_bits,
				still_frames_take_no_room, bones_that_nothing_tells_are_asked_for,
				what_the_block_tells_goes_before_a_given_number,
				a_given_number_goes_before_what_the_end_suggests));
	suite_add_tcase(s, CASE("bytes", cut_at_every_length, every_byte_changed,
				short_blocks_do_not_grow_without_bound,
				more_bones_than_can_be_numbered_are_refused,
				other_files_are_not_taken_for_blocks,
				blocks_as_the_game_has_them_are_recognised));
	return s;
}
