/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The CANM codec. Expected values of the samples stand beside them; files in odd orders are made
 * here by a writer of its own (struct maker), which shares nothing with the codec.
 */
#include "animfs/codec.h"
#include "coding.h"
#include "load.h"
#include "text/num.h"

#include <check.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

#define DEGREES (180 / 3.14159265358979323846)

static const char *const good[] = {"wiki512", "odd512", "edf6_768", "nan512"};
static const char *const expected[] = {"wiki512", "odd512", "edf6_768"};

static struct buf load_sample(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "tests/data/canm/%s.canm", name);
	return load_file(path);
}

static struct anim *decode(struct bytes src)
{
	return decode_ok(codec_named("canm"), src, NULL);
}

static struct buf encode(const struct anim *a, struct bytes old)
{
	return encode_ok(codec_named("canm"), a, old);
}

static void encode_refused(const struct anim *a, struct bytes old, const char *why)
{
	struct err err = {.code = ERR_NONE};
	struct buf out = BUF_INIT;

	ck_assert(!codec_named("canm")->encode(a, old, &out, &err));
	ck_assert_int_eq(err.code, ERR_STORE);
	ck_assert_msg(strstr(err.message, why) || strstr(err.accepted, why), "%s (%s)", err.message,
		      err.accepted);
	buf_release(&out);
}

static void check_identity(struct bytes src)
{
	struct anim *a = decode(src);
	struct buf out = encode(a, src);

	ck_assert_uint_eq(out.size, src.size);
	ck_assert_mem_eq(out.data, src.data, src.size);
	buf_release(&out);
	anim_free(a);
}

/* ---- a writer of odd files ---- */

#define MAKER_MAX 16

struct made_channel {
	uint32_t kind, count;
	uint32_t base[4], step[4];
	int keys;       /* number of the channel's key block, or -1 */
	int32_t offset; /* offset to write if the channel has no key block */
	uint32_t spare;
};

struct made_clip {
	int32_t loop;
	int name;
	float duration, frame_time;
	int32_t frames;
	uint32_t row_count;
	uint16_t rows[8][4];
	int32_t row_offset; /* offset to write if the clip has no rows */
	int rows_of;        /* the clip whose rows this clip uses, or -1 */
};

struct maker {
	uint32_t version;
	unsigned channel_count, clip_count, name_count, string_count, block_count;
	struct made_channel channels[MAKER_MAX];
	struct made_clip clips[MAKER_MAX];
	int names[MAKER_MAX];
	uint16_t strings[MAKER_MAX][16];
	struct {
		unsigned size;
		uint8_t bytes[256];
	} blocks[MAKER_MAX];
	struct buf out;
	size_t channels_at, clips_at, names_at;
	size_t rows_at[MAKER_MAX], strings_at[MAKER_MAX], blocks_at[MAKER_MAX];
};

static size_t record_size(const struct maker *m)
{
	return m->version == 512 ? 0x20 : 0x30;
}

static unsigned string_size(const uint16_t *s)
{
	unsigned count = 0;

	while (s[count])
		count++;
	return 2 * count + 2;
}

static size_t make_room(struct maker *m, size_t align, size_t size, uint8_t fill)
{
	size_t at;

	buf_align(&m->out, align);
	at = m->out.size;
	buf_zero(&m->out, size);
	memset(m->out.data + at, fill, size);
	return at;
}

/*
 * Places things in the order of the letters: C channels, A animations, N names; with a digit K key
 * block, R rows, S string; G a gap of junk, P padding to 16, Q padding to 4.
 */
static void maker_place(struct maker *m, const char *order)
{
	buf_zero(&m->out, 0x20);
	for (; *order; order++) {
		unsigned i = order[1] >= '0' && order[1] <= '9' ? (unsigned)(order[1] - '0') : 0;

		switch (*order) {
		case 'C':
			m->channels_at = make_room(m, 1, m->channel_count * record_size(m), 0);
			break;
		case 'A':
			m->clips_at = make_room(m, 1, m->clip_count * 0x1C, 0);
			break;
		case 'N':
			m->names_at = make_room(m, 1, m->name_count * 4, 0);
			break;
		case 'K':
			m->blocks_at[i] = make_room(m, 1, m->blocks[i].size, 0);
			memcpy(m->out.data + m->blocks_at[i], m->blocks[i].bytes,
			       m->blocks[i].size);
			break;
		case 'R':
			m->rows_at[i] = make_room(m, 1, m->clips[i].row_count * 8, 0);
			break;
		case 'S':
			m->strings_at[i] = make_room(m, 1, string_size(m->strings[i]), 0);
			break;
		case 'G':
			make_room(m, 1, 6, 0xEE);
			break;
		case 'P':
			make_room(m, 16, 0, 0);
			break;
		case 'Q':
			make_room(m, 4, 0, 0);
			break;
		}
	}
}

static void put_relative(struct maker *m, size_t entry, size_t field, size_t to)
{
	put_u32(m->out.data + entry + field, (uint32_t)((int64_t)to - (int64_t)entry));
}

static void maker_fill_channel(struct maker *m, unsigned i)
{
	const struct made_channel *c = &m->channels[i];
	size_t at = m->channels_at + i * record_size(m), field = m->version == 512 ? 0x1C : 0x20;
	uint8_t *p = m->out.data + at;
	unsigned axis, width = m->version == 512 ? 3 : 4;
	size_t base = m->version == 512 ? 4 : 0;

	for (axis = 0; axis < width; axis++) {
		put_u32(p + base + 4 * axis, c->base[axis]);
		put_u32(p + 0x10 + 4 * axis, c->step[axis]);
	}
	if (m->version == 512) {
		put_u16(p, (uint16_t)c->kind);
		put_u16(p + 2, (uint16_t)c->count);
	} else {
		put_u32(p + 0x24, c->kind);
		put_u32(p + 0x28, c->count);
		put_u32(p + 0x2C, c->spare);
	}
	if (c->keys >= 0)
		put_relative(m, at, field, m->blocks_at[c->keys]);
	else
		put_u32(p + field, (uint32_t)c->offset);
}

static void maker_fill_clip(struct maker *m, unsigned i)
{
	const struct made_clip *c = &m->clips[i];
	size_t at = m->clips_at + i * 0x1C;
	uint8_t *p = m->out.data + at;
	unsigned row, word;

	put_u32(p, (uint32_t)c->loop);
	put_relative(m, at, 4, m->strings_at[c->name]);
	put_f32(p + 8, c->duration);
	put_f32(p + 12, c->frame_time);
	put_u32(p + 16, (uint32_t)c->frames);
	put_u32(p + 20, c->row_count);
	if (c->row_count == 0)
		put_u32(p + 24, (uint32_t)c->row_offset);
	else
		put_relative(m, at, 24, m->rows_at[c->rows_of >= 0 ? c->rows_of : (int)i]);
	if (c->rows_of >= 0)
		return;
	for (row = 0; row < c->row_count; row++)
		for (word = 0; word < 4; word++)
			put_u16(m->out.data + m->rows_at[i] + 8 * row + 2 * word,
				c->rows[row][word]);
}

static struct bytes maker_finish(struct maker *m)
{
	unsigned i;

	memcpy(m->out.data, "CANM", 4);
	put_u32(m->out.data + 4, m->version);
	put_u32(m->out.data + 8, m->clip_count);
	put_u32(m->out.data + 12, (uint32_t)m->clips_at);
	put_u32(m->out.data + 16, m->channel_count);
	put_u32(m->out.data + 20, (uint32_t)m->channels_at);
	put_u32(m->out.data + 24, m->name_count);
	put_u32(m->out.data + 28, (uint32_t)m->names_at);
	for (i = 0; i < m->channel_count; i++)
		maker_fill_channel(m, i);
	for (i = 0; i < m->clip_count; i++)
		maker_fill_clip(m, i);
	for (i = 0; i < m->name_count; i++)
		put_relative(m, m->names_at + 4 * i, 0, m->strings_at[m->names[i]]);
	return buf_bytes(&m->out);
}

static void maker_keys(struct maker *m, unsigned block, unsigned count, unsigned from)
{
	unsigned i;

	m->blocks[block].size = 6 * count;
	for (i = 0; i < 3 * count; i++)
		put_u16(m->blocks[block].bytes + 2 * i, (uint16_t)(from + 77 * i));
}

static void maker_quaternions(struct maker *m, unsigned block, unsigned count)
{
	unsigned i;

	m->blocks[block].size = 16 * count;
	for (i = 0; i < count; i++) {
		uint8_t *p = m->blocks[block].bytes + 16 * i;

		put_f32(p + 0, sinf((float)i));
		put_f32(p + 12, cosf((float)i));
	}
}

static struct made_channel vector_channel(uint32_t kind, uint32_t count, int keys)
{
	struct made_channel c = {.kind = kind, .count = count, .keys = keys};
	unsigned i;

	for (i = 0; i < 4; i++) {
		c.base[i] = f32_bits(0.25f * (float)(i + 1));
		c.step[i] = kind == 1 ? f32_bits(0.001f * (float)(i + 1)) : 0;
	}
	return c;
}

static void set_row(struct made_clip *c, unsigned row, uint16_t name, uint16_t p, uint16_t r,
		    uint16_t s)
{
	c->rows[row][0] = name;
	c->rows[row][1] = p;
	c->rows[row][2] = r;
	c->rows[row][3] = s;
	if (c->row_count <= row)
		c->row_count = row + 1;
}

static void set_string(struct maker *m, unsigned i, const char *ascii)
{
	unsigned n;

	for (n = 0; ascii[n]; n++)
		m->strings[i][n] = (uint8_t)ascii[n];
	m->strings[i][n] = 0;
	if (m->string_count <= i)
		m->string_count = i + 1;
}

/*
 * Makes a file with all that may occur: sharing of channels, key blocks and strings, an unused
 * channel and name, duplicate rows and names, a lone surrogate, an empty name, count != n, n = 1
 * and duration 0, odd loop values. Strings in canonical order: 0 Scene_Root, 1 empty, 2 arm, 3 leg,
 * 4 run, 5 walk, 6 a lone surrogate.
 */
