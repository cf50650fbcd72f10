/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The Vib-Ribbon codec. Expected values of the samples stand beside them; other files are made here
 * by a writer of its own (struct made), which shares nothing with the codec.
 */
#include "animfs/codec.h"
#include "coding.h"
#include "load.h"
#include "model/bones.h"
#include "model/names.h"

#include <check.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

static const char *const good[] = {
	"duplicate", "empty_all", "empty_mid",  "extremes",  "flags0",          "flags3",
	"flags7",    "frames000", "frames001",  "frames030", "header_gap",      "objects024",
	"trailing2", "unsorted",  "objects256", "word2_15",  "flags_high_bits",
};

static const struct {
	const char *name, *why;
	size_t at;
} bad[] = {
	{"bad_decreasing", "frame 1 ends before it begins", 10},
	{"bad_empty", "ends inside its header", 0},
	{"bad_key_crosses", "a keyframe of frame 0 crosses", 32},
	{"bad_start_in_header", "inside the table", 6},
	{"bad_table_cut", "the table of 255 frames", 4},
	{"bad_word0", "0x8000", 0},
};

static struct buf load_sample(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "tests/data/ribbon/%s.anm", name);
	return load_file(path);
}

static const struct codec *codec(void)
{
	return codec_named("ribbon");
}

static struct anim *decode(struct bytes src)
{
	return decode_labelled(codec(), src);
}

static struct buf encode(const struct anim *a, struct bytes old)
{
	return encode_ok(codec(), a, old);
}

static void encode_refused(const struct anim *a, struct bytes old, const char *why,
			   const char *accepted)
{
	struct err err = {.code = ERR_NONE};
	struct buf out = BUF_INIT;

	ck_assert_msg(!codec()->encode(a, old, &out, &err), "accepted: %s", why);
	ck_assert_int_eq(err.code, ERR_STORE);
	ck_assert_str_eq(err.message, why);
	ck_assert_str_eq(err.accepted, accepted);
	buf_release(&out);
}

static void check_same(struct bytes got, struct bytes want)
{
	ck_assert_uint_eq(got.size, want.size);
	if (want.size)
		ck_assert_mem_eq(got.data, want.data, want.size);
}

static void check_encodes_to(const struct anim *a, struct bytes src)
{
	struct buf out = encode(a, src);

	check_same(buf_bytes(&out), src);
	buf_release(&out);
}

static void check_identity(struct bytes src)
{
	struct anim *a = decode(src);

	check_encodes_to(a, src);
	anim_free(a);
}

static const struct track *find_track(const struct anim *a, const char *name)
{
	const struct clip *clip = &a->clips[0];

	for (uint32_t i = 0; i < clip->track_count; i++) {
		if (strcmp(clip->tracks[i].name, name) == 0)
			return &clip->tracks[i];
	}
	ck_abort_msg("no %s", name);
}

/* ---- a writer of odd files ---- */

struct made_key {
	unsigned frame, object, flags;
	int parts[9]; /* the parts that the flags name, one after the other */
};

struct made {
	unsigned word2, frames, count;
	const struct made_key *keys; /* the keys in the order of the file */
	/* bytes between table and frames, and after the frames; without zero bytes */
	const char *gap, *rest;
};

static unsigned made_values(const struct made_key *k)
{
	return 3 * ((k->flags & 1) + (k->flags >> 1 & 1) + (k->flags >> 2 & 1));
}

static struct buf make(const struct made *m)
{
	struct buf out = BUF_INIT;
	unsigned next = 0;

	buf_u16(&out, 0x8000);
	buf_u16(&out, (uint16_t)m->word2);
	buf_u16(&out, (uint16_t)m->frames);
	buf_zero(&out, 2 * (size_t)m->frames + 2);
	buf_text(&out, m->gap ? m->gap : "");
	for (unsigned frame = 0; frame <= m->frames; frame++) {
		ck_assert(!out.failed);
		put_u16(out.data + 6 + 2 * frame, (uint16_t)(out.size / 2));
		for (; next < m->count && m->keys[next].frame == frame; next++) {
			buf_char(&out, (char)m->keys[next].object);
			buf_char(&out, (char)m->keys[next].flags);
			for (unsigned i = 0; i < made_values(&m->keys[next]); i++)
				buf_u16(&out, (uint16_t)m->keys[next].parts[i]);
		}
	}
	ck_assert_uint_eq(next, m->count);
	buf_text(&out, m->rest ? m->rest : "");
	ck_assert(!out.failed);
	return out;
}

/*
 * Keyframes that include several of one object in a frame, some without parts, some with high flag
 * bits.
 */
static const struct made_key odd_keys[] = {
	{0, 7, 0x81, {4096, -1024, 1}},
	{0, 2, 0x00, {0}},
	{0, 7, 0x06, {4096, 2048, -4096, 10, -20, 30}},
	{0, 7, 0xF8, {0}},
	{2, 200, 0x07, {1, 2, 3, 4, 5, 6, 7, 8, 9}},
	{2, 2, 0x04, {-1, -2, -3}},
	{2, 7, 0x01, {5, 6, 7}},
	{4, 2, 0x02, {8, 9, 10}},
	{4, 2, 0x0C, {11, 12, 13}},
};

static const struct made odd = {
	.word2 = 60,
	.frames = 5,
	.count = ARRAY_SIZE(odd_keys),
	.keys = odd_keys,
	.gap = "GAPS",
	.rest = "odd",
};

/* Makes a file of `keys`; everything else is as in the odd file. */
static struct buf make_odd(unsigned frames, const struct made_key *keys, unsigned count)
{
	struct made m = odd;

