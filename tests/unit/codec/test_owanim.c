/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The Overwatch codec. Expected values of the samples stand beside them; other files are made here
 * by a writer of its own (struct made), which shares nothing with the codec: an edited model must
 * be encoded to the very file that this writer makes of the edited keys.
 */
#include "animfs/codec.h"
#include "coding.h"
#include "load.h"
#include "model/names.h"

#include <check.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

enum { SCALE, POSITION, ROTATION, KINDS };

static const enum role roles[KINDS] = {ROLE_SCALE, ROLE_TRANSLATION, ROLE_ROTATION};
static const size_t sizes[KINDS] = {6, 12, 6};

static const char *const samples[] = {
	"datafirst", "framelayout", "long",  "manybones", "n254", "n255",
	"n256",      "oddrot",      "small", "sparse",    "tail", "walk",
};

static const struct codec *codec(void)
{
	return codec_named("owanim");
}

static struct anim *decode(struct bytes src)
{
	return decode_labelled(codec(), src);
}

static struct buf encode(const struct anim *a, struct bytes old)
{
	return encode_ok(codec(), a, old);
}

static void ck_bytes(const struct buf *is, const struct buf *wanted)
{
	size_t at = 0;

	while (at < is->size && at < wanted->size && is->data[at] == wanted->data[at])
		at++;
	ck_assert_msg(bytes_equal(buf_bytes(is), buf_bytes(wanted)),
		      "%zu bytes, not %zu; they differ at %zu", is->size, wanted->size, at);
}

static void ck_comes_back(const struct buf *file)
{
	struct anim *a = decode(buf_bytes(file));
	struct buf out = encode(a, buf_bytes(file));

	ck_bytes(&out, file);
	buf_release(&out);
	anim_free(a);
}

/* Encodes an edit and checks that the new file holds it. Frees the old model. */
static struct buf store(struct anim *edited, struct anim *old, const struct buf *file)
{
	struct buf out = encode(edited, buf_bytes(file));
	struct anim *stored = decode(buf_bytes(&out));
	struct err err = {.code = ERR_NONE};

	ck_assert_msg(anim_stored(edited, old, stored, &err), "%s", err.message);
	anim_free(stored);
	anim_free(edited);
	anim_free(old);
	return out;
}

static void refuse(struct anim *edited, struct anim *old, const struct buf *file, const char *words,
		   const char *accepted)
{
	struct err err = {.code = ERR_NONE};
	struct buf out = BUF_INIT;

	ck_assert(!codec()->encode(edited, buf_bytes(file), &out, &err));
	ck_assert_int_eq(err.code, ERR_STORE);
	ck_assert_msg(strstr(err.message, words), "\"%s\" is not in \"%s\"", words, err.message);
	ck_assert_msg(!accepted || strstr(err.accepted, accepted), "%s", err.accepted);
	buf_release(&out);
	anim_free(edited);
	anim_free(old);
}

/* ---- files of our own ---- */

struct key {
	uint32_t bone, frame;
	unsigned kind;
	uint8_t data[12];
};

struct made {
	uint32_t bones, frames;
	float fps, duration;
	/* the layout, and the rule of index widths, that a page on the format describes */
	bool by_frame, by_count;
	bool data_first, share, junk; /* junk: the offsets of empty lists are senseless */
	/* number of bytes of unknown meaning: at the end, and before the table or the data */
	unsigned tail, shift;
	uint32_t *ids;
	size_t count, capacity;
	struct key *keys; /* all keys; those of each list in stored order */
};

static uint32_t dice;

static uint32_t roll(uint32_t sides)
{
	dice = dice * 1664525 + 1013904223;
	return (uint32_t)((uint64_t)(dice >> 8) * sides >> 24);
}

/* Returns the float32 of frames / fps, or the next one if that is before the last frame. */
static float duration_of(uint32_t frames, float fps)
{
	float duration = (float)((frames - 1) / (double)fps);

	return (uint32_t)(fps * duration) + 1 < frames ? nextafterf(duration, INFINITY) : duration;
}

static struct made made_new(uint32_t bones, uint32_t frames)
{
	struct made m = {.bones = bones, .frames = frames, .fps = 30, .tail = 12};

	m.duration = duration_of(frames, m.fps);
	m.ids = calloc(bones + 1, sizeof(*m.ids));
	for (uint32_t i = 0; i < bones; i++)
		m.ids[i] = i * 7919 % 65521;
	return m;
}

static void made_free(struct made *m)
{
	free(m->ids);
	free(m->keys);
}

static uint32_t key_entry(const struct made *m, const struct key *k)
{
	return m->by_frame ? k->frame : k->bone;
}

static uint32_t key_index(const struct made *m, const struct key *k)
{
	return m->by_frame ? k->bone : k->frame;
}

static bool same_list(const struct made *m, const struct key *a, const struct key *b)
{
	return a->kind == b->kind && key_entry(m, a) == key_entry(m, b);
}

static void made_insert(struct made *m, size_t at, const struct key *k)
{
	if (m->count == m->capacity) {
		m->capacity = m->capacity ? 2 * m->capacity : 64;
		m->keys = realloc(m->keys, m->capacity * sizeof(*m->keys));
	}
	memmove(m->keys + at + 1, m->keys + at, (m->count++ - at) * sizeof(*m->keys));
	m->keys[at] = *k;
}

static void made_remove(struct made *m, size_t at)
{
	memmove(m->keys + at, m->keys + at + 1, (--m->count - at) * sizeof(*m->keys));
}

/* Adds a key where an edit puts it: before the first key of its list with a larger index. */
static void made_add(struct made *m, const struct key *k)
{
	size_t at = 0;

	while (at < m->count &&
	       !(same_list(m, &m->keys[at], k) && key_index(m, &m->keys[at]) > key_index(m, k)))
		at++;
	made_insert(m, at, k);
}

/* Makes a code as an encoder does: the dropped component is by far the largest. */
static void roll_rotation(uint8_t *data)
{
	unsigned slot = roll(4);

	put_u16(data, (uint16_t)(0x4000 + roll(8000) - 4000 + ((slot & 1) << 15)));
	put_u16(data + 2, (uint16_t)(0x4000 + roll(8000) - 4000 + (slot >> 1 << 15)));
	put_u16(data + 4, (uint16_t)(0x8000 + roll(16000) - 8000));
}

static struct key roll_key(uint32_t bone, uint32_t frame, unsigned kind)
{
	struct key k = {.bone = bone, .frame = frame, .kind = kind};

	if (kind == ROTATION)
		roll_rotation(k.data);
	for (unsigned axis = 0; axis < 3 && kind == SCALE; axis++)
		put_u16(k.data + 2 * axis, (uint16_t)roll(65536));
	for (unsigned axis = 0; axis < 3 && kind == POSITION; axis++)
		put_f32(k.data + 4 * axis, (float)roll(100000) / 7919.0f - 5);
	return k;
}

enum order { ASCENDING, REPEATED, SHUFFLED };

/* Fills a file with keys: in each list, one in `density` frames has one. */
static void made_fill(struct made *m, unsigned density, enum order order)
{
	for (uint32_t bone = 0; bone < m->bones; bone++) {
		for (unsigned kind = 0; kind < KINDS; kind++) {
			size_t first = m->count;

			for (uint32_t frame = 0; frame < m->frames; frame++) {
				struct key k = roll_key(bone, frame, kind);

				if (roll(density) > 0)
					continue;
				made_insert(m, m->count, &k);
				k = roll_key(bone, frame, kind);
				if (order != ASCENDING && roll(4) == 0)
					made_insert(m, m->count, &k);
			}
			for (size_t i = first; order == SHUFFLED && i < m->count; i++) {
				size_t j = first + roll((uint32_t)(m->count - first));
				struct key k = m->keys[i];

				m->keys[i] = m->keys[j];
				m->keys[j] = k;
			}
		}
	}
}

struct writer {
	const struct made *m;
	struct buf out;
	size_t table;
};

/* Returns the place of these bytes: that of equal bytes that were written before, or at the end. */
static size_t write_array(struct writer *w, size_t from, const struct buf *bytes)
{
	const uint8_t *found = NULL;
	size_t at;

	if (w->m->share && w->out.size > from)
		found = memmem(w->out.data + from, w->out.size - from, bytes->data, bytes->size);
	if (found && ((size_t)(found - w->out.data) - w->m->shift) % 4 == 0)
		return (size_t)(found - w->out.data);
	at = w->out.size;
	buf_add(&w->out, bytes->data, bytes->size);
	while ((w->out.size - w->m->shift) % 4)
		buf_zero(&w->out, 1);
	return at;
}

static bool is_wide(const struct made *m, uint16_t count)
{
	return m->by_count ? count >= 255 : (m->by_frame ? m->bones : m->frames) > 255;
}

/* Makes the bytes of all arrays, six for each entry, and sets the number of keys of each entry. */
static struct buf *make_arrays(const struct made *m, uint8_t *table, uint32_t entries)
{
	struct buf *arrays = calloc((size_t)entries + 1, 2 * KINDS * sizeof(*arrays));