static void maker_init(struct maker *m, uint32_t version)
{
	unsigned i;

	*m = (struct maker){.version = version, .out = BUF_INIT};
	set_string(m, 0, "Scene_Root");
	set_string(m, 1, "");
	set_string(m, 2, "arm");
	set_string(m, 3, "leg");
	set_string(m, 4, "run");
	set_string(m, 5, "walk");
	m->strings[6][0] = 0x4E00;
	m->strings[6][1] = 0xDC01;
	m->string_count = 7;
	maker_keys(m, 0, 5, 10);
	maker_keys(m, 1, 3, 65000);
	maker_keys(m, 2, 9, 3);
	m->block_count = 3;
	m->channels[0] = vector_channel(0, 1, -1);
	m->channels[1] = vector_channel(1, 5, 0);
	m->channels[2] = vector_channel(1, 3, 1);
	m->channels[3] = vector_channel(0, 7, -1); /* an unused channel with a senseless count */
	m->channels[3].offset = -4;
	m->channels[4] = vector_channel(1, 9, 2);
	m->channels[5] = vector_channel(1, 5, 0); /* another channel with the same keys */
	m->channels[5].base[0] = f32_bits(-7);
	m->channel_count = 6;
	if (version == 768) {
		maker_quaternions(m, 3, 5);
		m->block_count = 4;
		m->channels[6] =
			(struct made_channel){.kind = 3, .count = 5, .keys = 3, .spare = 9};
		/* junk in a field that this kind of channel does not use */
		m->channels[6].base[2] = 0x12345678;
		m->channels[6].step[3] = 0x7FC00001;
		m->channels[7] = (struct made_channel){.kind = 2, .count = 0, .keys = -1};
		m->channels[7].base[3] = f32_bits(1);
		m->channels[7].offset = -4;
		m->channel_count = 8;
	}
	for (i = 0; i < 6; i++)
		m->names[i] = (int)i;
	m->names[5] = 6;
	m->names[6] = 2; /* a second name with the string "arm" */
	m->name_count = 7;
	m->clips[0] = (struct made_clip){
		.loop = 2, .name = 5, .duration = 8, .frame_time = 2, .frames = 5, .rows_of = -1};
	set_row(&m->clips[0], 0, 2, 1, 0, 0);
	set_row(&m->clips[0], 1, 0, 0xFFFF, 0xFFFF, 0xFFFF);
	set_row(&m->clips[0], 2, 2, 1, version == 768 ? 6 : 1, 0);
	set_row(&m->clips[0], 3, 5, 2, version == 768 ? 7 : 4, 5);
	m->clips[1] = (struct made_clip){
		.loop = 1, .name = 4, .duration = 0, .frame_time = 0, .frames = 1, .rows_of = -1};
	set_row(&m->clips[1], 0, 3, 0, 0, 0);
	m->clips[2] = (struct made_clip){
		.loop = -1, .name = 4, .duration = 3, .frame_time = 1, .frames = 4, .rows_of = -1};
	set_row(&m->clips[2], 0, 1, 4, 4, 0xFFFF);
	set_row(&m->clips[2], 1, 6, 2, 0xFFFF, 0);
	m->clip_count = 3;
}

static const char *const canonical_orders[2] = {
	"CK0K1K2QAR0R1R2NS0S1S2S3S4S5S6",
	"CK0K1K2PK3QAR0R1R2NS0S1S2S3S4S5S6",
};
/* Orders with key blocks out of order, tables in other places, gaps, or trailing bytes. */
static const char *const odd_orders[2][4] = {
	{
		"CK2K0K1QAR0R1R2NS0S1S2S3S4S5S6",
		"S3NGS0R2AS1GGK2PCGK0S2R1R0S4S6K1S5G",
		"GGGNS6S5S4S3S2S1S0AR2R1R0PCK2K1K0",
		"AR0R1R2PCK0K1K2GNS0S1S2S3S4S5S6GG",
	},
	{
		"CK2K0K1PK3QAR0R1R2NS0S1S2S3S4S5S6",
		"S3NGS0PK3R2AS1GGK2PCGK0S2R1R0S4S6K1S5G",
		"GGGNS6S5S4S3S2S1S0AR2R1R0PK3CK2K1K0",
		"AR0R1R2PCK0K1K2GPK3NS0S1S2S3S4S5S6GG",
	},
};

/* ---- an independent check of the order of a file ---- */

struct span {
	size_t at, size;
	bool wide; /* the keys are quaternions */
};

static int by_start(const void *a, const void *b)
{
	const struct span *p = a, *q = b;

	return p->at < q->at ? -1 : p->at > q->at;
}

/* Returns which of the game's rules of layout a file breaks, or NULL. */
static const char *find_disorder(struct bytes f)
{
	static struct span spans[70000];
	const uint8_t *p = f.data;
	uint32_t version = get_u32(p + 4), clips = get_u32(p + 8), channels = get_u32(p + 16);
	uint32_t names = get_u32(p + 24), i;
	size_t record = version == 512 ? 0x20 : 0x30, count = 0, end, n;
	uint32_t clips_at = get_u32(p + 12), names_at = get_u32(p + 28);
	bool wide = false;

	if (get_u32(p + 20) != 0x20)
		return "channel table";
	end = 0x20 + channels * record;
	for (i = 0; i < channels; i++) {
		size_t at = 0x20 + i * record;
		uint32_t kind = version == 512 ? get_u16(p + at) : get_u32(p + at + 0x24);
		uint32_t keys = version == 512 ? get_u16(p + at + 2) : get_u32(p + at + 0x28);
		uint32_t offset = get_u32(p + at + (version == 512 ? 0x1C : 0x20));

		if (kind & 1)
			spans[count++] = (struct span){at + (size_t)(int32_t)offset,
						       keys * (kind == 3 ? 16 : 6), kind == 3};
	}
	qsort(spans, count, sizeof(*spans), by_start);
	for (n = 0; n < count; n++) {
		if (n && spans[n].at == spans[n - 1].at && spans[n].size == spans[n - 1].size)
			continue;
		if (spans[n].wide && !wide)
			for (; end % 16; end++)
				if (p[end])
					return "padding before quaternions";
		if (wide && !spans[n].wide)
			return "short keys behind quaternions";
		wide = spans[n].wide;
		if (spans[n].at != end)
			return "key blocks";
		end += spans[n].size;
	}
	for (; end % 4; end++)
		if (p[end])
			return "padding before animations";
	if (clips_at != end)
		return "animation table";
	end += clips * 0x1C;
	for (i = 0; i < clips; i++) {
		size_t at = clips_at + i * 0x1C;

		if (at + (size_t)(int32_t)get_u32(p + at + 24) != end)
			return "rows";
		end += 8 * get_u32(p + at + 20);
	}
	if (names_at != end)
		return "name table";
	end += 4 * names;
	count = 0;
	for (i = 0; i < names + clips; i++) {
		size_t at = i < names ? names_at + 4 * i : clips_at + 0x1C * (i - names);
		size_t text = at + (size_t)(int32_t)get_u32(p + at + (i < names ? 0 : 4)), size = 2;

		while (get_u16(p + text + size - 2))
			size += 2;
		spans[count++] = (struct span){text, size, false};
	}
	qsort(spans, count, sizeof(*spans), by_start);
	for (n = 0; n < count; n++) {
		size_t u;

		if (n && spans[n].at == spans[n - 1].at)
			continue;
		if (spans[n].at != end)
			return "strings";
		end += spans[n].size;
		if (n == 0)
			continue;
		if (spans[n].size == 22 &&
		    memcmp(p + spans[n].at, "S\0c\0e\0n\0e\0_\0R\0", 14) == 0)
			return "Scene_Root";
		if (spans[n - 1].size == 22 &&
		    memcmp(p + spans[n - 1].at, "S\0c\0e\0n\0e\0_\0R\0", 14) == 0)
			continue;
		for (u = 0; u < spans[n].size && u < spans[n - 1].size; u += 2) {
			uint16_t a = get_u16(p + spans[n - 1].at + u),
				 b = get_u16(p + spans[n].at + u);

			if (a > b)
				return "order of strings";
			if (a < b)
				break;
		}
	}
	return end == f.size ? NULL : "bytes at the end";
}

static void check_order(struct bytes f)
{
	const char *fault = find_disorder(f);

	ck_assert_msg(fault == NULL, "not in order: %s", fault);
}

static uint32_t header_word(struct bytes f, size_t at)
{
	return get_u32(f.data + at);
}

/* Checks the alignment without which the game crashes. */
static void check_alignment(struct bytes f)
{
	uint32_t count = header_word(f, 16), at = header_word(f, 20), i;

	ck_assert_uint_eq(at % 16, 0);
	for (i = 0; header_word(f, 4) == 768 && i < count; i++) {
		uint32_t entry = at + 0x30 * i;

		if (get_u32(f.data + entry + 0x24) == 3)
			ck_assert_uint_eq((entry + get_u32(f.data + entry + 0x20)) % 16, 0);
	}
}

/* ---- decoding ---- */

static const char *const role_keys[] = {"position", "rotation", "scale"};

static void check_curve(const struct curve *c, uint32_t frames, const json_t *keys)
{
	size_t i;
	unsigned axis;

	if (json_is_null(keys)) {
		ck_assert_ptr_null(c);
		return;
	}
	ck_assert_ptr_nonnull(c);
	ck_assert_uint_eq(curve_shown(c, frames), json_array_size(keys));
	ck_assert_uint_eq(curve_width(c), json_array_size(json_array_get(keys, 0)));
	for (i = 0; i < json_array_size(keys); i++) {
		for (axis = 0; axis < curve_width(c); axis++) {
			double v = json_number_value(json_array_get(json_array_get(keys, i), axis));

			if (c->kind == CURVE_EULER)
				v = c->lane[axis].unit * v;
			ck_assert(f64_same(curve_value(c, (uint32_t)i, axis), v));
		}
	}
}

static void check_clip(const struct clip *clip, const json_t *want)
{
	const json_t *bones = json_object_get(want, "bones");
	uint32_t t;
	unsigned role;

	ck_assert_str_eq(clip->name, json_string_value(json_object_get(want, "name")));
	ck_assert_int_eq(clip->loop, json_is_true(json_object_get(want, "looping")));
	ck_assert(clip->duration == json_number_value(json_object_get(want, "duration")));
	ck_assert(clip->frame_time == json_number_value(json_object_get(want, "frame_time")));
	ck_assert_int_eq(clip->frames, json_integer_value(json_object_get(want, "keyframe_count")));
	ck_assert_uint_eq(clip->track_count, json_array_size(bones));
	for (t = 0; t < clip->track_count; t++) {
		const json_t *bone = json_array_get(bones, t);

		ck_assert_str_eq(clip->tracks[t].name,
				 json_string_value(json_object_get(bone, "name")));
		ck_assert_uint_eq(clip->tracks[t].origin, t);
		for (role = 0; role < ROLE_COUNT; role++)
			check_curve(clip->tracks[t].curve[role], clip->frames,
				    json_object_get(bone, role_keys[role]));
	}
}