	m.frames = frames;
	m.keys = keys;
	m.count = count;
	return make(&m);
}

/* ---- keyframes as a list that can be edited ---- */

struct said {
	uint32_t frame;
	uint8_t flags, roles;
	double value[ROLE_COUNT][3];
};

#define SAID_MAX 16

static uint32_t read_said(const struct track *t, struct said *out)
{
	uint32_t key[ROLE_COUNT] = {0};

	ck_assert_uint_le(t->keyframes->count, SAID_MAX);
	for (uint32_t i = 0; i < t->keyframes->count; i++) {
		out[i] = (struct said){t->keyframes->frames[i],
				       t->keyframes->flags[i],
				       t->keyframes->roles[i],
				       {{0}}};
		for (unsigned role = 0; role < ROLE_COUNT; role++) {
			if (!(out[i].roles & 1u << role))
				continue;
			for (unsigned axis = 0; axis < 3; axis++)
				out[i].value[role][axis] =
					curve_value(t->curve[role], key[role], axis);
			key[role]++;
		}
	}
	return t->keyframes->count;
}

static const struct curve *said_curve(struct anim *a, const struct said *said, uint32_t count,
				      unsigned role)
{
	struct curve *c = arena_alloc(&a->arena, 1, sizeof(*c));
	uint32_t *frames = arena_alloc(&a->arena, count, sizeof(*frames));
	double *values = arena_alloc(&a->arena, count, 3 * sizeof(*values));

	ck_assert(!a->arena.failed);
	*c = (struct curve){.kind = role == ROLE_ROTATION ? CURVE_EULER : CURVE_VECTOR,
			    .interpolation = INTERPOLATION_STEP,
			    .keyed = true,
			    .frames = frames,
			    .values = values};
	for (unsigned axis = 0; axis < 3; axis++)
		c->lane[axis].unit = 1;
	for (uint32_t i = 0; i < count; i++) {
		if (!(said[i].roles & 1u << role))
			continue;
		frames[c->count] = said[i].frame;
		memcpy(values + 3 * c->count++, said[i].value[role], 3 * sizeof(*values));
	}
	return c->count ? c : NULL;
}

static void write_said(struct anim *a, struct track *t, const struct said *said, uint32_t count)
{
	struct keyframes *k = arena_alloc(&a->arena, 1, sizeof(*k));
	uint32_t *frames = arena_alloc(&a->arena, count, sizeof(*frames));
	uint8_t *flags = arena_alloc(&a->arena, count, 1);
	uint8_t *roles = arena_alloc(&a->arena, count, 1);

	ck_assert(!a->arena.failed);
	for (uint32_t i = 0; i < count; i++) {
		frames[i] = said[i].frame;
		flags[i] = said[i].flags;
		roles[i] = said[i].roles;
	}
	*k = (struct keyframes){count, frames, flags, roles};
	t->keyframes = k;
	for (unsigned role = 0; role < ROLE_COUNT; role++)
		t->curve[role] = said_curve(a, said, count, role);
}

/* ---- one file and an edit of it ---- */

static struct buf file;
static struct anim *model, *edited;
static struct said said[SAID_MAX + 1];

static void open_bytes(struct buf bytes)
{
	file = bytes;
	model = decode(buf_bytes(&file));
	edited = anim_edit(model);
	ck_assert_ptr_nonnull(edited);
}

static void open_odd(void)
{
	open_bytes(make(&odd));
}

static void close_all(void)
{
	anim_free(edited);
	anim_free(model);
	buf_release(&file);
}

static struct track *edit_track(const char *name)
{
	const struct track *t = find_track(model, name);

	return anim_edit_track(edited, 0, t->origin);
}

/* Encodes the edit; checks that the new file reads back equal to it, and encodes to itself. */
static struct buf store(void)
{
	struct buf out = encode(edited, buf_bytes(&file));
	struct anim *stored = decode(buf_bytes(&out));
	struct err err = {.code = ERR_NONE};

	ck_assert_msg(anim_stored(edited, model, stored, &err), "%s", err.message);
	anim_free(stored);
	check_identity(buf_bytes(&out));
	return out;
}

static void check_store(struct buf want)
{
	struct buf out = store();

	check_same(buf_bytes(&out), buf_bytes(&want));
	buf_release(&out);
	buf_release(&want);
}

/* Checks the odd file with one key changed, removed or inserted: the key at `at` becomes `is`. */
static void check_changed(unsigned at, const struct made_key *is)
{
	struct made_key keys[ARRAY_SIZE(odd_keys)];

	memcpy(keys, odd_keys, sizeof(keys));
	keys[at] = *is;
	check_store(make_odd(5, keys, ARRAY_SIZE(keys)));
}

static void check_removed(unsigned at)
{
	struct made_key keys[ARRAY_SIZE(odd_keys)];

	memcpy(keys, odd_keys, sizeof(keys));
	memmove(keys + at, keys + at + 1, sizeof(keys) - (at + 1) * sizeof(*keys));
	check_store(make_odd(5, keys, ARRAY_SIZE(keys) - 1));
}

static void check_added(unsigned at, const struct made_key *is)
{
	struct made_key keys[ARRAY_SIZE(odd_keys) + 1];

	memcpy(keys, odd_keys, at * sizeof(*keys));
	keys[at] = *is;
	memcpy(keys + at + 1, odd_keys + at, sizeof(odd_keys) - at * sizeof(*keys));
	check_store(make_odd(5, keys, ARRAY_SIZE(keys)));
}

/* ---- reading ---- */