	for (size_t i = 0; i < m->count; i++) {
		uint8_t *count =
			table + (size_t)key_entry(m, &m->keys[i]) * 32 + 2 * m->keys[i].kind;

		put_u16(count, (uint16_t)(get_u16(count) + 1));
	}
	for (size_t i = 0; i < m->count; i++) {
		const struct key *k = &m->keys[i];
		size_t entry = key_entry(m, k);
		struct buf *to = &arrays[entry * 2 * KINDS + k->kind];
		uint8_t index[2];

		put_u16(index, (uint16_t)key_index(m, k));
		buf_add(to, index, is_wide(m, get_u16(table + entry * 32 + 2 * k->kind)) ? 2 : 1);
		buf_add(to + KINDS, k->data, sizes[k->kind]);
	}
	return arrays;
}

/* Writes the arrays in the usual order, and their places into the offsets of the table. */
static void write_arrays(struct writer *w, uint8_t *table, uint32_t entries)
{
	struct buf *arrays = make_arrays(w->m, table, entries);
	size_t from = w->out.size;

	for (uint32_t i = 0; i < entries * 2 * KINDS; i++) {
		uint8_t *entry = table + (size_t)(i / 6) * 32;
		uint32_t place = w->m->junk ? 0xDEADBEEF + i : 0;

		if (arrays[i].size)
			place = (uint32_t)write_array(w, from, &arrays[i]);
		put_u32(entry + 8 + 4 * (i % 6), place);
		put_u16(entry + 6, (uint16_t)(i / 6 * 3));
		buf_release(&arrays[i]);
	}
	free(arrays);
}

static void settle_offsets(const struct writer *w, uint8_t *table, uint32_t entries)
{
	for (uint32_t i = 0; i < entries * 2 * KINDS; i++) {
		uint8_t *entry = table + (size_t)(i / 6) * 32, *field = entry + 8 + 4 * (i % 6);
		int64_t from = (int64_t)w->table + 32 * (int64_t)(i / 6);

		if (get_u16(entry + 2 * (i % 3)) > 0)
			put_u32(field, (uint32_t)(((int64_t)get_u32(field) - from) / 4));
	}
}

static void put_u64(uint8_t *p, uint64_t v)
{
	put_u32(p, (uint32_t)v);
	put_u32(p + 4, (uint32_t)(v >> 32));
}

static struct buf build(const struct made *m)
{
	uint32_t entries = m->by_frame ? m->frames : m->bones;
	uint8_t *table = calloc(entries + 1, 32);
	struct writer w = {.m = m, .out = BUF_INIT};
	uint8_t *p;

	buf_zero(&w.out, 80);
	for (uint32_t i = 0; i < m->bones; i++)
		buf_u32(&w.out, m->ids[i]);
	for (unsigned i = 0; i < m->shift; i++)
		buf_add(&w.out, &(uint8_t){0x5A}, 1);
	if (m->data_first)
		write_arrays(&w, table, entries);
	w.table = w.out.size;
	buf_zero(&w.out, (size_t)entries * 32);
	if (!m->data_first)
		write_arrays(&w, table, entries);
	settle_offsets(&w, table, entries);
	memcpy(w.out.data + w.table, table, (size_t)entries * 32);
	free(table);
	p = w.out.data;
	put_u32(p, 160);
	put_f32(p + 4, m->duration);
	put_f32(p + 8, m->fps);
	put_u16(p + 12, (uint16_t)m->bones);
	put_u16(p + 14, 1);
	put_u64(p + 24, 0x0710000000001234);
	put_u64(p + 32, UINT64_MAX);
	put_u64(p + 40, 80);
	put_u64(p + 48, w.table);
	put_u64(p + 56, w.out.size);
	put_u64(p + 64, w.out.size);
	for (unsigned i = 0; i < m->tail; i++)
		buf_add(&w.out, &(uint8_t){(uint8_t)(0xA5 + i)}, 1);
	ck_assert(!w.out.failed);
	return w.out;
}

/* ---- the model ---- */

static void decode_rotation(const uint8_t *data, double q[4])
{
	unsigned a = get_u16(data), b = get_u16(data + 2), slot = (a >> 15) | (b >> 15 << 1);
	double v[3] = {1.41421 * ((int)(a & 0x7FFF) - 0x4000) / 0x8000,
		       1.41421 * ((int)(b & 0x7FFF) - 0x4000) / 0x8000,
		       1.41421 * ((int)get_u16(data + 4) - 0x8000) / 0x10000};
	double rest = 1 - v[0] * v[0] - v[1] * v[1] - v[2] * v[2];

	for (unsigned axis = 0, i = 0; axis < 4; axis++)
		q[axis] = axis == slot ? sqrt(fmax(rest, 0)) : v[i++];
}

static void key_value(const struct key *k, double value[4])
{
	if (k->kind == ROTATION)
		decode_rotation(k->data, value);
	for (unsigned axis = 0; axis < 3 && k->kind == SCALE; axis++)
		value[axis] = get_u16(k->data + 2 * axis) / 1024.0;
	for (unsigned axis = 0; axis < 3 && k->kind == POSITION; axis++)
		value[axis] = (double)get_f32(k->data + 4 * axis);
}

static void ck_key(const struct curve *c, uint32_t i, const struct key *k)
{
	double value[4];

	ck_assert_uint_eq(curve_frame(c, i), k->frame);
	key_value(k, value);
	for (unsigned axis = 0; axis < curve_width(c); axis++)
		ck_assert_msg(f64_same(curve_value(c, i, axis), value[axis]),
			      "bone %u, kind %u, frame %u, axis %u: %.17g, not %.17g", k->bone,
			      k->kind, k->frame, axis, curve_value(c, i, axis), value[axis]);
}

/*
 * Returns the keys of one list sorted by frame; keys of one frame stay in stored order. The caller
 * frees the list.
 */
static const struct key **list_keys(const struct made *m, uint32_t bone, unsigned kind,
				    uint32_t *count)
{
	const struct key **list = calloc(m->count + 1, sizeof(*list));
	uint32_t n = 0;

	for (size_t i = 0; i < m->count; i++) {
		const struct key *k = &m->keys[i];
		uint32_t at = n;

		if (k->bone != bone || k->kind != kind)
			continue;
		for (; at > 0 && list[at - 1]->frame > k->frame; at--)
			list[at] = list[at - 1];
		list[at] = k;
		n++;
	}
	*count = n;
	return list;
}

static void ck_curve(const struct made *m, uint32_t bone, unsigned kind, const struct curve *c)
{
	uint32_t count;
	const struct key **list = list_keys(m, bone, kind, &count);

	ck_assert_msg(count == (c ? c->count : 0), "bone %u, kind %u: %u keys, not %u", bone, kind,
		      c ? c->count : 0, count);
	ck_assert(!c || c->keyed);
	for (uint32_t i = 0; i < count; i++)
		ck_key(c, i, list[i]);
	free(list);
}

static void ck_model(const struct made *m, const struct anim *a)
{
	const struct clip *clip = a->clips;

	ck_assert_uint_eq(a->clip_count, 1);
	ck_assert_uint_eq(clip->frames, m->frames);
	ck_assert_uint_eq(clip->track_count, m->bones);
	ck_assert(f32_bits(clip->duration) == f32_bits(m->duration));
	for (uint32_t bone = 0; bone < m->bones; bone++) {
		char name[32];

		snprintf(name, sizeof(name), "bone_%04X", m->ids[bone]);
		ck_assert_str_eq(clip->tracks[bone].name, name);
		ck_assert_uint_eq(clip->tracks[bone].roles, 7);
		for (unsigned kind = 0; kind < KINDS; kind++)
			ck_curve(m, bone, kind, clip->tracks[bone].curve[roles[kind]]);
	}
}

static void ck_made(const struct made *m)
{
	struct buf file = build(m);
	struct anim *a = decode(buf_bytes(&file));

	ck_model(m, a);
	anim_free(a);
	ck_comes_back(&file);
	buf_release(&file);
}

/* ---- samples ---- */

static struct buf load_sample(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "tests/data/owanim/%s.006", name);
	return load_file(path);
}

static json_t *load_expected(const char *name)
{
	char path[128];
	json_error_t fault;
	json_t *json;

	snprintf(path, sizeof(path), "tests/data/owanim/%s.expect.json", name);
	json = json_load_file(path, 0, &fault);
	ck_assert_msg(json != NULL, "%s: %s", path, fault.text);
	return json;
}

static void ck_expected_value(const struct curve *c, uint32_t *next, uint32_t frame,
			      const json_t *value)
{
	if (!value)
		return;
	ck_assert(c && *next < c->count);
	ck_assert_uint_eq(curve_frame(c, *next), frame);
	for (unsigned axis = 0; axis < curve_width(c); axis++) {
		double wanted = json_real_value(json_array_get(value, axis));

		ck_assert_msg(fabs(curve_value(c, *next, axis) - wanted) <= 1e-12,
			      "frame %u, axis %u: %.17g, not %.17g", frame, axis,
			      curve_value(c, *next, axis), wanted);
	}
	++*next;
}