START_TEST(test_values_of_samples)
{
	struct buf src = load_sample(expected[_i]);
	struct anim *a = decode(buf_bytes(&src));
	char path[128];
	json_error_t error;
	json_t *want, *names, *clips;
	uint32_t i;

	snprintf(path, sizeof(path), "tests/data/canm/%s.expect.json", expected[_i]);
	want = json_load_file(path, 0, &error);
	ck_assert_msg(want != NULL, "%s: %s", path, error.text);
	ck_assert_int_eq(a->version, json_integer_value(json_object_get(want, "version")));
	names = json_object_get(want, "bone_names");
	ck_assert_uint_eq(a->bone_count, json_array_size(names));
	for (i = 0; i < a->bone_count; i++)
		ck_assert_str_eq(a->bones[i], json_string_value(json_array_get(names, i)));
	clips = json_object_get(want, "animations");
	ck_assert_uint_eq(a->clip_count, json_array_size(clips));
	for (i = 0; i < a->clip_count; i++)
		check_clip(&a->clips[i], json_array_get(clips, i));
	json_decref(want);
	anim_free(a);
	buf_release(&src);
}
END_TEST

START_TEST(test_curves_shared_by_pointer)
{
	struct buf src = load_sample("wiki512");
	struct anim *a = decode(buf_bytes(&src));
	const struct track *walk = a->clips[0].tracks;

	/* Channel 0 is both the position and the rotation of Scene_Root. */
	ck_assert_int_eq(walk[0].curve[ROLE_TRANSLATION]->kind, CURVE_VECTOR);
	ck_assert_int_eq(walk[0].curve[ROLE_ROTATION]->kind, CURVE_EULER);
	ck_assert_ptr_eq(walk[1].curve[ROLE_ROTATION], walk[2].curve[ROLE_ROTATION]);
	ck_assert_ptr_eq(walk[1].curve[ROLE_TRANSLATION],
			 a->clips[2].tracks[0].curve[ROLE_TRANSLATION]);
	anim_free(a);
	buf_release(&src);
}
END_TEST

START_TEST(test_what_a_model_says)
{
	struct buf src = load_sample("odd512");
	struct anim *a = decode(buf_bytes(&src));
	const struct field *loop = a->clips[1].fields;

	ck_assert_str_eq(a->format->name, "canm");
	ck_assert(a->rate == 60);
	ck_assert(a->clips[0].loop);
	ck_assert(!a->clips[1].loop);
	ck_assert_str_eq(loop->name, "loop");
	ck_assert_int_eq(loop->integer, 2);
	ck_assert(loop->editable);
	ck_assert_int_eq(a->clips[0].tracks[0].roles, 7);
	ck_assert_int_eq(a->clips[0].tracks[0].rotation, CURVE_EULER);
	anim_free(a);
	buf_release(&src);
}
END_TEST

START_TEST(test_samples_encode_to_themselves)
{
	struct buf src = load_sample(good[_i]);

	check_identity(buf_bytes(&src));
	check_order(buf_bytes(&src));
	buf_release(&src);
}
END_TEST

START_TEST(test_odd_orders_encode_to_themselves)
{
	struct maker m;
	struct bytes src;

	maker_init(&m, _i % 2 ? 768 : 512);
	maker_place(&m, odd_orders[_i % 2][_i / 2]);
	src = maker_finish(&m);
	check_identity(src);
	buf_release(&m.out);
}
END_TEST

START_TEST(test_probe)
{
	struct buf src = load_sample("wiki512");

	ck_assert_ptr_eq(codec_probe(buf_bytes(&src)), codec_named("canm"));
	src.data[5] = 9;
	ck_assert_ptr_null(codec_probe(buf_bytes(&src)));
	ck_assert_ptr_null(codec_probe(bytes_of("CANM")));
	ck_assert_ptr_null(codec_probe(bytes_of("")));
	ck_assert_ptr_eq(codec_for_name("RANGER.CANM"), codec_named("canm"));
	ck_assert_ptr_null(codec_for_name("ranger.canm.bak"));
	ck_assert_ptr_null(codec_named("none"));
	buf_release(&src);
}
END_TEST

/* ---- refused files ---- */

struct refusal {
	const char *why;
	size_t at;
};

static void check_refused(struct bytes src, struct refusal want)
{
	struct err err = {.code = ERR_NONE};
	struct anim *a = codec_named("canm")->decode(src, NULL, &err);

	ck_assert_ptr_null(a);
	ck_assert_int_eq(err.code, ERR_FORMAT);
	ck_assert_msg(strstr(err.message, want.why) != NULL, "%s", err.message);
	ck_assert(err.placed);
	ck_assert_uint_eq(err.at, want.at);
}

START_TEST(test_bad_samples)
{
	static const struct {
		const char *name;
		struct refusal want;
	} bad[] = {
		{"bad_negframes", {"animation 0 has -5 frames", 0x108}},
		{"bad_truncated", {"table of 4 animations at 248 does not fit", 8}},
		{"bad_unterminated", {"name of animation 2 has no end", 0x208}},
		{"bad_version", {"version 0x20000 is unknown", 4}},
	};
	struct buf src = load_sample(bad[_i].name);

	check_refused(buf_bytes(&src), bad[_i].want);
	buf_release(&src);
}
END_TEST

START_TEST(test_false_claims)
{
	/*
	 * Changes of wiki512: the bytes to write, their place, and a part of the expected message.
	 */
	static const struct {
		size_t at;
		unsigned size;
		uint32_t value;
		struct refusal want;
	} lies[] = {
		{0x00, 4, 0x4D4E4142, {"begin with CANM", 0}},
		{0x08, 4, 0xFFFFFFFF, {"4294967295 animations", 0x08}},
		{0x14, 4, 0x80000000, {"5 channels", 0x10}},
		{0x1C, 4, 0x210, {"5 bone names", 0x18}},
		{0x20, 2, 625, {"channel 0 is of the unknown kind 625", 0x20}},
		{0x62, 2, 0, {"channel 2 has 0 keys", 0x60}},
		{0x62, 2, 200, {"200 keys of channel 2 do not fit", 0x60}},
		{0x7C, 4, 0x61, {"odd offset 193", 0x60}},
		{0x7C, 4, 0xFFFFFF00, {"keys of channel 2 lie outside", 0x60}},
		{0xFC, 4, 0x101, {"animation 0 stands at the odd offset", 0xFC}},
		{0xFC, 4, 0x7FFFFFFF, {"animation 0 lies outside", 0xFC}},
		{0x108, 4, 0, {"animation 0 has 0 frames", 0x108}},
		{0x108, 4, 65536, {"animation 0 has keys over 65536 frames", 0x108}},
		{0x10C, 4, 1000, {"1000 rows of animation 0", 0x10C}},
		{0x168, 2, 5, {"animation 0, row 0: there is no bone name 5", 0x168}},
		{0x16C, 2, 5, {"animation 0, row 0: there is no channel 5", 0x16C}},
		{0x1A4, 4, 0x29, {"bone 1 stands at the odd offset", 0x1A4}},
	};
	struct buf src = load_sample("wiki512");

	if (lies[_i].size == 2)
		put_u16(src.data + lies[_i].at, (uint16_t)lies[_i].value);
	else
		put_u32(src.data + lies[_i].at, lies[_i].value);
	check_refused(buf_bytes(&src), lies[_i].want);
	buf_release(&src);
}
END_TEST

START_TEST(test_quaternions_out_of_place)
{
	struct buf src = load_sample("edf6_768");

	put_u16(src.data + 0x13A, 3); /* the scale of body, which used channel 2 */
	check_refused(buf_bytes(&src), (struct refusal){"cannot be a scale", 0x13A});
	put_u32(src.data + 0x74, 4);
	check_refused(buf_bytes(&src),
		      (struct refusal){"channel 1 is of the unknown kind 4", 0x50});
	buf_release(&src);
}
END_TEST

START_TEST(test_long_without_keys)
{
	struct buf src = load_sample("nan512");
	struct anim *a;

	put_u32(src.data + 0x50, 70000);
	a = decode(buf_bytes(&src));
	ck_assert_uint_eq(a->clips[0].frames, 70000);
	anim_free(a);
	check_identity(buf_bytes(&src));
	buf_release(&src);
}
END_TEST

static void check_damaged(const uint8_t *data, size_t size)
{
	struct err err = {.code = ERR_NONE};
	uint8_t *exact = malloc(size ? size : 1);
	struct anim *a;

	ck_assert_ptr_nonnull(exact);
	memcpy(exact, data, size);
	a = codec_named("canm")->decode((struct bytes){exact, size}, NULL, &err);
	if (a)
		check_identity((struct bytes){exact, size});
	else
		ck_assert(err.code == ERR_FORMAT && err.placed && err.message[0]);
	anim_free(a);
	free(exact);
}

START_TEST(test_cut_at_every_length)
{
	struct buf src = load_sample(good[_i]);
	size_t size;

	for (size = 0; size < src.size; size++)
		check_damaged(src.data, size);
	buf_release(&src);
}
END_TEST

START_TEST(test_every_byte_changed)
{
	static const uint8_t values[] = {0x00, 0x01, 0x02, 0x7F, 0x80, 0xFE, 0xFF};
	struct buf src = load_sample(good[_i]);
	size_t at, v;

	for (at = 0; at < src.size; at++) {
		uint8_t old = src.data[at];

		for (v = 0; v < sizeof(values); v++) {
			src.data[at] = values[v];
			check_damaged(src.data, src.size);
		}
		src.data[at] = old ^ 0x10;
		check_damaged(src.data, src.size);
		src.data[at] = old;
	}
	buf_release(&src);
}
END_TEST

/* ---- editing: tools ---- */

static struct curve *typed(struct anim *a, enum curve_kind kind, bool keyed, uint32_t count,
			   const double *values)
{
	struct curve *c = arena_alloc(&a->arena, 1, sizeof(*c));
	double *copy;
	unsigned axis;

	*c = (struct curve){.kind = kind, .keyed = keyed, .count = count};
	copy = arena_alloc(&a->arena, (size_t)count * curve_width(c), sizeof(*copy));
	for (axis = 0; axis < curve_width(c); axis++)
		c->lane[axis].unit = kind == CURVE_EULER ? DEGREES : 1;
	if (values)
		memcpy(copy, values, count * curve_width(c) * sizeof(*copy));
	c->values = copy;
	return c;
}

/* Makes a curve with the same values, each typed again. */
static struct curve *retyped(struct anim *a, const struct curve *old)
{
	struct curve *c = typed(a, old->kind, old->keyed, old->count, NULL);
	double *values = (double *)(uintptr_t)c->values;
	uint32_t key;
	unsigned axis, width = curve_width(old);