static const struct {
	const char *name;
	unsigned role, bit;
	double unit;
} parts[] = {
	{"rotation", ROLE_ROTATION, 1, 360.0 / 4096},
	{"scale", ROLE_SCALE, 2, 1.0 / 4096},
	{"position", ROLE_TRANSLATION, 4, 1},
};

struct progress {
	uint32_t keyframe, key[ROLE_COUNT];
};

static void check_part(const struct track *t, struct progress *p, unsigned part, uint32_t frame,
		       const json_t *expected)
{
	const struct curve *c = t->curve[parts[part].role];
	uint32_t key = p->key[parts[part].role];

	if (!expected)
		return;
	p->key[parts[part].role]++;
	ck_assert_ptr_nonnull(c);
	ck_assert_uint_lt(key, c->count);
	ck_assert_uint_eq(curve_frame(c, key), frame);
	for (unsigned axis = 0; axis < 3; axis++) {
		double value = (double)json_integer_value(json_array_get(expected, axis));

		ck_assert_double_eq(curve_value(c, key, axis), value * parts[part].unit);
	}
}

static void check_keyframe(const struct track *t, struct progress *p, uint32_t frame,
			   const json_t *expected)
{
	const struct keyframes *k = t->keyframes;
	uint32_t i = p->keyframe++;
	unsigned roles = 0, bits = 0;

	for (unsigned part = 0; part < ARRAY_SIZE(parts); part++) {
		const json_t *value = json_object_get(expected, parts[part].name);

		check_part(t, p, part, frame, value);
		roles |= value ? 1u << parts[part].role : 0;
		bits |= value ? parts[part].bit : 0;
	}
	ck_assert_uint_lt(i, k->count);
	ck_assert_uint_eq(k->frames[i], frame);
	ck_assert_uint_eq(k->roles[i], roles);
	ck_assert_uint_eq(k->flags[i] | bits,
			  (unsigned)json_integer_value(json_object_get(expected, "flags")));
}

/* Checks that the clip has nothing that was not expected. */
static void check_complete(const struct clip *clip, const struct progress *progress)
{
	for (uint32_t i = 0; i < clip->track_count; i++) {
		const struct track *t = &clip->tracks[i];
		unsigned object;

		ck_assert_int_eq(sscanf(t->name, "object_%u", &object), 1);
		ck_assert_uint_eq(t->keyframes->count, progress[object].keyframe);
		for (unsigned role = 0; role < ROLE_COUNT; role++)
			ck_assert_uint_eq(t->curve[role] ? t->curve[role]->count : 0,
					  progress[object].key[role]);
	}
}

static void check_expected(const struct anim *a, const json_t *expected)
{
	const json_t *frames = json_object_get(expected, "keys"), *keys, *key;
	struct progress progress[256] = {{0}};
	size_t frame, i;

	ck_assert_uint_eq(a->clips[0].frames, json_array_size(frames));
	ck_assert_int_eq(a->clips[0].fields[0].integer,
			 json_integer_value(json_object_get(expected, "word2")));
	json_array_foreach(frames, frame, keys)
	{
		json_array_foreach(keys, i, key)
		{
			unsigned object =
				(unsigned)json_integer_value(json_object_get(key, "object"));
			char name[32];

			snprintf(name, sizeof(name), "object_%03u", object);
			check_keyframe(find_track(a, name), &progress[object], (uint32_t)frame,
				       key);
		}
	}
	check_complete(&a->clips[0], progress);
}

START_TEST(samples_say_what_is_expected)
{
	struct buf bytes = load_sample(good[_i]);
	struct anim *a = decode(buf_bytes(&bytes));
	char path[128];
	json_t *expected;

	snprintf(path, sizeof(path), "tests/data/ribbon/%s.expect.json", good[_i]);
	expected = json_load_file(path, 0, NULL);
	ck_assert_ptr_nonnull(expected);
	check_expected(a, expected);
	ck_assert_int_eq(codec()->probe(buf_bytes(&bytes)),
			 json_is_true(json_object_get(expected, "canonical")));
	json_decref(expected);
	anim_free(a);
	check_identity(buf_bytes(&bytes));
	buf_release(&bytes);
}
END_TEST

START_TEST(bad_samples_are_refused)
{
	struct buf bytes = load_sample(bad[_i].name);
	struct err err = {.code = ERR_NONE};

	ck_assert_ptr_null(codec()->decode(buf_bytes(&bytes), NULL, &err));
	ck_assert_int_eq(err.code, ERR_FORMAT);
	ck_assert_msg(strstr(err.message, bad[_i].why) != NULL, "%s", err.message);
	ck_assert_uint_eq(err.at, bad[_i].at);
	ck_assert(!codec()->probe(buf_bytes(&bytes)));
	buf_release(&bytes);
}
END_TEST

START_TEST(a_file_is_known_by_its_name)
{
	ck_assert_ptr_eq(codec_for_name("dance.anm"), codec());
	ck_assert_ptr_eq(codec_for_name("DANCE.ANM"), codec());
	ck_assert_str_eq(codec()->format->suffix, "anm");
}
END_TEST