static void ck_expected(const struct clip *clip, const json_t *want)
{
	uint32_t *next = calloc(clip->track_count, ROLE_COUNT * sizeof(*next));
	static const char *const words[KINDS] = {"scale", "position", "rotation"};
	const json_t *frames = json_object_get(want, "frames");

	for (size_t i = 0; i < json_array_size(frames); i++) {
		const json_t *frame = json_array_get(frames, i);
		uint32_t number = (uint32_t)json_integer_value(json_object_get(frame, "frame"));
		const json_t *bones = json_object_get(frame, "bones");

		for (size_t j = 0; j < json_array_size(bones); j++) {
			const json_t *bone = json_array_get(bones, j);
			size_t b = (size_t)json_integer_value(json_object_get(bone, "bone"));

			for (unsigned kind = 0; kind < KINDS; kind++)
				ck_expected_value(clip->tracks[b].curve[roles[kind]],
						  &next[b * KINDS + kind], number,
						  json_object_get(bone, words[kind]));
		}
	}
	for (uint32_t b = 0; b < clip->track_count; b++) {
		for (unsigned kind = 0; kind < KINDS; kind++) {
			const struct curve *c = clip->tracks[b].curve[roles[kind]];

			ck_assert_uint_eq(next[b * KINDS + kind], c ? c->count : 0);
		}
	}
	free(next);
}

START_TEST(test_samples_say_what_is_expected)
{
	json_t *want = load_expected(samples[_i]);
	struct buf file = load_sample(samples[_i]);
	struct anim *a = decode(buf_bytes(&file));
	const struct clip *clip = a->clips;
	const json_t *header = json_object_get(want, "header");
	const json_t *bones = json_object_get(want, "bones");

	ck_assert_int_eq(clip->frames, json_integer_value(json_object_get(want, "frame_count")));
	ck_assert_uint_eq(clip->track_count, json_array_size(bones));
	for (uint32_t i = 0; i < clip->track_count; i++) {
		char name[32];

		snprintf(name, sizeof(name), "bone_%04X",
			 (unsigned)json_integer_value(json_array_get(bones, i)));
		ck_assert_str_eq(clip->tracks[i].name, name);
	}
	ck_assert(f64_same((double)clip->duration,
			   json_real_value(json_object_get(header, "duration"))));
	ck_assert_str_eq(clip->fields[0].name, "counter1");
	ck_assert_int_eq(clip->fields[0].integer,
			 json_integer_value(json_object_get(header, "counter1")));
	ck_assert_str_eq(clip->fields[1].name, "fps");
	ck_assert(f64_same(clip->fields[1].real, json_real_value(json_object_get(header, "fps"))));
	ck_assert_str_eq(clip->fields[2].name, "flag");
	ck_assert_int_eq(clip->fields[2].integer,
			 json_integer_value(json_object_get(header, "flag")));
	ck_assert_double_eq(a->rate, 30);
	ck_assert_str_eq(clip->name, "");
	ck_expected(clip, want);
	anim_free(a);
	buf_release(&file);
	json_decref(want);
}
END_TEST

START_TEST(test_samples_come_back)
{
	struct buf file = load_sample(samples[_i]);

	ck_assert(codec()->probe(buf_bytes(&file)));
	ck_comes_back(&file);
	buf_release(&file);
}
END_TEST

/* ---- every kind of file ---- */

START_TEST(test_built_files)
{
	static const uint32_t bones[] = {1, 3, 20}, frames[] = {1, 2, 17, 300};

	dice = (uint32_t)_i;
	for (unsigned i = 0; i < 3 * 4 * 64; i++) {
		struct made m = made_new(bones[i % 3], frames[i / 3 % 4]);
		unsigned bits = i / 12;

		m.data_first = bits & 1;
		m.junk = bits & 2;
		m.share = bits & 4;
		m.tail = bits & 8 ? roll(9) : 12;
		m.shift = roll(4) ? 0 : roll(4);
		m.fps = bits & 16 ? 24 : 30;
		m.duration = duration_of(m.frames, m.fps);
		made_fill(&m, 1 + roll(6), bits & 32 ? SHUFFLED : (enum order)(_i % 2));
		ck_made(&m);
		made_free(&m);
	}
}
END_TEST

/*
 * Files in the page's layout, whose entries are frames. They have so many keys that no other
 * reading is possible.
 */
START_TEST(test_built_files_by_frame)
{
	static const uint32_t bones[] = {5, 30, 255, 256, 300};

	dice = 77;
	for (unsigned i = 0; i < 5 * 16; i++) {
		struct made m = made_new(bones[i % 5], 12 + roll(30));

		m.by_frame = true;
		m.by_count = i & 8 && m.bones < 255;
		m.junk = i & 1;
		m.tail = i & 2 ? 12 : 0;
		made_fill(&m, 2, i & 4 ? SHUFFLED : ASCENDING);
		ck_made(&m);
		made_free(&m);
	}
}
END_TEST

/* Lists of every length around the switch of index widths, under both rules. */
START_TEST(test_widths)
{
	for (uint32_t frames = 250; frames < 262; frames++) {
		for (unsigned density = 1; density < 6; density++) {
			struct made m = made_new(4, frames);

			dice = frames * density;
			made_fill(&m, density, ASCENDING);
			ck_made(&m);
			made_free(&m);
		}
	}
}
END_TEST

/* The page's rule: a list of less than 255 keys has narrow indices, however long the clip is. */
START_TEST(test_widths_by_count)
{
	static const uint32_t counts[] = {253, 254, 255, 256, 257};

	for (unsigned i = 0; i < ARRAY_SIZE(counts); i++) {
		struct made m = made_new(3, counts[i]);

		m.by_count = true;
		dice = i;
		for (uint32_t frame = 0; frame < counts[i]; frame++) {
			for (uint32_t bone = 0; bone < 3; bone++) {
				struct key k = roll_key(bone, frame, bone);

				made_insert(&m, m.count, &k);
			}
		}
		ck_made(&m);
		made_free(&m);
	}
}
END_TEST

/*
 * A duration is rounded to float32, and a product of it may be just below the last frame. If the
 * lists show the number of frames, they decide, and so does the index width.
 */
START_TEST(test_durations_that_fall_short)
{
	unsigned short_ones = 0, at_the_switch = 0;

	for (uint32_t frames = 2; frames < 400; frames++) {
		for (uint32_t fps = 10; fps < 61; fps++) {
			struct made m = made_new(2, frames);
			struct key k = roll_key(0, frames - 1, POSITION);

			m.fps = (float)fps;
			m.duration = (float)((frames - 1) / (double)m.fps);
			if ((uint32_t)(m.fps * m.duration) + 1 == frames) {
				made_free(&m);
				continue;
			}
			short_ones++;
			at_the_switch += frames == 256;
			made_fill(&m, 4, ASCENDING);
			made_add(&m, &k);
			ck_made(&m);
			made_free(&m);
		}
	}
	ck_assert_uint_gt(short_ones, 100);
	ck_assert_uint_gt(at_the_switch, 0);
}
END_TEST

/* If the stored duration is unusable or too short, the last key determines the number of frames. */
START_TEST(test_frames_from_the_keys)
{
	static const float durations[] = {NAN, INFINITY, -1, -0.001f, 0, 1.0f / 30, 1e9f};
	static const uint32_t frames[] = {1, 5, 255, 256, 257, 400, 65536};

	for (unsigned i = 0; i < ARRAY_SIZE(durations) * ARRAY_SIZE(frames); i++) {
		struct made m = made_new(3, frames[i % ARRAY_SIZE(frames)]);
		struct key k = roll_key(1, m.frames - 1, ROTATION);

		dice = i;
		m.duration = durations[i / ARRAY_SIZE(frames)];
		if (m.duration == 1.0f / 30 && m.frames == 1)
			m.frames = 2;
		made_fill(&m, m.frames > 1000 ? 700 : 3, ASCENDING);
		made_add(&m, &k);
		ck_made(&m);
		made_free(&m);
	}
}
END_TEST

START_TEST(test_rates)
{
	static const float rates[] = {30, 60, 29.97f, 0, -30, NAN, INFINITY};

	for (size_t i = 0; i < ARRAY_SIZE(rates); i++) {
		struct made m = made_new(1, 1);
		struct key k = roll_key(0, 0, SCALE);
		struct buf file;
		struct anim *a;

		m.fps = rates[i];
		m.duration = 0;
		made_add(&m, &k);
		file = build(&m);
		a = decode(buf_bytes(&file));
		ck_assert_double_eq(a->rate, i < 3 ? (double)rates[i] : 30);
		anim_free(a);
		ck_comes_back(&file);
		buf_release(&file);
		made_free(&m);
	}
}
END_TEST

/* ---- files of other kinds, and broken ones ---- */

static void ck_refused(const uint8_t *data, size_t size, size_t at, const char *words)
{
	struct err err = {.code = ERR_NONE};
	struct bytes src = {data, size};

	ck_assert(!codec()->decode(src, NULL, &err));
	ck_assert_int_eq(err.code, ERR_FORMAT);
	ck_assert_msg(strstr(err.message, words), "%s", err.message);
	ck_assert_msg(err.placed && err.at == at, "%s: at %zu", err.message, err.at);
	ck_assert(!codec()->probe(src));
}