	for (key = 0; key < old->count; key++)
		for (axis = 0; axis < width; axis++)
			values[key * width + axis] = curve_value(old, key, axis);
	return c;
}

static void set_value(struct curve *c, uint32_t key, unsigned axis, double v)
{
	((double *)(uintptr_t)c->values)[key * curve_width(c) + axis] = v;
}

/* Replaces the curve of a track by a copy with one value changed. */
static struct curve *edit_value(struct anim *a, uint32_t clip, uint32_t track, enum role role,
				uint32_t key, unsigned axis, double v)
{
	struct track *t = anim_edit_track(a, clip, track);
	struct curve *c = retyped(a, t->curve[role]);

	set_value(c, key, axis, v);
	t->curve[role] = c;
	return c;
}

static struct clip *edit_clips(struct anim *a, uint32_t count)
{
	struct clip *clips = arena_alloc(&a->arena, count, sizeof(*clips));

	memcpy(clips, a->clips, (count < a->clip_count ? count : a->clip_count) * sizeof(*clips));
	a->clips = clips;
	a->clip_count = count;
	return clips;
}

/* Checks that `now` equals `wanted`, as nearly as the lane can store it. */
static void check_near(const struct curve *now, const struct curve *want)
{
	uint32_t key;
	unsigned axis;

	ck_assert_int_eq(now->kind, want->kind);
	ck_assert_int_eq(now->keyed, want->keyed);
	ck_assert_uint_eq(now->count, want->count);
	for (key = 0; key < now->count; key++) {
		for (axis = 0; axis < curve_width(now); axis++) {
			const struct lane *lane = &now->lane[axis];
			double v = curve_value(now, key, axis), w = curve_value(want, key, axis);
			double room = 1e-7 * fabs(w) + 1e-30;

			if (lane->form == LANE_GRID)
				room += lane->unit * 0.51 * fabs((double)lane->step);
			ck_assert_msg((isnan(v) && isnan(w)) || v == w || fabs(v - w) <= room,
				      "%.17g for %.17g", v, w);
		}
	}
}

/*
 * Checks that curves that `want` took over from `old` have the same bits, and that others have the
 * wanted values.
 */
static void check_stored(const struct anim *old, const struct anim *want, const struct anim *now)
{
	struct err err = {.code = ERR_NONE};
	uint32_t c, t;
	unsigned role;

	/* The program checks the result like this before it replaces a file. */
	ck_assert_msg(anim_stored(want, old, now, &err), "%s", err.message);

	ck_assert_uint_eq(now->clip_count, want->clip_count);
	for (c = 0; c < want->clip_count; c++) {
		const struct clip *x = &want->clips[c], *y = &now->clips[c];

		ck_assert_str_eq(y->name, x->name);
		ck_assert_uint_eq(y->frames, x->frames);
		ck_assert_int_eq(y->loop, x->loop);
		ck_assert_uint_eq(f32_bits(y->frame_time), f32_bits(x->frame_time));
		ck_assert_uint_eq(f32_bits(y->duration), f32_bits(x->duration));
		ck_assert_uint_eq(y->track_count, x->track_count);
		for (t = 0; t < x->track_count; t++) {
			ck_assert_str_eq(y->tracks[t].name, x->tracks[t].name);
			for (role = 0; role < ROLE_COUNT; role++) {
				const struct curve *p = x->tracks[t].curve[role];
				const struct curve *q = y->tracks[t].curve[role];

				ck_assert((p == NULL) == (q == NULL));
				if (!p)
					continue;
				check_near(q, p);
				if (p->stored)
					ck_assert(curve_same(p, q));
			}
		}
	}
}

struct edited {
	struct buf bytes;
	struct anim *old, *want, *now;
	struct buf out;
};

static void edit_begin(struct edited *e, struct buf bytes)
{
	*e = (struct edited){.bytes = bytes};
	e->old = decode(buf_bytes(&e->bytes));
	e->want = anim_edit(e->old);
	ck_assert_ptr_nonnull(e->want);
}

static void edit_sample(struct edited *e, const char *name)
{
	edit_begin(e, load_sample(name));
}

static void edit_encode(struct edited *e)
{
	e->out = encode(e->want, buf_bytes(&e->bytes));
	e->now = decode(buf_bytes(&e->out));
}

/* Encodes and decodes an edit, and checks the rules for every edit. */
static void edit_store(struct edited *e)
{
	edit_encode(e);
	check_stored(e->old, e->want, e->now);
	check_identity(buf_bytes(&e->out));
	if (!find_disorder(buf_bytes(&e->bytes)))
		check_order(buf_bytes(&e->out));
}

static void edit_end(struct edited *e)
{
	anim_free(e->now);
	anim_free(e->want);
	anim_free(e->old);
	buf_release(&e->out);
	buf_release(&e->bytes);
}

static uint32_t channels_of(const struct buf *b)
{
	return get_u32(b->data + 16);
}

/* ---- editing curves ---- */

START_TEST(test_value_retyped_changes_nothing)
{
	struct edited e;
	uint32_t c, t;
	unsigned role;

	edit_sample(&e, good[_i]);
	for (c = 0; c < e.old->clip_count; c++)
		for (t = 0; t < e.old->clips[c].track_count; t++)
			for (role = 0; role < ROLE_COUNT; role++) {
				const struct curve *old = e.old->clips[c].tracks[t].curve[role];

				if (old)
					anim_edit_track(e.want, c, t)->curve[role] =
						retyped(e.want, old);
			}
	edit_store(&e);
	ck_assert_uint_eq(e.out.size, e.bytes.size);
	ck_assert_mem_eq(e.out.data, e.bytes.data, e.out.size);
	edit_end(&e);
}
END_TEST

/* Types every number that a text shows in another way that gives the same float32. */
START_TEST(test_shortest_decimals_give_the_same_k)
{
	struct edited e;
	uint32_t c, t, key;
	unsigned role, axis;
	char text[NUM_MAX];

	edit_sample(&e, expected[_i]);
	for (c = 0; c < e.old->clip_count; c++)
		for (t = 0; t < e.old->clips[c].track_count; t++)
			for (role = 0; role < ROLE_COUNT; role++) {
				const struct curve *old = e.old->clips[c].tracks[t].curve[role];
				struct curve *now;

				if (!old)
					continue;
				now = retyped(e.want, old);
				for (key = 0; key < old->count; key++)
					for (axis = 0; axis < curve_width(old); axis++) {
						double v;
						size_t size =
							num_lane(text, curve_value(old, key, axis),
								 &old->lane[axis]);

						ck_assert(num_parse(text, size, '.', &v));
						set_value(now, key, axis, v);
					}
				anim_edit_track(e.want, c, t)->curve[role] = now;
			}
	e.out = encode(e.want, buf_bytes(&e.bytes));
	ck_assert_uint_eq(e.out.size, e.bytes.size);
	ck_assert_mem_eq(e.out.data, e.bytes.data, e.out.size);
	edit_end(&e);
}
END_TEST

START_TEST(test_edit_of_a_shared_curve_changes_it_alone)
{
	struct edited e;

	edit_sample(&e, "wiki512");
	/* Channel 2 is the position of hip in walk; in Idle, of hip and of the bone "". */
	edit_value(e.want, 0, 2, ROLE_TRANSLATION, 1, 0, 0.75);
	edit_store(&e);
	ck_assert_uint_eq(channels_of(&e.out), channels_of(&e.bytes) + 1);
	ck_assert(curve_same(e.now->clips[1].tracks[1].curve[ROLE_TRANSLATION],
			     e.old->clips[0].tracks[2].curve[ROLE_TRANSLATION]));
	edit_end(&e);
}
END_TEST

START_TEST(test_edit_of_the_last_user_stays_in_place)
{
	struct edited e;
	size_t i, different = 0;

	edit_sample(&e, "edf6_768");
	edit_value(e.want, 0, 1, ROLE_ROTATION, 1, 3, 0.5);
	edit_store(&e);
	ck_assert_uint_eq(e.out.size, e.bytes.size);
	for (i = 0; i < e.out.size; i++)
		different += e.out.data[i] != e.bytes.data[i];
	ck_assert_uint_ge(different, 1);
	ck_assert_uint_le(different, 4);
	edit_end(&e);
}
END_TEST

START_TEST(test_all_users_edited_alike_stay_in_place)
{
	struct edited e;

	edit_sample(&e, "wiki512");
	edit_value(e.want, 0, 2, ROLE_TRANSLATION, 1, 0, 0.75);
	edit_value(e.want, 1, 0, ROLE_TRANSLATION, 1, 0, 0.75);
	edit_value(e.want, 1, 1, ROLE_TRANSLATION, 1, 0, 0.75);
	edit_store(&e);
	ck_assert_uint_eq(e.out.size, e.bytes.size);
	ck_assert_ptr_eq(e.now->clips[0].tracks[2].curve[ROLE_TRANSLATION],
			 e.now->clips[1].tracks[1].curve[ROLE_TRANSLATION]);
	edit_end(&e);
}
END_TEST

START_TEST(test_equal_channel_is_reused)
{
	static const double position[3] = {1.5, -2, 0.25};
	struct edited e;

	/* hip gets the position of Bone01; another user of channel 2 stays. */
	edit_sample(&e, "wiki512");
	anim_edit_track(e.want, 0, 2)->curve[ROLE_TRANSLATION] =
		typed(e.want, CURVE_VECTOR, false, 1, position);
	edit_store(&e);
	ck_assert_uint_eq(channels_of(&e.out), channels_of(&e.bytes));
	ck_assert_uint_eq(e.out.size, e.bytes.size);
	ck_assert_ptr_eq(e.now->clips[0].tracks[2].curve[ROLE_TRANSLATION],
			 e.now->clips[0].tracks[1].curve[ROLE_TRANSLATION]);
	edit_end(&e);
}
END_TEST

START_TEST(test_channel_of_a_removed_curve_goes)
{
	struct edited e;

	edit_sample(&e, "edf6_768");
	/* Channel 1, a static quaternion, is the rotation of Scene_Root only. */
	anim_edit_track(e.want, 0, 0)->curve[ROLE_ROTATION] = NULL;
	edit_store(&e);
	ck_assert_uint_eq(channels_of(&e.out), channels_of(&e.bytes) - 1);
	edit_end(&e);

	/* The keys of a keyed channel are removed with it. */
	edit_sample(&e, "edf6_768");
	anim_edit_track(e.want, 0, 1)->curve[ROLE_ROTATION] = NULL;
	edit_store(&e);
	ck_assert_uint_eq(channels_of(&e.out), channels_of(&e.bytes) - 1);
	edit_end(&e);
}
END_TEST