START_TEST(a_model_says_all_of_the_odd_file)
{
	const struct clip *clip = &model->clips[0];
	const struct track *t = find_track(model, "object_007");

	ck_assert_uint_eq(model->clip_count, 1);
	ck_assert_double_eq(model->rate, 30);
	ck_assert_str_eq(clip->name, "");
	ck_assert_uint_eq(clip->frames, 5);
	ck_assert_float_eq(clip->frame_time, 1);
	ck_assert_uint_eq(clip->track_count, 3);
	ck_assert_str_eq(clip->tracks[0].name, "object_002");
	ck_assert_str_eq(clip->tracks[1].name, "object_007");
	ck_assert_str_eq(clip->tracks[2].name, "object_200");
	for (uint32_t i = 0; i < 3; i++) {
		ck_assert_uint_eq(clip->tracks[i].origin, i);
		ck_assert_uint_eq(clip->tracks[i].roles, 7);
	}
	ck_assert_uint_eq(read_said(t, said), 4);
	ck_assert_uint_eq(said[0].frame, 0);
	ck_assert_uint_eq(said[0].flags, 0x80);
	ck_assert_uint_eq(said[0].roles, 1 << ROLE_ROTATION);
	ck_assert_double_eq(said[0].value[ROLE_ROTATION][0], 360);
	ck_assert_double_eq(said[0].value[ROLE_ROTATION][1], -90);
	ck_assert_double_eq(said[0].value[ROLE_ROTATION][2], 0.087890625);
	ck_assert_uint_eq(said[1].roles, 1 << ROLE_SCALE | 1 << ROLE_TRANSLATION);
	ck_assert_double_eq(said[1].value[ROLE_SCALE][1], 0.5);
	ck_assert_double_eq(said[1].value[ROLE_TRANSLATION][1], -20);
	ck_assert_uint_eq(said[2].flags, 0xF8);
	ck_assert_uint_eq(said[2].roles, 0);
	ck_assert_uint_eq(said[3].frame, 2);
	ck_assert_ptr_null(find_track(model, "object_002")->curve[ROLE_ROTATION]);
	check_identity(buf_bytes(&file));
}
END_TEST

START_TEST(curves_step)
{
	static const struct {
		double frame, value;
	} samples[] = {{0, 360}, {1.999, 360}, {2, 5 * 360.0 / 4096}, {4, 5 * 360.0 / 4096}};
	const struct curve *c = find_track(model, "object_007")->curve[ROLE_ROTATION];
	double out[4];

	ck_assert(c->keyed);
	ck_assert_int_eq(c->interpolation, INTERPOLATION_STEP);
	for (size_t i = 0; i < ARRAY_SIZE(samples); i++) {
		curve_sample(c, samples[i].frame, out);
		ck_assert_double_eq(out[0], samples[i].value);
	}
}
END_TEST

/* ---- damaged files ---- */

/*
 * Decodes bytes from a block of exactly their size, so that a sanitizer detects reads past the end.
 */
static void try_bytes(const uint8_t *bytes, size_t size)
{
	struct err err = {.code = ERR_NONE};
	uint8_t *copy = malloc(size ? size : 1);
	struct anim *a;

	ck_assert_ptr_nonnull(copy);
	if (size)
		memcpy(copy, bytes, size);
	a = codec()->decode((struct bytes){copy, size}, NULL, &err);
	if (a) {
		check_encodes_to(a, (struct bytes){copy, size});
	} else {
		ck_assert_int_eq(err.code, ERR_FORMAT);
		ck_assert_str_ne(err.message, "");
		ck_assert_uint_le(err.at, size);
	}
	anim_free(a);
	free(copy);
}

START_TEST(cut_at_every_length)
{
	struct buf bytes = load_sample(good[_i]);

	for (size_t size = 0; size < bytes.size; size++)
		try_bytes(bytes.data, size);
	buf_release(&bytes);
}
END_TEST

START_TEST(every_byte_changed)
{
	static const uint8_t masks[] = {0xFF, 0x01, 0x80, 0x04};
	struct buf bytes = load_sample(good[_i]);
	size_t count = bytes.size < 4096 ? ARRAY_SIZE(masks) : 1;

	for (size_t i = 0; i < bytes.size; i++) {
		for (size_t m = 0; m < count; m++) {
			bytes.data[i] ^= masks[m];
			try_bytes(bytes.data, bytes.size);
			bytes.data[i] ^= masks[m];
		}
	}
	buf_release(&bytes);
}
END_TEST

START_TEST(every_value_of_every_byte_of_the_odd_file)
{
	for (size_t i = 0; i < file.size; i++) {
		for (unsigned value = 0; value < 256; value++) {
			uint8_t was = file.data[i];

			file.data[i] = (uint8_t)value;
			try_bytes(file.data, file.size);
			file.data[i] = was;
		}
	}
}
END_TEST

/* ---- edits of keys ---- */

START_TEST(a_value_changes_alone)
{
	struct track *t = edit_track("object_007");
	uint32_t count = read_said(t, said);

	said[1].value[ROLE_SCALE][1] = 0.75;
	write_said(edited, t, said, count);
	check_changed(2, &(struct made_key){0, 7, 0x06, {4096, 3072, -4096, 10, -20, 30}});
}
END_TEST

START_TEST(a_value_goes_to_the_nearest)
{
	struct track *t = edit_track("object_200");
	uint32_t count = read_said(t, said);

	said[0].value[ROLE_ROTATION][0] = -90.04;
	said[0].value[ROLE_SCALE][0] = 1.0001;
	said[0].value[ROLE_TRANSLATION][0] = -7.4;
	write_said(edited, t, said, count);
	check_changed(4, &(struct made_key){2, 200, 7, {-1024, 2, 3, 4096, 5, 6, -7, 8, 9}});
}
END_TEST

START_TEST(flags_change_alone)
{
	struct track *t = edit_track("object_007");
	uint32_t count = read_said(t, said);

	said[2].flags = 0x08;
	write_said(edited, t, said, count);
	check_changed(3, &(struct made_key){0, 7, 0x08, {0}});
}
END_TEST