START_TEST(test_refused)
{
	struct buf file = load_sample("small");
	static const struct {
		size_t at, size;
		uint64_t value;
		size_t where;
		const char *words;
	} cases[] = {
		{2, 2, 1, 2, "newer Overwatch header"},
		{12, 2, 62, 40, "list of 62 bones"},
		{40, 4, 400, 40, "list of 3 bones"},
		{44, 4, 0x80000000, 40, "list of 3 bones"},
		{48, 4, 324 - 95, 48, "table of 3 entries"},
		{52, 4, 0xFFFFFFFF, 48, "table of 3 entries"},
		{92, 2, 60000, 92, "table entry 0: its 60000 keys"},
		{92 + 8, 4, 0x7FFFFFFF, 92, "table entry 0"},
		{92 + 8, 4, 0x80000000, 92, "table entry 0"},
		{124 + 24, 4, 60, 124, "table entry 1: its 2 keys"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct buf bad = BUF_INIT;

		buf_add(&bad, file.data, file.size);
		for (size_t j = 0; j < cases[i].size; j++)
			bad.data[cases[i].at + j] = (uint8_t)(cases[i].value >> 8 * j);
		ck_refused(bad.data, bad.size, cases[i].where, cases[i].words);
		buf_release(&bad);
	}
	ck_refused(file.data, 79, 79, "ends inside its header");
	ck_refused(NULL, 0, 0, "ends inside its header");
	/* A newer header is shorter, and is recognised by its times. */
	ck_refused((const uint8_t *)"\0\0\1\0\0\0\x80\x3f\0\0\xf0\x41", 12, 2,
		   "newer Overwatch header");
	ck_refused((const uint8_t *)"\0\0\1\0", 4, 2, "not the header of an animation");
	ck_refused((const uint8_t *)"2026-01-01 started", 18, 2, "not the header of an animation");
	/* Zeros are the content of a preallocated file of any kind. */
	memset(file.data, 0, file.size);
	ck_refused(file.data, file.size, 8, "no bones and no frames a second");
	buf_release(&file);
}
END_TEST

/* Lists that share arrays must not expand to more than a machine can hold. */
START_TEST(test_sharing_without_bound)
{
	struct buf file = BUF_INIT;
	const uint32_t bones = 2000, keys = 60000;
	size_t table = 80 + 4 * bones, data = table + 32 * bones;

	buf_zero(&file, data + 14 * keys);
	put_f32(file.data + 4, 10);
	put_f32(file.data + 8, 30);
	put_u16(file.data + 12, (uint16_t)bones);
	put_u64(file.data + 40, 80);
	put_u64(file.data + 48, table);
	for (uint32_t i = 0; i < bones; i++) {
		uint8_t *entry = file.data + table + 32 * (size_t)i;

		put_u16(entry + 2, (uint16_t)keys);
		put_u32(entry + 12, (uint32_t)(data - table - 32 * (size_t)i) / 4);
		put_u32(entry + 24, (uint32_t)(data + 2 * keys - table - 32 * (size_t)i) / 4);
	}
	ck_refused(file.data, file.size, table + 32 * 60, "overlap too often");
	buf_release(&file);
}
END_TEST

/* Decodes from a block of exactly the file's size, so that reads past the end are detected. */
START_TEST(test_cut_anywhere)
{
	struct buf file = load_sample(samples[_i]);
	size_t step = 1 + file.size / 1500;

	for (size_t size = 0; size < file.size; size += step) {
		uint8_t *cut = malloc(size ? size : 1);
		struct err err = {.code = ERR_NONE};
		struct anim *a;

		memcpy(cut, file.data, size);
		a = codec()->decode((struct bytes){cut, size}, NULL, &err);
		if (a) {
			struct buf again = encode(a, (struct bytes){cut, size});

			ck_assert(bytes_equal(buf_bytes(&again), (struct bytes){cut, size}));
			buf_release(&again);
		} else {
			ck_assert_int_eq(err.code, ERR_FORMAT);
			ck_assert(err.message[0]);
		}
		anim_free(a);
		free(cut);
	}
	buf_release(&file);
}
END_TEST

START_TEST(test_any_byte_changed)
{
	static const uint8_t changes[] = {0x01, 0x80, 0xFF};
	struct buf file = load_sample(samples[_i]);
	/* Each change needs the whole file decoded, so large files are changed in fewer places. */
	size_t step = 1 + file.size * file.size / 8000000, decoded = 0;

	for (size_t at = 0; at < file.size; at += at < 200 ? 1 : step) {
		for (size_t i = 0; i < sizeof(changes); i++) {
			struct err err = {.code = ERR_NONE};
			struct anim *a;

			file.data[at] ^= changes[i];
			a = codec()->decode(buf_bytes(&file), NULL, &err);
			if (a) {
				struct buf again = encode(a, buf_bytes(&file));

				ck_bytes(&again, &file);
				buf_release(&again);
				decoded++;
			} else {
				ck_assert_int_eq(err.code, ERR_FORMAT);
			}
			anim_free(a);
			file.data[at] ^= changes[i];
		}
	}
	ck_assert_uint_gt(decoded, 0);
	buf_release(&file);
}
END_TEST

/* ---- edits ---- */

static struct track *edit_track(struct anim *a, uint32_t bone)
{
	struct track *t = anim_edit_track(a, 0, bone);

	ck_assert_ptr_nonnull(t);
	return t;
}

/* Makes a curve of exactly these keys, as a text would give them. */
static struct curve *make_curve(struct anim *a, unsigned kind, uint32_t count)
{
	struct curve *c = arena_alloc(&a->arena, 1, sizeof(*c));

	c->kind = kind == ROTATION ? CURVE_QUATERNION : CURVE_VECTOR;
	c->keyed = true;
	c->count = count;
	c->frames = arena_alloc(&a->arena, count, sizeof(uint32_t));
	c->values = arena_alloc(&a->arena, count, curve_width(c) * sizeof(double));
	for (unsigned axis = 0; axis < curve_width(c); axis++)
		c->lane[axis] = (struct lane){.form = LANE_DOUBLE, .unit = 1};
	return c;
}

static double *curve_values(struct curve *c, uint32_t key)
{
	return (double *)c->values + (size_t)key * curve_width(c);
}

/* Sets the curve that the keys of `m` in one list make: the model should hold it after an edit. */
static void set_curve(struct anim *a, const struct made *m, uint32_t bone, unsigned kind)
{
	uint32_t count;
	const struct key **list = list_keys(m, bone, kind, &count);
	struct curve *c = count ? make_curve(a, kind, count) : NULL;

	for (uint32_t i = 0; i < count; i++) {
		((uint32_t *)c->frames)[i] = list[i]->frame;
		key_value(list[i], curve_values(c, i));
	}
	edit_track(a, bone)->curve[roles[kind]] = c;
	free(list);
}

/* Checks that the file of `before`, edited to equal `after`, is the file of `after`. */
static void ck_edit(const struct made *before, const struct made *after, uint32_t bone,
		    unsigned kind)
{
	struct buf file = build(before), wanted = build(after), out;
	struct anim *old = decode(buf_bytes(&file)), *edited = anim_edit(old);

	set_curve(edited, after, bone, kind);
	out = store(edited, old, &file);
	ck_bytes(&out, &wanted);
	buf_release(&file);
	buf_release(&wanted);
	buf_release(&out);
}

static struct made made_copy(const struct made *m)
{
	struct made copy = *m;

	copy.keys = malloc(m->count * sizeof(*m->keys) + 1);
	copy.capacity = m->count;
	memcpy(copy.keys, m->keys, m->count * sizeof(*m->keys));
	copy.ids = malloc((m->bones + 1) * sizeof(*m->ids));
	memcpy(copy.ids, m->ids, m->bones * sizeof(*m->ids));
	return copy;
}

static struct made made_variant(unsigned variant)
{
	struct made m = made_new(6, variant & 1 ? 300 : 40);

	dice = 1000 + variant;
	m.data_first = variant & 2;
	m.tail = variant & 4 ? 12 : 0;
	m.junk = variant & 8;
	m.shift = variant % 5 == 0 ? variant % 4 : 0;
	m.by_frame = variant & 16;
	if (m.by_frame) {
		made_free(&m);
		m = made_new(variant & 1 ? 300 : 40, 20);
		m.by_frame = true;
		m.tail = variant & 4 ? 12 : 0;
		m.junk = variant & 8;
	}
	made_fill(&m, m.by_frame ? 2 : 4, variant & 2 ? SHUFFLED : REPEATED);
	return m;
}

#define VARIANTS 32

static struct key *some_key(struct made *m)
{
	return &m->keys[roll((uint32_t)m->count)];
}

START_TEST(test_a_changed_value_changes_its_bytes_alone)
{
	struct made m = made_variant((unsigned)_i);

	for (unsigned i = 0; i < 30; i++) {
		struct made after = made_copy(&m);
		struct key *k = some_key(&after), now = roll_key(k->bone, k->frame, k->kind);
		struct buf a = build(&m), b;
		size_t differ = 0;

		memcpy(k->data, now.data, sizeof(k->data));
		b = build(&after);
		ck_assert_uint_eq(a.size, b.size);
		for (size_t j = 0; j < a.size; j++)
			differ += a.data[j] != b.data[j];
		ck_assert_uint_le(differ, sizes[k->kind]);
		ck_edit(&m, &after, k->bone, k->kind);
		buf_release(&a);
		buf_release(&b);
		made_free(&after);
	}
	made_free(&m);
}
END_TEST

START_TEST(test_a_key_is_removed)
{
	struct made m = made_variant((unsigned)_i);

	for (unsigned i = 0; i < 20; i++) {
		struct made after = made_copy(&m);
		size_t at = roll((uint32_t)m.count);
		struct key k = m.keys[at];
		bool twice = false;

		/*
		 * Of several keys in one frame, the last is removed: a text cannot name any other.
		 */
		for (size_t j = 0; j < m.count; j++) {
			if (m.keys[j].bone == k.bone && m.keys[j].kind == k.kind &&
			    m.keys[j].frame == k.frame && j > at)
				twice = true;
		}
		if (!twice) {
			made_remove(&after, at);
			ck_edit(&m, &after, k.bone, k.kind);
		}
		made_free(&after);
	}
	made_free(&m);
}
END_TEST

static bool has_key(const struct made *m, uint32_t bone, uint32_t frame, unsigned kind)
{
	for (size_t i = 0; i < m->count; i++) {
		if (m->keys[i].bone == bone && m->keys[i].frame == frame && m->keys[i].kind == kind)
			return true;
	}
	return false;
}

START_TEST(test_a_key_is_added)
{
	struct made m = made_variant((unsigned)_i);

	for (unsigned i = 0; i < 20; i++) {
		struct made after = made_copy(&m);
		struct key k = roll_key(roll(m.bones), roll(m.frames), i % KINDS);

		if (!has_key(&m, k.bone, k.frame, k.kind)) {
			made_add(&after, &k);
			ck_edit(&m, &after, k.bone, k.kind);
		}
		made_free(&after);
	}
	made_free(&m);
}
END_TEST

/* The first key of a list is added, and the last one removed. */
START_TEST(test_lists_come_and_go)
{
	for (unsigned variant = 0; variant < 8; variant++) {
		struct made m = made_new(5, variant & 1 ? 300 : 40), after;

		m.data_first = variant & 2;
		m.junk = false;
		m.tail = variant & 4 ? 12 : 0;
		dice = variant;
		made_fill(&m, 5, ASCENDING);
		for (size_t i = m.count; i-- > 0;) {
			if (m.keys[i].bone == 2 && m.keys[i].kind == ROTATION)
				made_remove(&m, i);
		}
		after = made_copy(&m);
		made_add(&after, &(struct key){.bone = 2, .kind = ROTATION, .frame = 20});
		roll_rotation(after.keys[after.count - 1].data);
		for (size_t i = 0; i < after.count; i++) {
			if (after.keys[i].bone == 2 && after.keys[i].kind == ROTATION)
				roll_rotation(after.keys[i].data);
		}
		ck_edit(&m, &after, 2, ROTATION);
		made_free(&m);
		made_free(&after);
	}
}
END_TEST

/* A list that becomes empty keeps the bytes of its offset. */
START_TEST(test_empty_lists_keep_their_offsets)
{
	struct buf file = load_sample("tail"), out;
	struct anim *old = decode(buf_bytes(&file)), *edited = anim_edit(old);
	/* bone 1 has no scale: its offsets are those of the next array */
	const size_t entry = 100 + 32;
	struct curve *c = make_curve(edited, POSITION, 1);

	curve_values(c, 0)[0] = 1;
	edit_track(edited, 0)->curve[ROLE_TRANSLATION] = c;
	out = store(edited, old, &file);
	ck_assert_uint_lt(out.size, file.size);
	ck_assert_mem_eq(out.data + entry + 8, file.data + entry + 8, 4);
	ck_assert_mem_eq(out.data + entry + 20, file.data + entry + 20, 4);
	/* The bytes at the end stay, and so does the offset of their beginning. */
	ck_assert_mem_eq(out.data + out.size - 8, file.data + file.size - 8, 8);
	ck_assert_uint_eq(get_u32(out.data + 56), out.size - 8);
	ck_assert_uint_eq(get_u32(out.data + 64), out.size - 8);
	buf_release(&file);
	buf_release(&out);
}
END_TEST

/* ---- sharing ---- */

static struct made made_shared(void)
{
	struct made m = made_new(4, 30);

	dice = 5;
	m.share = true;
	for (uint32_t frame = 0; frame < 30; frame += 4) {
		struct key k = roll_key(0, frame, ROTATION);

		for (k.bone = 0; k.bone < 4; k.bone++)
			made_add(&m, &k);
	}
	return m;
}

static void ck_others_stay(const struct buf *out, const struct made *m, uint32_t edited)
{
	struct anim *a = decode(buf_bytes(out));

	for (uint32_t bone = 0; bone < m->bones; bone++) {
		if (bone != edited)
			ck_curve(m, bone, ROTATION, a->clips->tracks[bone].curve[ROLE_ROTATION]);
	}
	anim_free(a);
	ck_comes_back(out);
}

START_TEST(test_an_edit_takes_shared_lists_apart)
{
	struct made m = made_shared();
	struct buf file = build(&m);

	for (unsigned i = 0; i < 12; i++) {
		struct anim *old = decode(buf_bytes(&file)), *edited = anim_edit(old);
		struct made after = made_copy(&m);
		uint32_t bone = i % 4;
		struct buf out;

		for (size_t k = after.count; k-- > 0;) {
			if (after.keys[k].bone != bone || after.keys[k].frame != 8)
				continue;
			if (i < 4)
				roll_rotation(after.keys[k].data);
			else if (i < 8)
				made_remove(&after, k);
			else
				after.keys[k].frame = 9;
		}
		set_curve(edited, &after, bone, ROTATION);
		out = store(edited, old, &file);
		ck_others_stay(&out, &m, bone);
		/*
		 * The edited list gets values of its own, frames of its own, or both; the rest
		 * stays shared.
		 */
		ck_assert_uint_eq(out.size - file.size, i < 4 ? 48 : i < 8 ? 8 + 44 : 8);
		buf_release(&out);
		made_free(&after);
	}
	buf_release(&file);
	made_free(&m);
}
END_TEST

/*
 * If all users of a shared list change alike, nothing has to be separated, and no bytes are wasted.
 */
START_TEST(test_the_last_one_gets_the_place)
{
	struct made m = made_shared();
	struct buf file = build(&m), out;
	struct anim *old = decode(buf_bytes(&file)), *edited = anim_edit(old);

	for (uint32_t bone = 0; bone < 3; bone++)
		edit_track(edited, bone)->curve[ROLE_ROTATION] = NULL;
	roll_rotation(m.keys[0].data);
	for (size_t i = m.count; i-- > 0;) {
		if (m.keys[i].bone == 3 && m.keys[i].frame == 8)
			roll_rotation(m.keys[i].data);
	}
	set_curve(edited, &m, 3, ROTATION);
	out = store(edited, old, &file);
	ck_assert_uint_eq(out.size, file.size);
	buf_release(&file);
	buf_release(&out);
	made_free(&m);
}
END_TEST

/* Arrays that overlap without being equal are read as they are, and separated by an edit. */
START_TEST(test_arrays_that_overlap)
{
	struct buf file = load_sample("walk"), out;
	struct anim *old, *edited, *now;
	/* the entry of bone 2, whose rotations begin inside its positions */
	const size_t entry = 240 + 2 * 32;
	struct curve *c;

	put_u32(file.data + entry + 28, get_u32(file.data + entry + 24) + 3);
	old = decode(buf_bytes(&file));
	ck_comes_back(&file);
	edited = anim_edit(old);
	c = make_curve(edited, POSITION, 10);
	for (uint32_t i = 0; i < 10; i++) {
		const struct curve *was = old->clips->tracks[2].curve[ROLE_TRANSLATION];

		((uint32_t *)c->frames)[i] = curve_frame(was, i);
		for (unsigned axis = 0; axis < 3; axis++)
			curve_values(c, i)[axis] = curve_value(was, i, axis) + (i == 3);
	}
	edit_track(edited, 2)->curve[ROLE_TRANSLATION] = c;
	out = encode(edited, buf_bytes(&file));
	now = decode(buf_bytes(&out));
	ck_assert(anim_stored(edited, old, now, NULL));
	anim_free(now);
	anim_free(edited);
	anim_free(old);
	buf_release(&file);
	buf_release(&out);
}
END_TEST

/* ---- the clip's own values ---- */

static struct clip *edit_clip(struct anim *a)
{
	struct clip *c = anim_edit_clip(a, 0);

	ck_assert_ptr_nonnull(c);
	return c;
}

static void cut_curves(struct anim *a, const struct made *m)
{
	for (uint32_t bone = 0; bone < m->bones; bone++) {
		for (unsigned kind = 0; kind < KINDS; kind++)
			set_curve(a, m, bone, kind);
	}
}

/* Checks that a file with its number of frames edited equals one made with that number. Frees m. */
static void ck_resized(struct made *m, uint32_t frames)
{
	struct made after = made_copy(m);
	struct buf file = build(m), wanted, out;
	struct anim *old = decode(buf_bytes(&file)), *edited = anim_edit(old);

	after.frames = frames;
	after.duration = duration_of(frames, 30);
	for (size_t k = after.count; k-- > 0;) {
		if (after.keys[k].frame >= frames)
			made_remove(&after, k);
	}
	wanted = build(&after);
	/* Frames that an edit adds have no flags. */
	for (uint32_t frame = m->frames; m->by_frame && frame < frames; frame++)
		put_u16(wanted.data + 200 + 32 * (size_t)frame + 6, 0);
	edit_clip(edited)->frames = frames;
	edit_clip(edited)->duration = after.duration;
	cut_curves(edited, &after);
	out = store(edited, old, &file);
	ck_bytes(&out, &wanted);
	buf_release(&file);
	buf_release(&wanted);
	buf_release(&out);
	made_free(m);
	made_free(&after);
}

/* The clip gets longer and shorter, across the switch of index widths. */
START_TEST(test_number_of_frames)
{
	static const uint32_t lengths[] = {2, 60, 253, 254, 255, 256, 257, 300};

	for (unsigned i = 0; i < ARRAY_SIZE(lengths) * ARRAY_SIZE(lengths); i++) {
		struct made m = made_new(4, lengths[i / ARRAY_SIZE(lengths)]);

		dice = i;
		m.data_first = i % 3 == 0;
		made_fill(&m, 3, ASCENDING);
		ck_resized(&m, lengths[i % 8]);
	}
}
END_TEST

START_TEST(test_number_of_frames_by_frame)
{
	static const uint32_t lengths[] = {15, 20, 25};

	for (unsigned i = 0; i < 9; i++) {
		struct made m = made_new(30, lengths[i / 3]);

		dice = i;
		m.by_frame = true;
		made_fill(&m, 2, SHUFFLED);
		ck_resized(&m, lengths[i % 3]);
	}
}
END_TEST

START_TEST(test_frames_that_the_duration_does_not_make)
{
	struct made m = made_new(2, 20);
	struct buf file;
	struct anim *old, *edited;

	dice = 3;
	made_fill(&m, 3, ASCENDING);
	file = build(&m);
	old = decode(buf_bytes(&file));
	edited = anim_edit(old);
	edit_clip(edited)->frames = 25;
	refuse(edited, old, &file, "read as 20 frames, not 25",
	       "25 frames together with a duration of 0.8");
	old = decode(buf_bytes(&file));
	edited = anim_edit(old);
	edit_clip(edited)->duration = 2;
	refuse(edited, old, &file, "read as 61 frames, not 20", "20 frames");
	/* Half a frame more does not count as a frame. */
	old = decode(buf_bytes(&file));
	edited = anim_edit(old);
	edit_clip(edited)->duration = 0.64f;
	{
		struct buf out = store(edited, old, &file);

		ck_assert(get_f32(out.data + 4) == 0.64f);
		buf_release(&out);
	}
	buf_release(&file);
	made_free(&m);
}
END_TEST

/* If the usual duration is below the last frame, the message offers one that is not. */
START_TEST(test_the_duration_that_is_offered_fits)
{
	unsigned offered = 0;

	for (uint32_t frames = 21; frames < 2000; frames++) {
		struct made m = made_new(1, 20);
		struct key k = roll_key(0, 0, POSITION);
		struct buf file, out = BUF_INIT;
		struct anim *old, *edited;
		struct err err = {.code = ERR_NONE};

		made_add(&m, &k);
		file = build(&m);
		old = decode(buf_bytes(&file));
		edited = anim_edit(old);
		edit_clip(edited)->frames = frames;
		edit_clip(edited)->duration = (float)((frames - 1) / 30.0);
		if (!codec()->encode(edited, buf_bytes(&file), &out, &err)) {
			const char *duration = strstr(err.accepted, "duration of ");

			ck_assert_ptr_nonnull(duration);
			offered++;
			edit_clip(edited)->duration = strtof(duration + 12, NULL);
			out.size = 0;
			err.code = ERR_NONE;
			ck_assert_msg(codec()->encode(edited, buf_bytes(&file), &out, &err), "%s",
				      err.message);
		}
		anim_free(edited);
		anim_free(old);
		old = decode(buf_bytes(&out));
		ck_assert_uint_eq(old->clips->frames, frames);
		anim_free(old);
		buf_release(&file);
		buf_release(&out);
		made_free(&m);
	}
	ck_assert_uint_gt(offered, 10);
}
END_TEST

static struct field *edit_fields(struct anim *a)
{
	struct clip *c = edit_clip(a);
	struct field *fields = arena_alloc(&a->arena, c->field_count, sizeof(*fields));

	memcpy(fields, c->fields, c->field_count * sizeof(*fields));
	c->fields = fields;
	return fields;
}

START_TEST(test_header_fields)
{
	struct buf file = load_sample("small"), out;
	struct anim *old = decode(buf_bytes(&file)), *edited = anim_edit(old);
	struct field *fields = edit_fields(edited);

	fields[0].integer = 65535;
	fields[1].real = 60;
	fields[2].integer = 65535;
	edit_clip(edited)->duration = (float)(4 / 60.0);
	out = store(edited, old, &file);
	ck_assert_uint_eq(get_u32(out.data), 65535);
	ck_assert(get_f32(out.data + 8) == 60);
	ck_assert_uint_eq(get_u16(out.data + 14), 65535);
	ck_assert_uint_eq(out.size, file.size);
	ck_assert_mem_eq(out.data + 16, file.data + 16, file.size - 16);
	buf_release(&out);
	for (unsigned i = 0; i < 4; i++) {
		old = decode(buf_bytes(&file));
		edited = anim_edit(old);
		edit_fields(edited)[i / 2 * 2].integer = i % 2 ? -1 : 65536;
		refuse(edited, old, &file, i < 2 ? "counter1" : "flag", "0 to 65535");
	}
	buf_release(&file);
}
END_TEST

/* ---- bones ---- */

static void set_tracks(struct anim *a, struct track *tracks, uint32_t count)
{
	struct clip *c = edit_clip(a);

	c->tracks = tracks;
	c->track_count = count;
	c->tracks_own = true;
}

/* Returns the keys with the bones in another order: bone i is the old bone from[i]. */
static struct made made_reorder(const struct made *m, const uint32_t *from, uint32_t count)
{
	struct made after = made_copy(m);

	after.bones = count;
	after.count = 0;
	for (uint32_t i = 0; i < count; i++)
		after.ids[i] = m->ids[from[i]];
	for (size_t k = 0; k < m->count; k++) {
		for (uint32_t i = 0; i < count; i++) {
			struct key key = m->keys[k];

			if (key.bone != from[i])
				continue;
			key.bone = i;
			made_insert(&after, after.count, &key);
		}
	}
	return after;
}

START_TEST(test_bones_are_moved_and_removed)
{
	static const uint32_t orders[][6] = {
		{5, 4, 3, 2, 1, 0}, {0, 1, 2, 3, 4}, {1, 2, 3, 4, 5}, {2, 0, 5}, {3},
	};
	static const uint32_t counts[] = {6, 5, 5, 3, 1};

	for (unsigned i = 0; i < ARRAY_SIZE(counts) * 4; i++) {
		struct made m = made_new(6, 40), after;
		struct buf file, wanted, out;
		struct anim *old, *edited;
		struct track *tracks;

		dice = i;
		m.data_first = i & 1;
		made_fill(&m, 3, REPEATED);
		after = made_reorder(&m, orders[i / 4], counts[i / 4]);
		file = build(&m);
		wanted = build(&after);
		/* Flags go with their bones. */
		for (uint32_t bone = 0; bone < after.bones; bone++)
			put_u16(wanted.data + get_u32(wanted.data + 48) + 32 * (size_t)bone + 6,
				(uint16_t)(orders[i / 4][bone] * 3));
		old = decode(buf_bytes(&file));
		edited = anim_edit(old);
		tracks = arena_alloc(&edited->arena, after.bones, sizeof(*tracks));
		for (uint32_t bone = 0; bone < after.bones; bone++)
			tracks[bone] = old->clips->tracks[orders[i / 4][bone]];
		set_tracks(edited, tracks, after.bones);
		out = store(edited, old, &file);
		ck_bytes(&out, &wanted);
		buf_release(&file);
		buf_release(&wanted);
		buf_release(&out);
		made_free(&m);
		made_free(&after);
	}
}
END_TEST

START_TEST(test_bones_by_frame_are_moved)
{
	struct made m = made_new(30, 20), after;
	uint32_t order[29];
	struct buf file, out;
	struct anim *old, *edited, *now;
	struct track *tracks;

	dice = 9;
	m.by_frame = true;
	made_fill(&m, 2, REPEATED);
	file = build(&m);
	old = decode(buf_bytes(&file));
	edited = anim_edit(old);
	tracks = arena_alloc(&edited->arena, 29, sizeof(*tracks));
	for (uint32_t bone = 0; bone < 29; bone++) {
		order[bone] = 29 - bone;
		tracks[bone] = old->clips->tracks[order[bone]];
	}
	set_tracks(edited, tracks, 29);
	out = store(edited, old, &file);
	after = made_reorder(&m, order, 29);
	now = decode(buf_bytes(&out));
	ck_model(&after, now);
	anim_free(now);
	ck_comes_back(&out);
	buf_release(&file);
	buf_release(&out);
	made_free(&m);
	made_free(&after);
}
END_TEST

static struct track new_track(const char *name)
{
	return (struct track){.name = name,
			      .label = name,
			      .origin = ANIM_NEW,
			      .roles = 7,
			      .rotation = CURVE_QUATERNION};
}

START_TEST(test_a_bone_is_added_and_one_renamed)
{
	struct made m = made_new(3, 40), after;
	uint32_t *ids = calloc(4, sizeof(*ids));
	struct buf file, wanted, out;
	struct anim *old, *edited;
	struct track *tracks;
	struct key k;

	dice = 12;
	made_fill(&m, 3, ASCENDING);
	file = build(&m);
	after = made_copy(&m);
	after.bones = 4;
	ids[0] = m.ids[0];
	ids[1] = 0xDEADBEEF;
	ids[2] = m.ids[2];
	ids[3] = 0x12;
	free(after.ids);
	after.ids = ids;
	k = roll_key(3, 39, SCALE);
	made_add(&after, &k);
	wanted = build(&after);
	put_u16(wanted.data + 80 + 16 + 3 * 32 + 6, 0);
	old = decode(buf_bytes(&file));
	edited = anim_edit(old);
	tracks = arena_alloc(&edited->arena, 4, sizeof(*tracks));
	memcpy(tracks, old->clips->tracks, 3 * sizeof(*tracks));
	tracks[1].name = "bone_DEADBEEF";
	tracks[3] = new_track("bone_0012");
	set_tracks(edited, tracks, 4);
	set_curve(edited, &after, 3, SCALE);
	out = store(edited, old, &file);
	ck_bytes(&out, &wanted);
	buf_release(&out);
	old = decode(buf_bytes(&file));
	edited = anim_edit(old);
	edit_track(edited, 1)->name = "hips";
	refuse(edited, old, &file, "no bone can be called", "bone_0F30");
	buf_release(&file);
	buf_release(&wanted);
	made_free(&m);
	made_free(&after);
}
END_TEST

/* ---- edits that can be stored, and others ---- */

static struct buf one_bone(uint32_t frames)
{
	struct made m = made_new(1, frames);
	struct buf file;

	for (unsigned kind = 0; kind < KINDS; kind++) {
		struct key k = {.kind = kind};

		made_add(&m, &k);
	}
	file = build(&m);
	made_free(&m);
	return file;
}

/*
 * Tries one value in place of the bone's only key. `words`: part of the refusal; NULL: the value
 * can be stored.
 */
static void try_value(unsigned kind, double x, double y, double z, double w, const char *words,
		      const char *accepted)
{
	struct buf file = one_bone(5), out;
	struct anim *old = decode(buf_bytes(&file)), *edited = anim_edit(old);
	struct curve *c = make_curve(edited, kind, 1);
	const double value[4] = {x, y, z, w};

	memcpy(curve_values(c, 0), value, curve_width(c) * sizeof(double));
	edit_track(edited, 0)->curve[roles[kind]] = c;
	if (words) {
		refuse(edited, old, &file, words, accepted);
	} else {
		out = store(edited, old, &file);
		buf_release(&out);
	}
	buf_release(&file);
}

START_TEST(test_grid_ends)
{
	const double most = 65535 / 1024.0, step = 1 / 1024.0;
	const double h = sqrt(0.5);

	try_value(SCALE, 0, most, 1, 0, NULL, NULL);
	try_value(SCALE, -0.49 * step, most + 0.49 * step, 1, 0, NULL, NULL);
	try_value(SCALE, -0.51 * step, 1, 1, 0, "bone_0000, frame 0: the scale is out of range",
		  "from 0 to 63.99902344");
	try_value(SCALE, 1, most + 0.51 * step, 1, 0, "the scale is out of range", "63.999");
	try_value(SCALE, 1, 1, NAN, 0, "the scale is out of range", NULL);
	try_value(SCALE, 1, 1, INFINITY, 0, "the scale is out of range", NULL);
	try_value(POSITION, 3.4028234e38, -3.4028234e38, 1e-46, 0, NULL, NULL);
	try_value(POSITION, 3.5e38, 0, 0, 0, "the translation cannot become infinite", "finite");
	try_value(POSITION, 0, NAN, 0, 0, "the translation cannot become infinite", "finite");
	try_value(ROTATION, h, 0, 0, -h, NULL, NULL);
	try_value(ROTATION, 0.5, -0.5, 0.5, -0.5, NULL, NULL);
	try_value(ROTATION, 0, 0, 0, 1 + 1e-7, NULL, NULL);
	try_value(ROTATION, 0, 0, 0, 1.001, "the rotation is no quaternion of length 1", "squares");
	try_value(ROTATION, 0, 0, 0, 0, "the rotation is no quaternion of length 1",
		  "--rotations=euler");
	try_value(ROTATION, NAN, 0, 0, 1, "the rotation is no quaternion of length 1", "squares");
}
END_TEST

/* Fills a list with as many keys as fit, or one too many; frames repeat if a clip has fewer. */
START_TEST(test_counts_at_their_ends)
{
	for (uint32_t count = 65535; count <= 65536; count++) {
		struct buf file = one_bone(65536), out;
		struct anim *old = decode(buf_bytes(&file)), *edited = anim_edit(old);
		struct curve *c = make_curve(edited, SCALE, count);

		for (uint32_t i = 0; i < count; i++)
			((uint32_t *)c->frames)[i] = i + (count == 65535);
		edit_track(edited, 0)->curve[ROLE_SCALE] = c;
		if (count == 65535) {
			out = store(edited, old, &file);
			ck_comes_back(&out);
			buf_release(&out);
		} else {
			refuse(edited, old, &file, "more than 65535 keys", NULL);
		}
		buf_release(&file);
	}
}
END_TEST

START_TEST(test_frames_at_their_ends)
{
	struct buf file = one_bone(5), out;

	for (uint32_t frames = 65536; frames <= 65537; frames++) {
		struct anim *old = decode(buf_bytes(&file)), *edited = anim_edit(old);

		edit_clip(edited)->frames = frames;
		edit_clip(edited)->duration = (float)((frames - 1) / 30.0);
		if (frames == 65536) {
			out = store(edited, old, &file);
			buf_release(&out);
		} else {
			refuse(edited, old, &file, "cannot be 65537 frames", "1 to 65536");
		}
	}
	{
		struct anim *old = decode(buf_bytes(&file)), *edited = anim_edit(old);

		edit_clip(edited)->frames = 0;
		refuse(edited, old, &file, "cannot be 0 frames", "1 to 65536");
	}
	buf_release(&file);
}
END_TEST

START_TEST(test_bones_at_their_ends)
{
	struct buf file = one_bone(5), out;

	for (uint32_t count = 65535; count <= 65536; count++) {
		struct anim *old = decode(buf_bytes(&file)), *edited = anim_edit(old);
		struct track *tracks = arena_alloc(&edited->arena, count, sizeof(*tracks));

		for (uint32_t i = 1; i < count; i++)
			tracks[i] = new_track(
				arena_format(&edited->arena, "bone_%04X", 0xFFFF0000u + i));
		tracks[0] = old->clips->tracks[0];
		set_tracks(edited, tracks, count);
		if (count == 65535) {
			out = store(edited, old, &file);
			buf_release(&out);
		} else {
			refuse(edited, old, &file, "more than 65535 bones", NULL);
		}
	}
	buf_release(&file);
}
END_TEST

START_TEST(test_what_no_file_can_say)
{
	static const char *const words[] = {
		"one clip, not 2",
		"whether it loops",
		"past the end of the clip",
		"is not a quaternion",
		"one value for the whole clip",
		"only linear interpolation",
	};
	struct buf file = one_bone(5);

	for (unsigned i = 0; i < ARRAY_SIZE(words); i++) {
		struct anim *old = decode(buf_bytes(&file)), *edited = anim_edit(old);
		struct curve *c = make_curve(edited, POSITION, 1);

		if (i == 0)
			edited->clip_count = 2;
		if (i == 1)
			edit_clip(edited)->loop = true;
		if (i == 2)
			((uint32_t *)c->frames)[0] = 5;
		if (i == 4)
			c->keyed = false;
		if (i == 5)
			c->interpolation = INTERPOLATION_STEP;
		if (i == 3)
			c->kind = CURVE_EULER;
		edit_track(edited, 0)->curve[i == 3 ? ROLE_ROTATION : ROLE_TRANSLATION] = c;
		refuse(edited, old, &file, words[i], i == 3 ? "--rotations=quaternion" : NULL);
	}
	buf_release(&file);
}
END_TEST

/* A list whose index width follows from its length cannot store a frame past 255. */
START_TEST(test_narrow_lists_refuse_large_indices)
{
	struct made m = made_new(2, 400), after;
	struct key k = roll_key(1, 300, SCALE);
	struct buf file;
	struct anim *old, *edited;

	dice = 4;
	m.by_count = true;
	for (uint32_t frame = 0; frame < 400; frame++) {
		struct key all = roll_key(0, frame, ROTATION);

		made_add(&m, &all);
	}
	for (uint32_t frame = 0; frame < 200; frame++) {
		struct key some = roll_key(1, frame, SCALE);

		made_add(&m, &some);
	}
	ck_made(&m);
	after = made_copy(&m);
	made_add(&after, &k);
	file = build(&m);
	old = decode(buf_bytes(&file));
	edited = anim_edit(old);
	set_curve(edited, &after, 1, SCALE);
	refuse(edited, old, &file, "cannot be 300", NULL);
	buf_release(&file);
	made_free(&m);
	made_free(&after);
}
END_TEST

/* After this edit, the file follows the other rule as well, with the same result. */
START_TEST(test_a_list_becomes_narrow)
{
	struct made m = made_new(1, 255), after;

	dice = 14;
	m.by_count = true;
	for (uint32_t frame = 0; frame < 255; frame++) {
		struct key k = roll_key(0, frame, ROTATION);

		made_add(&m, &k);
	}
	after = made_copy(&m);
	made_remove(&after, 100);
	ck_edit(&m, &after, 0, ROTATION);
	/* From then on the file counts as one of the other rule. */
	m.by_count = false;
	ck_edit(&after, &m, 0, ROTATION);
	made_free(&m);
	made_free(&after);
}
END_TEST

/* Old keys keep their bits even if these are no valid value: NaN, or rotations of length 0. */
START_TEST(test_untouched_keys_keep_odd_bits)
{
	static const uint32_t odd[] = {0x7FC00001, 0xFF800000, 0x80000000, 0x7F800001};
	struct made m = made_new(1, 60), after;
	struct key k;

	dice = 8;
	for (uint32_t frame = 0; frame < 40; frame++) {
		k = roll_key(0, frame, POSITION);
		put_u32(k.data + 4 * (frame % 3), odd[frame % 4]);
		made_add(&m, &k);
		k = roll_key(0, frame, ROTATION);
		for (unsigned i = 0; i < 6; i++)
			k.data[i] = (uint8_t)roll(256);
		made_add(&m, &k);
	}
	ck_made(&m);
	for (unsigned kind = POSITION; kind <= ROTATION; kind++) {
		after = made_copy(&m);
		k = roll_key(0, 50, kind);
		made_add(&after, &k);
		ck_edit(&m, &after, 0, kind);
		made_free(&after);
	}
	made_free(&m);
}
END_TEST

/* A component whose number is unchanged keeps its bits even if another one changes. */
START_TEST(test_components_are_stored_one_by_one)
{
	struct made m = made_new(1, 5), after;
	struct key k = roll_key(0, 2, POSITION);

	put_u32(k.data, 0x7FC00123);
	made_add(&m, &k);
	after = made_copy(&m);
	put_f32(after.keys[0].data + 4, 12.5f);
	ck_edit(&m, &after, 0, POSITION);
	made_free(&m);
	made_free(&after);
}
END_TEST

START_TEST(test_a_new_file)
{
	struct made m = made_new(3, 40);
	struct buf file, out, wanted;
	struct bytes nothing = {NULL, 0};
	struct anim *a;

	dice = 6;
	made_fill(&m, 3, ASCENDING);
	file = build(&m);
	a = decode(buf_bytes(&file));
	out = encode(a, nothing);
	m.tail = 0;
	wanted = build(&m);
	put_u64(wanted.data + 24, 0);
	for (uint32_t bone = 0; bone < 3; bone++)
		put_u16(wanted.data + 92 + 32 * (size_t)bone + 6, 0);
	ck_bytes(&out, &wanted);
	anim_free(a);
	buf_release(&file);
	buf_release(&out);
	buf_release(&wanted);
	made_free(&m);
}
END_TEST

/* The format has no magic number, so many fields are checked before a file counts as one. */
START_TEST(test_probe)
{
	static const struct {
		size_t at;
		uint32_t bits;
	} faults[] = {
		{0, 0},                   /* 0 is no kind */
		{4, 0xBF800000},          /* duration -1 */
		{4, 0x7FC00000},          /* nan */
		{8, 0},                   /* 0 frames per second */
		{8, 0x4B000000},          /* too many frames per second */
		{12, 0},                  /* no bones */
		{56, 1000},               /* an end of data past the end of the file */
		{68, 1},         {72, 1}, /* fields that must be 0 */
		{188, 200},               /* an index out of range */
	};
	struct buf file = load_sample("small");

	ck_assert(codec()->probe(buf_bytes(&file)));
	for (size_t i = 0; i < ARRAY_SIZE(faults); i++) {
		uint32_t was = get_u32(file.data + faults[i].at);

		put_u32(file.data + faults[i].at, faults[i].bits);
		ck_assert_msg(!codec()->probe(buf_bytes(&file)), "fault %zu", i);
		put_u32(file.data + faults[i].at, was);
	}
	buf_release(&file);
	buf_zero(&file, 100000);
	ck_assert(!codec()->probe(buf_bytes(&file)));
	buf_release(&file);
}
END_TEST

static void add_reading(Suite *s)
{
	TCase *tc = tcase_create("read");
	const int count = (int)ARRAY_SIZE(samples);

	tcase_add_loop_test(tc, test_samples_say_what_is_expected, 0, count);
	tcase_add_loop_test(tc, test_samples_come_back, 0, count);
	tcase_add_loop_test(tc, test_built_files, 0, 2);
	tcase_add_test(tc, test_built_files_by_frame);
	tcase_add_test(tc, test_widths);
	tcase_add_test(tc, test_widths_by_count);
	tcase_add_test(tc, test_durations_that_fall_short);
	tcase_add_test(tc, test_frames_from_the_keys);
	tcase_add_test(tc, test_rates);
	tcase_add_test(tc, test_refused);
	tcase_add_test(tc, test_sharing_without_bound);
	tcase_add_loop_test(tc, test_cut_anywhere, 0, count);
	tcase_add_loop_test(tc, test_any_byte_changed, 0, count);
	tcase_add_test(tc, test_probe);
	suite_add_tcase(s, tc);
}

static void add_editing(Suite *s)
{
	TCase *tc = tcase_create("edit");

	tcase_add_loop_test(tc, test_a_changed_value_changes_its_bytes_alone, 0, VARIANTS);
	tcase_add_loop_test(tc, test_a_key_is_removed, 0, VARIANTS);
	tcase_add_loop_test(tc, test_a_key_is_added, 0, VARIANTS);
	tcase_add_test(tc, test_lists_come_and_go);
	tcase_add_test(tc, test_empty_lists_keep_their_offsets);
	tcase_add_test(tc, test_an_edit_takes_shared_lists_apart);
	tcase_add_test(tc, test_the_last_one_gets_the_place);
	tcase_add_test(tc, test_arrays_that_overlap);
	tcase_add_test(tc, test_number_of_frames);
	tcase_add_test(tc, test_number_of_frames_by_frame);
	tcase_add_test(tc, test_frames_that_the_duration_does_not_make);
	tcase_add_test(tc, test_the_duration_that_is_offered_fits);
	tcase_add_test(tc, test_header_fields);
	tcase_add_test(tc, test_bones_are_moved_and_removed);
	tcase_add_test(tc, test_bones_by_frame_are_moved);
	tcase_add_test(tc, test_a_bone_is_added_and_one_renamed);
	tcase_add_test(tc, test_a_list_becomes_narrow);
	tcase_add_test(tc, test_untouched_keys_keep_odd_bits);
	tcase_add_test(tc, test_components_are_stored_one_by_one);
	tcase_add_test(tc, test_a_new_file);
	suite_add_tcase(s, tc);
}

static void add_limits(Suite *s)
{
	TCase *tc = tcase_create("limits");

	tcase_add_test(tc, test_grid_ends);
	tcase_add_test(tc, test_counts_at_their_ends);
	tcase_add_test(tc, test_frames_at_their_ends);
	tcase_add_test(tc, test_bones_at_their_ends);
	tcase_add_test(tc, test_what_no_file_can_say);
	tcase_add_test(tc, test_narrow_lists_refuse_large_indices);
	suite_add_tcase(s, tc);
}

Suite *owanim_suite(void);
Suite *owanim_suite(void)
{
	Suite *s = suite_create("owanim");

	add_reading(s);
	add_editing(s);
	add_limits(s);
	return s;
}