START_TEST(test_curve_for_a_bone_without)
{
	static const double keys[9] = {0, 1, 2, 3, 4, 5, 6, 7, 9};
	struct edited e;

	edit_sample(&e, "wiki512");
	anim_edit_track(e.want, 0, 3)->curve[ROLE_SCALE] =
		typed(e.want, CURVE_VECTOR, true, 3, keys);
	anim_edit_track(e.want, 0, 3)->curve[ROLE_ROTATION] =
		typed(e.want, CURVE_EULER, true, 3, keys);
	edit_store(&e);
	ck_assert_uint_eq(channels_of(&e.out), channels_of(&e.bytes) + 2);
	edit_end(&e);
}
END_TEST

START_TEST(test_static_and_keyed_turn_into_each_other)
{
	static const double keys[9] = {1.5, -2, 0.25, 2, -2, 0.5, 3, -2, 1};
	static const double turns[8] = {0, 0, 0, 1, 1, 0, 0, 0};
	struct edited e;

	edit_sample(&e, "edf6_768");
	anim_edit_track(e.want, 0, 0)->curve[ROLE_TRANSLATION] =
		typed(e.want, CURVE_VECTOR, true, 3, keys);
	anim_edit_track(e.want, 0, 1)->curve[ROLE_ROTATION] =
		typed(e.want, CURVE_QUATERNION, false, 1, turns + 4);
	anim_edit_track(e.want, 0, 0)->curve[ROLE_ROTATION] =
		typed(e.want, CURVE_QUATERNION, true, 2, turns);
	anim_edit_track(e.want, 0, 1)->curve[ROLE_SCALE] =
		typed(e.want, CURVE_VECTOR, false, 1, keys);
	edit_store(&e);
	check_alignment(buf_bytes(&e.out));
	/* A new channel has the game's values in the fields that it does not use. */
	ck_assert_uint_eq(get_u32(e.out.data + 0x20 + 0x0C), f32_bits(1));
	ck_assert_uint_eq(get_u32(e.out.data + 0x20 + 0x1C), f32_bits(1));
	ck_assert_uint_eq(get_u32(e.out.data + 0x50 + 0x0C), 0);
	edit_end(&e);
}
END_TEST

START_TEST(test_euler_rotation_in_version_768)
{
	static const double turns[6] = {0, 90, 180, -90, 45, 30};
	struct edited e;

	edit_sample(&e, "edf6_768");
	anim_edit_track(e.want, 0, 1)->curve[ROLE_ROTATION] =
		typed(e.want, CURVE_EULER, true, 2, turns);
	edit_store(&e);
	edit_end(&e);
}
END_TEST

START_TEST(test_keys_past_the_end_survive)
{
	struct maker m;
	struct edited e;
	const struct curve *old, *now;
	uint32_t key;

	maker_init(&m, 512);
	maker_place(&m, canonical_orders[0]);
	maker_finish(&m);
	edit_begin(&e, m.out);
	/* Channel 4 has 9 keys, more than the clip's 4 frames, and is shared. */
	edit_value(e.want, 2, 0, ROLE_TRANSLATION, 2, 1, 0.6);
	edit_store(&e);
	old = e.old->clips[2].tracks[0].curve[ROLE_TRANSLATION];
	now = e.now->clips[2].tracks[0].curve[ROLE_TRANSLATION];
	for (key = 4; key < 9; key++)
		ck_assert(f64_same(curve_value(old, key, 0), curve_value(now, key, 0)));
	edit_end(&e);
}
END_TEST

START_TEST(test_nan_survives_beside_an_edit)
{
	struct edited e;
	const struct curve *now;

	edit_sample(&e, "nan512");
	edit_value(e.want, 0, 0, ROLE_TRANSLATION, 0, 2, 4.5);
	edit_store(&e);
	now = e.now->clips[0].tracks[0].curve[ROLE_TRANSLATION];
	ck_assert(isnan(curve_value(now, 0, 0)));
	ck_assert_mem_eq(e.out.data + 0x24, e.bytes.data + 0x24, 8);
	ck_assert(curve_value(now, 0, 2) == 4.5);
	edit_end(&e);
}
END_TEST

START_TEST(test_unit_of_a_channel_in_two_roles)
{
	struct edited e;

	/* Channel 0 is both the position and the rotation of Scene_Root. */
	edit_sample(&e, "wiki512");
	edit_value(e.want, 0, 0, ROLE_ROTATION, 0, 1, 90);
	edit_store(&e);
	ck_assert(fabs(curve_value(e.now->clips[0].tracks[0].curve[ROLE_ROTATION], 0, 1) - 90) <
		  1e-5);
	ck_assert(curve_value(e.now->clips[0].tracks[0].curve[ROLE_TRANSLATION], 0, 1) == 0);
	edit_end(&e);
}
END_TEST

/* ---- editing the rest ---- */

START_TEST(test_loop)
{
	struct edited e;
	struct field *field;

	edit_sample(&e, "odd512");
	anim_edit_clip(e.want, 1)->loop = true; /* the stored value was 2 */
	edit_encode(&e);
	ck_assert(e.now->clips[1].loop);
	ck_assert_int_eq(e.now->clips[1].fields->integer, 1);
	edit_end(&e);

	edit_sample(&e, "odd512");
	anim_edit_clip(e.want, 0)->loop = false;
	edit_encode(&e);
	ck_assert(!e.now->clips[0].loop);
	ck_assert_int_eq(e.now->clips[0].fields->integer, 0);
	edit_end(&e);

	edit_sample(&e, "odd512");
	field = arena_alloc(&e.want->arena, 1, sizeof(*field));
	*field = e.old->clips[0].fields[0];
	field->integer = -3;
	anim_edit_clip(e.want, 0)->fields = field;
	anim_edit_clip(e.want, 0)->loop = false;
	edit_store(&e);
	ck_assert_int_eq(e.now->clips[0].fields->integer, -3);
	field->integer = INT64_C(1) << 40;
	encode_refused(e.want, buf_bytes(&e.bytes), "32 bits");
	edit_end(&e);
}
END_TEST

START_TEST(test_times_and_names)
{
	struct edited e;
	struct clip *clip;

	edit_sample(&e, "wiki512");
	clip = anim_edit_clip(e.want, 1);
	clip->name = "Umgebung \xF0\x9F\x90\xBA";
	clip->frame_time = 0.1f;
	clip->duration = -0.0f;
	clip->frames = 8;
	edit_store(&e);
	edit_end(&e);

	edit_sample(&e, "wiki512");
	anim_edit_clip(e.want, 0)->duration = INFINITY;
	encode_refused(e.want, buf_bytes(&e.bytes), "duration must be a finite number");
	edit_end(&e);
}
END_TEST

START_TEST(test_renamed_bone)
{
	struct edited e;

	/* If only this clip uses the name, the name itself is changed. */
	edit_sample(&e, "edf6_768");
	anim_edit_track(e.want, 0, 1)->name = "Zebra";
	edit_store(&e);
	ck_assert_uint_eq(e.now->bone_count, 2);
	ck_assert_str_eq(e.now->bones[1], "Zebra");
	edit_end(&e);

	/* If another clip uses the name too, a new name is added. */
	edit_sample(&e, "wiki512");
	anim_edit_track(e.want, 0, 2)->name = "hop";
	edit_store(&e);
	ck_assert_uint_eq(e.now->bone_count, 6);
	ck_assert_str_eq(e.now->bones[2], "hip");
	ck_assert_str_eq(e.now->bones[5], "hop");
	edit_end(&e);

	/* If the file has the new name already, the clip refers to that. */
	edit_sample(&e, "wiki512");
	anim_edit_track(e.want, 0, 2)->name = "Scene_Root";
	edit_store(&e);
	ck_assert_uint_eq(e.now->bone_count, 5);
	edit_end(&e);

	/* If both clips are renamed alike, they still share one name. */
	edit_sample(&e, "wiki512");
	anim_edit_track(e.want, 0, 2)->name = "hop";
	anim_edit_track(e.want, 1, 1)->name = "hop";
	edit_store(&e);
	ck_assert_uint_eq(e.now->bone_count, 5);
	ck_assert_str_eq(e.now->bones[2], "hop");
	edit_end(&e);
}
END_TEST

START_TEST(test_clips_removed_reordered_added)
{
	struct edited e;
	struct clip *clips, first;

	edit_sample(&e, "wiki512");
	clips = edit_clips(e.want, 4);
	first = clips[0];
	clips[0] = clips[3];
	clips[3] = first;
	edit_store(&e);
	edit_end(&e);

	edit_sample(&e, "wiki512");
	clips = edit_clips(e.want, 4);
	memmove(clips, clips + 1, 3 * sizeof(*clips));
	e.want->clip_count = 3;
	edit_store(&e);
	ck_assert_uint_lt(e.out.size, e.bytes.size);
	ck_assert_uint_eq(e.now->bone_count, 5);
	edit_end(&e);

	edit_sample(&e, "wiki512");
	clips = edit_clips(e.want, 5);
	memmove(clips + 2, clips + 1, 3 * sizeof(*clips));
	clips[1] = clips[0];
	clips[1].origin = ANIM_NEW;
	clips[1].name = "walk copy";
	edit_store(&e);
	ck_assert_uint_eq(channels_of(&e.out), channels_of(&e.bytes));
	edit_end(&e);

	edit_sample(&e, "wiki512");
	edit_clips(e.want, 0);
	edit_store(&e);
	edit_end(&e);
}
END_TEST

START_TEST(test_tracks_removed_reordered_added)
{
	struct edited e;
	struct clip *clip;
	struct track *tracks, swapped;

	edit_sample(&e, "wiki512");
	clip = anim_edit_clip(e.want, 0);
	tracks = arena_alloc(&e.want->arena, 6, sizeof(*tracks));
	memcpy(tracks, clip->tracks, 4 * sizeof(*tracks));
	swapped = tracks[0];
	tracks[0] = tracks[1];
	tracks[1] = swapped;
	tracks[4] = tracks[2];
	tracks[4].origin = ANIM_NEW;
	tracks[4].name = "neu";
	tracks[5] = tracks[4];
	tracks[5].name = "hip";
	clip->tracks = tracks;
	clip->track_count = 6;
	edit_store(&e);
	ck_assert_uint_eq(e.now->bone_count, 6);
	ck_assert_uint_eq(channels_of(&e.out), channels_of(&e.bytes));
	clip->track_count = 0;
	buf_release(&e.out);
	anim_free(e.now);
	edit_store(&e);
	edit_end(&e);
}
END_TEST