START_TEST(a_part_comes_and_goes)
{
	struct track *t = edit_track("object_200");
	uint32_t count = read_said(t, said);

	said[0].roles = 1 << ROLE_TRANSLATION;
	write_said(edited, t, said, count);
	check_changed(4, &(struct made_key){2, 200, 4, {7, 8, 9}});
	said[0].roles = 0;
	write_said(edited, t, said, count);
	check_changed(4, &(struct made_key){2, 200, 0, {0}});
	said[0].roles = 7;
	write_said(edited, t, said, count);
	check_changed(4, &odd_keys[4]);
}
END_TEST

START_TEST(a_keyframe_goes)
{
	struct track *t = edit_track("object_002");
	uint32_t count = read_said(t, said);

	/* Remove the only keyframe of a frame. */
	memmove(said + 1, said + 2, (count - 2) * sizeof(*said));
	write_said(edited, t, said, count - 1);
	check_removed(5);
}
END_TEST

/*
 * When the first of three keyframes in a frame is removed, the second takes its place, and so on.
 */
START_TEST(occurrences_keep_their_places)
{
	struct track *t = edit_track("object_007");
	uint32_t count = read_said(t, said);
	struct made_key keys[ARRAY_SIZE(odd_keys) - 1];

	memcpy(keys, odd_keys, sizeof(keys));
	keys[0] = odd_keys[2];
	keys[2] = odd_keys[3];
	memcpy(keys + 3, odd_keys + 4, 5 * sizeof(*keys));
	memmove(said, said + 1, (count - 1) * sizeof(*said));
	write_said(edited, t, said, count - 1);
	check_store(make_odd(5, keys, ARRAY_SIZE(keys)));
}
END_TEST

START_TEST(a_new_keyframe_goes_last_in_its_frame)
{
	struct track *t = edit_track("object_002");
	uint32_t count = read_said(t, said);
	struct said new = {.frame = 0, .roles = 1 << ROLE_TRANSLATION};

	new.value[ROLE_TRANSLATION][2] = 5;
	memmove(said + 2, said + 1, (count - 1) * sizeof(*said));
	said[1] = new;
	write_said(edited, t, said, count + 1);
	check_added(4, &(struct made_key){0, 2, 4, {0, 0, 5}});
}
END_TEST

START_TEST(a_keyframe_in_an_empty_frame)
{
	struct track *t = edit_track("object_200");
	uint32_t count = read_said(t, said);

	said[count] = (struct said){.frame = 3};
	write_said(edited, t, said, count + 1);
	check_added(7, &(struct made_key){3, 200, 0, {0}});
}
END_TEST

/* ---- edits of bones ---- */

START_TEST(a_removed_bone_takes_its_keyframes_along)
{
	struct made_key keys[5];
	struct clip *clip = anim_edit_clip(edited, 0);

	memcpy(keys,
	       (struct made_key[]){odd_keys[1], odd_keys[4], odd_keys[5], odd_keys[7], odd_keys[8]},
	       sizeof(keys));
	((struct track *)clip->tracks)[1] = clip->tracks[2];
	clip->track_count = 2;
	check_store(make_odd(5, keys, 5));
	clip->track_count = 0;
	check_store(make_odd(5, keys, 0));
}
END_TEST

/* The bone's keyframes stay in their places, even if its new number is out of order there. */
START_TEST(a_renamed_bone)
{
	struct made_key keys[ARRAY_SIZE(odd_keys)];

	memcpy(keys, odd_keys, sizeof(keys));
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		if (keys[i].object == 2)
			keys[i].object = 255;
	}
	edit_track("object_002")->name = "object_255";
	check_store(make_odd(5, keys, ARRAY_SIZE(keys)));
}
END_TEST

START_TEST(two_bones_change_names)
{
	struct made_key keys[ARRAY_SIZE(odd_keys)];

	memcpy(keys, odd_keys, sizeof(keys));
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		keys[i].object = keys[i].object == 2 ? 7 : keys[i].object == 7 ? 2 : 200;
	edit_track("object_002")->name = "object_007";
	anim_edit_track(edited, 0, 1)->name = "object_002";
	check_store(make_odd(5, keys, ARRAY_SIZE(keys)));
}
END_TEST

static void add_track(struct track t)
{
	struct clip *clip = anim_edit_clip(edited, 0);
	struct track *tracks = arena_alloc(&edited->arena, clip->track_count + 1, sizeof(*tracks));

	ck_assert_ptr_nonnull(tracks);
	if (clip->track_count)
		memcpy(tracks, clip->tracks, clip->track_count * sizeof(*tracks));
	tracks[clip->track_count++] = t;
	clip->tracks = tracks;
}

/* The new bone may be anywhere in the list: the file has no order of bones. */
START_TEST(a_new_bone)
{
	struct track t = {.name = "object_005", .label = "object_005", .origin = ANIM_NEW};

	said[0] = (struct said){.frame = 2, .flags = 0x10};
	write_said(edited, &t, said, 1);
	add_track(t);
	check_added(7, &(struct made_key){2, 5, 0x10, {0}});
}
END_TEST

START_TEST(bones_by_the_names_of_a_table)
{
	static const char table[] = "id,name\n7,arm\n9,leg\n300,tail\n";
	struct err err = {.code = ERR_NONE};
	struct hints hints = {.bone_names =
				      bone_names_read(bytes_of(table), codec()->format, &err)};
	struct anim *named = codec()->decode(buf_bytes(&file), &hints, &err), *renamed;
	struct buf out;

	ck_assert_msg(named != NULL, "%s", err.message);
	ck_assert_str_eq(named->clips[0].tracks[0].name, "object_002");
	ck_assert_str_eq(named->clips[0].tracks[1].name, "arm");
	check_encodes_to(named, buf_bytes(&file));
	renamed = anim_edit(named);
	anim_edit_track(renamed, 0, 1)->name = "leg";
	out = encode(renamed, buf_bytes(&file));
	ck_assert_uint_eq(file.data[22], 7);
	ck_assert_uint_eq(out.data[22], 9);
	anim_edit_track(renamed, 0, 1)->name = "tail";
	encode_refused(renamed, buf_bytes(&file),
		       "\"tail\" of  cannot be stored: bones are numbers here",
		       "object_000 to object_255");
	buf_release(&out);
	anim_free(renamed);
	anim_free(named);
	bone_names_free((struct bone_names *)(uintptr_t)hints.bone_names);
}
END_TEST

START_TEST(a_file_of_no_bones_gets_one)
{
	static const struct made nothing = {.word2 = 1, .frames = 0};
	static const struct made_key key = {1, 0, 4, {1, 2, 3}};
	struct track t = {.name = "object_000", .label = "object_000", .origin = ANIM_NEW};

	open_bytes(make(&nothing));
	said[0] = (struct said){.frame = 1, .roles = 1, .value = {{1, 2, 3}}};
	write_said(edited, &t, said, 1);
	add_track(t);
	anim_edit_clip(edited, 0)->frames = 2;
	check_store(make(&(struct made){.word2 = 1, .frames = 2, .count = 1, .keys = &key}));
	close_all();
}
END_TEST

/* ---- edits of the clip ---- */

START_TEST(frames_come_and_go)
{
	struct clip *clip = anim_edit_clip(edited, 0);
	struct track *t;
	uint32_t count;

	clip->frames = 8;
	check_store(make_odd(8, odd_keys, ARRAY_SIZE(odd_keys)));
	clip->frames = 4;
	t = edit_track("object_002");
	count = read_said(t, said);
	write_said(edited, t, said, count - 2);
	check_store(make_odd(4, odd_keys, ARRAY_SIZE(odd_keys) - 2));
}
END_TEST

START_TEST(word2_can_be_edited)
{
	struct field field = model->clips[0].fields[0];
	struct clip *clip = anim_edit_clip(edited, 0);
	struct made m = odd;

	ck_assert_str_eq(field.name, "word2");
	ck_assert(field.editable);
	clip->fields = &field;
	field.integer = m.word2 = 65535;
	check_store(make(&m));
	field.integer = m.word2 = 0;
	check_store(make(&m));
	field.integer = 65536;
	encode_refused(edited, buf_bytes(&file), "word2 of % cannot be 65536", "0 to 65535");
	field.integer = -1;
	encode_refused(edited, buf_bytes(&file), "word2 of % cannot be -1", "0 to 65535");
}
END_TEST

/*
 * A file that is not made from an old one has no bytes around the frames, and objects are in order.
 */
START_TEST(a_new_file_is_canonical)
{
	static const unsigned order[] = {1, 0, 2, 3, 5, 6, 4, 7, 8};
	struct made_key keys[ARRAY_SIZE(odd_keys)];
	struct made m = odd;
	struct buf out, want;

	for (size_t i = 0; i < ARRAY_SIZE(order); i++)
		keys[i] = odd_keys[order[i]];
	m.keys = keys;
	m.gap = m.rest = NULL;
	want = make(&m);
	out = encode(model, (struct bytes){NULL, 0});
	check_same(buf_bytes(&out), buf_bytes(&want));
	ck_assert(codec()->probe(buf_bytes(&out)));
	buf_release(&out);
	/* A clip without fields gets the values that most files have. */
	anim_edit_clip(edited, 0)->field_count = 0;
	put_u16(want.data + 2, 30);
	out = encode(edited, (struct bytes){NULL, 0});
	check_same(buf_bytes(&out), buf_bytes(&want));
	buf_release(&out);
	buf_release(&want);
}
END_TEST

/* ---- refused edits ---- */

static const struct {
	unsigned role;
	double first, last, below, above; /* the ends of a grid; the nearest values outside */
	int16_t first_stored, last_stored;
	const char *accepted;
} ends[] = {
	{ROLE_TRANSLATION, -32768, 32767, -32769, 32768, -32768, 32767, "-32768 to 32767"},
	{ROLE_ROTATION, -2880, 2879.912109375, -2880.05, 2880, -32768, 32767,
	 "-2880 to 2879.91211 degrees"},
	{ROLE_SCALE, -8, 7.999755859375, -8.0002, 8, -32768, 32767, "-8 to 7.99975586"},
};

static void try_value(unsigned role, double value, const char *text, const char *accepted)
{
	struct track *t = edit_track("object_200");
	uint32_t count = read_said(find_track(model, "object_200"), said);
	char why[128];

	snprintf(why, sizeof(why), "the %s of object_200 in frame 2 of %% cannot be %s",
		 role_names[role], text);
	said[0].value[role][1] = value;
	write_said(edited, t, said, count);
	encode_refused(edited, buf_bytes(&file), why, accepted);
}

static void keep_value(unsigned role, double value, int16_t stored)
{
	struct track *t = edit_track("object_200");
	uint32_t count = read_said(find_track(model, "object_200"), said);
	struct made_key key = odd_keys[4];

	said[0].value[role][1] = value;
	write_said(edited, t, said, count);
	key.parts[role == ROLE_ROTATION ? 1 : role == ROLE_SCALE ? 4 : 7] = stored;
	check_changed(4, &key);
}