START_TEST(test_empty_clip_gets_its_first_bone)
{
	struct edited e;
	struct clip *clip;

	edit_sample(&e, "wiki512");
	clip = anim_edit_clip(e.want, 3);
	clip->tracks = e.old->clips[0].tracks;
	clip->track_count = 2;
	edit_store(&e);
	edit_end(&e);
}
END_TEST

/* ---- files made from nothing ---- */

static void check_new_file(const char *name)
{
	struct buf src = load_sample(name), out;
	struct anim *a = decode(buf_bytes(&src)), *now;
	struct anim *fresh = anim_edit(a);
	uint32_t i, t;

	for (i = 0; i < fresh->clip_count; i++) {
		struct clip *clip = anim_edit_clip(fresh, i);

		clip->origin = ANIM_NEW;
		for (t = 0; t < clip->track_count; t++)
			((struct track *)(uintptr_t)clip->tracks)[t].origin = ANIM_NEW;
	}
	out = encode(fresh, (struct bytes){NULL, 0});
	now = decode(buf_bytes(&out));
	ck_assert_uint_eq(now->version, a->version);
	check_stored(a, a, now);
	check_order(buf_bytes(&out));
	check_alignment(buf_bytes(&out));
	check_identity(buf_bytes(&out));
	anim_free(now);
	anim_free(fresh);
	anim_free(a);
	buf_release(&out);
	buf_release(&src);
}

START_TEST(test_new_file)
{
	check_new_file(expected[_i]);
}
END_TEST

START_TEST(test_file_of_nothing)
{
	struct anim a = {.arena = ARENA_INIT};
	struct clip clip = {.name = "walk", .origin = ANIM_NEW, .frames = 2, .frame_time = 1};
	struct track track = {.name = "hip", .origin = ANIM_NEW};
	static const double keys[6] = {0, 0, 0, 1, 2, 3};
	struct buf empty = encode(&a, (struct bytes){NULL, 0}), full, other;
	struct anim *now = decode(buf_bytes(&empty));

	ck_assert_uint_eq(empty.size, 0x20);
	ck_assert_uint_eq(now->version, 512);
	ck_assert_uint_eq(now->clip_count, 0);
	check_order(buf_bytes(&empty));
	/* Once it has content, it equals the file that is made from the start with that content. */
	track.curve[ROLE_TRANSLATION] = typed(&a, CURVE_VECTOR, true, 2, keys);
	clip.tracks = &track;
	clip.track_count = 1;
	a.clips = &clip;
	a.clip_count = 1;
	full = encode(&a, (struct bytes){NULL, 0});
	other = encode(&a, buf_bytes(&empty));
	check_order(buf_bytes(&full));
	ck_assert(bytes_equal(buf_bytes(&full), buf_bytes(&other)));
	anim_free(now);
	arena_release(&a.arena);
	buf_release(&empty);
	buf_release(&full);
	buf_release(&other);
}
END_TEST

/* ---- odd files, edited ---- */

START_TEST(test_odd_orders_edited)
{
	struct maker m;
	struct edited e;
	bool wide = _i % 2;

	maker_init(&m, wide ? 768 : 512);
	maker_place(&m, odd_orders[wide][_i / 2]);
	maker_finish(&m);
	edit_begin(&e, m.out);
	edit_value(e.want, 0, 0, ROLE_TRANSLATION, 3, 2, 100);
	edit_value(e.want, 2, 1, ROLE_TRANSLATION, 0, 0, 1.5);
	if (wide)
		edit_value(e.want, 0, 2, ROLE_ROTATION, 4, 3, 0.125);
	anim_edit_clip(e.want, 1)->name = "a rather long name for a clip";
	edit_store(&e);
	check_alignment(buf_bytes(&e.out));
	/* Gaps hold bytes of unknown meaning, all of which must be kept. */
	for (size_t i = 0, left = 0; i <= e.bytes.size; i++) {
		static const uint8_t junk[6] = {0xEE, 0xEE, 0xEE, 0xEE, 0xEE, 0xEE};

		if (i + 6 <= e.bytes.size && memcmp(e.bytes.data + i, junk, 6) == 0)
			left++, i += 5;
		if (i == e.bytes.size)
			for (size_t n = 0; n + 6 <= e.out.size; n++)
				if (memcmp(e.out.data + n, junk, 6) == 0)
					left--, n += 5;
		if (i == e.bytes.size)
			ck_assert_uint_eq(left, 0);
	}
	edit_end(&e);
}
END_TEST

START_TEST(test_shared_key_block_edited)
{
	struct maker m;
	struct edited e;

	maker_init(&m, 512);
	maker_place(&m, canonical_orders[0]);
	maker_finish(&m);
	edit_begin(&e, m.out);
	/* Only the scale of the last row uses channel 5, but channel 1 has the same keys. */
	edit_value(e.want, 0, 3, ROLE_SCALE, 2, 0, -6.9);
	edit_store(&e);
	ck_assert_uint_eq(channels_of(&e.out), channels_of(&e.bytes));
	edit_end(&e);
}
END_TEST

START_TEST(test_keys_change_where_they_are)
{
	struct maker m;
	struct edited e;
	size_t i, block, record;

	maker_init(&m, 512);
	maker_place(&m, odd_orders[0][_i]);
	maker_finish(&m);
	block = m.blocks_at[1];
	record = m.channels_at + 2 * 0x20;
	edit_begin(&e, m.out);
	/* Edit both users of channel 2 alike. */
	edit_value(e.want, 0, 3, ROLE_TRANSLATION, 1, 1, 1e6);
	edit_value(e.want, 2, 1, ROLE_TRANSLATION, 1, 1, 1e6);
	edit_store(&e);
	ck_assert_uint_eq(e.out.size, e.bytes.size);
	for (i = 0; i < e.out.size; i++)
		if ((i < block || i >= block + m.blocks[1].size) &&
		    (i < record || i >= record + 0x20))
			ck_assert_uint_eq(e.out.data[i], e.bytes.data[i]);
	edit_end(&e);
}
END_TEST

START_TEST(test_unused_things_survive)
{
	struct maker m;
	struct edited e;
	size_t at = 0x20 + 3 * (_i ? 0x30 : 0x20), record = _i ? 0x30 : 0x20;

	maker_init(&m, _i ? 768 : 512);
	maker_place(&m, canonical_orders[_i]);
	maker_finish(&m);
	edit_begin(&e, m.out);
	edit_value(e.want, 0, 0, ROLE_TRANSLATION, 0, 0, 99);
	if (_i)
		edit_value(e.want, 0, 2, ROLE_ROTATION, 1, 0, 0.5);
	edit_store(&e);
	ck_assert_mem_eq(e.out.data + at, e.bytes.data + at, record);
	ck_assert_uint_eq(e.now->bone_count, 7);
	ck_assert_int_eq(e.now->clips[0].fields->integer, 2);
	ck_assert_int_eq(e.now->clips[2].fields->integer, -1);
	if (_i) {
		/* The new channel has the w of the channel that was edited. */
		ck_assert_mem_eq(e.out.data + 0x20 + 8 * 0x30 + 0x0C,
				 e.bytes.data + 0x20 + 1 * 0x30 + 0x0C, 4);
		ck_assert_mem_eq(e.out.data + 0x20 + 8 * 0x30 + 0x1C,
				 e.bytes.data + 0x20 + 1 * 0x30 + 0x1C, 4);
		ck_assert_uint_eq(get_u32(e.out.data + 0x20 + 6 * 0x30 + 0x2C), 9);
		/* Quaternion channels keep a base and step, which they do not use. */
		ck_assert_mem_eq(e.out.data + 0x20 + 6 * 0x30, e.bytes.data + 0x20 + 6 * 0x30,
				 0x20);
		ck_assert_uint_eq(get_u32(e.out.data + 0x20 + 7 * 0x30 + 0x20), (uint32_t)-4);
	}
	edit_end(&e);
}
END_TEST

START_TEST(test_shared_rows)
{
	struct maker m;
	struct edited e;

	maker_init(&m, 512);
	m.clips[2] = m.clips[0];
	m.clips[2].rows_of = 0;
	m.clips[2].name = 4;
	maker_place(&m, "CK0K1K2QAR0R1NS0S1S2S3S4S5S6");
	maker_finish(&m);
	edit_begin(&e, m.out);
	check_identity(buf_bytes(&e.bytes));
	anim_edit_track(e.want, 2, 0)->curve[ROLE_SCALE] = NULL;
	edit_store(&e);
	ck_assert_uint_eq(e.out.size, e.bytes.size + 8 * 4);
	edit_end(&e);

	/* An edit of another part, which moves everything, leaves them shared. */
	maker_init(&m, 512);
	m.clips[2] = m.clips[0];
	m.clips[2].rows_of = 0;
	maker_place(&m, "CK0K1K2QAR0R1NS0S1S2S3S4S5S6");
	maker_finish(&m);
	edit_begin(&e, m.out);
	anim_edit_clip(e.want, 1)->track_count = 0;
	edit_store(&e);
	ck_assert_uint_eq(e.out.size, e.bytes.size - 8);
	edit_end(&e);
}
END_TEST

START_TEST(test_overlapping_tables)
{
	struct buf src = load_sample("nan512");
	struct edited e;

	/* The name of the bone is the end of the clip's name: one string inside another. */
	put_u32(src.data + 0x44, 0x68 - 0x40);
	put_u32(src.data + 0x64, 0x6A - 0x64);
	edit_begin(&e, src);
	check_identity(buf_bytes(&e.bytes));
	anim_edit_clip(e.want, 0)->frames = 9;
	edit_store(&e);
	ck_assert_uint_eq(e.out.size, e.bytes.size);
	anim_free(e.now);
	buf_release(&e.out);
	anim_edit_track(e.want, 0, 0)->name = "another";
	edit_store(&e);
	edit_end(&e);
}
END_TEST

/* ---- many edits ---- */

static uint32_t random_below(uint64_t *state, uint32_t limit)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((*state >> 33) % limit);
}

static void random_curve(struct anim *a, struct clip *clip, struct track *t, uint64_t *state)
{
	enum role role = random_below(state, ROLE_COUNT);
	const struct curve *old = t->curve[role];
	bool quaternion = role == ROLE_ROTATION && a->version == 768 && random_below(state, 3);
	enum curve_kind kind = quaternion              ? CURVE_QUATERNION
			       : role == ROLE_ROTATION ? CURVE_EULER
						       : CURVE_VECTOR;
	struct curve *c;
	uint32_t count = random_below(state, 2) ? clip->frames : 1, i;

	switch (random_below(state, 4)) {
	case 0:
		t->curve[role] = NULL;
		return;
	case 1:
		c = typed(a, kind, count > 1, count, NULL);
		for (i = 0; i < count * curve_width(c); i++)
			((double *)(uintptr_t)c->values)[i] =
				(double)random_below(state, 2000) / 100 - 10;
		t->curve[role] = c;
		return;
	default:
		if (!old)
			return;
		c = retyped(a, old);
		i = random_below(state, c->count * curve_width(c));
		if (isfinite(c->values[i]))
			((double *)(uintptr_t)c->values)[i] +=
				(double)random_below(state, 2000) / 10000 - 0.1;
		t->curve[role] = c;
	}
}