START_TEST(the_ends_of_the_grids)
{
	char text[32];

	keep_value(ends[_i].role, ends[_i].first, ends[_i].first_stored);
	keep_value(ends[_i].role, ends[_i].last, ends[_i].last_stored);
	snprintf(text, sizeof(text), "%.9g", ends[_i].below);
	try_value(ends[_i].role, ends[_i].below, text, ends[_i].accepted);
	snprintf(text, sizeof(text), "%.9g", ends[_i].above);
	try_value(ends[_i].role, ends[_i].above, text, ends[_i].accepted);
	try_value(ends[_i].role, NAN, "nan", ends[_i].accepted);
	try_value(ends[_i].role, INFINITY, "inf", ends[_i].accepted);
	try_value(ends[_i].role, -INFINITY, "-inf", ends[_i].accepted);
	try_value(ends[_i].role, -1e300, "-inf", ends[_i].accepted);
}
END_TEST

START_TEST(every_stored_number_comes_back)
{
	static const unsigned places[] = {14 + 2, 14 + 8, 14 + 14};
	static const struct made_key key = {0, 1, 7, {0}};
	struct buf bytes =
		make(&(struct made){.frames = 1, .count = 1, .keys = &key, .gap = "gaps"});

	for (unsigned k = 0; k < 65536; k++) {
		struct anim *a;

		for (size_t i = 0; i < ARRAY_SIZE(places); i++)
			put_u16(bytes.data + places[i], (uint16_t)k);
		a = decode(buf_bytes(&bytes));
		ck_assert_double_eq(curve_value(a->clips[0].tracks[0].curve[ROLE_SCALE], 0, 0),
				    (int16_t)k / 4096.0);
		check_encodes_to(a, buf_bytes(&bytes));
		anim_free(a);
	}
	buf_release(&bytes);
}
END_TEST

static const char rows_or_list[] = "rows for it in curves.csv, to add it; a list of bones without "
				   "it in clip.json, to remove it";

START_TEST(bones_that_cannot_be_stored)
{
	struct track *t = edit_track("object_200");
	const char *const names[] = {"hips", "object_256", "object_7", "object_0007", "object_"};
	char why[128];

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		t->name = names[i];
		snprintf(why, sizeof(why), "\"%s\" of %% cannot be stored: bones are numbers here",
			 names[i]);
		encode_refused(edited, buf_bytes(&file), why, "object_000 to object_255");
	}
	t->name = "object_007";
	encode_refused(edited, buf_bytes(&file),
		       "object_007 and object_200 of % are the same object", "");
	t->name = "object_200";
	write_said(edited, t, said, 0);
	encode_refused(edited, buf_bytes(&file),
		       "object_200 of % has no keyframe, and an object exists only by its "
		       "keyframes",
		       rows_or_list);
	t->keyframes = NULL;
	encode_refused(edited, buf_bytes(&file),
		       "object_200 of % has no keyframe, and an object exists only by its "
		       "keyframes",
		       rows_or_list);
}
END_TEST

START_TEST(bones_cannot_be_moved)
{
	struct clip *clip = anim_edit_clip(edited, 0);
	struct track *tracks = (struct track *)clip->tracks, first = tracks[0];

	tracks[0] = tracks[1];
	tracks[1] = first;
	encode_refused(edited, buf_bytes(&file),
		       "object_002 of % cannot be moved: no order of the bones is stored, they "
		       "stand by their numbers",
		       "");
}
END_TEST

START_TEST(keyframes_that_cannot_be_stored)
{
	static const char past[] = "object_200 of % has a keyframe in frame 5, which is not in its "
				   "place or past the end";
	static const char low_bits[] = "a multiple of 8 up to 248; the lowest three bits follow "
				       "from the parts that there are";
	struct track *t = edit_track("object_200");
	uint32_t count = read_said(t, said);

	said[0].flags = 7;
	write_said(edited, t, said, count);
	encode_refused(edited, buf_bytes(&file), "flags of 7 for object_200 in frame 2 of %",
		       low_bits);
	said[0].flags = 0;
	said[1] = (struct said){.frame = 5};
	write_said(edited, t, said, 2);
	encode_refused(edited, buf_bytes(&file), past, "");
	said[1].frame = 1;
	write_said(edited, t, said, 2);
	encode_refused(edited, buf_bytes(&file),
		       "object_200 of % has a keyframe in frame 1, which is not in its place or "
		       "past the end",
		       "");
}
END_TEST

START_TEST(curves_that_are_not_what_the_keyframes_say)
{
	static const char why[] =
		"the scale of object_200 in % has not the keys that its keyframes say";
	static const uint32_t frames[] = {3, 4};
	struct track *t = edit_track("object_200");
	const struct curve *was = t->curve[ROLE_SCALE];
	struct curve odd_one = *was;

	t->curve[ROLE_SCALE] = NULL;
	encode_refused(edited, buf_bytes(&file), why, "");
	t->curve[ROLE_SCALE] = &odd_one;
	odd_one.frames = frames;
	encode_refused(edited, buf_bytes(&file), why, "");
	odd_one = *was;
	odd_one.count = 2;
	encode_refused(edited, buf_bytes(&file), why, "");
	odd_one = *was;
	odd_one.kind = CURVE_EULER;
	encode_refused(edited, buf_bytes(&file), why, "");
	odd_one = *was;
	odd_one.keyed = false;
	encode_refused(edited, buf_bytes(&file), why, "");
	odd_one = *was;
	odd_one.interpolation = INTERPOLATION_LINEAR;
	encode_refused(edited, buf_bytes(&file), why, "");
	odd_one = *was;
	check_changed(4, &odd_keys[4]);
}
END_TEST