static void random_edit(struct anim *a, uint64_t *state)
{
	static const char *const words[] = {"arm", "leg", "Scene_Root",  "x",
					    "",    "Zz",  "\xE6\x94\xBB"};
	uint32_t clip = random_below(state, a->clip_count), other;
	struct clip *c = anim_edit_clip(a, clip), *clips, saved;
	struct track *t;
	uint32_t track = c->track_count ? random_below(state, c->track_count) : 0;

	switch (random_below(state, 10)) {
	case 0:
		c->name = words[random_below(state, ARRAY_SIZE(words))];
		break;
	case 1:
		if (c->track_count)
			anim_edit_track(a, clip, track)->name =
				words[random_below(state, ARRAY_SIZE(words))];
		break;
	case 2:
		clips = edit_clips(a, a->clip_count + 1);
		clips[a->clip_count - 1] = clips[clip];
		clips[a->clip_count - 1].origin = ANIM_NEW;
		break;
	case 3:
		if (a->clip_count < 2)
			break;
		clips = edit_clips(a, a->clip_count);
		memmove(clips + clip, clips + clip + 1,
			(a->clip_count - clip - 1) * sizeof(*clips));
		a->clip_count--;
		break;
	case 4:
		clips = edit_clips(a, a->clip_count);
		other = random_below(state, a->clip_count);
		saved = clips[clip];
		clips[clip] = clips[other];
		clips[other] = saved;
		break;
	case 5:
		t = arena_alloc(&a->arena, c->track_count + 1, sizeof(*t));
		memcpy(t + 1, c->tracks, c->track_count * sizeof(*t));
		t[0] = (struct track){.name = words[random_below(state, ARRAY_SIZE(words))],
				      .origin = ANIM_NEW};
		c->tracks = t;
		c->track_count++;
		break;
	case 6:
		if (c->track_count)
			c->track_count--;
		break;
	default:
		if (c->track_count)
			random_curve(a, c, anim_edit_track(a, clip, track), state);
	}
}

/* Makes chains of edits, each of the file that the previous edit made. */
START_TEST(test_random_edits)
{
	uint64_t state = (uint64_t)_i + 1;
	unsigned round, edits;
	struct maker m;
	struct buf bytes;

	maker_init(&m, _i % 2 ? 768 : 512);
	maker_place(&m, _i % 5 < 2 ? canonical_orders[_i % 2] : odd_orders[_i % 2][_i / 2 % 4]);
	maker_finish(&m);
	bytes = m.out;
	for (round = 0; round < 30; round++) {
		struct edited e;

		edit_begin(&e, bytes);
		for (edits = random_below(&state, 4); edits > 0; edits--)
			random_edit(e.want, &state);
		edit_store(&e);
		check_alignment(buf_bytes(&e.out));
		bytes = e.out;
		e.out = (struct buf)BUF_INIT;
		edit_end(&e);
	}
	buf_release(&bytes);
}
END_TEST

START_TEST(test_damaged_files_edited)
{
	static const uint8_t values[] = {0x00, 0x01, 0x02, 0x08, 0x80, 0xFF};
	struct buf src = load_sample(good[_i]);
	size_t at, v;

	for (at = 0; at < src.size; at++) {
		uint8_t old = src.data[at];

		for (v = 0; v < sizeof(values); v++) {
			struct err err = {.code = ERR_NONE};
			struct anim *a, *want;
			struct buf out = BUF_INIT;
			uint64_t state = at;

			src.data[at] = values[v];
			a = codec_named("canm")->decode(buf_bytes(&src), NULL, &err);
			if (!a || a->clip_count == 0) {
				anim_free(a);
				continue;
			}
			want = anim_edit(a);
			random_edit(want, &state);
			if (codec_named("canm")->encode(want, buf_bytes(&src), &out, &err)) {
				struct anim *now = decode(buf_bytes(&out));

				check_stored(a, want, now);
				anim_free(now);
			} else {
				ck_assert(err.code == ERR_STORE && err.message[0]);
			}
			buf_release(&out);
			anim_free(want);
			anim_free(a);
		}
		src.data[at] = old;
	}
	buf_release(&src);
}
END_TEST

/* ---- the limits of the format ---- */

START_TEST(test_refused_edits)
{
	static const double keys[8] = {0, 0, 0, 1, NAN, 0, 0, 1};
	struct edited e;

	edit_sample(&e, "wiki512");
	anim_edit_track(e.want, 0, 1)->curve[ROLE_ROTATION] =
		typed(e.want, CURVE_QUATERNION, false, 1, keys);
	encode_refused(e.want, buf_bytes(&e.bytes), "no quaternions");
	encode_refused(e.want, buf_bytes(&e.bytes), "--rotations=euler");
	anim_edit_track(e.want, 0, 1)->curve[ROLE_ROTATION] =
		typed(e.want, CURVE_EULER, true, 2, keys + 2);
	encode_refused(e.want, buf_bytes(&e.bytes), "Bone01: rotation z of frame 0: only a finite");
	anim_edit_track(e.want, 0, 1)->curve[ROLE_ROTATION] = NULL;
	edit_value(e.want, 0, 2, ROLE_TRANSLATION, 1, 1, 1e39);
	encode_refused(e.want, buf_bytes(&e.bytes), "hip: translation y of frame 1: the number is");
	edit_end(&e);

	edit_sample(&e, "edf6_768");
	anim_edit_track(e.want, 0, 1)->curve[ROLE_SCALE] =
		typed(e.want, CURVE_QUATERNION, false, 1, keys);
	encode_refused(e.want, buf_bytes(&e.bytes), "scale cannot be stored as a quaternion");
	anim_edit_track(e.want, 0, 1)->curve[ROLE_SCALE] = NULL;
	e.want->version = 512;
	encode_refused(e.want, buf_bytes(&e.bytes), "version of a file cannot be changed");
	e.want->version = 5;
	encode_refused(e.want, (struct bytes){NULL, 0}, "version 5 cannot be written");
	edit_end(&e);
}
END_TEST

START_TEST(test_most_frames)
{
	struct edited e;
	struct clip *clip;

	edit_sample(&e, "wiki512");
	clip = anim_edit_clip(e.want, 0);
	anim_edit_track(e.want, 0, 1)->curve[ROLE_SCALE] =
		typed(e.want, CURVE_VECTOR, true, 65535, NULL);
	clip->frames = 65535;
	edit_store(&e);
	clip->frames = 65536;
	encode_refused(e.want, buf_bytes(&e.bytes), "at most 65535 frames");
	clip->frames = 0;
	encode_refused(e.want, buf_bytes(&e.bytes), "cannot have 0 frames");
	clip->frames = 3;
	anim_edit_track(e.want, 0, 1)->curve[ROLE_SCALE] =
		typed(e.want, CURVE_VECTOR, true, 65536, NULL);
	encode_refused(e.want, buf_bytes(&e.bytes), "cannot have 65536 keys");
	/* A clip without keys may have any number of frames. */
	anim_edit_clip(e.want, 3)->frames = 70000;
	anim_edit_track(e.want, 0, 1)->curve[ROLE_SCALE] = NULL;
	buf_release(&e.out);
	anim_free(e.now);
	edit_store(&e);
	edit_end(&e);
}
END_TEST

/* Adds `count` bones, each with a name of its own and, if `distinct`, a channel of its own. */
static void crowd(struct anim *a, struct clip *clip, uint32_t count, bool distinct)
{
	struct track *tracks = arena_alloc(&a->arena, count, sizeof(*tracks));
	uint32_t i;

	for (i = 0; i < count; i++) {
		double v[3] = {i, 1, 2};

		tracks[i] = (struct track){.origin = ANIM_NEW, .name = "bone"};
		if (distinct)
			tracks[i].curve[0] = typed(a, CURVE_VECTOR, false, 1, v);
		else
			tracks[i].name = arena_format(&a->arena, "bone %u", i);
	}
	*clip = (struct clip){.name = "crowd", .origin = ANIM_NEW, .frames = 1};
	clip->tracks = tracks;
	clip->track_count = count;
	a->clips = clip;
	a->clip_count = 1;
}

START_TEST(test_most_channels_and_names)
{
	bool distinct = _i == 0;
	struct anim a = {.arena = ARENA_INIT};
	struct clip clip;
	struct buf out;
	struct anim *now;

	crowd(&a, &clip, 65535, distinct);
	out = encode(&a, (struct bytes){NULL, 0});
	now = decode(buf_bytes(&out));
	if (distinct) {
		ck_assert(curve_value(now->clips[0].tracks[65534].curve[0], 0, 0) == 65534);
		ck_assert(curve_value(now->clips[0].tracks[0x8001].curve[0], 0, 0) == 0x8001);
		check_identity(buf_bytes(&out));
	} else {
		ck_assert_str_eq(now->clips[0].tracks[65534].name, "bone 65534");
	}
	check_order(buf_bytes(&out));
	anim_free(now);
	buf_release(&out);
	crowd(&a, &clip, 65536, distinct);
	encode_refused(&a, (struct bytes){NULL, 0},
		       distinct ? "at most 65535 channels" : "at most 65535 bone names");
	arena_release(&a.arena);
}
END_TEST

/* The file has 65,535 rows of one channel of 60,000 keys: a shared channel takes room once. */
START_TEST(test_sharing_costs_nothing)
{
	struct anim a = {.arena = ARENA_INIT};
	struct clip clip;
	struct curve *keys;
	struct buf out;
	struct anim *now, *edited;
	uint32_t i;

	crowd(&a, &clip, 65535, true);
	keys = typed(&a, CURVE_VECTOR, true, 60000, NULL);
	for (i = 0; i < 60000; i++)
		set_value(keys, i, 1, i);
	for (i = 0; i < clip.track_count; i++)
		((struct track *)(uintptr_t)clip.tracks)[i].curve[0] = keys;
	clip.frames = 60000;
	out = encode(&a, (struct bytes){NULL, 0});
	ck_assert_uint_eq(channels_of(&out), 1);
	now = decode(buf_bytes(&out));
	ck_assert_uint_lt(now->arena.total, 16 * out.size);
	edited = anim_edit(now);
	edit_value(edited, 0, 77, ROLE_TRANSLATION, 5, 0, 1);
	buf_release(&out);
	anim_free(edited);
	anim_free(now);
	arena_release(&a.arena);
}
END_TEST

/*
 * Makes a file of many animations over the same rows, or of many names over the same string, each
 * `step` bytes after the previous one. Its content would be far larger than the file.
 */
static struct buf overlapping(uint32_t clips, uint32_t names, uint32_t rows, size_t text)
{
	struct buf b = BUF_INIT;
	size_t clips_at = 0x20, rows_at = clips_at + clips * 0x1C, names_at, texts_at;
	uint32_t i;

	names_at = rows_at + 8 * (size_t)rows;
	texts_at = names_at + 4 * (size_t)names;
	buf_zero(&b, texts_at + text + 2);
	memcpy(b.data, "CANM", 4);
	put_u32(b.data + 4, 512);
	put_u32(b.data + 8, clips);
	put_u32(b.data + 12, (uint32_t)clips_at);
	put_u32(b.data + 24, names);
	put_u32(b.data + 28, (uint32_t)names_at);
	for (i = 0; i < clips; i++) {
		size_t at = clips_at + i * 0x1C;

		put_u32(b.data + at + 4, (uint32_t)(texts_at + text - at));
		put_u32(b.data + at + 16, 1);
		put_u32(b.data + at + 20, rows - i);
		put_u32(b.data + at + 24, (uint32_t)(rows_at + 8 * i - at));
	}
	for (i = 0; i < rows; i++) {
		put_u16(b.data + rows_at + 8 * i + 2, 0xFFFF);
		put_u16(b.data + rows_at + 8 * i + 4, 0xFFFF);
		put_u16(b.data + rows_at + 8 * i + 6, 0xFFFF);
	}
	for (i = 0; i < names; i++)
		put_u32(b.data + names_at + 4 * i,
			(uint32_t)(texts_at + 2 * i - (names_at + 4 * i)));
	memset(b.data + texts_at, 'x', text);
	return b;
}

START_TEST(test_overlaps_that_cost_too_much)
{
	struct buf rows = overlapping(3000, 1, 3000, 2), names = overlapping(1, 3000, 1, 6000);
	struct buf repeated = overlapping(1, 1, 30000, 6000);
	struct err err = {.code = ERR_NONE};

	ck_assert_ptr_null(codec_named("canm")->decode(buf_bytes(&rows), NULL, &err));
	ck_assert_str_eq(err.message, "the rows of the animations overlap too often");
	err_clear(&err);
	ck_assert_ptr_null(codec_named("canm")->decode(buf_bytes(&names), NULL, &err));
	ck_assert_str_eq(err.message, "the names overlap too often");
	err_clear(&err);
	ck_assert_ptr_null(codec_named("canm")->decode(buf_bytes(&repeated), NULL, &err));
	ck_assert_str_eq(err.message, "names as long as these are used too often");
	buf_release(&rows);
	buf_release(&names);
	buf_release(&repeated);
}
END_TEST

/*
 * Makes a file whose tables are longer than row numbers reach: channel i is (i, 0, 0), and bone
 * name i has its number in two characters. Two bones share the first channel.
 */
static struct buf long_tables(uint32_t channels, uint32_t names)
{
	struct buf b = BUF_INIT;
	size_t clips_at = 0x20 + 0x20 * (size_t)channels, rows_at = clips_at + 0x1C;
	size_t names_at = rows_at + 16, texts_at = names_at + 4 * (size_t)names;
	uint32_t i;

	buf_zero(&b, texts_at + 6 * (size_t)names);
	memcpy(b.data, "CANM", 4);
	put_u32(b.data + 4, 512);
	for (i = 0; i < 3; i++)
		put_u32(b.data + 8 + 8 * i, i == 0 ? 1 : i == 1 ? channels : names);
	put_u32(b.data + 12, (uint32_t)clips_at);
	put_u32(b.data + 20, 0x20);
	put_u32(b.data + 28, (uint32_t)names_at);
	for (i = 0; i < channels; i++) {
		put_u16(b.data + 0x20 + 0x20 * (size_t)i + 2, 1);
		put_f32(b.data + 0x20 + 0x20 * (size_t)i + 4, (float)i);
	}
	put_u32(b.data + clips_at + 4, (uint32_t)(texts_at - clips_at));
	put_u32(b.data + clips_at + 16, 1);
	put_u32(b.data + clips_at + 20, 2);
	put_u32(b.data + clips_at + 24, (uint32_t)(rows_at - clips_at));
	put_u32(b.data + rows_at + 4, 0xFFFFFFFF);
	put_u32(b.data + rows_at + 12, 0xFFFFFFFF);
	put_u16(b.data + rows_at + 8, 1);
	for (i = 0; i < names; i++) {
		size_t at = texts_at + 6 * (size_t)i;

		put_u32(b.data + names_at + 4 * (size_t)i, (uint32_t)(at - names_at - 4 * i));
		put_u16(b.data + at, (uint16_t)('A' + i / 256));
		put_u16(b.data + at + 2, (uint16_t)('A' + i % 256));
	}
	return b;
}

START_TEST(test_entries_that_no_row_can_name)
{
	struct edited e;

	edit_begin(&e, long_tables(70000, 2));
	edit_value(e.want, 0, 0, ROLE_TRANSLATION, 0, 0, 65999);
	encode_refused(e.want, buf_bytes(&e.bytes), "at most 65535 channels");
	edit_value(e.want, 0, 0, ROLE_TRANSLATION, 0, 0, 60000);
	edit_store(&e);
	edit_end(&e);

	edit_begin(&e, long_tables(2, 66000));
	anim_edit_track(e.want, 0, 0)->name = e.old->bones[65800];
	edit_store(&e);
	ck_assert_str_eq(e.now->clips[0].tracks[0].name, e.old->bones[65800]);
	edit_end(&e);
}
END_TEST

START_TEST(test_overlaps_within_reason)
{
	struct edited e;
	static const double v[3] = {1, 2, 3};

	edit_begin(&e, overlapping(20, 200, 100, 600));
	check_identity(buf_bytes(&e.bytes));
	anim_edit_track(e.want, 7, 3)->curve[ROLE_SCALE] = typed(e.want, CURVE_VECTOR, false, 1, v);
	/* The rows twenty times, or the name two hundred times: out of proportion. */
	encode_refused(e.want, buf_bytes(&e.bytes), "overlap too often to be rearranged");
	edit_end(&e);

	edit_begin(&e, overlapping(3, 3, 100, 600));
	anim_edit_track(e.want, 1, 3)->curve[ROLE_SCALE] = typed(e.want, CURVE_VECTOR, false, 1, v);
	edit_store(&e);
	edit_end(&e);
}
END_TEST

Suite *canm_suite(void)
{
	Suite *suite = suite_create("canm");
	TCase *reading = tcase_create("reading"), *curves = tcase_create("curves");
	TCase *rest = tcase_create("rest"), *ends = tcase_create("ends");
	int goods = ARRAY_SIZE(good), expecteds = ARRAY_SIZE(expected);

	tcase_add_loop_test(reading, test_values_of_samples, 0, expecteds);
	tcase_add_test(reading, test_curves_shared_by_pointer);
	tcase_add_test(reading, test_what_a_model_says);
	tcase_add_loop_test(reading, test_samples_encode_to_themselves, 0, goods);
	tcase_add_loop_test(reading, test_odd_orders_encode_to_themselves, 0, 8);
	tcase_add_test(reading, test_probe);
	tcase_add_loop_test(reading, test_bad_samples, 0, 4);
	tcase_add_loop_test(reading, test_false_claims, 0, 17);
	tcase_add_test(reading, test_quaternions_out_of_place);
	tcase_add_test(reading, test_long_without_keys);
	tcase_add_loop_test(reading, test_cut_at_every_length, 0, goods);
	tcase_add_loop_test(reading, test_every_byte_changed, 0, goods);
	suite_add_tcase(suite, reading);

	tcase_add_loop_test(curves, test_value_retyped_changes_nothing, 0, goods);
	tcase_add_loop_test(curves, test_shortest_decimals_give_the_same_k, 0, expecteds);
	tcase_add_test(curves, test_edit_of_a_shared_curve_changes_it_alone);
	tcase_add_test(curves, test_edit_of_the_last_user_stays_in_place);
	tcase_add_test(curves, test_all_users_edited_alike_stay_in_place);
	tcase_add_test(curves, test_equal_channel_is_reused);
	tcase_add_test(curves, test_channel_of_a_removed_curve_goes);
	tcase_add_test(curves, test_curve_for_a_bone_without);
	tcase_add_test(curves, test_static_and_keyed_turn_into_each_other);
	tcase_add_test(curves, test_euler_rotation_in_version_768);
	tcase_add_test(curves, test_keys_past_the_end_survive);
	tcase_add_test(curves, test_nan_survives_beside_an_edit);
	tcase_add_test(curves, test_unit_of_a_channel_in_two_roles);
	suite_add_tcase(suite, curves);

	tcase_add_test(rest, test_loop);
	tcase_add_test(rest, test_times_and_names);
	tcase_add_test(rest, test_renamed_bone);
	tcase_add_test(rest, test_clips_removed_reordered_added);
	tcase_add_test(rest, test_tracks_removed_reordered_added);
	tcase_add_test(rest, test_empty_clip_gets_its_first_bone);
	tcase_add_loop_test(rest, test_new_file, 0, expecteds);
	tcase_add_test(rest, test_file_of_nothing);
	tcase_add_loop_test(rest, test_odd_orders_edited, 0, 8);
	tcase_add_test(rest, test_shared_key_block_edited);
	tcase_add_loop_test(rest, test_keys_change_where_they_are, 0, 4);
	tcase_add_loop_test(rest, test_unused_things_survive, 0, 2);
	tcase_add_test(rest, test_shared_rows);
	tcase_add_test(rest, test_overlapping_tables);
	tcase_add_loop_test(rest, test_random_edits, 0, 40);
	tcase_add_loop_test(rest, test_damaged_files_edited, 0, goods);
	suite_add_tcase(suite, rest);

	tcase_add_test(ends, test_refused_edits);
	tcase_add_test(ends, test_most_frames);
	tcase_add_loop_test(ends, test_most_channels_and_names, 0, 2);
	tcase_add_test(ends, test_sharing_costs_nothing);
	tcase_add_test(ends, test_overlaps_that_cost_too_much);
	tcase_add_test(ends, test_entries_that_no_row_can_name);
	tcase_add_test(ends, test_overlaps_within_reason);
	suite_add_tcase(suite, ends);
	return suite;
}