START_TEST(clips_that_cannot_be_stored)
{
	struct clip *clip = anim_edit_clip(edited, 0);

	clip->loop = true;
	encode_refused(edited, buf_bytes(&file), "%: a ribbon file stores no loop", "");
	clip->loop = false;
	clip->frame_time = 2;
	encode_refused(edited, buf_bytes(&file), "%: a ribbon file stores no times", "");
	clip->frame_time = 1;
	clip->duration = 2;
	encode_refused(edited, buf_bytes(&file), "%: a ribbon file stores no times", "");
	clip->duration = 0;
	edited->clip_count = 0;
	encode_refused(edited, buf_bytes(&file), "a ribbon file has one clip and cannot have 0",
		       "");
	edited->clip_count = 2;
	encode_refused(edited, buf_bytes(&file), "a ribbon file has one clip and cannot have 2",
		       "");
}
END_TEST

/* ---- the largest files ---- */

START_TEST(most_frames)
{
	const struct made most = {.word2 = 1, .frames = 65531};

	open_bytes(make(&most));
	ck_assert_uint_eq(file.size, 131070);
	check_identity(buf_bytes(&file));
	ck_assert_uint_eq(codec()->format->max_frames, 65531);
	anim_edit_clip(edited, 0)->frames = 65532;
	encode_refused(edited, buf_bytes(&file), "% cannot have 65532 frames",
		       "up to 65531, with hardly a keyframe");
	anim_edit_clip(edited, 0)->frames = UINT32_MAX;
	encode_refused(edited, buf_bytes(&file), "% cannot have 4294967295 frames",
		       "up to 65531, with hardly a keyframe");
	close_all();
}
END_TEST

/* Makes a file of one frame that is full except for `spare` bytes. */
static struct buf make_full(size_t spare)
{
	struct made_key *keys = calloc(65530, sizeof(*keys));
	struct made m = {.word2 = 1, .frames = 1, .keys = keys};
	struct buf out;

	ck_assert_ptr_nonnull(keys);
	m.count = (unsigned)((131070 - 10 - spare) / 2);
	for (unsigned i = 0; i < m.count; i++)
		keys[i].object = i % 251;
	out = make(&m);
	free(keys);
	return out;
}

START_TEST(most_keyframes)
{
	struct track t = {.name = "object_255", .label = "object_255", .origin = ANIM_NEW};
	struct buf out;

	open_bytes(make_full(14));
	said[0] = (struct said){.frame = 0, .roles = 1 << ROLE_ROTATION | 1 << ROLE_SCALE};
	write_said(edited, &t, said, 1);
	add_track(t);
	out = store();
	ck_assert_uint_eq(out.size, 131070);
	buf_release(&out);
	anim_edit_clip(edited, 0)->frames = 2;
	encode_refused(edited, buf_bytes(&file),
		       "% would end at 131072; a ribbon file has 131070 bytes at most", "");
	close_all();
}
END_TEST

/* Offsets do not reach beyond the frames, so the bytes after the frames may be longer. */
START_TEST(what_follows_may_be_long)
{
	struct buf bytes = make_full(0);

	buf_zero(&bytes, 100001);
	check_identity(buf_bytes(&bytes));
	buf_release(&bytes);
}
END_TEST

Suite *ribbon_suite(void);

Suite *ribbon_suite(void)
{
	Suite *suite = suite_create("ribbon");
	TCase *t = tcase_create("files"), *o = tcase_create("odd");

	suite_add_tcase(suite, t);
	tcase_add_loop_test(t, samples_say_what_is_expected, 0, ARRAY_SIZE(good));
	tcase_add_loop_test(t, bad_samples_are_refused, 0, ARRAY_SIZE(bad));
	tcase_add_test(t, a_file_is_known_by_its_name);
	tcase_add_loop_test(t, cut_at_every_length, 0, ARRAY_SIZE(good));
	tcase_add_loop_test(t, every_byte_changed, 0, ARRAY_SIZE(good));
	tcase_add_test(t, a_file_of_no_bones_gets_one);
	tcase_add_test(t, every_stored_number_comes_back);
	tcase_add_test(t, most_frames);
	tcase_add_test(t, most_keyframes);
	tcase_add_test(t, what_follows_may_be_long);

	suite_add_tcase(suite, o);
	tcase_add_checked_fixture(o, open_odd, close_all);
	tcase_add_test(o, a_model_says_all_of_the_odd_file);
	tcase_add_test(o, curves_step);
	tcase_add_test(o, every_value_of_every_byte_of_the_odd_file);
	tcase_add_test(o, a_value_changes_alone);
	tcase_add_test(o, a_value_goes_to_the_nearest);
	tcase_add_test(o, flags_change_alone);
	tcase_add_test(o, a_part_comes_and_goes);
	tcase_add_test(o, a_keyframe_goes);
	tcase_add_test(o, occurrences_keep_their_places);
	tcase_add_test(o, a_new_keyframe_goes_last_in_its_frame);
	tcase_add_test(o, a_keyframe_in_an_empty_frame);
	tcase_add_test(o, a_removed_bone_takes_its_keyframes_along);
	tcase_add_test(o, a_renamed_bone);
	tcase_add_test(o, two_bones_change_names);
	tcase_add_test(o, a_new_bone);
	tcase_add_test(o, bones_by_the_names_of_a_table);
	tcase_add_test(o, frames_come_and_go);
	tcase_add_test(o, word2_can_be_edited);
	tcase_add_test(o, a_new_file_is_canonical);
	tcase_add_loop_test(o, the_ends_of_the_grids, 0, ARRAY_SIZE(ends));
	tcase_add_test(o, bones_that_cannot_be_stored);
	tcase_add_test(o, bones_cannot_be_moved);
	tcase_add_test(o, keyframes_that_cannot_be_stored);
	tcase_add_test(o, curves_that_are_not_what_the_keyframes_say);
	tcase_add_test(o, clips_that_cannot_be_stored);
	return suite;
}
